"""LKG: a low-rank consensus kernel and a self-expressive graph, learned together by ADMM."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from kernelbraid._arrays import frobenius_norm, identity_like, is_finite, namespace
from kernelbraid._typing import Array
from kernelbraid.ops.proximal import L1, NUCLEAR, Penalty, nonnegative
from kernelbraid.solvers.iterate import Solution, Status, iterate
from kernelbraid.solvers.simplex_qp import Matrix, Vector
from kernelbraid.solvers.weights import combine, nearest_combination, traces

GRAPH_PENALTIES: dict[str, Penalty] = {"nuclear": NUCLEAR, "l1": L1}
GraphName: TypeAlias = Literal["J", "Z"]

# The published code makes at least this many steps before it looks at its stopping test.
MIN_ITER = 6


@dataclass(frozen=True)
class LowRankProblem:
    """Eq. (3): min 1/2 Tr(K - 2KZ + Z'KZ) + alpha rho(Z) + beta ||K||_* + gamma ||K - sum_i g_i H_i||_F^2.

    Z and K are nonnegative, g is on the simplex.
    """

    H: Array  # candidate kernels, (m, n, n), each symmetric
    M: Matrix  # M_ij = Tr(H_i H_j), (m, m): constant, computed once
    alpha: float  # weight of the graph penalty
    beta: float  # weight of the kernel's nuclear norm
    gamma: float  # weight of the distance between K and the weighted sum
    penalty: Penalty  # rho
    growth: float  # factor of mu after every step
    pull: float  # factor of Tr(K H_i) in Eq. (14): 2 projects K on the kernels, the text prints 1/2


@dataclass(frozen=True)
class Progress:
    """What a step did."""

    mu: float  # weight of the constraints in this step
    kernel_change: float  # ||K - K_before||_F / ||K_before||_F
    graph_residual: float  # ||Z - J||_F
    kernel_residual: float  # ||K - W||_F


@dataclass(frozen=True)
class LowRankState:
    """The variables of Algorithm 1."""

    Z: Array  # graph, (n, n), nonnegative
    K: Array  # consensus kernel, (n, n), nonnegative, not symmetric before convergence
    J: Array  # copy of Z that carries the graph penalty
    W: Array  # copy of K that carries the nuclear norm
    g: Vector  # kernel weights, (m,), on the simplex
    Y1: Array  # prices Z = J
    Y2: Array  # prices K = W
    mu: float  # weight of both constraints in the next step
    progress: Progress | None = None  # None for a starting point


def step(problem: LowRankProblem, s: LowRankState) -> LowRankState:
    """Make one round of Algorithm 1, in its order."""
    Z = update_graph(s)  # Eq. (7)
    K = update_kernel(problem, s, Z)  # Eq. (8)
    J = update_graph_copy(problem, s, Z)  # Eq. (10) or (11)
    W = update_kernel_copy(problem, s, K)  # Eq. (13)
    g = nearest_combination(problem.M, traces(K, problem.H), s.g, problem.pull)  # Eq. (14)
    Y1 = s.Y1 + s.mu * (J - Z)
    Y2 = s.Y2 + s.mu * (W - K)
    progress = Progress(s.mu, relative_change(K, s.K), frobenius_norm(Z - J), frobenius_norm(K - W))
    return LowRankState(Z, K, J, W, g, Y1, Y2, s.mu * problem.growth, progress)


def update_graph(s: LowRankState) -> Array:
    """Minimise 1/2 Tr(K - 2KZ + Z'KZ) + mu/2 ||J - Z + Y1/mu||_F^2 over Z, then clip: Eq. (7)."""
    eye = identity_like(s.K)
    return nonnegative(namespace(s.K).linalg.solve(s.K + s.mu * eye, s.K + s.mu * s.J + s.Y1))


def update_kernel(p: LowRankProblem, s: LowRankState, Z: Array) -> Array:
    """Minimise the terms of Eq. (5) that hold K, with the new Z and the old weights, then clip: Eq. (8)."""
    expressed = Z.T - (identity_like(Z) + Z @ Z.T) / 2
    return nonnegative((2 * p.gamma * combine(s.g, p.H) + s.mu * s.W + s.Y2 + expressed) / (s.mu + 2 * p.gamma))


def update_graph_copy(p: LowRankProblem, s: LowRankState, Z: Array) -> Array:
    """Minimise alpha rho(J) + mu/2 ||J - Z + Y1/mu||_F^2 over J, then clip: Eq. (10) or (11)."""
    return nonnegative(p.penalty.prox(Z - s.Y1 / s.mu, p.alpha / s.mu))


def update_kernel_copy(p: LowRankProblem, s: LowRankState, K: Array) -> Array:
    """Minimise beta ||W||_* + mu/2 ||W - K + Y2/mu||_F^2 over W, then clip: Eq. (13)."""
    return nonnegative(NUCLEAR.prox(K - s.Y2 / s.mu, p.beta / s.mu))


def relative_change(new: Array, old: Array) -> float:
    """Return ||new - old||_F / ||old||_F, infinite if the old one is zero: the stopping test then never holds."""
    size = frobenius_norm(old)
    return frobenius_norm(new - old) / size if size > 0 else math.inf


def objective(p: LowRankProblem, s: LowRankState) -> float:
    """Return the value of Eq. (3) at Z, K and g."""
    xp = namespace(s.K)
    fit = 0.5 * float(xp.linalg.trace(s.K) - 2 * xp.sum(s.K * s.Z.T) + xp.sum(s.Z * (s.K @ s.Z)))
    distance = frobenius_norm(s.K - combine(s.g, p.H))
    return fit + p.alpha * p.penalty.value(s.Z) + p.beta * NUCLEAR.value(s.K) + p.gamma * distance**2


def defect(s: LowRankState, graph: GraphName) -> Status | None:
    """Say what is wrong with an iterate whose graph J or Z is to be clustered; None if it is sound."""
    if not _finite(s):
        return Status.NON_FINITE
    xp = namespace(s.K)
    S = s.J if graph == "J" else s.Z
    if not bool(xp.any(s.K != 0)):
        return Status.KERNEL_VANISHED
    entries = int(xp.count_nonzero(S))
    if entries == 0:
        return Status.GRAPH_EMPTY
    if S.shape[0] > 1 and entries == int(xp.count_nonzero(xp.linalg.diagonal(S))):
        return Status.GRAPH_DIAGONAL
    return None


def _finite(s: LowRankState) -> bool:
    """Tell whether Z, J, K and W are finite; the residuals' norms say so for free unless their squares overflow."""
    if s.progress is not None and math.isfinite(s.progress.graph_residual + s.progress.kernel_residual):
        return True
    return all(map(is_finite, (s.Z, s.J, s.K, s.W)))


def starting_point(H: Array, mu: float, *, graph: Array | None = None, kernel_scale: float = 1.0) -> LowRankState:
    """Return the start of Algorithm 1: uniform weights, K = W = average kernel times `kernel_scale`, Y1 = Y2 = 0.

    J is `graph`, or the identity, with which the first step leaves Z = I and K at the average kernel.
    """
    g = np.full(H.shape[0], 1 / H.shape[0])
    K = combine(g, H) * kernel_scale
    J = identity_like(K) if graph is None else graph
    zero = 0 * K
    return LowRankState(Z=J, K=K, J=J, W=K, g=g, Y1=zero, Y2=zero, mu=mu)


def average_state(H: Array, mu: float) -> LowRankState:
    """Return the plain average kernel with itself as the graph: what is left when no iterate is sound."""
    start = starting_point(H, mu)
    graph = nonnegative(start.K)
    return replace(start, Z=graph, J=graph)


def solve(
    problem: LowRankProblem,
    start: LowRankState,
    *,
    graph: GraphName = "J",
    max_iter: int = 200,
    tol: float = 1e-5,
    watch: Callable[[int, LowRankState], bool | None] | None = None,
) -> Solution[LowRankState]:
    """Run Algorithm 1 until the consensus kernel settles.

    Parameters
    ----------
    problem : LowRankProblem
        Kernels and weights of Eq. (3).
    start : LowRankState
        From :func:`starting_point`.
    graph : {"J", "Z"}, default="J"
        The graph that will be clustered: an iterate in which it joins no two samples is not sound.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-5
        Stop after step 6 at the earliest when ||K - K_before||_F < tol ||K_before||_F; never if 0.
    watch : callable, default=None
        ``watch(n, state)`` sees every finite iterate; returning True stops.

    Returns
    -------
    Solution
        Its state is the last sound iterate, or the average kernel and its graph if there was none.
    """

    def converged(n: int, s: LowRankState) -> bool:
        return n >= MIN_ITER and s.progress is not None and s.progress.kernel_change < tol

    solution = iterate(
        partial(step, problem),
        start,
        converged=converged,
        defect=partial(defect, graph=graph),
        max_iter=max_iter,
        watch=watch,
    )
    if solution.sound_iter > 0:
        return solution
    return replace(solution, state=average_state(problem.H, start.mu))
