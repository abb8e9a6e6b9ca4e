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

from kernelbraid.files.columns import Columns, is_header, is_number
from kernelbraid.files.errors import DataError, reading
from kernelbraid.files.sources import DELIMITERS, Source

#: Number of the row in the file, from 1, and its cells.
NumberedRow: TypeAlias = tuple[int, list[str]]


def read_rows(source: Source) -> Generator[NumberedRow, None, None]:
    """Yield the rows of a file, all of one width, without blank lines."""
    path, delimiter = source.path, DELIMITERS[source.suffix]
    with reading(path), io.TextIOWrapper(source.open(), encoding="utf-8-sig", newline="") as file:
        try:
            yield from _equal_rows(path, csv.reader(file, delimiter=delimiter, strict=True), delimiter)
        except UnicodeDecodeError:
            raise DataError(f"{path}: this is not UTF-8 text; save the table as UTF-8.") from None
        except csv.Error as error:
            raise DataError(f"{path}: this is not a readable table ({error}); check its quotes.") from None


def _equal_rows(path: Path, reader: Iterator[list[str]], delimiter: str) -> Iterator[NumberedRow]:
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
            _check_delimiter(path, row, delimiter)
        if len(row) != width:
            raise DataError(
                f"{path}: row {number} has {len(row)} cells and the rows before it have {width}; "
                "give every row the same number."
            )
        yield number, row


def _check_delimiter(path: Path, row: Sequence[str], delimiter: str) -> None:
    """Refuse a file whose cells are separated by something else."""
    for other, name in ((";", "semicolons"), ("\t", "tabs")):
        if other != delimiter and len(row) == 1 and other in row[0]:
            expected = "tabs" if delimiter == "\t" else "commas"
            raise DataError(f"{path}: the cells are separated by {name}; save the table with {expected}.")


@contextmanager
def opened_columns(source: Source, header: bool | None) -> Iterator[tuple[Columns, Iterator[NumberedRow]]]:
    """Yield the columns of a file and its rows without the header; None: the first row says whether it is one.

    The file is closed at the end of the block, also if not all rows were asked for.
    """
    with closing(read_rows(source)) as rows:
        head = list(itertools.islice(rows, 2))
        if not head:
            raise DataError(f"{source.path}: the file is empty; give at least one row of numbers.")
        first = [cell.strip() for cell in head[0][1]]
        has_header = is_header(first) if header is None else header
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
) -> tuple[NDArray[np.float64], Columns, list[str] | None]:
    """Return the data columns as a matrix, the columns, and the ids."""
    numbers: list[int] = []
    ids: list[str] = []
    values = array("d")
    with opened_columns(source, header) as (every, rows):
        columns = every.choose(id_column, drop, keep)
        for number, row in rows:
            numbers.append(number)
            if columns.id_index is not None:
                ids.append(row[columns.id_index].strip())
            cells = [row[i] for i in columns.kept]
            try:
                values.extend(map(float, cells))
            except ValueError:
                raise _first_error(columns, number, row) from None
            if "_" in "".join(cells):  # float() reads 1_0 as 10
                raise _first_error(columns, number, row)
    if "" in ids:
        raise columns.cell_error(columns.id_index or 0, numbers[ids.index("")], None)
    X = np.frombuffer(values).reshape(len(numbers), len(columns.kept))
    for i, j in np.argwhere(~np.isfinite(X))[:1]:
        raise columns.cell_error(columns.kept[j], numbers[i], X[i, j])
    return X, columns, ids if columns.id_index is not None else None


def _first_error(columns: Columns, number: int, row: Sequence[str]) -> DataError:
    """Return the error for the first cell of a row that is no number."""
    index = next(i for i in columns.kept if not is_number(row[i]))
    return columns.cell_error(index, number, row[index])
