"""Signs of life during a fit: a bar for its iterations or its settings, or a spinner if it does not tell them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)


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
    with _bar(text, max_iter, counts=max_iter is not None, hidden=hidden) as bar:
        if bar is None:
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
    with _bar(f"{name}, samples read", n_samples, counts=True, hidden=hidden) as bar:
        yield None if bar is None else partial(bar[0].advance, bar[1])


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
    with _bar(f"{name}, starting", None, counts=True, hidden=hidden) as bar:
        if bar is None:
            yield None
            return
        progress, task = bar

        def advance(state: Any) -> None:
            told = f"{name}, Ctrl-C keeps the best"
            progress.update(task, completed=state.done, total=state.total, description=told)

        yield advance


@contextmanager
def _bar(text: str, total: int | None, *, counts: bool, hidden: bool) -> Iterator[tuple[Progress, TaskID] | None]:
    """Draw a bar with counts, or a spinner, on stderr; yield None if nobody would see it."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    columns = (BarColumn(), MofNCompleteColumn()) if counts else ()
    every = (SpinnerColumn(), TextColumn("{task.description}"), *columns, TimeElapsedColumn())
    with Progress(*every, console=Console(stderr=True), transient=True) as progress:
        yield progress, progress.add_task(text, total=total)
