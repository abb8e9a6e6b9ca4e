"""The number of clusters, from several graphs over the same samples.

With the right number, graphs that were learned with different penalties and refined to more edges or fewer fall into
the same clusters, which share few edges and hold many. Too many clusters cut what belongs together, each graph
elsewhere; too few join what lies apart, each graph something else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbraid._threads import calm
from kernelbraid._typing import Array, Host
from kernelbraid.learning.background import cloud_of
from kernelbraid.learning.candidates import Candidates
from kernelbraid.learning.parallel import each
from kernelbraid.learning.settings import LEAST_ALPHA
from kernelbraid.metrics.label_free import agreement, cut_share, modularity
from kernelbraid.ops.refinement import refine_graph
from kernelbraid.ops.spectral import normalised_graph, spectral_vectors, unit_rows
from kernelbraid.solvers.kmeans import kmeans_each
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients
from kernelbraid.solvers.pieces import PIECES, Edges, cut, join, settle

LARGEST = 150  # clusters that are tried at most, and a third of the samples
SMALLEST_PROBLEM = 6  # samples, so that there is a range at all
COARSE = 20  # numbers over the whole range, on a geometric scale
FINE = 8  # numbers around each of the best two of them
#: Samples for each unit of the penalty's weight, and the parts of that weight that get graphs of their own.
SAMPLES_PER_ALPHA, PARTS, FEW_PARTS = 500, (1.0, 1 / 3, 3.0), (1.0, 3.0)
NEIGHBOURS, FEW_NEIGHBOURS = (7, 10), (10,)  # edges of each sample
SHARE = 5  # samples for each edge, at least
RESTARTS, FEW_RESTARTS = 3, 1  # of k-means where the choice is made; and over the whole range, or with many samples
LARGE = 3000  # samples above which there are fewer graphs and restarts
TIED = 1e-6  # scores that differ by less are the same
#: Shares of the best score above which a number is on its plateau, and above which another peak is an alternative.
PLATEAU, PLAUSIBLE = 0.95, 0.85
#: Edges between clusters, in units of those of a cloud without any, above which there are none; and may be none.
NO_CLUSTERS, FEW_CLUES = 0.8, 0.65
CLOUDS, CUTS = 2, 3  # that are compared; and how often each is cut


@dataclass(frozen=True)
class Counts:
    """The numbers of clusters that were tried, ascending, and what speaks for each; means over the graphs."""

    n_clusters: NDArray[np.int64]
    stability: NDArray[np.float64]  # adjusted Rand index between the clusters of two graphs
    modularity: NDArray[np.float64]
    cut: NDArray[np.float64]  # share of a cluster's edges that leave it
    eigengap: NDArray[np.float64]  # distance from the last eigenvalue that is used to the next
    is_near: NDArray[np.bool_] | None = None  # which ones were tried with all restarts, and may be chosen; all if None
    compared: str = "graphs of different penalties"  # whose clusters were
    background: float | None = None  # edges between clusters, in units of those in a cloud without any; None: not known

    @property
    def score(self) -> NDArray[np.float64]:
        """What is maximised: stability, times the share of edges within clusters, times modularity over its limit."""
        limit = 1 - 1 / self.n_clusters
        return np.maximum(self.stability, 0.0) * (1 - self.cut) * np.maximum(self.modularity, 0.0) / limit

    @property
    def peak(self) -> int:
        """The number with the largest score among those that may be chosen; of several, the most modular."""
        score = self.score if self.is_near is None else np.where(self.is_near, self.score, -np.inf)
        tied = score > score.max() - TIED
        return int(self.n_clusters[int(np.argmax(np.where(tied, self.modularity, -np.inf)))])

    @property
    def best(self) -> int:
        """The choice: one cluster where a cloud without any falls apart as easily."""
        return 1 if self.background is not None and self.background >= NO_CLUSTERS else self.peak

    @property
    def plateau(self) -> tuple[int, int]:
        """The numbers around the peak, in one row, that are about as good."""
        at = int(np.searchsorted(self.n_clusters, self.peak))
        good = self.score >= PLATEAU * self.score[at]
        low = high = at
        while low > 0 and good[low - 1]:
            low -= 1
        while high < len(good) - 1 and good[high + 1]:
            high += 1
        return int(self.n_clusters[low]), int(self.n_clusters[high])

    @property
    def alternatives(self) -> list[int]:
        """Other peaks off the plateau that are nearly as high, the highest first."""
        score, (low, high) = np.concatenate([[-np.inf], self.score, [-np.inf]]), self.plateau
        peaks = (score[1:-1] >= score[:-2]) & (score[1:-1] > score[2:]) & (self.score >= PLAUSIBLE * self.score.max())
        found = np.flatnonzero(peaks & ((self.n_clusters < low) | (self.n_clusters > high)))
        return [int(self.n_clusters[i]) for i in found[np.argsort(-self.score[found], kind="stable")]]

    def columns(self) -> dict[str, Host]:
        """Return the evidence as one array per quantity."""
        names = ("score", "stability", "modularity", "cut", "eigengap")
        return {"n_clusters": self.n_clusters, **{name: getattr(self, name) for name in names}}

    def sentences(self) -> list[str]:
        """Return the choice in words, with what is plausible as well."""
        low, high = self.plateau
        tried = f"among {self.n_clusters[0]} to {self.n_clusters[-1]}"
        told = [
            f"{self.peak} clusters have the best score {tried}: {self.compared} agree on them, they hold many edges, "
            "and share few."
        ]
        if low < high:
            told.append(f"{low} to {high} are about as good: the number is not sharp.")
        others = self.alternatives[:3]
        if others:
            told.append(
                f"Plausible as well: {_listed(others)}; coarser and finer clusters are both there where the data have "
                "a hierarchy."
            )
        return told + self._doubts()

    def _doubts(self) -> list[str]:
        """Return what speaks against any clusters at all."""
        if self.background is None or self.background < FEW_CLUES:
            return []
        share = f"Clusters share {100 * self.background:.0f} % of the edges that they share in a cloud without any"
        if self.best == 1:
            return [f"{share}, so that all samples were left in one."]
        return [f"{share}: there may be none."]

    @property
    def warning(self) -> str | None:
        """What a user must know before using the labels."""
        doubts = self._doubts()
        return None if not doubts else f"n_clusters='auto' found no clear clusters. {doubts[0]}"


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def largest_count(n_samples: int) -> int:
    """Return the largest number of clusters that is tried."""
    return min(LARGEST, n_samples // 3)


def count_if_asked(
    candidates: Candidates, n_clusters: int | str, *, random_state: np.random.RandomState, n_jobs: int | None = None
) -> Counts | None:
    """Choose the number of clusters if it is ``"auto"``; None if it is given.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels.
    n_clusters : int or "auto"
        As for :class:`kernelbraid.LKG`.
    random_state : RandomState
        Draws the starts of k-means, and clouds to compare with.
    n_jobs : int, default=None
        As for :func:`count_clusters`.
    """
    if n_clusters != "auto":
        return None
    # Processes do not share the first part: its threads must not depend on their number, as rounding decides ties.
    with calm(1 if n_jobs == 1 else None):
        counts = count_clusters(kernel_graphs(candidates), random_state=random_state, n_jobs=n_jobs)
        return replace(counts, background=background(candidates, counts.peak, random_state))


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
        coefficients = ridge_coefficients(K, part * _alpha(n))
        for few in FEW_NEIGHBOURS if is_large else NEIGHBOURS:
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
    share = _share_between(candidates, n_clusters, random_state)
    apart = []
    for _ in range(CLOUDS):  # one at a time: each has its own kernel
        cloud = cloud_of(candidates, random_state)
        if cloud is None:
            return None
        apart.append(_share_between(cloud, n_clusters, random_state))
    return float(share / np.mean(apart)) if any(apart) else None


def _share_between(candidates: Candidates, n_clusters: int, random_state: np.random.RandomState) -> float:
    """Return the mean share of edges that leave a cluster."""
    n = candidates.n_samples
    coefficients = ridge_coefficients(candidates.average(), _alpha(n))
    graph = refine_graph(coefficients, n_neighbors=_edges(NEIGHBOURS[-1], n), edge_weights="scaled")
    X = unit_rows(spectral_vectors(graph, n_clusters))
    pieces = cut(X, min(PIECES * n_clusters, X.shape[0]), n_cuts=CUTS, n_init=RESTARTS, random_state=random_state)
    edges = Edges.of(graph)
    return float(np.mean([cut_share(graph, settle(edges, join(edges, piece, n_clusters))) for piece in pieces]))


def count_clusters(
    graphs: Sequence[Array],
    *,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Counts:
    """Try numbers of clusters from 2 on: first over the whole range, then around the best.

    Parameters
    ----------
    graphs : sequence of sparse matrices of shape (n, n)
        At least two, symmetric and not negative.
    random_state : RandomState
        Draws the starts of k-means.
    n_jobs : int, default=None
        Processes, each with one thread of linear algebra; this one alone if None.
    watch : callable, default=None
        ``watch(done, total)`` is called after every number.

    Returns
    -------
    Counts
        The evidence; ``best`` is the choice.
    """
    n = graphs[0].shape[0]
    largest = largest_count(n)
    bases = list(each(_basis, ((graph, largest) for graph in graphs), n_jobs))
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    tried: dict[int, Counts] = {}
    done = count(1)

    def attempt(numbers: Sequence[int], n_init: int) -> None:
        tasks = ((graphs, bases, k, n_init, np.random.RandomState(seed)) for k in numbers)
        for k, evidence in zip(numbers, each(_evidence, tasks, n_jobs), strict=True):
            tried[k] = evidence
            if watch is not None:
                watch(next(done), COARSE + 2 * FINE)

    coarse = np.unique(np.geomspace(2, largest, COARSE).round().astype(int)).tolist()
    attempt(coarse, FEW_RESTARTS)
    best = sorted(coarse, key=lambda k: -float(tried[k].score[0]))[:2]
    near = sorted({k for peak in best for k in _around(peak, coarse)})
    attempt(near, RESTARTS if n <= LARGE else FEW_RESTARTS)
    return _gather(tried, near)


def _around(k: int, coarse: Sequence[int]) -> list[int]:
    """Return numbers between the two neighbours of one that was tried, all of them if they are few."""
    at = coarse.index(k)
    low, high = coarse[max(at - 1, 0)], coarse[min(at + 1, len(coarse) - 1)]
    return [int(near) for near in np.unique(np.linspace(low, high, min(high - low + 1, FINE)).round())]


def _gather(tried: dict[int, Counts], near: Sequence[int]) -> Counts:
    """Return the evidence of single numbers as one, in their order."""
    rows = [tried[k] for k in sorted(tried)]
    names = ("n_clusters", "stability", "modularity", "cut", "eigengap")
    columns: dict[str, Any] = {name: np.concatenate([getattr(row, name) for row in rows]) for name in names}
    return Counts(**columns, is_near=np.isin(columns["n_clusters"], near))


def _basis(graph: Array, largest: int) -> tuple[Array, NDArray[np.float64]]:
    """Return the leading eigenvectors of a graph, one more than clusters at most, and their eigenvalues."""
    single = graph.astype(np.float32)  # enough to tell clusters apart, at half the price
    vectors = spectral_vectors(single, min(largest + 1, graph.shape[0]))
    values = np.sum(vectors * (normalised_graph(single) @ vectors), axis=0)
    return vectors, values


def _evidence(
    graphs: Sequence[Array],
    bases: Sequence[tuple[Array, NDArray[np.float64]]],
    k: int,
    n_init: int,
    random_state: np.random.RandomState,
) -> Counts:
    """Return what speaks for one number of clusters: those of pieces that are joined, and of k-means, in each graph."""
    spaces = [unit_rows(V[:, :k]) for V, _ in bases]
    found = kmeans_each(spaces, k, n_init=n_init, random_state=random_state)
    draw = partial(cut, n_cuts=1, n_init=n_init, random_state=random_state, spread=False)
    pieces = [draw(X, min(PIECES * k, X.shape[0]))[0] for X in spaces]
    edges = [Edges.of(graph) for graph in graphs]
    joined = [settle(own, join(own, piece, k)) for own, piece in zip(edges, pieces, strict=True)]
    evidence = {
        "stability": np.mean([agreement(found).mean(), agreement(joined).mean()]),
        "modularity": np.mean([modularity(graph, labels) for graph, labels in zip(graphs, joined, strict=True)]),
        "cut": np.mean([cut_share(graph, labels) for graph, labels in zip(graphs, joined, strict=True)]),
        "eigengap": np.mean([values[k - 1] - values[k] for _, values in bases]),
    }
    columns: dict[str, Any] = {name: np.array([float(value)]) for name, value in evidence.items()}
    return Counts(np.array([k]), **columns)
