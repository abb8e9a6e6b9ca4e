"""Columns of a table: which row is the header, which column holds ids or labels, which ones are data."""

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelbraid.files.errors import DataError

ID_NAMES = ("id", "index", "name", "sample")
LABEL_NAMES = ("label", "labels", "cluster", "class", "y", "target")
MISSING = ("", "nan", "na", "n/a", "null", "none", "?")
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats


def is_number(cell: str) -> bool:
    """Return whether a cell is written as a number (Python's 1_000 is not: it is more likely an id)."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
    """Return whether the first row of a file names its columns.

    A row with text in it is a header, unless all its text stands above text and it has numbers besides: that is a
    sample with an id. A row of numbers is a sample, unless it counts the columns and its first cell is empty, as
    pandas writes it.
    """
    rest = [cell for cell in first if is_number(cell)]
    counts_columns = rest in ([str(i) for i in range(len(rest))], [str(i + 1) for i in range(len(rest))])
    text = [i for i, cell in enumerate(first) if cell.strip() and not is_number(cell)]
    if not text:
        return counts_columns and not first[0].strip() and len(rest) == len(first) - 1 > 0
    counts_columns = counts_columns and len(rest) > 2  # fewer may well be measurements
    if second is None or not rest or counts_columns or first[0].strip().lower() in ID_NAMES:
        return True
    return any(is_number(second[i]) or not second[i].strip() for i in text)


@dataclass(frozen=True)
class Columns:
    """The columns of one table and what each is used for."""

    path: Path
    names: list[str]  # as the header has them, or "1", "2", ... without one
    has_header: bool
    id_index: int | None = None
    kept: tuple[int, ...] = ()

    def choose(
        self, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None = None
    ) -> "Columns":
        """Return the same columns with the id column and the kept ones settled: all others, or those to keep."""
        id_index = self.default_id() if id_column is None else self.find(id_column)
        if keep is not None and self.has_header:
            kept = tuple(self._named(name, drop) for name in keep)
        else:
            left_out = {self.find(name) for name in drop} | {id_index}
            kept = tuple(i for i in range(len(self.names)) if i not in left_out)
        if not kept:
            raise DataError(f"{self.path}: no column is left for the data; drop fewer columns.")
        return Columns(self.path, self.names, self.has_header, id_index, kept)

    def default_id(self) -> int | None:
        """Return the column that the file itself marks, or the first if its name says that it holds ids."""
        if self.id_index is not None:
            return self.id_index
        named = self.has_header and len(self.names) > 1 and self.names[0].lower() in ("", *ID_NAMES)
        return 0 if named else None

    def find(self, wanted: str | int) -> int:
        """Return the position of a column given by name or by number from 1."""
        matches = [i for i, name in enumerate(self.names) if name == str(wanted)] if self.has_header else []
        if len(matches) > 1:
            numbers = " and ".join(str(i + 1) for i in matches)
            raise DataError(f"{self.path}: columns {numbers} are both called {wanted!r}; give the number.")
        if matches:
            return matches[0]
        if str(wanted).isdecimal() and 1 <= int(wanted) <= len(self.names):
            return int(wanted) - 1
        raise DataError(
            f"{self.path}: there is no column {str(wanted)!r}; use one of {self.listing()}, or a number from 1."
        )

    def _named(self, name: str, drop: Iterable[str | int]) -> int:
        """Return the position of a column that is needed, by its name alone."""
        if name in map(str, drop):
            raise DataError(f"{self.path}: the column {name!r} is needed and cannot be dropped; keep it.")
        if self.names.count(name) != 1:
            count = "no" if name not in self.names else "more than one"
            raise DataError(
                f"{self.path}: {count} column {name!r}, which is needed, is in {self.listing()}; add it once."
            )
        return self.names.index(name)

    def listing(self) -> str:
        """Return the names for a message, cut short when there are many."""
        return ", ".join(self.names[:SHOWN]) + (", ..." if len(self.names) > SHOWN else "")

    def describe(self, index: int) -> str:
        """Return how a message calls a column."""
        return f"column {self.names[index]!r}" if self.has_header else f"column {index + 1}"

    def cell_error(self, index: int, row: int, cell: object) -> DataError:
        """Return the error for a cell that is no finite number."""
        column, text = self.describe(index), "" if cell is None else str(cell).strip()
        name = shlex.quote(self.names[index]) if self.names[index] else str(index + 1)
        if text.lower() in MISSING:
            return DataError(
                f"{self.path}: {column} has no value in row {row} ({text[:SHOWN]!r}); "
                f"fill the cell, delete the row, or leave the column out (--drop {name})."
            )
        kind = "an infinite value" if is_number(text) and math.isinf(float(text)) else "text"
        return DataError(
            f"{self.path}: {column} has {kind} in row {row} ({text[:SHOWN]!r}); "
            f"leave the column out (--drop {name}) or use it as sample ids (--id {name})."
        )
