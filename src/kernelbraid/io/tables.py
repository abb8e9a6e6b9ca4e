"""Tables: what their columns are, and their cells as data frames whose index is the number of the row in the file."""

import csv
import io
import itertools
import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelbraid._system import install
from kernelbraid.io.dialect import (
    COMMA_NUMBER,
    DELIMITER_NAMES,
    ID_NAMES,
    MISSING,
    find_delimiter,
    is_header,
    is_number,
)
from kernelbraid.io.sources import DataError, Source, reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

ROWS = 100  # below the first, which say whether that is a header
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats
FILL = "fill the cell (scikit-learn's SimpleImputer can), delete the row"
MARKS = "it may have decimals or thousands; say what stands before decimals (--decimal comma or --decimal point)"
ENCODE = "encode it (scikit-learn's OneHotEncoder in a ColumnTransformer can)"


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns are known, and whose rows are not yet read.

    Parameters
    ----------
    source : Source
        The file; of a CSV or TSV file it is known what stands between cells.
    names : list of str
        The columns, as the header has them; "1", "2", ... without one.
    has_header : bool, default=True
        Whether there is one.
    skipped : int, default=0
        Rows before the first sample.
    head : list of list of str, default=()
        The first samples, of a CSV or TSV file.
    index : int or None, default=None
        The column that a Parquet file itself marks as ids.
    """

    source: Source
    names: list[str]
    has_header: bool = True
    skipped: int = 0
    head: Sequence[Sequence[str]] = ()
    index: int | None = None

    def error(self, sentence: str) -> DataError:
        """Return an error that names the file."""
        return DataError(f"{self.source.path}: {sentence}.")

    def find(self, wanted: str | int, *, is_name: bool = False) -> int:
        """Return the position of a column given by name, or by number from 1 unless it is a name."""
        found = [i for i, name in enumerate(self.names) if self.has_header and name == str(wanted)]
        if not (found or is_name) and str(wanted).isdecimal() and 0 < int(wanted) <= len(self.names):
            return int(wanted) - 1
        if len(found) != 1:
            many = "several columns are called" if found else "there is no column"
            what = f"{many} {str(wanted)!r}{', which is needed' if is_name else ''}"
            raise self.error(f"{what}; use one of {listing(self.names)}, or a number from 1")
        return found[0]

    def choose(
        self, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None
    ) -> tuple[int | None, list[int]]:
        """Return the column of ids, and those of the samples: all others, or those to keep, by name alone."""
        ids = self.default_id() if id_column is None else self.find(id_column)
        if keep is not None and self.has_header:
            kept = [self.find(name, is_name=True) for name in keep]
        else:
            left_out = {ids, *map(self.find, drop)}
            kept = [i for i in range(len(self.names)) if i not in left_out]
        if not kept:
            raise self.error("no column is left for the data; drop fewer columns")
        for name, count in Counter(self.names[i] for i in kept).items():
            if count > 1 and name:
                raise self.error(f"several columns are called {name!r}; rename one, or leave it out (--drop NUMBER)")
        return ids, kept

    def default_id(self) -> int | None:
        """Return the column that the file itself marks, or the first if its name says that it holds ids."""
        is_named = self.has_header and len(self.names) > 1 and self.names[0].lower() in ("", *ID_NAMES)
        return 0 if self.index is None and is_named else self.index

    def describe(self, column: int) -> str:
        """Return how a message calls a column."""
        return f"column {self.names[column]!r}" if self.has_header else f"column {column + 1}"

    def cell_error(self, column: int, row: int, cell: str) -> DataError:
        """Return the error for a cell that is no finite number."""
        name = self.names[column]
        name = shlex.quote(name) if name and name.isprintable() else str(column + 1)
        if cell.lower() in MISSING:
            what, remedy = "no value", FILL
        elif is_number(cell) and math.isinf(float(cell)):
            what, remedy = "an infinite value", "correct it"
        elif self.source.suffix != ".parquet" and (COMMA_NUMBER.fullmatch(cell) or is_number(cell)):
            what, remedy = "a number in another way", MARKS
        else:
            what, remedy = "text", f"{ENCODE}, use it as sample ids (--id {name})"
        is_first = not self.has_header and row <= self.skipped + 1
        return self.error(
            f"{self.describe(column)} has {what} in row {row} ({cell[:SHOWN]!r}); {remedy}, or leave the column out "
            f"(--drop {name}){', or say that the row names the columns (--header)' if is_first else ''}"
        )


def listing(names: Sequence[str]) -> str:
    """Return names of columns for a message, cut short when there are many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def open_table(source: Source, header: bool | None = None) -> Table:
    """Return a table with its columns; None: the first rows of a CSV or TSV file say whether it has a header."""
    if source.suffix == ".parquet":
        with open_parquet(source) as file:
            names = list(file.schema_arrow.names)
            index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
            if not file.metadata.num_rows or len({*names}) < max(len(names), 1):
                raise DataError(f"{source.path}: the file is empty, or two columns have one name; write it again.")
        return Table(source, names, index=next((names.index(name) for name in index if name in names), None))
    is_asked = source.delimiter is not None
    if not is_asked:
        with _text_of(source) as file:
            lines = list(itertools.islice(filter(str.strip, file), 20))
        usual = "," if source.suffix == ".csv" else "\t"
        source = replace(source, delimiter=find_delimiter(lines, usual))
    rows = [row for _, row in itertools.islice(_rows_of(source), ROWS + 1)]
    skipped = next((number for number, row in enumerate(rows) if any(row)), None)
    if skipped is None:
        raise DataError(f"{source.path}: the file is empty; give at least one row.")
    first, *head = (row for row in rows[skipped:] if len(row) == len(rows[skipped]) and any(row))
    is_number_alone = is_asked and COMMA_NUMBER.fullmatch(first[0])
    signs = {*first[0]} & {*DELIMITER_NAMES} - {" ", source.delimiter}
    for word in [DELIMITER_NAMES[sign] for sign in signs] if len(first) == 1 and not is_number_alone else ():
        what = f"row 1 is one cell with a {word} in it; say what stands between cells (--delimiter {word})"
        raise DataError(f"{source.path}: {what}, or write every row with as many cells.")
    has_header = is_header(first, head) if header is None else header
    names = first if has_header else [str(i + 1) for i in range(len(first))]
    return Table(source, names, has_header, skipped + has_header, head if has_header else [first, *head])


@contextmanager
def _text_of(source: Source) -> Iterator[io.TextIOWrapper]:
    """Open a CSV or TSV file as text."""
    remedy = "check its quotes"
    with reading(source.path, remedy), source.open() as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as file:
        yield file


def _rows_of(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV or TSV file with the numbers of their lines, from 1; a blank one has at most one cell."""
    sign = source.delimiter or ","
    with _text_of(source) as file:
        lines = (line.strip() + "\n" for line in file) if sign == " " else file
        reader = csv.reader(lines, delimiter=sign, strict=True, skipinitialspace=True)
        for row in reader:
            yield reader.line_num, [cell.strip() for cell in row]


def read_texts(table: Table) -> "pd.DataFrame":
    """Return the cells of a CSV or TSV file as they are written; each row must have as many."""
    import pandas as pd

    width = len(table.names)
    rows = [
        (number, row or [""])
        for number, row in itertools.islice(_rows_of(table.source), table.skipped, None)
        if width == 1 or len(row) > 1 or any(row)
    ]
    while rows and not any(rows[-1][1]):
        rows.pop()
    if not rows:
        raise table.error(f"the file has {'a header' * table.has_header} but no samples; give at least one row")
    for number, row in rows:
        if len(row) != width:
            raise table.error(f"row {number} has {len(row)} cells, those before it {width}; give each the same number")
    return pd.DataFrame([row for _, row in rows], [number for number, _ in rows], range(width), dtype=object)


@contextmanager
def open_parquet(source: Source) -> "Iterator[pq.ParquetFile]":
    """Open a Parquet file with pyarrow."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(f"{source.path}: Parquet needs pyarrow; {install('io')}.") from None
    with reading(source.path), source.open() as content, pq.ParquetFile(content) as file:
        yield file


def read_parquet(
    table: Table, chosen: Sequence[int], groups: Sequence[int] | None = None, rows: int = 2**16
) -> "Iterator[pd.DataFrame]":
    """Yield some columns of a Parquet file, each of its type, so many rows at a time, of all groups or of some."""
    names, first = [table.names[i] for i in chosen], 1
    with open_parquet(table.source) as file:
        for group in range(groups[0] if groups else 0):
            first += file.metadata.row_group(group).num_rows
        for batch in file.iter_batches(rows, row_groups=groups, columns=names):
            frame = batch.to_pandas(ignore_metadata=True)[names].set_axis(list(chosen), axis=1)
            yield frame.set_axis(range(first, first + len(frame)), axis=0)
            first += len(frame)
