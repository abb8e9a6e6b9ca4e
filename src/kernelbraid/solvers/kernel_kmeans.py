"""Kernel k-means (KKM), its robust form (RKKM), both with learned weights (MKKM, RMKKM), and relaxed (SimpleMKKM)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._arrays import asarray_like, device, namespace, to_numpy
from kernelbraid._linalg import choose_vectors, eigh, eigvalsh, tolerance
from kernelbraid._typing import Array, Labels, Vector
from kernelbraid.kernels import KernelStack, StoredStack, without_spread
from kernelbraid.kernels.stacks import one_by_one
from kernelbraid.ops.closed_forms import cosine_kernel
from kernelbraid.ops.graphs import with_positive_peaks
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Watch, alternate
from kernelbraid.solvers.kmeans import plus_plus, random_samples
from kernelbraid.solvers.lloyd import Clustering, Rule, best_of, nearest_centres

#: How a run starts: far samples as centres, random samples as centres, or random labels.
Start: TypeAlias = Literal["k-means++", "random", "partition"]


@dataclass(frozen=True)
class KernelSpace:
    """Samples given by kernels: distances to weighted means need kernel values alone."""

    kernels: KernelStack

    @cached_property
    def squares(self) -> Array:
        """Self-similarities, (m, n)."""
        return self.kernels.diagonals()

    def distances(self, V: Array) -> Array:
        """Return H_xx - 2 (H V')_xc + (V H V')_cc for every kernel, (m, c, n)."""
        V = asarray_like(V.toarray(), self.squares) if sparse.issparse(V) else V
        xp = namespace(V)
        products = xp.permute_dims(self.kernels.apply(V.T), (0, 2, 1))
        lengths = xp.sum(products * V[None, :, :], axis=2)
        return self.squares[:, None, :] + (lengths[:, :, None] - 2 * products)

    def from_samples(self, rows: Labels) -> Array:
        """Return squared distances to some of the samples, (m, c, n)."""
        distances = self.distances(asarray_like(rows[:, None] == np.arange(self.kernels.n_samples), self.squares))
        return namespace(distances).clip(distances, min=0.0)


def kernel_kmeans(
    kernels: KernelStack, n_clusters: int, *, rule: Rule, start: Start, n_init: int, random_state: np.random.RandomState
) -> Clustering:
    """Cluster samples in the feature space of kernels.

    Parameters
    ----------
    kernels : KernelStack
        Candidate kernels: their sum is used, or a weighted sum that is learned.
    n_clusters : int
        k, at most n.
    rule : Rule
        Squared distances or distances, fixed or learned kernel weights, and when to stop.
    start : {"k-means++", "random", "partition"}
        How a run starts.
    n_init : int
        Number of runs, of which the one of lowest objective is returned.
    random_state : numpy.random.RandomState
        Draws the starts, always on the host.

    Returns
    -------
    Clustering
        Labels, centres as weights of the samples, kernel weights, objective of every step.
    """
    space, n = KernelSpace(kernels), kernels.n_samples
    if start == "k-means++":
        starts = plus_plus(space, n_init, n_clusters, random_state)
    elif start == "random":
        starts = random_samples(n_init, n, n_clusters, random_state)
    else:
        starts = random_state.randint(n_clusters, size=(n_init, n))
    if rule.exponent is not None:
        rule = replace(rule, unused=without_spread(kernels))
    return best_of(space, starts, n_clusters, rule)


@dataclass(frozen=True)
class KernelCentres:
    """Centres in feature space, and what it takes to find the nearest one."""

    V: Array  # centres as weighted means of the samples, (k, n)
    weights: Vector  # shares of the kernels, (m,), of sum one
    squares: Array  # squared lengths of the centres in the combined space, (k,)

    @classmethod
    def of(cls, kernels: KernelStack, found: Clustering, labels: Labels) -> "KernelCentres":
        """Return the centres of a clustering, numbered as the final labels are.

        Where those are another partition (copies of a sample brought together, clusters split off), the centres are
        their plain means.
        """
        k = int(labels.max()) + 1
        pairs = np.unique(np.stack([labels, found.labels]), axis=1)
        if pairs.shape[1] == k and np.unique(pairs[1]).shape[0] == k:
            V = namespace(found.centres).take(
                found.centres, namespace(found.centres).asarray(pairs[1], device=device(found.centres)), axis=0
            )
        else:
            member = labels[None, :] == np.arange(k)[:, None]
            V = asarray_like(member / member.sum(axis=1, keepdims=True), found.centres)
        xp, a = namespace(V), np.asarray(found.kernel_weights / found.kernel_weights.sum())
        lengths = xp.sum(kernels.apply(V.T) * V.T[None, :, :], axis=1)  # (m, k)
        return cls(V, a, xp.sum(lengths * asarray_like(a[:, None], lengths), axis=0))

    def nearest(self, cross: Array) -> Labels:
        """Return the nearest centres of new samples by their combined kernel values with the fitted ones."""
        xp = namespace(self.V)
        V, squares = (xp.astype(part, xp.float64) for part in (self.V, self.squares))  # new values may be large
        return nearest_centres(asarray_like(cross, V) @ V.T, squares)


GOLDEN = (math.sqrt(5) + 1) / 2
#: Length of the first stretch of a line search, unless a weight becomes zero before.
FIRST = 0.1
#: Weights below are zero.
ZERO = 1e-16
#: Golden sections end at this share of the stretch; where exactness is asked for, tenth by tenth down to the last.
COARSE, FINE = 1e-3, 1e-8
#: Steps that differ by less, relatively, are one and the same but for rounding.
SAME = 1e-12


@dataclass
class MinMaxState:
    """Where the descent stands."""

    w: Vector  # weights, (m,), on the simplex
    H: Array  # partition, relaxed: orthonormal columns, (n, k)
    value: float  # J(w)
    section: float = COARSE  # share of a stretch at which golden sections end
    progress: AlternationProgress | None = None


@dataclass(frozen=True)
class MinMaxProblem:
    """Problem (1) for given kernels."""

    kernels: KernelStack
    n_clusters: int
    exact: bool  # whether H belongs to w; the published iteration keeps that of a point beside it

    def start(self) -> MinMaxState:
        """Return even weights."""
        m = self.kernels.n_kernels
        w = np.full(m, 1 / m)
        return MinMaxState(w, self.partition(w), self.value(w))

    def value(self, w: Vector) -> float:
        """Return J(w)."""
        values = eigvalsh(self.kernels.combine(w**2))
        return float(namespace(values).sum(values[-self.n_clusters :]))

    def partition(self, w: Vector) -> Array:
        """Maximise Tr(H'K H) over H'H = I: the eigenvectors of largest eigenvalue."""
        values, vectors = eigh(self.kernels.combine(w**2), overwrite=True)
        host = to_numpy(values).astype(float)
        apart = tolerance(vectors.dtype, namespace(vectors)) * max(float(np.abs(host).max()), ZERO)
        return with_positive_peaks(choose_vectors(host, vectors, self.n_clusters, tol=apart))

    def gradient(self, w: Vector, H: Array) -> Vector:
        """Return dJ/dw_p = 2 w_p Tr(H'K_p H)."""
        return 2 * w * self.kernels.traces(H @ H.T)


def comparable_kernels(kernels: KernelStack) -> StoredStack:
    """Return the kernels of samples about their mean, each scaled to length one, as published."""
    single = enumerate(one_by_one(kernels))
    return StoredStack.filled(kernels, (cosine_kernel(K, f"kernel {p} of X", centred=True) for p, K in single))


@dataclass
class _Line:
    """A point, a direction along the simplex, and how far it leads until a weight is zero."""

    w: Vector
    d: Vector
    pivot: int  # the largest weight, which balances the others

    @property
    def reach(self) -> float:
        """The largest feasible step; 0 if no weight falls."""
        falling = self.d < 0
        return float((-self.w[falling] / self.d[falling]).min()) if falling.any() else 0.0

    def at(self, step: float) -> Vector:
        """Return the point after a step."""
        return self.w + step * self.d

    def turn(self, step: float) -> "_Line":
        """Return the line from the point after a step on, along the face that it has reached."""
        w = self.at(step)
        w = np.where(w < ZERO, 0.0, w)
        w = w / w.sum()
        return replace(self, w=w, d=_balanced(np.where((w > ZERO) | (self.d > 0), self.d, 0.0), self.pivot))


def _balanced(d: Vector, pivot: int) -> Vector:
    """Return a direction along which the sum of the weights stays."""
    d = d.copy()
    d[pivot] = 0.0
    d[pivot] = -d.sum()
    return d


def descent_line(w: Vector, gradient: Vector) -> _Line:
    """Return the direction of the reduced gradient (2): no weight that is zero falls."""
    length = float(np.linalg.norm(gradient))
    g = gradient / length if length > 0 else gradient
    pivot = int(np.argmax(w))
    g = g - g[pivot]
    return _Line(w, _balanced(np.where((w > 0) | (g < 0), -g, 0.0), pivot), pivot)


def search_line(problem: MinMaxProblem, state: MinMaxState) -> tuple[Vector, float, Vector]:
    """Return the weights of the lowest value along the line, this value, and the weights whose H was looked at last."""
    line = descent_line(state.w, problem.gradient(state.w, state.H))
    low, reach = state.value, line.reach
    last = state.w
    high, step = low, min(reach, FIRST)
    while step > 0:
        last = line.at(step)
        high = problem.value(last)
        if high >= low:
            break
        line, low = line.turn(step), high
        reach = step = line.reach
    # Golden sections of [0, step], from a line that starts at the lowest value so far.
    left, right = (0.0, low), (step, high)
    best, known = left, [left]
    while right[0] - left[0] > state.section * reach:
        upper = left[0] + (right[0] - left[0]) / GOLDEN
        lower = left[0] + (upper - left[0]) / GOLDEN
        known = [_point(problem, line, inner, known) for inner in (lower, upper)]
        points = [left, *known, right]
        lowest = int(np.argmin([value for _, value in points]))
        best = points[lowest]
        end = points[(1, 2, 1, 2)[lowest]]  # the inner point that becomes an end
        left, right = (left, end) if lowest < 2 else (end, right)
        last = line.at(end[0])
    if best[1] < state.value:
        return line.at(best[0]), best[1], last
    return state.w, state.value, last


def _point(
    problem: MinMaxProblem, line: _Line, step: float, known: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """Return a step and the value there, which the last section may have: of its two inner points, one often stays."""
    for point in known:
        if abs(point[0] - step) <= SAME * step:
            return point
    return step, problem.value(line.at(step))


def solve_min_max(
    problem: MinMaxProblem, *, max_iter: int, tol: float, watch: Watch[MinMaxState] | None = None
) -> Solution[MinMaxState]:
    """Follow the reduced gradient until the weights stay as they are.

    Parameters
    ----------
    problem : MinMaxProblem
        What to minimise.
    max_iter : int
        Largest number of steps.
    tol : float
        Change of a weight that ends the iteration.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """

    def step(old: MinMaxState) -> MinMaxState:
        w, value, last = search_line(problem, old)
        change = float(np.abs(w - old.w).max())
        H = problem.partition(w if problem.exact else last)
        section = old.section if change > tol else max(old.section / 10, FINE)
        return MinMaxState(w, H, value, section, AlternationProgress(value, change))

    def converged(n: int, state: MinMaxState) -> bool:
        is_still = state.progress is not None and state.progress.change <= tol
        return is_still and (not problem.exact or state.section <= FINE)

    return alternate(step, problem.start, max_iter=max_iter, converged=converged, watch=watch)
