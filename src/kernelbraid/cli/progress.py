"""A progress bar for the iterations of a fit."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def show_progress(max_iter: int, *, hidden: bool) -> Iterator[Callable[[int, Any], None] | None]:
    """Yield a callback for a fit that draws a bar on stderr, or None if nobody would see it."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("building the kernels", total=max_iter)

        def advance(n_iter: int, state: Any) -> None:
            change = f"kernel and graph, change {state.kernel_change:.1e}"
            progress.update(task, completed=n_iter, description=change)

        yield advance
