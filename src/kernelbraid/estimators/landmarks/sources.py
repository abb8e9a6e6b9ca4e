"""Where samples come from: this process, files, streams of blocks, or a Dask cluster; in one view or several."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from kernelbraid._typing import Array
from kernelbraid.blocks.dask_parts import DaskParts, compute, is_dask
from kernelbraid.blocks.parts import LocalParts, Parts
from kernelbraid.estimators.base import forget_names, set_features
from kernelbraid.estimators.landmarks.blocks import open_blocks, slices
from kernelbraid.estimators.landmarks.dask_source import DaskViews, open_dask
from kernelbraid.estimators.landmarks.gaps import Required
from kernelbraid.estimators.landmarks.views import check_widths, is_view_list, open_views, with_old_calls
from kernelbraid.estimators.tables import check_names, in_one_order, refuse_containers


class Source(Protocol):
    """Checked samples, in blocks that can be gone through again and again."""

    width: int
    widths: tuple[int, ...]  # of each view; they sum to `width`

    @property
    def n_samples(self) -> int | None:
        """Number of samples; None while it is not known."""

    def parts(self, n_jobs: int | None) -> Parts[Array]:
        """Return the blocks as parts, so many of them in work at a time."""

    def sample(self, count: int, seed: int) -> Array:
        """Return a uniform sample of at most so many rows, in random order, which does not depend on the blocks."""

    def require(self, required: Required) -> None:
        """Refuse samples that lack what is required, from now on."""


def open_source(estimator: BaseEstimator, X: Array, size: int, *, fitted: tuple[int, ...] | None = None) -> Source:
    """Return samples as a source of blocks.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and, for data frames alone, ``feature_names_in_``.
    X : matrix, path, Stream, Blocks, Dask collection, or list of them
        As for :meth:`kernelbraid.LandmarkLKG.fit`.
    size : int
        Rows of a block; a Dask collection has blocks of its own.
    fitted : tuple of int, default=None
        Features of each view of the fit, for new samples, which must have them.

    Returns
    -------
    Source
        The samples.
    """
    refuse_containers(estimator, X, takes_dask=True)
    reset = fitted is None
    if reset:
        forget_names(estimator)
    # The warning points at the call of `fit` or `predict`: below it are the method and what it is wrapped in.
    X = with_old_calls(X, fitted, stacklevel=4 if reset else 5)
    if is_view_list(X):
        if len(X) > 1:
            return _open_list(estimator, X, size, fitted)
        X = X[0]
    if is_dask(X):
        return open_dask(estimator, X, reset=reset)
    return open_blocks(estimator, X, size, reset=reset)


def _open_list(estimator: BaseEstimator, X: Sequence[Any], size: int, fitted: tuple[int, ...] | None) -> Source:
    """Return several views as one source."""
    reset, X = fitted is None, in_one_order(X)
    source: Source = DaskViews(X, measure=reset) if any(map(is_dask, X)) else open_views(X, size)
    if fitted is not None:
        check_widths(source.widths, fitted, type(estimator).__name__)
    check_names(estimator, X, reset=reset)
    set_features(estimator, source.width, reset)
    return source


def parts_of(A: Array, size: int, n_jobs: int | None) -> Parts[Array]:
    """Return the rows of an array in parts: the chunks of a Dask array, otherwise so many rows each."""
    if is_dask(A):
        return DaskParts(list(A.to_delayed().ravel()), A.chunks[0])
    return LocalParts(list(slices(A, size)()), n_jobs)


def rows_of(A: Array, rows: np.ndarray) -> np.ndarray:
    """Return rows of an array, given in ascending order."""
    (taken,) = compute([A[rows]]) if is_dask(A) else (A[rows],)
    return np.asarray(taken)
