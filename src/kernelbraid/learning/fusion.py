"""Fuse: the graphs of several views as one, each with its degrees divided out, so that none is louder than another."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._threads import calm
from kernelbraid._typing import Array
from kernelbraid.learning import effort, progress
from kernelbraid.learning.candidates import Candidates, Views
from kernelbraid.learning.counting import COUNTING, LARGE, count_clusters, effort_of_counting
from kernelbraid.learning.counts import Counts
from kernelbraid.learning.fused_extension import ViewMember
from kernelbraid.learning.gaps import bridged
from kernelbraid.learning.graph_extension import GraphMember
from kernelbraid.learning.graphs import THINNED, GivenGraphs, thinned
from kernelbraid.learning.learn import Callback, LearnedGraph, learn
from kernelbraid.learning.readout import graph_of
from kernelbraid.learning.settings import Learning, Readout, Settings
from kernelbraid.learning.views import WeighedViews
from kernelbraid.ops.refinement import refine_graph
from kernelbraid.ops.spectral import degrees, normalised_graph
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients
from kernelbraid.solvers.status import Status

#: Weights of the penalty, and edges of each sample, of the fused graphs that choose the number of clusters.
PENALTIES, FEW_PENALTIES, NEIGHBOURS = (1.0, 0.3, 3.0), (1.0, 3.0), 5


@dataclass(frozen=True)
class FusedGraph(LearnedGraph):
    """The sum of the graphs of several views, with what each contributes."""

    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))  # (n, n_views), rows of sum one
    members: list[ViewMember] = field(default_factory=list)
    given: list[GraphMember] = field(default_factory=list)  # instead of members, where graphs were handed over
    edges: tuple[Any, ...] = ()  # which ones stayed

    def suits(self, readout: Readout) -> bool:
        """Tell whether it can be read out so: graphs were refined before they were summed."""
        return super().suits(readout) and self.edges == (readout.n_neighbors, readout.edge_weights)


def learn_graph(
    posed: Candidates | WeighedViews,
    settings: Settings,
    *,
    random_state: np.random.RandomState | None = None,
    callback: Callback | None = None,
    keep_kernel: bool = False,
) -> LearnedGraph:
    """Learn the graph of samples: from candidate kernels, or from each view, fused."""
    if isinstance(posed, Candidates):
        options: dict[str, Any] = {"callback": callback, "keep_kernel": keep_kernel}
        return learn(posed, settings.learning, random_state=random_state, **options)
    if isinstance(posed.samples, GivenGraphs):
        return sum_graphs(posed, settings)
    return fuse(posed, settings, random_state=random_state, callback=callback)


def fuse(
    weighed: WeighedViews,
    settings: Settings,
    *,
    random_state: np.random.RandomState | None = None,
    callback: Callback | None = None,
) -> FusedGraph:
    """Learn the graphs of every view, and sum them.

    Parameters
    ----------
    weighed : WeighedViews
        Views and what each counts.
    settings : Settings
        Banks and weights of the penalty, for each of which a view gets a graph; which edges stay in it.
    random_state, callback
        As for :func:`~kernelbraid.learning.learn.learn`; the callback is called in every fit.

    Returns
    -------
    FusedGraph
        The sum of symmetric graphs with their degrees divided out, each view's times its weight; samples that a view
        lacks have edges there by way of their neighbours.
    """
    fusing = _Fusing(weighed, settings, random_state, callback)
    members: list[ViewMember] = []
    graphs: dict[int, Array] = {}
    shares = np.zeros((weighed.n_samples, weighed.samples.n_views))
    for view in weighed.needed:
        for bank, candidates in enumerate(_posed(weighed, view, settings)):
            member, graph = fusing.learn(view, bank, candidates)
            members.append(member)
            shares[:, view] += degrees(graph)
            graphs[view] = graph if view not in graphs else graphs[view] + graph
    trusted = {view: graph for view, graph in graphs.items() if weighed.weights[view] > 0}
    bridges = bridged(trusted, weighed.samples.measured, settings.kept_edges(weighed.n_samples))
    totals = shares.sum(axis=1, keepdims=True)
    return FusedGraph(
        Z=None,
        identities=weighed.identities,
        status=fusing.told.status,
        n_iter=fusing.told.n_iter,
        complaint=fusing.told.complaint,
        graph=sparse.csr_array(sum([*graphs.values(), *bridges])),
        shares=shares / np.where(totals > 0, totals, 1.0),
        members=members,
        edges=(settings.readout.n_neighbors, settings.readout.edge_weights),
    )


def sum_graphs(weighed: WeighedViews, settings: Settings) -> FusedGraph:
    """Return a graph that was given as it is, and several as :func:`fuse` sums those of views."""
    samples, n = weighed.samples, weighed.n_samples
    assert isinstance(samples, GivenGraphs)
    members, graphs = [], {}
    for view in weighed.needed:
        is_reserve = bool(weighed.weights[view] == 0)
        weight, graph = _weight_of(weighed, view), samples.graphs[view]
        is_alone = samples.n_views == 1
        members.append(GraphMember(view, weight, degrees(graph), samples.scales[view], is_alone, is_reserve))
        if not is_alone:
            graph = weight * normalised_graph(graph)
        graphs[view] = _edges_of(graph, weighed.orphans) if is_reserve else graph
    trusted = {view: graph for view, graph in graphs.items() if weighed.weights[view] > 0}
    usual = max(int(np.median([graph.nnz / n for graph in trusted.values()])), 1)
    bridges = bridged(trusted, samples.measured, usual)
    shares = np.zeros((n, samples.n_views))
    for view, graph in graphs.items():
        shares[:, view] = degrees(graph)
    return FusedGraph(
        Z=None,
        identities=weighed.identities,
        n_iter=0,
        graph=sparse.csr_array(sum([*graphs.values(), *bridges])),
        shares=shares / shares.sum(axis=1, keepdims=True),
        given=members,
        edges=(settings.readout.n_neighbors, settings.readout.edge_weights),
    )


@dataclass
class Told:
    """How the fits of all graphs ended: the worst of it."""

    status: Status = Status.CONVERGED
    n_iter: int = 1
    complaint: str | None = None

    def hear(self, learned: LearnedGraph) -> None:
        """Take in how a fit ended."""
        self.n_iter = max(self.n_iter, learned.n_iter)
        if learned.status is not Status.CONVERGED and self.status.is_sound:
            self.status = learned.status
        self.complaint = self.complaint or learned.complaint


class _Fusing:
    """Learns the graphs of views one after the other."""

    def __init__(
        self,
        weighed: WeighedViews,
        settings: Settings,
        random_state: np.random.RandomState | None,
        callback: Callback | None,
    ) -> None:
        self.weighed, self.settings = weighed, settings
        self.options: dict[str, Any] = {"random_state": random_state, "callback": callback}
        self.told = Told()

    def learn(self, view: int, bank: int, candidates: Candidates) -> tuple[ViewMember, Array]:
        """Return what a bank over a view adds: for new samples, and as the sum of a graph for every penalty."""
        weighed, settings, n = self.weighed, self.settings, candidates.n_samples
        learnings = [replace(settings.learning, alpha=alpha) for alpha in settings.alphas]
        graphs = [self._graph((view, bank, learning.alpha), candidates, learning) for learning in learnings]
        weight = _weight_of(weighed, view) / (settings.n_fused(isinstance(weighed.samples, Views)))
        rows, is_reserve = _rows_of(weighed, view), bool(weighed.weights[view] == 0)
        total = spread_out(sparse.csr_array(sum(map(normalised_graph, graphs))), rows, weighed.n_samples)
        total.data *= weight  # in the precision of the graphs
        member = ViewMember(
            view,
            weight,
            rows,
            candidates.bank,
            None if candidates.bank is not None else candidates.average(),
            tuple(learning.expression_weight for learning in learnings),
            np.stack([degrees(graph) for graph in graphs]),
            settings.kept_edges(n),
            settings.readout.edge_weights,
            is_reserve,
        )
        return member, _edges_of(total, weighed.orphans) if is_reserve else total

    def _graph(self, key: tuple[int, int, float], candidates: Candidates, learning: Learning) -> Array:
        """Learn one graph, and take in how that ended; one that the number of clusters was chosen by is there."""
        if key in self.weighed.graphs and self.options["callback"] is None:
            return self.weighed.graphs[key]
        learned = learn(candidates, learning, **self.options)
        self.told.hear(learned)
        return as_sparse(graph_of(learned, self.settings.fused_readout(candidates.n_samples)))


def _rows_of(weighed: WeighedViews, view: int) -> np.ndarray | None:
    """Return the samples that a view has; None for all."""
    rows = weighed.samples.measured[view]
    return None if rows.all() else np.flatnonzero(rows)


def _weight_of(weighed: WeighedViews, view: int) -> float:
    """Return what a view counts; where it is the only one that has a sample, as much as the others do on average."""
    weight = float(weighed.weights[view])
    return weight if weight > 0 else float(weighed.weights[weighed.used].mean())


def _edges_of(graph: Array, samples: NDArray[np.bool_]) -> Array:
    """Return the edges of some samples, to whomever."""
    edges = graph.tocoo()
    mine = samples[edges.row] | samples[edges.col]
    return sparse.csr_array((edges.data[mine], (edges.row[mine], edges.col[mine])), shape=graph.shape)


def _posed(weighed: WeighedViews, view: int, settings: Settings) -> list[Candidates]:
    """Return candidates of a view for every bank."""
    one = weighed.posed.only(view)
    banks = settings.fused_banks if isinstance(weighed.samples, Views) else [settings.kernels]
    return [one.pose(weighed.bank_of(view, bank), is_shared=True) for bank in banks]


def fused_graphs(weighed: WeighedViews, settings: Settings, alphas: tuple[float, ...], n_neighbors: int) -> list[Array]:
    """Return a fused graph for every bank and every weight of the penalty, to be compared with each other."""
    n = weighed.samples.n_samples
    found: dict[tuple[int, float], Array] = {}
    for view in weighed.needed:
        rows = _rows_of(weighed, view)
        for number, candidates in enumerate(_posed(weighed, view, settings)):
            K = candidates.average()
            for alpha in alphas:
                with progress.stretch(effort.factor(n) + effort.refine(n)):
                    Z = ridge_coefficients(K, alpha)
                    _keep(weighed, settings, (view, number, alpha), Z)
                    edges = refine_graph(Z, n_neighbors=n_neighbors, edge_weights="scaled")
                part = _weight_of(weighed, view) * spread_out(normalised_graph(edges), rows, n)
                part = part if weighed.weights[view] > 0 else _edges_of(part, weighed.orphans)
                key = (number, alpha)
                found[key] = part if key not in found else found[key] + part
    return [sparse.csr_array(graph) for graph in found.values()]


def _keep(weighed: WeighedViews, settings: Settings, key: tuple[int, int, float], Z: Array) -> None:
    """Keep the graph of coefficients that will be asked for again, if it joins samples."""
    readout = settings.fused_readout(Z.shape[0])
    if settings.learning.is_closed_form and key[-1] in settings.alphas and readout.n_neighbors != "all":
        graph = refine_graph(Z, n_neighbors=int(readout.n_neighbors), edge_weights=readout.edge_weights)
        if graph.nnz:
            weighed.graphs[key] = graph


def count_fused(
    weighed: WeighedViews, settings: Settings, *, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Counts:
    """Choose the number of clusters by fused graphs of different kernels and penalties, or by parts of given ones."""
    n = weighed.samples.n_samples
    if isinstance(weighed.samples, GivenGraphs):
        whole = sum_graphs(weighed, settings).graph
        parts = [thinned(whole, random_state) for _ in range(THINNED)]
        with progress.on_course(COUNTING, effort_of_counting(n, len(parts) + 1, n_jobs)):
            counts = count_clusters([whole, *parts], random_state=random_state, n_jobs=n_jobs)
        return replace(counts, compared="parts of the graph")
    alphas = PENALTIES if n <= LARGE else FEW_PENALTIES
    n_graphs = len(alphas) * (len(settings.fused_banks) if isinstance(weighed.samples, Views) else 1)
    ahead = n_graphs * len(weighed.needed) * (effort.factor(n) + effort.refine(n))
    ahead += effort_of_counting(n, n_graphs, n_jobs)
    with calm(1 if n_jobs == 1 else None), progress.on_course(COUNTING, ahead):
        graphs = fused_graphs(weighed, settings, alphas, NEIGHBOURS)
        counts = count_clusters(graphs, random_state=random_state, n_jobs=n_jobs)
    return replace(counts, n_distinct=int(weighed.identities.max()) + 1)


def as_sparse(graph: Array) -> Array:
    """Return a graph as a csr array of NumPy."""
    return graph if sparse.issparse(graph) else sparse.csr_array(to_numpy(graph))


def spread_out(graph: Array, rows: np.ndarray | None, n: int) -> Array:
    """Return a graph over some of the samples as one over all of them."""
    if rows is None:
        return graph
    edges = graph.tocoo()
    return sparse.csr_array((edges.data, (rows[edges.row], rows[edges.col])), shape=(n, n))
