"""How a table is written: what stands between its cells, and which mark stands before decimals."""

import csv
import re
import sys
from collections.abc import Sequence
from dataclasses import replace

from kernelbraid.files.columns import TRUTHS, Columns, is_number
from kernelbraid.files.errors import DataError
from kernelbraid.files.sources import DELIMITERS, TELLING, Source

#: What may stand between cells, and what it is called.
DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"}
ROWS = 20  # that tell what stands between their cells
# A number that ends with one cell and another one that begins the next, as in 1,5;2,5.
BETWEEN_NUMBERS = r"\d\s*{}\s*[+-]?[\d,.]"
COMMA_NUMBER = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
# A whole number whose digits may stand in groups of three: 1,234 and 12.345.678, not 0,123, 1234,567 or 1,5.
GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+") for mark in ",."}
MARK_NAMES = {",": "a comma", ".": "a point"}


def with_delimiter(source: Source) -> Source:
    """Return a CSV or TSV file whose delimiter is known: as the user says, or by its first rows."""
    if source.form.delimiter is not None:
        return source
    with source.open() as file:
        head = file.read(TELLING)
    lines = head.decode("utf-8", errors="replace").removeprefix("\ufeff").splitlines()
    if len(head) == TELLING:
        lines = lines[:-1] or lines  # the last one may go on
    found = find_delimiter([line for line in lines if line.strip()][:ROWS], DELIMITERS[source.suffix])
    return replace(source, form=replace(source.form, delimiter=found))


def find_delimiter(lines: Sequence[str], usual: str) -> str:
    """Return what stands between the cells of lines: what is usual, or something else if it clearly does.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a table, none of them blank.
    usual : str
        The delimiter that the name of the file promises.

    Returns
    -------
    str
        Another one than the usual if all lines have as many cells with it, more than one, and the usual one does not
        fit: the lines have one cell, or not the same number, or it would stand between the digits of numbers.
    """
    rows = _rows(lines, usual)
    widths = {len(row) for row in rows}
    for other in (";", "\t"):  # a comma may be a decimal mark
        if other == usual or not all(other in line for line in lines):
            continue
        others = {len(row) for row in _rows(lines, other)}
        between = re.compile(BETWEEN_NUMBERS.format(re.escape(other)))
        is_cut = any(between.search(cell) for row in rows for cell in row)
        if len(others) == 1 and others != {1} and (widths == {1} or len(widths) > 1 or is_cut):
            return other
    return usual


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:  # the reader of all rows says what is wrong
        return []


class Numbers:
    """Cells that become numbers, while it is found whether commas or points stand before decimals.

    A column whose cells are all true or false is one of 1 and 0; its first cell says whether it is.

    A comma does where the user says so, or where numbers have commas and no points, one of which cannot separate
    thousands. Nothing is guessed: what could be read in two ways is refused.

    Parameters
    ----------
    columns : Columns
        Those of the table, with the kept ones settled.
    source : Source
        The table, with a known delimiter.
    """

    def __init__(self, columns: Columns, source: Source) -> None:
        self._columns, self._asked = columns, source.form.decimal
        self._is_suspect = source.form.delimiter == ";"  # of a country where points may separate thousands
        self._first: dict[str, str] = {}  # by mark: the first cell with it, in words
        self._first_row = sys.maxsize  # of such a cell
        self._truths: list[int] | None = None  # places among the kept columns of those that are true or false
        self._sure: set[str] = set()  # marks that a cell has before decimals beyond doubt

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self._asked or ("," if "," in self._first else ".")

    @property
    def _has_points(self) -> bool:
        """Whether points stand before decimals beyond doubt."""
        return "." in self._sure and "," not in self._first

    def of(self, number: int, row: Sequence[str]) -> list[float]:
        """Return the numbers in the kept cells of a row."""
        cells = [row[i] for i in self._columns.kept]
        if self._truths is None:
            self._truths = [at for at, cell in enumerate(cells) if cell.strip().lower() in TRUTHS]
        for at in self._truths:
            cells[at] = self._truth(number, self._columns.kept[at], cells[at])
        joined = "".join(cells)
        if "," in joined or ("." in joined and not self._has_points):
            cells = [self._marked(number, i, cell) for i, cell in zip(self._columns.kept, cells, strict=True)]
        try:
            if "_" not in joined:  # float() reads 1_0 as 10
                return list(map(float, cells))
        except ValueError:
            pass
        wrong = next(i for i, cell in zip(self._columns.kept, cells, strict=True) if not is_number(cell))
        is_mixed = row[wrong].strip().lower() in TRUTHS
        raise (self._columns.mixed_error if is_mixed else self._columns.cell_error)(wrong, number, row[wrong])

    def _truth(self, number: int, index: int, cell: str) -> str:
        """Return true or false as a number; a number among them is refused, and whatever else is no number anyway."""
        if is_number(cell):
            raise self._columns.mixed_error(index, number, cell)
        return TRUTHS.get(cell.strip().lower(), cell)

    def check(self) -> None:
        """Refuse a table whose marks may all separate thousands, now that all rows were read."""
        for mark, cell in self._first.items():
            if self._asked is None and mark not in self._sure and (mark == "," or self._is_suspect):
                raise DataError(
                    f"{self._columns.path}: {cell} may be a number with decimals or one of thousands, and no other "
                    f"cell tells; say that {MARK_NAMES[mark]} stands before decimals (--decimal {mark}), or remove "
                    "what separates thousands."
                )

    def _marked(self, number: int, index: int, cell: str) -> str:
        """Return a cell as Python writes numbers, and keep in mind which mark it has."""
        text = cell.strip()
        mark = "," if "," in text else "."
        if mark not in text or (mark == self._asked == ".") or not self._is_number(text, mark):
            return cell
        self._first_row = min(self._first_row, number)
        if mark not in self._first:
            self._first[mark] = f"{text!r} in row {number} of {self._columns.describe(index)}"
        if mark not in self._sure and GROUPED[mark].fullmatch(text) is None:
            self._sure.add(mark)
        if self._asked not in (None, mark):
            raise DataError(
                f"{self._columns.path}: {self._first[mark]} has {MARK_NAMES[mark]}, which does not stand before "
                f"decimals (--decimal {self._asked}); write it without separators of thousands."
            )
        if len(self._first) > 1:
            raise DataError(
                f"{self._columns.path}: {self._first[',']} has a comma and {self._first['.']} a point, of which one "
                "stands before decimals; write all numbers in one way, without separators of "
                f"thousands{self._columns.or_header(self._first_row)}."
            )
        return text.replace(",", ".")

    @staticmethod
    def _is_number(text: str, mark: str) -> bool:
        return COMMA_NUMBER.fullmatch(text) is not None if mark == "," else is_number(text)
