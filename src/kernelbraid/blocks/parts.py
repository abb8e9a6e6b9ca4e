"""Results for blocks of samples: formed when they are needed, kept where they were formed, summed.

What is done with many samples is written once, over :class:`Parts`; threads of this process do it, or a Dask cluster.
"""

import operator
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from kernelbraid._typing import Array, DType

T = TypeVar("T")
S = TypeVar("S")


class Parts(ABC, Generic[T]):
    """One result for each block of samples, in their order."""

    @abstractmethod
    def map(self, function: Callable[[T], S]) -> "Parts[S]":
        """Return the results of a function of each part, which are formed when they are needed."""

    @abstractmethod
    def keep(self) -> "Parts[T]":
        """Form all parts, and hold them where they are."""

    @abstractmethod
    def total(self) -> T:
        """Return the sum of the parts, in their order."""

    @abstractmethod
    def array(self, width: int | None, dtype: DType) -> Array:
        """Return the rows of parts that are arrays as one: matrices of so many columns, or vectors."""


class LocalParts(Parts[T]):
    """Parts that threads of this process form, a few at a time.

    Parameters
    ----------
    items : iterable
        What the parts are formed of; gone through whenever they are needed.
    n_jobs : int or None
        How many are formed at the same time; one if None.
    functions : tuple of callables, default=()
        Applied to each item, one after the other.
    """

    def __init__(
        self, items: Iterable[Any], n_jobs: int | None, functions: tuple[Callable[[Any], Any], ...] = ()
    ) -> None:
        self._items, self._n_jobs, self._functions = items, n_jobs, functions

    def __iter__(self) -> Iterator[T]:
        """Form the parts."""
        return map_in_order(self._form, self._items, self._n_jobs)

    def _form(self, item: Any) -> T:
        result: T = reduce(lambda part, function: function(part), self._functions, item)
        return result

    def map(self, function: Callable[[T], S]) -> "LocalParts[S]":
        """Return the results of a function of each part, which are formed when they are needed."""
        return LocalParts(self._items, self._n_jobs, (*self._functions, function))

    def keep(self) -> "LocalParts[T]":
        """Form all parts, and hold them in memory."""
        return LocalParts(list(self), self._n_jobs)

    def total(self) -> T:
        """Return the sum of the parts, in their order."""
        return reduce(operator.add, self)

    def array(self, width: int | None, dtype: DType) -> np.ndarray:
        """Return the rows of all parts as one array."""
        return np.concatenate(list(self), dtype=dtype)


def map_in_order(function: Callable[[S], T], items: Iterable[S], n_jobs: int | None) -> Iterator[T]:
    """Yield the results for all items in their order, a few of them computed at a time.

    Not joblib's generator: it goes on computing while nobody takes its results, so all of them may lie in memory.
    """
    if n_jobs is None or n_jobs == 1:
        yield from map(function, items)
        return
    left = iter(items)
    with ThreadPoolExecutor(n_jobs) as pool:
        running: deque[Future[T]] = deque(pool.submit(function, item) for item in islice(left, n_jobs))
        while running:
            done = running.popleft().result()
            running.extend(pool.submit(function, item) for item in islice(left, 1))
            yield done
