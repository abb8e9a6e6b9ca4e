"""Signs of life during a fit: a bar for its iterations or its settings, or a spinner if it does not tell them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
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
    if hidden or not sys.stderr.isatty():
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{name}, samples read", total=n_samples)
        yield partial(progress.advance, task)


@contextmanager
def show_search(name: str, *, hidden: bool) -> Iterator[Callable[[Any], None] | None]:
    """Yield a callback for a search that draws on stderr, or None if nobody would see it.

    Parameters
    ----------
    name : str
        What searches.
    hidden : bool
        Draw nothing, even on a terminal.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{name}, starting", total=None)

        def advance(state: Any) -> None:
            told = f"{name}, Ctrl-C keeps the best"
            progress.update(task, completed=state.done, total=state.total, description=told)

        yield advance
