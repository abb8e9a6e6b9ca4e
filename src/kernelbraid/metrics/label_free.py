"""Scores of a clustering that need no classes: how apart, how dense, how even, how much alike."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import gammaln

from kernelbraid._arrays import row_blocks
from kernelbraid.metrics.counts import Labels, adjusted_rand, encode_pair, number_labels, shared_sizes

TINY = float(np.finfo(float).eps)


def kernel_silhouette(K: ArrayLike, labels: ArrayLike) -> float:
    r"""Return the mean silhouette under the distance of a kernel.

    .. math:: d(i, j)^2 = K_{ii} + K_{jj} - 2 K_{ij}

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric kernel.
    labels : array of shape (n,)
        Clusters.

    Returns
    -------
    float
        Between -1 and 1; 0 if there is only one cluster, or one for each sample. Clusters of one sample count 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.metrics import kernel_silhouette
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> round(kernel_silhouette(X @ X.T, [0, 0, 1, 1]), 2)
    0.98
    """
    return float(kernel_silhouettes(K, [labels])[0])


def kernel_silhouettes(K: ArrayLike, labellings: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Return the mean silhouettes of several clusterings under one kernel, whose distances are formed once.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric kernel.
    labellings : sequence of arrays of shape (n,)
        Clusterings of the same samples.

    Returns
    -------
    ndarray of shape (len(labellings),)
        What :func:`kernel_silhouette` is for each of them.
    """
    K = np.asarray(K)
    numbered = [_numbered(labels, K.shape) for labels in labellings]
    if not numbered:
        return np.empty(0)
    sums = _summed_distances(K, sparse.hstack([_indicators(labels) for labels in numbered], format="csr"))
    ends = np.cumsum([int(labels.max()) + 1 for labels in numbered])
    parts = np.split(sums, ends[:-1], axis=1)
    return np.array([_silhouette(own, labels) for own, labels in zip(parts, numbered, strict=True)])


def _summed_distances(K: NDArray[np.float64], indicators: sparse.csr_array) -> NDArray[np.float64]:
    """Return the sum of the distances of every sample to those of each cluster, some rows at a time."""
    diagonal = K.diagonal().astype(float)
    sums = np.empty((K.shape[0], indicators.shape[1]))
    for rows in row_blocks(K.shape[0]):
        squared = diagonal[rows, None] + diagonal[None, :] - 2 * K[rows, :]
        sums[rows, :] = np.sqrt(np.maximum(squared, 0.0)) @ indicators
    return sums


def _silhouette(sums: NDArray[np.float64], labels: Labels) -> float:
    """Return the mean silhouette from summed distances to clusters; 0 for one cluster, or one for each sample."""
    n, k = sums.shape
    if not 1 < k < n:
        return 0.0
    sizes = np.bincount(labels)
    rows = np.arange(n)
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    others = sums / sizes
    others[rows, labels] = np.inf
    nearest = others.min(axis=1)
    larger = np.maximum(own, nearest)
    widths = np.where((sizes[labels] > 1) & (larger > 0), (nearest - own) / np.where(larger > 0, larger, 1.0), 0.0)
    return float(widths.mean())


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


def _within_and_volumes(
    graph: ArrayLike | sparse.csr_array, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of the edges within each cluster, and of all edges of its samples."""
    S = sparse.csr_array(graph)
    indicators = _indicators(_numbered(labels, S.shape))
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
    sizes = np.bincount(_numbered(labels))
    if len(sizes) < 2:
        return 0.0
    shares = sizes / sizes.sum()
    return float(-(shares * np.log(shares)).sum() / np.log(len(sizes)))


def agreement(labellings: Sequence[ArrayLike]) -> NDArray[np.float64]:
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


def ami(first: ArrayLike, second: ArrayLike) -> float:
    """Return the adjusted mutual information of two clusterings: what they share beyond chance.

    Parameters
    ----------
    first, second : array of shape (n,)
        Clusterings of the same samples.

    Returns
    -------
    float
        1 if they are the same, about 0 if independent; both entropies count alike in the norm.

    Examples
    --------
    >>> from kernelbraid.metrics import ami
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    a, b = _numbered(first), _numbered(second)
    if len(a) != len(b):
        raise ValueError(f"the clusterings have {len(a)} and {len(b)} labels; both must be of the same samples.")
    n = len(a)
    rows, columns = np.bincount(a), np.bincount(b)
    at_row, at_column, together = shared_sizes(a, b)
    if len(rows) == len(columns) and (len(rows) == 1 or len(together) == len(rows)):
        return 1.0  # the same clusters under other names
    mutual = float(np.sum(together / n * np.log(n * together / (rows[at_row] * columns[at_column]))))
    expected = _expected_mutual_information(rows, columns, n)
    norm = (_entropy(rows / n) + _entropy(columns / n)) / 2 - expected
    return (mutual - expected) / (norm if abs(norm) > TINY else TINY)


def _entropy(shares: NDArray[np.float64]) -> float:
    return float(-np.sum(shares * np.log(shares)))


def _expected_mutual_information(rows: Labels, columns: Labels, n: int) -> float:
    """Return the mean over all pairs of clusterings with clusters of these sizes; equal sizes are summed up once."""
    times_a, times_b = np.bincount(rows), np.bincount(columns)
    sizes_a, sizes_b = np.flatnonzero(times_a), np.flatnonzero(times_b)
    a, b = np.repeat(sizes_a, len(sizes_b)), np.tile(sizes_b, len(sizes_a))
    low, high = np.maximum(1, a + b - n), np.minimum(a, b)
    lengths = np.maximum(high - low + 1, 0)
    pair = np.repeat(np.arange(len(a)), lengths)  # of every number that two clusters may share
    shared = np.arange(len(pair)) + (low - np.cumsum(lengths) + lengths)[pair]
    log, log_factorial = _logarithms(n)
    # What depends on the two sizes alone is looked up once for each pair of them.
    log_chance = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b] - log_factorial[n]
    log_ratio = log[n] - log[a] - log[b]
    log_chance = log_chance[pair] - log_factorial[shared] - log_factorial[a[pair] - shared]
    log_chance -= log_factorial[b[pair] - shared] + log_factorial[(n - a - b)[pair] + shared]
    times = times_a[a] * times_b[b]
    return float(np.sum(times[pair] * shared / n * (log_ratio[pair] + log[shared]) * np.exp(log_chance)))


@lru_cache(maxsize=4)
def _logarithms(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of the numbers up to n, that of 0 as 0, and of their factorials."""
    numbers = np.arange(n + 1.0)
    return np.log(np.maximum(numbers, 1.0)), np.asarray(gammaln(numbers + 1.0))


def _numbered(labels: ArrayLike, shape: tuple[int, ...] | None = None) -> Labels:
    """Return labels as numbers from 0 without gaps, of the samples of a square matrix if its shape is given."""
    found = np.asarray(labels)
    if found.ndim != 1 or found.size == 0:
        raise ValueError(f"labels have shape {found.shape}; give one for each sample.")
    if shape is not None and shape != (found.size, found.size):
        raise ValueError(f"the matrix has shape {shape} for {found.size} labels; both must be of the same samples.")
    return number_labels(found)


def _indicators(labels: Labels) -> sparse.csr_array:
    n = len(labels)
    return sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
