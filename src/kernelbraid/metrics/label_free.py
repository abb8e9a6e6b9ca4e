"""Scores of a clustering that need no classes: how apart, how dense, how even, how much alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import gammaln

from kernelbraid.metrics.scores import ari

Labels = NDArray[np.int64]

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
    K = np.asarray(K, dtype=float)
    labels = _numbered(labels, K.shape)
    n, k = len(labels), int(labels.max()) + 1
    if not 1 < k < n:
        return 0.0
    diagonal = K.diagonal()
    distances = np.sqrt(np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * K, 0.0))
    sums = distances @ _indicators(labels).toarray()
    sizes = np.bincount(labels)
    rows = np.arange(n)
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    others = sums / sizes
    others[rows, labels] = np.inf
    nearest = others.min(axis=1)
    larger = np.maximum(own, nearest)
    widths = np.where((sizes[labels] > 1) & (larger > 0), (nearest - own) / np.where(larger > 0, larger, 1.0), 0.0)
    return float(widths.mean())


def modularity(graph: Any, labels: ArrayLike) -> float:
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
    S = sparse.csr_array(graph)
    labels = _numbered(labels, S.shape)
    total = float(S.sum())
    if total <= 0:
        return 0.0
    indicators = _indicators(labels)
    within = (indicators.T @ (S @ indicators)).diagonal() / total
    degrees = indicators.T @ np.asarray(S.sum(axis=1)).ravel() / total
    return float(within.sum() - (degrees**2).sum())


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
    table = np.zeros((count, count))
    for i in range(count):
        for j in range(i):
            table[i, j] = table[j, i] = ari(labellings[i], labellings[j])
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
    together = np.asarray((_indicators(a).T @ _indicators(b)).todense(), dtype=float)
    rows, columns = together.sum(axis=1), together.sum(axis=0)
    if len(rows) == len(columns) and (len(rows) == 1 or np.count_nonzero(together) == len(rows)):
        return 1.0  # the same clusters under other names
    filled = together > 0
    shares = together[filled] / n
    mutual = float(np.sum(shares * np.log(n * together[filled] / np.outer(rows, columns)[filled])))
    expected = _expected_mutual_information(rows.astype(int), columns.astype(int), n)
    norm = (_entropy(rows / n) + _entropy(columns / n)) / 2 - expected
    return (mutual - expected) / (norm if abs(norm) > TINY else TINY)


def _entropy(shares: NDArray[np.float64]) -> float:
    return float(-np.sum(shares * np.log(shares)))


def _expected_mutual_information(rows: Labels, columns: Labels, n: int) -> float:
    """Return the mean over all pairs of clusterings with clusters of these sizes; equal sizes are summed up once."""
    sizes_a, times_a = np.unique(rows, return_counts=True)
    sizes_b, times_b = np.unique(columns, return_counts=True)
    a, b = np.repeat(sizes_a, len(sizes_b)), np.tile(sizes_b, len(sizes_a))
    times = np.repeat(times_a, len(sizes_b)) * np.tile(times_b, len(sizes_a))
    low, high = np.maximum(1, a + b - n), np.minimum(a, b)
    lengths = np.maximum(high - low + 1, 0)
    pair = np.repeat(np.arange(len(a)), lengths)  # of every number that two clusters may share
    shared = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + low[pair]
    a, b, times = a[pair], b[pair], times[pair]
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    log_chance = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b] - log_factorial[n]
    log_chance -= log_factorial[shared] + log_factorial[a - shared] + log_factorial[b - shared]
    log_chance -= log_factorial[n - a - b + shared]
    return float(np.sum(times * shared / n * np.log(n * shared / (a * b)) * np.exp(log_chance)))


def _numbered(labels: ArrayLike, shape: tuple[int, ...] | None = None) -> Labels:
    """Return labels as numbers from 0 without gaps, of the samples of a square matrix if its shape is given."""
    found = np.asarray(labels)
    if found.ndim != 1 or found.size == 0:
        raise ValueError(f"labels have shape {found.shape}; give one for each sample.")
    if shape is not None and shape != (found.size, found.size):
        raise ValueError(f"the matrix has shape {shape} for {found.size} labels; both must be of the same samples.")
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)


def _indicators(labels: Labels) -> Any:
    n = len(labels)
    return sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
