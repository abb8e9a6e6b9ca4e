"""What a fit tells about itself: a record of every step, and a warning when it did not end well."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelbraid._arrays import frobenius_norm, quiet_overflow
from kernelbraid.solvers.iterate import Solution, Status
from kernelbraid.solvers.low_rank import LowRankProblem, LowRankState, Progress

# What happened, and what to change. `{...}` are filled from the settings of the fit.
SENTENCES = {
    Status.MAX_ITER: (
        "made max_iter={max_iter} steps and the kernel still changed by {kernel_change:.1e} (tol={tol:g})",
        "Raise max_iter, or mu_growth={mu_growth:g} if the residuals in history_ are flat.",
    ),
    Status.NON_FINITE: (
        "left the finite numbers at step {n_iter}",
        "Raise mu={mu:g} or gamma={gamma:g}.",
    ),
    Status.KERNEL_VANISHED: (
        "ended with a consensus kernel that is zero",
        "Lower beta={beta:g} below the larger of gamma={gamma:g} and mu={mu:g}.",
    ),
    Status.GRAPH_EMPTY: (
        "ended with a graph {graph_from} that is zero",
        "Lower alpha={alpha:g} to well below mu={mu:g}.",
    ),
    Status.GRAPH_DIAGONAL: (
        "ended with a graph {graph_from} that joins no two samples",
        "Lower mu={mu:g}, raise max_iter={max_iter}, use wider kernels, or graph_penalty='frobenius' if it is 'l1'.",
    ),
}
# The same with gamma=math.inf, where the kernel stays and the graph decides.
FIXED_KERNEL = {
    Status.MAX_ITER: (
        "made max_iter={max_iter} steps and the two copies of the graph still differ by {graph_residual:.1e} "
        "(tol={tol:g})",
        "Raise max_iter, or mu_growth={mu_growth:g}.",
    ),
    Status.NON_FINITE: ("left the finite numbers at step {n_iter}", "Scale the kernels to values around 1."),
    Status.KERNEL_VANISHED: (
        "was given kernels whose average is zero",
        "Look for samples of zeros in X, or add kernels for which they are alike.",
    ),
    Status.GRAPH_EMPTY: ("ended with a graph {graph_from} that is zero", "Lower alpha={alpha:g}."),
    Status.GRAPH_DIAGONAL: (
        "ended with a graph {graph_from} that joins no two samples",
        "Use wider kernels, or graph_penalty='frobenius' if it is 'l1'.",
    ),
}
DIVERGED = (
    "diverged on its way: its consensus kernel grew to {size:.0e} times the largest candidate, and the result "
    "means little",
    "Raise mu={mu:g} or gamma={gamma:g}.",
)
# Sound fits stay near the hull of the candidates (ratio about 1); a diverging one passes this at once.
OVERSIZE = 1e3
ENDED_WELL = (Status.CONVERGED, Status.STOPPED)
LAST_ITERATE = (*ENDED_WELL, Status.MAX_ITER)


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

    def columns(self) -> dict[str, np.ndarray]:
        """Return the record as one array a quantity."""
        names = [*Progress.__dataclass_fields__, *(["objective"] if self.objective is not None else [])]
        return {name: np.array([step[name] for step in self.steps]) for name in names}


@dataclass(frozen=True)
class Outcome:
    """How a fit ended, in numbers and words."""

    status: Status
    sound_iter: int
    facts: Mapping[str, Any]  # what the sentences mention: settings, last step, size of K

    @classmethod
    def of(
        cls, solution: Solution[LowRankState], problem: LowRankProblem, history: History, settings: Mapping[str, Any]
    ) -> "Outcome":
        """Gather the facts of a solution."""
        with quiet_overflow():
            largest = float(np.linalg.norm(problem.R, axis=0).max())  # ||H_i||_F
            size = frobenius_norm(solution.state.K) / largest if largest > 0 else 0.0
        last = history.steps[-1] if history.steps else {}
        facts = {"n_iter": solution.n_iter, **last, **settings, "size": size}
        return cls(solution.status, solution.sound_iter, facts)

    def warn(self) -> None:
        """Warn with what happened, what was returned and what to change, unless the fit ended as asked."""
        if self.facts["size"] > OVERSIZE:
            what, remedy = DIVERGED
        elif self.status in ENDED_WELL or (self.status is Status.MAX_ITER and self.facts["tol"] == 0):
            return
        else:
            what, remedy = (FIXED_KERNEL if math.isinf(self.facts["gamma"]) else SENTENCES)[self.status]
        text = f"LKG {what.format(**self.facts)}{self._returned()}. {remedy.format(**self.facts)}"
        warnings.warn(text, ConvergenceWarning, stacklevel=5)

    def _returned(self) -> str:
        if self.status in LAST_ITERATE:
            return ""
        if self.sound_iter == 0:
            return "; no step was sound, so the average kernel was clustered"
        return f"; the result is that of step {self.sound_iter}, the last sound one"


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

    def publish(self, estimator: Any, solution: Solution[Any]) -> None:
        """Set ``objective_``, ``n_iter_`` and ``status_``, and warn if the alternation did not end as asked."""
        estimator.objective_ = np.array([step.objective for step in self.steps])
        estimator.n_iter_, estimator.status_ = solution.n_iter, str(solution.status)
        name = type(estimator).__name__
        if solution.status is Status.NON_FINITE:
            text = f"{name} left the finite numbers at step {solution.n_iter}; the result is the last one before. "
            warnings.warn(text + "Scale the kernels to values around 1.", ConvergenceWarning, stacklevel=4)
        tol = getattr(estimator, "tol", None)
        if solution.status is Status.MAX_ITER and tol != 0:
            aim = "" if tol is None else f" (tol={tol:g})"
            text = f"{name} made max_iter={estimator.max_iter} steps and still changes by {self.steps[-1].change:.1e}"
            warnings.warn(f"{text}{aim}. Raise max_iter.", ConvergenceWarning, stacklevel=4)
