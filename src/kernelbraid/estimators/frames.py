"""What data frames tell of the rows and columns of several views, which stand side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def check_names(estimator: BaseEstimator, views: Sequence[Any], *, reset: bool) -> None:
    """Note the names of the columns of several views, or compare them with those of the fit; compare those of rows.

    Parameters
    ----------
    estimator : estimator
        Gets ``feature_names_in_``, view by view, if all views have names.
    views : sequence
        Data frames, or anything else, which has no names.
    reset : bool
        False for new samples of a fitted estimator.
    """
    _check_rows(views)
    names = [own for view in views if (own := _column_names(view)) is not None]
    if len(names) < len(views):
        return
    if reset:
        estimator.feature_names_in_ = np.array([name for own in names for name in own], dtype=object)
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and len(fitted) == sum(map(len, names)):  # other numbers are told of elsewhere
        _check_columns(names, fitted.tolist())


def _check_rows(views: Sequence[Any]) -> None:
    """Refuse views whose rows have names that do not agree: they are taken for the same samples in the same order."""
    first: tuple[int, Any] | None = None
    for number, view in enumerate(views, 1):
        own = _row_names(view)
        if own is None:
            continue
        if first is None:
            first = number, own
            continue
        with_number, names = first
        if len(own) != len(names) or own.equals(names):  # views of different lengths are told of elsewhere
            continue
        row = int(np.argmax(np.asarray(own != names)))
        raise ValueError(
            f"row {row} is called {own[row]!r} in view {number} of X and {names[row]!r} in view {with_number}; "
            "every view must hold the same samples in the same order; kernelbraid.align_views aligns data frames "
            "by their rows' names, and without names rows are taken as they stand."
        )


def _row_names(view: Any) -> Any:
    """Return the index of a frame of pandas, unless it only counts the rows."""
    if not type(view).__module__.startswith("pandas."):
        return None
    is_count = type(view.index).__name__ == "RangeIndex" and view.index.start == 0 and view.index.step == 1
    return None if is_count else view.index


def _column_names(view: Any) -> list[str] | None:
    """Return the names of the columns of a data frame if all of them are text."""
    given = getattr(view, "columns", None)  # of pandas, polars and Dask
    names = list(getattr(view, "column_names", ()) if given is None else given)  # of PyArrow
    return names if names and all(isinstance(name, str) for name in names) else None


def _check_columns(names: Sequence[Sequence[str]], fitted: Sequence[str]) -> None:
    """Name the first column that does not stand where it stood in the fit."""
    place = 0
    for number, own in enumerate(names, 1):
        for column, name in enumerate(own, 1):
            if name != fitted[place]:
                raise ValueError(
                    f"column {column} of view {number} of X is {name!r}, and was {fitted[place]!r} in the fit; "
                    "give the views, and the columns of each, in the order of the fit."
                )
            place += 1
