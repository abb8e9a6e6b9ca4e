"""Many fits of LKG over the same kernels: batched on an accelerator, in parallel processes on a CPU."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed, parallel_config

from kernelbraid._arrays import asarray_like, device, is_on_host, linalg_errors, namespace, quiet_overflow, to_numpy
from kernelbraid._typing import Array, Host, Matrix, Vector
from kernelbraid.kernels.precomputed import stack_kernels
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

# What is made of a solution where it was computed.
Then: TypeAlias = Callable[[Solution[LowRankState]], Any]

# Problems of this order or smaller are solved together on an accelerator; larger ones fill it by themselves.
LARGEST_BATCHED = 1024
# Numbers in one matrix of all problems of a batch.
BATCH_SIZE = 2**25
MATRICES = ("Z", "K", "J", "W", "Y1", "Y2")  # of a state


@dataclass(frozen=True)
class Setting:
    """The parameters in which the fits of a batch differ.

    Parameters
    ----------
    alpha, beta, gamma, mu : float
        As for :class:`~kernelbraid.LKG`; positive.
    graph_penalty : {"nuclear", "l1", "frobenius"}, default="nuclear"
        As for :class:`~kernelbraid.LKG`.
    growth : float, default=1.1
        Factor of mu after every step, at least 1.
    pull : float, default=2.0
        Factor of Tr(K H_i) in the weights' problem: 2 projects K on the kernels, the paper prints 1/2.
    """

    alpha: float
    beta: float
    gamma: float
    mu: float
    graph_penalty: str = "nuclear"
    growth: float = 1.1
    pull: float = 2.0

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "gamma", "mu", "pull"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 < float(value) < math.inf):
                raise ValueError(f"{name}={value!r} of a setting must be a positive number.")
        if not (isinstance(self.growth, Real) and 1 <= float(self.growth) < math.inf):
            raise ValueError(f"growth={self.growth!r} of a setting must be a number of at least 1.")
        if self.graph_penalty not in GRAPH_PENALTIES:
            raise ValueError(f"graph_penalty={self.graph_penalty!r} is unknown; use one of {sorted(GRAPH_PENALTIES)}.")

    def problem(self, kernels: KernelStack, R: Matrix) -> LowRankProblem:
        """Return the problem that this setting poses."""
        penalty = GRAPH_PENALTIES[self.graph_penalty]
        return LowRankProblem(kernels, R, self.alpha, self.beta, self.gamma, penalty, self.growth, self.pull)


def solve_many(
    kernels: KernelStack | Array,
    settings: Sequence[Setting],
    *,
    then: Then = lambda solution: solution,
    graph: GraphName = "J",
    max_iter: int = 200,
    tol: float = 1e-5,
    n_jobs: int | None = None,
) -> list[Any]:
    """Solve the same kernels under many settings, each result equal to that of its single fit.

    Parameters
    ----------
    kernels : KernelStack or array of shape (n_kernels, n, n)
        Candidate kernels, for example ``stack_bank(X).store()`` or ``build_bank(X)``. Stored on an accelerator, up to
        1024 samples: the fits run as one batch.
    settings : sequence of Setting
        One fit each.
    then : callable, default=identity
        Applied to each solution where it was computed; its value is returned instead of the solution. Solutions hold
        six matrices each: reduce them to what is needed.
    graph : {"J", "Z"}, default="J"
        The graph that will be clustered: a fit in which it joins no two samples ends badly.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-5
        Stop when the relative change of the kernel is below; never if 0.
    n_jobs : int, default=None
        Processes on a CPU, each with one thread of linear algebra; one for each core if None or -1, -2 for all but one.

    Returns
    -------
    list
        Solutions, or the values of `then`, in the order of the settings. Fits that diverge depend on the last digit of
        every number and agree with nothing. ``state.progress`` is known for single fits only.
    """
    if graph not in ("J", "Z"):
        raise ValueError(f"graph={graph!r} is unknown; use 'J' or 'Z'.")
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be at least 1.")
    stack: KernelStack = (
        kernels if hasattr(kernels, "factor") else StoredStack.of(stack_kernels(kernels), overwrite=True)
    )
    for setting in settings:
        if not isinstance(setting, Setting):
            raise ValueError(f"settings holds {setting!r}; give objects of the class Setting.")
    R, options = stack.factor(), _Options(graph, max_iter, tol)
    if isinstance(stack, StoredStack) and not is_on_host(stack.like) and stack.n_samples <= LARGEST_BATCHED:
        return _solve_batches(stack, R, settings, options, then)
    if n_jobs == 1 or len(settings) < 2 or not is_on_host(stack.like):
        return [_solve_one(stack, R, setting, options, then) for setting in settings]
    # One thread per process: together they have as many as there are cores.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        tasks = (delayed(_solve_one)(stack, R, setting, options, then) for setting in settings)
        return list(Parallel(n_jobs=-1 if n_jobs is None else n_jobs)(tasks))


@dataclass(frozen=True)
class _Options:
    graph: GraphName
    max_iter: int
    tol: float


def _solve_one(kernels: KernelStack, R: Matrix, setting: Setting, options: _Options, then: Then) -> Any:
    solution = low_rank.solve(
        setting.problem(kernels, R),
        lambda: low_rank.starting_point(kernels, setting.mu),
        graph=options.graph,
        max_iter=options.max_iter,
        tol=options.tol,
    )
    return then(solution)


def _solve_batches(
    kernels: StoredStack, R: Matrix, settings: Sequence[Setting], options: _Options, then: Then
) -> list[Any]:
    """Run batches of one penalty each; fits that end badly are done again singly, to find their last sound iterate."""
    results: dict[int, Any] = {}  # by the places of the settings
    size = max(1, BATCH_SIZE // kernels.n_samples**2)
    for penalty in GRAPH_PENALTIES:
        members = [i for i, setting in enumerate(settings) if setting.graph_penalty == penalty]
        for first in range(0, len(members), size):
            chosen = members[first : first + size]
            for i, solution in zip(
                chosen, _Batch(kernels, R, [settings[i] for i in chosen], options).run(), strict=True
            ):
                if solution is None:
                    results[i] = _solve_one(kernels, R, settings[i], options, then)
                else:
                    results[i] = then(solution)
    return [results[i] for i in range(len(settings))]


def _pose_together(kernels: StoredStack, R: Matrix, settings: Sequence[Setting]) -> LowRankProblem:
    """Return the problems of settings with the same penalty as one, whose numbers are columns."""
    names = ("alpha", "beta", "gamma", "growth", "pull")
    columns = {name: np.array([getattr(s, name) for s in settings], dtype=float)[:, None, None] for name in names}
    alpha, beta, gamma = (asarray_like(columns[name], kernels.like) for name in names[:3])
    penalty = GRAPH_PENALTIES[settings[0].graph_penalty]
    return LowRankProblem(kernels, R, alpha, beta, gamma, penalty, columns["growth"], columns["pull"][:, :, 0])


def _start_together(kernels: StoredStack, settings: Sequence[Setting]) -> LowRankState:
    """Return the starting points of the single fits, which differ in mu alone."""
    b = len(settings)
    one = low_rank.starting_point(kernels, 0.0)
    xp = namespace(one.K)
    matrices = {name: xp.broadcast_to(getattr(one, name), (b, *one.K.shape)) + 0.0 for name in MATRICES}
    mu = np.array([s.mu for s in settings], dtype=float)[:, None, None]
    return LowRankState(**matrices, g=np.tile(one.g, (b, 1)), mu=mu)


class _Batch:
    """Algorithm 1 on several problems at once: every matrix has a leading axis for the problem."""

    def __init__(self, kernels: StoredStack, R: Matrix, settings: Sequence[Setting], options: _Options) -> None:
        self.kernels, self.R, self.options = kernels, R, options
        self.found: list[Solution[LowRankState] | None] = [None] * len(settings)
        self.settings = list(settings)  # of the problems that still run
        self.places = np.arange(len(settings))  # of their solutions
        self.step = Stepper(_pose_together(kernels, R, settings))
        self.state = _start_together(kernels, settings)

    def run(self) -> list[Solution[LowRankState] | None]:
        """Return the solutions; None where the fit ended badly."""
        with quiet_overflow():
            for n in range(1, self.options.max_iter + 1):
                try:
                    self.state = self.step(self.state)
                except linalg_errors():
                    break  # one problem spoils a batch: what has not finished is done singly
                self._settle(n)
                if not self.settings:
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
        self.settings, self.places = [self.settings[at] for at in kept], self.places[kept]
        if not self.settings:
            return
        xp = namespace(s.K)
        index = xp.asarray(kept, device=device(s.K))
        matrices = {name: xp.take(getattr(s, name), index, axis=0) for name in MATRICES}
        self.state = LowRankState(**matrices, g=s.g[kept], mu=np.asarray(s.mu)[kept])
        self.step = Stepper(_pose_together(self.kernels, self.R, self.settings))

    def _finish(self, at: int, n_iter: int, status: Status) -> None:
        """Publish a problem that is over, unless it ended badly."""
        s = self.state
        matrices = {name: getattr(s, name)[at, ...] + 0.0 for name in MATRICES}
        state = LowRankState(**matrices, g=s.g[at].copy(), mu=float(np.asarray(s.mu)[at, 0, 0]))
        if low_rank.defect(state, self.options.graph) is None:
            self.found[self.places[at]] = Solution(state, status, n_iter, n_iter)
