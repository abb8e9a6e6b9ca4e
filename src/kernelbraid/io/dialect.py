"""How a table is written: whether its first row is a header, what stands between its cells, and before decimals."""

import csv
import re
from collections.abc import Sequence

import numpy as np

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
CHANCE = 1e-5  # of a sample that counts its columns: below it, such a first row is a header


def is_number(cell: str) -> bool:
    """Return whether a cell is written as a number (Python's 1_000 is not: it is more likely an id)."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_name(cell: str) -> bool:
    """Return whether a cell can name a column: it is no number, nothing like one, no truth and no mark of a gap."""
    return cell.lower() not in (*MISSING, *TRUTHS) and not is_number(cell) and LIKE_NUMBER.fullmatch(cell) is None


def decimal_mark(cell: str) -> str | None:
    """Return which mark a number has that may stand before its decimals."""
    if COMMA_NUMBER.fullmatch(cell):
        return ","
    return "." if "." in cell and is_number(cell) else None


def is_header(first: Sequence[str], below: Sequence[Sequence[str]] = ()) -> bool:
    """Return whether the first row of a file names its columns, given rows below it.

    A row of text is a header if there is a name in it. A row with numbers, or with true and false, is a sample,
    whatever stands beside them: an id, or a slip. It is a header if its first cell is the usual name of ids, if it
    counts more than two columns, if it counts them after an empty cell, as pandas writes it, or if it counts them from
    0 and cannot be a sample.
    """
    if len(first) > 1 and first == [str(i) for i in range(len(first))]:
        return _only_counts([row for row in below if len(row) == len(first)])
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
    if not any(map(WHOLE.fullmatch, cells)) or not all(map(is_number, cells)):
        return len(cells) > 0 and not any(map(WHOLE.fullmatch, cells))
    rows = np.array(below, dtype=np.float64)
    n, d = rows.shape
    is_alike = (np.sort(rows) == np.arange(d)).all() or (np.diff(rows) > 0).all()
    if d == 2 or is_alike or np.array_equal(rows[:, 0], np.arange(1, n + 1)):
        return False
    # Each number has a share in its column as if it had been seen there once, and something else, too.
    return bool(np.prod((np.sum(rows == np.arange(d), axis=0) + 1) / (n + 2)) < CHANCE)


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
        fit: the lines have one cell, or not the same number, or it would stand between the digits of numbers. Spaces
        must stand between numbers, too: texts have them.
    """
    rows = list(csv.reader(lines, delimiter=usual))
    widths = {len(row) for row in rows}
    for other in (";", "\t", "|", " "):  # a comma may be a decimal mark
        if other == usual or not all(other in line for line in lines):
            continue
        found = list(
            csv.reader(map(str.rstrip, lines) if other == " " else lines, delimiter=other, skipinitialspace=True)
        )
        others = {len(row) for row in found}
        # A number that ends with one cell and another one that begins the next, as in 1,5;2,5.
        between = re.compile(rf"\d\s*{re.escape(other)}\s*[+-]?[\d,.]")
        is_cut = any(between.search(cell) for row in rows for cell in row)
        numbers = [sum(is_number(cell) or decimal_mark(cell) is not None for cell in row) for row in found]
        is_meant = other != " " or min(numbers[1:] or numbers, default=0) > 1
        if len(others) == 1 and others != {1} and is_meant and (widths == {1} or len(widths) > 1 or is_cut):
            return other
    return usual
