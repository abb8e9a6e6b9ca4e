"""What a fit tells about itself: a record of every step, and a sentence when it did not end well."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from kernelbraid._arrays import frobenius_norm, quiet_overflow
from kernelbraid._messages import Message
from kernelbraid.kernels import KernelStack
from kernelbraid.solvers.iterate import Solution
from kernelbraid.solvers.low_rank.step import LowRankState, Progress
from kernelbraid.solvers.status import ADRIFT, DIVERGED, Sentence, Status

# Sound fits stay near the hull of the candidates (ratio about 1); a diverging one passes this at once.
OVERSIZE = 1e3


class History:
    """Records every finite step, and passes it on to a callback.

    Parameters
    ----------
    callback : callable, default=None
        ``callback(n_iter, progress)``; returning True ends the iteration.
    objective : callable, default=None
        Value of the objective at a state, recorded when given.
    """

    def __init__(
        self,
        callback: Callable[[int, Progress], bool | None] | None = None,
        objective: Callable[[LowRankState], float] | None = None,
    ) -> None:
        self.callback = callback
        self.objective = objective
        self.steps: list[dict[str, Any]] = []

    def __call__(self, n_iter: int, state: LowRankState) -> bool | None:
        """Record one step."""
        if state.progress is None:
            return None
        row = asdict(state.progress)
        if self.objective is not None:
            row["objective"] = self.objective(state)
        self.steps.append(row)
        return self.callback(n_iter, state.progress) if self.callback is not None else None

    @property
    def last(self) -> dict[str, Any]:
        """The last step; empty if there was none."""
        return self.steps[-1] if self.steps else {}

    def columns(self) -> dict[str, np.ndarray]:
        """Return the record as one array per quantity."""
        names = [*Progress.__dataclass_fields__, *(["objective"] if self.objective is not None else [])]
        return {name: np.array([step[name] for step in self.steps]) for name in names}


def oversize(kernels: KernelStack, K: Any) -> float:
    """Return the size of a learned kernel in units of the largest candidate."""
    with quiet_overflow():
        largest = float(np.linalg.norm(kernels.factor(), axis=0).max())  # ||H_i||_F
        return frobenius_norm(K) / largest if largest > 0 else 0.0


def complaint(solution: Solution[Any], facts: Mapping[str, Any], *, is_kernel_fixed: bool) -> Message | None:
    """Return what happened, what was returned and what to change; None if a fit of LKG ended as asked.

    Parameters
    ----------
    solution : Solution
        How it ended.
    facts : mapping
        What the sentences mention: settings, last step, and ``size`` of the kernel.
    is_kernel_fixed : bool
        Whether the kernel was not learned.
    """
    status = solution.status
    sentence: Sentence | None = None
    if facts["size"] > OVERSIZE:
        sentence = DIVERGED
    elif not (status is Status.MAX_ITER and facts["tol"] == 0):
        sentence = status.sentences.get("fixed" if is_kernel_fixed else "learned")
    if sentence is None:
        return None
    told = sentence.filled(n_iter=solution.n_iter, **facts)
    return _complaint("LKG", told, _returned(solution))


def _complaint(name: str, told: Sentence, returned: str = "") -> Message:
    return Message(
        "{class.estimator} {what}{returned}. {remedy}",
        estimator=name,
        what=told.what,
        returned=returned,
        remedy=told.remedy,
    )


def _returned(solution: Solution[Any]) -> str:
    if solution.status.is_sound:
        return ""
    if solution.sound_iter == 0:
        return "; no step was sound, so the average kernel was clustered"
    return f"; the result is that of step {solution.sound_iter}, the last sound one"


class StepHistory:
    """Records the objective and the change of every step of an alternation.

    Parameters
    ----------
    callback : callable, default=None
        ``callback(n_iter, progress)``; returning True ends the iteration.
    """

    def __init__(self, callback: Callable[[int, Any], bool | None] | None = None) -> None:
        self.callback = callback
        self.steps: list[Any] = []

    def __call__(self, n_iter: int, state: Any) -> bool | None:
        """Record one step."""
        self.steps.append(state.progress)
        return self.callback(n_iter, state.progress) if self.callback is not None else None

    def columns(self) -> dict[str, np.ndarray]:
        """Return the objective after every step."""
        return {"objective": np.array([step.objective for step in self.steps])}

    def complaint(self, name: str, solution: Solution[Any], *, max_iter: int, tol: float | None) -> Message | None:
        """Return what happened and what to change; None if the alternation ended as asked."""
        if solution.status is Status.MAX_ITER and tol == 0:
            return None
        aim = "" if tol is None else Message(" ({set.tol:g})", tol=tol)
        unsettled: str = ""
        if self.steps:
            unsettled = Message("still changes by {change:.1e}{aim}", change=self.steps[-1].change, aim=aim)
        return alternation_complaint(
            name, solution.status, n_iter=solution.n_iter, max_iter=max_iter, unsettled=unsettled
        )


def alternation_complaint(name: str, status: Status, **facts: Any) -> Message | None:
    """Return what an estimator tells about an alternation that did not end as asked."""
    sentence = status.sentences.get("alternation")
    if sentence is None:
        return None
    return _complaint(name, sentence.filled(**facts))


def drift_complaint(name: str, **facts: Any) -> Message:
    """Return what an estimator tells where its kernel follows the graph rather than the candidates, and no end is near.

    Parameters
    ----------
    name : str
        Of the estimator.
    **facts
        `max_iter`, `change` of the last step and `beta`.
    """
    return _complaint(name, ADRIFT.filled(**facts))
