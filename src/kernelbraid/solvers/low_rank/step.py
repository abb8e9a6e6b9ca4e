"""LKG: a low-rank consensus kernel and a self-expressive graph, learned together by ADMM."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from kernelbraid._arrays import (
    add_to_diagonal,
    asarray_like,
    clip_negative,
    distance,
    frobenius_norm,
    identity_like,
    is_finite,
    namespace,
)
from kernelbraid._linalg import solve_in_place
from kernelbraid._machine import blas_threads
from kernelbraid._typing import Array, Matrix, Vector
from kernelbraid.kernels.stacks import KernelStack
from kernelbraid.ops.closed_forms import nonnegative
from kernelbraid.solvers.iterate import Solution, Status, Watch, iterate
from kernelbraid.solvers.low_rank.penalties import FROBENIUS, L1, NUCLEAR, Penalty, Prox, Route
from kernelbraid.solvers.low_rank.weights import solve_simplex_lsq, solve_simplex_lsqs

GRAPH_PENALTIES: dict[str, Penalty] = {penalty.name: penalty for penalty in (NUCLEAR, L1, FROBENIUS)}
GraphName: TypeAlias = Literal["J", "Z"]
# A number of one problem, or one per problem of a batch.
Number: TypeAlias = float | Array

# The published code makes at least this many steps before it looks at its stopping test.
MIN_ITER = 6
# In the place of a route: the kernel is not thresholded.
FIXED = "fixed"
# Norm of a graph that counts as zero when two of them are compared.
NOTHING = 1e-10
# An edge lighter than this share of the largest entry is the rounding of a decomposition, not an edge.
ROUNDING = 1e-13


@dataclass(frozen=True)
class LowRankProblem:
    """Eq. (3): min 1/2 Tr(K - 2KZ + Z'KZ) + alpha rho(Z) + beta ||K||_* + gamma ||K - sum_i g_i H_i||_F^2.

    Z and K are nonnegative, g is on the simplex. For a batch of b problems over the same kernels, alpha, beta and gamma
    are columns (b, 1, 1) that live where the kernels do; growth (b, 1, 1) and pull (b, 1) stay on the host.
    """

    kernels: KernelStack  # candidates H_i, (n, n), each symmetric
    R: Matrix  # R'R = M, M_ij = Tr(H_i H_j): constant, computed once
    alpha: Number  # weight of the graph penalty
    beta: Number  # weight of the kernel's nuclear norm
    gamma: Number  # weight of the distance between K and the weighted sum; infinite: K stays as the start has it
    penalty: Penalty  # rho
    growth: Number  # factor of mu after every step
    pull: Number  # factor of Tr(K H_i) in Eq. (14): 2 projects K on the kernels, the text prints 1/2


@dataclass(frozen=True)
class Progress:
    """What a step did. For a batch: the norms of every problem, (b,), and no ranks."""

    mu: Number  # weight of the constraints in this step
    kernel_change: Number  # ||K - K_before||_F / ||K_before||_F
    graph_residual: Number  # ||Z - J||_F
    kernel_residual: Number  # ||K - W||_F
    graph_rank: int  # singular values of J before the clip; -1 if the graph penalty has none
    kernel_rank: int  # singular values of W before the clip
    graph_route: str  # how J was thresholded
    kernel_route: str  # how W was thresholded


@dataclass
class LowRankState:
    """The variables of Algorithm 1. For a batch, every matrix is (b, n, n) and g is (b, m)."""

    Z: Array  # graph, (n, n), nonnegative
    K: Array  # consensus kernel, (n, n), nonnegative, not symmetric before convergence
    J: Array  # copy of Z that carries the graph penalty
    W: Array  # copy of K that carries the nuclear norm
    g: Vector  # kernel weights, (m,), on the simplex
    Y1: Array  # prices Z = J
    Y2: Array  # prices K = W
    mu: Number  # weight of both constraints in the next step; a column (b, 1, 1) on the host for a batch
    progress: Progress | None = None  # None for a starting point

    def hand_over(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return K, J, W, Y1 and Y2, whose memory the next state uses, and forget all matrices."""
        arrays = self.K, self.J, self.W, self.Y1, self.Y2
        self.Z = self.K = self.J = self.W = self.Y1 = self.Y2 = None
        return arrays


@dataclass
class Stepper:
    """One round of Algorithm 1, in its order, for one problem or a batch. The state that it is given is used up."""

    problem: LowRankProblem
    route: Route = "auto"
    shrink_graph: Prox = field(init=False)
    shrink_kernel: Prox = field(init=False)

    def __post_init__(self) -> None:
        self.shrink_graph = self.problem.penalty.operator(self.route)
        self.shrink_kernel = NUCLEAR.operator(self.route)

    def __call__(self, s: LowRankState) -> LowRankState:
        """Return the next state."""
        p = self.problem
        # The column of a batch grows on the host, in double precision, as the number of one problem does.
        mu = s.mu if s.K.ndim == 2 else asarray_like(s.mu, s.K)
        K_before, J, W, Y1, Y2 = s.hand_over()
        Z = update_graph(K_before, J, Y1, mu)  # Eq. (7), in the memory of J
        K = update_kernel(p, W, Y2, Z, s.g, mu)  # Eq. (8), in the memory of W
        change = relative_change(K, K_before)
        del K_before, J, W
        J, Y1 = update_copy(Z, Y1, mu, partial(self.shrink_graph, t=p.alpha / mu))  # Eq. (10) or (11)
        W, Y2 = update_copy(K, Y2, mu, partial(self.shrink_kernel, t=p.beta / mu))  # Eq. (13)
        g = update_weights(p, s.g, K)  # Eq. (14)
        residuals = residual(Z, J), residual(K, W)
        graph, kernel = self.shrink_graph, self.shrink_kernel
        progress = Progress(s.mu, change, *residuals, graph.rank, kernel.rank, graph.used, kernel.used)
        return LowRankState(Z, K, J, W, g, Y1, Y2, s.mu * p.growth, progress)


class GraphStepper(Stepper):
    """The steps for Z and J alone: the kernel stays, Eq. (2)."""

    def __call__(self, s: LowRankState) -> LowRankState:
        """Return the next state."""
        p, mu, graph = self.problem, s.mu, self.shrink_graph
        Z = update_graph(s.K, s.J, s.Y1, mu)  # Eq. (7), in the memory of J
        J, Y1 = update_copy(Z, s.Y1, mu, partial(graph, t=p.alpha / mu))  # Eq. (10) or (11)
        progress = Progress(mu, 0.0, residual(Z, J), 0.0, graph.rank, -1, graph.used, FIXED)
        return replace(s, Z=Z, J=J, Y1=Y1, mu=mu * p.growth, progress=progress)


def update_graph(K: Array, J: Array, Y1: Array, mu: Number) -> Array:
    """Minimise 1/2 Tr(K - 2KZ + Z'KZ) + mu/2 ||J - Z + Y1/mu||_F^2 over Z, then clip: Eq. (7). Uses up J."""
    right = J
    right *= mu
    right += K
    right += Y1
    return clip_negative(solve_in_place(add_to_diagonal(K + 0.0, mu), right))


def update_kernel(p: LowRankProblem, W: Array, Y2: Array, Z: Array, g: Vector, mu: Number) -> Array:
    """Minimise the terms of Eq. (5) with K, for the new Z and the old weights, then clip: Eq. (8). Uses up W."""
    K = W
    K *= mu
    K += Y2
    combined = p.kernels.combine(g)
    combined *= 2 * p.gamma
    K += combined
    del combined
    expressed = Z @ Z.mT
    expressed *= 0.5
    K -= expressed
    del expressed
    K += Z.mT
    K = add_to_diagonal(K, -0.5)
    K *= 1 / (mu + 2 * p.gamma)
    return clip_negative(K)


def update_copy(original: Array, Y: Array, mu: Number, prox: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return the copy of Z or K that carries a penalty, clipped, and the new price of their difference. Uses up Y.

    The copy minimises penalty + mu/2 ||copy - D||_F^2 with D = original - Y/mu: Eqs. (9) and (12). The price
    Y + mu (copy - original) is mu (copy - D).
    """
    D = Y
    D *= -1 / mu
    D += original
    copy = clip_negative(prox(D))
    D -= copy
    D *= -mu
    return copy, D


def update_weights(p: LowRankProblem, g: Vector, K: Array) -> Vector:
    """Minimise g'Mg - pull t'g on the simplex, t_i = Tr(K H_i), from the old weights: Eq. (14).

    That is ||R g - pull/2 b||^2 with the coordinates b of K. With pull = 2 the solution is the weighted sum of kernels
    that is nearest to K in the Frobenius norm.
    """
    b = 0.5 * p.pull * p.kernels.coordinates(K)
    if g.ndim == 1:
        return solve_simplex_lsq(p.R, b, g)
    finite = np.isfinite(b).all(axis=1)  # a problem that is not any more keeps its weights: nobody will use them
    g = g.copy()
    g[finite] = solve_simplex_lsqs(p.R, b[finite], g[finite])
    return g


def residual(A: Array, B: Array) -> Number:
    """Return ||A - B||_F, one per problem of a batch."""
    return distance(A, B) if A.ndim == 2 else namespace(A).linalg.matrix_norm(A - B)


def relative_change(new: Array, old: Array) -> Number:
    """Return ||new - old||_F / ||old||_F; 1 if the old one is zero, so that the stopping test does not hold."""
    if new.ndim == 2:
        size = frobenius_norm(old)
        return distance(new, old) / size if size > 0 else 1.0
    xp = namespace(new)
    sizes = xp.linalg.matrix_norm(old)
    one = asarray_like(1.0, sizes)
    return xp.where(sizes == 0, one, residual(new, old) / xp.where(sizes == 0, one, sizes))


def objective(p: LowRankProblem, s: LowRankState) -> float:
    """Return the value of Eq. (3) at Z, K and g."""
    xp = namespace(s.K)
    fit = 0.5 * float(xp.linalg.trace(s.K) - 2 * xp.sum(s.K * s.Z.T) + xp.sum(s.Z * (s.K @ s.Z)))
    value = fit + p.alpha * p.penalty.value(s.Z) + p.beta * NUCLEAR.value(s.K)
    if math.isinf(p.gamma):  # K is the combination; infinity times its rounding error would be no number
        return value
    return value + p.gamma * distance(s.K, p.kernels.combine(s.g)) ** 2


def defect(s: LowRankState, graph: GraphName, *, is_fixed: bool = False) -> Status | None:
    """Say what is wrong with an iterate whose graph J or Z is to be clustered; None if it is sound.

    Where the kernel is fixed, a graph whose penalised copy is zero tends to zero, though Z may not be there.
    """
    if not _finite(s):
        return Status.NON_FINITE
    xp = namespace(s.K)
    S = s.J if graph == "J" else s.Z
    if not bool(xp.any(s.K != 0)):
        return Status.KERNEL_VANISHED
    largest = float(xp.max(S))
    if largest == 0.0 or (is_fixed and not bool(xp.any(s.J != 0))):
        return Status.GRAPH_EMPTY
    edges = xp.count_nonzero(ROUNDING * largest < S) - xp.count_nonzero(xp.linalg.diagonal(S) > ROUNDING * largest)
    return None if int(edges) > 0 or S.shape[0] == 1 else Status.GRAPH_DIAGONAL


def _finite(s: LowRankState) -> bool:
    """Tell whether Z, J, K and W are finite; the residuals' norms say so for free unless their squares overflow."""
    if s.progress is not None and math.isfinite(s.progress.graph_residual + s.progress.kernel_residual):
        return True
    return all(map(is_finite, (s.Z, s.J, s.K, s.W)))


def starting_point(
    kernels: KernelStack, mu: float, *, graph: Array | None = None, kernel_scale: float = 1.0
) -> LowRankState:
    """Return the start of Algorithm 1: uniform weights, K = W = average kernel times `kernel_scale`, Y1 = Y2 = 0.

    J is `graph`, or the identity, with which the first step leaves Z = I and K at the average kernel.
    """
    g = np.full(kernels.n_kernels, 1 / kernels.n_kernels)
    K = kernels.combine(g)
    K *= kernel_scale
    J = identity_like(K) if graph is None else asarray_like(graph + 0.0, K)
    return LowRankState(Z=J, K=K, J=J, W=K + 0.0, g=g, Y1=0 * K, Y2=0 * K, mu=mu)


def average_state(kernels: KernelStack) -> LowRankState:
    """Return the plain average kernel with itself as the graph: what is left when no iterate is sound."""
    g = np.full(kernels.n_kernels, 1 / kernels.n_kernels)
    K = kernels.combine(g)
    graph = nonnegative(K)
    return LowRankState(Z=graph, K=K, J=graph + 0.0, W=K, g=g, Y1=0.0, Y2=0.0, mu=0.0)


def solve(
    problem: LowRankProblem,
    start: Callable[[], LowRankState],
    *,
    graph: GraphName = "J",
    max_iter: int = 200,
    tol: float = 1e-5,
    route: Route = "auto",
    watch: Watch[LowRankState] | None = None,
) -> Solution[LowRankState]:
    """Run Algorithm 1 until the consensus kernel settles; if it stays, until both copies of the graph agree.

    Parameters
    ----------
    problem : LowRankProblem
        Kernels and weights of Eq. (3). If gamma is infinite, beta and pull are not used.
    start : callable
        Returns a fresh :func:`starting_point`; the same one every time.
    graph : {"J", "Z"}, default="J"
        The graph that will be clustered: an iterate in which it joins no two samples is not sound.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-5
        Stop after step 6 at the earliest when ||K - K_before||_F < tol ||K_before||_F, or ||Z - J||_F < tol ||J||_F if
        the kernel stays; never if 0.
    route : Route, default="auto"
        How singular values are thresholded.
    watch : callable, default=None
        ``watch(n, state)`` sees every finite iterate; returning True stops.

    Returns
    -------
    Solution
        Its state is the last sound iterate, or the average kernel and its graph if there was none.
    """
    is_fixed = math.isinf(problem.gamma)
    stepper = GraphStepper if is_fixed else Stepper

    def converged(n: int, s: LowRankState) -> bool:
        if n < MIN_ITER or s.progress is None:
            return False
        if is_fixed:
            return bool(s.progress.graph_residual < tol * (frobenius_norm(s.J) + NOTHING))
        return bool(s.progress.kernel_change < tol)

    with blas_threads(problem.kernels.n_samples):
        return iterate(
            lambda: (stepper(problem, route), start()),
            converged=converged,
            defect=partial(defect, graph=graph, is_fixed=is_fixed),
            fallback=partial(average_state, problem.kernels),
            max_iter=max_iter,
            watch=watch,
        )
