"""From candidate kernels to coefficients, by the cheapest solver that gives them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from kernelbraid._arrays import asarray_like, rows_of, to_numpy
from kernelbraid._machine import calm
from kernelbraid._typing import Array
from kernelbraid.kernels import FittedBank, KernelStack
from kernelbraid.learning.extend import Member, Relation
from kernelbraid.learning.outliers import Unexplained
from kernelbraid.learning.report import History, complaint, oversize
from kernelbraid.learning.settings import Learning
from kernelbraid.learning.sources import Candidates
from kernelbraid.solvers.batch import solve_many
from kernelbraid.solvers.iterate import Solution, Status
from kernelbraid.solvers.low_rank import step as low_rank
from kernelbraid.solvers.low_rank.ridge import Expression, solve_ridge
from kernelbraid.solvers.low_rank.step import FIXED, GraphName, LowRankState, Progress

#: New samples whose kernel values are formed at a time: so many that their product with an inverse is a fast one.
AT_A_TIME = 1000
# What the only step of the closed form does.
ONE_STEP: dict[str, Any] = asdict(Progress(1.0, 0.0, 0.0, 0.0, -1, -1, "scale", FIXED))


@dataclass(frozen=True)
class Coefficients:
    """How samples express each other, by what a solver made of their kernels, and how it ended."""

    Z: Array | None = None  # column j expresses sample j by the others; None where several graphs were summed
    weights: np.ndarray | None = None  # of the candidate kernels
    J: Array | None = None  # the copy of Z that carries the penalty; Z itself where there is none
    K: Array | None = None  # consensus kernel, where it was kept
    status: Status = Status.CONVERGED
    judged_by: GraphName = "Z"  # the graph that decides whether an iterate is sound
    n_iter: int = 1
    history: dict[str, np.ndarray] = field(default_factory=dict)  # an array per quantity, an entry per step
    complaint: str | None = None  # what a user should be told

    def named(self, name: GraphName) -> Array:
        """Return the matrix that becomes the graph."""
        return self.J if name == "J" and self.J is not None else self.Z

    def serves(self, name: GraphName) -> bool:
        """Tell whether a matrix can be read out; an unsound fit was cut off for the one that it was judged by."""
        return self.status.is_sound or name == self.judged_by


def express(
    candidates: Candidates,
    learning: Learning,
    *,
    random_state: np.random.RandomState | None = None,
    keep_kernel: bool = False,
) -> Coefficients:
    """Learn how samples express each other, and the consensus kernel if it is not fixed.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels over the samples.
    learning : Learning
        The problem, and when to stop.
    random_state : RandomState, default=None
        Draws the first graph where that is random.
    keep_kernel : bool, default=False
        Whether the kernel is wanted; a fixed one is used up otherwise. A learned one always comes along.

    Returns
    -------
    Coefficients
        Matrices where the candidates live.
    """
    stack = candidates.stack
    if learning.is_closed_form:
        return _closed_form(candidates, learning, keep_kernel)
    problem = learning.problem(stack)
    history = History(partial(low_rank.objective, problem) if learning.record_objective else None)
    with calm(learning.n_jobs):
        solution = low_rank.solve(
            problem,
            _start(stack, learning, random_state),
            graph=learning.graph_from,
            max_iter=learning.max_iter,
            tol=learning.tol,
            route=learning.thresholding,
            watch=history,
        )
    return _learned(solution, candidates, learning, history)


def learn_many(candidates: Candidates, learnings: Sequence[Learning]) -> list[Coefficients]:
    """Learn one graph for each setting over the same kernels: as a batch on an accelerator, else in processes.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels, stored.
    learnings : sequence of Learning
        All of them batched, judged by the same graph and stopped alike.

    Returns
    -------
    list of Coefficients
        In the order of the settings, without a history.
    """
    if not learnings:
        return []
    alike = {(learning.graph_from, learning.max_iter, learning.tol) for learning in learnings}
    ((graph, max_iter, tol),) = alike
    if not all(learning.is_batched for learning in learnings):
        raise ValueError("learn_many learns kernels, from the start of the published code; use express for the others.")
    fits = [(learning.problem(candidates.stack), learning.mu) for learning in learnings]
    solutions = solve_many(fits, graph=graph, max_iter=max_iter, tol=tol)
    return [
        _learned(solution, candidates, learning, None) for solution, learning in zip(solutions, learnings, strict=True)
    ]


def _closed_form(candidates: Candidates, learning: Learning, keep_kernel: bool) -> Coefficients:
    """Learn the graph of the average kernel by one linear system."""
    m = candidates.stack.n_kernels
    keep_kernel = keep_kernel or candidates.is_shared or learning.record_objective
    Z, K, status = solve_ridge(
        candidates.average, learning.alpha, keep_kernel=keep_kernel, counts=candidates.counts, threads=learning.n_jobs
    )
    g, step = np.full(m, 1 / m), {**ONE_STEP, "mu": learning.mu}
    if status is Status.CONVERGED and not learning.record_objective:
        told = {name: np.array([value]) for name, value in step.items()}
        return Coefficients(Z, g, Z, K, judged_by=learning.graph_from, history=told)
    objective = None
    if learning.record_objective:
        objective = partial(low_rank.objective, learning.problem(candidates.stack))
    history = History(objective)
    state = LowRankState(Z, K, Z, K, g, None, None, learning.mu, Progress(**step))
    if status is not Status.NON_FINITE:
        history(1, state)
    return _learned(Solution(state, status, 1, int(status.is_sound)), candidates, learning, history)


def _learned(
    solution: Solution[LowRankState], candidates: Candidates, learning: Learning, history: History | None
) -> Coefficients:
    """Return what users are told of a solution."""
    state = solution.state
    told = None
    if history is not None:
        size = 1.0 if learning.is_kernel_fixed else oversize(candidates.stack, state.K)
        told = complaint(solution, learning, history.last, size)
    return Coefficients(
        Z=state.Z,
        weights=state.g,
        J=state.J,
        K=state.K,
        status=solution.status,
        judged_by=learning.graph_from,
        n_iter=solution.n_iter,
        history={} if history is None else history.columns(),
        complaint=told,
    )


def _start(
    kernels: KernelStack, learning: Learning, random_state: np.random.RandomState | None
) -> Callable[[], LowRankState]:
    """Return a function that makes the starting point anew, the same one every time."""
    graph = None
    if learning.graph_start == "random":
        # Columns of sum 1/2, whatever n is: entries on [0, 1) would make Z Z' outgrow every kernel.
        n = kernels.n_samples
        drawing = np.random.RandomState(0) if random_state is None else random_state
        graph = drawing.random_sample((n, n)) / n
    scale = 1.0 if learning.kernel_start == "average" else 1 / kernels.n_kernels
    return partial(low_rank.starting_point, kernels, learning.mu, graph=graph, kernel_scale=scale)


@dataclass
class PairKernels(Relation):
    """Kernels over all pairs of fitted samples."""

    bank: FittedBank | None  # None for precomputed kernels
    weights: np.ndarray  # of the kernels
    kernel: Array | None  # the consensus kernel, where it cannot be formed again
    counts: np.ndarray | None = None  # how often fitted samples count; None: once
    _inverses: dict[float, Expression] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inverses": {}}

    def samples(self) -> list[Array]:
        """Return the fitted samples as each of its views has them; none of precomputed kernels."""
        return [] if self.bank is None else self.bank.views

    def move(self, place: Callable[[Array], Array]) -> None:
        """Take the kernel to where results are published."""
        self.kernel = None if self.kernel is None else place(self.kernel)

    def consensus(self) -> Array:
        """Return the kernel of the fitted samples."""
        if self.kernel is not None:
            return self.kernel
        assert self.bank is not None  # a precomputed kernel is kept
        return self.bank.within(self.weights)

    def unexplained(self, rows: np.ndarray | None, weight: float) -> Unexplained:
        """Return what is left of the samples of the view when others stand in for them."""
        distances = None if self.bank is None else self.bank.distances()
        return Unexplained.of(self.consensus(), rows, weight, distances=distances)

    def edges_of(self, given: list[Array], member: Member, room: float) -> Iterator[Array]:
        """Yield the edges of new samples (rows) to fitted ones, for each weight of the squared coefficients."""
        blocks = [slice(first, first + AT_A_TIME) for first in range(0, given[0].shape[0], AT_A_TIME)]
        for ridge in member.ridges:
            expression = self._expression(ridge, member, room / len(member.ridges))
            cross = (self.cross([rows_of(A, rows) for A in given]) for rows in blocks)
            found = (expression.edges(asarray_like(K, expression.inverse)) for K in cross)
            yield sparse.vstack([sparse.csr_array(to_numpy(edges)) for edges in found], format="csr")

    def cross(self, given: list[Array]) -> Array:
        """Return values of the consensus kernel between new samples (rows) and fitted ones."""
        if self.bank is not None:
            return self.bank.cross(given, self.weights)
        total: Array = 0.0
        for weight, K in zip(self.weights, given, strict=True):
            total = total + float(weight) * K
        return total

    def _expression(self, ridge: float, member: Member, room: float) -> Expression:
        expression = self._inverses.get(ridge)
        if expression is None:
            K = self.consensus()
            expression = Expression.of(K, ridge, member.n_neighbors, member.edge_weights, self.counts)
            if K.shape[0] ** 2 * 8 <= room:
                self._inverses[ridge] = expression
        return expression
