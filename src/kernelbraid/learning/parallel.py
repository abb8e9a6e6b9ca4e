"""The same function for many tasks, in this process or in several."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config

T = TypeVar("T")


def each(function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None) -> Iterator[T]:
    """Yield the results in the order of the tasks, which are made as they are needed.

    Parameters
    ----------
    function : callable
        Known by its name where there are several processes.
    tasks : iterable of tuple
        Its arguments. Large arrays are shared between processes, not copied.
    n_jobs : int, default=None
        Processes, each with one thread of linear algebra; this one alone if None or 1.
    """
    if n_jobs is None or n_jobs == 1:
        for task in tasks:
            yield function(*task)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(*task) for task in tasks)
        try:
            for result in results:  # noqa: UP028 (delegating would close them without the filter below)
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns of tasks that nobody wants any more
                results.close()
