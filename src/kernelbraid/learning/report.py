"""What a fit tells about itself: a record of every step, and a sentence when it did not end well."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from kernelbraid._arrays import frobenius_norm, quiet_overflow
from kernelbraid.kernels import KernelStack
from kernelbraid.learning.progress import step
from kernelbraid.learning.settings import Learning
from kernelbraid.solvers.iterate import Solution, Status
from kernelbraid.solvers.low_rank.step import LowRankState, Progress

# Sound fits stay near the hull of the candidates (ratio about 1); a diverging one passes this at once.
OVERSIZE = 1e3
SCALE = "Scale the kernels to values around 1"


class History:
    """Records every finite step, and tells of it.

    Parameters
    ----------
    objective : callable, default=None
        Value of the objective at a state, recorded when given.
    """

    def __init__(self, objective: Callable[[LowRankState], float] | None = None) -> None:
        self.objective = objective
        self.steps: list[dict[str, Any]] = []

    def __call__(self, n_iter: int, state: LowRankState) -> bool:
        """Record one step, and return whether somebody wants no more."""
        if state.progress is None:
            return False
        row = asdict(state.progress)
        if self.objective is not None:
            row["objective"] = self.objective(state)
        self.steps.append(row)
        return step(row)

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


def complaint(solution: Solution[Any], learning: Learning, last: dict[str, Any], size: float) -> str | None:
    """Return what happened, what was returned and what to change; None if a fit of LKG ended as asked.

    Parameters
    ----------
    solution : Solution
        How it ended.
    learning : Learning
        What was asked for.
    last : dict
        The last step.
    size : float
        Of the kernel, in units of the largest candidate.
    """
    if size > OVERSIZE:
        what = (
            f"diverged on its way: its consensus kernel grew to {size:.0e} times the largest candidate, and the result "
            "means little"
        )
        remedy = f"Raise mu={learning.mu:g} or gamma={learning.gamma:g}"
    elif solution.status in (Status.CONVERGED, Status.STOPPED):
        return None
    elif solution.status is Status.MAX_ITER:
        if learning.tol == 0:
            return None
        what, remedy = _unfinished(learning, last)
    else:
        what, remedy = _unsound(solution, learning)
    return f"LKG {what}{_returned(solution)}. {remedy}."


def _unfinished(learning: Learning, last: dict[str, Any]) -> tuple[str, str]:
    """Return what is not settled after all steps, and what to change."""
    remedy = f"Raise max_iter, or mu_growth={learning.mu_growth:g}"
    if learning.is_kernel_fixed:
        unsettled = f"the two copies of the graph still differ by {last['graph_residual']:.1e}"
    else:
        unsettled = f"the kernel still changed by {last['kernel_change']:.1e}"
        remedy += " if the residuals in its history are flat"
    return f"made max_iter={learning.max_iter} steps and {unsettled} (tol={learning.tol:g})", remedy


def _unsound(solution: Solution[Any], learning: Learning) -> tuple[str, str]:
    """Return how the iterates became useless, and what to change."""
    fixed, mu, gamma = learning.is_kernel_fixed, f"mu={learning.mu:g}", f"gamma={learning.gamma:g}"
    if solution.status is Status.NON_FINITE:
        return f"left the finite numbers at step {solution.n_iter}", SCALE if fixed else f"Raise {mu} or {gamma}"
    if solution.status is Status.KERNEL_VANISHED and fixed:
        remedy = "Look for samples of zeros in X, or add kernels for which they are alike"
        return "was given kernels whose average is zero", remedy
    if solution.status is Status.KERNEL_VANISHED:
        remedy = f"Lower beta={learning.beta:g} below the larger of {gamma} and {mu}"
        return "ended with a consensus kernel that is zero", remedy
    what = f"ended with a graph {learning.graph_from} that"
    if solution.status is Status.GRAPH_EMPTY:
        return f"{what} is zero", f"Lower alpha={learning.alpha:g}{'' if fixed else f' to well below {mu}'}"
    softer = "wider kernels, or graph_penalty='frobenius' if it is 'l1'"
    remedy = f"Use {softer}" if fixed else f"Lower {mu}, raise max_iter={learning.max_iter}, use {softer}"
    return f"{what} joins no two samples", remedy


def _returned(solution: Solution[Any]) -> str:
    if solution.status.is_sound:
        return ""
    if solution.sound_iter == 0:
        return "; no step was sound, so the average kernel was clustered"
    return f"; the result is that of step {solution.sound_iter}, the last sound one"


class StepHistory:
    """Records the objective and the change of every step of an alternation, and tells of it."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    def __call__(self, n_iter: int, state: Any) -> bool:
        """Record one step, and return whether somebody wants no more."""
        self.steps.append(state.progress)
        return step(asdict(state.progress))

    def columns(self) -> dict[str, np.ndarray]:
        """Return the objective after every step."""
        return {"objective": np.array([step.objective for step in self.steps])}

    def complaint(self, name: str, solution: Solution[Any], *, max_iter: int, tol: float | None) -> str | None:
        """Return what happened and what to change; None if the alternation ended as asked."""
        if solution.status is Status.MAX_ITER and tol == 0:
            return None
        aim = "" if tol is None else f" (tol={tol:g})"
        unsettled = f"still changes by {self.steps[-1].change:.1e}{aim}" if self.steps else ""
        return alternation_complaint(name, solution, max_iter=max_iter, unsettled=unsettled)


def alternation_complaint(name: str, solution: Solution[Any], *, max_iter: int, unsettled: str) -> str | None:
    """Return what an estimator tells about an alternation that did not end as asked, as something was `unsettled`."""
    if solution.status is Status.MAX_ITER:
        return f"{name} made max_iter={max_iter} steps and {unsettled}. Raise max_iter."
    if solution.status is Status.NON_FINITE:
        step = solution.n_iter
        return f"{name} left the finite numbers at step {step}; the result is the last one before. {SCALE}."
    return None
