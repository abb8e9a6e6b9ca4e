"""Read out, the only tail there is: from a learned graph to an embedding and labels, and how far to rely on them."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import beside, to_numpy
from kernelbraid._machine import calm, counted
from kernelbraid._typing import Array
from kernelbraid.learning.extend import Placement
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.settings import Readout
from kernelbraid.metrics.partitions import adjusted_rand, agreement
from kernelbraid.solvers.communities import Communities, communities, communities_of_number, steady_communities
from kernelbraid.solvers.cuts import WEAK, cut_again
from kernelbraid.solvers.kmeans import PIECES, Edges, cut, dissolve, join, kmeans, separate, settle
from kernelbraid.solvers.lloyd import Clustering

CUTS = 5  # into pieces, of which the one is taken whose clusters most of the others find, too
#: Of the restarts of k-means that a user asks for, the part that it gets beside another way; and the most of pieces.
BESIDE, MOST = 4, 20
#: Steadiness from which communities are taken; below, as a part of the agreement of cuts.
STEADY = 0.65
#: Part of the weight of its edges that each community keeps where it stands apart.
APART = 0.95
#: Part of the mean size of a cluster below which one is a handful of samples that were left aside.
HANDFUL = 0.02
#: Index of k-means from which on even clusters are so clear that no cut is made elsewhere.
SAME = 0.9
#: Steadiness, and evenness of all ways, below which they have collapsed.
HALF = 0.5
#: What is told where all ways collapse.
COLLAPSED = (
    "Nearly all samples are in one cluster, whatever the way, and no two runs agree on the others: take nothing from "
    "these labels; other features, scaled samples or another number of clusters may be clearer."
)
#: What is told of the way that was taken.
TAKEN = {
    "communities": "The clusters are communities of the graph; run again, with other weights, it gives them",
    "merge": "The clusters are pieces that were joined; cut and joined again, with other weights, the graph gives them",
}
#: Reliability below which a sentence warns, and above which one reassures.
LOW, HIGH = 0.5, 0.8
#: Components for each cluster that are far too many.
SCATTERED = 2


@dataclass(frozen=True)
class PlacedGraph:
    """A symmetric graph and the coordinates of its vertices."""

    placement: Placement
    identities: np.ndarray
    is_sum: bool = False  # whether it is the sum of graphs of several views
    communities: Communities | None = None  # as many as clusters are wanted, where they are known
    there: Array | None = None  # an array that lives where k-means runs; None: on the host

    @classmethod
    def known(cls, graph: Array, embedding: Array, identities: np.ndarray, **given: Any) -> "PlacedGraph":
        """Take coordinates that are there already."""
        placement = Placement(graph, int(embedding.shape[1]), "largest")
        vars(placement)["embedding"] = embedding
        return cls(placement, identities, **given)

    @property
    def graph(self) -> Array:
        """The graph: a csr array if it was refined."""
        return self.placement.graph

    @property
    def embedding(self) -> Array:
        """The coordinates, (n, k)."""
        return self.placement.embedding

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
    n_iter: int = 0  # steps of k-means; none if pieces were joined, or communities found
    agreement: float = 1.0  # mean adjusted Rand index of the clusters of two cuts, where pieces were joined
    pieces: Sequence[np.ndarray] = ()  # that were joined, for each cut
    evidence: "Callable[[], Evidence] | None" = None  # where several ways were compared
    has_collapsed: bool = False  # all of these ways

    @property
    def inertia(self) -> float:
        """Sum of squared distances to the centres of clusters."""
        X, labels = to_numpy(self.placed.embedding), self.labels
        sums = np.zeros((int(labels.max()) + 1, X.shape[1]))
        np.add.at(sums, labels, X)
        centres = sums / np.maximum(np.bincount(labels), 1)[:, None]
        return float(((X - centres[labels]) ** 2).sum())


def read_out(
    learned: LearnedGraph, readout: Readout, *, random_state: np.random.RandomState, sizes: np.ndarray | None = None
) -> Reading:
    """Return the graph that was learned, its spectral embedding, and the clusters that are found there.

    Parameters
    ----------
    learned : LearnedGraph
        The graph.
    readout : Readout
        Which eigenvectors place the samples, how k-means runs; its `n_clusters` is a number, but with a resolution,
        which decides how many there are.
    random_state : RandomState
        Draws the starts of k-means, and the order in which communities form.
    sizes : ndarray of shape (n,), default=None
        As how many samples each counts where clusters have a least size; one if None.

    Returns
    -------
    Reading
        Exactly `n_clusters` labels in order of appearance, fewer only if fewer samples are distinct; copies of a sample
        have its label.
    """
    if readout.resolution is not None:
        labels = communities(learned.graph, readout.resolution, seed=seed_from(random_state))
        return published(learned, dissolve(learned.graph, labels, readout.min_cluster_size or 0, sizes), readout)
    if readout.min_cluster_size is not None and readout.n_clusters != 1:
        return published(learned, _large_enough(learned, readout, sizes, random_state), readout)
    return cluster(place(learned, readout), readout, random_state=random_state)


def _large_enough(
    learned: LearnedGraph, readout: Readout, sizes: np.ndarray | None, random_state: np.random.RandomState
) -> np.ndarray:
    """Return as many clusters as asked for that are large enough: those that stay where more of them are found."""
    k, n, best = int(readout.n_clusters), len(learned.identities), np.zeros(0, dtype=np.int64)
    if readout.assign_labels == "best":  # whose ways differ from one number to the next
        readout = replace(readout, assign_labels="merge")
    for more in (0, 1, 2, 4, 8, 16, 32):
        if k + more > n:
            break
        asked = replace(readout, n_clusters=k + more, min_cluster_size=None)
        found = read_out(learned, asked, random_state=random_state).labels
        found = dissolve(learned.graph, found, float(readout.min_cluster_size or 0), sizes)
        if np.bincount(found, sizes).min() < float(readout.min_cluster_size or 0):
            break  # none is large enough any more
        best = found if found.max(initial=0) >= best.max(initial=-1) else best
        if best.max() + 1 >= k:
            break
    return join(learned.graph, best, k) if len(best) else np.zeros(n, dtype=np.int64)


def seed_from(random_state: np.random.RandomState) -> int:
    """Draw a seed of communities."""
    return int(random_state.randint(np.iinfo(np.int32).max))


def published(learned: LearnedGraph, labels: np.ndarray, readout: Readout) -> Reading:
    """Return clusters that were found in the graph itself, with the embedding for as many."""
    labels = distinct_labels(labels, 1, learned.identities)
    return Reading(place(learned, replace(readout, n_clusters=int(labels.max()) + 1)), labels)


def place(learned: LearnedGraph, readout: Readout) -> PlacedGraph:
    """Return the graph and its embedding; trials that differ in k-means alone share it."""
    placement = Placement(learned.graph, int(readout.n_clusters), readout.embedding, readout.n_jobs)
    return PlacedGraph(
        placement, learned.identities, learned.shares is not None, learned.communities, there=learned.there
    )


def cluster(placed: PlacedGraph, readout: Readout, *, random_state: np.random.RandomState) -> Reading:
    """Return the clusters of a graph: pieces of its embedding that are joined, communities, or those of k-means."""
    k = int(readout.n_clusters)
    with calm(readout.n_jobs):
        if not 1 < k < len(placed.identities) or readout.assign_labels == "kmeans":
            return run_kmeans(placed, readout, readout.n_init, random_state)
        if readout.assign_labels == "communities":
            return _of_labels(placed, communities_of_number(placed.graph, k, seed=seed_from(random_state)), k)
        if readout.assign_labels == "merge" or not (sparse.issparse(placed.graph) and placed.graph.nnz):
            return join_pieces(placed, readout, random_state)
        return choose(placed, readout, random_state)


def choose(
    placed: PlacedGraph,
    readout: Readout,
    random_state: np.random.RandomState,
    *,
    steady: float = STEADY,
    apart: float = APART,
    weak: float = WEAK,
) -> Reading:
    """Return the clusters of the way for which the graph speaks: communities, or pieces that are joined.

    Communities are taken where they are steady: other weights of the edges give them again, too. Where they are not,
    they divide what is one cluster, and pieces are joined, unless these are less steady themselves; so they are where
    communities leave aside a handful of samples and pieces do not. But communities that stand apart are taken if less
    of the graph is cut between them. Neither modularity nor the normalised cut could tell: each is best for the way
    that it belongs to. Where communities are not steady, a cut that nothing supports is made elsewhere.
    """
    k = int(readout.n_clusters)
    seed, found = seed_from(random_state), placed.communities
    if found is None or found.labels.max() + 1 != k:
        found = steady_communities(placed.graph, k, seed=seed)
    taken, way, has_collapsed = _of_labels(placed, found.labels, k), "communities", False
    is_settled = found.is_steady(steady) and not _leaves_aside(taken)
    drawn = deepcopy(random_state) if is_settled else random_state
    alone = cache(partial(run_kmeans, placed, readout, -(-readout.n_init // BESIDE), drawn))
    if not is_settled:
        seen = [taken.labels, alone().labels]
        joined = join_pieces(placed, readout, random_state)
        is_divided = found.steadiness() < steady * joined.agreement or _leaves_aside(taken) > _leaves_aside(joined)
        if is_divided and not _stands_apart(placed.graph, taken, joined, apart):
            taken, way = joined, "merge"
        if evenness(taken.labels) < HALF or adjusted_rand(taken.labels, alone().labels) < SAME:
            least = HANDFUL * len(taken.labels) / k
            labels = cut_again(placed.graph, taken.labels, found.resolution, smallest=least, weak=weak, seed=seed)
            taken = replace(taken, labels=distinct_labels(labels, k, placed.identities))
        is_even = max(map(evenness, [*seen, joined.labels, taken.labels])) >= HALF
        has_collapsed = found.steadiness() < HALF and not is_even

    def evidence() -> Evidence:
        again = found.steadiness() if way == "communities" else _joined_again(taken, found)
        agree = adjusted_rand(taken.labels, alone().labels)
        return Evidence(again, agree, min(k / placed.n_components, 1.0), way, has_collapsed)

    return replace(taken, evidence=evidence, has_collapsed=has_collapsed)


def _joined_again(taken: Reading, found: Communities) -> float:
    """Return how far pieces become the same clusters where they are joined by the same edges with random weights."""
    random_state, network, k = np.random.RandomState(found.seed), found.network, int(taken.labels.max()) + 1
    pairs = [(network.reweighted(random_state).edges, pieces) for pieces in taken.pieces]
    again = [settle(edges, join(edges, pieces, k)) for edges, pieces in pairs]
    return float(np.mean([adjusted_rand(taken.labels, labels) for labels in again]))


def _leaves_aside(reading: Reading) -> bool:
    """Tell whether a cluster is a handful of samples."""
    sizes = np.bincount(reading.labels)
    return bool(sizes.min() < HANDFUL * sizes.mean())


def _stands_apart(graph: Array, one: Reading, other: Reading, part: float) -> bool:
    """Tell whether each cluster keeps such a part of its edges to itself, and all of them more than other clusters."""
    edges, inside, volumes = Edges.of(graph), [], []
    for labels in (one.labels, other.labels):
        between = edges.between(labels, int(labels.max()) + 1)
        inside.append(np.diag(between))
        volumes.append(between.sum(axis=1))
    return bool((inside[0] >= part * volumes[0]).all() and inside[0].sum() > inside[1].sum())


def evenness(labels: np.ndarray) -> float:
    """Return the entropy of the sizes of clusters, over that of clusters of one size."""
    shares = np.bincount(labels) / len(labels)
    return float(-(shares * np.log(shares)).sum() / np.log(max(len(shares), 2)))


def _of_labels(placed: PlacedGraph, labels: np.ndarray, n_clusters: int) -> Reading:
    """Return clusters that were found in the graph itself."""
    return Reading(placed, distinct_labels(labels, n_clusters, placed.identities))


def run_kmeans(placed: PlacedGraph, readout: Readout, n_init: int, random_state: np.random.RandomState) -> Reading:
    """Cluster by k-means; random starts miss small clusters that are clear, as those are on which views agree."""
    k = int(readout.n_clusters)
    found: Clustering = kmeans(
        beside(placed.embedding, placed.there),
        k,
        n_init=n_init,
        random_state=random_state,
        by_distance=readout.restart_score == "distance",
        spread=placed.is_sum or readout.assign_labels == "merge",
    )
    return Reading(placed, distinct_labels(found.labels, k, placed.identities), found.n_iter)


def join_pieces(placed: PlacedGraph, readout: Readout, random_state: np.random.RandomState) -> Reading:
    """Cut the embedding into pieces and join them, several times; take the clusters on which most of them agree."""
    k, X = int(readout.n_clusters), placed.embedding
    options: dict[str, Any] = {"n_cuts": CUTS, "n_init": -(-readout.n_init // CUTS), "random_state": random_state}
    cuts = cut(beside(X, placed.there), min(PIECES * k, X.shape[0]), **options)
    edges = Edges.of(placed.graph)
    joined = [settle(edges, join(edges, pieces, k)) for pieces in cuts]
    shared = agreement(joined)
    best = int(np.argmax(shared))
    labels = distinct_labels(joined[best], k, placed.identities)
    return Reading(placed, labels, agreement=float(shared.mean()), pieces=list(cuts))


def distinct_labels(labels: np.ndarray, n_clusters: int, identities: np.ndarray) -> np.ndarray:
    """Return exactly `n_clusters` labels in order of appearance, copies of a sample with its label."""
    _, first = np.unique(identities, return_index=True)
    return separate(labels[first[identities]], n_clusters, identities)


@dataclass(frozen=True)
class Evidence:
    """How far other runs and other ways find the same clusters, as adjusted Rand indices."""

    of_cuts: float = 1.0  # mean over cuts into pieces that were joined; where ways were compared, with other weights
    of_ways: float = 1.0  # between the clusters that were taken and k-means alone
    of_parts: float = 1.0  # clusters over connected components, if these are more: nothing says which belong together
    way: str | None = None  # that was taken, where several were compared
    has_collapsed: bool = False  # whether nearly all samples are in one cluster, whatever the way, and none is steady
    is_short: bool = False  # whether fewer samples are distinct than clusters were asked for: no cut finds so many

    @property
    def reliability(self) -> float:
        """The product of all, between 0 and 1; 0 if there cannot be as many clusters, or all ways collapse."""
        if self.is_short or self.has_collapsed:
            return 0.0
        return float(max(self.of_cuts, 0.0) * max(self.of_ways, 0.0) * self.of_parts)


def judge(reading: Reading, readout: Readout, *, random_state: np.random.RandomState) -> Evidence:
    """Compare clusters with what k-means gives in the same embedding, and pieces that are joined.

    Parameters
    ----------
    reading : Reading
        Clusters, and the embedding that they were found in.
    readout : Readout
        How they were found.
    random_state : RandomState
        Draws their starts.
    """
    placed, found = reading.placed, int(reading.labels.max()) + 1
    if reading.evidence is not None and found == readout.n_clusters:
        return reading.evidence()
    k = found if readout.n_clusters == "auto" else int(readout.n_clusters)
    readout = replace(readout, n_clusters=k)
    if found < k:
        return Evidence(is_short=True)
    if not 1 < k < len(placed.identities):
        return Evidence()
    with calm(readout.n_jobs):
        joined = other = reading
        if not reading.pieces:
            joined = other = join_pieces(placed, replace(readout, n_init=min(readout.n_init, MOST)), random_state)
        if readout.assign_labels != "kmeans":
            other = run_kmeans(placed, readout, -(-readout.n_init // BESIDE), random_state)
    of_ways = float(agreement([reading.labels, other.labels])[0])
    return Evidence(joined.agreement, of_ways, min(k / placed.n_components, 1.0))


def account(reading: Reading, readout: Readout, *, random_state: np.random.RandomState) -> tuple[float, list[str]]:
    """Return how far clusters can be relied on, and why; :func:`judge` has what is given."""
    evidence = judge(reading, readout, random_state=random_state)
    return evidence.reliability, tell(evidence, int(reading.labels.max()) + 1, reading.placed.n_components)


def in_words(reliability: float) -> str:
    """Return the reliability of communities in a sentence."""
    told = f"Reliability is {reliability:.2f}"
    if reliability < LOW:
        return f"{told}, which is low: with other weights of the edges, or at other resolutions, the clusters change."
    return f"{told}, which is high." if reliability >= HIGH else f"{told}."


def tell(evidence: Evidence, n_clusters: int, n_components: int) -> list[str]:
    """Return what the evidence says, in sentences."""
    if evidence.is_short:
        return [
            "Fewer samples are distinct than clusters were asked for: each cluster is a sample with its copies, and no "
            "graph was cut, so that reliability is 0."
        ]
    if n_clusters == 1:
        return ["All samples are in one cluster: nothing was cut."]
    again = "Cut in other ways, the graph gives the same clusters" if evidence.way is None else TAKEN[evidence.way]
    told = [
        f"{again} to an adjusted Rand index of {evidence.of_cuts:.2f}, and k-means alone to {evidence.of_ways:.2f}: "
        f"reliability {evidence.reliability:.2f}."
    ]
    if evidence.has_collapsed:
        told.append(COLLAPSED)
    elif evidence.reliability < LOW:
        told.append(
            "That is low: the clusters hang on how the graph is cut. Take them with caution; other features, scaled "
            "samples or another number of clusters may be clearer."
        )
    elif evidence.reliability >= HIGH:
        told.append("That is high: the clusters do not hang on how the graph is cut.")
    return [*told, parts_in_words(n_components, n_clusters)]


def scattered(n_clusters: int, n_components: int) -> str | None:
    """Return what a user must know of a graph with far more components than clusters; None of another."""
    if n_clusters == 1 or n_components <= SCATTERED * n_clusters:
        return None
    return f"{parts_in_words(n_components, n_clusters)} Raise n_neighbors, or give a graph with more edges."


def parts_in_words(n_components: int, n_clusters: int) -> str:
    """Return how many components a graph has."""
    told = f"The graph has {counted(n_components, 'connected component')}"
    return f"{told}{', more than clusters: nothing says which of them belong together' * (n_components > n_clusters)}."
