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
    import pandas as pd

    frames = list(views)
    if not frames:
        raise ValueError("views is empty; give a list of pandas data frames, one per view.")
    for number, frame in enumerate(frames, 1):
        if not isinstance(frame, pd.DataFrame):
            kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")
            raise TypeError(f"view {number} is a {kind}; give a list of pandas data frames whose index names the rows.")
        if 0 in frame.shape:
            raise ValueError(f"view {number} has shape {frame.shape}; give at least one row and one column.")
        for row in np.flatnonzero(frame.index.to_flat_index().isna())[:1]:
            raise ValueError(f"row {row + 1} of view {number} has no name; name it in the index or leave it out.")
        for row in np.flatnonzero(frame.index.duplicated())[:1]:
            many = f"view {number} has more than one row {frame.index.tolist()[row]!r}"
            raise ValueError(f"{many}, the second at position {row + 1}; keep one row of each name.")
    index = frames[0].index.append([frame.index for frame in frames[1:]]).unique()
    if len(frames) > 1 and len(index) == sum(map(len, frames)):
        first, other = (frame.index.tolist()[0] for frame in frames[:2])
        told = f"no row name occurs in two views: the first of view 1 is {first!r}, that of view 2 {other!r}"
        raise ValueError(f"{told}; the index, or the column of ids, has to name the samples alike in all.")
    return [_spread(frame, index, number) for number, frame in enumerate(frames, 1)], index


def _spread(frame: "pd.DataFrame", index: "pd.Index", number: int) -> "pd.DataFrame":
    """Return the rows of a view in the order of all samples, of NaN where it does not have one."""
    if len(frame) == len(index):
        return frame.reindex(index)
    types = {}
    for name, dtype in frame.dtypes.items():
        types[name] = dtype if isinstance(dtype, np.dtype) and dtype.kind in "fc" else np.float64
        try:
            frame[name].astype(types[name])
        except (ValueError, TypeError):
            told = f"column {name!r} of view {number} is of type {dtype}, not of numbers"
            raise ValueError(f"{told}; encode it (scikit-learn's OneHotEncoder can), or leave it out.") from None
    return frame.astype(types).reindex(index)
