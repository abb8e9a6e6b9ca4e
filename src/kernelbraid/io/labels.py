"""Labels: the right column of a table, or the right vector of an array file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.io.arrays import is_label_array, read_array
from kernelbraid.io.columns import Table, listing, open_table, read_columns, read_frame
from kernelbraid.io.dialect import ID_NAMES, MISSING, is_name, is_number
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, open_source

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
        values = read_array(source, key, ("y", "labels", "label", "gnd"), is_label_array)
        return LabelFile(check_labels(source.path, values))
    table = open_table(source, header=False)
    has_header = may_be_header = None
    if source.suffix == ".parquet":
        columns = read_columns(table, range(len(table.names)))
    else:
        rows = [tuple(map(str.strip, row)) for row in read_frame(table, dtype=str).to_numpy().tolist()]
        is_named = column is not None and not str(column).isdecimal()  # by its name in the header
        has_header = (is_named or _has_header(rows)) if header is None else header
        may_be_header = has_header or (header is None and _may_be_header(rows))
        if has_header and len(rows) == 1:
            raise table.error("the file has a header but no labels; give one label per row.")
        header_names = list(rows[0]) if may_be_header else table.names
        table = replace(table, names=header_names, has_header=may_be_header, skipped=table.skipped + has_header)
        columns = list(zip(*rows[has_header:], strict=True))
    first = list(map(str, columns[0]))
    at = _find_labels(table, first) if column is None else table.find(column)
    ids = table.default_id()
    if ids is None and len(set(first)) == len(first) and not any(map(is_number, first)):
        ids = 0
    names = None if ids in (None, at) else list(map(str, columns[ids]))
    return LabelFile(_values(table, at, columns[at]), names, has_header, bool(may_be_header))


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


def _find_labels(table: Table, first_column: Sequence[str]) -> int:
    """Return the column that holds the labels: by its name, or the only one beside ids; nothing is guessed."""
    names = [name.lower() for name in table.names] if table.has_header else []
    named = [i for i, name in enumerate(names) if name in LABEL_NAMES]
    # y may be a coordinate, and is no name of classes where something else is.
    named = [i for i in named if names[i] != "y"] or named
    n_columns = len(table.names)
    found = named or [i for i in range(n_columns) if i != table.default_id() or n_columns == 1]
    # Texts or whole numbers that tell all rows apart are no classes.
    are_ids = len(set(first_column)) == len(first_column) and all(
        c.isdecimal() or not is_number(c) for c in first_column
    )
    if len(found) > 1 and (named or n_columns > 2 or not are_ids):
        raise table.error(
            f"the labels may be in any of the columns {listing([table.names[i] for i in found])}; say in which "
            "(--column NAME for the truth, --labels-column NAME for the labels that are scored), or call it label."
        )
    return found[-1]


def _values(table: Table, column: int, cells: Any) -> Host:
    """Return a column as labels, none of which is missing."""
    path, texts = table.source.path, ["" if cell is None else str(cell) for cell in cells]
    numbers = [text for text in texts if is_number(text) and text.lower() not in MISSING]
    are_numbers = len(numbers) > 0 and all(is_number(text) or text.lower() in MISSING for text in texts)
    for row, text in enumerate(texts):
        if text.lower() in (MISSING if are_numbers else ("",)):
            name, number = table.describe(column), table.number(row)
            raise table.error(f"{name} has no label in row {number} ({text!r}); fill the cell or delete the row.")
    if table.source.suffix == ".parquet" and not isinstance(cells.iloc[0], Decimal):
        return check_labels(path, cells.to_numpy())
    return _parsed(path, texts)


def _parsed(path: Path, cells: Sequence[str]) -> Host:
    """Return labels as numbers where all of them are, and as text otherwise; no two of them become one."""
    try:
        exact = [Decimal(cell) for cell in cells if is_number(cell)]
    except DecimalException:  # an exponent beyond all bounds
        exact = []
    if len(exact) < len(cells):
        return np.array(cells, dtype=str)
    numbers = np.array(list(map(float, exact)))
    if not all(value.is_finite() for value in exact):
        return check_labels(path, numbers)
    if all(abs(value) < 2**63 and value == value.to_integral_value() for value in exact):
        return np.array(list(map(int, exact)))
    is_apart = np.isfinite(numbers).all() and len(np.unique(numbers)) == len(set(exact))
    return numbers if is_apart else np.array(cells, dtype=str)


def check_labels(path: Path, values: Host) -> Host:
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
