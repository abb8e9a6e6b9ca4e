"""Scores of a clustering that need no classes: how dense, how even, how much alike."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernelbraid.metrics.counts import Labels, adjusted_rand, encode_pair, numbers_of


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
    indicators = _indicators(numbers_of(labels, S.shape))
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


def _indicators(labels: Labels) -> sparse.csr_array:
    n = len(labels)
    return sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))
