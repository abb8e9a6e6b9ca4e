"""Where data come from: a file, a packed one, a pipe or standard input."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

ARRAY_FILES = (".npy", ".npz", ".mat")
SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", *ARRAY_FILES)
# How files begin: what comes through a pipe has no suffix.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz", b"PAR1": ".parquet", b"MATLAB": ".mat"}
UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
PACKED = (".gz", ".bz2", ".xz")


class DataError(ValueError):
    """A file cannot be read as data; the message names the file, the place and the remedy in one sentence."""

    def __init__(self, sentence: str) -> None:
        line = " ".join(sentence.splitlines())  # names in a file may have line breaks, and what a terminal obeys
        super().__init__("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line))


@contextmanager
def reading(path: Path, remedy: str = "check it, or write it again") -> Iterator[None]:
    """Let whatever a library stumbles over in a file be one sentence; memory that is short stays what it is."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except UnicodeDecodeError:
        raise DataError(f"{path}: this is not UTF-8 text; save the table as UTF-8.") from None
    except Exception as error:
        told = str(getattr(error, "strerror", None) or error or type(error).__name__)
        raise DataError(f"{path}: the file cannot be read ({told.strip()[:200]}); {remedy}.") from None


@dataclass(frozen=True, eq=False)
class Source:
    """A file that is there, or what was packed in it or came through a pipe."""

    path: Path
    suffix: str  # what it holds, as one of SUFFIXES
    content: bytes | None = None  # what was packed or came through a pipe; None: a file, which can be opened again
    delimiter: str | None = None  # between the cells of a CSV or TSV file; found by its first rows if None
    decimal: str | None = None  # "." or ",", before decimals of a CSV or TSV file; found by its cells if None
    blank: int = 0  # lines above the first row of a CSV or TSV file

    def open(self) -> IO[bytes]:
        """Open the content from its beginning, as often as needed."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)


#: What the readers take.
FilePath: TypeAlias = str | Path | Source


def open_source(path: FilePath, *, held: str | None = None, **written: Any) -> Source:
    """Return a source that is there and not empty, "-" being standard input; one that is open stays as it is.

    Parameters
    ----------
    path : str, Path or Source
        The file.
    held : str or None, default=None
        What it holds, as one of `SUFFIXES`, if its name does not tell; that of a pipe is found by its content.
    **written : dict
        The delimiter and the decimal mark of a CSV or TSV file, if the user says them.
    """
    if isinstance(path, Source):
        return path
    is_input, path = str(path) == "-", Path("standard input" if str(path) == "-" else path)
    is_packed, content = path.suffix.lower() in PACKED, None
    suffix = Path(path.stem if is_packed else path).suffix.lower()
    suffix = suffix if suffix in SUFFIXES else held or suffix
    with reading(path):
        if is_packed or not suffix or not path.is_file():
            content = sys.stdin.buffer.read() if is_input else path.read_bytes()
            content = next((unpack for start, unpack in UNPACK.items() if content.startswith(start)), bytes)(content)
            begins = (kind for start, kind in BEGINNINGS.items() if content.startswith(start))
            suffix = suffix if suffix in SUFFIXES else next(begins, ".csv")
        if not (path.stat().st_size if content is None else content):
            raise DataError(f"{path}: the file is empty; give at least one row.")
    if suffix not in SUFFIXES:
        known = f"use one of {', '.join(SUFFIXES)}, or say what the file holds, as with --format csv"
        raise DataError(f"{path}: the suffix {suffix!r} is unknown; {known}.")
    return Source(path, suffix, content, **written)
