"""How far samples belong to clusters, and how far few known labels reach along a graph."""

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from kernelbraid._arrays import squared_lengths, to_numpy
from kernelbraid._machine import blas_threads, calm
from kernelbraid._typing import Array, Labels
from kernelbraid.learning.effort import reach
from kernelbraid.ops.graphs import Spectrum, degrees, embed_rows, normalised_graph, spectral_vectors
from kernelbraid.solvers.kmeans import kmeans
from kernelbraid.solvers.lloyd import nearest_centres

#: Times that the clusters are found again, every time with other weights of the samples; fewer of many samples.
REPLICATES, FEW_REPLICATES, MANY = 20, 5, 20_000
#: How fast memberships fall with the distance to a centre, in units of the distance between centres.
SHARPNESS = 4.0
#: Steps that labels walk along the graph: to the neighbours of neighbours.
STEPS = 2


def memberships(
    graph: Array,
    embedding: Array,
    labels: Labels,
    n_clusters: int,
    *,
    spectrum: Spectrum = "largest",
    copies: Labels | None = None,
    threads: int | None = None,
) -> np.ndarray:
    r"""Return how far each sample belongs to each cluster.

    .. math:: M = \tfrac13 \Big(P^2 H + E + \tfrac1R \sum_r V_r\Big)

    where

    - :math:`H` has a one for the label of each sample, and :math:`P` is the random walk on the graph, so that
      :math:`P^2 H` holds the labels of the neighbours of neighbours,
    - :math:`E` falls with the distances to the centres of the clusters in the embedding (:func:`from_centres`),
    - :math:`V_r` has a one for the label that each sample gets when the clusters are found again in the graph with
      edges :math:`w_i w_j G_{ij}`, the weights of samples drawn from the exponential distribution (the Bayesian
      bootstrap), and matched to those that there are.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        G, symmetric and not negative.
    embedding : array of shape (n, d)
        Coordinates of the samples.
    labels : ndarray of shape (n,)
        Clusters from 0 on.
    n_clusters : int
        k, above all labels.
    spectrum : {"largest", "magnitude", "unnormalised", "random_walk"}, default="largest"
        Eigenvectors in which clusters are found, as for :func:`~kernelbraid.ops.graphs.spectral_vectors`.
    copies : ndarray of shape (n,), default=None
        For each sample the first one that it is a copy of; copies get the mean of what each has.
    threads : int, default=None
        Threads of BLAS; one if None, and more where they help.

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to one. The largest entry of a row need not be that of the label: such labels are the least sure ones.
    """
    graph = graph if sparse.issparse(graph) else to_numpy(graph)
    given = one_hot(labels, n_clusters)
    if n_clusters == 1:
        return given
    with calm(threads):
        near = from_centres(to_numpy(embedding), given)
        found = (walked(graph, given) + near + votes(graph, labels, n_clusters, spectrum)) / 3
    return found if copies is None else _mean_of_copies(found, copies)


def walked(graph: Array, given: np.ndarray) -> np.ndarray:
    """Return the shares of the clusters among the neighbours of neighbours; even ones where there are no edges."""
    steps = without_loops(graph)
    for _ in range(STEPS):
        given = shares_of(steps @ given)
    return given


def from_centres(embedding: np.ndarray, given: np.ndarray) -> np.ndarray:
    r"""Return shares :math:`e^{-4 d_c / s}` over their sum; none is of a cluster without samples.

    d are the distances to the means of the clusters, and s is the mean distance of a mean from the nearest other one.
    """
    present = np.flatnonzero(given.any(axis=0))
    mine, placed = given[:, present], embedding.astype(np.float64, copy=False)
    centres = (mine / mine.sum(axis=0)).T @ placed
    lengths = squared_lengths(centres)
    between = lengths[:, None] + lengths[None, :] - 2 * centres @ centres.T
    np.fill_diagonal(between, np.inf)
    apart = float(np.sqrt(np.maximum(between.min(axis=1), 0.0)).mean()) if len(lengths) > 1 else 1.0
    products = placed @ centres.T
    squares = squared_lengths(placed)[:, None] + lengths[None, :] - 2 * products
    distances = np.sqrt(np.maximum(squares, 0.0)) * (SHARPNESS / (apart or 1.0))
    odds = np.exp(distances.min(axis=1, keepdims=True) - distances)
    # Equal distances are no reason to contradict the label: rounding decides there.
    rows, first, best = np.arange(len(odds)), nearest_centres(products, lengths), odds.argmax(axis=1)
    odds[rows, first], odds[rows, best] = odds[rows, best], odds[rows, first]
    found = np.zeros_like(given)
    found[:, present] = odds / odds.sum(axis=1, keepdims=True)
    return found


def votes(graph: Array, labels: Labels, n_clusters: int, spectrum: Spectrum) -> np.ndarray:
    """Return how often samples get each label when the clusters are found again with other weights of the samples."""
    random_state = np.random.RandomState(0)  # not that of the fit: the same graph and labels, the same memberships
    spaces: list[np.ndarray] = []
    replicates = REPLICATES if len(labels) < MANY else FEW_REPLICATES
    for _ in range(replicates):
        weighted = _weighted(graph, random_state.standard_exponential(len(labels)))
        reach(len(spaces) / replicates)
        spaces.append(
            to_numpy(embed_rows(weighted, spectral_vectors(weighted, n_clusters, spectrum=spectrum), spectrum))
        )
    again = [kmeans(X, n_clusters, n_init=1, random_state=random_state, spread=True).labels for X in spaces]
    return np.asarray(sum(one_hot(matched(labels, other, n_clusters), n_clusters) for other in again) / replicates)


def matched(labels: Labels, other: Labels, n_clusters: int) -> Labels:
    """Return other labels of the same samples, renamed so that most of them agree, one name for each."""
    counts = np.bincount(other * n_clusters + labels, minlength=n_clusters**2).reshape(n_clusters, n_clusters)
    return np.asarray(linear_sum_assignment(counts, maximize=True)[1][other])


def one_hot(labels: Labels, n_clusters: int) -> np.ndarray:
    """Return a one for the label of each sample, (n, k)."""
    return np.asarray(np.arange(n_clusters)[None, :] == labels[:, None], dtype=np.float64)


def of_labels(membership: np.ndarray, labels: Labels) -> np.ndarray:
    """Return how sure each label is: its entry in the membership."""
    return np.asarray(membership[np.arange(len(labels)), labels])


def _weighted(graph: Array, weights: np.ndarray) -> Array:
    """Return w_i w_j G_ij, in the precision of the graph."""
    weights = (weights / weights.mean()).astype(graph.dtype)
    if sparse.issparse(graph):
        scale = sparse.diags_array(weights)
        return sparse.csr_array(scale @ graph @ scale)
    return weights[:, None] * graph * weights[None, :]


def without_loops(graph: Array) -> Array:
    """Return the edges of a graph, without those of samples to themselves and without negative ones."""
    if sparse.issparse(graph):
        edges = sparse.coo_array(graph)
        kept = (edges.row != edges.col) & (edges.data > 0)
        data = edges.data[kept].astype(np.float64)
        return sparse.csr_array((data, (edges.row[kept], edges.col[kept])), shape=graph.shape)
    edges = np.maximum(graph, 0.0).astype(np.float64)
    np.fill_diagonal(edges, 0.0)
    return edges


def _mean_of_copies(found: np.ndarray, copies: Labels) -> np.ndarray:
    """Return rows of which those of copies are the same."""
    sums = np.zeros_like(found)
    np.add.at(sums, copies, found)
    return np.asarray((sums / np.maximum(np.bincount(copies, minlength=len(copies)), 1)[:, None])[copies])


# Relative error of every entry, however small: far from the known labels all of them are, and they decide there.
ACCURACY = 1e-10


def spread_labels(graph: Array, given: np.ndarray, spread: float, threads: int | None = None) -> np.ndarray:
    """Return (I - a S)^-1 Y for S = D^-1/2 G D^-1/2.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        G, symmetric and not negative, with degrees D.
    given : ndarray of shape (n, n_classes)
        Y, a one for each known label.
    spread : float
        a, between 0 and 1.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the graph if None.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Not negative.
    """
    n = given.shape[0]
    S = normalised_graph(graph if sparse.issparse(graph) else to_numpy(graph))
    with blas_threads(n, threads):
        if not sparse.issparse(S):
            return np.asarray(np.linalg.solve(np.eye(n) - spread * S, given))
        return _sum_of_powers(spread * S.astype(np.float64), given, spread)


def _sum_of_powers(A: Array, given: np.ndarray, norm: float) -> np.ndarray:
    """Return Y + A Y + A^2 Y + ... for a sparse matrix without negative entries, whose norm is below one.

    Nothing is subtracted, so that small entries are as accurate as large ones.
    """
    total = given
    while True:
        more = A @ total + given
        if np.all(more - total <= ACCURACY * (1 - norm) * more):
            return np.asarray(more)
        total = more


def shares_of(spread: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; a sample that no label reaches gets even shares."""
    totals = spread.sum(axis=1, keepdims=True)
    even = np.full_like(spread, 1 / spread.shape[1])
    return np.where(totals > 0, spread / np.where(totals > 0, totals, 1.0), even)


def evened(shares: np.ndarray, nearness: np.ndarray) -> np.ndarray:
    """Return shares of which so much holds, and the rest is even."""
    return np.asarray(nearness[:, None] * shares + (1 - nearness[:, None]) / shares.shape[1])


def reached_by(edges: np.ndarray, graph: Array, spread: np.ndarray) -> np.ndarray:
    """Return the shares that come to new samples along their edges to the vertices of a graph."""
    D = degrees(graph if sparse.issparse(graph) else to_numpy(graph))
    return shares_of(edges @ (spread / np.sqrt(np.where(D > 0, D, 1.0))[:, None]))
