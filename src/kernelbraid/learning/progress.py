"""How far long work has come, and how much there is: what works tells it, and need not know who listens.

Efforts are milliseconds, about, of one core of 2024. Only their ratios count: they tell how much of the work is done.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias


@dataclass
class Course:
    """Work of which it is known about how much there is.

    Parameters
    ----------
    what : str
        The work, in words that follow "choosing"; or a step that was made.
    total : float
        All of it, in units that take about the same time; infinite where that is not known.
    """

    what: str
    total: float
    done: float = 0.0
    span: tuple[float, float] = (0.0, 0.0)  # of the stretch that is gone through: where it begins, and how long it is

    def reach(self, place: float) -> None:
        """Come to a place, and tell."""
        self.done = min(place, self.total)
        listener = _listener.get()
        if listener is not None:
            listener(self)


#: Is called with the course after every stretch of it, and within long ones.
Listener: TypeAlias = Callable[[Course], None]

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)
_course: ContextVar[Course | None] = ContextVar("_course", default=None)


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Tell somebody how far work has come that is done meanwhile in this thread.

    Parameters
    ----------
    listener : callable or None
        Takes a :class:`Course`; None for nobody.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def on_course(what: str, total: float) -> Iterator[Course]:
    """Begin work, all of which is done in stretches.

    Parameters
    ----------
    what : str
        The work.
    total : float
        All of it.
    """
    course = Course(what, total)
    token = _course.set(course)
    course.reach(0.0)
    try:
        yield course
        course.reach(course.total)
    finally:
        _course.reset(token)


@contextmanager
def stretch(length: float) -> Iterator[None]:
    """Do a part of the work that was begun; without any, nobody is told.

    Parameters
    ----------
    length : float
        How much of it.
    """
    course = _course.get()
    if course is None:
        yield
        return
    start = course.done
    course.span = (start, length)
    course.reach(start)
    yield
    course.reach(start + length)


def within(share: float) -> None:
    """Tell that a share of the stretch is done; in another process, nobody is told.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    """
    course = _course.get()
    if course is not None:
        start, length = course.span
        course.reach(start + share * length)


def expect(more: float) -> None:
    """Correct how much work there is.

    Parameters
    ----------
    more : float
        What comes on top; negative if there is less.
    """
    course = _course.get()
    if course is not None:
        course.total = max(course.total + more, course.done)


def tell_step(n_iter: int, change: float) -> None:
    """Tell that a step of an iteration is done; how many there will be, nobody knows.

    Parameters
    ----------
    n_iter : int
        Its number.
    change : float
        What it changed.
    """
    listener = _listener.get()
    if listener is not None:
        listener(Course(f"step {n_iter}: change {change:.1e}", math.inf))


def factor_effort(n: int) -> float:
    """Return the effort of a graph's coefficients: a kernel of n samples is factorised."""
    return 75.0 * (n / 1000) ** 3


def refine_effort(n: int) -> float:
    """Return the effort of keeping the strongest edges of n samples."""
    return 50.0 * (n / 1000) ** 2


def basis_effort(n: int, largest: int) -> float:
    """Return the effort of the leading eigenvectors of a graph, one per cluster at most."""
    return 1.6 * (n / 1000) ** 2 * largest


def evidence_effort(n: int, k: int, n_graphs: int, n_init: int) -> float:
    """Return the effort of cutting graphs of n samples into k clusters."""
    return (n / 1000) * n_graphs * (8 + 0.6 * k) * (2 + n_init) / 3


def separation_effort(n: int) -> float:
    """Return the effort of cutting one graph of n samples as often as a cloud is."""
    return factor_effort(n) + refine_effort(n) + 60.0 * n / 1000


def cloud_effort(n: int) -> float:
    """Return the effort of drawing as many samples, and of their kernels."""
    return 80.0 * (n / 1000) ** 2
