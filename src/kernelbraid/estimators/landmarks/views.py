"""Several views of the same samples, whose columns are put side by side block by block."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_array

from kernelbraid._arrays import is_foreign, to_numpy
from kernelbraid._typing import Array
from kernelbraid.blocks.dask_parts import is_dask
from kernelbraid.blocks.parts import LocalParts
from kernelbraid.blocks.source import Blocks, check_again
from kernelbraid.estimators.base import FLOATS
from kernelbraid.estimators.landmarks.blocks import BlockSource, is_memory_map, sample_rows, side_by_side, slices
from kernelbraid.estimators.landmarks.gaps import Required
from kernelbraid.estimators.tables import named_columns
from kernelbraid.io.streams import Stream, open_stream


class ViewSource:
    """Checked samples in blocks, which hold the columns of all views side by side.

    Parameters
    ----------
    views : sequence of BlockSource
        The same samples in blocks of the same size, in some of which they may be missing.
    """

    def __init__(self, views: Sequence[BlockSource]) -> None:
        self._views = views
        self.widths = tuple(view.width for view in views)
        self.width = sum(self.widths)
        self._required = Required.any_of(self.widths)

    @property
    def n_samples(self) -> int | None:
        """Number of samples; None before they were gone through."""
        return self._views[0].n_samples

    def __iter__(self) -> Iterator[Array]:
        """Yield the blocks; all views are gone through at the same pace."""
        first_row = 0
        for number, blocks in enumerate(zip_longest(*self._views)):
            if len({0 if block is None else block.shape[0] for block in blocks}) > 1:
                raise unequal_rows([sum(block.shape[0] for block in view) for view in self._views])
            block = side_by_side(blocks)
            self._required.check(block, number, first_row)
            first_row += block.shape[0]
            yield block

    def require(self, required: Required) -> None:
        """Refuse samples that lack what is required, from now on."""
        self._required = required

    def parts(self, n_jobs: int | None) -> LocalParts[Array]:
        """Return the blocks as parts, so many of them in work at a time."""
        return LocalParts(self, n_jobs)

    def sample(self, count: int, seed: int) -> Array:
        """Return a uniform sample of at most so many rows, in random order."""
        return sample_rows(self, count, seed)


def is_view_list(X: Any) -> bool:
    """Tell a list of views from a matrix written as nested lists."""
    return isinstance(X, list | tuple) and any(_is_matrix(view) or _is_source(view) for view in X)


def open_views(views: Sequence[Any], size: int) -> ViewSource:
    """Return several views as a source of blocks.

    Parameters
    ----------
    views : sequence of matrices, paths, Stream or Blocks
        The same samples in every view.
    size : int
        Rows of a block.

    Returns
    -------
    ViewSource
        Goes through all views at once, as often as asked.
    """
    checked = [_check_view(view, f"view {number} of X") for number, view in enumerate(views, 1)]
    # Blocks are counted while they are gone through.
    rows = [_n_rows(view) for view in checked if not isinstance(view, Blocks)]
    if len(rows) == len(checked) and len(set(rows)) > 1:
        raise unequal_rows(rows)
    return ViewSource(
        [
            BlockSource(
                partial(iter, view) if isinstance(view, Blocks | Stream) else slices(view, size),
                size,
                f"view {number} of X",
                gaps=len(checked) > 1,
            )
            for number, view in enumerate(checked, 1)
        ]
    )


def with_old_calls(X: Any, widths: tuple[int, ...] | None, stacklevel: int) -> Any:
    """Return what is handed over; blocks that are not declared as such become `Blocks`, with a warning.

    Parameters
    ----------
    X : object
        As users hand it over.
    widths : tuple of int or None
        Features of the views of a fit, for new samples.
    stacklevel : int
        Of the warning, counted from the caller.
    """
    if isinstance(X, list | tuple):
        if not is_view_list(X) or not _must_be_blocks(X, widths):
            return X
        told = (
            f"X is a list of {len(X)} matrices with {X[0].shape[1]} features each, and is taken for blocks of "
            "rows; the next version takes every list for views of the same samples: give kernelbraid.Blocks(X)."
        )
    else:
        is_matrix = hasattr(X, "shape") or hasattr(X, "__array__") or not hasattr(X, "__iter__")
        if is_matrix or isinstance(X, str) or _is_source(X):
            return X
        check_again(X, "X")
        told = (
            f"X is a {type(X).__name__}, and is taken for blocks of rows; the next version asks to say so: give "
            "kernelbraid.Blocks(X)."
        )
    warnings.warn(told, FutureWarning, stacklevel=stacklevel + 1)
    return Blocks(X)


def unequal_rows(rows: Sequence[int]) -> ValueError:
    """Return what to raise for views of different lengths."""
    return ValueError(
        f"the views of X have {list(rows)} rows; give the same samples in the same order in every view "
        "(align_views matches data frames by their row names), or kernelbraid.Blocks of the list if it holds "
        "blocks of rows."
    )


def check_widths(widths: tuple[int, ...], fitted: tuple[int, ...], estimator: str) -> None:
    """Refuse views of new samples that are not those of the fit."""
    if widths != fitted:
        raise ValueError(
            f"X holds {len(widths)} views with {list(widths)} features, but {estimator} was fitted on {len(fitted)} "
            f"with {list(fitted)}; give the views of the fit, or one matrix with their columns side by side."
        )


def _is_matrix(view: Any) -> bool:
    return not is_dask(view) and len(getattr(view, "shape", ())) == 2


def _is_source(view: Any) -> bool:
    return isinstance(view, str | Path | Blocks | Stream) or is_dask(view)


def _must_be_blocks(X: Sequence[Any], widths: tuple[int, ...] | None) -> bool:
    """Tell matrices that can be no views: different rows of the same features, or each with all those of the fit."""
    if not all(map(_is_matrix, X)) or len({view.shape[1] for view in X}) > 1:
        return False
    if widths is None:
        return len({view.shape[0] for view in X}) > 1
    return len(X) > 1 and X[0].shape[1] == sum(widths)


def _check_view(view: Any, name: str) -> Any:
    """Return a view as a matrix, a stream or blocks, or say why it is none."""
    if isinstance(view, str | Path):
        return open_stream(view, gaps=True)
    if isinstance(view, Stream):
        return replace(view, gaps=True)
    if isinstance(view, Blocks) or is_memory_map(view):
        return view
    if not _is_matrix(view):
        raise ValueError(
            f"{name} is no matrix, but others are; give each view as (n_samples, n_features), and blocks of its "
            "rows as kernelbraid.Blocks."
        )
    if is_foreign(view):
        return to_numpy(view)
    with named_columns(view, name):
        return check_array(view, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, input_name=name)


def _n_rows(view: Any) -> int:
    return int(view.n_samples if isinstance(view, Stream) else view.shape[0])
