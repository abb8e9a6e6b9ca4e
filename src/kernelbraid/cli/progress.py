"""Signs of life during a fit: a bar for its iterations, or a spinner if it does not tell them.

While the number of clusters is chosen, which takes most of a fit, the bar is that of the choice, with the time left.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from kernelbraid.learning.progress import Course, heard_by

TELLING = 0.5  # seconds after which it can be told how long the rest will take
ALMOST = 0.95  # how far the bar creeps through a part of the work that tells nothing before it is done


@contextmanager
def show_progress(name: str, max_iter: int | None, *, hidden: bool) -> Iterator[Callable[[int, Any], None] | None]:
    """Yield a callback for a fit that draws on stderr, or None if nobody would see it.

    Parameters
    ----------
    name : str
        What is fitted.
    max_iter : int or None
        Length of the bar; None for a spinner, which needs no calls.
    hidden : bool
        Draw nothing, even on a terminal.
    """
    text = name if max_iter is None else f"{name}, starting"
    with _bar(name, text, max_iter, counts=max_iter is not None, hidden=hidden) as bar:
        if bar is None or max_iter is None:
            yield None
            return
        progress, task = bar

        def advance(n_iter: int, state: Any) -> None:
            change = state.kernel_change if hasattr(state, "kernel_change") else state.change
            progress.update(task, completed=n_iter, description=f"{name}, change {change:.1e}")

        yield advance


@contextmanager
def show_blocks(name: str, n_samples: int, *, hidden: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that is told of samples that were read and draws on stderr, or None if nobody would see it.

    Parameters
    ----------
    name : str
        What reads them.
    n_samples : int
        Samples to be read in all.
    hidden : bool
        Draw nothing, even on a terminal.
    """
    with _bar(name, f"{name}, samples read", n_samples, counts=True, hidden=hidden) as bar:
        yield None if bar is None else partial(bar[0].advance, bar[1])


@contextmanager
def _bar(
    name: str, text: str, total: int | None, *, counts: bool, hidden: bool
) -> Iterator[tuple[Progress, TaskID] | None]:
    """Draw a bar with counts, or a spinner, on stderr; yield None if nobody would see it."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), Bar(), Counts(), TimeElapsedColumn(), TimeLeft())
    with Moving(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=total, counts=counts)
        with heard_by(partial(progress.follow, task, name)):
            yield progress, task


class Bar(BarColumn):
    """A bar where there is something to count."""

    def render(self, task: Task) -> Any:
        """Draw it."""
        return super().render(task) if task.fields["counts"] else Text("")


class Counts(MofNCompleteColumn):
    """How much is done: counted, or in per cent."""

    def render(self, task: Task) -> Text:
        """Write it."""
        if not task.fields["counts"]:
            return Text("")
        return Text(f"{task.percentage:3.0f} %") if task.fields.get("is_share") else super().render(task)


class TimeLeft(ProgressColumn):
    """How long the rest will take, if it goes on as it did."""

    max_refresh = 0.5  # seconds between two figures

    def render(self, task: Task) -> Text:
        """Write it."""
        if not task.fields.get("tells_left") or not task.total or not task.completed or (task.elapsed or 0) < TELLING:
            return Text("")
        left = round((task.elapsed or 0) * (task.total - task.completed) / task.completed)
        minutes, seconds = divmod(left, 60)
        return Text(f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left")


class Moving(Progress):
    """Bars, one of which follows work of which it is known about how much there is, and moves between its parts."""

    _course: Course | None = None
    _followed: TaskID | None = None

    def follow(self, instead_of: TaskID, name: str, course: Course) -> None:
        """Show how far work has come in place of another bar, until it is done.

        Parameters
        ----------
        instead_of : TaskID
            That bar.
        name : str
            Who works.
        course : Course
            The work.
        """
        is_done = course.done >= course.total
        if is_done and self._followed is None:
            return
        with self._lock:
            if self._followed is None:
                text, told = f"{name}, choosing {course.what}", {"counts": True, "is_share": True, "tells_left": True}
                self._followed = self.add_task(text, total=course.total, **told)
                self.update(instead_of, visible=False)
                self._begun = monotonic()
            self._course, self._told = course, monotonic()
            self.update(self._followed, completed=course.done, total=course.total)
            if is_done:
                self.remove_task(self._followed)
                self._course = self._followed = None
                self.update(instead_of, visible=True)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Draw the bars; the one that follows work goes on at its pace while a part of that tells nothing."""
        course, followed = self._course, self._followed
        if course is not None and followed is not None and self._told > self._begun:
            start, length = course.span
            pace = course.done / (self._told - self._begun)
            place = min(course.done + pace * (monotonic() - self._told), start + ALMOST * length)
            self.update(followed, completed=max(place, course.done))
        yield from super().get_renderables()
