"""Data frames with named rows as views of the same samples."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def align_views(views: "Iterable[pd.DataFrame]") -> "tuple[list[pd.DataFrame], pd.Index]":
    """Align data frames by the names of their rows, so that each has a row for every sample.

    Parameters
    ----------
    views : list of pandas.DataFrame
        One data frame per view. The index names the rows; a name stands for the same sample in all views, and a view
        need not have all of them.

    Returns
    -------
    views : list of pandas.DataFrame
        The same columns, with the rows of all samples in the order of `index`. A sample that a view does not have is
        a row of NaN there, which means that it was not measured.
    index : pandas.Index
        The names of the samples in the order of their first appearance: the rows of the first view, then those that
        the second adds, and so on.

    Raises
    ------
    ImportError
        If pandas is not installed.
    TypeError
        If a view is no data frame of pandas.
    ValueError
        If there is no view, a view is empty, a row has no name or that of another one in the same view, no name occurs
        in two views, or a view that gets rows of NaN has a column that is not of numbers.

    Notes
    -----
    Nothing is filled in. A view that has all samples keeps its types; where rows are missing, float32 stays float32,
    and integers and booleans become float64.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelbraid import align_views
    >>> cells = pd.DataFrame({"area": [1.5, 2.5]}, index=["ann", "bob"])
    >>> genes = pd.DataFrame({"myc": [7, 9], "tp53": [3, 0]}, index=["bob", "cem"])
    >>> (cells, genes), index = align_views([cells, genes])
    >>> list(index)
    ['ann', 'bob', 'cem']
    >>> genes
         myc  tp53
    ann  NaN   NaN
    bob  7.0   3.0
    cem  9.0   0.0
    """
    frames = _check_frames(views)
    names = [_check_names(frame.index, number) for number, frame in enumerate(frames, 1)]
    index = names[0].append(names[1:]).unique()
    if len(names) > 1 and len(index) == sum(map(len, names)):
        raise ValueError(
            f"no row name occurs in two views: the first of view 1 is {_name(names[0], 0)}, that of view 2 "
            f"{_name(names[1], 0)}; set the index of each data frame to the names of the samples."
        )
    return [_spread(frame, index, number) for number, frame in enumerate(frames, 1)], index


def _check_frames(views: object) -> "list[pd.DataFrame]":
    """Return the views as a list of data frames that have rows and columns."""
    try:
        import pandas as pd
    except ImportError:
        from kernelbraid._system import install  # which nobody else here needs

        raise ImportError(f"align_views needs pandas; {install('io')}.") from None
    if isinstance(views, pd.DataFrame) or not isinstance(views, Iterable):
        raise TypeError(f"views is a {_kind(views)}; give a list of pandas data frames, one per view.")
    frames = list(views)
    if not frames:
        raise ValueError("views is empty; give a list of pandas data frames, one per view.")
    for number, frame in enumerate(frames, 1):
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"view {number} is a {_kind(frame)}; give a pandas data frame whose index names the rows.")
        if 0 in frame.shape:
            raise ValueError(f"view {number} has shape {frame.shape}; give at least one row and one column.")
        if frame.index.nlevels != frames[0].index.nlevels:
            raise ValueError(
                f"the index of view {number} has {frame.index.nlevels} levels, that of view 1 "
                f"{frames[0].index.nlevels}; name the rows of all views in the same way."
            )
    return frames


def _check_names(index: "pd.Index", number: int) -> "pd.Index":
    """Return the names of the rows of a view, each of which must be there and once."""
    for row in np.flatnonzero(index.to_flat_index().isna())[:1]:
        raise ValueError(f"row {row + 1} of view {number} has no name; name it in the index or leave it out.")
    for row in np.flatnonzero(index.duplicated())[:1]:
        raise ValueError(
            f"view {number} has more than one row {_name(index, row)}, the second at position {row + 1}; "
            "a name stands for one sample, keep one row of it."
        )
    return index


def _spread(frame: "pd.DataFrame", index: "pd.Index", number: int) -> "pd.DataFrame":
    """Return the rows of a view in the order of all samples, of NaN where it does not have one."""
    if len(frame) < len(index):
        others = [not _holds_nan(dtype) for dtype in frame.dtypes]
        columns = dict.fromkeys(frame.columns[others], np.float64)
        try:
            # One type for all columns is much faster than a type per column.
            frame = frame.astype(np.float64 if all(others) else columns)
        except (ValueError, TypeError):
            raise _not_numbers(frame, number) from None
    return frame.reindex(index)


def _holds_nan(dtype: object) -> bool:
    """Return whether numbers of a type have a NaN; pandas' own types have another mark."""
    return isinstance(dtype, np.dtype) and dtype.kind in "fc"


def _not_numbers(frame: "pd.DataFrame", number: int) -> ValueError:
    """Return the error for the first column that cannot become numbers."""
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        try:
            column.astype(column.dtype if _holds_nan(column.dtype) else np.float64)
        except (ValueError, TypeError):
            break
    return ValueError(
        f"column {column.name!r} of view {number} is of type {column.dtype}, not of numbers; encode it, for example "
        "with OneHotEncoder in a ColumnTransformer of scikit-learn, or leave it out."
    )


def _name(index: "pd.Index", row: int) -> str:
    """Return the name of a row for a message, as Python has it and not NumPy."""
    return repr(index[row : row + 1].tolist()[0])


def _kind(value: object) -> str:
    """Return the type of a value with its library."""
    library = type(value).__module__.partition(".")[0]
    return type(value).__qualname__ if library == "builtins" else f"{library}.{type(value).__qualname__}"
