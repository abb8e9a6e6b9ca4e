"""Many fits of LKG over the same kernels: batched on an accelerator, in parallel processes on a CPU."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config

from kernelbraid._arrays import asarray_like, identity_like, is_on_host, linalg_errors, namespace, to_numpy
from kernelbraid._typing import Array
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.kernels.stacks import KernelStack, Matrix, StoredStack
from kernelbraid.ops.proximal import NUCLEAR, nonnegative
from kernelbraid.solvers import low_rank
from kernelbraid.solvers.iterate import Solution, Status
from kernelbraid.solvers.low_rank import GRAPH_PENALTIES, MIN_ITER, GraphName, LowRankProblem, LowRankState
from kernelbraid.solvers.polar import shrink_batch
from kernelbraid.solvers.simplex_lsq import solve_simplex_lsqs

T = TypeVar("T")

# Problems of this order or smaller are solved together on an accelerator; larger ones fill it by themselves.
LARGEST_BATCHED = 1024
# Numbers in one matrix of all problems of a batch.
BATCH_SIZE = 2**25


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
    then: Callable[[Solution[LowRankState]], T] | None = None,
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
    then : callable, default=None
        Applied to each solution where it was computed; its value is returned instead of the solution. Solutions hold
        six matrices each: reduce them to what is needed.
    graph : {"J", "Z"}, default="J"
        The graph that will be clustered: a fit in which it joins no two samples ends badly.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-5
        Stop when the relative change of the kernel is below; never if 0.
    n_jobs : int, default=None
        Processes on a CPU, each with one thread of linear algebra; one for each core if None.

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
    R = stack.factor()
    options = _Options(graph, max_iter, tol)
    if isinstance(stack, StoredStack) and not is_on_host(stack.like) and stack.n_samples <= LARGEST_BATCHED:
        return _solve_batches(stack, R, settings, options, then)
    if n_jobs == 1 or len(settings) < 2 or not is_on_host(stack.like):
        return [_solve_one(stack, R, setting, options, then) for setting in settings]
    # One thread a process: together they have as many as there are cores.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        tasks = (delayed(_solve_one)(stack, R, setting, options, then) for setting in settings)
        return list(Parallel(n_jobs=-1 if n_jobs is None else n_jobs)(tasks))


@dataclass(frozen=True)
class _Options:
    graph: GraphName
    max_iter: int
    tol: float


def _solve_one(
    kernels: KernelStack, R: Matrix, setting: Setting, options: _Options, then: Callable[[Any], Any] | None
) -> Any:
    solution = low_rank.solve(
        setting.problem(kernels, R),
        lambda: low_rank.starting_point(kernels, setting.mu),
        graph=options.graph,
        max_iter=options.max_iter,
        tol=options.tol,
    )
    return solution if then is None else then(solution)


def _solve_batches(
    kernels: StoredStack,
    R: Matrix,
    settings: Sequence[Setting],
    options: _Options,
    then: Callable[[Any], Any] | None,
) -> list[Any]:
    """Run batches of one penalty each; fits that end badly are done again singly, to find their last sound iterate."""
    results: list[Any] = [None] * len(settings)
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
                    results[i] = solution if then is None else then(solution)
    return results


class _Batch:
    """Algorithm 1 on several problems at once: every matrix has a leading axis for the problem."""

    def __init__(self, kernels: StoredStack, R: Matrix, settings: Sequence[Setting], options: _Options) -> None:
        self.R, self.options = R, options
        self.flat = kernels.flat()
        m, n = kernels.n_kernels, kernels.n_samples
        self.penalty = GRAPH_PENALTIES[settings[0].graph_penalty]
        # What differs between the problems, as columns that broadcast over matrices.
        self.numbers = {
            field.name: np.array([getattr(s, field.name) for s in settings])
            for field in fields(Setting)
            if field.name != "graph_penalty"
        }
        self.found: list[Solution[LowRankState] | None] = [None] * len(settings)
        self.alive = np.arange(len(settings))  # numbers of the problems that still run
        self.g = np.full((len(settings), m), 1 / m)
        self.shape = (n, n)
        self.K = self._combine()
        self.W, self.J = self.K + 0.0, self.K * 0.0 + identity_like(self.K[0, ...])
        self.Z, self.Y1, self.Y2 = self.J, 0.0 * self.K, 0.0 * self.K

    def run(self) -> list[Solution[LowRankState] | None]:
        """Return the solutions; None where the fit ended badly."""
        for n in range(1, self.options.max_iter + 1):
            try:
                change, residual = self._step()
            except linalg_errors():
                return self.found  # one problem spoils a batch: what has not finished is done singly
            broken = ~np.isfinite(change + residual)
            done = ~broken & (n >= MIN_ITER) & (change < self.options.tol)
            last = n == self.options.max_iter
            for at in np.flatnonzero(done | (last & ~broken)):
                self._finish(int(at), n, Status.CONVERGED if done[at] else Status.MAX_ITER)
            if last:
                break
            self._keep(~(done | broken))
            if self.alive.size == 0:
                break
        return self.found

    def _step(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Make one round; return the relative change of K and the sum of both residuals, per problem."""
        xp = namespace(self.K)
        mu, gamma, alpha, beta = (self._column(name) for name in ("mu", "gamma", "alpha", "beta"))
        eye = identity_like(self.K[0, ...])
        before = self.K
        self.Z = nonnegative(xp.linalg.solve(before + mu * eye, before + mu * self.J + self.Y1))  # Eq. (7)
        expressed = self.Z.mT - (eye + self.Z @ self.Z.mT) / 2
        self.K = nonnegative(  # Eq. (8)
            (2 * gamma * self._combine() + mu * self.W + self.Y2 + expressed) / (mu + 2 * gamma)
        )
        D1, D2 = self.Z - self.Y1 / mu, self.K - self.Y2 / mu
        if self.penalty is NUCLEAR:  # both in one call: half as many, twice as large products
            both = shrink_batch(xp.concat([D1, D2]), xp.concat([alpha / mu, beta / mu]))
            J, W = both[: D1.shape[0], ...], both[D1.shape[0] :, ...]
        else:
            J, W = self.penalty.prox(D1, alpha / mu), shrink_batch(D2, beta / mu)
        self.J, self.W = nonnegative(J), nonnegative(W)  # Eqs. (10) or (11), (13)
        self.Y1, self.Y2 = mu * (self.J - D1), mu * (self.W - D2)
        self._update_weights()  # Eq. (14)
        self.numbers["mu"] = self.numbers["mu"] * self.numbers["growth"]
        norms = xp.stack([_norms(self.K - before), _norms(before), _norms(self.Z - self.J) + _norms(self.K - self.W)])
        change, size, residual = to_numpy(norms)
        with np.errstate(all="ignore"):
            return np.where(size > 0, change / size, np.where(np.isfinite(size), 1e300, np.nan)), residual

    def _combine(self) -> Array:
        """Return the weighted sum of the kernels of each problem."""
        xp = namespace(self.flat)
        return xp.reshape(asarray_like(self.g @ self.R.T, self.flat) @ self.flat, (self.g.shape[0], *self.shape))

    def _update_weights(self) -> None:
        xp = namespace(self.K)
        b = to_numpy(xp.reshape(self.K, (self.K.shape[0], -1)) @ self.flat.T).astype(float)
        finite = np.isfinite(b).all(axis=1)
        targets = 0.5 * self.numbers["pull"][finite, None] * b[finite]
        self.g[finite] = solve_simplex_lsqs(self.R, targets, self.g[finite])

    def _column(self, name: str) -> Array:
        return asarray_like(self.numbers[name][:, None, None], self.K)

    def _keep(self, stay: np.ndarray[Any, Any]) -> None:
        """Drop the problems that are over."""
        if stay.all():
            return
        xp = namespace(self.K)
        index = xp.asarray(np.flatnonzero(stay), device=self.K.device)
        for name in ("Z", "K", "J", "W", "Y1", "Y2"):
            setattr(self, name, xp.take(getattr(self, name), index, axis=0))
        self.g, self.alive = self.g[stay], self.alive[stay]
        self.numbers = {name: values[stay] for name, values in self.numbers.items()}

    def _finish(self, at: int, n_iter: int, status: Status) -> None:
        """Publish a problem that is over, unless it ended badly."""
        arrays = {name: getattr(self, name)[at, ...] + 0.0 for name in ("Z", "K", "J", "W", "Y1", "Y2")}
        state = LowRankState(**arrays, g=self.g[at].copy(), mu=float(self.numbers["mu"][at]))
        if low_rank.defect(state, self.options.graph) is None:
            self.found[self.alive[at]] = Solution(state, status, n_iter, n_iter)


def _norms(A: Array) -> Array:
    """Return the Frobenius norm of every matrix of a batch."""
    return namespace(A).linalg.matrix_norm(A)
