"""What partitions share: samples of classes and clusters, pairs that either joins, and edges within and between them.

Scores that need no classes are here: how dense, how even, how much alike clusters are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernelbraid._typing import Host, Labels, Vector

# Numbers may be counted by a table of all values while it has at most so many places for each sample.
PLACES = 8


def contingency(y_true: ArrayLike, y_pred: ArrayLike) -> Labels:
    """Return how many samples each class (row) has in each cluster (column)."""
    classes, clusters = encode_pair(y_true, y_pred)
    shape = (int(classes.max()) + 1, int(clusters.max()) + 1)
    return np.bincount(classes * shape[1] + clusters, minlength=shape[0] * shape[1]).reshape(shape)


def joined_pairs(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[int, int, int]:
    """Return how many pairs are joined by both partitions, by the clusters alone, by the classes alone.

    Pairs are ordered, so each is counted twice, which no ratio notices. The counts are exact integers.
    """
    classes, clusters = encode_pair(y_true, y_pred)
    both, by_classes, by_clusters = (_pairs(sizes) for sizes in _group_sizes(classes, clusters))
    return both, by_clusters - both, by_classes - both


def adjusted_rand(first: Labels, second: Labels) -> float:
    """Return the adjusted Rand index of two partitions, numbered from 0 without gaps."""
    n = first.size
    both, by_first, by_second = (_pairs(sizes) for sizes in _group_sizes(first, second))
    if by_first == by_second == both:  # the same partition
        return 1.0
    alone = by_first - both, by_second - both
    neither = n * (n - 1) - both - sum(alone)
    chance = (both + alone[0]) * (alone[0] + neither) + (both + alone[1]) * (alone[1] + neither)
    return 2.0 * (both * neither - alone[0] * alone[1]) / chance


def _group_sizes(first: Labels, second: Labels) -> tuple[Labels, Labels, Labels]:
    """Return the sizes of what two partitions share, some of them zero, and of the groups of either."""
    width = int(second.max()) + 1
    codes = first * width + second
    is_small = (
        int(first.max()) + 1
    ) * width <= PLACES * first.size  # the table of many small groups would be far larger
    shared = np.bincount(codes) if is_small else np.unique(codes, return_counts=True)[1]
    return shared, np.bincount(first), np.bincount(second)


def _pairs(sizes: Labels) -> int:
    """Return the number of ordered pairs in groups of these sizes, as an integer without bounds."""
    return int(sizes @ (sizes - 1))


def share(part: int, whole: int, *, empty: float) -> float:
    """Return part / whole, or `empty` if there is nothing to share."""
    return part / whole if whole else empty


def encode_pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Labels, Labels]:
    """Return both label vectors as integers from 0, or say why they cannot be compared."""
    classes, clusters = _encode(y_true, "y_true"), _encode(y_pred, "y_pred")
    n, m = classes.size, clusters.size
    if n != m:
        raise ValueError(f"y_true has {n} labels and y_pred has {m}; give both one label per sample.")
    return classes, clusters


def _encode(labels: ArrayLike, name: str) -> Labels:
    """Return one label vector as integers from 0."""
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; give a vector with one label per sample.")
    if values.size == 0:
        raise ValueError(f"{name} is empty; give at least one label.")
    missing = np.flatnonzero(_is_missing(values))
    if missing.size:
        at = missing[0]
        raise ValueError(f"{name} has no label ({values[at]}) at position {at}; leave such samples out.")
    try:
        return number_labels(values)
    except TypeError:  # labels that cannot be ordered
        kinds = " and ".join(sorted({type(value).__name__ for value in values}))
        raise ValueError(f"{name} mixes labels of type {kinds}; use one type throughout.") from None


def number_labels(values: Host) -> Labels:
    """Return labels, at least one, as numbers from 0 without gaps, in their order."""
    if values.dtype.kind in "iu" and values.min() >= 0 and values.max() < PLACES * values.size:
        numbers = values.astype(np.int64, copy=False)
        present = np.bincount(numbers) > 0
        return numbers if present.all() else (np.cumsum(present) - 1)[numbers]
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def numbers_of(labels: ArrayLike, shape: tuple[int, ...] | None = None) -> Labels:
    """Return labels as numbers from 0 without gaps, of the samples of a square matrix if its shape is given."""
    found = np.asarray(labels)
    if found.ndim != 1 or found.size == 0:
        raise ValueError(f"labels have shape {found.shape}; give one for each sample.")
    if shape is not None and shape != (found.size, found.size):
        raise ValueError(f"the matrix has shape {shape} for {found.size} labels; both must be of the same samples.")
    return number_labels(found)


def _is_missing(values: Host) -> NDArray[np.bool_]:
    """Return which labels are NaN, NaT or None."""
    if values.dtype.kind in "fcmM":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.array([value is None or (isinstance(value, float) and value != value) for value in values])
    return np.zeros(values.shape, dtype=bool)


def modularity(graph: ArrayLike | sparse.csr_array, labels: ArrayLike) -> float:
    """Return how much more of the edges' weight lies within clusters than degrees alone would make.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Symmetric and not negative.
    labels : array of shape (n,)
        Clusters.

    Returns
    -------
    float
        Newman's modularity, below 1; 0 for one cluster or a graph without edges.
    """
    within, volumes = _within_and_volumes(graph, labels)
    total = float(volumes.sum())
    return float(within.sum() / total - ((volumes / total) ** 2).sum()) if total > 0 else 0.0


def cut_share(graph: ArrayLike | sparse.csr_array, labels: ArrayLike) -> float:
    """Return the mean share of a cluster's edges that leave it: the normalised cut over the number of clusters.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Symmetric and not negative.
    labels : array of shape (n,)
        Clusters.

    Returns
    -------
    float
        Between 0 and 1; clusters without edges count 1, but for a single one, of which nothing is cut.
    """
    within, volumes = _within_and_volumes(graph, labels)
    if len(volumes) == 1:
        return 0.0
    return float(np.mean(np.where(volumes > 0, 1 - within / np.where(volumes > 0, volumes, 1.0), 1.0)))


def _within_and_volumes(graph: ArrayLike | sparse.csr_array, labels: ArrayLike) -> tuple[Vector, Vector]:
    """Return the weight of the edges within each cluster, and of all edges of its samples."""
    S = sparse.csr_array(graph)
    numbers, n = numbers_of(labels, S.shape), S.shape[0]
    indicators = sparse.csr_array((np.ones(n), (np.arange(n), numbers)), shape=(n, int(numbers.max()) + 1))
    within = (indicators.T @ (S @ indicators)).diagonal()
    return within, indicators.T @ np.asarray(S.sum(axis=1)).ravel()


def balance(labels: ArrayLike) -> float:
    """Return the entropy of the sizes of the clusters over its largest value.

    Parameters
    ----------
    labels : array of shape (n,)
        Clusters.

    Returns
    -------
    float
        1 if all clusters are alike in size, 0 for one cluster.
    """
    sizes = np.bincount(numbers_of(labels))
    if len(sizes) < 2:
        return 0.0
    shares = sizes / sizes.sum()
    return float(-(shares * np.log(shares)).sum() / np.log(len(sizes)))


def agreement(labellings: Sequence[ArrayLike]) -> Vector:
    """Return for each of several clusterings its mean adjusted Rand index with the others.

    Parameters
    ----------
    labellings : sequence of arrays of shape (n,)
        Clusterings of the same samples.

    Returns
    -------
    ndarray of shape (len(labellings),)
        1 if all agree, about 0 for one that agrees with no other; 0 for a single clustering.
    """
    count = len(labellings)
    numbered = [encode_pair(labellings[0], labels)[1] for labels in labellings]
    table = np.zeros((count, count))
    for i in range(count):
        for j in range(i):
            table[i, j] = table[j, i] = adjusted_rand(numbered[i], numbered[j])
    return np.asarray(table.sum(axis=1) / max(count - 1, 1))
