"""Samples in a Dask array or data frame: checked and sampled where their blocks are."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names

from kernelbraid._typing import Array
from kernelbraid.blocks.dask_parts import DaskParts, compute, is_dask, task
from kernelbraid.estimators.base import set_features
from kernelbraid.estimators.landmarks.blocks import (
    as_matrix,
    check_columns,
    check_values,
    draw_rows,
    join,
    side_by_side,
)
from kernelbraid.estimators.landmarks.gaps import Required
from kernelbraid.estimators.landmarks.views import unequal_rows


@dataclass(frozen=True)
class Check:
    """What a block must be."""

    number: int  # of the block
    rows: float  # nan if not known
    width: int
    first_row: int | None  # among all samples; None if not known
    name: str = "X"  # of the samples
    gaps: bool = False  # whether samples may be missing

    def __call__(self, block: Any) -> Array:
        """Return a block as a finite floating-point matrix of the right shape, or name what is wrong with it."""
        matrix = as_matrix(block, self.name)
        is_any = math.isnan(self.rows)
        if matrix is None or matrix.shape[1] != self.width or not (is_any or matrix.shape[0] == self.rows):
            told = f"{'any number of' if is_any else int(self.rows)} rows and {self.width} features"
            raise ValueError(
                f"block {self.number} of {self.name} has shape {np.shape(block)}, and Dask was told {told}; tell "
                "it right."
            )
        check_values(matrix, self.number, self.first_row, self.name, gaps=self.gaps)
        return matrix


@dataclass(frozen=True)
class JointCheck:
    """What the blocks of the same samples in several views must be."""

    views: tuple[Check, ...]
    required: Required

    def __call__(self, blocks: Sequence[Any]) -> Array:
        """Return the blocks as one matrix, their columns side by side."""
        matrices = [check(block) for check, block in zip(self.views, blocks, strict=True)]
        rows = [matrix.shape[0] for matrix in matrices]
        if len(set(rows)) > 1:
            raise _unlike_blocks(self.views[0].number, rows)
        block = side_by_side(matrices)
        self.required.check(block, self.views[0].number, self.views[0].first_row)
        return block


class DaskBlocks:
    """Samples whose blocks are the chunks of a Dask array, or the partitions of a Dask data frame.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Samples as rows.
    measure : bool
        Whether the rows of each block must be known; Dask counts them if it does not know them yet.
    name : str, default="X"
        What messages call the samples.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN.
    """

    width: int
    widths: tuple[int, ...]
    sizes: list[float]  # rows of each block; nan if not known
    _blocks: list[Any]
    _checks: Sequence[Callable[[Any], Array]]

    def __init__(self, X: Array, *, measure: bool, name: str = "X", gaps: bool = False) -> None:
        if not isinstance(getattr(X, "ndim", None), int) or X.ndim != 2:
            raise ValueError(
                f"{name} is a Dask {type(X).__name__}; give a Dask array of two dimensions or a data frame."
            )
        if not isinstance(X.shape[1], int):
            raise ValueError(
                f"{name} is a Dask array whose number of features is not known; give it by compute_chunk_sizes."
            )
        self.width, self.widths = X.shape[1], (X.shape[1],)
        if not self.width:
            raise ValueError(f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
        if hasattr(X, "columns"):
            check_columns(X, name)
            blocks, sizes = list(X.to_delayed()), [math.nan] * X.npartitions
        else:
            X = X.rechunk({1: -1})
            blocks, sizes = list(X.to_delayed().ravel()), list(X.chunks[0])
        if measure and any(math.isnan(size) for size in sizes):
            sizes = _count_rows(X, blocks)
        starts = [None if math.isnan(start) else int(start) for start in np.cumsum([0, *sizes[:-1]])]
        self.sizes, self._blocks = sizes, blocks
        self._checks = [
            Check(number, size, self.width, start, name, gaps)
            for number, (size, start) in enumerate(zip(sizes, starts, strict=True))
        ]
        if measure and not sum(sizes):
            raise ValueError(f"0 sample(s) (shape=(0, {self.width})) while a minimum of 1 is required.")

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(sum(self.sizes))

    def parts(self, n_jobs: int | None) -> DaskParts[Array]:
        """Return the blocks as parts; how many are in work at a time is Dask's to say."""
        return DaskParts(self._blocks, self.sizes, self._checks)

    def require(self, required: Required) -> None:
        """There are no gaps."""

    def sample(self, count: int, seed: int) -> Array:
        """Return a uniform sample of at most so many rows, in random order: that of the same rows in this process."""
        rows = draw_rows(self.n_samples, count, seed)
        order = np.argsort(rows)
        starts = np.cumsum([0, *self.sizes])
        cuts = np.searchsorted(rows[order], starts)
        wanted = [rows[order][a:b] - start for a, b, start in zip(cuts[:-1], cuts[1:], starts[:-1], strict=True)]
        # All blocks are read, so that one that is not finite is found before anything is learned.
        taken = compute([task(_take, _take, *given) for given in zip(self._blocks, self._checks, wanted, strict=True)])
        return join([part for part in taken if part.shape[0]])[np.argsort(order)]


class DaskViews(DaskBlocks):
    """Several views of the same samples in Dask collections; a block holds their columns side by side.

    Parameters
    ----------
    views : sequence of dask.array.Array or dask.dataframe.DataFrame
        Their blocks must have the same rows. Arrays get those of the first view, if Dask knows how many they have.
    measure : bool
        As for :class:`DaskBlocks`.
    """

    def __init__(self, views: Sequence[Array], *, measure: bool) -> None:
        sources: list[DaskBlocks] = []
        for number, view in enumerate(views, 1):
            name = f"view {number} of X"
            if not is_dask(view):
                raise ValueError(f"{name} is no Dask collection, but others are; give all views as such.")
            alike = _cut_alike(view, sources[0].sizes) if sources else view
            sources.append(DaskBlocks(alike, measure=measure, name=name, gaps=len(views) > 1))
        _check_rows([source.sizes for source in sources])
        self.widths = tuple(source.width for source in sources)
        self.width = sum(self.widths)
        self.sizes = [_known(rows) for rows in zip(*(source.sizes for source in sources), strict=True)]
        self._blocks = [list(blocks) for blocks in zip(*(source._blocks for source in sources), strict=True)]
        self._of_blocks = list(zip(*(source._checks for source in sources), strict=True))
        self.require(Required.any_of(self.widths))

    def require(self, required: Required) -> None:
        """Refuse samples that lack what is required, from now on."""
        self._checks = [JointCheck(checks, required) for checks in self._of_blocks]


def open_dask(estimator: BaseEstimator, X: Array, *, reset: bool) -> DaskBlocks:
    """Return a Dask collection as a source of blocks.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and, for a data frame, ``feature_names_in_``.
    X : dask.array.Array or dask.dataframe.DataFrame
        Samples as rows.
    reset : bool
        False for new samples of a fitted estimator, which must have its features; nothing is computed then.
    """
    source = DaskBlocks(X, measure=reset)
    if hasattr(X, "columns"):
        _check_feature_names(estimator, X._meta, reset=reset)
    set_features(estimator, source.width, reset)
    return source


def _cut_alike(view: Array, sizes: Sequence[float]) -> Array:
    """Return a Dask array in blocks of so many rows; what cannot be cut without being computed stays what it is."""
    is_array = hasattr(view, "chunks") and not hasattr(view, "columns")
    if not is_array or not view.chunks or sum(view.chunks[0]) != sum(sizes):  # nan is equal to nothing
        return view
    return view.rechunk({0: tuple(int(size) for size in sizes)})


def _check_rows(sizes: Sequence[Sequence[float]]) -> None:
    """Refuse views of different lengths, or cut in different ways; what is not known is checked by the workers."""
    totals = [sum(view) for view in sizes]
    if not any(map(math.isnan, totals)) and len(set(totals)) > 1:
        raise unequal_rows([int(total) for total in totals])
    counts = [len(view) for view in sizes]
    if len(set(counts)) > 1:
        raise ValueError(
            f"the views of X have {counts} blocks; cut all views at the same rows, by rechunk or repartition."
        )
    for number, rows in enumerate(zip(*sizes, strict=True)):
        known = [int(count) for count in rows if not math.isnan(count)]
        if len(set(known)) > 1:
            raise _unlike_blocks(number, known)


def _known(rows: Sequence[float]) -> float:
    """Return the number of rows of a block that one of the views knows; nan if none does."""
    return next((count for count in rows if not math.isnan(count)), math.nan)


def _unlike_blocks(number: int, rows: Sequence[int]) -> ValueError:
    return ValueError(
        f"block {number} has {list(rows)} rows in the views of X; cut all views at the same rows, by rechunk or "
        "repartition."
    )


def _count_rows(X: Array, blocks: list[Any]) -> list[float]:
    """Return the rows of each block; of a data frame, one column is enough, which is all that Dask reads then."""
    if hasattr(X, "columns"):
        (counts,) = compute([X.iloc[:, :1].map_partitions(len)])
        return [int(count) for count in counts]
    return list(compute([task(_n_rows, _n_rows, block) for block in blocks]))


def _n_rows(block: Any) -> int:
    return int(block.shape[0])


def _take(block: Any, check: Check, places: np.ndarray) -> Array:
    return check(block)[places]
