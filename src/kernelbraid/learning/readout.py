"""Read out: from a learned graph to an embedding and labels. The only tail there is."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import to_numpy
from kernelbraid._machine import calm
from kernelbraid._typing import Array
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.settings import Readout
from kernelbraid.metrics.partitions import agreement
from kernelbraid.ops.graphs import embed_rows, spectral_vectors
from kernelbraid.solvers.kmeans import PIECES, Edges, cut, join, kmeans, separate, settle
from kernelbraid.solvers.lloyd import Clustering

CUTS = 5  # into pieces, of which the one is taken whose clusters most of the others find, too


@dataclass(frozen=True)
class PlacedGraph:
    """A symmetric graph and the coordinates of its vertices."""

    graph: Array  # csr array if it was refined
    vectors: Array  # orthonormal eigenvectors, (n, k)
    embedding: Array  # what they make of the vertices, (n, k)
    identities: np.ndarray
    is_sum: bool = False  # whether it is the sum of graphs of several views

    @cached_property
    def n_components(self) -> int:
        """Connected components of the graph."""
        graph = self.graph if sparse.issparse(self.graph) else to_numpy(self.graph)
        return int(connected_components(sparse.csr_array(graph), directed=False)[0])


@dataclass(frozen=True)
class Reading:
    """A graph with its embedding, and the clusters found there."""

    placed: PlacedGraph
    labels: np.ndarray
    inertia: float
    n_iter: int  # steps of k-means; 0 if pieces were joined
    agreement: float | None = None  # mean adjusted Rand index of the clusters of two cuts; None if there is no cut


def read_out(learned: LearnedGraph, readout: Readout, *, random_state: np.random.RandomState) -> Reading:
    """Return the graph that was learned, its spectral embedding, and the clusters that k-means finds there.

    Parameters
    ----------
    learned : LearnedGraph
        The graph.
    readout : Readout
        Which eigenvectors place the samples, how k-means runs; its `n_clusters` is a number.
    random_state : RandomState
        Draws the starts of k-means.

    Returns
    -------
    Reading
        Exactly `n_clusters` labels in order of appearance, fewer only if fewer samples are distinct; copies of a sample
        have its label.
    """
    return cluster(place(learned, readout), readout, random_state=random_state)


def place(learned: LearnedGraph, readout: Readout) -> PlacedGraph:
    """Return the graph and its embedding; trials that differ in k-means alone share it."""
    return place_graph(learned.graph, readout, learned.identities, is_sum=learned.shares is not None)


def place_graph(graph: Array, readout: Readout, identities: np.ndarray, *, is_sum: bool = False) -> PlacedGraph:
    """Return the embedding of a symmetric graph."""
    k, spectrum = int(readout.n_clusters), readout.embedding
    with calm(readout.n_jobs):
        vectors = spectral_vectors(graph, k, spectrum=spectrum)
        return PlacedGraph(graph, vectors, embed_rows(graph, vectors, spectrum), identities, is_sum)


def cluster(placed: PlacedGraph, readout: Readout, *, random_state: np.random.RandomState) -> Reading:
    """Return the clusters in an embedding: pieces that are joined, or those of k-means."""
    k = int(readout.n_clusters)
    with calm(readout.n_jobs):
        if readout.assign_labels == "merge" and 1 < k < placed.embedding.shape[0]:
            return join_pieces(placed, readout, random_state)
        return run_kmeans(placed, readout, readout.n_init, random_state)


def run_kmeans(placed: PlacedGraph, readout: Readout, n_init: int, random_state: np.random.RandomState) -> Reading:
    """Cluster by k-means; random starts miss small clusters that are clear, as those are on which views agree."""
    k = int(readout.n_clusters)
    found: Clustering = kmeans(
        placed.embedding,
        k,
        n_init=n_init,
        random_state=random_state,
        by_distance=readout.restart_score == "distance",
        spread=placed.is_sum or readout.assign_labels == "merge",
    )
    return Reading(placed, distinct_labels(found.labels, k, placed.identities), found.inertia, found.n_iter)


def join_pieces(placed: PlacedGraph, readout: Readout, random_state: np.random.RandomState) -> Reading:
    """Cut the embedding into pieces and join them, several times; take the clusters on which most of them agree."""
    k, X = int(readout.n_clusters), placed.embedding
    options: dict[str, Any] = {"n_cuts": CUTS, "n_init": -(-readout.n_init // CUTS), "random_state": random_state}
    cuts = cut(X, min(PIECES * k, X.shape[0]), **options)
    edges = Edges.of(placed.graph)
    joined = [settle(edges, join(edges, pieces, k)) for pieces in cuts]
    shared = agreement(joined)
    best = int(np.argmax(shared))
    labels = distinct_labels(joined[best], k, placed.identities)
    return Reading(placed, labels, _inertia(to_numpy(X), labels), 0, float(shared.mean()))


def _inertia(X: np.ndarray, labels: np.ndarray) -> float:
    """Return the sum of squared distances to the centres of clusters."""
    sums = np.zeros((int(labels.max()) + 1, X.shape[1]))
    np.add.at(sums, labels, X)
    centres = sums / np.maximum(np.bincount(labels), 1)[:, None]
    return float(((X - centres[labels]) ** 2).sum())


def distinct_labels(labels: np.ndarray, n_clusters: int, identities: np.ndarray) -> np.ndarray:
    """Return exactly `n_clusters` labels in order of appearance, copies of a sample with its label."""
    _, first = np.unique(identities, return_index=True)
    return separate(labels[first[identities]], n_clusters, identities)
