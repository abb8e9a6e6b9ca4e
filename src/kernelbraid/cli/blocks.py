"""Samples scaled by ``--scale``, and samples read block by block, here or by the workers of a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelbraid import Blocks
from kernelbraid.blocks.client import open_client
from kernelbraid.blocks.dask_parts import is_dask
from kernelbraid.cli.ending import BAD_USAGE, Failure
from kernelbraid.cli.views import FileViews
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


def scalers_of(scale: str, views: Sequence[Any]) -> list[Any]:
    """Return what scales each view, a matrix or blocks, as measured on its samples; rows of NaN do not count."""
    scalers = []
    for view in views:
        scaler: Any = None
        for block in [view] if hasattr(view, "shape") else view:
            # Sparse samples keep their means, and stay sparse.
            new = Normalizer() if scale == "unit" else StandardScaler(with_mean=not sparse.issparse(block))
            scaler = scaler or new
            fit_measured(scaler, block, further=True)
        scalers.append(scaler if hasattr(scaler, "n_features_in_") else AS_IT_IS)
    return scalers


def scaled(scalers: Sequence[Any], views: Sequence[Any]) -> list[Any]:
    """Return the views, scaled; those in blocks are when they are read."""
    return [mapped(partial(transform_measured, one), view) for one, view in zip(scalers, views, strict=True)]


def with_scalers(scalers: Sequence[Any], model: BaseEstimator) -> Pipeline:
    """Return the pipeline that scales new samples in the same way, and hands them to a model of the scaled ones."""
    step = scalers[0]
    if len(scalers) > 1:
        step = EachView([one if one == AS_IT_IS else clone(one) for one in scalers])
        step.transformers_, step.n_features_in_ = list(scalers), int(model.n_features_in_)
    return Pipeline([("scale", step), ("cluster", model)])


def prepared(steps: Sequence[Any], views: Sequence[Any]) -> list[Any]:
    """Return streams as the last step of a pipeline takes them, transformed by those before when they are read."""
    for step in steps:
        each = step.transformers_ if isinstance(step, EachView) else [step]
        if len(each) != len(views):
            told = f"DATA has {len(views)} files, and the {type(step).__name__} of the model takes another number"
            raise Failure(f"{told}; give the files of the fit.")
        views = scaled(each, views)
    return list(views)


@contextmanager
def samples_of(views: FileViews, watch: Watch, *, times: int = 1, address: str | None = None) -> Iterator[list[Any]]:
    """Yield the views that an estimator takes: matrices, streams, watched as they are read, or Dask arrays of them.

    Parameters
    ----------
    views : FileViews
        The samples.
    watch : Watch
        Is told of what was read.
    times : int, default=1
        How often they are gone through.
    address : str or None, default=None
        Of a Dask scheduler whose workers read them, if that is asked for.
    """
    streams = views.data
    if address is None:

        def count(block: Any) -> Any:
            watch.read(block.shape[0], times * views.n_samples)
            return block

        # All views are read at the same pace.
        is_watched = watch.is_seen and isinstance(streams[0], Stream)
        yield [Blocks(Mapped(count, streams[0])), *streams[1:]] if is_watched else streams
        return
    for stream in streams:
        if stream.in_memory:
            raise Failure(
                f"{stream.path}: --dask lets workers read .npy and Parquet files; write the samples to such a file.",
                BAD_USAGE,
            )
    with open_client(address) as client, client.as_current():
        yield [on_workers(stream) for stream in streams]


def on_workers(stream: Stream) -> Any:
    """Return a Dask array of the samples, whose workers read the pieces."""
    import dask
    import dask.array as da

    shared = dask.delayed(replace(stream, path=stream.path.resolve(), ids=None), pure=False, traverse=False)
    pieces = (dask.delayed(read_on_worker, pure=False)(shared, number) for number in range(len(stream.sizes)))
    shapes = ((rows, stream.n_features) for rows in stream.sizes)
    return da.concatenate(
        [da.from_delayed(piece, shape, stream.dtype) for piece, shape in zip(pieces, shapes, strict=True)]
    )


def read_on_worker(stream: Stream, number: int) -> Any:
    """Read a piece, or say on which worker there is no such file."""
    from distributed import get_worker

    if not stream.path.exists():
        where = f"on the Dask worker {get_worker().address} there is no file {stream.path}"
        raise DataError(f"{where}; put it where all workers see it.")
    return stream.piece(number)
