"""Tables: how they are written, what their columns are, and their cells as frames numbered by the rows of the file."""

import io
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelbraid._system import install
from kernelbraid.io.sources import DataError, Source, reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

ROWS = 100  # below the first, which say whether that is a header
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats
EXACT = 2**25  # bytes of a file up to which numbers are rounded to the last bit, which takes pandas three times as long
ID_NAMES = ("id", "index", "name", "sample")
TRUTHS = {"true": 1.0, "false": 0.0}  # words for numbers, in any case
MISSING = ("", "nan", "na", "n/a", "null", "none", "?")
#: What may stand between cells, and what it is called.
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
# A number with a slip in it, or as another country writes it: 3..5, 3,5, 1'000.5, 7%.
LIKE_NUMBER = re.compile(r"[+-]?[\d.,'\s]*\d[\d.,'\s]*(e[+-]?\d*)?%?", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
# A whole number whose digits may stand in groups of three: 1,234 and 12.345.678, not 0,123, 1234,567 or 1,5.
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([,.]\d{3})+")
WHOLE = re.compile(r"[+-]?\d+")
# What makes numbers with a decimal mark those of Python, and of all others none; of no mark, whole numbers are some.
AS_PYTHON = {".": {}, ",": str.maketrans(",.", ".,"), None: str.maketrans(",.", "??")}
CHANCE = 1e-5  # of a sample that counts its columns: below it, such a first row is a header


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns are known, and whose rows are not yet read."""

    source: Source  # of a CSV or TSV file it is known what stands between cells
    names: list[str]  # of the columns, as the header has them; "1", "2", ... without one
    has_header: bool = True
    head: Sequence[Sequence[str]] = ()  # the first samples, of a CSV or TSV file
    index: int | None = None  # the column that a Parquet file itself marks as ids

    def error(self, sentence: str) -> DataError:
        """Return an error that names the file."""
        return DataError(f"{self.source.path}: {sentence}.")

    def find(self, wanted: str | int, *, is_name: bool = False) -> int:
        """Return the position of a column given by name, or by number from 1 unless it is a name."""
        found = [i for i, name in enumerate(self.names) if self.has_header and name == str(wanted)]
        if not (found or is_name) and str(wanted).isdecimal():
            found = [int(wanted) - 1] if 0 < int(wanted) <= len(self.names) else []
        if len(found) != 1:
            what = f"{'several columns are called' if found else 'there is no column'} {str(wanted)!r}"
            raise self.error(
                f"{what}{', which is needed' * is_name}; use one of {listing(self.names)}, or a number from 1"
            )
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
        for name in (name for name, other in pairwise(sorted(self.names[i] for i in kept)) if name == other != ""):
            raise self.error(f"several columns are called {name!r}; rename one, or leave it out (--drop NUMBER)")
        return ids, kept

    def default_id(self) -> int | None:
        """Return the column that the file itself marks, or the first if its name says that it holds ids."""
        is_named = self.has_header and len(self.names) > 1 and self.names[0].lower() in ("", *ID_NAMES)
        return 0 if self.index is None and is_named else self.index

    def cell_error(self, column: int, row: int, cell: str) -> DataError:
        """Return the error for a cell that is no finite number."""
        name, is_text = shlex.quote(self.names[column] or str(column + 1)), self.source.suffix != ".parquet"
        what, remedy = "text", f"encode it (scikit-learn's OneHotEncoder can), use it as sample ids (--id {name})"
        if cell.lower() in MISSING:
            what, remedy = "no value", "fill the cell (scikit-learn's SimpleImputer can), delete the row"
        elif is_number(cell) and math.isinf(float(cell)):
            what, remedy = "an infinite value", "correct it"
        elif is_text and (COMMA_NUMBER.fullmatch(cell) or is_number(cell)):
            what = "a number in another way"
            remedy = "it may have decimals or thousands; say what stands before decimals (--decimal comma or point)"
        if not self.has_header and row == self.source.blank + 1:
            remedy += ", say that the row names the columns (--header)"
        where = f"column {self.names[column]!r} has {what} in row {row} ({cell[:SHOWN]!r})"
        return self.error(f"{where}; {remedy}, or leave the column out (--drop {name})")


def listing(names: Sequence[str]) -> str:
    """Return names of columns for a message, cut short when there are many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def is_number(cell: str) -> bool:
    """Return whether a cell is written as a number (Python's 1_000 is not: it is more likely an id)."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_name(cell: str) -> bool:
    """Return whether a cell can name a column: it is no number, nothing like one, no truth and no mark of a gap."""
    return not (cell.lower() in (*MISSING, *TRUTHS) or is_number(cell) or LIKE_NUMBER.fullmatch(cell))


def find_decimal(cells: Iterable[str], delimiter: str | None) -> str | None:
    """Return the decimal mark of cells; None where semicolons stand between them, and points may be for thousands."""
    sure = [cell for cell in cells if not GROUPED.fullmatch(cell)]
    if any(map(COMMA_NUMBER.fullmatch, sure)):
        return ","
    return "." if delimiter != ";" or any("." in cell and is_number(cell) for cell in sure) else None


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a file names its columns, given rows below it.

    Text is a header if there is a name in it. A row with numbers, or with true and false, is a sample, whatever stands
    beside them: an id, or a slip. It is a header if its first cell is the usual name of ids, or empty or a name before
    numbers that count the columns, as pandas writes it; or if it counts them from 0 and cannot be a sample.
    """
    counts = [[str(i + start) for i in range(len(first))] for start in (0, 1)]
    if len(first) > 1 and first == counts[0]:
        return _only_counts(below)
    if first[1:] in (counts[0][:-1], counts[1][:-1]) and len(first) > 1:
        return not first[0] or (is_name(first[0]) and len(first) > 3)  # fewer may well be measurements
    is_text = not any(LIKE_NUMBER.fullmatch(cell) or is_number(cell) or cell.lower() in TRUTHS for cell in first)
    return any(map(is_name, first)) and (is_text or first[0].lower() in ID_NAMES)


def _only_counts(below: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row 0, 1, ... is a header, as pandas writes it, by what is below it.

    It is one if no cell below is a whole number: whoever wrote them would have written 0.0, 1.0. Above whole numbers it
    is one if a sample would hardly hold just these numbers, as far as each occurs in its column, nor are they ranks.
    """
    cells = [cell for row in below for cell in row]
    if not any(map(WHOLE.fullmatch, cells)) or not all(map(is_number, cells)):
        return len(cells) > 0 and not any(map(WHOLE.fullmatch, cells))
    rows = np.array(below, dtype=np.float64)
    n, d = rows.shape
    # Each number has a share in its column as if it had been seen there once, and something else, too.
    chance = np.prod((np.sum(rows == np.arange(d), axis=0) + 1) / (n + 2))
    return bool(chance < CHANCE and (np.sort(rows) != np.arange(d)).any())


def find_delimiter(lines: Sequence[str], usual: str) -> str:
    """Return what stands between the cells of lines: what each has as often, but a comma, which may be before decimals.

    Spaces must stand between numbers: texts have them.
    """
    for sign in (usual.strip(","), ";", "\t", "|", ","):
        if sign and len({line.count(sign) for line in lines}) == 1 and sign in lines[0].strip():
            return sign
    rows = [line.split() for line in lines]
    is_spaced = len({*map(len, rows)}) == 1 < len(rows[-1]) and all(map(is_number, rows[-1]))
    return " " if is_spaced else usual


def open_table(
    source: Source, header: bool | None = None, decide: Callable[..., bool] = is_header, n_rows: int | None = ROWS
) -> Table:
    """Return a table with its columns; None: the first rows of a CSV or TSV file say whether it has a header."""
    if source.suffix == ".parquet":
        with open_parquet(source) as file:
            names, marked = file.schema_arrow.names, (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
            if not (file.metadata.num_rows and names):
                raise DataError(f"{source.path}: the file is empty; give at least one row.")
        return Table(source, names, index=next((names.index(name) for name in marked if name in names), None))
    with source.open() as file:
        lines = [file.readline().decode("utf-8-sig", "replace") for _ in range(20)]
    blank = next((number for number, line in enumerate(lines) if line.strip()), 0)
    found = find_delimiter([*filter(str.strip, lines)] or [""], "," if source.suffix == ".csv" else "\t")
    form = replace(source, delimiter=source.delimiter or found, blank=blank)
    first, *head = read_texts(form, n_rows and n_rows + 1).to_numpy().tolist()
    signs = {*first[0]} & {*DELIMITER_NAMES} - {" "}
    if len(first) == 1 and signs and not COMMA_NUMBER.fullmatch(first[0]):
        word = DELIMITER_NAMES[min(signs)]
        what = f"row 1 is one cell with a {word} in it; say what stands between cells (--delimiter {word})"
        raise DataError(f"{source.path}: {what}, or write every row with as many cells.")
    has_header = decide(first, head) if header is None else header
    names = first if has_header else [str(i + 1) for i in range(len(first))]
    return Table(form, names, has_header, head if has_header else [first, *head])


def read_csv(source: Source, **how: Any) -> "pd.DataFrame":
    """Return what pandas reads in a CSV or TSV file without a header, in which it takes no cell for a missing one."""
    import pandas as pd

    how |= {"header": None, "na_filter": False, "skip_blank_lines": False, "skipinitialspace": True}
    sep = r"\s+" if source.delimiter == " " else source.delimiter
    with reading(source.path, "check its quotes, and give each row as many cells"), source.open() as file:
        how["float_precision"] = "round_trip" if file.seek(0, io.SEEK_END) < EXACT else None
        file.seek(0)
        frame = pd.read_csv(file, sep=sep, skiprows=source.blank, encoding="utf-8-sig", **how)
    frame.index += source.blank + 1
    return frame


def read_texts(source: Source, n_rows: int | None = None) -> "pd.DataFrame":
    """Return the cells of a CSV or TSV file as they are written, without blank rows."""
    frame = read_csv(source, dtype=object, nrows=n_rows).apply(lambda column: column.str.strip())
    is_filled = (frame != "").any(axis=1).to_numpy()
    if not is_filled.any():
        raise DataError(f"{source.path}: the file is empty; give at least one row.")
    if len(frame.columns) == 1:  # what is blank between others is a cell
        is_filled[: np.flatnonzero(is_filled)[-1]] = True
    return frame[is_filled]


def read_all(table: Table, chosen: Sequence[int]) -> "pd.DataFrame":
    """Return columns of a Parquet file, each of its type, or the cells of a CSV or TSV file as they are written."""
    import pandas as pd

    is_text = table.source.suffix != ".parquet"
    frame = (
        read_texts(table.source).iloc[int(table.has_header) :] if is_text else pd.concat(read_parquet(table, chosen))
    )
    if frame.empty:
        raise table.error("the file has a header but nothing below it; give at least one row")
    return frame


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
    table: Table, chosen: Sequence[int], group: int | None = None, n_rows: int = 2**16
) -> "Iterator[pd.DataFrame]":
    """Yield some columns of a Parquet file, each of its type, so many rows at a time, of all groups or of one."""
    names = [table.names[i] for i in chosen]
    with open_parquet(table.source) as file:
        first = 1 + sum(file.metadata.row_group(i).num_rows for i in range(group or 0))
        for batch in file.iter_batches(n_rows, row_groups=None if group is None else [group], columns=names):
            frame = batch.to_pandas(ignore_metadata=True)[names].set_axis(list(chosen), axis=1)
            yield frame.set_axis(range(first, first + len(frame)), axis=0)
            first += len(frame)
