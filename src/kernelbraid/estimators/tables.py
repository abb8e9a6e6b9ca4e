"""Tables, alone and as views: names of rows and columns, and columns that hold no numbers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelbraid._typing import Array

NUMBERS = "fiub"  # kinds of dtypes
FILL = "drop such samples or fill them in, for example with sklearn.impute.SimpleImputer"
REPLACE = "drop such samples or replace the value"  # an imputer leaves infinity as it is


def refuse_infinite(
    A: Array, name: str, where: Callable[[int, int], str] = "row {}, column {}".format, *, gaps: bool = False
) -> None:
    """Name the first element of a matrix that is not finite; gaps are rows of NaN in a dense one."""
    values = A.data if sparse.issparse(A) else A
    bad = ~np.isfinite(values)
    if gaps and not sparse.issparse(A):
        bad[np.isnan(values).all(axis=1)] = False
    if not bad.any():
        return
    place = tuple(np.argwhere(bad)[0])
    coordinates = A.tocoo() if sparse.issparse(A) else None
    row, column = place if coordinates is None else (coordinates.row[place], coordinates.col[place])
    kind, remedy = ("NaN", FILL) if np.isnan(values[place]) else ("infinity", REPLACE)
    raise ValueError(f"{name} contains {kind} ({where(row, column)}); {remedy}.")


def no_numbers(name: str, header: object, dtype: object) -> ValueError:
    """Return what to raise for a column, by its name or number, that holds no numbers."""
    return ValueError(
        f"{name} has a column {header!r} of {dtype} values; encode it, for example with OneHotEncoder in a "
        "ColumnTransformer of scikit-learn, or drop it."
    )


def refuse_words(X: Any, name: str) -> None:
    """Name the first column of a table or an array that holds no numbers, if there is one."""
    for header, values in _columns(X):
        if not _are_numbers(values):
            raise no_numbers(name, header, getattr(values, "dtype", "mixed")) from None


def _columns(X: Any) -> Iterator[tuple[object, Any]]:
    """Yield the columns of a data frame by name, and of an array that may hold text by number."""
    if hasattr(X, "column_names"):  # of PyArrow, whose columns are the values
        yield from ((header, np.asarray(X[header])) for header in X.column_names)
    elif hasattr(X, "columns"):
        columns = ((header, X[header]) for header in X.columns)
        yield from ((header, values) for header, values in columns if len(getattr(values, "shape", ())) == 1)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OSU":
        yield from enumerate(X.T)


def _are_numbers(values: Any) -> bool:
    kind = getattr(values.dtype, "kind", "O")
    if kind in "mM":  # moments, which NumPy would count
        return False
    try:
        return kind in NUMBERS or np.asarray(values, dtype=np.float64).ndim == 1
    except ValueError:
        return False
    except TypeError:  # no text: scikit-learn says what it is
        return True


def check_names(estimator: BaseEstimator, views: Sequence[Any], *, reset: bool) -> None:
    """Note the names of the columns of several views, or compare them with those of the fit.

    Parameters
    ----------
    estimator : estimator
        Gets ``feature_names_in_``, view by view, if all views have names.
    views : sequence
        Data frames, or anything else, which has no names.
    reset : bool
        False for new samples of a fitted estimator.
    """
    names = [own for view in views if (own := _column_names(view)) is not None]
    if len(names) < len(views):
        return
    if reset:
        estimator.feature_names_in_ = np.array([name for own in names for name in own], dtype=object)
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and len(fitted) == sum(map(len, names)):  # other numbers are told of elsewhere
        _check_columns(names, fitted.tolist())


def in_one_order(views: Sequence[Any]) -> Sequence[Any]:
    """Return views whose rows have names with the rows of all in the order of the first of them.

    Rows without names, which are counted only, are taken as they stand.
    """
    named = [(number, own) for number, view in enumerate(views) if (own := _row_names(view)) is not None]
    ordered = list(views)
    first, names = named[0] if named else (0, _row_names(None))
    for number, own in named[1:]:
        if len(own) != len(names) or own.equals(names):  # views of different lengths are told of elsewhere
            continue
        if not (names.is_unique and own.is_unique and names.isin(own).all()):
            row = int(np.argmax(np.asarray(own != names)))
            raise ValueError(
                f"row {row} is called {own[row]!r} in view {number + 1} of X and {names[row]!r} in view {first + 1}; "
                "every view must hold the same samples; kernelbraid.align_views aligns data frames by their rows' "
                "names, and without names rows are taken as they stand."
            )
        ordered[number] = views[number].loc[names]
    return ordered


def _row_names(view: Any) -> Any:
    """Return the index of a frame of pandas, unless it only counts the rows."""
    if type(view).__module__.partition(".")[0] != "pandas":  # pandas.core.frame before pandas 3
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
