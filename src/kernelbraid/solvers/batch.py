"""Many fits of LKG over the same kernels: batched on an accelerator, in parallel processes on a CPU."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed, parallel_config

from kernelbraid._arrays import asarray_like, device, is_on_host, linalg_errors, namespace, quiet_overflow, to_numpy
from kernelbraid._typing import Host, Vector
from kernelbraid.kernels.stacks import KernelStack, StoredStack
from kernelbraid.solvers.iterate import Solution, Status
from kernelbraid.solvers.low_rank import step as low_rank
from kernelbraid.solvers.low_rank.step import (
    GRAPH_PENALTIES,
    MIN_ITER,
    GraphName,
    LowRankProblem,
    LowRankState,
    Stepper,
)

# A problem, and mu in the first step.
Fit: TypeAlias = tuple[LowRankProblem, float]
Found: TypeAlias = Solution[LowRankState]

# Problems of this order or smaller are solved together on an accelerator; larger ones fill it by themselves.
LARGEST_BATCHED = 1024
# Numbers in one matrix of all problems of a batch.
BATCH_SIZE = 2**25
MATRICES = ("Z", "K", "J", "W", "Y1", "Y2")  # of a state


@dataclass(frozen=True)
class _Options:
    graph: GraphName
    max_iter: int
    tol: float


def solve_many(fits: Sequence[Fit], *, graph: GraphName = "J", max_iter: int = 200, tol: float = 1e-5) -> list[Found]:
    """Solve many problems over the same kernels, each result equal to that of its single fit.

    Parameters
    ----------
    fits : sequence of (LowRankProblem, float)
        Problems that have the same kernels and learn them, and mu in the first step of each. If the kernels are stored
        on an accelerator, up to 1024 samples run as batches.
    graph : {"J", "Z"}, default="J"
        The graph that will be clustered: a fit in which it joins no two samples ends badly.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-5
        Stop when the relative change of the kernel is below; never if 0.

    Returns
    -------
    list of Solution
        In the order of the fits. Those that diverge depend on the last digit of every number and agree with nothing.
        ``state.progress`` is known for single fits only.
    """
    kernels, options = fits[0][0].kernels, _Options(graph, max_iter, tol)
    if not is_on_host(kernels.like) and isinstance(kernels, StoredStack) and kernels.n_samples <= LARGEST_BATCHED:
        return _solve_batches(fits, options)
    if len(fits) == 1 or not is_on_host(kernels.like):
        return [_solve_one(fit, options) for fit in fits]
    # One thread per process: together they have as many as there are cores.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return list(Parallel(n_jobs=-1)(delayed(_solve_one)(fit, options) for fit in fits))


def _solve_one(fit: Fit, options: _Options) -> Found:
    problem, mu = fit
    return low_rank.solve(
        problem,
        lambda: low_rank.starting_point(problem.kernels, mu),
        graph=options.graph,
        max_iter=options.max_iter,
        tol=options.tol,
    )


def _solve_batches(fits: Sequence[Fit], options: _Options) -> list[Found]:
    """Run batches of one penalty each; fits that end badly are done again singly, to find their last sound iterate."""
    results: dict[int, Found] = {}  # by the places of the fits
    size = max(1, BATCH_SIZE // fits[0][0].kernels.n_samples ** 2)
    for penalty in GRAPH_PENALTIES.values():
        members = [i for i, (problem, _) in enumerate(fits) if problem.penalty is penalty]
        for chosen in (members[first : first + size] for first in range(0, len(members), size)):
            found = _Batch([fits[i] for i in chosen], options).run()
            for i, solution in zip(chosen, found, strict=True):
                results[i] = _solve_one(fits[i], options) if solution is None else solution
    return [results[i] for i in range(len(fits))]


def _pose_together(problems: Sequence[LowRankProblem]) -> LowRankProblem:
    """Return problems with the same penalty as one, whose numbers are columns."""
    names = ("alpha", "beta", "gamma", "growth", "pull")
    columns = {name: np.array([getattr(p, name) for p in problems], dtype=float)[:, None, None] for name in names}
    there = {name: asarray_like(columns[name], problems[0].kernels.like) for name in names[:3]}
    return replace(problems[0], **there, growth=columns["growth"], pull=columns["pull"][:, :, 0])


def _start_together(kernels: KernelStack, mus: Sequence[float]) -> LowRankState:
    """Return the starting points of the single fits, which differ in mu alone."""
    b = len(mus)
    one = low_rank.starting_point(kernels, 0.0)
    xp = namespace(one.K)
    matrices = {name: xp.broadcast_to(getattr(one, name), (b, *one.K.shape)) + 0.0 for name in MATRICES}
    return LowRankState(**matrices, g=np.tile(one.g, (b, 1)), mu=np.array(mus, dtype=float)[:, None, None])


class _Batch:
    """Algorithm 1 on several problems at once: every matrix has a leading axis for the problem."""

    def __init__(self, fits: Sequence[Fit], options: _Options) -> None:
        self.options = options
        self.found: list[Found | None] = [None] * len(fits)
        self.problems = [problem for problem, _ in fits]  # those that still run
        self.places = np.arange(len(fits))  # of their solutions
        self.step = Stepper(_pose_together(self.problems))
        self.state = _start_together(self.problems[0].kernels, [mu for _, mu in fits])

    def run(self) -> list[Found | None]:
        """Return the solutions; None where the fit ended badly."""
        with quiet_overflow():
            for n in range(1, self.options.max_iter + 1):
                try:
                    self.state = self.step(self.state)
                except linalg_errors():
                    break  # one problem spoils a batch: what has not finished is done singly
                self._settle(n)
                if not self.problems:
                    break
        return self.found

    def _settle(self, n: int) -> None:
        """Publish the problems that are over after step n, and drop those and the broken ones."""
        change, residual = self._progress()
        broken = np.isnan(change) | ~np.isfinite(residual)
        done = ~broken & (n >= MIN_ITER) & (change < self.options.tol)
        last = n == self.options.max_iter
        for at in np.flatnonzero(done | (last & ~broken)):
            self._finish(int(at), n, Status.CONVERGED if done[at] else Status.MAX_ITER)
        if not last:
            self._keep(~(done | broken))

    def _progress(self) -> tuple[Vector, Vector]:
        """Return the relative change of K and the sum of both residuals, per problem; one transfer for both."""
        p = self.state.progress
        assert p is not None  # a step was made
        norms = namespace(self.state.K).stack([p.kernel_change, p.graph_residual + p.kernel_residual])
        change, residual = to_numpy(norms)
        return change, residual

    def _keep(self, stay: Host) -> None:
        """Drop the problems that are over."""
        if stay.all():
            return
        s, kept = self.state, np.flatnonzero(stay)
        self.problems, self.places = [self.problems[at] for at in kept], self.places[kept]
        if not self.problems:
            return
        xp = namespace(s.K)
        index = xp.asarray(kept, device=device(s.K))
        matrices = {name: xp.take(getattr(s, name), index, axis=0) for name in MATRICES}
        self.state = LowRankState(**matrices, g=s.g[kept], mu=np.asarray(s.mu)[kept])
        self.step = Stepper(_pose_together(self.problems))

    def _finish(self, at: int, n_iter: int, status: Status) -> None:
        """Publish a problem that is over, unless it ended badly."""
        s = self.state
        matrices = {name: getattr(s, name)[at, ...] + 0.0 for name in MATRICES}
        state = LowRankState(**matrices, g=s.g[at].copy(), mu=float(np.asarray(s.mu)[at, 0, 0]))
        if low_rank.defect(state, self.options.graph) is None:
            self.found[self.places[at]] = Solution(state, status, n_iter, n_iter)
