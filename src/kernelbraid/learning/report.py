"""What a fit tells about itself: a record of every step, weights and an end in words."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from kernelbraid._arrays import frobenius_norm, quiet_overflow
from kernelbraid.kernels import KernelStack, split_name
from kernelbraid.learning.effort import step
from kernelbraid.learning.settings import Learning
from kernelbraid.solvers.iterate import Solution, Status
from kernelbraid.solvers.low_rank.step import Progress

USED = 0.0005  # weights below are rounding: such a kernel is not used
TIE = 0.01  # relative distance to the largest weight within which none matters most
ALIKE = 0.2  # relative distance of all weights to the largest within which all kernels matter alike
NAMED = 3  # kernels that share the largest weight are named up to this number


def describe_weights(names: Sequence[str], weights: Any) -> list[str]:
    """Return what kernel weights say: which kernel matters most, how many are used, and the share of every view.

    Parameters
    ----------
    names : sequence of str
        Names of the kernels, as in ``solution_.names``.
    weights : array of shape (n_kernels,)
        Their weights, not negative, as in ``solution_.g``.

    Returns
    -------
    list of str
        One sentence about the kernels, and one a view where there are several; empty without kernels.

    Examples
    --------
    >>> from kernelbraid.learning.report import describe_weights
    >>> describe_weights(["gaussian s=2", "gaussian s=1", "linear"], [0.61, 0.39, 0.0])
    ['gaussian s=2 matters most (weight 0.61); 2 of 3 kernels are used.']
    """
    values = np.asarray(weights, dtype=float)
    if len(names) != len(values):
        raise ValueError(f"names has {len(names)} entries and weights {len(values)}; give one name a weight.")
    if not len(values):
        return []
    split = [split_name(name) for name in names]
    views = [view for view, _ in split if view is not None]
    if len(views) < len(names):
        return [_kernels(names, values)]
    readable = [f"{kernel} of view {view}" for view, kernel in split]
    return [_kernels(readable, values), *_shares(views, values)]


def _kernels(names: Sequence[str], weights: np.ndarray) -> str:
    """Say which kernels matter most, and how many are used."""
    n_kernels, largest = len(names), float(weights.max())
    if n_kernels == 1:
        return f"{names[0]} is the only kernel."
    n_used = int((weights >= USED).sum())
    if not n_used:
        return f"None of {n_kernels} kernels is used."
    least = float(weights.min())
    if least >= (1 - TIE) * largest:
        return f"{_all(n_kernels)} have the same weight ({largest:.2g})."
    if least >= (1 - ALIKE) * largest:
        return f"{_all(n_kernels)} matter alike (weights {least:.2g} to {largest:.2g})."
    ahead = [name for name, weight in zip(names, weights, strict=True) if weight >= (1 - TIE) * largest]
    used = f"{_all(n_kernels).lower()} are" if n_used == n_kernels else f"{n_used} of {n_kernels} kernels are"
    if n_used == 1:
        used = f"it is the only one of {n_kernels} kernels that is"
    return f"{_lead(ahead, largest)}; {used} used."


def _lead(names: Sequence[str], weight: float) -> str:
    """Name the kernels of largest weight."""
    if len(names) == 1:
        return f"{names[0]} matters most (weight {weight:.2f})"
    if len(names) > NAMED:
        return f"{len(names)} kernels share the largest weight ({weight:.2g} each)"
    return f"{', '.join(names[:-1])} and {names[-1]} matter most (weight {weight:.2f} each)"


def _all(n_kernels: int) -> str:
    return "Both kernels" if n_kernels == 2 else f"All {n_kernels} kernels"


def _shares(views: Sequence[int], weights: np.ndarray) -> list[str]:
    """Say what share of all weight each view has; weights need not sum to one."""
    total = float(weights.sum())
    if total <= 0:
        return []
    shares = dict.fromkeys(views, 0.0)
    for view, weight in zip(views, weights, strict=True):
        shares[view] += float(weight) / total
    return [f"View {view}: {share:.2f} of the weight." for view, share in shares.items()]


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

    def __init__(self, objective: Callable[[Any], float] | None = None) -> None:
        self.objective = objective
        self.steps: list[dict[str, Any]] = []

    def __call__(self, n_iter: int, state: Any) -> bool:
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


class StepHistory(History):
    """Records the objective and the change of every step of an alternation, and tells of it."""

    def columns(self) -> dict[str, np.ndarray]:
        """Return the objective after every step."""
        return {"objective": np.array([step["objective"] for step in self.steps])}

    def complaint(
        self, name: str, solution: Solution[Any], *, max_iter: int, tol: float | None = None, unsettled: str = ""
    ) -> str | None:
        """Return what happened and what to change; None if an alternation ended as asked.

        At the end of all steps, something is `unsettled`: the state itself, where nothing else is said.
        """
        if solution.status is Status.MAX_ITER and tol != 0:
            aim = "" if tol is None else f" (tol={tol:g})"
            still = unsettled or (f"still changes by {self.last['change']:.1e}{aim}" if self.steps else "")
            return f"{name} made max_iter={max_iter} steps and {still}. Raise max_iter."
        if solution.status is Status.NON_FINITE:
            step = solution.n_iter
            return f"{name} left the finite numbers at step {step}; the result is the last one before. {SCALE}."
        return None
