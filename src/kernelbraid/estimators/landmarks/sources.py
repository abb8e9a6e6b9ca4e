"""Where samples come from: this process, a file, a stream of blocks, or a Dask cluster."""

from typing import Protocol

import numpy as np
from sklearn.base import BaseEstimator

from kernelbraid._typing import Array
from kernelbraid.blocks.dask_parts import DaskParts, compute, is_dask
from kernelbraid.blocks.parts import LocalParts, Parts
from kernelbraid.estimators.base import forget_names
from kernelbraid.estimators.landmarks.blocks import open_blocks, slices
from kernelbraid.estimators.landmarks.dask_source import open_dask


class Source(Protocol):
    """Checked samples, in blocks that can be gone through again and again."""

    width: int

    @property
    def n_samples(self) -> int | None:
        """Number of samples; None while it is not known."""

    def parts(self, n_jobs: int | None) -> Parts[Array]:
        """Return the blocks as parts, so many of them in work at a time."""

    def sample(self, count: int, seed: int) -> Array:
        """Return a uniform sample of at most so many rows, in random order, which does not depend on the blocks."""


def open_source(estimator: BaseEstimator, X: Array, size: int, *, reset: bool = True) -> Source:
    """Return samples as a source of blocks.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and, for a data frame, ``feature_names_in_``.
    X : matrix, path, iterable of matrices, or Dask collection
        As for :meth:`kernelbraid.LandmarkLKG.fit`.
    size : int
        Rows of a block; a Dask collection has blocks of its own.
    reset : bool, default=True
        False for new samples of a fitted estimator, which must have its features.

    Returns
    -------
    Source
        The samples.
    """
    if reset:
        forget_names(estimator)
    if is_dask(X):
        return open_dask(estimator, X, reset=reset)
    return open_blocks(estimator, X, size, reset=reset)


def parts_of(A: Array, size: int, n_jobs: int | None) -> Parts[Array]:
    """Return the rows of an array in parts: the chunks of a Dask array, otherwise so many rows each."""
    if is_dask(A):
        return DaskParts(list(A.to_delayed().ravel()), A.chunks[0])
    return LocalParts(list(slices(A, size)()), n_jobs)


def rows_of(A: Array, rows: np.ndarray) -> np.ndarray:
    """Return rows of an array, given in ascending order."""
    (taken,) = compute([A[rows]]) if is_dask(A) else (A[rows],)
    return np.asarray(taken)
