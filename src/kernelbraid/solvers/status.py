"""How an iteration ended, and what a step of it achieved."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


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


def defect(state: Alternation) -> Status | None:
    """Return what is wrong with a state after a step: an objective that is not finite."""
    return None if state.progress is not None and math.isfinite(state.progress.objective) else Status.NON_FINITE
