"""CSV and TSV files, read row by row: nothing but the numbers is kept."""

import csv
import io
import itertools
from array import array
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelbraid.files.columns import Columns, is_header
from kernelbraid.files.dialect import COMMA_NUMBER, DELIMITER_NAMES, Numbers, with_delimiter
from kernelbraid.files.errors import DataError, reading
from kernelbraid.files.sources import Form, Source

TELLING_ROWS = 100  # below the first, which say whether that is a header

#: Number of the row in the file, from 1, and its cells.
NumberedRow: TypeAlias = tuple[int, list[str]]


def read_rows(source: Source) -> Generator[NumberedRow, None, None]:
    """Yield the rows of a file, all of one width, without blank lines."""
    path = source.path
    with reading(path), io.TextIOWrapper(source.open(), encoding="utf-8-sig", newline="") as file:
        delimiter = with_delimiter(source).form.delimiter or ","
        try:
            rows = csv.reader(file, delimiter=delimiter, strict=True)
            yield from _equal_rows(path, rows, delimiter, is_asked=source.form.delimiter is not None)
        except UnicodeDecodeError:
            raise DataError(f"{path}: this is not UTF-8 text; save the table as UTF-8.") from None
        except csv.Error as error:
            raise DataError(f"{path}: this is not a readable table ({error}); check its quotes.") from None


def _equal_rows(path: Path, reader: Iterator[list[str]], delimiter: str, *, is_asked: bool) -> Iterator[NumberedRow]:
    """Yield numbered rows; a blank line is skipped, unless it must be a sample without values."""
    width, blank = 0, 0
    for row in reader:
        number: int = reader.line_num  # type: ignore[attr-defined]
        if not any(cell.strip() for cell in row):
            if width == 1 or len(row) > 1:
                blank = blank or number
            continue
        if blank:
            raise DataError(f"{path}: row {blank} is empty; fill it or delete the line.")
        if not width:
            width = len(row)
            _check_delimiter(path, row, delimiter, is_asked=is_asked)
        if len(row) != width:
            raise DataError(
                f"{path}: row {number} has {len(row)} cells and the rows before it have {width}; "
                "give every row the same number."
            )
        yield number, row


def _check_delimiter(path: Path, row: Sequence[str], delimiter: str, *, is_asked: bool) -> None:
    """Refuse a file whose cells are separated by something else; a comma may be a decimal mark."""
    if len(row) > 1:
        return
    for other, option in ((";", "semicolon"), ("\t", "tab"), (",", "comma")):
        is_meant = other != "," or (is_asked and COMMA_NUMBER.fullmatch(row[0].strip()) is None)
        if other != delimiter and is_meant and other in row[0]:
            expected = DELIMITER_NAMES.get(delimiter, repr(delimiter))
            raise DataError(
                f"{path}: the cells seem to be separated by {DELIMITER_NAMES[other]} where {expected} are expected; "
                f"say so with --delimiter {option}, or write every row with as many cells."
            )


@contextmanager
def opened_columns(source: Source, header: bool | None) -> Iterator[tuple[Columns, Iterator[NumberedRow]]]:
    """Yield the columns of a file and its rows without the header; None: the first rows say whether there is one.

    The file is closed at the end of the block, also if not all rows were asked for.
    """
    with closing(read_rows(source)) as rows:
        head = list(itertools.islice(rows, 1 + TELLING_ROWS))
        if not head:
            raise DataError(f"{source.path}: the file is empty; give at least one row of numbers.")
        first = [cell.strip() for cell in head[0][1]]
        has_header = is_header(first, [row for _, row in head[1:]]) if header is None else header
        if has_header and len(head) == 1:
            raise DataError(f"{source.path}: the file has a header but no samples; give at least one row of numbers.")
        names = first if has_header else [str(i + 1) for i in range(len(first))]
        yield Columns(source.path, names, has_header), itertools.chain(head[has_header:], rows)


def read_matrix(
    source: Source,
    id_column: str | int | None,
    drop: Iterable[str | int],
    keep: Iterable[str] | None = None,
    *,
    header: bool | None = None,
) -> tuple[NDArray[np.float64], Columns, list[str] | None, Form]:
    """Return the data columns as a matrix, the columns, the ids, and how the table is written."""
    source = with_delimiter(source)
    numbers: list[int] = []
    ids: list[str] = []
    values = array("d")
    with opened_columns(source, header) as (every, rows):
        columns = every.choose(id_column, drop, keep)
        cells = Numbers(columns, source)
        for number, row in rows:
            numbers.append(number)
            if columns.id_index is not None:
                ids.append(row[columns.id_index].strip())
            values.extend(cells.of(number, row))
    cells.check()
    if "" in ids:
        raise columns.cell_error(columns.id_index or 0, numbers[ids.index("")], None)
    X = np.frombuffer(values).reshape(len(numbers), len(columns.kept))
    for i, j in np.argwhere(~np.isfinite(X))[:1]:
        raise columns.cell_error(columns.kept[j], numbers[i], _cell(source, numbers[i], columns.kept[j]))
    form = Form(source.suffix, source.form.delimiter, cells.decimal)
    return X, columns, ids if columns.id_index is not None else None, form


def _cell(source: Source, number: int, index: int) -> str:
    """Return a cell as it is written; only messages need it, so that the file is read once more."""
    with closing(read_rows(source)) as rows:
        return next((row[index] for at, row in rows if at == number), "")
