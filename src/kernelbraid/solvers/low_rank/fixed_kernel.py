"""LKG with an infinite gamma: the kernel stays the average of the candidates, the graph alone is learned, Eq. (2).

With the squared penalty one linear system gives it: see `ridge`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from kernelbraid._arrays import frobenius_norm, namespace
from kernelbraid._machine import blas_threads
from kernelbraid.solvers.iterate import Solution, Status, iterate
from kernelbraid.solvers.low_rank.penalties import Prox
from kernelbraid.solvers.low_rank.step import (
    MIN_ITER,
    GraphName,
    LowRankProblem,
    LowRankState,
    Progress,
    average_state,
    defect,
    residual,
    update_copy,
    update_graph,
)
from kernelbraid.solvers.low_rank.thresholding import Route

FIXED = "fixed"  # in the place of a route: the kernel is not thresholded
NOTHING = 1e-10  # norm of a graph that counts as zero when two of them are compared


@dataclass
class GraphStepper:
    """The steps for Z and J of Algorithm 1; the kernel stays."""

    problem: LowRankProblem
    route: Route = "auto"
    threads: int | None = None  # of BLAS; chosen by the size of the problem if None
    shrink: Prox = field(init=False)

    def __post_init__(self) -> None:
        self.shrink = self.problem.penalty.operator(self.route)

    def __call__(self, s: LowRankState) -> LowRankState:
        """Return the next state."""
        with blas_threads(self.problem.kernels.n_samples, self.threads):
            return self._step(s)

    def _step(self, s: LowRankState) -> LowRankState:
        p, mu = self.problem, s.mu
        Z = update_graph(s.K, s.J, s.Y1, mu)  # Eq. (7), in the memory of J
        J, Y1 = update_copy(Z, s.Y1, mu, partial(self.shrink, t=p.alpha / mu))  # Eq. (10) or (11)
        progress = Progress(mu, 0.0, residual(Z, J), 0.0, self.shrink.rank, -1, self.shrink.used, FIXED)
        return replace(s, Z=Z, J=J, Y1=Y1, mu=mu * p.growth, progress=progress)


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
        As for :func:`~kernelbraid.solvers.low_rank.step.solve`.
    tol : float, default=1e-5
        Stop after step 6 at the earliest when ||Z - J||_F < tol ||J||_F; never if 0.

    Returns
    -------
    Solution
        Its state is the last sound iterate, or the average kernel and its graph if there was none.
    """

    def converged(n: int, s: LowRankState) -> bool:
        if n < MIN_ITER or s.progress is None:
            return False
        return bool(s.progress.graph_residual < tol * (frobenius_norm(s.J) + NOTHING))

    return iterate(
        lambda: (GraphStepper(problem, route, threads), start()),
        converged=converged,
        defect=partial(_defect, graph=graph),
        fallback=partial(average_state, problem.kernels),
        max_iter=max_iter,
        watch=watch,
    )
