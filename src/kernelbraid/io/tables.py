"""Tables: what stands between cells, which row and column is what, and the cells as data frames of pandas."""

import csv
import io
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelbraid._machine import install
from kernelbraid._typing import Host
from kernelbraid.io.arrays import not_finite
from kernelbraid.io.sources import PACKED, DataError, Source, reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

HEAD = 100  # rows that say what stands between cells and before decimals
MARKS = "it may have decimals or thousands; say what stands before decimals (--decimal comma or --decimal point)"
ENCODE = "encode it (scikit-learn's OneHotEncoder in a ColumnTransformer can)"
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats
EXACT = 2**25  # bytes of a file up to which numbers are rounded to the last bit, which takes pandas three times as long
ID_NAMES = ("id", "index", "name", "sample", "")
TRUTHS = {"true": 1.0, "false": 0.0}  # words for numbers, in any case
MISSING = ("", "nan", "na", "n/a", "null", "none", "?")
#: What may stand between cells, and what it is called.
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
# Python's 1_000 is no number here: it is more likely an id.
NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
# A number with a slip in it, or as another country writes it: 3..5, 3,5, 1'000.5, 7%.
LIKE_NUMBER = re.compile(rf"[+-]?[\d.,'\s]*\d[\d.,'\s]*(e[+-]?\d*)?%?|{NUMBER.pattern}", re.IGNORECASE)
# A whole number whose digits may stand in groups of three: 1,234 and 12.345.678, not 0,123, 1234,567 or 1,5.
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([,.]\d{3})+")
# A number whose digits do: 1.000,5, 1,000.5, 1'000 and 1.000.000.
IN_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,'’\s]\d{3})+([.,]\d*)?")
# What makes numbers with a decimal mark those of Python, and of all others none; of no mark, whole numbers are some.
AS_PYTHON = {".": {}, ",": str.maketrans(",.", ".,"), None: str.maketrans(",.", "??")}


def is_name(cell: str) -> bool:
    """Return whether a cell can name a column: it is no number, nothing like one, no truth and no mark of a gap."""
    return not (cell.lower() in (*MISSING, *TRUTHS) or LIKE_NUMBER.fullmatch(cell))


def is_header(first: Sequence[str]) -> bool:
    """Return whether the first row of a file names its columns, as far as it tells that itself.

    Text is a header if there is a name in it. A row with numbers, or with true and false, is a sample, whatever stands
    beside them: an id, or a slip. It is a header if its first cell is the usual name of ids, or empty before numbers
    that count the columns, as pandas writes it.
    """
    is_text = not any(LIKE_NUMBER.fullmatch(cell) or cell.lower() in TRUTHS for cell in first)
    is_counted = len(first) > 1 and first == ["", *map(str, range(len(first) - 1))]
    return is_counted or (any(map(is_name, first)) and (is_text or first[0].lower() in ID_NAMES[:-1]))


def find_delimiter(lines: Sequence[str], usual: str) -> str:
    """Return what stands between the cells of lines: what makes as many of them in each, most of them numbers.

    Nothing but numbers tells in doubt, and what is usual. Spaces must stand between numbers: texts have them.
    """

    def share(sign: str) -> float:
        rows = list(csv.reader(lines, delimiter=sign, skipinitialspace=True))
        numbers = [sum(bool(NUMBER.fullmatch(cell) or COMMA_NUMBER.fullmatch(cell)) for cell in row) for row in rows]
        widths = {len(row) for row in rows}
        is_one = len(widths) == 1 < max(widths) and (sign != " " or min(numbers[1:] or numbers) > 1)
        return sum(numbers) / max(widths) if is_one else -1.0

    return max((usual, ";", "\t", "|", " "), key=share)


def find_decimal(cells: Iterable[str], delimiter: str | None) -> str | None:
    """Return the decimal mark of cells; None where semicolons stand between them, and points may be for thousands."""
    sure = [cell for cell in cells if not GROUPED.fullmatch(cell)]
    if any(map(COMMA_NUMBER.fullmatch, sure)):
        return ","
    return "." if delimiter != ";" or any("." in cell and NUMBER.fullmatch(cell) for cell in sure) else None


def listing(names: Sequence[str]) -> str:
    """Return names of columns for a message, cut short when there are many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns are known, and whose rows are not yet read.

    Parameters
    ----------
    source : Source
        The file; of a CSV or TSV file it is known what stands between cells.
    names : list of str
        The columns, as the header has them; "1", "2", ... without one.
    header : bool or None
        Whether the first row of a CSV or TSV file is one; None: a Parquet file.
    index : int or None
        The column of ids: one that a Parquet file marks, or a first one with such a name.
    head : list of list of str, default=()
        The first samples of a CSV or TSV file.
    """

    source: Source
    names: list[str]
    header: bool | None
    index: int | None
    head: Sequence[Sequence[str]] = ()

    def error(self, sentence: str) -> DataError:
        """Return an error that names the file."""
        return DataError(f"{self.source.path}: {sentence}.")

    def find(self, wanted: str | int, *, by_name: bool = False) -> int:
        """Return the position of a column given by name, or by number from 1 unless it is a name."""
        found = [i for i, name in enumerate(self.names) if self.header is not False and name == str(wanted)]
        if not (found or by_name) and str(wanted).isdecimal() and 0 < int(wanted) <= len(self.names):
            return int(wanted) - 1
        if len(found) != 1:
            what = f"{'several columns are called' if found else 'there is no column'} {str(wanted)!r}"
            remedy = f"use one of {listing(self.names)}, or a number from 1"
            raise self.error(f"{what}{', which is needed' * by_name}; {remedy}")
        return found[0]

    def choose(
        self, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None
    ) -> tuple[int | None, list[int]]:
        """Return the column of ids, and those of the samples: all others, or those to keep, by name alone."""
        ids = self.index if id_column is None else self.find(id_column)
        drop = (drop,) if isinstance(drop, str | int) else drop
        if keep is None or self.header is False:
            left_out = {ids, *map(self.find, drop)}
            kept = [i for i in range(len(self.names)) if i not in left_out]
        else:
            kept = [self.find(name, by_name=True) for name in keep]
        if not kept:
            raise self.error("no column is left for the data; drop fewer columns")
        for name, count in Counter(self.names[i] for i in kept).items():
            if count > 1 and name:
                raise self.error(f"several columns are called {name!r}; rename one, or leave it out (--drop NUMBER)")
        return ids, kept

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a CSV or TSV file with the numbers of their lines; as for pandas, blank ones are none."""
        reader = csv.reader(lines_of(self.source), delimiter=self.source.delimiter or ",", skipinitialspace=True)
        is_one = len(self.names) == 1
        return ((reader.line_num, row) for row in reader if row[1:] or "".join(row).strip() or is_one)

    def place(self, column: int, at: int, what: str) -> str:
        """Return what is in a column of one of the rows that were read, for a message."""
        if self.header is not None:
            at = next(islice(self.rows(), at + self.header, None), (at + 1,))[0] - 1
        name = column + 1 if self.header is False else repr(self.names[column])
        return f"column {name} has {what} in row {at + 1}"

    def cell_error(self, column: int, at: int, cell: str, texts: Sequence[int] = ()) -> DataError:
        """Return the error for a cell that is no finite number, with the columns that have text there, too."""
        name, *others = (shlex.quote(self.names[i] or str(i + 1)) for i in (column, *texts))
        is_number = NUMBER.fullmatch(cell)
        what, remedy = "text", f"{ENCODE}, use it as sample ids (--id {name})"
        if cell.lower() in MISSING:
            what, remedy = "no value", "fill the cell (scikit-learn's SimpleImputer can), delete the row"
        elif is_number and np.isinf(float(cell)):
            what, remedy = "an infinite value", "correct it"
        elif self.header is not None and (is_number or COMMA_NUMBER.fullmatch(cell)):
            what, remedy = "a number in another way", MARKS
        elif IN_THOUSANDS.fullmatch(cell):
            what, remedy = "a number with signs between its thousands", "write it without them"
        place = f"{self.place(column, at, what)} ({cell[:SHOWN]!r}); {remedy}"
        more = ", or say that the row names the columns (--header)" if self.header is False and at == 0 else ""
        if others:
            more = f"; so have {listing(others)}{more}"
        return self.error(f"{place}, or leave the column out (--drop {name}){more}")

    def texts(self) -> "pd.DataFrame":
        """Return the cells of a CSV or TSV file as they are written; empty rows at its end are none."""
        frame = self.cells(str)
        return frame[: np.flatnonzero((frame != "").any(axis=1)).max(initial=-1) + 1]

    def read(
        self, kept: Sequence[int], ids: int | None = None, group: int | None = None
    ) -> "tuple[pd.DataFrame, str | None]":
        """Return the columns of samples and of ids, and the decimal mark; of a Parquet file also one group of rows."""
        if self.header is None:
            columns = list(kept) if ids is None or ids in kept else [*kept, ids]
            names = [self.names[i] for i in columns]
            with open_parquet(self.source) as file:
                found = file.read(names) if group is None else file.read_row_group(group, names)
            return found.to_pandas(ignore_metadata=True)[names].set_axis(columns, axis=1), "."
        between, said = self.source.delimiter, self.source.decimal
        decimal = said or find_decimal((row[i] for row in self.head for i in kept), between)
        frame = self.cells({} if ids is None else {ids: str}, decimal=decimal or ".")
        kinds = {frame[i].dtype.kind for i in kept}
        if kinds <= {*"biu"} or (decimal and kinds <= {*"biuf"}):
            return frame, decimal or "."
        frame = self.texts()  # there are texts, or points that may be for thousands: let each cell be looked at
        return frame, said or find_decimal(chain(*(frame[i] for i in kept)), between)

    def cells(self, dtype: Any, **options: Any) -> "pd.DataFrame":
        """Return the cells of a CSV or TSV file, without its header."""
        width, header = len(self.names), 0 if self.header else None
        frame = parse(self.source, dtype, skip_blank_lines=width > 1, names=range(width), header=header, **options)
        for number, row in self.rows() if (frame[width - 1] == "").any() else ():
            if 0 < len(row) < width:
                told = f"row {number} has {len(row)} cells, those before it {width}"
                raise self.error(f"{told}; give each the same number")
        return frame

    def ids(self, frame: "pd.DataFrame", column: int | None) -> list[str] | None:
        """Return the names of samples as they are written, leading zeros and all; each must be there."""
        if column is None:
            return None
        ids = ["" if value is None else str(value).strip() for value in frame[column]]
        if "" in ids:
            raise self.cell_error(column, ids.index(""), "")
        return ids

    def numbers(self, frame: "pd.DataFrame", decimal: str | None = ".", *, first: int = 0, gaps: bool = False) -> Host:
        """Return columns as a matrix, or name the first cell that is no finite number."""
        if not len(frame):
            raise DataError(f"{self.source.path}: the file has no row of numbers in it; give at least one.")
        X = np.column_stack([self._floats(column, decimal) for _, column in frame.items()])
        for row, i in not_finite(X, gaps=gaps):
            columns = [column for k, column in enumerate(frame) if k > i and is_name(str(frame.iat[row, k]))]
            raise self.cell_error(frame.columns[i], first + row, str(frame.iat[row, i]), columns)
        return X

    def _floats(self, column: "pd.Series", decimal: str | None) -> Host:
        """Return a column as numbers, NaN where there is none; 1 and 0 if all cells are true or false."""
        if column.dtype.kind in "biuf":
            return column.to_numpy(np.float32 if column.dtype == np.float32 else np.float64)
        cells = column.tolist()
        if self.header is None:
            return np.array([float(cell) if isinstance(cell, int | float | Decimal) else np.nan for cell in cells])
        if all(cell.lower() in TRUTHS for cell in cells):
            return np.array([TRUTHS[cell.lower()] for cell in cells])
        texts = [cell.translate(AS_PYTHON[decimal]) for cell in cells]
        return np.array([float(text) if NUMBER.fullmatch(text) else np.nan for text in texts])


def parse(source: Source, dtype: Any = str, **options: Any) -> "pd.DataFrame":
    """Return the cells of a CSV or TSV file as pandas reads them."""
    import pandas as pd

    own = {"na_filter": False, "skipinitialspace": True, "encoding": "utf-8-sig"}
    options = {"sep": r"\s+" if source.delimiter == " " else source.delimiter, **own, **options}
    with reading(source.path, "check its quotes, and give every row as many cells"):
        size = source.path.stat().st_size if source.content is None else len(source.content)
        file = source.path if source.content is None else io.BytesIO(source.content)
        if size < EXACT and tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):  # whose numbers always are
            options["float_precision"] = "round_trip"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # of columns of texts and numbers
            frame = pd.read_csv(file, dtype=dtype, **options)
    return frame.map(str.strip) if dtype is str else frame


def lines_of(source: Source, n_lines: int | None = None) -> list[str]:
    """Return the first lines of a CSV or TSV file, or all."""
    as_one = {"sep": "\x1f", "quoting": csv.QUOTE_NONE, "names": [0], "skip_blank_lines": False}
    found = parse(source, object, nrows=n_lines, skipinitialspace=False, **as_one)[0]
    return [line.strip(" ") for line in found]


def open_table(source: Source, header: bool | None = None) -> Table:
    """Return a table with its columns; None: the first rows of a CSV or TSV file say whether it has a header."""
    if source.suffix == ".parquet":
        with open_parquet(source) as file:
            names = list(file.schema_arrow.names)
            marked = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
            if not file.metadata.num_rows:
                raise DataError(f"{source.path}: the file is empty; give at least one row.")
        index = next((names.index(name) for name in marked if name in names), None)
        return Table(source, names, None, id_column(names) if index is None else index)
    lines = [line for line in lines_of(source, HEAD) if line.strip()][:20]
    if not lines:
        raise DataError(f"{source.path}: the file is empty; give at least one row.")
    with source.open() as file:
        is_packed = source.content is None and source.path.suffix.lower() in PACKED
        parts = iter(lambda: file.read(2**20), b"")
        if not is_packed and any(b"\0" in part for part in parts):  # pandas loses what follows in a row
            raise DataError(f"{source.path}: the file has zero bytes in it, and is damaged or no text; write it again.")
    sign = source.delimiter or find_delimiter(lines, "," if source.suffix == ".csv" else "\t")
    others = [word for mark, word in DELIMITER_NAMES.items() if mark in lines[0] and mark != " "]
    if sign not in lines[0] and others and not (source.delimiter and COMMA_NUMBER.fullmatch(lines[0])):
        what = f"row 1 is one cell with a {others[0]} in it; say what stands between cells (--delimiter {others[0]})"
        raise DataError(f"{source.path}: {what}, or give every row as many.")
    source, is_wide = replace(source, delimiter=sign), any(sign in line for line in lines)
    first, *below = parse(source, str, skip_blank_lines=is_wide, header=None, nrows=HEAD).to_numpy().tolist()
    if header is None and first[1:] and first == [str(i) for i in range(len(first))]:
        if any(cell.isdecimal() for row in below for cell in row):
            what = "row 1 counts the columns, and may be a header or a sample"
            raise DataError(f"{source.path}: {what}; say which with --header or --no-header.")
        header = len(below) > 0  # a sample above decimals would have some, too
    header = is_header(first) if header is None else header
    if header and not below:
        raise DataError(f"{source.path}: the file has a header but no rows below it; give at least one.")
    names, head = (first, below) if header else ([str(i + 1) for i in range(len(first))], [first, *below])
    return Table(source, names, header, id_column(names), head)


def id_column(names: Sequence[str]) -> int | None:
    """Return the first column if its name says that it holds ids."""
    return 0 if len(names) > 1 and names[0].lower() in ID_NAMES else None


@contextmanager
def open_parquet(source: Source) -> "Iterator[pq.ParquetFile]":
    """Open a Parquet file with pyarrow."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(f"{source.path}: Parquet needs pyarrow; {install('io')}.") from None
    with reading(source.path), source.open() as content, pq.ParquetFile(content) as file:
        yield file
