"""Labels: the right column of a table, or the right vector of an array file."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.io import tables
from kernelbraid.io.arrays import Matrix, read_array
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, open_source
from kernelbraid.io.tables import Table, is_number

if TYPE_CHECKING:
    import pandas as pd

LABEL_NAMES = ("label", "labels", "cluster", "class", "target")


@dataclass(frozen=True, eq=False)
class LabelFile:
    """The content of a label file.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        One label per sample: whole numbers if all of them are, otherwise text.
    ids : list of str or None
        Name of each sample, if the file has them.
    header : bool or None
        Whether the first row names the columns; None where the file is no CSV or TSV.
    """

    values: Host
    ids: list[str] | None = None
    header: bool | None = None


def read_labels(
    path: FilePath, *, key: str | None = None, header: bool | None = None, column: str | int | None = None
) -> LabelFile:
    r"""Read one label per sample.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .tab, .parquet, .npy, .npz or .mat file (.mat up to version 7.2).
    key : str, default=None
        Which array of an .npz or .mat file to read. By default the only vector in it, else "y", "labels",
        "label" or "gnd".
    header : bool, default=None
        Whether the first row of a CSV or TSV file names the columns; its rows say it if None.
    column : str or int, default=None
        Column of a table that holds the labels, by its name in the header or by number from 1.

    Returns
    -------
    LabelFile
        The labels, and the names of the samples where the file has them.

    Raises
    ------
    DataError
        The file cannot be read as labels; the message says where and what to do.

    Notes
    -----
    In a table the labels are `column`, otherwise the one called label, labels, cluster, class or target, otherwise y,
    otherwise the only column beside ids. Ids are a first column called id, index, name or sample, or without a name, or
    of texts that are all different; of two columns the first may also be of whole numbers that are all different, and
    is no label then. Where several columns could hold the labels, none is guessed: the table is refused with their
    names.

    The first row of a CSV or TSV file is a header if one of these names of labels is in it and does not come back
    below, if its first cell is called like ids, or if it is of text and a column below it is of numbers. Texts above
    texts are a header if none of them comes back below and every cell of a column below does, as classes do; otherwise
    they are a sample.

    Labels that are written as numbers are compared exactly: no two of them become one, however many digits they have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernelbraid.datasets import read_labels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("id,label\nfirst,0\nsecond,1\n")
    ...     labels = read_labels(path)
    >>> labels.values, labels.ids
    (array([0, 1]), ['first', 'second'])
    """
    source = open_source(path)
    if source.suffix in ARRAY_FILES:
        if column is not None:
            raise DataError(f"{source.path}: an array file has no columns of labels; --column is for tables.")
        return LabelFile(_checked(source.path, read_array(source, key, ("y", "labels", "label", "gnd"), _is_vector)))
    is_named = column is not None and not str(column).isdecimal()  # by its name in the header
    table = tables.open_table(source, True if is_named and header is None else header, _is_header, None)
    frame = tables.read_all(table, range(len(table.names)))
    at = _find_labels(table, frame) if column is None else table.find(column)
    ids = table.default_id()
    if ids is None and frame[0].is_unique and not any(is_number(str(cell)) for cell in frame[0]):
        ids = 0
    names = None if ids in (None, at) else list(map(str, frame[ids]))
    return LabelFile(_values(table, at, frame[at]), names, None if source.suffix == ".parquet" else table.has_header)


def _is_vector(array: Matrix) -> bool:
    return isinstance(array, np.ndarray) and array.ndim in (1, 2) and array.size == max(array.shape) > 0


def _is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table with labels names its columns: it is of texts, and not of labels."""
    columns = list(zip(*below, strict=True)) or [()] * len(first)
    # A name that comes back below is a label itself, as y is among y and n.
    is_new = all(cell not in column for cell, column in zip(first, columns, strict=True))
    is_known = not {cell.lower() for cell in first}.isdisjoint((*LABEL_NAMES, "y", *tables.ID_NAMES))
    is_told = any(all(map(is_number, column)) or min(Counter(column).values()) > 1 for column in columns)
    return is_new and tables.is_header(first, below) and (is_known or is_told)


def _find_labels(table: Table, frame: "pd.DataFrame") -> int:
    """Return the column that holds the labels: by its name, or the only one beside ids; nothing is guessed."""
    names = [name.lower() if table.has_header else "" for name in table.names]
    named = [i for i, name in enumerate(names) if name in LABEL_NAMES]
    # y may be a coordinate, and is no name of classes where something else is.
    named = named or [i for i, name in enumerate(names) if name == "y"]
    found = named or [i for i in range(len(names)) if i != table.default_id() or len(names) == 1]
    # Texts or whole numbers that tell all rows apart are no classes.
    are_ids = frame[0].is_unique and all(cell.isdecimal() or not is_number(cell) for cell in map(str, frame[0]))
    if len(found) > 1 and (named or len(names) > 2 or not are_ids):
        where = f"in any of the columns {tables.listing([table.names[i] for i in found])}"
        remedy = "say in which (--column NAME for the truth, --labels-column NAME for the labels that are scored)"
        raise table.error(f"the labels may be {where}; {remedy}, or call it label")
    return found[-1]


def _values(table: Table, at: int, column: "pd.Series") -> Host:
    """Return a column as labels: numbers if all of them are, and no two of them become one."""
    texts = ["" if cell is None else str(cell) for cell in column]
    numbers = [text for text in texts if text.lower() not in tables.MISSING]
    are_numbers = len(numbers) > 0 and all(map(is_number, numbers))
    for row, text in zip(column.index, texts, strict=True):
        if text.lower() in (tables.MISSING if are_numbers else ("",)):
            where = f"column {table.names[at]!r} has no label in row {row} ({text!r})"
            raise table.error(f"{where}; fill the cell or delete the row")
    values = column.to_numpy() if column.dtype.kind in "biuf" else np.array(texts)
    if are_numbers and values.dtype.kind == "U":
        with suppress(ArithmeticError):  # of numbers beyond all bounds, which stay texts
            exact = values.astype(np.int64 if all(map(tables.WHOLE.fullmatch, texts)) else np.float64)
            values = exact if len(np.unique(exact)) == len(set(map(Decimal, texts))) else values
    return _checked(table.source.path, values)


def _checked(path: Path, values: Matrix) -> Host:
    """Return an array as one label per sample, or say what is wrong with it."""
    if not _is_vector(values):
        raise DataError(f"{path}: the labels have shape {values.shape}; give one label per sample.")
    values = values.ravel()
    if values.dtype.kind == "O" and all(getattr(value, "dtype", values.dtype).kind == "U" for value in values):
        values = np.concatenate(values)  # of a cell array of MATLAB
    if values.dtype.kind not in "biufUS":
        raise DataError(f"{path}: the labels are neither numbers nor text; save them as a vector.")
    if values.dtype.kind == "f":
        for at in np.flatnonzero(~np.isfinite(values))[:1]:
            raise DataError(f"{path}: label {at + 1} is {values[at]}; leave out samples without a label.")
        if np.all(values == np.round(values)) and np.max(np.abs(values)) < 2**53:
            values = values.astype(np.int64)
    return values
