"""Signs of life during a fit: a bar for its iterations, or a spinner if it does not tell them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


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
    if hidden or not sys.stderr.isatty():
        yield None
        return
    bar = () if max_iter is None else (BarColumn(), MofNCompleteColumn())
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *bar, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{name}, starting" if bar else name, total=max_iter)

        def advance(n_iter: int, state: Any) -> None:
            change = state.kernel_change if hasattr(state, "kernel_change") else state.change
            progress.update(task, completed=n_iter, description=f"{name}, change {change:.1e}")

        yield advance
