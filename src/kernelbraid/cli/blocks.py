"""Samples of every kind as an estimator takes them: scaled, counted as they are read, or read by Dask workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelbraid import Blocks
from kernelbraid._arrays import is_dask
from kernelbraid._dask import open_client
from kernelbraid.cli.ending import BAD_USAGE, Failure
from kernelbraid.cli.views import shape_of
from kernelbraid.cli.watching import Watch
from kernelbraid.datasets import DataError, Stream
from kernelbraid.estimators.each_view import AS_IT_IS, EachView, fit_measured, transform_measured


class Mapped:
    """Blocks of samples, of which a function is taken when they are read."""

    def __init__(self, function: Callable[[Any], Any], blocks: Iterable[Any]) -> None:
        self._function, self._blocks = function, blocks

    def __iter__(self) -> Iterator[Any]:
        """Go through the blocks, from the first one."""
        return map(self._function, iter(self._blocks))


def mapped(function: Callable[[Any], Any], view: Any) -> Any:
    """Return a function of samples: of a matrix, of blocks that are read later, or on the workers of a Dask cluster."""
    if is_dask(view):
        return view.map_blocks(function, dtype=view.dtype, meta=np.empty((0, 0), view.dtype))
    return function(view) if hasattr(view, "shape") else Blocks(Mapped(function, view))


def scaler_of(scale: str, views: Sequence[Any]) -> Any:
    """Return what scales the views, matrices or blocks, each as measured on its samples; rows of NaN do not count."""
    scalers = []
    for view in views:
        scaler: Any = None
        for block in [view] if hasattr(view, "shape") else view:
            # Sparse samples keep their means, and stay sparse.
            new = Normalizer() if scale == "unit" else StandardScaler(with_mean=not sparse.issparse(block))
            scaler = scaler or new
            fit_measured(scaler, block, further=True)
        scalers.append(scaler if hasattr(scaler, "n_features_in_") else AS_IT_IS)
    each = EachView(scalers)
    each.transformers_, each.n_features_in_ = scalers, sum(shape_of(view)[-1] for view in views)
    return each if len(views) > 1 else scalers[0]


def transformed(steps: Sequence[Any], views: Sequence[Any]) -> list[Any]:
    """Return the views as the last step of a pipeline takes them; those in blocks are transformed as they are read."""
    for step in steps:
        each = step.transformers_ if isinstance(step, EachView) else [step]
        if len(each) != len(views):
            told = f"DATA has {len(views)} files, and the {type(step).__name__} of the model takes another number"
            raise Failure(f"{told}; give the files of the fit.")
        views = [mapped(partial(transform_measured, one), view) for one, view in zip(each, views, strict=True)]
    return list(views)


@contextmanager
def samples_of(views: list[Any], watch: Watch, *, times: int = 1, address: str | None = None) -> Iterator[list[Any]]:
    """Yield the views that an estimator takes: matrices, streams, watched as they are read, or Dask arrays of them.

    Parameters
    ----------
    views : list of matrices or Stream
        The samples.
    watch : Watch
        Is told of what was read.
    times : int, default=1
        How often they are gone through.
    address : str or None, default=None
        Of a Dask scheduler whose workers read them, if that is asked for.
    """
    if address is None:
        done = 0

        def count(block: Any) -> Any:
            nonlocal done
            done += block.shape[0]
            watch.tell("reading samples", done, times * shape_of(views[0])[0])
            return block

        # All views are read at the same pace.
        yield [mapped(count, views[0]), *views[1:]] if isinstance(views[0], Stream) else views
        return
    for stream in views:
        if stream.in_memory:
            told = f"{stream.path}: --dask lets workers read .npy and Parquet files; write the samples to such a file."
            raise Failure(told, BAD_USAGE)
    with open_client(address) as client, client.as_current():
        try:
            yield [on_workers(stream) for stream in views]
        except (DataError, OSError) as error:
            raise Failure(f"a Dask worker could not read a file, which all must see: {error}") from None


def on_workers(stream: Stream) -> Any:
    """Return a Dask array of the samples, whose workers read the pieces."""
    import dask
    import dask.array as da

    shared = dask.delayed(replace(stream, path=stream.path.resolve(), ids=None), pure=False, traverse=False)
    shapes = [(n_rows, stream.n_features) for n_rows in stream.sizes]
    return da.concatenate([da.from_delayed(shared.piece(i), one, stream.dtype) for i, one in enumerate(shapes)])
