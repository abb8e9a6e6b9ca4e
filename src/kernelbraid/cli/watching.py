"""Signs of life on stderr: a bar on a terminal, lines if they are asked for, or nothing."""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

import typer

from kernelbraid._system import format_bytes, peak_bytes
from kernelbraid._version import __version__
from kernelbraid.learning.progress import heard_by


@dataclass
class Watch:
    """Is told what goes on, and shows it.

    Parameters
    ----------
    show : callable or None
        ``show(text, done, total)``, the latter None where there is nothing to count; None if nobody would see it.
    """

    show: Callable[[str, float, float | None], None] | None = None

    def tell(self, text: str, done: float = 0, total: float | None = None) -> None:
        """Hear what is done or decided."""
        if self.show is not None:
            self.show(text, done, total)

    def step(self, n_iter: int, state: Any) -> None:
        """Hear of a step of a fit."""
        self.tell(f"step {n_iter}: change {getattr(state, 'kernel_change', getattr(state, 'change', 0.0)):.1e}")

    def tell_of_fit(self, model: Any) -> None:
        """Tell what a fit has decided."""
        used = {**model.get_params(deep=False), **getattr(model, "settings_", {})}
        values = (f"{name} {' '.join(str(value).split())}" for name, value in used.items() if value is not None)
        self.tell(f"settings: {', '.join(values)}")
        self.tell(f"fitted, {format_bytes(peak_bytes())} of memory at most")


@contextmanager
def watching(name: str, *, hidden: bool = False, verbose: bool = False) -> Iterator[Watch]:
    """Yield who is told what goes on; if it is hidden or stderr is no terminal, nothing is shown."""
    if not verbose and (hidden or not sys.stderr.isatty()):
        yield Watch()
        return
    with _lines() if verbose else _bar(name) as show:
        watch = Watch(show)
        try:
            with heard_by(lambda course: watch.tell(f"choosing {course.what}", course.done, course.total)):
                yield watch
        finally:
            watch.show = None  # work that is broken off goes on for a moment, and is not to be heard any more


@contextmanager
def _bar(name: str) -> Iterator[Callable[[str, float, float | None], None]]:
    """Yield what moves a bar."""
    from rich import progress as bars
    from rich.console import Console

    text = ("{task.description}", bars.BarColumn(), bars.TaskProgressColumn())
    times = (bars.TimeElapsedColumn(), "taken,", bars.TimeRemainingColumn(), "left")
    with bars.Progress(bars.SpinnerColumn(), *text, *times, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)

        def show(text: str, done: float, total: float | None) -> None:
            progress.update(task, description=f"{name}, {text}", completed=done, total=total)

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
