"""Signs of life on stderr: a bar on a terminal, lines if they are asked for, or nothing."""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from time import perf_counter
from typing import Any

import typer

from kernelbraid._system import format_bytes, peak_bytes
from kernelbraid._version import __version__
from kernelbraid.learning.progress import Course, heard_by

#: Parameters that decide no outcome, or are told elsewhere.
LEFT_OUT = ("callback", "kernels", "kernel", "n_clusters", "n_jobs", "keep_matrices", "record_objective")


class Watch:
    """Is told what goes on, and shows it.

    Parameters
    ----------
    show : callable or None
        ``show(text, done, total)``, the latter None where there is nothing to count; None if nobody would see it.
    """

    def __init__(self, show: Callable[[str, float, float | None], None] | None = None) -> None:
        self._show, self._rows, self.is_seen = show, 0, show is not None

    def tell(self, text: str, done: float = 0, total: float | None = None) -> None:
        """Hear what is done or decided."""
        if self._show is not None:
            self._show(text, done, total)

    def step(self, n_iter: int, state: Any) -> None:
        """Hear of a step of a fit."""
        change = state.kernel_change if hasattr(state, "kernel_change") else state.change
        self.tell(f"step {n_iter}: change {change:.1e}")

    def hear(self, course: Course) -> None:
        """Hear how far work has come of which it is known how much there is."""
        self.tell(f"choosing {course.what}", course.done, course.total)

    def read(self, n_samples: int, total: int) -> None:
        """Hear of samples that were read."""
        self._rows += n_samples
        self.tell("reading samples", self._rows, total)


@contextmanager
def watching(name: str, *, hidden: bool = False, verbose: bool = False) -> Iterator[Watch]:
    """Yield who is told what goes on; if it is hidden or stderr is no terminal, nothing is shown."""
    if verbose:
        watch = Watch(_lines())
    elif hidden or not sys.stderr.isatty():
        watch = Watch()
    else:
        from rich import progress as bars
        from rich.console import Console

        text = (bars.SpinnerColumn(), bars.TextColumn("{task.description}"), bars.BarColumn())
        figures = (bars.TaskProgressColumn(), bars.TimeElapsedColumn(), bars.TimeRemainingColumn())
        with bars.Progress(*text, *figures, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(name, total=None)

            def show(text: str, done: float, total: float | None) -> None:
                is_over = total is not None and done >= total
                told = f"{name}, {text}{' (time taken, time left)' if total and not is_over else ''}"
                progress.update(task, description=told, completed=done, total=None if is_over else total)

            watch = Watch(show)
            with heard_by(watch.hear):
                yield watch
        return
    with heard_by(watch.hear if watch.is_seen else None):
        yield watch


def _lines() -> Callable[[str, float, float | None], None]:
    """Return what writes lines with the seconds since it began, after every tenth of work that can be counted."""
    start, last = perf_counter(), ""

    def show(text: str, done: float, total: float | None) -> None:
        nonlocal last
        line = text if total is None else f"{text}: {10 * int(10 * done / (total or 1))} %"
        if line != last:
            typer.echo(f"{perf_counter() - start:8.2f} s  {line}", err=True)
        last = line

    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    show(f"kernelbraid {__version__}, Python {platform.python_version()}, {packages}, {platform.platform()}", 0, None)
    return show


def tell_of_fit(watch: Watch, model: Any) -> None:
    """Tell what a fit has decided."""
    names, graph = getattr(model, "kernel_names_", None), getattr(model, "graph_", None)
    if names:
        watch.tell(f"kernels: {', '.join(names)}")
    used = {**model.get_params(deep=False), **getattr(model, "settings_", {})}
    told = {name: value for name, value in used.items() if name not in LEFT_OUT and value is not None}
    values = (f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in told.items())
    watch.tell(f"settings: {', '.join(values)}")
    if graph is not None:
        edges = int(graph.nnz if hasattr(graph, "nnz") else (graph != 0).sum()) // 2
        watch.tell(f"graph: {graph.shape[0]} samples, {edges} edges")
    watch.tell(f"fitted, {format_bytes(peak_bytes())} of memory at most")
