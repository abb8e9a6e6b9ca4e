"""Columns of a table: which row is the header, which column holds ids or labels, which ones are data."""

import math
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelbraid.files.errors import DataError

ID_NAMES = ("id", "index", "name", "sample")
LABEL_NAMES = ("label", "labels", "cluster", "class", "y", "target")
TRUTHS = {"true": "1", "false": "0"}  # words for numbers, in any case
MISSING = ("", "nan", "na", "n/a", "null", "none", "?")
# A number with a slip in it, or as another country writes it: 3..5, 3,5, 1'000.5, 7%.
LIKE_NUMBER = re.compile(r"[+-]?[\d.,'\s]*\d[\d.,'\s]*(e[+-]?\d*)?%?", re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+")
CHANCE = 1e-5  # of a sample that counts its columns: below it, such a first row is a header
# What fills gaps, and what makes numbers of words.
IMPUTER, ENCODER = " (scikit-learn's SimpleImputer can)", " (scikit-learn's OneHotEncoder in a ColumnTransformer can)"
SHOWN = 40  # characters of an offending value, and column names in a list, that a message repeats


def is_number(cell: str) -> bool:
    """Return whether a cell is written as a number (Python's 1_000 is not: it is more likely an id)."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_name(cell: str) -> bool:
    """Return whether a cell can name a column: it is no number, nothing like one, no truth and no mark of a gap."""
    text = cell.strip()
    return text.lower() not in (*MISSING, *TRUTHS) and not is_number(text) and LIKE_NUMBER.fullmatch(text) is None


def is_header(first: Sequence[str], below: Sequence[Sequence[str]] = ()) -> bool:
    """Return whether the first row of a file names its columns, given rows below it.

    A row of text is a header if there is a name in it. A row with numbers, or with true and false, is a sample,
    whatever stands beside them: an id, or a slip. It is a header if its first cell is the usual name of ids, if it
    counts more than two columns, if it counts them after an empty cell, as pandas writes it, or if it counts them from
    0 and cannot be a sample.
    """
    first = [cell.strip() for cell in first]
    if len(first) > 1 and first == [str(i) for i in range(len(first))]:
        return _only_counts([[cell.strip() for cell in row] for row in below])
    numbers = [cell for cell in first if is_number(cell)]
    counts = numbers in ([str(i) for i in range(len(numbers))], [str(i + 1) for i in range(len(numbers))])
    if not any(map(is_name, first)):
        return counts and not first[0] and len(numbers) == len(first) - 1 > 0
    if not numbers and not any(LIKE_NUMBER.fullmatch(cell) or cell.lower() in TRUTHS for cell in first):
        return True
    return first[0].lower() in ID_NAMES or (counts and len(numbers) > 2)  # fewer may well be measurements


def _only_counts(below: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row 0, 1, ... is a header, as pandas writes it, by what is below it.

    It is one if no cell below is a whole number: whoever wrote them would have written 0.0, 1.0. Above whole numbers it
    is one if a sample would hardly hold just these numbers, as far as each occurs in its column. It is none above rows
    of its own kind: that hold the same numbers, as ranks do; that all increase, as indices do; or that mirror it in
    their first column, as distances do.
    """
    cells = [cell for row in below for cell in row]
    if not any(WHOLE.fullmatch(cell) for cell in cells):
        return len(cells) > 0
    if not all(map(is_number, cells)):
        return False
    rows = np.array(below, dtype=np.float64)
    n, d = rows.shape
    is_alike = (np.sort(rows) == np.arange(d)).all() or (np.diff(rows) > 0).all()
    if d == 2 or is_alike or np.array_equal(rows[:, 0], np.arange(1, n + 1)):
        return False
    # Each number has a share in its column as if it had been seen there once, and something else, too.
    return bool(np.prod((np.sum(rows == np.arange(d), axis=0) + 1) / (n + 2)) < CHANCE)


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
            kept = self._named(list(keep), list(drop))
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

    def _named(self, wanted: list[str], drop: list[str | int]) -> tuple[int, ...]:
        """Return the positions of columns that are needed, by name alone; those of one name in their order."""
        dropped = {self.find(name) for name in drop if self._has(name)}
        places = {name: [i for i, own in enumerate(self.names) if own == name] for name in wanted}
        left = {name: [i for i in found if i not in dropped] for name, found in places.items()}
        for name, found in left.items():
            if len(found) < len(places[name]) and len(found) < wanted.count(name):
                raise DataError(f"{self.path}: the column {name!r} is needed and cannot be dropped; keep it.")
            if len(found) != wanted.count(name):
                raise self._miscounted(name, len(found), wanted.count(name))
        order = {name: iter(found) for name, found in left.items()}
        return tuple(next(order[name]) for name in wanted)

    def _miscounted(self, name: str, found: int, wanted: int) -> DataError:
        """Return the error for a column that is there less or more often than it is needed."""
        count = {0: "no", 1: "one"}.get(found, "more than one" if wanted == 1 else str(found))
        times = "once" if wanted == 1 else f"{wanted} times"
        remedy = f"give it {times} (--drop NUMBER leaves one out)" if found > wanted else f"add it {times}"
        return DataError(f"{self.path}: {count} column {name!r}, which is needed, is in {self.listing()}; {remedy}.")

    def _has(self, wanted: str | int) -> bool:
        """Return whether there is a column of this name or number."""
        return str(wanted) in self.names or (str(wanted).isdecimal() and 1 <= int(wanted) <= len(self.names))

    def listing(self, chosen: Sequence[int] | None = None) -> str:
        """Return the names, or those of some columns, for a message, cut short when there are many."""
        names = self.names if chosen is None else [self.names[i] for i in chosen]
        return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")

    def describe(self, index: int) -> str:
        """Return how a message calls a column."""
        return f"column {self.names[index]!r}" if self.has_header else f"column {index + 1}"

    def or_header(self, row: int) -> str:
        """Return what else to do about a cell of the first row."""
        return "" if self.has_header or row > 1 else ", or say that the row names the columns (--header)"

    def _as_option(self, index: int) -> str:
        """Return a column as an option of the command line takes it."""
        is_named = self.names[index] and self.names[index].isprintable()
        return shlex.quote(self.names[index]) if is_named else str(index + 1)

    def mixed_error(self, index: int, row: int, cell: str) -> DataError:
        """Return the error for a cell of a column that has numbers and true or false."""
        others = "numbers" if cell.strip().lower() in TRUTHS else "true or false"
        return DataError(
            f"{self.path}: {self.describe(index)} has {cell.strip()[:SHOWN]!r} in row {row} where the rows above have "
            f"{others}; write all of its cells in one way, or leave the column out (--drop {self._as_option(index)})."
        )

    def cell_error(self, index: int, row: int, cell: object) -> DataError:
        """Return the error for a cell that is no finite number."""
        column, text = self.describe(index), "" if cell is None else str(cell).strip()
        name = self._as_option(index)
        or_header = self.or_header(row)
        if text.lower() in MISSING:
            return DataError(
                f"{self.path}: {column} has no value in row {row} ({text[:SHOWN]!r}); fill the cell{IMPUTER}, delete "
                f"the row, or leave the column out (--drop {name}){or_header}."
            )
        as_number = text.replace(",", ".")  # 1,5e400 is infinite, too
        is_infinite = is_number(as_number) and math.isinf(float(as_number))
        kind, encode = ("an infinite value", "") if is_infinite else ("text", f", encode it{ENCODER},")
        return DataError(
            f"{self.path}: {column} has {kind} in row {row} ({text[:SHOWN]!r}); "
            f"leave the column out (--drop {name}){encode} or use it as sample ids (--id {name}){or_header}."
        )
