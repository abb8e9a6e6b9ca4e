"""The one outer loop: run a step until it converges, and never hand back garbage; and how it ended."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeAlias, TypeVar

from kernelbraid._arrays import linalg_errors, quiet_overflow

State = TypeVar("State")
#: ``watch(n, state)`` sees every finite state; returning True stops the iteration.
Watch: TypeAlias = Callable[[int, State], bool | None]


class Status(StrEnum):
    """How an iteration ended. Sound ones return the last iterate, the others the last sound one."""

    CONVERGED = "converged"  # the stopping test held
    MAX_ITER = "max_iter"  # all allowed steps were made
    STOPPED = "stopped"  # a callback asked to stop
    NON_FINITE = "non_finite"  # the next iterate was not finite
    KERNEL_VANISHED = "kernel_vanished"  # the consensus kernel became zero
    GRAPH_EMPTY = "graph_empty"  # the graph became zero
    GRAPH_DIAGONAL = "graph_diagonal"  # the graph joins no two samples

    @property
    def is_sound(self) -> bool:
        """Whether the last iterate is what is returned."""
        return self in (Status.CONVERGED, Status.MAX_ITER, Status.STOPPED)


@dataclass(frozen=True)
class AlternationProgress:
    """What a step of an alternation achieved."""

    objective: float
    change: float  # of what the alternation watches: weights, or the graph, relatively


class Alternation(Protocol):
    """Where an alternation stands."""

    progress: AlternationProgress | None


Stand = TypeVar("Stand", bound=Alternation)  # a state that is one


@dataclass(frozen=True)
class Solution(Generic[State]):
    """The outcome of an iteration."""

    state: State  # the last sound iterate; the fallback if there was none
    status: Status
    n_iter: int  # steps that were made
    sound_iter: int  # the step that made `state`; 0 for the fallback


def iterate(
    begin: Callable[[], tuple[Callable[[State], State], State]],
    *,
    converged: Callable[[int, State], bool],
    defect: Callable[[State], Status | None],
    fallback: Callable[[], State],
    max_iter: int,
    watch: Watch[State] | None = None,
) -> Solution[State]:
    """Repeat a step until it has converged, and return the last iterate without a defect.

    Parameters
    ----------
    begin : callable
        Returns the step and the starting point, both fresh. A step may reuse the arrays of the state it is given,
        so earlier states are gone; the rare iteration that ends badly is run again up to its last sound state.
    converged : callable
        ``converged(n, state)`` is the stopping test after step n.
    defect : callable
        Says what is wrong with a state, None if it is sound. An unsound state may recover, so the iteration goes
        on; only a state that is not finite ends it.
    fallback : callable
        Makes the state to return when no iterate was sound.
    max_iter : int
        Largest number of steps.
    watch : callable, default=None
        ``watch(n, state)`` sees every finite state; returning True stops the iteration.

    Returns
    -------
    Solution
        If the final state has a defect: the last sound state, or the fallback, and the defect as status.
    """
    status = Status.MAX_ITER
    wrong: Status | None = None
    n = sound_iter = 0
    with quiet_overflow():
        step, state = begin()
        for n in range(1, max_iter + 1):
            try:
                state = step(state)
                wrong = defect(state)
            except linalg_errors():  # a decomposition does not converge on values that are not finite
                wrong = Status.NON_FINITE
            if wrong is Status.NON_FINITE:
                break
            if wrong is None:
                sound_iter = n
            if watch is not None and watch(n, state):
                status = Status.STOPPED
                break
            if converged(n, state):
                status = Status.CONVERGED
                break
        if wrong is not None:
            del state  # its memory is needed
            state = _replay(begin, sound_iter) if sound_iter > 0 else fallback()
    return Solution(state, wrong or status, n, sound_iter)


def _replay(begin: Callable[[], tuple[Callable[[State], State], State]], n_steps: int) -> State:
    """Return the state after some steps from the start."""
    step, state = begin()
    for _ in range(n_steps):
        state = step(state)
    return state


def alternate(
    step: Callable[[Stand], Stand],
    start: Callable[[], Stand],
    *,
    max_iter: int,
    tol: float = 0.0,
    converged: Callable[[int, Stand], bool] | None = None,
    watch: Watch[Stand] | None = None,
) -> Solution[Stand]:
    """Repeat the step of an alternation, which leaves its state as it is, while the objective is finite.

    Parameters
    ----------
    step, start : callable
        The step, and what makes the starting point.
    max_iter : int
        Largest number of steps.
    tol : float, default=0.0
        Change that ends the iteration.
    converged : callable, default=None
        Stopping test in place of `tol`; as for :func:`iterate`.
    watch : callable, default=None
        As for :func:`iterate`.
    """

    def defect(state: Stand) -> Status | None:
        is_sound = state.progress is not None and math.isfinite(state.progress.objective)
        return None if is_sound else Status.NON_FINITE

    def is_settled(_: int, state: Stand) -> bool:
        return state.progress is not None and state.progress.change <= tol

    return iterate(
        lambda: (step, start()),
        converged=converged or is_settled,
        defect=defect,
        fallback=start,
        max_iter=max_iter,
        watch=watch,
    )
