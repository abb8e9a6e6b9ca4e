"""Labels: the right column of a table, or the right vector of an array file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.files import parquet, text
from kernelbraid.files.columns import ID_NAMES, LABEL_NAMES, Columns, is_number
from kernelbraid.files.errors import DataError


def read_text_labels(path: Path, delimiter: str) -> tuple[Host, list[str] | None]:
    """Return the labels of a CSV or TSV file and the ids beside them."""
    rows = list(text.read_rows(path, delimiter))
    if not rows:
        raise DataError(f"{path}: the file is empty; give one label per row.")
    cells = [[cell.strip() for cell in row] for _, row in rows]
    has_header, at = _find_labels(cells)
    if has_header and len(rows) == 1:
        raise DataError(f"{path}: the file has a header but no labels; give one label per row.")
    columns = Columns(path, cells[0] if has_header else [str(i + 1) for i in range(len(cells[0]))], has_header)
    numbers, body = [number for number, _ in rows][has_header:], cells[has_header:]
    for number, row in zip(numbers, body, strict=True):
        if not row[at]:
            raise _missing_label(columns, at, number)
    id_index = columns.default_id()
    if id_index is None and not has_header and at > 0 and _are_ids([row[0] for row in body]):
        id_index = 0
    ids = None if id_index is None or id_index == at else [row[id_index] for row in body]
    return _parse(path, [row[at] for row in body]), ids


def _find_labels(cells: Sequence[Sequence[str]]) -> tuple[bool, int]:
    """Return whether the first row is a header, and which column holds the labels."""
    first = [cell.lower() for cell in cells[0]]
    for name in LABEL_NAMES:
        # A name that comes back below is a label itself, as y is among y and n.
        if name in first and all(row[first.index(name)].lower() != name for row in cells[1:]):
            return True, first.index(name)
    if len(first) > 1 and first[0] in ("", *ID_NAMES):
        return True, len(first) - 1
    column = [row[-1] for row in cells]
    return not is_number(column[0]) and len(column) > 1 and all(map(is_number, column[1:])), len(first) - 1


def _are_ids(values: Sequence[str]) -> bool:
    """Return whether a column without a name is text and tells all rows apart."""
    return len(set(values)) == len(values) and not any(map(is_number, values))


def _missing_label(columns: Columns, index: int, row: int) -> DataError:
    """Return the error for a row without a label."""
    return DataError(
        f"{columns.path}: {columns.describe(index)} has no label in row {row}; fill the cell or delete the row."
    )


def _parse(path: Path, cells: Sequence[str]) -> Host:
    """Return the labels as numbers where all of them are."""
    if not all(map(is_number, cells)):
        return np.array(cells, dtype=str)
    return check_labels(path, np.array([float(cell) for cell in cells]))


def read_parquet_labels(path: Path) -> tuple[Host, list[str] | None]:
    """Return the labels of a Parquet file and the ids beside them."""
    table = parquet.read_table(path)
    columns = parquet.read_columns(table.schema, path)
    names = [name.lower() for name in columns.names]
    at = next((names.index(name) for name in LABEL_NAMES if name in names), None)
    id_index = columns.default_id()
    if at is None:
        at = max(i for i in range(len(names)) if i != id_index or len(names) == 1)
    values = table.column(at).to_pylist()
    if None in values:
        raise _missing_label(columns, at, values.index(None) + 1)
    ids = None if id_index is None or id_index == at else parquet.read_ids(table.column(id_index), columns, id_index)
    return check_labels(path, np.array(values)), ids


def check_labels(path: Path, values: Host) -> Host:
    """Return an array as one label per sample, or say what is wrong with it."""
    if values.ndim not in (1, 2) or values.size != max(values.shape):
        raise DataError(f"{path}: the labels have shape {values.shape}; give one label per sample.")
    values = values.ravel()
    if values.size == 0:
        raise DataError(f"{path}: the file has no labels; give one label per sample.")
    if values.dtype.kind == "O":
        values = _cell_text(path, values)
    if values.dtype.kind == "f":
        missing = np.flatnonzero(~np.isfinite(values))
        if missing.size:
            at = int(missing[0])
            raise DataError(f"{path}: label {at + 1} is {values[at]}; leave out samples without a label.")
        if np.all(values == np.round(values)) and np.max(np.abs(values)) < 2**53:
            values = values.astype(np.int64)
    return values


def _cell_text(path: Path, values: Host) -> Host:
    """Return the text in a MATLAB cell array of strings."""
    cells = [np.asarray(value) for value in values]
    if not all(cell.size == 1 and cell.dtype.kind in "UT" for cell in cells):
        raise DataError(f"{path}: the labels are neither numbers nor text; save them as a vector.")
    return np.array([str(cell.item()) for cell in cells])
