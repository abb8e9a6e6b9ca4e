"""Tables with columns that hold no numbers, or lack some: which one it is, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

NUMBERS = "fiub"  # kinds of dtypes
FILL = "drop such samples or fill them in, for example with sklearn.impute.SimpleImputer"
REPLACE = "drop such samples or replace the value"  # an imputer leaves infinity as it is


def remedy_for(value: float) -> str:
    """Return what to do about a value that is not finite."""
    return FILL if np.isnan(value) else REPLACE


def no_numbers(name: str, header: object, dtype: object) -> ValueError:
    """Return what to raise for a column, by its name or number, that holds no numbers."""
    return ValueError(
        f"{name} has a column {header!r} of {dtype} values; encode it, for example with OneHotEncoder in a "
        "ColumnTransformer of scikit-learn, or drop it."
    )


@contextmanager
def named_columns(X: Any, name: str) -> Iterator[None]:
    """Name the first column that holds no numbers, where a table cannot be read for that reason."""
    try:
        yield
    except (ValueError, TypeError):
        for header, values in _columns(X):
            if not _are_numbers(values):
                raise no_numbers(name, header, getattr(values, "dtype", "mixed")) from None
        raise


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
