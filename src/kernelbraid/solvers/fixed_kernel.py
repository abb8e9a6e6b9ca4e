"""LKG with an infinite gamma: the kernel stays the average of the candidates, the graph alone is learned, Eq. (2)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from kernelbraid._arrays import clip_negative, distance, frobenius_norm, namespace
from kernelbraid._linalg import blas_threads, ridge_smoother
from kernelbraid._typing import Array
from kernelbraid.ops.proximal import FROBENIUS, NUCLEAR
from kernelbraid.solvers.iterate import Solution, Status, iterate
from kernelbraid.solvers.low_rank import (
    MIN_ITER,
    GraphName,
    LowRankProblem,
    LowRankState,
    Progress,
    average_state,
    defect,
    update_copy,
    update_graph,
)
from kernelbraid.solvers.thresholding import Route, SingularValueThreshold

FIXED = "fixed"  # in the place of a route: the kernel is not thresholded
NOTHING = 1e-10  # norm of a graph that counts as zero when two of them are compared


def ridge_coefficients(K: Array, alpha: float) -> Array:
    """Return argmin_Z 1/2 Tr(K - 2KZ + Z'KZ) + alpha/2 ||Z||_F^2, with negative entries set to zero."""
    return clip_negative(ridge_smoother(K, alpha))


@dataclass
class GraphStepper:
    """The steps for Z and J of Algorithm 1; with the squared penalty one step is exact."""

    problem: LowRankProblem
    route: Route = "auto"
    threads: int | None = None  # of BLAS; chosen by the size of the problem if None
    shrink: SingularValueThreshold | None = field(init=False)

    def __post_init__(self) -> None:
        self.shrink = SingularValueThreshold(self.route) if self.problem.penalty is NUCLEAR else None

    @property
    def exact(self) -> bool:
        """Whether one step solves the problem."""
        return self.problem.penalty is FROBENIUS

    def __call__(self, s: LowRankState) -> LowRankState:
        """Return the next state."""
        with blas_threads(self.problem.kernels.n_samples, self.threads):
            return self._solve(s) if self.exact else self._step(s)

    def _solve(self, s: LowRankState) -> LowRankState:
        Z = ridge_coefficients(s.K, self.problem.alpha)
        J = Z + 0.0
        return replace(s, Z=Z, J=J, progress=self._progress(s.mu, distance(Z, J)))

    def _step(self, s: LowRankState) -> LowRankState:
        p, mu = self.problem, s.mu
        Z = update_graph(s.K, s.J, s.Y1, mu)  # Eq. (7), in the memory of J
        shrink = p.penalty.prox if self.shrink is None else self.shrink
        J, Y1 = update_copy(Z, s.Y1, mu, lambda A: shrink(A, p.alpha / mu))  # Eq. (10) or (11)
        return replace(s, Z=Z, J=J, Y1=Y1, mu=mu * p.growth, progress=self._progress(mu, distance(Z, J)))

    def _progress(self, mu: float, residual: float) -> Progress:
        rank, used = (-1, self.problem.penalty.name) if self.shrink is None else (self.shrink.rank, self.shrink.used)
        return Progress(mu, 0.0, residual, 0.0, rank, -1, used, FIXED)


def _defect(s: LowRankState, graph: GraphName) -> Status | None:
    """Say what is wrong with an iterate; one whose penalised copy is zero tends to zero, though Z may not be there."""
    wrong = defect(s, graph)
    if wrong is None and not bool(namespace(s.J).any(s.J != 0)):
        return Status.GRAPH_EMPTY
    return wrong


def solve_fixed(
    problem: LowRankProblem,
    start: Callable[[], LowRankState],
    *,
    graph: GraphName = "J",
    max_iter: int = 200,
    tol: float = 1e-5,
    route: Route = "auto",
    threads: int | None = None,
    watch: Callable[[int, LowRankState], bool | None] | None = None,
) -> Solution[LowRankState]:
    """Learn the graph of a kernel that stays as the start has it.

    Parameters
    ----------
    problem : LowRankProblem
        Its `beta`, `gamma` and `pull` are not used.
    start : callable
        Returns a fresh starting point; its K is the kernel.
    graph, max_iter, route, threads, watch
        As for :func:`~kernelbraid.solvers.low_rank.solve`.
    tol : float, default=1e-5
        Stop after step 6 at the earliest when ||Z - J||_F < tol ||J||_F; never if 0. With the squared penalty the first
        step is exact, and the last.

    Returns
    -------
    Solution
        Its state is the last sound iterate, or the average kernel and its graph if there was none.
    """
    stepper = GraphStepper(problem, route, threads)

    def converged(n: int, s: LowRankState) -> bool:
        if stepper.exact:
            return True
        if n < MIN_ITER or s.progress is None:
            return False
        return s.progress.graph_residual < tol * (frobenius_norm(s.J) + NOTHING)

    return iterate(
        lambda: (GraphStepper(problem, route, threads), start()),
        converged=converged,
        defect=partial(_defect, graph=graph),
        fallback=partial(average_state, problem.kernels),
        max_iter=max_iter,
        watch=watch,
    )
