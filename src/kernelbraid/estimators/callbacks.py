"""What a fit tells of its progress, as scikit-learn's callbacks hear it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from kernelbraid.learning.effort import watched_by

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""


class Told:
    """Tells the callbacks of an estimator: a task is the fit, its subtasks are the phases, and theirs the parts.

    Parameters
    ----------
    estimator : estimator
        Has callbacks.
    X : matrix or list
        The samples, for which callbacks may ask.
    only : str, default=None
        A phase that is all the estimator does.
    """

    def __init__(self, estimator: Any, X: Any, only: str | None = None) -> None:
        self.about = {"estimator": estimator, "X": X}
        self.only = only
        self.whole: Any = None
        self.phases: dict[str, Any] = {}
        self.now: Any = None  # the phase that goes on
        self.done = 0  # parts of it

    def plan(self, phases: Mapping[str, int]) -> None:
        """Begin the fit."""
        begin = self.about["estimator"]._init_callback_context
        if self.only is not None:
            self.phases = {self.only: begin(task_name=self.only, max_subtasks=phases[self.only])}
            return
        self.whole = begin(max_subtasks=len(phases))
        for name, parts in phases.items():
            self.phases[name] = self.whole.subcontext(task_name=name, max_subtasks=parts)
        self.whole.call_on_fit_task_begin(**self.about)

    def enter(self, phase: str) -> None:
        """Begin a phase."""
        self.now, self.done = self.phases.get(phase), 0
        if self.now is not None:
            self.now.call_on_fit_task_begin(**self.about)

    def leave(self) -> None:
        """End a phase."""
        if self.now is not None:
            self.now.call_on_fit_task_end(**self.about)
        self.now = None

    def reach(self, share: float) -> None:
        """End as many parts as are done."""
        while self.now is not None and self.done < int(share * self.now.max_subtasks):
            self.step({})

    def step(self, told: Mapping[str, Any]) -> bool:
        """End a part, and return whether it shall be the last."""
        if self.now is None or self.done == self.now.max_subtasks:
            return False
        self.done += 1
        part = self.now.subcontext(task_name="part").call_on_fit_task_begin(**self.about)
        return bool(part.call_on_fit_task_end(**self.about, metadata=dict(told)))

    def finish(self) -> None:
        """End the fit."""
        if self.whole is not None:
            self.whole.call_on_fit_task_end(**self.about)


@contextmanager
def telling_callbacks(heard: Sequence[tuple[Any, str | None]], X: Any) -> Iterator[None]:
    """Tell the callbacks of estimators, and of solvers their one phase, how far a fit has come meanwhile."""
    told = [Told(one, X, only) for one, only in heard]
    with ExitStack() as stack, watched_by(*told):
        for one, _ in heard:
            stack.enter_context(callback_management_context(one))
        yield
        for each in told:
            each.finish()
