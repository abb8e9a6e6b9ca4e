"""Signs of life on stderr: a bar on a terminal, lines if they are asked for, or nothing."""

import math
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from time import perf_counter
from typing import Any

import typer

from kernelbraid._machine import format_bytes, peak_bytes
from kernelbraid._version import __version__
from kernelbraid.learning.effort import watched_by

PATIENCE = 5.0  # seconds in which the time that is left follows what is expected anew


@dataclass
class Watch:
    """Is told what goes on, and shows it.

    Parameters
    ----------
    show : callable or None
        ``show(text, done, total)``, the latter None where there is nothing to count; None if nobody would see it.
    """

    show: Callable[[str, float, float | None], None] | None = None
    phases: dict[str, int] = field(default_factory=dict)  # parts of each
    phase: str = ""
    before: int = 0  # parts of the phases that are over
    n_iter: int = 0
    reached: float = 0.0

    def tell(self, text: str, done: float = 0, total: float | None = None) -> None:
        """Hear what is done or decided."""
        if self.show is not None:
            self.show(text, done, total)

    def plan(self, phases: Mapping[str, int]) -> None:
        """Hear of how many parts the phases will be."""
        self.phases = dict(phases)

    def enter(self, phase: str) -> None:
        """Hear that a phase begins."""
        names = list(self.phases)
        self.before = sum(self.phases[name] for name in names[: names.index(phase)])
        self.phase, self.n_iter, self.reached = phase, 0, 0.0
        self._tell_share(phase, 0.0)

    def leave(self) -> None:
        """Hear that it is over."""
        self._tell_share(self.phase, 1.0)
        self.phase = ""

    def reach(self, share: float) -> None:
        """Hear what share of it is done."""
        if self.phase and share > self.reached:
            self._tell_share(self.phase, share)

    def step(self, told: Mapping[str, Any]) -> bool:
        """Hear of a step of an iteration."""
        if not self.phase:
            return False
        self.n_iter += 1
        change = told.get("kernel_change", told.get("change", 0.0))
        text = f"{self.phase}, step {self.n_iter}: change {change:.1e}"
        self._tell_share(text, self.n_iter / self.phases[self.phase])
        return False

    def _tell_share(self, text: str, share: float) -> None:
        self.reached = min(share, 1.0)
        self.tell(text, self.before + self.reached * self.phases[self.phase], sum(self.phases.values()))

    def tell_of_fit(self, model: Any) -> None:
        """Tell what a fit has decided."""
        used = {**model.get_params(deep=False), **getattr(model, "settings_", {})}
        values = (f"{name} {' '.join(str(value).split())}" for name, value in used.items() if value is not None)
        self.tell(f"settings: {', '.join(values)}")
        self.tell(f"fitted, {format_bytes(peak_bytes())} of memory at most")


class TimeLeft:
    """How long work will go on: goes down with the clock, and follows little by little what is expected anew."""

    end, at = 0.0, -math.inf  # when it will be over, as was thought at a time

    def tell(self, now: float, share: float) -> float | None:
        """Return the seconds left when a share is done at a time, in seconds since the beginning; None at first."""
        if share <= 0 or now <= 0:
            return None
        self.end += (now / share - self.end) * min((now - self.at) / PATIENCE, 1.0)
        self.at = now
        return max(self.end - now, 0.0)


@contextmanager
def watching(name: str, *, hidden: bool = False, verbose: bool = False) -> Iterator[Watch]:
    """Yield who is told what goes on; if it is hidden or stderr is no terminal, nothing is shown."""
    if not verbose and (hidden or not sys.stderr.isatty()):
        yield Watch()
        return
    with _lines() if verbose else _bar(name) as show:
        watch = Watch(show)
        try:
            with watched_by(watch):
                yield watch
        finally:
            watch.show = None  # work that is broken off goes on for a moment, and is not to be heard any more


@contextmanager
def _bar(name: str) -> Iterator[Callable[[str, float, float | None], None]]:
    """Yield what moves a bar."""
    from rich import progress as bars
    from rich.console import Console
    from rich.text import Text

    class Left(bars.ProgressColumn):
        """The time that is left."""

        time, began = TimeLeft(), perf_counter()

        def render(self, task: Any) -> Text:
            """Return it in minutes and seconds."""
            left = self.time.tell(perf_counter() - self.began, task.completed / task.total if task.total else 0.0)
            return Text("" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left")

    left = Left()
    columns = (bars.SpinnerColumn(), "{task.description}", bars.BarColumn(), bars.TaskProgressColumn())
    times = (bars.TimeElapsedColumn(), "taken", left)
    with bars.Progress(*columns, *times, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)

        def show(text: str, done: float, total: float | None) -> None:
            if not done:  # something new begins: the bar swings until some of it is done
                left.time, left.began = TimeLeft(), perf_counter()
                progress.tasks[0].total = None
            progress.update(task, description=f"{name}, {text}", completed=done, total=total if done else None)

        yield show


@contextmanager
def _lines() -> Iterator[Callable[[str, float, float | None], None]]:
    """Yield what writes lines with the seconds since it began, after every tenth of work that can be counted."""
    start, last = perf_counter(), ""

    def show(text: str, done: float, total: float | None) -> None:
        nonlocal last
        line = text if total is None else f"{text}: {10 * int(10 * done / (total or 1))} %"
        if line != last:
            typer.echo(f"{perf_counter() - start:8.2f} s  {line}", err=True)
        last = line

    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    show(f"kernelbraid {__version__}, Python {platform.python_version()}, {packages}, {platform.platform()}", 0, None)
    yield show
