"""Parts of a Dask collection: formed by its workers, which keep them; only sums come here."""

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import reduce
from typing import Any, TypeVar
from uuid import uuid4

from kernelbraid._typing import Array
from kernelbraid.blocks.parts import Parts

T = TypeVar("T")
S = TypeVar("S")

# Parts that one task sums up: few enough for a worker's memory, many enough that the tree is low.
FAN_IN = 8
LOST = "the Dask cluster was lost before the work was done; start it again, then fit again."


class DaskError(Exception):
    """A Dask cluster cannot be used; the text says why and what to do."""


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")


class DaskParts(Parts[T]):
    """Parts that a Dask cluster forms, or the threads of this process if there is no client of a cluster.

    Sums are trees whose shape is that of the blocks, so that a result does not depend on which worker was first, or on
    one that died: Dask forms anew what was lost with it.

    Parameters
    ----------
    blocks : sequence of dask.delayed.Delayed
        What the parts are formed of.
    sizes : sequence of int or nan
        Rows of each block; nan where they are not known.
    first : sequence of callables, default=None
        Applied to each block before anything else, one for each.
    functions : tuple of callables, default=()
        Applied to each block, one after the other, in one task.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        sizes: Sequence[float],
        first: Sequence[Callable[[Any], Any]] | None = None,
        functions: tuple[Callable[[Any], Any], ...] = (),
    ) -> None:
        self._blocks, self.sizes, self._first, self._functions = list(blocks), list(sizes), first, functions

    def map(self, function: Callable[[T], S]) -> "DaskParts[S]":
        """Return the results of a function of each part, which are formed when they are needed."""
        return DaskParts(self._blocks, self.sizes, self._first, (*self._functions, function))

    def tasks(self) -> list[Any]:
        """Return the calls that form the parts."""
        import dask

        if self._first is None and not self._functions:
            return self._blocks
        # A function reaches each worker once. It is in the graph: what a client scatters is lost with its worker.
        shared = [dask.delayed(function, pure=False, traverse=False) for function in self._functions]
        first: list[Any] = [None] * len(self._blocks) if self._first is None else list(self._first)
        name = (self._functions or first)[-1]
        return [task(apply, name, block, start, *shared) for block, start in zip(self._blocks, first, strict=True)]

    def keep(self) -> "DaskParts[T]":
        """Let the workers form all parts, and hold them."""
        import dask

        with _large_graphs():
            return DaskParts(dask.persist(*self.tasks()), self.sizes)

    def total(self) -> T:
        """Return the sum of the parts, in their order."""
        level = self.tasks()
        while len(level) > 1:
            level = [task(add, add, level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
        (result,) = compute(level)
        return result

    def array(self, width: int | None, dtype: Any) -> Array:
        """Return the rows of all parts as one Dask array."""
        import dask.array as da

        tail = () if width is None else (width,)
        blocks = [
            da.from_delayed(part, shape=(rows, *tail), dtype=dtype)
            for part, rows in zip(self.tasks(), self.sizes, strict=True)
        ]
        return da.concatenate(blocks, allow_unknown_chunksizes=True)


def task(function: Callable[..., Any], named_after: Any, *arguments: Any) -> Any:
    """Return a call that a worker makes later; a dashboard shows it by the name of a function."""
    import dask

    name = getattr(named_after, "__qualname__", type(named_after).__name__).strip("_").lower()
    return dask.delayed(function, pure=False)(*arguments, dask_key_name=f"{name}-{uuid4()}")


def compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Return the results of calls, or say in a sentence that the cluster was lost."""
    import dask

    with in_words(), _large_graphs():
        return tuple(dask.compute(*tasks))


def _large_graphs() -> AbstractContextManager[Any]:
    """Let graphs be large: landmarks and their kernels travel with them, once."""
    import dask

    if "distributed" not in sys.modules:  # no client then, and no settings of its own to be changed
        return nullcontext()
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})


@contextmanager
def in_words() -> Iterator[None]:
    """Turn what Dask raises when workers or the scheduler are lost into a sentence."""
    try:
        yield
    except (ConnectionError, CancelledError):
        raise DaskError(LOST) from None
    except Exception as error:
        # Classes of distributed, which need not be installed for Dask's threads.
        if type(error).__name__ == "KilledWorker":
            deaths = getattr(error, "allowed_failures", 0) + 1
            raise DaskError(
                f"the Dask workers died again and again with the same block ({deaths} times); see their logs, and give "
                "them more memory or smaller blocks."
            ) from None
        if type(error).__name__ == "CommClosedError":
            raise DaskError(LOST) from None
        raise


def apply(block: Any, first: Callable[[Any], Any] | None, *functions: Callable[[Any], Any]) -> Any:
    """Form a part of a block."""
    start = block if first is None else first(block)
    return reduce(lambda part, function: function(part), functions, start)


def add(parts: Sequence[T]) -> T:
    """Return the sum of parts."""
    return reduce(operator.add, parts)
