"""How an iteration ended: whether its result is sound, what to tell about it, and what to change."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from kernelbraid._messages import Message

#: Whose words are needed: the consensus kernel is learned, it stays the average, or a comparison method alternates.
Family: TypeAlias = Literal["learned", "fixed", "alternation"]


@dataclass(frozen=True)
class Sentence:
    """What happened, and what to change; templates of messages about the settings and the last step of a fit."""

    what: str
    remedy: str

    def filled(self, **facts: Any) -> "Sentence":
        """Return the sentence with its facts, as messages."""
        return Sentence(Message(self.what, **facts), Message(self.remedy, **facts))


_SCALE = "Scale the kernels to values around 1."
_LEFT = "left the finite numbers at step {n_iter}"
_ZERO_GRAPH = "ended with a graph {graph_from} that is zero"
_NO_EDGE = "ended with a graph {graph_from} that joins no two samples"


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

    @property
    def sentences(self) -> Mapping[Family, Sentence]:
        """What to tell of it; nothing for a family that is missing."""
        return _SENTENCES.get(self, {})


_SENTENCES: dict[Status, dict[Family, Sentence]] = {
    Status.MAX_ITER: {
        "learned": Sentence(
            "made {steps} and the kernel still changed by {kernel_change:.1e} ({set.tol:g})",
            "Raise {name.max_iter}{or_growth_if_flat}.",
        ),
        "fixed": Sentence(
            "made {steps} and the two copies of the graph still differ by {graph_residual:.1e} ({set.tol:g})",
            "Raise {name.max_iter}{or_growth}.",
        ),
        "alternation": Sentence("made {steps} and {unsettled}", "Raise {name.max_iter}."),
    },
    Status.NON_FINITE: {
        "learned": Sentence(_LEFT, "Raise {set.mu:g} or {set.gamma:g}."),
        "fixed": Sentence(_LEFT, _SCALE),
        "alternation": Sentence(f"{_LEFT}; the result is the last one before", _SCALE),
    },
    Status.KERNEL_VANISHED: {
        "learned": Sentence(
            "ended with a consensus kernel that is zero",
            "Lower {set.beta:g} below the larger of {set.gamma:g} and {set.mu:g}.",
        ),
        "fixed": Sentence(
            "was given kernels whose average is zero",
            "Look for samples of zeros in {data}, or add kernels for which they are alike.",
        ),
    },
    Status.GRAPH_EMPTY: {
        "learned": Sentence(_ZERO_GRAPH, "Lower {set.alpha:g} to well below {set.mu:g}."),
        "fixed": Sentence(_ZERO_GRAPH, "Lower {set.alpha:g}."),
    },
    Status.GRAPH_DIAGONAL: {
        "learned": Sentence(_NO_EDGE, "Lower {set.mu:g}, raise {set.max_iter}, use wider kernels, or {other_penalty}."),
        "fixed": Sentence(_NO_EDGE, "Use wider kernels, or {other_penalty}."),
    },
}
#: Of an alternation that is no nearer to an end after all of its steps: the candidates weigh too little.
ADRIFT = Sentence("made {steps} and its graph still changes by {change:.1e}, relatively", "Raise {set.beta:g}.")
#: Of a fit that ended well after its kernel had left all bounds.
DIVERGED = Sentence(
    "diverged on its way: its consensus kernel grew to {size:.0e} times the largest candidate, and the result "
    "means little",
    "Raise {set.mu:g} or {set.gamma:g}.",
)


@dataclass(frozen=True)
class AlternationProgress:
    """What a step of an alternation achieved."""

    objective: float
    change: float  # of what the alternation watches: weights, or the graph, relatively
