"""Labels: the right column of a table, or the right vector of an array file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.io.arrays import is_label_array, read_array
from kernelbraid.io.dialect import ID_NAMES, MISSING, is_name, is_number
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, open_source
from kernelbraid.io.tables import Table, listing, open_table, read_parquet, read_texts

if TYPE_CHECKING:
    import pandas as pd

NAMES_OF_ARRAYS = ("y", "labels", "label", "gnd")
LABEL_NAMES = ("label", "labels", "cluster", "class", "y", "target")


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
    may_be_header : bool
        Whether the first row names the columns, or may do so: texts of which none comes back below it.
    """

    values: Host
    ids: list[str] | None = None
    header: bool | None = None
    may_be_header: bool = False

    @property
    def is_unclear(self) -> bool:
        """Whether the first row is taken for a sample, and may be a header."""
        return self.header is False and self.may_be_header

    @property
    def repeats(self) -> bool:
        """Whether every label occurs more than once."""
        return bool(np.unique(self.values, return_counts=True)[1].min() > 1)


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
    texts are a sample, though they may be a header (`may_be_header`): only a count of the samples, or their ids, tells.

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
        return LabelFile(_checked(source.path, read_array(source, key, NAMES_OF_ARRAYS, is_label_array)))
    import pandas as pd

    table = open_table(source, header=False)
    has_header = None
    if source.suffix == ".parquet":
        frame, may_be_header = pd.concat(read_parquet(table, range(len(table.names)))), False
    else:
        frame = read_texts(table)
        rows = frame.to_numpy().tolist()
        is_named = column is not None and not str(column).isdecimal()  # by its name in the header
        has_header = (is_named or _has_header(rows)) if header is None else header
        may_be_header = has_header or (header is None and _may_be_header(rows))
        if has_header and len(rows) == 1:
            raise table.error("the file has a header but no labels; give one label per row")
        table = replace(table, names=rows[0] if may_be_header else table.names, has_header=may_be_header)
        frame = frame.iloc[int(has_header) :]
    at = _find_labels(table, frame) if column is None else table.find(column)
    ids = table.default_id()
    if ids is None and frame[0].is_unique and not any(is_number(str(cell)) for cell in frame[0]):
        ids = 0
    names = None if ids in (None, at) else list(map(str, frame[ids]))
    return LabelFile(_values(table, at, frame[at]), names, has_header, may_be_header)


def _may_be_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether nothing but the meaning of its words tells a first row from a sample: none comes back below."""
    first, *rest = rows
    return len(rest) > 0 and all(is_name(cell) and all(row[i] != cell for row in rest) for i, cell in enumerate(first))


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table with labels names its columns."""
    first, rest = [cell.lower() for cell in rows[0]], rows[1:]
    # A name that comes back below is a label itself, as y is among y and n.
    if any(name in LABEL_NAMES and all(row[i].lower() != name for row in rest) for i, name in enumerate(first)):
        return True
    if len(first) > 1 and first[0] in ("", *ID_NAMES):
        return True
    # A number in the row belongs to a sample, and so does a mark of a missing label.
    is_text = len(rest) > 0 and not any(map(is_number, first))
    return is_text and any(is_name(name) and all(is_number(row[i]) for row in rest) for i, name in enumerate(first))


def _find_labels(table: Table, frame: "pd.DataFrame") -> int:
    """Return the column that holds the labels: by its name, or the only one beside ids; nothing is guessed."""
    names = [name.lower() for name in table.names] if table.has_header else []
    # y may be a coordinate, and is no name of classes where something else is.
    named = [i for i, name in enumerate(names) if name in LABEL_NAMES and name != "y"]
    named = named or [i for i, name in enumerate(names) if name == "y"]
    found = named or [i for i in range(len(table.names)) if i != table.default_id() or len(table.names) == 1]
    # Texts or whole numbers that tell all rows apart are no classes.
    are_ids = frame[0].is_unique and all(cell.isdecimal() or not is_number(cell) for cell in map(str, frame[0]))
    if len(found) > 1 and (named or len(table.names) > 2 or not are_ids):
        where = f"in any of the columns {listing([table.names[i] for i in found])}"
        remedy = "say in which (--column NAME for the truth, --labels-column NAME for the labels that are scored)"
        raise table.error(f"the labels may be {where}; {remedy}, or call it label")
    return found[-1]


def _values(table: Table, at: int, column: "pd.Series") -> Host:
    """Return a column as labels: numbers if all of them are, and no two of them become one."""
    path, texts = (
        table.source.path,
        ["" if gone else str(cell) for cell, gone in zip(column, column.isna(), strict=True)],
    )
    numbers = [text for text in texts if text.lower() not in MISSING]
    are_numbers = len(numbers) > 0 and all(map(is_number, numbers))
    for row, text in zip(column.index, texts, strict=True):
        if text.lower() in (MISSING if are_numbers else ("",)):
            where = f"{table.describe(at)} has no label in row {row} ({text!r})"
            raise table.error(f"{where}; fill the cell or delete the row")
    if column.dtype.kind in "biuf":
        return _checked(path, column.to_numpy())
    try:
        exact = [Decimal(text) for text in texts] if are_numbers else []
    except DecimalException:  # an exponent beyond all bounds
        exact = []
    if exact and all(abs(value) < 2**63 and value == value.to_integral_value() for value in exact):
        return np.array(list(map(int, exact)))
    floats = np.array(list(map(float, exact)))
    is_apart = len(exact) > 0 and len(np.unique(floats)) == len({*exact})
    return _checked(path, floats) if is_apart else np.array(texts, dtype=str)


def _checked(path: Path, values: Host) -> Host:
    """Return an array as one label per sample, or say what is wrong with it."""
    if values.ndim not in (1, 2) or values.size != max(values.shape) or not values.size:
        raise DataError(f"{path}: the labels have shape {values.shape}; give one label per sample.")
    values = values.ravel()
    if values.dtype.kind == "O" and all(np.size(v) == 1 and np.asarray(v).dtype.kind == "U" for v in values):
        values = np.array([np.asarray(value).item() for value in values])  # of a cell array of MATLAB
    if values.dtype.kind not in "biufUS":
        raise DataError(f"{path}: the labels are neither numbers nor text; save them as a vector.")
    if values.dtype.kind == "f":
        for at in np.flatnonzero(~np.isfinite(values))[:1]:
            raise DataError(f"{path}: label {at + 1} is {values[at]}; leave out samples without a label.")
        if np.all(values == np.round(values)) and np.max(np.abs(values)) < 2**53:
            values = values.astype(np.int64)
    return values
