"""How far long work has come, and how much there is: what works tells it, and need not know who listens.

A fit is a row of phases. Of each it is known before how many parts it has: steps of an iteration, which may end early,
or as many as its effort asks for. Efforts are milliseconds, about, of one core of 2024; only their ratios count.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Task = TypeVar("Task")

#: Phases of a fit.
CHOOSE, LEARN, CUT, JUDGE, CLUSTER = (
    "choosing the number of clusters",
    "learning the graph",
    "cutting the graph",
    "judging the clusters",
    "clustering the samples",
)
#: Parts of all phases together that have no steps.
PARTS = 100
#: Effort of a step of the paper's iteration, in units of that of the closed form.
STEP = 3.0


class Watcher(Protocol):
    """Is told how far work has come."""

    def plan(self, phases: Mapping[str, int]) -> None:
        """Hear which phases there will be, and of how many parts each."""

    def enter(self, phase: str) -> None:
        """Hear that a phase begins."""

    def leave(self) -> None:
        """Hear that it is over."""

    def reach(self, share: float) -> None:
        """Hear what share of it is done."""

    def step(self, told: Mapping[str, Any]) -> bool:
        """Hear of a step of an iteration, which is a part of the phase; return whether there shall be no more."""


_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("_watchers", default=())


@contextmanager
def watched_by(*watchers: Watcher) -> Iterator[None]:
    """Tell some more how far work has come that is done meanwhile in this thread."""
    token = _watchers.set((*_watchers.get(), *watchers))
    try:
        yield
    finally:
        _watchers.reset(token)


def plan(phases: Mapping[str, int]) -> None:
    """Tell which phases there will be, in which order, and of how many parts."""
    for watcher in _watchers.get():
        watcher.plan(phases)


def parts_of(efforts: Mapping[str, float], unit: float | None = None) -> dict[str, int]:
    """Return of how many parts phases are that ask for so much effort: of a hundred in all, or of a size."""
    unit = unit or sum(efforts.values()) / PARTS or 1.0
    return {name: max(1, round(effort / unit)) for name, effort in efforts.items()}


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Do a phase that was planned."""
    watchers = _watchers.get()
    for watcher in watchers:
        watcher.enter(name)
    yield
    for watcher in watchers:
        watcher.leave()


@contextmanager
def unheard() -> Iterator[None]:
    """Do what is a part of a phase, and has none of its own to tell of."""
    token = _watchers.set(())
    try:
        yield
    finally:
        _watchers.reset(token)


def reach(share: float) -> None:
    """Tell what share of the phase is done; in another process, nobody is told."""
    for watcher in _watchers.get():
        watcher.reach(share)


def step(told: Mapping[str, Any]) -> bool:
    """Tell of a step, and return whether the iteration is to end."""
    told_to_end = [watcher.step(told) for watcher in _watchers.get()]  # everybody hears of it
    return any(told_to_end)


def counted(
    tasks: Iterable[Task], size: Callable[[Task], int], total: int, span: tuple[float, float] = (0.0, 1.0)
) -> Iterator[Task]:
    """Return tasks of so much work in all, a span of the phase; it is told when they are taken, by whatever thread."""
    return _counted(tasks, size, total, span, _watchers.get())


def _counted(
    tasks: Iterable[Task],
    size: Callable[[Task], int],
    total: int,
    span: tuple[float, float],
    watchers: Sequence[Watcher],
) -> Iterator[Task]:
    done, (first, last) = 0, span
    for task in tasks:
        yield task
        done += size(task)
        for watcher in watchers:
            watcher.reach(first + (last - first) * done / total)


def factor_effort(n: int) -> float:
    """Return the effort of a graph's coefficients: a kernel of n samples is factorised."""
    return 75.0 * (n / 1000) ** 3


def refine_effort(n: int) -> float:
    """Return the effort of keeping the strongest edges of n samples."""
    return 50.0 * (n / 1000) ** 2


def efforts_of_fit(n: int, k: int | None, *, n_graphs: int = 1, in_rows: bool = False) -> dict[str, float]:
    """Return the effort of each phase of a fit of LKG to n samples; k is None where the number is to be found."""
    few = k or 10
    learning = n_graphs * (0.045 * n**1.3 if in_rows else factor_effort(n) + refine_effort(n))
    cutting, searching = 4 * few * n / 1000 + 20, 0.5 * n
    return {LEARN: learning, CHOOSE: learning + searching, CUT: cutting, JUDGE: cutting / 10}
