"""Clusters of points: by k-means from many starts, or as unions of pieces that k-means has cut.

k-means cuts what is long or large, and joins what is small: its pieces are about the same in size and spread. With
twice as many pieces as clusters the cuts do no harm, since the graph knows which of the pieces belong together.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array, Labels, Matrix, Vector
from kernelbraid.solvers.lloyd import Clustering, FeatureSpace, Rule, Space, best_of, descend, over_kernels

#: Pieces for each cluster.
PIECES = 2
#: Power of the volumes that divides the edges between two pieces. With 1 it is the mean edge, by which small pieces are
#: lost to their neighbours; with 1/2 any few samples that stand aside stay a cluster of their own.
CLOSENESS = 0.85
# Edges between pieces that share none, in units of all edges: the smallest of them join first.
NO_EDGE = 1e-12


def kmeans(
    X: Array,
    n_clusters: int,
    *,
    n_init: int,
    random_state: np.random.RandomState,
    by_distance: bool = False,
    spread: bool = False,
) -> Clustering:
    """Cluster rows: the best among `n_init` runs from random samples as centres.

    Parameters
    ----------
    X : array of shape (n, d)
        Points.
    n_clusters : int
        k, at most n.
    n_init : int
        Number of starts.
    random_state : numpy.random.RandomState
        Draws the starting samples, always on the host, so that every backend starts alike.
    by_distance : bool, default=False
        The best run is that of lowest inertia; if True, that of the lowest sum of distances, not squared.
    spread : bool, default=False
        Start from samples that are far from each other (k-means++), which finds many small clusters; they are drawn in
        NumPy whatever the backend, as the others are.

    Returns
    -------
    Clustering
        A cluster that runs empty is refilled with the point that fits its centre worst; fewer than k labels mean
        that the points (nearly) coincide with fewer than k centres.
    """
    if spread:
        starts = spread_samples(X, n_init, n_clusters, random_state)
    else:
        starts = random_samples(n_init, X.shape[0], n_clusters, random_state)
    return best_of(FeatureSpace(X), starts, n_clusters, Rule(by_distance=by_distance))


def random_samples(n_init: int, n: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw k different samples as the centres of each start, (n_init, k)."""
    return np.argsort(random_state.random_sample((n_init, n)), axis=1, kind="stable")[:, :k]


def plus_plus(space: Space, n_init: int, k: int, random_state: np.random.RandomState, *, n_trials: int = 1) -> Labels:
    """Draw the samples of each start one after the other, far ones with higher probability (k-means++), (n_init, k).

    Not scikit-learn's `kmeans_plusplus`: solvers import no scikit-learn, and these samples may be rows of a kernel or
    lack some of several views, with all starts drawn at once.

    Parameters
    ----------
    space : Space
        The samples.
    n_init, k : int
        Number of starts, and of samples in each, which are different ones.
    random_state : numpy.random.RandomState
        Draws them.
    n_trials : int, default=1
        How many are drawn each time; that one stays which leaves the smallest sum of squared distances (Arthur and
        Vassilvitskii's greedy variant).
    """
    n, runs = space.squares.shape[1], np.arange(n_init)
    starts, left = np.empty((n_init, k), dtype=np.int64), np.ones((n_init, n), dtype=bool)
    drawn = random_state.randint(n, size=(n_init, 1))
    nearest = np.full((n_init, n), np.inf)
    for c in range(k):
        if c > 0:
            odds = np.where(left, nearest, 0.0)
            odds = np.where(odds.any(axis=1, keepdims=True), odds, left)  # all others coincide with a centre
            totals = np.cumsum(odds, axis=1)
            draws = random_state.random_sample((n_init, n_trials)) * totals[:, -1:]
            found = [np.searchsorted(total, draw, side="right") for total, draw in zip(totals, draws, strict=True)]
            drawn = np.minimum(np.stack(found), n - 1)
            again = ~left[runs[:, None], drawn]  # odds too small to be told apart
            drawn = np.where(again, left.argmax(axis=1)[:, None], drawn)
        distances = (
            to_numpy(over_kernels(space.from_samples(drawn.ravel()))).astype(float, copy=False).reshape(n_init, -1, n)
        )
        np.minimum(distances, nearest[:, None, :], out=distances)
        best = distances.sum(axis=2).argmin(axis=1)
        starts[:, c], nearest = drawn[runs, best], distances[runs, best]
        left[runs, starts[:, c]] = False
    return starts


def spread_samples(X: Array, n_init: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw the samples of each start far from each other, (n_init, k): the best of 2 + log k draws each time."""
    space = FeatureSpace(to_numpy(X).astype(np.float64))
    return plus_plus(space, n_init, k, random_state, n_trials=2 + int(np.log(k)))


def cut(
    X: Array, n_pieces: int, *, n_cuts: int, n_init: int, random_state: np.random.RandomState, spread: bool = True
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
        starts = spread_samples(X, n_starts, n_pieces, random_state)
    else:
        starts = random_samples(n_starts, n, n_pieces, random_state)
    ends = descend(FeatureSpace(X), starts, n_pieces, Rule())
    merits = np.array([ended.merit for ended in ends]).reshape(n_cuts, n_init)
    best = np.argmin(merits, axis=1) + np.arange(n_cuts) * n_init
    return np.stack([ends[run].labels for run in best])


@dataclass(frozen=True)
class Edges:
    """The edges of a symmetric graph, each in both directions; negative ones, and those to oneself, are left out."""

    ends: Labels  # (2, n_edges)
    weights: Vector
    n: int  # vertices

    @classmethod
    def of(cls, graph: "Array | Edges") -> "Edges":
        """Take them from an array or a csr array, once for all cuts."""
        if isinstance(graph, Edges):
            return graph
        found = sparse.coo_array(graph if sparse.issparse(graph) else to_numpy(graph))
        kept = (found.data > 0) & (found.row != found.col)
        ends = np.stack([found.row[kept], found.col[kept]]).astype(np.int64)
        return cls(ends, found.data[kept].astype(np.float64), int(found.shape[0]))

    def between(self, groups: Labels, n_groups: int) -> Matrix:
        """Return the sums of edges between groups of vertices."""
        starts, ends = groups[self.ends]
        return _summed(starts, ends, self.weights, (n_groups, n_groups))

    def to(self, groups: Labels, n_groups: int) -> Matrix:
        """Return the sums of the edges of each vertex to groups."""
        return _summed(self.ends[0], groups[self.ends[1]], self.weights, (self.n, n_groups))


def _summed(rows: Labels, columns: Labels, weights: Vector, shape: tuple[int, int]) -> Matrix:
    """Return a matrix of sums."""
    sums = np.bincount(rows * shape[1] + columns, weights, minlength=shape[0] * shape[1])
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def join(graph: Array | Edges, pieces: Labels, n_clusters: int, *, closeness: float = CLOSENESS) -> Labels:
    r"""Join pieces of a graph until so many clusters are left, each time the two that are closest.

    .. math:: w_{ab} / (v_a v_b)^{0.85}

    with :math:`w_{ab}` the edges between two pieces and :math:`v` the sums of all edges of each.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), or Edges
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
    m = int(pieces.max()) + 1
    edges = Edges.of(graph).between(pieces, m)
    edges = edges / max(float(edges.sum()), np.finfo(float).tiny) + NO_EDGE
    volumes = edges.sum(axis=1)
    cluster_of, alive = np.arange(m), np.ones(m, dtype=bool)
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


def settle(graph: Array | Edges, labels: Labels) -> Labels:
    """Give every vertex the cluster to which most of its edges go; all stay where a cluster would be lost.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), or Edges
        Symmetric; negative edges count as none.
    labels : ndarray of shape (n,)
        Clusters from 0 on, without gaps.
    """
    k = int(labels.max()) + 1
    to_clusters = Edges.of(graph).to(labels, k)
    moved = np.where(to_clusters.max(axis=1) > 0, to_clusters.argmax(axis=1), labels)
    return moved if np.bincount(moved, minlength=k).all() else labels


def dissolve(graph: Array | Edges, labels: Labels, smallest: float, sizes: Vector | None = None) -> Labels:
    """Give the vertices of clusters that are too small the cluster to which most of their edges go.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), or Edges
        Symmetric; negative edges count as none.
    labels : ndarray of shape (n,)
        Clusters.
    smallest : float
        Vertices that a cluster has at least.
    sizes : ndarray of shape (n,), default=None
        As how many each vertex counts; one if None.

    Returns
    -------
    ndarray of shape (n,)
        Clusters from 0 on, in order of appearance. Vertices that reach no cluster that is large enough join the
        largest one; where none is, all stay as they are.
    """
    edges, labels = Edges.of(graph), in_order(labels)
    is_small = np.bincount(labels, sizes) < smallest
    if is_small.all() or not is_small.any():
        return labels
    largest = int(np.bincount(labels, sizes).argmax())
    homeless = is_small[labels]
    while homeless.any():
        from_there = homeless[edges.ends[0]] & ~homeless[edges.ends[1]]
        starts, ends = edges.ends[:, from_there]
        shape = (edges.n, len(is_small))
        to_clusters = sparse.csr_array((edges.weights[from_there], (starts, labels[ends])), shape=shape)
        reached = np.flatnonzero(np.diff(to_clusters.indptr))
        if not len(reached):
            labels[homeless] = largest
            break
        labels[reached] = np.asarray(to_clusters[reached].argmax(axis=1)).ravel()
        homeless[reached] = False
    return in_order(labels)


def separate(labels: Labels, n_clusters: int, same: Labels) -> Labels:
    """Number the clusters in order of appearance, splitting off distinct samples until there are `n_clusters` of them.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels; some clusters may hold copies of one point only.
    n_clusters : int
        Number of clusters wanted.
    same : ndarray of shape (n,)
        Identities of the samples: equal numbers for equal samples.

    Returns
    -------
    ndarray of shape (n,)
        Exactly `n_clusters` labels, fewer only if there are fewer distinct samples.
    """
    labels = in_order(labels)
    found = int(labels.max()) + 1
    while found < n_clusters:
        kinds = [np.unique(same[labels == cluster]) for cluster in range(found)]
        largest = max(range(found), key=lambda cluster: kinds[cluster].shape[0])
        if kinds[largest].shape[0] == 1:
            break
        labels[(labels == largest) & (same == kinds[largest][-1])] = found
        found += 1
    return in_order(labels)


def in_order(labels: Labels) -> Labels:
    """Number labels so that equal partitions get equal labels."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int64)[inverse]
