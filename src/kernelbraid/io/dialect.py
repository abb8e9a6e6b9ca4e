"""How a table is written: whether its first row is a header, what stands between its cells, and before decimals."""

import csv
import re
from collections.abc import Iterable, Sequence

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
# What makes numbers with a decimal mark those of Python, and of all others none; of no mark, whole numbers are some.
AS_PYTHON = {".": {}, ",": str.maketrans(",.", ".,"), None: str.maketrans(",.", "??")}
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
        return _only_counts([row for row in below if len(row) == len(first)])
    if first[1:] in (counts[0][:-1], counts[1][:-1]) and len(first) > 1:
        return not first[0] or (is_name(first[0]) and len(first) > 3)  # fewer may well be measurements
    is_text = not any(is_number(cell) or LIKE_NUMBER.fullmatch(cell) or cell.lower() in TRUTHS for cell in first)
    return any(map(is_name, first)) and (is_text or first[0].lower() in ID_NAMES)


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
    """Return what stands between the cells of lines: what makes as many of them in each, most of them numbers.

    Nothing but numbers tells in doubt, and what is usual. Spaces must stand between numbers: texts have them.
    """
    best, most = usual, -1.0
    for sign in dict.fromkeys((usual, ";", "\t", "|", " ")):
        rows = list(csv.reader(map(str.strip, lines), delimiter=sign, skipinitialspace=True))
        numbers = [sum(is_number(cell) or bool(COMMA_NUMBER.fullmatch(cell)) for cell in row) for row in rows]
        width, *others = {len(row) for row in rows} or {1}
        if width > 1 and not others and (sign != " " or min(numbers[1:] or numbers) > 1):
            share = sum(numbers) / width
            best, most = (sign, share) if share > most else (best, most)
    return best
