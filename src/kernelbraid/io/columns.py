"""Tables: what their columns are, and their cells through pandas, or pyarrow of Parquet files."""

import csv
import io
import itertools
import math
import shlex
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelbraid._system import install
from kernelbraid.io import dialect
from kernelbraid.io.sources import DELIMITERS, DataError, Source, reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

ROWS = 100  # below the first, which say whether that is a header
EXACT = 2**25  # bytes of a file up to which numbers are rounded to the last bit, which takes pandas three times as long
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats
# What fills gaps, and what makes numbers of words.
IMPUTER, ENCODER = "scikit-learn's SimpleImputer can", "scikit-learn's OneHotEncoder in a ColumnTransformer can"
QUOTES = "check its quotes"


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns are known, and whose rows are not yet read.

    Parameters
    ----------
    source : Source
        The file; of a CSV or TSV file it is known what stands between cells.
    names : list of str
        The columns, as the header has them; "1", "2", ... without one.
    has_header : bool
        Whether there is one.
    skipped : int
        Rows before the first sample.
    head : list of list of str
        The first samples, of a CSV or TSV file.
    index : int or None, default=None
        The column that a Parquet file itself marks as ids.
    """

    source: Source
    names: list[str]
    has_header: bool
    skipped: int
    head: Sequence[Sequence[str]]
    index: int | None = None

    def error(self, sentence: str) -> DataError:
        """Return an error that names the file."""
        return DataError(f"{self.source.path}: {sentence}")

    def counts(self, wanted: str | int) -> bool:
        """Return whether this can be the number of a column."""
        return str(wanted).isdecimal() and 1 <= int(wanted) <= len(self.names)

    def find(self, wanted: str | int) -> int:
        """Return the position of a column given by name, or by number from 1."""
        matches = [i for i, name in enumerate(self.names) if self.has_header and name == str(wanted)]
        if len(matches) > 1:
            raise self.error(f"columns {matches[0] + 1} and {matches[1] + 1} are both called {wanted!r}; rename one.")
        if not matches and self.counts(wanted):
            return int(wanted) - 1
        if not matches:
            raise self.error(
                f"there is no column {str(wanted)!r}; use one of {listing(self.names)}, or a number from 1."
            )
        return matches[0]

    def choose(
        self, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None
    ) -> tuple[int | None, list[int]]:
        """Return the column of ids, and those of the samples: all others, or those to keep, by name alone."""
        ids = self.default_id() if id_column is None else self.find(id_column)
        places: dict[str, list[int]] = {}
        for i, name in enumerate(self.names):
            places.setdefault(name, []).append(i)
        left_out = {
            self.find(column) for column in drop if keep is None or str(column) in places or self.counts(column)
        }
        kept = [i for i in range(len(self.names)) if i != ids and i not in left_out]
        if keep is not None and self.has_header:
            kept = []
            for name in keep:
                found = [i for i in places.get(name, []) if i not in left_out]
                if len(found) != 1:
                    many, there = "no" if not found else "more than one", listing(self.names)
                    raise self.error(
                        f"{many} column {name!r}, which is needed, is in {there}; give it once (--drop NUMBER)."
                    )
                kept += found
        if not kept:
            raise self.error("no column is left for the data; drop fewer columns.")
        for name, count in Counter(self.names[i] for i in kept).items():
            if count > 1 and name:
                raise self.error(f"several columns are called {name!r}; rename one, or leave it out (--drop NUMBER).")
        return ids, kept

    def default_id(self) -> int | None:
        """Return the column that the file itself marks, or the first if its name says that it holds ids."""
        is_named = self.has_header and len(self.names) > 1 and self.names[0].lower() in ("", *dialect.ID_NAMES)
        return 0 if self.index is None and is_named else self.index

    def describe(self, column: int) -> str:
        """Return how a message calls a column."""
        return f"column {self.names[column]!r}" if self.has_header else f"column {column + 1}"

    def number(self, row: int) -> int:
        """Return the number of a sample in the file, from 1."""
        if self.source.suffix == ".parquet":
            return row + 1
        rows = (number for number, row in itertools.islice(rows_of(self.source), self.skipped, None) if row)
        return next(itertools.islice(rows, row, None))

    def cell_error(self, column: int, row: int, cell: str) -> DataError:
        """Return the error for a cell that is no finite number."""
        name = self.names[column]
        name = shlex.quote(name) if name and name.isprintable() else str(column + 1)
        if cell.lower() in dialect.MISSING:
            what, remedy = "no value", f"fill the cell ({IMPUTER}), delete the row"
        elif dialect.is_number(number := cell.replace(",", ".")):
            what = "an infinite value" if math.isinf(float(number)) else "a number among other values"
            remedy = "correct it"
        else:
            what, remedy = "text", f"encode it ({ENCODER}), use it as sample ids (--id {name})"
        header = "" if self.has_header or row else ", or say that the row names the columns (--header)"
        return self.error(
            f"{self.describe(column)} has {what} in row {self.number(row)} ({cell[:SHOWN]!r}); {remedy}, or leave the "
            f"column out (--drop {name}){header}."
        )


def listing(names: Sequence[str]) -> str:
    """Return names of columns for a message, cut short when there are many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def rows_of(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV or TSV file with the numbers of their lines, from 1; a blank one has no cells."""
    delimiter = source.form.delimiter or ","
    with reading(source.path, QUOTES), source.open() as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as file:
        lines = (line.rstrip() + "\n" for line in file) if delimiter == " " else file
        reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
        for row in reader:
            cells = [cell.strip() for cell in row]
            yield reader.line_num, [] if cells == [""] else cells


def check_rows(table: Table) -> None:
    """Refuse rows of another width than the first, and one without a value that others follow; it takes time."""
    blank, width = 0, len(table.names)
    rows = itertools.dropwhile(lambda row: not any(row[1]), rows_of(table.source))
    for number, row in rows:
        if not any(row):
            blank = blank or (number if width == 1 or row else 0)
        elif blank:
            raise table.error(f"row {blank} is empty; fill it or delete the line.")
        elif len(row) != width:
            raise table.error(
                f"row {number} has {len(row)} cells and the rows before it have {width}; give every row the same "
                "number."
            )


def open_table(source: Source, header: bool | None = None) -> Table:
    """Return a table with its columns; None: the first rows of a CSV or TSV file say whether it has a header."""
    if source.suffix == ".parquet":
        return _open_parquet(source)
    form, is_asked = source.form, source.form.delimiter is not None
    with source.open() as file:
        lines = file.read(2**16).decode("utf-8", errors="replace").removeprefix("\ufeff").splitlines()
    if any("\0" in line for line in lines):
        raise DataError(f"{source.path}: this is not UTF-8 text; save the table as UTF-8.")
    if not is_asked:
        lines = [line for line in (lines[:-1] or lines) if line.strip()][:20]
        form = replace(form, delimiter=dialect.find_delimiter(lines, DELIMITERS[source.suffix]))
    source = replace(source, form=form)
    rows = [row for _, row in itertools.islice(rows_of(source), ROWS + 1)]
    first = next((row for row in rows if any(row)), None)
    if first is None:
        raise DataError(f"{source.path}: the file is empty; give at least one row.")
    for other, word in dialect.DELIMITER_NAMES.items():
        is_comma = other == "," and (not is_asked or dialect.decimal_mark(first[0]))
        if len(first) == 1 and other in first[0] and other not in (" ", form.delimiter) and not is_comma:
            raise DataError(
                f"{source.path}: row 1 is one cell with a {word} in it; say what stands between cells (--delimiter "
                f"{word}), or write every row with as many cells."
            )
    skipped, head = rows.index(first), [row for row in rows if len(row) == len(first) and any(row)]
    has_header = dialect.is_header(first, head[1:]) if header is None else header
    if has_header and len(rows) == skipped + 1:
        raise DataError(f"{source.path}: the file has a header but no samples; give at least one row.")
    names = first if has_header else [str(i + 1) for i in range(len(first))]
    return Table(source, names, has_header, skipped + has_header, head[has_header:])


def read_frame(table: Table, *, dtype: Any = None, decimal: str = ".") -> "pd.DataFrame":
    """Return the samples of a CSV or TSV file; its columns are numbered, of the types that pandas finds."""
    import pandas as pd

    source, delimiter = table.source, table.source.form.delimiter
    with reading(source.path, QUOTES), source.open() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # of mixed columns, which are looked at anyway
        is_small = file.seek(0, io.SEEK_END) < EXACT
        file.seek(0)
        try:
            frame = pd.read_csv(
                file,
                sep=r"\s+" if delimiter == " " else delimiter,
                header=None,
                skiprows=table.skipped,
                dtype=dtype,
                decimal=decimal,
                na_filter=False,
                skipinitialspace=True,
                skip_blank_lines=len(table.names) > 1,
                float_precision="round_trip" if is_small else None,
            )
        except pd.errors.ParserError:
            check_rows(table)
            raise
    last = frame.iloc[:, -1]
    # Too few cells are filled up with empty ones.
    if frame.shape[1] != len(table.names) or (last.dtype.kind not in "biuf" and (last.astype(str) == "").any()):
        check_rows(table)
        while len(frame) and not any(str(cell).strip() for cell in frame.iloc[-1]):
            frame = frame.iloc[:-1]
    if frame.empty:
        raise table.error("the file has no samples; give at least one row.")
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


def _open_parquet(source: Source) -> Table:
    """Return a Parquet file as a table; an index that pandas stored holds the ids."""
    with open_parquet(source) as file:
        schema = file.schema_arrow
        if not file.metadata.num_rows or not schema.names:
            raise DataError(f"{source.path}: the file is empty; give at least one row.")
        if len(set(schema.names)) < len(schema.names):
            raise DataError(f"{source.path}: several columns are called the same; rename all but one.")
        stored = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if name in schema.names]
    return Table(source, list(schema.names), True, 0, [], schema.names.index(stored[0]) if len(stored) == 1 else None)


def read_columns(table: Table, chosen: Sequence[int]) -> "list[pd.Series]":
    """Return some columns of a Parquet file, each of its type."""
    names = [table.names[i] for i in chosen]
    with open_parquet(table.source) as file:
        frame = file.read(columns=names).to_pandas(ignore_metadata=True)
    columns = [frame[name] for name in names]
    # What is missing among texts is None in some versions of pandas, and NaN in others.
    return [c if c.dtype.kind in "biuf" else c.astype(object).where(c.notna(), None) for c in columns]
