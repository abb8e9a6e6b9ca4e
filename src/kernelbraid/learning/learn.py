"""Learn: from samples to one graph, the sum of what each of their views, or all of them together, has to say."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array
from kernelbraid.learning.coefficients import Coefficients, express
from kernelbraid.learning.extend import GraphMember, KernelMember, Member
from kernelbraid.learning.gaps import bridged
from kernelbraid.learning.in_rows import RowKernels, RowMember
from kernelbraid.learning.settings import Readout, Settings
from kernelbraid.learning.sources import Candidates, spread_out
from kernelbraid.learning.weighing import Weighed
from kernelbraid.ops.graphs import degrees, normalised_graph, refine_graph, symmetrise, with_strongest_edges
from kernelbraid.solvers.communities import Communities, steady_communities
from kernelbraid.solvers.iterate import Status

#: Edges that stay of each sample in the sum of graphs of views, in units of those in each of them.
CLEAREST = 2
#: Steadiness of communities above which nothing is added to such a sum.
CLEAR = 0.97
#: More runs by which two graphs are compared.
RUNS = 4


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


def learn(
    weighed: Weighed,
    settings: Settings,
    *,
    random_state: np.random.RandomState | None = None,
) -> LearnedGraph:
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
    if not weighed.samples.has_kernels:
        parts = _of_graphs(weighed)
    else:
        parts = _parts_in_rows(weighed, settings) if weighed.in_rows else _of_kernels(weighed, settings, random_state)
    members: list[Member] = []
    graphs: dict[int, Array] = {}
    told = Coefficients(n_iter=0)
    shares = np.zeros((weighed.n_samples, weighed.n_views))
    for member, graph, found in parts:
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


def with_joined(
    learned: LearnedGraph, weighed: Weighed, settings: Settings, random_state: np.random.RandomState
) -> LearnedGraph:
    """Add what all views say together to the sum of their graphs, where its communities become steadier by that.

    Of the sum the strongest edges stay, on which views agree.

    Noise of single views averages out in the sum of their kernels; but where views lie on scales of their own, or say
    little of most samples, that sum knows less than each of them. Labels are not there to tell, and so the graph does.
    """
    k, samples, few = settings.readout.n_clusters, weighed.samples, settings.kept_edges(weighed.n_samples)
    is_sum = learned.shares is not None and len(weighed.used) > 1 and settings.readout.assign_labels == "best"
    if not (is_sum and samples.has_kernels and isinstance(k, int) and 1 < k < weighed.n_samples):
        return learned
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    graph = learned.graph if few is None else with_strongest_edges(learned.graph, CLEAREST * few)
    before = steady_communities(graph, k, seed=seed, n_same=RUNS)
    learned = replace(learned, graph=graph, communities=before)
    if before.steadiness > CLEAR or samples.has_gaps:
        return learned
    member, joined = _of_all(weighed, settings)
    total = sparse.csr_array(learned.graph + joined)
    total = total if few is None else with_strongest_edges(total, CLEAREST * few)
    after = steady_communities(total, k, seed=seed, near=before.resolution, n_same=RUNS)
    if after.steadiness + after.certainty <= before.steadiness + before.certainty:
        return learned
    by_view = learned.shares * degrees(learned.graph)[:, None] + degrees(joined)[:, None] * weighed.weights
    totals = by_view.sum(axis=1, keepdims=True)
    shares = by_view / np.where(totals > 0, totals, 1.0)
    return replace(learned, graph=total, members=[*learned.members, member], shares=shares, communities=after)


def _of_all(weighed: Weighed, settings: Settings) -> tuple[Member, Array]:
    """Return the graph of the sum of the kernels of all views that count, with its degrees divided out."""
    n, bank, alphas = weighed.n_samples, settings.fused_banks[0], settings.alphas[:1]
    learning, readout = replace(settings.learning, alpha=alphas[0]), settings.fused_readout(weighed.n_samples)
    if weighed.in_rows:
        one = replace(settings, kernels=bank, learning=learning, readout=readout)
        learned = _one_in_rows(weighed, one)
        in_rows = replace(cast(RowMember, learned.members[0]), degrees=degrees(learned.graph)[None, :])
        return in_rows, normalised_graph(learned.graph)
    candidates = weighed.joining(bank, learned=False).joined
    assert candidates is not None
    found = express(candidates, learning)
    graph = as_sparse(graph_of(found, readout, candidates.counts))
    member = KernelMember(
        candidates.views,
        n,
        None,
        1.0,
        candidates.bank,
        candidates.of_bank(found.weights),
        None if candidates.bank is not None else candidates.average(),
        alphas,
        degrees(graph)[None, :],
        None if readout.n_neighbors == "all" else int(readout.n_neighbors),
        readout.edge_weights,
        counts=candidates.counts,
    )
    return member, normalised_graph(graph)


def _learn_one(candidates: Candidates, settings: Settings, random_state: np.random.RandomState | None) -> LearnedGraph:
    """Learn one graph of kernels over all samples."""
    learning, readout, bank = settings.learning, settings.readout, candidates.bank
    keep_kernel = settings.is_solved or bank is None
    found = express(candidates, learning, random_state=random_state, keep_kernel=keep_kernel)
    member = KernelMember(
        candidates.views or tuple(range(candidates.samples.n_views)),
        candidates.n_samples,
        None,
        1.0,
        bank,
        candidates.of_bank(found.weights),
        None if bank is not None and learning.is_kernel_fixed else found.K,
        (learning.expression_weight,),
        None,
        None if readout.n_neighbors == "all" else int(readout.n_neighbors),
        readout.edge_weights,
        counts=candidates.counts,
    )
    return replace(LearnedGraph.of(found, readout, candidates.identities, candidates.counts), members=[member])


def _of_kernels(
    weighed: Weighed, settings: Settings, random_state: np.random.RandomState | None
) -> Iterator[tuple[Member, Array, Coefficients]]:
    """Yield what every bank over every view adds: for new samples, and as the sum of a graph for every penalty."""
    learnings = [replace(settings.learning, alpha=alpha) for alpha in settings.alphas]
    for view, candidates in weighed.posed(settings.fused_banks):
        readout, told, graphs = settings.fused_readout(candidates.n_samples), Coefficients(), []
        for learning in learnings:
            found = express(candidates, learning, random_state=random_state)
            graphs.append(as_sparse(graph_of(found, readout, candidates.counts)))
            told = _worse(told, found)
        rows = weighed.rows_of(view)
        n_graphs = len(learnings) * len(weighed.samples.banks_of(view, settings.fused_banks))
        weight = weighed.weight_of(view) / n_graphs
        total = spread_out(sparse.csr_array(sum(map(normalised_graph, graphs))), rows, weighed.n_samples)
        total.data *= weight  # in the precision of the graphs
        m = len(candidates.names)
        member = KernelMember(
            (view,),
            weighed.n_samples,
            rows,
            weight,
            candidates.bank,
            np.full(m, 1 / m),
            None if candidates.bank is not None else candidates.average(),
            tuple(learning.expression_weight for learning in learnings),
            np.stack([degrees(graph) for graph in graphs]),
            settings.kept_edges(candidates.n_samples),
            settings.readout.edge_weights,
            view in weighed.reserve,
            candidates.counts,
        )
        yield member, total, told


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
    member = RowMember(tuple(used), weighed.n_samples, None, 1.0, kernels, alphas, None, few, readout.edge_weights)
    return LearnedGraph(graph=graph, identities=weighed.identities, members=[member], there=samples.there)


def _parts_in_rows(weighed: Weighed, settings: Settings) -> Iterator[tuple[Member, Array, Coefficients]]:
    """Yield what every bank over every view adds, as :func:`_of_kernels` does, in rows."""
    samples: Any = weighed.samples
    posed = ((view, bank) for view in weighed.needed for bank in samples.row_banks(view, settings.fused_banks))
    for view, bank in posed:
        rows, X = weighed.rows_of(view), samples.only(view).at_work(0)
        counts = weighed.counts if weighed.counts is None or rows is None else weighed.counts[rows]
        kernels = RowKernels.of([X], [bank], [1.0], settings.alphas, counts, settings.learning.n_jobs)
        n_banks = len(samples.banks_of(view, settings.fused_banks))
        readout = settings.fused_readout(kernels.kernel.n_samples)
        few = int(readout.n_neighbors)
        weight = weighed.weight_of(view) / (len(settings.alphas) * n_banks)
        graphs = kernels.graphs(settings.alphas, few, readout.edge_weights, settings.learning.n_jobs)
        total = spread_out(sparse.csr_array(sum(map(normalised_graph, graphs))), rows, weighed.n_samples)
        total.data *= weight
        own = np.stack([degrees(graph) for graph in graphs])
        of_edges: tuple[Any, ...] = (few, readout.edge_weights, view in weighed.reserve)
        member = RowMember((view,), weighed.n_samples, rows, weight, kernels, settings.alphas, own, *of_edges)
        yield member, total, Coefficients()


def _of_graphs(weighed: Weighed) -> Iterator[tuple[Member, Array, Coefficients]]:
    """Yield graphs that were handed over: one as it is, several with their degrees divided out."""
    samples: Any = weighed.samples
    for view in weighed.needed:
        graph, weight, is_alone = samples.graphs[view], weighed.weight_of(view), weighed.n_views == 1
        member = GraphMember((view,), weight, degrees(graph), samples.scales[view], is_alone, view in weighed.reserve)
        yield member, graph if is_alone else weight * normalised_graph(graph), Coefficients(n_iter=0)


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
