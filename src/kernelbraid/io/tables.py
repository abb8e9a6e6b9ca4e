"""Tables: what stands between cells, which row and column is what, and the cells, block by block, as numbers."""

import csv
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from numbers import Number
from typing import Any

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.io.arrays import CELLS, not_finite
from kernelbraid.io.sources import PACKED, DataError, Source, reading

HEAD = 100  # rows that say what stands between cells and before decimals
WRITE = "write it as 1234.5, or say what stands before decimals (--decimal comma or --decimal point)"
ENCODE = "encode it (scikit-learn's OneHotEncoder in a ColumnTransformer can)"
EMPTY = "the file is empty, or has a header but no rows below it; give at least one row"
QUOTES = "check its quotes, and give every row as many cells"
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats
EXACT = 2**25  # bytes of a file up to which numbers are rounded to the last bit, which takes pandas three times as long
ID_NAMES = ("id", "index", "name", "sample", "")
TRUTHS = {"true", "false"}  # words for 1 and 0, in any case
MISSING = ("", "nan", "na", "n/a", "null", "none", "?")
#: What may stand between cells, by what it is called.
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
LINE, NO_MARK = "\x1f", "\x1e"  # stand between no cells of a line, and before no decimals: whole numbers have none
# Python's 1_000 is no number here: it is more likely an id.
NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
# A number with a slip in it, or as another country writes it: 3..5, 3,5, 1'000.5, 7%.
LIKE_NUMBER = re.compile(rf"[+-]?[\d.,'’\s]*\d[\d.,'’\s]*(e[+-]?\d*)?%?|{NUMBER.pattern}", re.IGNORECASE)
# A whole number whose digits may stand in groups of three: 1,234 and 12.345.678, not 0,123, 1234,567 or 1,5.
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([,.]\d{3})+")


def is_name(cell: str) -> bool:
    """Return whether a cell can name a column: it is no number, nothing like one, no truth and no mark of a gap."""
    return not (cell.lower() in (*MISSING, *TRUTHS) or LIKE_NUMBER.fullmatch(cell))


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool | None:
    """Return whether the first row of a file names its columns, as far as it and the first below tell that themselves.

    Text is a header if there is a name in it. A row with numbers, or with true and false, is a sample, whatever stands
    beside them: an id, or a slip. It is a header if its first cell is the usual name of ids, or if its numbers count
    columns: after an empty cell, as pandas writes it, or three and more beside names that do not come back below.
    Numbers from 0 alone are one above decimals: a sample would have some, too. None: above whole numbers they may be
    either.
    """
    numbers, names = [cell for cell in first if NUMBER.fullmatch(cell)], {*filter(is_name, first)}
    counts = numbers in [[str(i + start) for i in range(len(numbers))] for start in (0, 1)]
    if counts and first[0] == "0" and first[1:] == numbers[1:] != []:
        return None if any(cell.isdecimal() for row in below for cell in row) else len(below) > 0
    is_text = not any(LIKE_NUMBER.fullmatch(cell) or cell.lower() in TRUTHS for cell in first)
    is_counted = counts and (len(numbers) > 2 if names else ["", *numbers] == first != [""])
    is_header = is_counted and names.isdisjoint(chain(*below))
    return is_header or (len(names) > 0 and (is_text or first[0].lower() in ID_NAMES[:-1]))


def find_delimiter(lines: Sequence[str], usual: str) -> str:
    """Return what stands between the cells of lines: what makes as many of them in each, most of them numbers.

    Nothing but numbers tells in doubt, and what is usual. Spaces must stand between numbers: texts have them.
    """

    def share(sign: str) -> float:
        rows = [[""]]
        with suppress(csv.Error):  # a cell of more than 131,072 signs
            rows = list(csv.reader(lines, delimiter=sign, skipinitialspace=True))
        numbers = [sum(bool(NUMBER.fullmatch(cell) or COMMA_NUMBER.fullmatch(cell)) for cell in row) for row in rows]
        widths = {len(row) for row in rows}
        is_one = len(widths) == 1 < max(widths) and (sign != " " or min(numbers[1:] or numbers) > 1)
        return sum(numbers) / max(widths) if is_one else -1.0

    return max((usual, ";", "\t", "|", " "), key=share)


def listing(names: Sequence[str]) -> str:
    """Return names of columns for a message, cut short when there are many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def texts_of(column: Any) -> list[str]:
    """Return a column of a data frame as texts, empty where there is no value."""
    return ["" if gone else str(cell).strip() for cell, gone in zip(column, column.isna(), strict=True)]


@dataclass(eq=False)
class Table:
    """A table whose columns are known, and whose rows are read block by block.

    Parameters
    ----------
    source : Source
        The file, of which it is known what stands between cells, and by and by what before decimals.
    names : list of str
        The columns, as the header has them; "1", "2", ... without one.
    header : bool or None
        Whether the first row of a CSV or TSV file is one; None: a Parquet file.
    index : int or None
        The column of ids: one that a Parquet file marks, or a first one with such a name.
    is_unclear : bool, default=False
        Whether nothing tells that the first row of a CSV or TSV file is no header.
    skip : int, default=0
        Lines of a CSV or TSV file up to its header.
    ids : list of str
        Names of the samples that were read.
    """

    source: Source
    names: list[str]
    header: bool | None
    index: int | None
    is_unclear: bool = False
    skip: int = 0
    ids: list[str] = field(default_factory=list)

    def error(self, sentence: str) -> DataError:
        """Return an error that names the file."""
        return DataError(f"{self.source.path}: {sentence}.")

    def find(self, wanted: str | int, *, by_name: bool = False) -> int:
        """Return the position of a column given by name, or by number from 1 unless it is a name."""
        found = [i for i, name in enumerate(self.names) if name == str(wanted)]
        if not (found or by_name) and str(wanted).isdecimal() and 0 < int(wanted) <= len(self.names):
            return int(wanted) - 1
        if len(found) != 1:
            what = f"{'several columns are called' if found else 'there is no column'} {str(wanted)!r}"
            what += ", which is needed" * by_name
            raise self.error(f"{what}; use one of {listing(self.names)}, or a number from 1")
        return found[0]

    def choose(self, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None) -> list[int]:
        """Note the column of ids, and return those of the samples: all others, or those to keep, by name alone."""
        self.index = self.index if id_column is None else self.find(id_column)
        if keep is None or self.header is False:
            left_out = {self.index, *map(self.find, (drop,) if isinstance(drop, str | int) else drop)}
            kept = [i for i in range(len(self.names)) if i not in left_out]
        else:
            places = dict(zip(self.names, range(len(self.names)), strict=True))
            is_plain = len(places) == len(self.names)  # of many columns, finding each takes long
            kept = [places[name] if is_plain and name in places else self.find(name, by_name=True) for name in keep]
        if not kept:
            raise self.error("no column is left for the data; drop fewer columns")
        for name, count in Counter(self.names[i] for i in kept).items():
            if count > 1 and name:
                raise self.error(f"several columns are called {name!r}; rename one, or leave it out (--drop NUMBER)")
        head = (row for _, row in islice(self.rows(HEAD), self.header, None))
        self.find_decimal(islice((row[i] for row in head for i in kept if i < len(row)), CELLS // HEAD))
        return kept

    def find_decimal(self, cells: Iterable[str]) -> None:
        """Note the decimal mark of cells, if they tell: points between semicolons may be for thousands."""
        if self.source.decimal is None:
            sure = [cell for cell in cells if not GROUPED.fullmatch(cell)]
            has_points = self.source.delimiter != ";" or any("." in cell and NUMBER.fullmatch(cell) for cell in sure)
            mark = "," if any(map(COMMA_NUMBER.fullmatch, sure)) else "." if has_points else None
            self.source = replace(self.source, decimal=mark)

    def rows(self, n_lines: int | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a CSV or TSV file with the numbers of their lines; as for pandas, blank lines are none."""
        return ((n, row) for n, row in rows_of(self.source, n_lines) if row != [""] or len(self.names) == 1)

    def place(self, column: int, at: int, what: str) -> str:
        """Return what is in a column of one of the rows that were read, for a message."""
        name = column + 1 if self.header is False else repr(self.names[column])
        row = at + 1 if self.header is None else next(islice(self.rows(), at + self.header, None), (at + 1,))[0]
        return f"column {name} has {what} in row {row}"

    def cell_error(self, column: int, at: int, cell: str, texts: Sequence[int] = ()) -> DataError:
        """Return the error for a cell that is no finite number, with the columns that have text there, too."""
        name, *others = (shlex.quote(self.names[i] or str(i + 1)) for i in (column, *texts))
        what, remedy = "text", f"{ENCODE}, use it as sample ids (--id {name})"
        if cell.lower() in MISSING:
            what, remedy = "no value", "fill the cell (scikit-learn's SimpleImputer can), delete the row"
        elif NUMBER.fullmatch(cell) and np.isinf(float(cell)):
            what, remedy = "an infinite value", "correct it"
        elif self.header is not None and LIKE_NUMBER.fullmatch(cell):
            what, remedy = "a number in another way", WRITE
        more = f"; so have {listing(others)}" if others else ""
        more += ", or say that the row names the columns (--header)" if self.header is False and at == 0 else ""
        told = f"{self.place(column, at, what)} ({cell[:SHOWN]!r}); {remedy}"
        return self.error(f"{told}, or leave the column out (--drop {name}){more}")

    def frames(self, columns: Sequence[int], dtype: Any = str) -> Iterator[Any]:
        """Yield the rows in blocks, of a CSV or TSV file with all columns, and without empty rows at its end."""
        if self.header is None:
            names = [self.names[i] for i in columns]
            with open_parquet(self.source) as file:
                for batch in file.iter_batches(max(HEAD, CELLS // len(names)), columns=names):
                    found = batch.to_pandas(ignore_metadata=True, integer_object_nulls=True)  # as 7, not 7.0
                    yield found[names].set_axis(columns, axis=1)
            return
        width, is_whole, held = len(self.names), False, list[Any]()
        # One column more shows rows that are too long, of which pandas misses those at the beginning of a block.
        for frame in parse(self.source, width + 1, dtype, skiprows=self.skip):
            if ((frame[width - 1] == "") | (frame.pop(width) != "")).any() and not is_whole:
                for number, row in self.rows():
                    if len(row) != width:
                        told = f"row {number} has {len(row)} cells, those before it {width}; give each the same number"
                        raise self.error(f"{told}, and check its quotes")
                is_whole = True
            if not hasattr(frame.index, "start"):  # shifted by pandas
                raise self.error(f"a row has too many cells; {QUOTES}")
            end = max(np.flatnonzero((frame != "").any(axis=1)), default=-1) + 1
            while end and held:  # empty rows count where there are others below
                yield held.pop(0)
            yield frame[:end]
            held.append(frame[end:])

    def blocks(self, kept: Sequence[int], *, gaps: bool = False) -> Iterator[Host]:
        """Yield columns as matrices, and keep the ids beside them, or name the first cell that is no finite number."""
        ids, n_rows = [] if self.index is None else [self.index], 0
        for frame in self.frames([*dict.fromkeys([*kept, *ids])], dict.fromkeys(ids, str)):
            written = [i for i, kind in frame.dtypes[kept].items() if kind.kind not in "biuf"]
            self.find_decimal(chain(*(texts_of(frame[i]) for i in written)))
            numbers = frame.reindex(columns=kept)
            for i in written:
                numbers[i] = self._floats(frame[i])
            dtype = np.float32 if (numbers.dtypes == np.float32).all() else np.float64
            X = np.ascontiguousarray(numbers.to_numpy(dtype))
            for row, i in not_finite(X, gaps=gaps):
                others = [k for k in kept[i + 1 :] if is_name(str(frame[k].iat[row]).strip())]
                raise self.cell_error(kept[i], n_rows + row, str(frame[kept[i]].iat[row]).strip(), others)
            for i in ids:
                self.ids += texts_of(frame[i])
                if "" in self.ids[n_rows:]:
                    raise self.cell_error(i, self.ids.index("", n_rows), "")
            n_rows += len(X)
            yield X
        if not n_rows:
            raise self.error(EMPTY)

    def _floats(self, column: Any) -> Host:
        """Return a column as numbers, NaN where there is none; 1 and 0 if all cells are true or false."""
        if self.header is None:
            return np.array([cell if isinstance(cell, Number) else np.nan for cell in column], dtype=np.float64)
        texts = texts_of(column)
        if {text.lower() for text in texts} <= TRUTHS:
            return np.array([text.lower() == "true" for text in texts])
        marks = {ord("."): "?", ord(","): "?", ord(self.source.decimal or NO_MARK): "."}
        texts = [text.translate(marks) for text in texts]
        return np.array([float(text) if NUMBER.fullmatch(text) else np.nan for text in texts])


def parse(source: Source, width: int, dtype: Any = str, **options: Any) -> Iterator[Any]:
    """Yield the cells of a CSV or TSV file in blocks of rows as pandas reads them: texts with blanks behind them."""
    import pandas as pd

    own: dict[str, Any] = {"sep": r"\s+" if source.delimiter == " " else source.delimiter, "names": range(width)}
    own |= {"decimal": source.decimal or NO_MARK, "header": None, "na_filter": False}
    own |= {"skipinitialspace": source.delimiter != LINE, "skip_blank_lines": width > 2, "low_memory": False}
    own |= {"chunksize": max(HEAD, CELLS // max(width, 64)), "dtype": dtype}
    size = source.path.stat().st_size if source.content is None else len(source.content)
    if size < EXACT and tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):  # whose numbers always are
        own["float_precision"] = "round_trip"
    file = source.path if source.content is None else source.open()
    with reading(source.path, QUOTES), pd.read_csv(file, **own | options) as frames:
        yield from frames


def lines_of(source: Source, n_lines: int | None = None) -> Iterator[str]:
    """Yield the first lines of a CSV or TSV file, or all."""
    for frame in parse(replace(source, delimiter=LINE), 1, quoting=csv.QUOTE_NONE, nrows=n_lines):
        yield from frame[0]


def rows_of(source: Source, n_lines: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first lines, or of all, with the numbers of their lines; a blank one is an empty cell."""
    with reading(source.path):
        lines = (line.strip(" " if source.delimiter == " " else "") + "\n" for line in lines_of(source, n_lines))
        reader = csv.reader(lines, delimiter=source.delimiter or ",", skipinitialspace=True)
        for row in reader:
            yield reader.line_num, [cell.strip() for cell in row] or [""]


def open_table(source: Source, header: bool | None = None, rule: Callable[..., bool | None] = is_header) -> Table:
    """Return a table with its columns; header=None: by a rule the first rows of a CSV or TSV file say if it has one."""
    if source.suffix == ".parquet":
        with open_parquet(source) as file:
            names = list(file.schema_arrow.names)
            marked = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
        index = next((names.index(name) for name in marked if name in names), id_column(names))
        return Table(replace(source, decimal="."), names, None, index)
    some = [line.strip(" ") for line in lines_of(source, HEAD) if line.strip(" ")][:20]
    if not some:
        raise DataError(f"{source.path}: {EMPTY}.")
    with source.open() as file:
        is_packed = source.path.suffix.lower() in PACKED
        if not is_packed and any(b"\0" in part for part in iter(lambda: file.read(2**20), b"")):  # ends cells
            raise DataError(f"{source.path}: the file has zero bytes in it, and is damaged or no text; write it again.")
    sign = source.delimiter or find_delimiter(some, "," if source.suffix == ".csv" else "\t")
    others = [word for word, mark in DELIMITERS.items() if mark in some[0] and mark != " "]
    if sign not in some[0] and others and not (source.delimiter and COMMA_NUMBER.fullmatch(some[0])):
        what = f"row 1 is one cell with a {others[0]} in it; say what stands between cells (--delimiter {others[0]})"
        raise DataError(f"{source.path}: {what}, or give every row as many.")
    source = replace(source, delimiter=sign)
    rows = [row for _, row in rows_of(source, HEAD)]
    first, *below = (row for row in rows if row != [""] or max(map(len, rows)) == 1)
    found = rule(first, [*filter(any, below)]) if header is None else header
    names = first if found else [str(i + 1) for i in range(len(first))]
    skip = 1 + rows.index(first) if found else 0  # blank lines above a header, too
    return Table(source, names, bool(found), id_column(names), found is None, skip)


def id_column(names: Sequence[str]) -> int | None:
    """Return the first column if its name says that it holds ids."""
    return 0 if len(names) > 1 and names[0].lower() in ID_NAMES else None


@contextmanager
def open_parquet(source: Source) -> Iterator[Any]:
    """Open a Parquet file with pyarrow."""
    with reading(source.path), source.open() as content:
        import pyarrow.parquet as pq

        with pq.ParquetFile(content) as file:
            yield file
