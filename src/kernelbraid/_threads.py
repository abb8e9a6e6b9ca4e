"""How many threads linear algebra gets: one, unless more are asked for, or help.

Threads of BLAS wait for each other by spinning. On a machine that is busy with something else, a factorisation with two
of them can take tens of times as long as with one, and small matrices gain nothing on an idle one either. So everything
runs with one thread (:func:`calm`), and large factorisations and products get what BLAS had before
(:func:`blas_threads`), if a small product, timed at that moment, is faster with it.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

#: Order of matrices from which several threads are tried at all.
ORDER = 3000
#: Order of the product that is timed, how often, and how many seconds its result stands.
PROBE, ROUNDS, FRESH = 384, 5, 10.0
#: Share of the time with one thread below which several of them help.
HELPFUL = 0.75

_asked: ContextVar[int | None] = ContextVar("_asked", default=None)


class _Pools:
    """The thread pools of all libraries of linear algebra in this process."""

    def __init__(self) -> None:
        controllers = ThreadpoolController().lib_controllers
        self.pools: list[Any] = [pool for pool in controllers if pool.user_api == "blas"]
        self.lock = threading.RLock()
        self.depth = 0
        self.before: list[int] = []  # what they had when the first came
        self.verdict, self.judged = False, -np.inf

    def get(self) -> list[int]:
        """Return how many threads each has."""
        return [int(pool.num_threads) for pool in self.pools]

    def set(self, counts: list[int]) -> None:
        """Change that."""
        for pool, count in zip(self.pools, counts, strict=True):
            if pool.num_threads != count:
                pool.set_num_threads(count)

    @contextlib.contextmanager
    def limited(self, count: int | None) -> Iterator[None]:
        """Give each so many, or as many as it had at first; the last to leave restores that."""
        with self.lock:
            if self.depth == 0:
                self.before = self.get()
            self.depth += 1
            outer = self.get()
            self.set(self.before if count is None else [count] * len(self.pools))
        try:
            yield
        finally:
            with self.lock:
                self.depth -= 1
                self.set(self.before if self.depth == 0 else outer)

    def help_now(self) -> bool:
        """Tell whether as many threads as there were at first are faster than one, by a product that is timed."""
        with self.lock:
            several = self.before if self.depth else self.get()
            if max(several, default=1) == 1:
                return False
            if time.monotonic() - self.judged > FRESH:
                now = self.get()
                self.verdict = self._ratio(several) < HELPFUL
                self.judged = time.monotonic()
                self.set(now)
            return self.verdict

    def _ratio(self, several: list[int]) -> float:
        """Return the median time of a product with several threads, in units of that with one."""
        A = np.ones((PROBE, PROBE))
        times: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(2 * ROUNDS + 2):
            is_shared = bool(turn % 2)
            self.set(several if is_shared else [1] * len(self.pools))
            start = time.perf_counter()
            A @ A
            times[is_shared].append(time.perf_counter() - start)
        alone, shared = (float(np.median(times[key][1:])) for key in (False, True))  # the first ones warm up
        return shared / alone


@functools.cache
def _pools() -> _Pools:
    return _Pools()


def n_workers(n_jobs: int | None) -> int | None:
    """Return how many threads or processes `n_jobs` of an estimator asks for; None stays what it is.

    As in scikit-learn, -1 stands for all cores, -2 for all but one, and so on; there is always one.
    """
    return n_jobs if n_jobs is None or n_jobs > 0 else int(effective_n_jobs(n_jobs))


@contextlib.contextmanager
def calm(asked: int | None = None) -> Iterator[None]:
    """Work with one thread of linear algebra; with those that are asked for, also where :func:`blas_threads` is met.

    Parameters
    ----------
    asked : int, default=None
        Number of threads; if None, one, and more where they help.
    """
    token = _asked.set(asked)
    try:
        with _pools().limited(asked or 1):
            yield
    finally:
        _asked.reset(token)


@contextlib.contextmanager
def blas_threads(n: int, asked: int | None = None) -> Iterator[None]:
    """Set the threads for factorisations and products of matrices of order n: those asked for; several if they help.

    Parameters
    ----------
    n : int
        Order.
    asked : int, default=None
        Number of threads; if None, that of :func:`calm` around it.
    """
    asked = asked or _asked.get()
    pools = _pools()
    if asked is None:
        asked = None if n >= ORDER and pools.help_now() else 1
    with pools.limited(asked):
        yield
