"""The number of clusters, from several graphs over the same samples.

With the right number, graphs that were learned from different kernels and with different penalties fall into the same
clusters. Too many clusters cut what belongs together, each graph elsewhere; too few join what lies apart, each graph
something else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from kernelbraid._linalg import blas_threads
from kernelbraid._typing import Array, Host
from kernelbraid.learning.candidates import Candidates
from kernelbraid.learning.parallel import each
from kernelbraid.metrics.label_free import ami, modularity
from kernelbraid.ops.refinement import refine_graph
from kernelbraid.ops.spectral import normalised_graph, spectral_vectors, unit_rows
from kernelbraid.solvers.kmeans import kmeans_each
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients

LARGEST = 150  # clusters that are tried at most, and a third of the samples
SMALLEST_PROBLEM = 6  # samples, so that there is a range at all
COARSE = 24  # numbers over the whole range, on a geometric scale
FINE = 16  # numbers around each of the best two of them
N_KERNELS = 4  # that get graphs of their own, beside their average
NEIGHBOURS = 5  # edges of each sample: a cluster of six samples can still be one
PENALTIES, FEW_PENALTIES = (1.0, 0.3, 3.0), (1.0, 3.0)  # weights of the squared penalty, for each kernel
RESTARTS, FEW_RESTARTS = 10, 3  # of k-means where the choice is made; and over the whole range, or with many samples
LARGE = 3000  # samples above which the fewer ones are used
TIED = 1e-6  # stabilities that differ by less are the same


@dataclass(frozen=True)
class Counts:
    """The numbers of clusters that were tried, ascending, and what speaks for each."""

    n_clusters: NDArray[np.int64]
    stability: NDArray[np.float64]  # mean adjusted mutual information between the clusters of two graphs
    modularity: NDArray[np.float64]  # mean over the graphs
    eigengap: NDArray[np.float64]  # mean distance from the last eigenvalue that is used to the next
    is_near: NDArray[np.bool_] | None = None  # which ones were tried with all restarts, and may be chosen; all if None

    @property
    def best(self) -> int:
        """The number with the largest stability among those that may be chosen; of several, the most modular."""
        stability = self.stability if self.is_near is None else np.where(self.is_near, self.stability, -np.inf)
        tied = stability > stability.max() - TIED
        return int(self.n_clusters[int(np.argmax(np.where(tied, self.modularity, -np.inf)))])

    def columns(self) -> dict[str, Host]:
        """Return the evidence as one array per quantity."""
        scores = {"score": self.stability, "modularity": self.modularity, "eigengap": self.eigengap}
        return {"n_clusters": self.n_clusters, **scores}


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
        Draws the starts of k-means.
    n_jobs : int, default=None
        As for :func:`count_clusters`.
    """
    if n_clusters != "auto":
        return None
    # Processes do not share the first part: its threads must not depend on their number, as rounding decides ties.
    with blas_threads(candidates.n_samples, 1 if n_jobs == 1 else None):
        return count_clusters(kernel_graphs(candidates), random_state=random_state, n_jobs=n_jobs)


def kernel_graphs(candidates: Candidates) -> list[Array]:
    """Return sparse graphs of the average kernel and of up to four of the kernels, for two or three penalties each.

    A factor per penalty is cheaper than one eigendecomposition of the kernel for all of them.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels.
    """
    stack = candidates.stack
    m, n = stack.n_kernels, stack.n_samples
    chosen = np.unique(np.linspace(0, m - 1, min(m, N_KERNELS)).round().astype(int)).tolist() if m > 1 else []
    forms: list[Callable[[], Array]] = [candidates.average, *(partial(stack.combine, np.eye(m)[i]) for i in chosen)]
    found = []
    for form in forms:
        K = form()
        for alpha in PENALTIES if n <= LARGE else FEW_PENALTIES:
            coefficients = ridge_coefficients(K, alpha)
            found.append(refine_graph(coefficients, n_neighbors=NEIGHBOURS, edge_weights="scaled"))
    return found


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
    tried: dict[int, tuple[float, float, float]] = {}
    done = count(1)

    def attempt(numbers: Sequence[int], n_init: int) -> None:
        tasks = ((graphs, bases, k, n_init, np.random.RandomState(seed)) for k in numbers)
        for k, evidence in zip(numbers, each(_evidence, tasks, n_jobs), strict=True):
            tried[k] = evidence
            if watch is not None:
                watch(next(done), COARSE + 2 * FINE)

    coarse = np.unique(np.geomspace(2, largest, COARSE).round().astype(int)).tolist()
    attempt(coarse, FEW_RESTARTS)
    near = sorted({k for best in sorted(coarse, key=lambda k: -tried[k][0])[:2] for k in _around(best, coarse)})
    attempt(near, RESTARTS if n <= LARGE else FEW_RESTARTS)
    return _gather(tried, near)


def _around(k: int, coarse: Sequence[int]) -> list[int]:
    """Return numbers between the two neighbours of one that was tried, all of them if they are few."""
    at = coarse.index(k)
    low, high = coarse[max(at - 1, 0)], coarse[min(at + 1, len(coarse) - 1)]
    return [int(near) for near in np.unique(np.linspace(low, high, min(high - low + 1, FINE)).round())]


def _gather(tried: dict[int, tuple[float, float, float]], near: Sequence[int]) -> Counts:
    numbers = np.array(sorted(tried))
    stability, dense, gap = np.array([tried[int(k)] for k in numbers]).T
    return Counts(numbers, stability, dense, gap, np.isin(numbers, near))


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
) -> tuple[float, float, float]:
    """Return stability, modularity and eigengap for one number of clusters."""
    found = kmeans_each([unit_rows(V[:, :k]) for V, _ in bases], k, n_init=n_init, random_state=random_state)
    m = len(found)
    pairs = {tuple(sorted((i, (i + step) % m))) for i in range(m) for step in {1, max(m // 2, 1)}}
    shared = [ami(found[i], found[j]) for i, j in sorted(pairs)]
    dense = [modularity(graph, labels) for graph, labels in zip(graphs, found, strict=True)]
    gaps = [values[k - 1] - values[k] for _, values in bases]
    return float(np.mean(shared)), float(np.mean(dense)), float(np.mean(gaps))
