"""Samples in a Dask array or data frame: checked and sampled where their blocks are."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names

from kernelbraid._messages import Message
from kernelbraid._typing import Array
from kernelbraid.blocks.dask_parts import DaskParts, compute, task
from kernelbraid.estimators.base import set_features
from kernelbraid.estimators.landmarks.blocks import as_matrix, check_columns, check_finite, draw_rows, join


@dataclass(frozen=True)
class Check:
    """What a block must be."""

    number: int  # of the block
    rows: float  # nan if not known
    width: int
    first_row: int | None  # among all samples; None if not known

    def __call__(self, block: Any) -> Array:
        """Return a block as a finite floating-point matrix of the right shape, or name what is wrong with it."""
        matrix = as_matrix(block)
        is_any = math.isnan(self.rows)
        if matrix is None or matrix.shape[1] != self.width or not (is_any or matrix.shape[0] == self.rows):
            told = f"{'any number of' if is_any else int(self.rows)} rows and {self.width} features"
            raise ValueError(
                Message(
                    "block {number} of {data} has shape {shape}, and Dask was told {told}; tell it right.",
                    number=self.number,
                    shape=np.shape(block),
                    told=told,
                )
            )
        check_finite(matrix, self.number, self.first_row)
        return matrix


class DaskBlocks:
    """Samples whose blocks are the chunks of a Dask array, or the partitions of a Dask data frame.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Samples as rows.
    measure : bool
        Whether the rows of each block must be known; Dask counts them if it does not know them yet.
    """

    def __init__(self, X: Array, *, measure: bool) -> None:
        if not isinstance(getattr(X, "ndim", None), int) or X.ndim != 2:
            raise ValueError(
                Message(
                    "{data} is a Dask {kind}; give a Dask array of two dimensions or a data frame.",
                    kind=type(X).__name__,
                )
            )
        if not isinstance(X.shape[1], int):
            raise ValueError(
                Message("{data} is a Dask array whose number of features is not known; give it by compute_chunk_sizes.")
            )
        self.width = X.shape[1]
        if not self.width:
            raise ValueError(f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
        if hasattr(X, "columns"):
            check_columns(X)
            blocks, sizes = list(X.to_delayed()), [math.nan] * X.npartitions
        else:
            X = X.rechunk({1: -1})
            blocks, sizes = list(X.to_delayed().ravel()), list(X.chunks[0])
        if measure and any(math.isnan(size) for size in sizes):
            sizes = _count_rows(X, blocks)
        starts = [None if math.isnan(start) else int(start) for start in np.cumsum([0, *sizes[:-1]])]
        self.sizes, self._blocks = sizes, blocks
        self._checks = [
            Check(number, size, self.width, start)
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
