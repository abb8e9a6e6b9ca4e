"""Samples in Dask arrays and data frames: some of them come here, all others are asked about where they are."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelbraid._arrays import is_dask, measured_rows, namespace
from kernelbraid._dask import compute, task
from kernelbraid._machine import calm, keep_freed_memory
from kernelbraid._typing import Array, Host
from kernelbraid.estimators.gathering import checked_block
from kernelbraid.estimators.reading import read_views
from kernelbraid.io.arrays import check_matrix, list_arrays
from kernelbraid.io.samples import Samples as FileSamples
from kernelbraid.io.sources import DataError, Source
from kernelbraid.io.tables import open_parquet, open_table
from kernelbraid.learning.extend import AT_ONCE, NewSamples
from kernelbraid.learning.sources import Samples, Views

ROWS = 50_000  # of a block of a file
#: A function of new samples, which workers apply.
Question = Callable[[NewSamples], Any]


@dataclass(frozen=True)
class Block:
    """What the same rows of all views must be, wherever they are read."""

    number: int
    n_rows: float  # nan if not known
    first_row: int | None  # among all samples; None if not known
    widths: tuple[int, ...]

    def read(self, given: Sequence[Any]) -> list[Array]:
        """Return the views of a block as finite matrices, or say what is wrong with them."""
        several = len(self.widths) > 1
        names = [f"view {view} of X" if several else "X" for view in range(1, len(given) + 1)]
        found = []
        for A, width, name in zip(given, self.widths, names, strict=True):
            what = f"block {self.number} of {name}"
            piece = checked_block(A, name, what, self.first_row, gaps=several)
            if piece.shape[1] != width or not (math.isnan(self.n_rows) or piece.shape[0] == self.n_rows):
                told = f"{'any number of' if math.isnan(self.n_rows) else int(self.n_rows)} rows and {width} features"
                raise ValueError(f"{what} has shape {piece.shape}, and Dask was told {told}; tell it right.")
            found.append(piece)
        rows = [piece.shape[0] for piece in found]
        if len(set(rows)) > 1:
            told = f"block {self.number} has {rows} rows in the views of X"
            raise ValueError(f"{told}; cut all views at the same rows, by rechunk or repartition.")
        return found


def take(block: Block, places: NDArray[np.int64], *given: Any) -> list[Array]:
    """Return some of the rows of a block."""
    return [A[places] for A in block.read(given)]


def ask(block: Block, question: Question, *given: Any) -> Any:
    """Return the answers to a question about the samples of a block, one after the other if they are many."""
    keep_freed_memory()
    views = block.read(given)
    if not (n_rows := views[0].shape[0]):  # a sample that is made up tells what answers look like
        views = [np.ones((1, A.shape[1]), A.dtype) for A in views]
    new = NewSamples([[A] for A in views], [measured_rows(A) for A in views])
    with calm(1):
        found = [question(part) for part in new.in_blocks()]
    answer = found[0] if len(found) == 1 else joined(found)
    return answer if n_rows else tuple(A[:0] for A in answer) if isinstance(answer, tuple) else answer[:0]


def joined(parts: Sequence[Any]) -> Any:
    """Return the answers about parts of samples as one: arrays, sparse ones, or tuples of these."""
    if isinstance(parts[0], tuple):
        return tuple(joined(column) for column in zip(*parts, strict=True))
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else namespace(*parts).concat(list(parts))


@dataclass(frozen=True)
class DaskViews(Samples):
    """Samples in Dask collections, whose rows are cut alike in all views."""

    pieces: list[list[Any]]  # of every block: a delayed matrix for each view
    blocks: list[Block]
    head: Views  # a few samples, by which kernels are known

    @classmethod
    def open(cls, estimator: BaseEstimator, X: Any, *, reset: bool) -> "DaskViews":
        """Take Dask collections; the rows of each block are counted for a fit, if Dask does not know them."""
        given = list(X) if isinstance(X, list | tuple) else [X]
        names = [f"view {view} of X" for view in range(1, len(given) + 1)] if len(given) > 1 else ["X"]
        heads = [_head(view, name) for view, name in zip(given, names, strict=True)]
        views = read_views(estimator, heads if len(given) > 1 else heads[0], reset=reset, gaps=True)
        arrays: list[Any] = []
        for view in given:
            array = view.to_dask_array(lengths=True if reset else None) if hasattr(view, "columns") else view
            array = array.rechunk({1: -1})
            if reset and np.isnan(array.shape[0]):
                array = array.compute_chunk_sizes()
            if arrays and array.shape[0] == arrays[0].shape[0]:  # nan is equal to nothing
                array = array.rechunk({0: arrays[0].chunks[0]})
            arrays.append(array)
        totals, counts = [array.shape[0] for array in arrays], [array.numblocks[0] for array in arrays]
        if not np.isnan(totals).any() and len(set(totals)) > 1:
            raise ValueError(f"the views of X have {totals} rows; give the same samples in the same order.")
        if len(set(counts)) > 1:
            raise ValueError(f"the views of X have {counts} blocks; cut all views at the same rows, by rechunk.")
        sizes = arrays[0].chunks[0]
        if reset and not sum(sizes):
            raise ValueError(f"0 sample(s) (shape=(0, {views[0].shape[1]})) while a minimum of 1 is required.")
        starts = [None if math.isnan(start) else int(start) for start in np.cumsum([0, *sizes[:-1]])]
        widths = tuple(int(array.shape[1]) for array in arrays)
        blocks = [Block(i, size, start, widths) for i, (size, start) in enumerate(zip(sizes, starts, strict=True))]
        delayed = zip(*(array.to_delayed().ravel().tolist() for array in arrays), strict=True)
        return cls(list(map(list, delayed)), blocks, Views(views))

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(sum(block.n_rows for block in self.blocks))

    @property
    def widths(self) -> list[int]:
        """Features of the views."""
        return self.head.widths

    @property
    def like(self) -> Array:
        """Results are here."""
        return self.head.like

    @cached_property
    def measured(self) -> list[NDArray[np.bool_]]:
        """Which samples each view has."""
        if self.n_views == 1:
            return super().measured
        found = compute(self._tasks(_measured))
        return [np.concatenate([part[view] for part in found]) for view in range(self.n_views)]

    def has_rows(self, banks: Sequence[Any]) -> bool:
        """Tell whether rows of these kernels can be formed."""
        return self.head.has_rows(banks)

    def some(self, rows: NDArray[np.int64]) -> Views:
        """Return some of the samples, given in ascending order, here."""
        starts = np.cumsum([0, *(block.n_rows for block in self.blocks)]).astype(np.int64)
        cuts = np.searchsorted(rows, starts)
        wanted = [rows[a:b] - first for a, b, first in zip(cuts[:-1], cuts[1:], starts[:-1], strict=True)]
        each = zip(self.blocks, wanted, self.pieces, strict=True)
        found = compute([task(take, take, block, places, *pieces) for block, places, pieces in each if len(places)])
        return Views([joined([part[view] for part in found]) for view in range(self.n_views)])

    def answers(self, question: Question) -> Iterator[tuple[NDArray[np.int64], Any]]:
        """Yield the samples of every block, and what is said of them."""
        first = 0
        for block, found in zip(self.blocks, compute(self._tasks(question)), strict=True):
            yield np.arange(first, first + int(block.n_rows)), found
            first += int(block.n_rows)

    def later(self, question: Question) -> Array:
        """Return the answers as a Dask array, whose blocks are formed when they are needed."""
        import dask.array as da

        like: Host = ask(replace(self.blocks[0], n_rows=math.nan), question, *self.head.views)
        each = zip(self._tasks(question), self.blocks, strict=True)
        parts = [da.from_delayed(part, (block.n_rows, *like.shape[1:]), like.dtype) for part, block in each]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def _tasks(self, question: Question) -> list[Any]:
        import dask

        shared = dask.delayed(question, pure=False, traverse=False)  # which reaches each worker once
        each = zip(self.blocks, self.pieces, strict=True)
        return [task(ask, question, block, shared, *pieces) for block, pieces in each]


def answers(
    samples: Samples, rows: NDArray[np.int64], question: Question, at_once: int = AT_ONCE
) -> Iterator[tuple[NDArray[np.int64], tuple[Any, ...]]]:
    """Yield some of the rows, given in ascending order, with what is said of them, wherever the samples are."""
    if not isinstance(samples, DaskViews):
        every = NewSamples.of_samples(samples)
        for mine in np.array_split(rows, -(-len(rows) // at_once)):
            yield mine, question(every.some(mine))
        return
    for mine, found in samples.answers(question):
        wanted = np.isin(mine, rows, assume_unique=True)
        yield mine[wanted], tuple(A[wanted] for A in found)


def _measured(new: NewSamples) -> tuple[NDArray[np.bool_], ...]:
    return tuple(new.measured)


def _head(view: Any, name: str) -> Any:
    """Return the first rows of a Dask collection, which say what its samples are."""
    if not is_dask(view):
        raise ValueError(f"{name} is no Dask collection, but others are; give all views as such.")
    told = f"{name} is a Dask {type(view).__name__}"
    if not isinstance(getattr(view, "ndim", None), int) or view.ndim != 2:
        raise ValueError(f"{told}; give a Dask array of two dimensions or a data frame.")
    if not isinstance(view.shape[1], int):
        raise ValueError(f"{told} whose number of features is not known; give it by compute_chunk_sizes.")
    if hasattr(view, "columns"):
        return view._meta_nonempty
    return np.ones((2, view.shape[1]), dtype=view.dtype if view.dtype == np.float32 else np.float64)


def read_on_workers(
    source: Source, *, id_column: str | None, drop: Sequence[str], keep: Sequence[str] | None, gaps: bool
) -> FileSamples:
    """Return samples in a Dask array, whose workers read rows of a .npy file or groups of rows of a Parquet file.

    Parameters
    ----------
    source : Source
        The file.
    id_column, drop, keep, gaps
        As for :func:`~kernelbraid.datasets.read_samples`.
    """
    import dask
    import dask.array as da

    if source.suffix == ".npy":
        if id_column or drop:
            raise DataError(f"{source.path}: an array file has no named columns; --id and --drop are for tables.")
        X, names, ids = list_arrays(source)[""], None, None
        first = check_matrix(source.path, X[:1], gaps=gaps)
        sizes = [min(ROWS, len(X) - start) for start in range(0, len(X), ROWS)]
    else:
        table = open_table(source)
        kept = table.choose(id_column, drop, keep)
        names, first = [table.names[i] for i in kept], next(table.blocks(kept, gaps=gaps))
        at = [] if table.index is None else [table.index]
        ids = [str(name) for frame in table.frames(at) for name in frame[at[0]]] if at else None
        with open_parquet(source) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    read, blocks = dask.delayed(read_block, pure=False), []
    for number, n_rows in enumerate(sizes):
        block = read(source.path.resolve(), names, number, first.dtype)
        blocks.append(da.from_delayed(block, (n_rows, first.shape[1]), first.dtype))
    return FileSamples(da.concatenate(blocks), ids, names)


def read_block(path: Path, names: list[str] | None, number: int, dtype: Any) -> Host:
    """Return a block of rows of a .npy file, or some columns of a group of rows of a Parquet file."""
    if names is None:
        return np.load(path, mmap_mode="r", allow_pickle=False)[number * ROWS :][:ROWS].astype(dtype)
    with open_parquet(Source(path, ".parquet")) as file:
        return file.read_row_group(number, names).to_pandas(ignore_metadata=True)[names].to_numpy(dtype)
