"""What options accept: each function turns the text of an option into a value or says what it must be."""

import math
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

import typer

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "pipe": "|"}
LARGEST_SEED = 2**32 - 1
ALL_CORES = "-1 stands for all cores, -2 for all but one."


def choice(*names: str) -> Callable[[str], str]:
    """Return a parser for one of several words."""

    def parse(value: str) -> str:
        if value not in names:
            raise typer.BadParameter(f"{value!r} is unknown; choose {' or '.join(names)}.")
        return value

    return parse


def completing(*names: str) -> Callable[[str], list[str]]:
    """Return what a shell offers for the beginning of one of several words."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def several(*names: str) -> Callable[[str], str]:
    """Return a parser for some of several words, separated by commas; typer would take a list for many options."""

    def parse(value: str) -> str:
        words = [word.strip() for word in value.split(",")]
        for word in words:
            if word not in names:
                raise typer.BadParameter(f"{word!r} is unknown; choose from {', '.join(names)}.")
        return ",".join(dict.fromkeys(words))

    return parse


def known_method(value: str) -> str:
    """Return the name of a method, or name those that are spelt like it."""
    from kernelbraid.methods import METHODS  # loads scikit-learn, which the help of a command can do without

    if value in METHODS:
        return value
    folded = {name.casefold(): name for name in METHODS}
    near = [folded[match] for match in get_close_matches(value.casefold(), folded, n=3)]
    choose = f"choose {' or '.join(near)}" if near else f"choose one of {', '.join(METHODS)}"
    raise typer.BadParameter(f"{value!r} is unknown; {choose} (see kernelbraid methods).")


def complete_method(incomplete: str) -> list[str]:
    """Return the methods that a shell offers."""
    from kernelbraid.methods import METHODS  # loads scikit-learn

    return completing(*METHODS)(incomplete)


def whole_number(least: int, most: int | None = None) -> Callable[[str | int], int]:
    """Return a parser for a whole number in a range."""
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def parse(value: str | int) -> int:
        try:
            number = int(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is no whole number; give {wanted}.") from None
        if number < least or (most is not None and number > most):
            raise typer.BadParameter(f"{number} is out of range; give {wanted}.")
        return number

    return parse


def number_of_jobs(value: str | int) -> int:
    """Return how many jobs there may be at a time; negative numbers count down from all cores."""
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number == 0:
        raise typer.BadParameter(f"{value!r} is no number of jobs; give 1 or more, or -1 for all cores.")
    return number


def whole_number_or(word: str) -> Callable[[str | int], int | str]:
    """Return a parser for a whole number from 1 or a word."""
    number = whole_number(1)

    def parse(value: str | int) -> int | str:
        if value == word:
            return word
        try:
            return number(value)
        except typer.BadParameter:
            wanted = f"a whole number of at least 1, or {word}"
            raise typer.BadParameter(f"{str(value)!r} is out of range; give {wanted}.") from None

    return parse


def real_number(*, zero: bool = False, infinite: bool = False) -> Callable[[str | float], float]:
    """Return a parser for a positive number, or for one that may also be zero or infinite."""
    wanted = "0 or a positive number" if zero else "a positive number"
    wanted += ", or inf" if infinite else ""

    def parse(value: str | float) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (0 < number < math.inf or (zero and number == 0) or (infinite and number == math.inf)):
            raise typer.BadParameter(f"{str(value)!r} is out of range; give {wanted}.")
        return number

    return parse


def weights_of_views(value: str | tuple[float, ...]) -> tuple[float, ...]:
    """Return numbers that are separated by commas: from 0 on, and not all 0."""
    try:
        weights = tuple(float(word) for word in value.split(",")) if isinstance(value, str) else value
    except ValueError:
        weights = ()
    if not (all(0 <= weight < math.inf for weight in weights) and any(weights)):
        raise typer.BadParameter(
            f"{str(value)!r} are no weights; give a number from 0 on for each file, not all 0, such as 1,1,0."
        )
    return weights


def delimiter(value: str) -> str:
    """Return what stands between cells, given as a sign or as a word."""
    found = DELIMITERS.get(value, value)
    if len(found) != 1 or found.isalnum() or found in "\"'.+-_\r\n":
        raise typer.BadParameter(
            f"{value!r} cannot stand between cells; give one sign, such as ';', or one of {', '.join(DELIMITERS)}."
        )
    return found


def decimal_mark(value: str) -> str:
    """Return the mark before decimals, given as a sign or as a word."""
    found = {"point": ".", "comma": ","}.get(value, value)
    if found not in (".", ","):
        raise typer.BadParameter(f"{value!r} cannot stand before decimals; give . or , (or point or comma).")
    return found


def existing_input(value: str | Path) -> Path:
    """Return the path of a file that is there, or that of standard input."""
    return Path(value) if str(value) == "-" else existing_file(value)


def existing_file(value: str | Path) -> Path:
    """Return the path of a file that is there."""
    path = Path(value)
    if not path.exists():
        raise typer.BadParameter(f"there is no file {str(path)!r}; check the path.")
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder; give a file.")
    return path
