"""Clusters as unions of pieces: an embedding is cut into more pieces than clusters, and pieces that share edges join.

k-means cuts what is long or large, and joins what is small: its pieces are about the same in size and spread. With
twice as many pieces as clusters the cuts do no harm, since the graph knows which of the pieces belong together.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array
from kernelbraid.solvers.centres import Clusters, FeatureSpace, Labels
from kernelbraid.solvers.kmeans import BATCH_SIZE, Rule, descend, random_samples, spread_samples

#: Pieces for each cluster.
PIECES = 2
#: Power of the volumes that divides the edges between two pieces. With 1 it is the mean edge, by which small pieces are
#: lost to their neighbours; with 1/2 any few samples that stand aside stay a cluster of their own.
CLOSENESS = 0.85
# Edges between pieces that share none, in units of all edges: the smallest of them join first.
NO_EDGE = 1e-12


def cut(
    X: Array,
    n_pieces: int,
    *,
    n_cuts: int,
    n_init: int,
    random_state: np.random.RandomState,
    spread: bool = True,
) -> Labels:
    """Cut points into pieces several times, each time by the better of some runs of k-means from starts of its own.

    Parameters
    ----------
    X : array of shape (n, d)
        Points.
    n_pieces : int
        At most n.
    n_cuts : int
        How often.
    n_init : int
        Runs of k-means for every cut.
    random_state : RandomState
        Draws the starts, in NumPy whatever the backend.
    spread : bool, default=True
        Start from samples that are far from each other; others are drawn faster.

    Returns
    -------
    ndarray of shape (n_cuts, n)
        Numbers of pieces from 0 on.
    """
    n, n_starts = X.shape[0], n_cuts * n_init
    if spread:
        starts = spread_samples(to_numpy(X).astype(np.float64), n_starts, n_pieces, random_state)
    else:
        starts = random_samples(n_starts, n, n_pieces, random_state)
    size = max(1, BATCH_SIZE // (n * n_pieces))
    space, rule = FeatureSpace(X), Rule()
    batches = (Clusters.of(starts[i : i + size], n_pieces, n) for i in range(0, len(starts), size))
    ends = [ended for batch in batches for ended, _ in descend(space, batch, rule)]
    merits = np.array([ended.merit for ended in ends]).reshape(n_cuts, n_init)
    best = np.argmin(merits, axis=1) + np.arange(n_cuts) * n_init
    return np.stack([ends[run].labels for run in best])


def join(graph: Array, pieces: Labels, n_clusters: int, *, closeness: float = CLOSENESS) -> Labels:
    r"""Join pieces of a graph until so many clusters are left, each time the two that are closest.

    .. math:: w_{ab} / (v_a v_b)^{0.85}

    with :math:`w_{ab}` the edges between two pieces and :math:`v` the sums of all edges of each.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        Symmetric; negative edges count as none.
    pieces : ndarray of shape (n,)
        Numbers of pieces.
    n_clusters : int
        How many are left.
    closeness : float, default=0.85
        The power.

    Returns
    -------
    ndarray of shape (n,)
        Clusters from 0 on; as many as there are pieces if these are fewer.
    """
    _, pieces = np.unique(pieces, return_inverse=True)
    edges, volumes = _between(graph, pieces)
    m = len(volumes)
    cluster_of = np.arange(m)
    alive = np.ones(m, dtype=bool)
    near = edges / np.outer(volumes, volumes) ** closeness
    np.fill_diagonal(near, -1.0)
    for _ in range(m - n_clusters):
        a = int(np.argmax(near.max(axis=1)))
        b = int(np.argmax(near[a]))
        edges[a] += edges[b]
        edges[:, a] += edges[:, b]
        volumes[a] += volumes[b]
        alive[b] = False
        near[b] = near[:, b] = -1.0
        near[a] = near[:, a] = np.where(alive, edges[a] / (volumes[a] * volumes) ** closeness, -1.0)
        near[a, a] = -1.0
        cluster_of[cluster_of == b] = a
    return np.unique(cluster_of[pieces], return_inverse=True)[1]


def _between(graph: Array, groups: Labels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of edges between groups of vertices, none of them zero, and of all edges of each group."""
    edges = sparse.csr_array(graph if sparse.issparse(graph) else to_numpy(graph)).astype(np.float64)
    edges.data = np.maximum(edges.data, 0.0)
    members = _members(groups)
    between = (members.T @ (edges @ members)).toarray()
    total = float(between.sum())
    between = between / total if total > 0 else between
    return between + NO_EDGE, between.sum(axis=1) + NO_EDGE


def settle(graph: Array, labels: Labels) -> Labels:
    """Give every vertex the cluster to which most of its edges go; all stay where a cluster would be lost.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        Symmetric.
    labels : ndarray of shape (n,)
        Clusters from 0 on, without gaps.
    """
    edges = sparse.csr_array(graph if sparse.issparse(graph) else to_numpy(graph))
    members = _members(labels)
    to_clusters = (edges @ members).toarray()
    to_clusters[np.arange(labels.size), labels] -= edges.diagonal()
    moved = np.where(to_clusters.max(axis=1) > 0, to_clusters.argmax(axis=1), labels)
    return moved if np.bincount(moved, minlength=members.shape[1]).all() else labels


def _members(groups: Labels) -> sparse.csr_array:
    """Return who belongs to which group, (n, n_groups)."""
    n = groups.size
    return sparse.csr_array((np.ones(n), (np.arange(n), groups)), shape=(n, int(groups.max()) + 1))
