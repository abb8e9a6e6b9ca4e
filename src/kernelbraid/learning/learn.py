"""Learn: from samples to one graph, the sum of what each of their views, or all of them together, has to say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array
from kernelbraid.learning.coefficients import Coefficients, PairKernels, express
from kernelbraid.learning.extend import GivenEdges, Member, Relation
from kernelbraid.learning.in_rows import RowKernels
from kernelbraid.learning.settings import Readout, Settings
from kernelbraid.learning.sources import Candidates, spread_out
from kernelbraid.learning.weighing import Weighed
from kernelbraid.ops.graphs import (
    degrees,
    normalised_graph,
    refine_graph,
    strongest_of_rows,
    symmetrise,
    unit_sums,
    with_strongest_edges,
)
from kernelbraid.solvers.communities import Communities, steady_communities
from kernelbraid.solvers.iterate import Status

#: Edges that stay of each sample in the sum of graphs of views, in units of those in each of them.
CLEAREST = 2
#: Steadiness and certainty of communities above which nothing is added to such a sum.
CLEAR = 0.97
#: What an edge weighs that a sample gets in a view that lacks it, beside one that was measured, and how many of them
#: for each of those.
LESS, MORE = 0.7, 2
#: Runs of either kind by which two graphs are compared.
RUNS = 6


@dataclass(frozen=True, kw_only=True)
class LearnedGraph(Coefficients):
    """What was learned about samples, before anybody asks for clusters."""

    graph: Array  # symmetric, ready to be clustered: a csr array if it was refined
    identities: np.ndarray  # numbers of the distinct samples: copies get one label
    members: list[Member] = field(default_factory=list)  # what it is the sum of, for new samples
    shares: NDArray[np.float64] | None = None  # of the views in each sample's edges, rows of sum one; None: no sum
    communities: Communities | None = None  # as many as clusters are wanted, where they were compared
    there: Array | None = None  # an array that lives where rows were formed, and k-means runs; None: on the host

    @classmethod
    def of(
        cls, found: Coefficients, readout: Readout, identities: np.ndarray, counts: np.ndarray | None = None
    ) -> "LearnedGraph":
        """Return coefficients with the graph that they become."""
        return cls(**vars(found), graph=graph_of(found, readout, counts), identities=identities)


def graph_of(found: Coefficients, readout: Readout, counts: np.ndarray | None = None) -> Array:
    """Return the symmetric graph of coefficients: a csr array if it is refined to so many neighbours.

    Edges of samples that count as many of them are as heavy as those of all of these would be.
    """
    coefficients = found.named(readout.graph_from)
    few = None if readout.n_neighbors == "all" else readout.n_neighbors
    if few is None and readout.edge_weights == "learned" and counts is None:
        return symmetrise(coefficients)
    return refine_graph(coefficients, n_neighbors=few, edge_weights=readout.edge_weights, counts=counts)


def learn(weighed: Weighed, settings: Settings, *, random_state: np.random.RandomState | None = None) -> LearnedGraph:
    """Learn the graph of samples.

    Parameters
    ----------
    weighed : Weighed
        Samples, and what each of their views counts.
    settings : Settings
        For these samples: banks and weights of the penalty, for each of which a view gets a graph if several are
        summed; which edges stay in it; how the solver goes on.
    random_state : RandomState, default=None
        Draws the first graph where that is random.

    Returns
    -------
    LearnedGraph
        The graph of the only member as it is; otherwise the sum of symmetric graphs with their degrees divided out,
        each view's times its weight, where samples that a view lacks have edges by way of their neighbours.
    """
    if weighed.joined is not None:
        return _learn_one(weighed.joined, settings, random_state)
    if weighed.in_rows and (weighed.n_views == 1 or settings.fusion == "kernels"):
        return _one_in_rows(weighed, settings)
    members: list[Member] = []
    graphs: dict[int, Array] = {}
    told = Coefficients(n_iter=0)
    shares = np.zeros((weighed.n_samples, weighed.n_views))
    for member, graph, found in _parts(weighed, settings, random_state):
        (view,) = member.views
        members.append(member)
        graph = edges_of(graph, weighed.orphans) if member.is_reserve else graph
        shares[:, view] += degrees(graph)
        graphs[view] = graph if view not in graphs else graphs[view] + graph
        told = _worse(told, found)
    trusted = {view: graph for view, graph in graphs.items() if weighed.weights[view] > 0}
    usual = weighed.samples.usual_edges(settings.kept_edges(weighed.n_samples))
    bridges = bridged(trusted, weighed.samples.measured, usual)
    totals = shares.sum(axis=1, keepdims=True)
    return LearnedGraph(
        **vars(told),
        graph=sparse.csr_array(sum([*graphs.values(), *bridges])),
        identities=weighed.identities,
        members=members,
        shares=shares / np.where(totals > 0, totals, 1.0),
        there=weighed.samples.there if weighed.in_rows else None,
    )


def with_joined(learned: LearnedGraph, weighed: Weighed, settings: Settings) -> LearnedGraph:
    """Add what all views say together to the sum of their graphs, where its communities are surer by that.

    Of the sum the strongest edges stay, on which views agree.

    Noise of single views averages out in the sum of their kernels; but where views lie on scales of their own, or say
    little of most samples, that sum knows less than each of them. Labels are not there to tell, and so the graph does,
    in runs that do not hang on a random state: one decision, and the same communities, for all.
    """
    k, samples, few = settings.readout.n_clusters, weighed.samples, settings.kept_edges(weighed.n_samples)
    is_sum = learned.shares is not None and len(weighed.used) > 1 and settings.readout.assign_labels == "best"
    if not (is_sum and samples.has_kernels and isinstance(k, int) and 1 < k < weighed.n_samples):
        return learned
    graph = learned.graph if few is None else with_strongest_edges(learned.graph, CLEAREST * few)
    before = steady_communities(graph, k, near=1.0, n_same=RUNS)
    learned = replace(learned, graph=graph, communities=before)
    if samples.has_gaps or min(before.certainty, before.steadiness()) > CLEAR:
        return learned
    member, joined = _of_all(weighed, settings)
    total = sparse.csr_array(learned.graph + joined)
    total = total if few is None else with_strongest_edges(total, CLEAREST * few)
    after = steady_communities(total, k, near=before.resolution, n_same=RUNS)
    if _sureness(after) <= _sureness(before):
        return learned
    by_view = learned.shares * degrees(learned.graph)[:, None] + degrees(joined)[:, None] * weighed.weights
    totals = by_view.sum(axis=1, keepdims=True)
    shares = by_view / np.where(totals > 0, totals, 1.0)
    return replace(learned, graph=total, members=[*learned.members, member], shares=shares, communities=after)


def _sureness(found: Communities) -> float:
    """Return the logarithm of the odds that other runs find the same, in another order and with other weights.

    Near one, half of what is missing says as much as, further down, half of what is there: differences of two indices
    do not, and one that is measured roughly would drown one that is measured well. One sample is the least that counts.
    """
    least = 1 / len(found.labels)
    both = np.array([found.certainty, found.steadiness(RUNS)]).clip(0.0)
    return float(np.log((both + least) / (1 - both + least)).sum())


def _of_all(weighed: Weighed, settings: Settings) -> tuple[Member, Array]:
    """Return the graph of the sum of the kernels of all views that count, with its degrees divided out."""
    bank, readout = settings.fused_banks[0], settings.fused_readout(weighed.n_samples)
    learning = replace(settings.learning, alpha=settings.alphas[0])
    one = replace(settings, kernels=bank, learning=learning, readout=readout)
    if weighed.in_rows:
        learned = _one_in_rows(weighed, one)
    else:
        joined = weighed.joining(bank, learned=False).joined
        assert joined is not None
        learned = _learn_one(joined, one, None)
    graph = as_sparse(learned.graph)
    return replace(learned.members[0], degrees=degrees(graph)[None, :]), normalised_graph(graph)


def _learn_one(candidates: Candidates, settings: Settings, random_state: np.random.RandomState | None) -> LearnedGraph:
    """Learn one graph of kernels over all samples."""
    learning, readout, bank = settings.learning, settings.readout, candidates.bank
    keep_kernel = settings.is_solved or bank is None
    found = express(candidates, learning, random_state=random_state, keep_kernel=keep_kernel)
    kernel = None if bank is not None and learning.is_kernel_fixed else found.K
    relation = PairKernels(bank, candidates.of_bank(found.weights), kernel, candidates.counts)
    views, ridges = candidates.views or tuple(range(candidates.samples.n_views)), (learning.expression_weight,)
    member = _member(views, candidates.n_samples, relation, ridges, readout)
    return replace(LearnedGraph.of(found, readout, candidates.identities, candidates.counts), members=[member])


def _member(views: tuple[int, ...], n: int, relation: Relation, ridges: tuple[float, ...], readout: Readout) -> Member:
    """Return what new samples need of the only graph, over all samples."""
    few = None if readout.n_neighbors == "all" else int(readout.n_neighbors)
    return Member(views, n, None, 1.0, relation, ridges, None, few, readout.edge_weights)


def _parts(
    weighed: Weighed, settings: Settings, random_state: np.random.RandomState | None
) -> Iterator[tuple[Member, Array, Coefficients]]:
    """Yield what every bank over every view adds: for new samples, and as the sum of a graph for every penalty.

    Degrees are divided out, but those of a graph that was handed over and is the only one.
    """
    samples, n = weighed.samples, weighed.n_samples
    if not samples.has_kernels:
        posed = _of_graphs(weighed)
    else:
        posed = _of_rows(weighed, settings) if weighed.in_rows else _of_kernels(weighed, settings, random_state)
    for view, relation, ridges, graphs, told in posed:
        rows = None if graphs[0].shape[0] == n else weighed.rows_of(view)
        weight = weighed.weight_of(view) / (len(graphs) * len(samples.banks_of(view, settings.fused_banks)))
        total, own = graphs[0], None
        if weighed.n_views > 1 or samples.has_kernels:
            own = np.stack([degrees(graph) for graph in graphs])
            total = spread_out(sparse.csr_array(sum(map(normalised_graph, graphs))), rows, n)
            total.data *= weight  # in the precision of the graphs
        few = settings.kept_edges(graphs[0].shape[0])
        member = Member((view,), n, rows, weight, relation, ridges, own, few, settings.readout.edge_weights)
        yield replace(member, is_reserve=view in weighed.reserve), total, told


#: A view, what relates new samples to it, weights of squared coefficients, a graph for each, and how learning ended.
Posed: TypeAlias = tuple[int, Relation, tuple[float, ...], list[Array], Coefficients]


def _of_kernels(weighed: Weighed, settings: Settings, random_state: np.random.RandomState | None) -> Iterator[Posed]:
    """Yield what is learned of every bank over every view."""
    learnings = [replace(settings.learning, alpha=alpha) for alpha in settings.alphas]
    ridges = tuple(learning.expression_weight for learning in learnings)
    for view, candidates in weighed.posed(settings.fused_banks):
        readout, told, graphs = settings.fused_readout(candidates.n_samples), Coefficients(), []
        for learning in learnings:
            found = express(candidates, learning, random_state=random_state)
            graphs.append(as_sparse(graph_of(found, readout, candidates.counts)))
            told = _worse(told, found)
        m, bank = len(candidates.names), candidates.bank
        kernel = None if bank is not None else candidates.average()
        yield view, PairKernels(bank, np.full(m, 1 / m), kernel, candidates.counts), ridges, graphs, told


def _of_rows(weighed: Weighed, settings: Settings) -> Iterator[Posed]:
    """Yield the same, in rows."""
    samples: Any = weighed.samples
    alphas, n_jobs = settings.alphas, settings.learning.n_jobs
    posed = ((view, bank) for view in weighed.needed for bank in samples.row_banks(view, settings.fused_banks))
    for view, bank in posed:
        rows, X = weighed.rows_of(view), samples.only(view).at_work(0)
        counts = weighed.counts if weighed.counts is None or rows is None else weighed.counts[rows]
        kernels = RowKernels.of([X], [bank], [1.0], alphas, counts, n_jobs)
        readout = settings.fused_readout(kernels.kernel.n_samples)
        graphs = kernels.graphs(alphas, int(readout.n_neighbors), readout.edge_weights, n_jobs)
        yield view, kernels, alphas, graphs, Coefficients()


def _of_graphs(weighed: Weighed) -> Iterator[Posed]:
    """Yield graphs that were handed over."""
    samples: Any = weighed.samples
    for view in weighed.needed:
        graph, scales, counts = samples.graphs[view], samples.scales[view], weighed.counts
        if counts is not None:
            graph = sparse.csr_array(sparse.diags_array(counts) @ graph @ sparse.diags_array(counts))
        yield view, GivenEdges(degrees(graph), scales, counts), (0.0,), [graph], Coefficients(n_iter=0)


def _one_in_rows(weighed: Weighed, settings: Settings) -> LearnedGraph:
    """Learn one graph of kernels over all samples in rows."""
    samples: Any = weighed.samples
    if samples.has_gaps:
        raise ValueError(
            "X lacks samples in some views, and kernels cannot be joined then; leave out fusion, with which graphs are."
        )
    learning, readout, used = settings.learning, settings.readout, weighed.used
    alphas, few = (learning.alpha,), int(readout.n_neighbors)
    banks = [bank for view in used for bank in samples.row_banks(view, [settings.kernels])]
    views, weights = [samples.at_work(view) for view in used], weighed.weights[used].tolist()
    kernels = RowKernels.of(views, banks, weights, alphas, weighed.counts, learning.n_jobs)
    (graph,) = kernels.graphs(alphas, few, readout.edge_weights, learning.n_jobs)
    member = _member(tuple(used), weighed.n_samples, kernels, alphas, readout)
    return LearnedGraph(graph=graph, identities=weighed.identities, members=[member], there=samples.there)


def _worse(told: Coefficients, found: Coefficients) -> Coefficients:
    """Return how fits ended: the worst of it."""
    is_news = found.status is not Status.CONVERGED and told.status.is_sound
    return replace(
        told,
        n_iter=max(told.n_iter, found.n_iter),
        status=found.status if is_news else told.status,
        complaint=told.complaint or found.complaint,
    )


def edges_of(graph: Array, samples: NDArray[np.bool_]) -> Array:
    """Return the edges of some samples, to whomever."""
    edges = graph.tocoo()
    mine = samples[edges.row] | samples[edges.col]
    return sparse.csr_array((edges.data[mine], (edges.row[mine], edges.col[mine])), shape=graph.shape)


def as_sparse(graph: Array) -> Array:
    """Return a graph as a csr array of NumPy."""
    return graph if sparse.issparse(graph) else sparse.csr_array(to_numpy(graph))


def bridged(graphs: Mapping[int, Array], measured: Sequence[NDArray[np.bool_]], n_neighbors: int | None) -> list[Array]:
    """Return edges for samples that a view lacks, view by view: to the neighbours there of their neighbours elsewhere.

    A sample takes a step along the sum of all graphs to samples that the view has, and one in the graph of the view.
    No value is made up: where nothing is near in any view, no edge comes about.

    Parameters
    ----------
    graphs : mapping of int to csr array of shape (n, n)
        Symmetric graph of each view; nothing at samples that it lacks.
    measured : sequence of ndarray of shape (n,)
        Which samples each view has.
    n_neighbors : int or None
        Edges of a sample in one graph; twice as many of the strongest new ones stay, all of them if None.

    Returns
    -------
    list of csr array of shape (n, n)
        Symmetric; one for every view that lacks samples.
    """
    total, found = sparse.csr_array(sum(graphs.values())), []
    for view, graph in graphs.items():
        has, lacking = measured[view], np.flatnonzero(~measured[view])
        if not len(lacking):
            continue
        step = sparse.csr_array(total[lacking]) @ sparse.diags_array(has.astype(float))
        walked = unit_sums(sparse.csr_array(step)) @ graph
        if n_neighbors is not None:
            walked = strongest_of_rows(sparse.csr_array(walked), MORE * n_neighbors)
        usual = float(degrees(graph)[has].mean())
        edges = (unit_sums(sparse.csr_array(walked)) * (LESS * usual)).tocoo()
        one_way = sparse.csr_array((edges.data, (lacking[edges.row], edges.col)), shape=graph.shape)
        found.append(sparse.csr_array(one_way + one_way.T))
    return found
