"""The number of clusters, from several graphs over the same samples.

With the right number, graphs that were learned with different penalties and refined to more edges or fewer fall into
the same clusters, which share few edges and hold many. Too many clusters cut what belongs together, each graph
elsewhere; too few join what lies apart, each graph something else.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config
from numpy.typing import NDArray

from kernelbraid._typing import Array
from kernelbraid.learning import progress
from kernelbraid.learning.counts import Counts
from kernelbraid.metrics.partitions import agreement, cut_share, modularity
from kernelbraid.ops.graphs import normalised_graph, spectral_vectors, unit_rows
from kernelbraid.solvers.kmeans import PIECES, Edges, cut, join, kmeans, settle

T = TypeVar("T")

LARGEST = 150  # clusters that are tried at most, and a third of the samples
SMALLEST_PROBLEM = 6  # samples, so that there is a range at all
COARSE = 20  # numbers over the whole range, on a geometric scale
FINE = 8  # numbers around each of the best two of them
MIDDLE = 20  # about where they are, as long as they are not known
RESTARTS, FEW_RESTARTS = 3, 1  # of k-means where the choice is made; and over the whole range, or with many samples
LARGE = 3000  # samples above which there are fewer graphs and restarts


def largest_count(n_samples: int) -> int:
    """Return the largest number of clusters that is tried."""
    return min(LARGEST, n_samples // 3)


def effort_of_counting(n_samples: int, n_graphs: int, n_jobs: int | None = None) -> float:
    """Return the effort of :func:`count_clusters`, as far as it is known before.

    Parameters
    ----------
    n_samples, n_graphs : int
        Sizes of the problem.
    n_jobs : int, default=None
        Processes.
    """
    coarse = _coarse(n_samples)
    bases = n_graphs * progress.basis_effort(n_samples, coarse[-1])
    tried = sum(progress.evidence_effort(n_samples, k, n_graphs, FEW_RESTARTS) for k in coarse)
    return (bases + tried + _near_effort(n_samples, [MIDDLE] * 2 * FINE, n_graphs)) / (n_jobs or 1)


def _near_effort(n_samples: int, near: Sequence[int], n_graphs: int) -> float:
    """Return the effort of trying numbers around the best."""
    return sum(progress.evidence_effort(n_samples, k, n_graphs, _restarts(n_samples)) for k in near)


def _restarts(n_samples: int) -> int:
    """Return the restarts of k-means where the choice is made."""
    return RESTARTS if n_samples <= LARGE else FEW_RESTARTS


def count_clusters(
    graphs: Sequence[Array],
    *,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
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

    Returns
    -------
    Counts
        The evidence; ``best`` is the choice.
    """
    n, n_graphs = graphs[0].shape[0], len(graphs)
    share = 1 / (n_jobs or 1)  # of the effort, which processes divide
    coarse = _coarse(n)
    largest = coarse[-1]
    tasks = each(_basis, ((graph, largest) for graph in graphs), n_jobs)
    bases = [_next(tasks, share * progress.basis_effort(n, largest)) for _ in graphs]
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    tried: dict[int, Counts] = {}

    def attempt(numbers: Sequence[int], n_init: int) -> None:
        tasks = each(_evidence, ((graphs, bases, k, n_init, np.random.RandomState(seed)) for k in numbers), n_jobs)
        for k in numbers:
            tried[k] = _next(tasks, share * progress.evidence_effort(n, k, n_graphs, n_init))

    attempt(coarse, FEW_RESTARTS)
    best = sorted(coarse, key=lambda k: -float(tried[k].score[0]))[:2]
    near = sorted({k for peak in best for k in _around(peak, coarse)})
    progress.expect(share * (_near_effort(n, near, n_graphs) - _near_effort(n, [MIDDLE] * 2 * FINE, n_graphs)))
    attempt(near, _restarts(n))
    return _gather(tried, near)


def each(function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None) -> Iterator[T]:
    """Yield the results in the order of the tasks, which are made as they are needed.

    Parameters
    ----------
    function : callable
        Known by its name where there are several processes.
    tasks : iterable of tuple
        Its arguments. Large arrays are shared between processes, not copied.
    n_jobs : int, default=None
        Processes, each with one thread of linear algebra; this one alone if None or 1.
    """
    if n_jobs is None or n_jobs == 1:
        for task in tasks:
            yield function(*task)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(*task) for task in tasks)
        try:
            for result in results:  # noqa: UP028 (delegating would close them without the filter below)
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns of tasks that nobody wants any more
                results.close()


def _next(results: Iterator[T], length: float) -> T:
    """Return the next result of several, which is a stretch of the work."""
    with progress.stretch(length):
        return next(results)


def _coarse(n_samples: int) -> list[int]:
    """Return numbers of clusters over the whole range."""
    found = np.unique(np.geomspace(2, largest_count(n_samples), COARSE).round().astype(int))
    return [int(k) for k in found]


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
    found = [kmeans(X, k, n_init=n_init, random_state=random_state, spread=True).labels for X in spaces]
    progress.within(0.6)
    draw = partial(cut, n_cuts=1, n_init=n_init, random_state=random_state, spread=False)
    pieces = [draw(X, min(PIECES * k, X.shape[0]))[0] for X in spaces]
    progress.within(0.8)
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
