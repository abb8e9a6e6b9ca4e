"""Labels: the right column of a table, or the right vector of an array file."""

from collections.abc import Callable, Sequence
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.files import parquet, text
from kernelbraid.files.columns import ID_NAMES, LABEL_NAMES, MISSING, Columns, is_name, is_number
from kernelbraid.files.errors import DataError
from kernelbraid.files.memory import check_room
from kernelbraid.files.sources import Source

INT64 = np.iinfo(np.int64)
KINDS = "biufUS"  # of types that can be labels: numbers and text


def read_text_labels(
    source: Source, header: bool | None, column: str | int | None = None
) -> tuple[Host, list[str] | None, bool, bool]:
    """Return the labels of a CSV or TSV file, the ids beside them, and whether the first row is and may be a header.

    A column that is asked for by name is in the header.
    """
    path = source.path
    rows = list(text.read_rows(source))
    if not rows:
        raise DataError(f"{path}: the file is empty; give one label per row.")
    cells = [[cell.strip() for cell in row] for _, row in rows]
    has_header = _has_header(cells) if header is None else header
    has_header = has_header or (header is None and column is not None and not str(column).isdecimal())
    if has_header and len(rows) == 1:
        raise DataError(f"{path}: the file has a header but no labels; give one label per row.")
    may_be_header = has_header or (header is None and _may_be_header(cells))
    columns = Columns(path, cells[0] if may_be_header else [str(i + 1) for i in range(len(cells[0]))], may_be_header)
    numbers, body = [number for number, _ in rows][has_header:], cells[has_header:]
    at = _find_labels(columns, lambda: [row[0] for row in body]) if column is None else columns.find(column)
    values = [row[at] for row in body]
    marks = ("",) if not _are_numbers_with_gaps(values) else MISSING
    for number, value in zip(numbers, values, strict=True):
        if value.lower() in marks:
            raise _missing_label(columns, at, number)
    id_index = columns.default_id()
    if id_index is None and at > 0 and _are_ids([row[0] for row in body]):
        id_index = 0
    ids = None if id_index is None or id_index == at else [row[id_index] for row in body]
    return parse(path, values), ids, has_header, may_be_header


def _may_be_header(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether nothing but the meaning of its words tells a first row from a sample: none comes back below."""
    first, *rest = cells
    return len(rest) > 0 and all(is_name(cell) and all(row[i] != cell for row in rest) for i, cell in enumerate(first))


def _has_header(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table with labels names its columns."""
    first = [cell.lower() for cell in cells[0]]
    # A name that comes back below is a label itself, as y is among y and n.
    named = [i for i, name in enumerate(first) if name in LABEL_NAMES]
    if any(all(row[i].lower() != first[i] for row in cells[1:]) for i in named):
        return True
    if len(first) > 1 and first[0] in ("", *ID_NAMES):
        return True
    # A number in the row belongs to a sample, and so does a mark of a missing label.
    if len(cells) == 1 or any(map(is_number, first)):
        return False
    return any(is_name(name) and all(is_number(row[i]) for row in cells[1:]) for i, name in enumerate(first))


def _find_labels(columns: Columns, first_column: Callable[[], Sequence[object]]) -> int:
    """Return the column that holds the labels: by its name, or the only one beside ids; nothing is guessed."""
    names = [name.lower() for name in columns.names] if columns.has_header else []
    named = [i for i, name in enumerate(names) if name in LABEL_NAMES]
    # y may be a coordinate, and is no name of classes where something else is.
    named = [i for i in named if names[i] != "y"] or named
    others = [i for i in range(len(columns.names)) if i != columns.default_id()] if len(columns.names) > 1 else [0]
    if len(named or others) == 1:
        return (named or others)[0]
    if not named and len(columns.names) == 2 and _can_be_ids(first_column()):
        return 1
    raise DataError(
        f"{columns.path}: the labels may be in any of the columns {columns.listing(named or others)}; say in which "
        "(--column NAME for the truth, --labels-column NAME for the labels that are scored), or call it label."
    )


def _are_numbers_with_gaps(values: Sequence[str]) -> bool:
    """Return whether labels are numbers and marks of missing values, which are no labels then."""
    others = [value.lower() for value in values if not is_number(value)]
    return 0 < len(others) < len(values) and all(value in MISSING for value in others)


def _are_ids(values: Sequence[str]) -> bool:
    """Return whether a column without a name is text and tells all rows apart."""
    return len(set(values)) == len(values) and not any(map(is_number, values))


def _can_be_ids(values: Sequence[object]) -> bool:
    """Return whether a column tells all rows apart by texts or whole numbers, which are no classes then."""
    cells = list(map(str, values))
    return len(set(cells)) == len(cells) and not any(is_number(cell) and not cell.isdecimal() for cell in cells)


def _missing_label(columns: Columns, index: int, row: int) -> DataError:
    """Return the error for a row without a label."""
    return DataError(
        f"{columns.path}: {columns.describe(index)} has no label in row {row}; fill the cell or delete the row."
    )


def parse(path: Path, cells: Sequence[str]) -> Host:
    """Return the labels as numbers where all of them are, and as text otherwise; no two of them become one."""
    if not all(map(is_number, cells)):
        return _as_text(path, cells)
    try:
        exact = [Decimal(cell) for cell in cells]
    except DecimalException:  # an exponent beyond all bounds
        return _as_text(path, cells)
    for at, value in enumerate(exact):
        if not value.is_finite():
            raise _not_finite(path, at, float(value))
    if max(value.adjusted() for value in exact) < 19 and all(value == value.to_integral_value() for value in exact):
        whole = [int(value) for value in exact]
        if INT64.min <= min(whole) and max(whole) <= INT64.max:
            return np.array(whole, dtype=np.int64)
    numbers = np.array([float(value) for value in exact])
    if np.isfinite(numbers).all() and len(np.unique(numbers)) == len(set(exact)):
        return numbers
    return _as_text(path, cells)


def _not_finite(path: Path, at: int, value: float) -> DataError:
    return DataError(f"{path}: label {at + 1} is {value}; leave out samples without a label.")


def read_parquet_labels(source: Source, column: str | int | None = None) -> tuple[Host, list[str] | None]:
    """Return the labels of a Parquet file and the ids beside them."""
    columns = parquet.read_columns(source)
    if column is None:
        at = _find_labels(columns, lambda: parquet.read_values(parquet.read_chosen(source, columns, [0])[0]))
    else:
        at = columns.find(column)
    id_index = columns.default_id()
    maybe = 0 if id_index is None and at > 0 and parquet.is_text(source, 0) else id_index
    beside = [] if maybe is None or maybe == at else [maybe]
    values, *rest = parquet.read_chosen(source, columns, [at, *beside])
    if values.null_count:
        raise _missing_label(columns, at, parquet.read_values(values).index(None) + 1)
    ids = parquet.read_ids(rest[0], columns, beside[0]) if beside else None
    if id_index is None and ids is not None and not _are_ids(ids):
        ids = None
    return _from_column(source.path, values), ids


def _from_column(path: Path, column: Any) -> Host:
    """Return a column of a Parquet file as labels; whole numbers never pass through floating point."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return check_labels(path, column.to_numpy())
    values = parquet.read_values(column)
    if pa.types.is_decimal(kind):
        return parse(path, [str(value) for value in values])
    if all(isinstance(value, str) for value in values):
        return _as_text(path, values)
    raise _no_labels(path)


def _as_text(path: Path, cells: Sequence[str]) -> Host:
    """Return texts as an array, each of whose entries takes as much as the longest."""
    check_room(path, "an array of the labels", 4 * len(cells) * max(map(len, cells)), "give shorter labels")
    return np.array(cells, dtype=str)


def check_labels(path: Path, values: Host) -> Host:
    """Return an array as one label per sample, or say what is wrong with it."""
    if values.ndim not in (1, 2) or values.size != max(values.shape):
        raise DataError(f"{path}: the labels have shape {values.shape}; give one label per sample.")
    values = values.ravel()
    if values.size == 0:
        raise DataError(f"{path}: the file has no labels; give one label per sample.")
    if values.dtype.kind == "O":
        values = _cell_text(path, values)
    if values.dtype.kind not in KINDS:
        raise _no_labels(path)
    if values.dtype.kind == "f":
        missing = np.flatnonzero(~np.isfinite(values))
        if missing.size:
            raise _not_finite(path, int(missing[0]), float(values[missing[0]]))
        if np.all(values == np.round(values)) and np.max(np.abs(values)) < 2**53:
            values = values.astype(np.int64)
    return values


def _no_labels(path: Path) -> DataError:
    return DataError(f"{path}: the labels are neither numbers nor text; save them as a vector.")


def _cell_text(path: Path, values: Host) -> Host:
    """Return the text in a MATLAB cell array of strings."""
    cells = [np.asarray(value) for value in values]
    if not all(cell.size == 1 and cell.dtype.kind in "UT" for cell in cells):
        raise _no_labels(path)
    return _as_text(path, [str(cell.item()) for cell in cells])
