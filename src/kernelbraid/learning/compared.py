"""The number of clusters of samples: which graphs of theirs are compared for it, and with what clouds.

Where one graph is learned, those of different penalties and numbers of edges are compared, and clouds without clusters,
as large and as wide as the samples, say what any data would show. Where graphs are summed, it is the sums of different
kernels and penalties; and parts of a graph that was handed over.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._machine import calm
from kernelbraid._typing import Array
from kernelbraid.kernels import Custom
from kernelbraid.learning import progress
from kernelbraid.learning.counting import LARGE, RESTARTS, count_clusters, effort_of_counting
from kernelbraid.learning.counts import Counts
from kernelbraid.learning.learn import edges_of, joined_rows, learn, rows_by_view
from kernelbraid.learning.settings import LEAST_ALPHA, Settings
from kernelbraid.learning.sources import Candidates, Views, spread_out
from kernelbraid.learning.weighing import Weighed
from kernelbraid.metrics.partitions import cut_share
from kernelbraid.ops.graphs import normalised_graph, refine_graph, spectral_vectors, unit_rows
from kernelbraid.solvers.kmeans import PIECES, Edges, cut, join, settle
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients

#: Samples for each unit of the penalty's weight, and the parts of that weight that get graphs of their own.
SAMPLES_PER_ALPHA, PARTS, FEW_PARTS = 500, (1.0, 1 / 3, 3.0), (1.0, 3.0)
NEIGHBOURS, FEW_NEIGHBOURS = (7, 10), (10,)  # edges of each sample
SHARE = 5  # samples for each edge, at least
CLOUDS, CUTS = 2, 3  # that are compared; and how often each is cut
#: Samples, and numbers in all views together, up to which a cloud is drawn.
MOST_SAMPLES, MOST_NUMBERS = 5000, 100_000_000
#: Weights of the penalty, and edges of each sample, of sums of graphs.
PENALTIES, FEW_PENALTIES, SUMMED_NEIGHBOURS = (1.0, 0.3, 3.0), (1.0, 3.0), 5
#: Share of the edges left out in each graph beside one that was handed over, and how many such graphs there are.
LEFT_OUT, THINNED = 0.2, 2


def count(
    weighed: Weighed, settings: Settings, *, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Counts:
    """Choose the number of clusters.

    Parameters
    ----------
    weighed : Weighed
        Samples, and what each of their views counts.
    settings : Settings
        Banks, and how graphs are refined, where several are summed.
    random_state : RandomState
        Draws the starts of k-means, and clouds to compare with.
    n_jobs : int, default=None
        As for :func:`~kernelbraid.learning.counting.count_clusters`.
    """
    if weighed.joined is not None:
        return count_of_kernels(weighed.joined, random_state=random_state, n_jobs=n_jobs)
    n = weighed.n_samples
    if not weighed.samples.has_kernels:
        whole = learn(weighed, settings).graph
        graphs = [whole, *(thinned(whole, random_state) for _ in range(THINNED))]
        with progress.on_course(effort_of_counting(n, len(graphs), n_jobs)):
            counts = count_clusters(graphs, random_state=random_state, n_jobs=n_jobs)
        return replace(counts, compared="parts of the graph")
    if weighed.in_rows:
        return count_in_rows(weighed, settings, random_state=random_state, n_jobs=n_jobs)
    alphas = PENALTIES if n <= LARGE else FEW_PENALTIES
    n_graphs = len(alphas) * len(weighed.samples.banks_of(0, settings.fused_banks))
    ahead = n_graphs * len(weighed.needed) * (progress.factor_effort(n) + progress.refine_effort(n))
    ahead += effort_of_counting(n, n_graphs, n_jobs)
    with calm(1 if n_jobs == 1 else None), progress.on_course(ahead):
        graphs = summed_graphs(weighed, settings, alphas)
        counts = count_clusters(graphs, random_state=random_state, n_jobs=n_jobs)
    return replace(counts, n_distinct=int(weighed.identities.max()) + 1)


def count_in_rows(
    weighed: Weighed, settings: Settings, *, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Counts:
    """Choose the number of clusters of many samples, by graphs that are formed in rows."""
    n = weighed.n_samples
    if weighed.n_views == 1 or settings.fusion == "kernels":
        alphas = [part * _alpha(n) for part in FEW_PARTS]
        few = _edges(FEW_NEIGHBOURS[0], n)
        graphs = joined_rows(weighed, settings, alphas).graphs(alphas, few, "scaled", n_jobs)
    else:
        found: dict[tuple[int, float], Array] = {}
        for view, number, _, kernels in rows_by_view(weighed, settings, FEW_PENALTIES):
            several = kernels.graphs(FEW_PENALTIES, SUMMED_NEIGHBOURS, "scaled", n_jobs)
            for alpha, edges in zip(FEW_PENALTIES, several, strict=True):
                part = weighed.weight_of(view) * spread_out(normalised_graph(edges), weighed.rows_of(view), n)
                part = part if weighed.weights[view] > 0 else edges_of(part, weighed.orphans)
                found[number, alpha] = part + found.get((number, alpha), sparse.csr_array((n, n)))
        graphs = [sparse.csr_array(graph) for graph in found.values()]
    with calm(1 if n_jobs == 1 else None), progress.on_course(effort_of_counting(n, len(graphs), n_jobs)):
        counts = count_clusters(graphs, random_state=random_state, n_jobs=n_jobs)
    return replace(counts, n_distinct=n)


def count_of_kernels(
    candidates: Candidates, *, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Counts:
    """Choose the number of clusters of kernels over all samples."""
    # Processes do not share the first part: its threads must not depend on their number, as rounding decides ties.
    n = candidates.n_samples
    n_graphs, ahead = _graphs_ahead(n)
    ahead += effort_of_counting(n, n_graphs, n_jobs) + progress.separation_effort(n)
    ahead += CLOUDS * (progress.cloud_effort(n) + progress.separation_effort(n))
    with calm(1 if n_jobs == 1 else None), progress.on_course(ahead):
        counts = count_clusters(kernel_graphs(candidates), random_state=random_state, n_jobs=n_jobs)
        counts = replace(counts, n_distinct=int(candidates.identities.max()) + 1)
        # A cloud around copies of one sample has the width of rounding.
        if counts.has_copies_alone:
            return counts
        return replace(counts, background=background(candidates, counts.peak, random_state))


def _graphs_ahead(n_samples: int) -> tuple[int, float]:
    """Return how many graphs of the average kernel are compared, and the effort of them."""
    is_large = n_samples > LARGE
    parts, neighbours = (len(FEW_PARTS), len(FEW_NEIGHBOURS)) if is_large else (len(PARTS), len(NEIGHBOURS))
    return parts * neighbours, parts * (
        progress.factor_effort(n_samples) + neighbours * progress.refine_effort(n_samples)
    )


def kernel_graphs(candidates: Candidates) -> list[Array]:
    """Return sparse graphs of the average kernel for several penalties and numbers of edges.

    A factor per penalty is cheaper than one eigendecomposition of the kernel for all of them.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels.
    """
    K, n = candidates.average(), candidates.n_samples
    is_large = n > LARGE
    found = []
    for part in FEW_PARTS if is_large else PARTS:
        with progress.stretch(progress.factor_effort(n)):
            coefficients = ridge_coefficients(K, part * _alpha(n))
        for few in FEW_NEIGHBOURS if is_large else NEIGHBOURS:
            with progress.stretch(progress.refine_effort(n)):
                found.append(refine_graph(coefficients, n_neighbors=_edges(few, n), edge_weights="scaled"))
    return found


def _alpha(n_samples: int) -> float:
    """Return the weight of the penalty in the middle."""
    return max(n_samples / SAMPLES_PER_ALPHA, LEAST_ALPHA)


def _edges(wanted: int, n_samples: int) -> int:
    """Return edges that few samples can have."""
    return min(wanted, max(n_samples // SHARE, 2))


def background(candidates: Candidates, n_clusters: int, random_state: np.random.RandomState) -> float | None:
    """Return the edges between clusters in units of those in clouds without any; None where no cloud can be drawn.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels over samples.
    n_clusters : int
        How many clusters are cut in the graph of the samples, and in those of clouds that are as large and as wide.
    random_state : RandomState
        Draws the clouds.
    """
    n = candidates.n_samples
    share = _share_between(candidates, n_clusters, random_state)
    apart = []
    for _ in range(CLOUDS):  # one at a time: each has its own kernel
        with progress.stretch(progress.cloud_effort(n)):
            cloud = cloud_of(candidates, random_state)
        if cloud is None:
            return None
        apart.append(_share_between(cloud, n_clusters, random_state))
    return float(share / np.mean(apart)) if any(apart) else None


def _share_between(candidates: Candidates, n_clusters: int, random_state: np.random.RandomState) -> float:
    """Return the mean share of edges that leave a cluster."""
    n = candidates.n_samples
    with progress.stretch(progress.separation_effort(n)):
        K = candidates.average()
        progress.within(0.1)
        coefficients = ridge_coefficients(K, _alpha(n))
        progress.within(0.6)
        graph = refine_graph(coefficients, n_neighbors=_edges(NEIGHBOURS[-1], n), edge_weights="scaled")
        progress.within(0.8)
        return _mean_share(graph, n_clusters, random_state)


def _mean_share(graph: Array, n_clusters: int, random_state: np.random.RandomState) -> float:
    """Return the mean share of edges that leave a cluster, over several cuts of a graph."""
    X = unit_rows(spectral_vectors(graph, n_clusters))
    pieces = cut(X, min(PIECES * n_clusters, X.shape[0]), n_cuts=CUTS, n_init=RESTARTS, random_state=random_state)
    edges = Edges.of(graph)
    return float(np.mean([cut_share(graph, settle(edges, join(edges, piece, n_clusters))) for piece in pieces]))


def summed_graphs(weighed: Weighed, settings: Settings, alphas: tuple[float, ...]) -> list[Array]:
    """Return a sum of the graphs of all views for every bank and every weight of the penalty."""
    n = weighed.n_samples
    found: dict[tuple[int, float], Array] = {}
    for view, number, candidates in weighed.posed(settings.fused_banks):
        K = candidates.average()
        for alpha in alphas:
            with progress.stretch(progress.factor_effort(n) + progress.refine_effort(n)):
                Z = ridge_coefficients(K, alpha)
                _keep_refined(weighed, settings, (view, number, alpha), Z)
                edges = refine_graph(Z, n_neighbors=SUMMED_NEIGHBOURS, edge_weights="scaled")
            part = weighed.weight_of(view) * spread_out(normalised_graph(edges), weighed.rows_of(view), n)
            part = part if weighed.weights[view] > 0 else edges_of(part, weighed.orphans)
            key = (number, alpha)
            found[key] = part if key not in found else found[key] + part
    return [sparse.csr_array(graph) for graph in found.values()]


def _keep_refined(weighed: Weighed, settings: Settings, key: tuple[int, int, float], Z: Array) -> None:
    """Keep the graph of coefficients that will be asked for again, if it joins samples."""
    readout = settings.fused_readout(Z.shape[0])
    if settings.learning.is_closed_form and key[-1] in settings.alphas and readout.n_neighbors != "all":
        graph = refine_graph(Z, n_neighbors=int(readout.n_neighbors), edge_weights=readout.edge_weights)
        if graph.nnz:
            weighed.graphs[key] = graph


def cloud_of(candidates: Candidates, random_state: np.random.RandomState) -> Candidates | None:
    """Return candidate kernels over normal samples that have the mean and the covariances of the fitted ones.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels over samples.
    random_state : RandomState
        Draws the cloud.

    Returns
    -------
    Candidates or None
        None for precomputed kernels and functions of users, which may not take such samples, and for very many.
    """
    bank, n = candidates.bank, candidates.n_samples
    if bank is None or candidates.mixing is not None or any(isinstance(k, Custom) for own in bank.banks for k in own):
        return None
    if n > MOST_SAMPLES or n * sum(int(view.shape[1]) for view in bank.views) > MOST_NUMBERS:
        return None
    draws = random_state.normal(size=(n, n))
    views = [_mixed(draws, view) for view in bank.views]
    del draws  # as large as a kernel
    return Views(views).pose(bank.banks)


def _mixed(draws: np.ndarray, X: Array) -> np.ndarray:
    """Return random sums of samples about their mean: rows have the covariance of all."""
    X = X if hasattr(X, "toarray") else to_numpy(X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    n = draws.shape[0]
    mixed = np.asarray(draws @ X) - draws.sum(axis=1)[:, None] * mean
    return np.asarray(mixed / np.sqrt(n) + mean)


def thinned(graph: Array, random_state: np.random.RandomState) -> Array:
    """Return a symmetric graph without some of its edges."""
    half = sparse.coo_array(sparse.triu(graph, 1))
    kept = random_state.random_sample(half.nnz) >= LEFT_OUT
    edges = sparse.csr_array((half.data[kept], (half.row[kept], half.col[kept])), shape=graph.shape)
    return sparse.csr_array(edges + edges.T)
