"""The one exception of the readers, and what becomes of those of other libraries."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 200  # characters of another library's text that a sentence repeats


class DataError(ValueError):
    """A file cannot be read as data; the message names the file, the place and the remedy in one sentence."""

    def __init__(self, sentence: str) -> None:
        line = " ".join(sentence.splitlines())  # names in a file may have line breaks, and what a terminal obeys
        super().__init__("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line))


@contextmanager
def reading(path: Path, remedy: str = "write it again") -> Iterator[None]:
    """Let whatever a library stumbles over in a file be one sentence; memory that is short stays what it is."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{path}: the file is damaged ({one_line(error)}); {remedy}.") from None


def one_line(error: Exception) -> str:
    """Return the text of an error of another library, as part of a sentence."""
    text = " ".join(str(error).split()).rstrip(".")
    return text[:LONGEST] or type(error).__name__
