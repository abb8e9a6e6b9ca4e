r"""Communities: clusters that hold more of a graph's weight than the degrees of their vertices would by chance.

.. math:: \max_c\ \sum_c \frac{w_{cc}}{w} - r \Big(\frac{v_c}{w}\Big)^2

with :math:`w_{cc}` the weight within a cluster, :math:`v_c` that of all edges of its vertices, :math:`w` that of all
edges in both directions and :math:`r` the resolution: the larger, the more clusters. Leiden's method climbs there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import to_numpy
from kernelbraid._machine import ORDER, workers
from kernelbraid._typing import Array, Labels
from kernelbraid.metrics.partitions import adjusted_rand
from kernelbraid.solvers.kmeans import Edges, in_order, join, settle
from kernelbraid.solvers.low_rank.rows import in_threads

ROUNDS = 3  # of Leiden's method, each from the clusters of the one before: more of them change little
FEW_ROUNDS = 2  # where many resolutions are tried
TRIED = 16  # resolutions at most until one gives a number of clusters that is asked for
LOWEST, HIGHEST = 1e-3, 2.0  # resolutions, the second one per vertex: components stay whole, almost all are alone
AT_ONE = 2.0  # communities at resolution one, in units of the third root of the number of vertices, roughly
NEAR = 1.001  # factor between two resolutions that are the same
FEW_RUNS = 1  # more on the graph itself, of which the most modular is taken
REWEIGHTED = 3  # graphs with random weights by which steadiness is measured
LESS = 0.75  # how steady the last of them are at least, as a part of the first ones, which may say enough
INWARD = 0.1  # part of the way between two resolutions, on either side, where the next one is not sought


@dataclass(frozen=True)
class Network:
    """A symmetric graph as Leiden's method takes it: without edges to oneself."""

    edges: Edges
    starts: np.ndarray  # of the rows of a csr array, int64
    ends: np.ndarray  # its columns, int32
    weights: np.ndarray  # float64, of which the largest is 1

    @classmethod
    def of(cls, graph: "Array | Edges | Network") -> "Network":
        """Take it from an array or a csr array, once for all resolutions."""
        if isinstance(graph, Network):
            return graph
        if not isinstance(graph, Edges):
            weights = graph.data if sparse.issparse(graph) else to_numpy(graph)
            if weights.size and weights.min() < 0:
                raise ValueError(
                    f"The graph has negative edges (the least is {weights.min():.2g}), and communities have none; "
                    "set those to zero, or use assign_labels='kmeans'."
                )
        edges = Edges.of(graph)
        if not edges.weights.size:
            raise ValueError(
                "The graph joins no two samples, and without edges there are no communities; give n_clusters and "
                "assign_labels='kmeans', or samples of which some are alike."
            )
        rows = sparse.csr_array((edges.weights, (edges.ends[0], edges.ends[1])), shape=(edges.n, edges.n))
        rows.sort_indices()
        weights = rows.data / rows.data.max()  # how random Leiden's moves are is absolute
        return cls(edges, rows.indptr.astype(np.int64), rows.indices.astype(np.int32), weights)

    @property
    def n(self) -> int:
        """Vertices."""
        return self.edges.n

    @cached_property
    def n_components(self) -> int:
        """Connected components."""
        rows = sparse.csr_array((self.weights, self.ends, self.starts), shape=(self.n, self.n))
        return int(connected_components(rows, directed=False)[0])

    def sums(self, labels: Labels) -> tuple[float, float]:
        """Return the share of the weight within clusters, and the share that degrees alone would give."""
        starts, ends = labels[self.edges.ends]
        volumes = np.bincount(starts, self.edges.weights)
        total = float(volumes.sum())
        inside = float(self.edges.weights[starts == ends].sum()) / total
        return min(inside, 1.0), float((volumes**2).sum()) / total**2

    def reweighted(self, random_state: np.random.RandomState) -> "Network":
        """Return the same edges with random weights: what other samples of the same kind might have given."""
        ends = self.edges.ends
        low, high = ends.min(axis=0), ends.max(axis=0)
        _, pair = np.unique(low * self.n + high, return_inverse=True)  # both directions of an edge
        factors = random_state.exponential(size=int(pair.max()) + 1)
        return Network.of(Edges(ends, self.edges.weights * factors[pair], self.n))


def communities(
    graph: Array | Edges | Network, resolution: float = 1.0, *, seed: int = 0, n_rounds: int = ROUNDS
) -> Labels:
    """Return the communities of a graph at one resolution.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), Edges or Network
        Symmetric, not negative, with edges.
    resolution : float, default=1.0
        The larger, the more clusters.
    seed : int, default=0
        Decides the order in which vertices move: one seed gives one result, on any number of threads.
    n_rounds : int, default=3
        Of the method, each from the clusters of the one before.

    Returns
    -------
    ndarray of shape (n,)
        Clusters from 0 on, in order of appearance; a vertex without edges is one of its own.
    """
    import graspologic_native  # when it is needed

    network = Network.of(graph)
    given = (network.starts, network.ends, network.weights, network.n)
    _, found = graspologic_native.leiden_csr(*given, resolution=float(resolution), iterations=n_rounds, seed=seed)
    labels = -1 - np.arange(network.n)  # a vertex without edges is not among those that are found
    labels[np.fromiter(found.keys(), np.int64, len(found))] = np.fromiter(found.values(), np.int64, len(found))
    return in_order(labels)


@dataclass(frozen=True)
class Communities:
    """Communities of a wanted number."""

    labels: Labels  # from 0 on, in order of appearance
    resolution: float  # at which there are as many, or nearly
    certainty: float  # mean adjusted Rand index with runs that move vertices in other orders; 1 if there were none
    graph: Array | Edges | Network  # which they are of
    seed: int = 0

    @property
    def network(self) -> Network:
        """The graph as Leiden's method takes it, which is larger and not kept."""
        return Network.of(self.graph)

    def steadiness(self, n_runs: int = REWEIGHTED) -> float:
        """Return the mean adjusted Rand index with those of the same edges with random weights, at most as many."""
        return float(np.mean(self._indices(n_runs)))

    def is_steady(self, least: float) -> bool:
        """Tell whether steadiness is so high: by the first runs, if they say enough."""
        for count in range(1, REWEIGHTED):
            found = self._indices(count)
            if sum(found) + (REWEIGHTED - count) * LESS * min(found) >= REWEIGHTED * least:
                return True
        return self.steadiness() >= least

    def _indices(self, count: int) -> list[float]:
        """Return the indices of so many runs, each of which is run once."""
        (found, random_state), network = self._known, self.network
        while len(found) < count:
            changed = network.reweighted(random_state)
            labels = communities(changed, self.resolution, seed=self.seed, n_rounds=1)
            labels = join(changed.edges, labels, int(self.labels.max()) + 1)  # where there are more of them
            found.append(adjusted_rand(self.labels, labels))
        return found[:count]

    @cached_property
    def _known(self) -> tuple[list[float], np.random.RandomState]:
        return [], np.random.RandomState(self.seed)


def steady_communities(
    graph: Array | Edges | Network, n_clusters: int, *, seed: int = 0, near: float | None = None, n_same: int = FEW_RUNS
) -> Communities:
    """Return so many communities, and how far they are found again in another order and when the edges weigh otherwise.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), Edges or Network
        Symmetric, not negative, with edges.
    n_clusters : int
        How many, at most n.
    seed : int, default=0
        As for :func:`communities`; draws the weights, too.
    near : float, default=None
        Resolution that is tried first; None for what gives about as many communities of most graphs.
    n_same : int, default=1
        More runs on the graph itself, of which the most modular is taken.
    """
    network = Network.of(graph)
    found, resolution = _of_number(network, n_clusters, seed, near)

    same = _runs(network, [(resolution, seed + at) for at in range(1, n_same + 1)])

    def merit(labels: Labels) -> float:
        inside, expected = network.sums(labels)
        return inside - resolution * expected

    best = max([found, *(labels for labels in same if labels.max() + 1 == n_clusters)], key=merit)
    rest = [adjusted_rand(best, labels) for labels in [found, *same] if labels is not best]
    return Communities(best, resolution, float(np.mean(rest or 1.0)), graph, seed)


def communities_of_number(graph: Array | Edges | Network, n_clusters: int, *, seed: int = 0) -> Labels:
    """Return so many communities: at the resolution that gives them, else joined from the next finer partition.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), Edges or Network
        Symmetric, not negative, with edges.
    n_clusters : int
        How many, at most n.
    seed : int, default=0
        As for :func:`communities`.

    Returns
    -------
    ndarray of shape (n,)
        Exactly so many clusters from 0 on, in order of appearance.
    """
    return _of_number(Network.of(graph), n_clusters, seed)[0]


def _runs(network: Network, settings: Sequence[tuple[float, int]]) -> list[Labels]:
    """Return the communities at some resolutions from some seeds."""

    def run(given: tuple[float, int]) -> Labels:
        return communities(network, given[0], seed=given[1], n_rounds=FEW_ROUNDS)

    return list(in_threads(run, settings, min(len(settings), workers(None if network.n >= ORDER else 1))))


def _of_number(network: Network, n_clusters: int, seed: int, near: float | None = None) -> tuple[Labels, float]:
    """Return so many communities, and the last resolution that was tried.

    Where there are threads, half of them try those that would be next if each gave as many as the lower bound.
    """
    finer, wanted, known = np.arange(network.n), float(np.log(n_clusters)), dict[float, Labels]()
    # Places of resolutions on a scale of logarithms, and that of the number of clusters beside it.
    low, high = (float(np.log(LOWEST)), 0.0), (float(np.log(HIGHEST * network.n)), float(np.log(network.n)))
    place = float(np.log(near or n_clusters / (AT_ONE * np.cbrt(network.n))))

    for _ in range(TRIED):
        if place not in known:
            ahead = [place]
            while len(ahead) < workers(None if network.n >= ORDER else 1) // 2:
                ahead.append(_between((ahead[-1], low[1]), high, wanted))
            known = dict(zip(ahead, _runs(network, [(float(np.exp(at)), seed) for at in ahead]), strict=True))
        labels = known[place]
        found = int(labels.max()) + 1
        if found == n_clusters:
            return labels, float(np.exp(place))
        if found < n_clusters:
            low = (place, float(np.log(found)))
        else:
            high = (place, float(np.log(found)))
            finer = min(finer, labels, key=lambda partition: int(partition.max()))
        if high[0] - low[0] < np.log(NEAR):
            break
        place = _between(low, high, wanted)
    return in_order(settle(network.edges, join(network.edges, finer, n_clusters))), float(np.exp(place))


def _between(low: tuple[float, float], high: tuple[float, float], wanted: float) -> float:
    """Return where a number of clusters is sought between two others, given by their places and logarithms."""
    share = float(np.clip((wanted - low[1]) / (high[1] - low[1]), INWARD, 1 - INWARD))
    return low[0] + share * (high[0] - low[0])
