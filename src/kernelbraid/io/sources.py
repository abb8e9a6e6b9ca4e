"""Where data come from: a file, a packed one, a pipe or standard input, whatever it is opened as a buffer."""

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from kernelbraid._machine import install

ARRAY_FILES = (".npy", ".npz", ".mat")
SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", *ARRAY_FILES)
PACKED = (".gz", ".bz2", ".xz", ".zip")  # gzip is unpacked here, and what pandas unpacks in tables of text
# How files begin: what comes through a pipe has no suffix, and what has one may be something else.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK\3\4": ".npz", b"PAR1\x15": ".parquet", b"MATLAB 5.0 MAT": ".mat"}
STANDARD_INPUT = Path("standard input")  # what it is called in messages


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
    except ImportError:
        raise DataError(f"{path}: Parquet needs pyarrow; {install('io')}.") from None
    except Exception as error:
        told = str(getattr(error, "strerror", None) or error or type(error).__name__)
        reason = " ".join(told.rpartition(" error: ")[2].partition(". ")[0].split()).rstrip(".")
        raise DataError(f"{path}: the file cannot be read ({reason[:200]}); {remedy}.") from None


@dataclass(frozen=True, eq=False)
class Source:
    """A file that is there, or what was packed in it or came through a pipe.

    Parameters
    ----------
    path : Path
        Its name.
    suffix : str
        What it holds, as one of `SUFFIXES`.
    content : bytes or None, default=None
        What was packed or came through a pipe; None: a file, which can be opened again.
    delimiter : str or None, default=None
        What stands between the cells of a CSV or TSV file; found by its first rows if None.
    decimal : {".", ","} or None, default=None
        The decimal mark of a CSV or TSV file; found by its cells if None.
    """

    path: Path
    suffix: str
    content: bytes | None = None
    delimiter: str | None = None
    decimal: str | None = None

    def open(self) -> IO[bytes]:
        """Open the content from its beginning, as often as needed."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)


#: What the readers take.
FilePath: TypeAlias = str | Path | Source


def open_source(path: FilePath, *, held: str | None = None, **written: str | None) -> Source:
    """Return a source that is there and not empty, "-" being standard input; one that is open stays as it is.

    Parameters
    ----------
    path : str, Path or Source
        The file.
    held : str or None, default=None
        What it holds, as one of `SUFFIXES`; without it its name tells, and of a pipe its content.
    **written : dict
        The delimiter and the decimal mark of a CSV or TSV file, if the user says them.
    """
    if isinstance(path, Source):
        return path
    path, content = STANDARD_INPUT if str(path) == "-" else Path(path), None
    suffix = held or Path(path.stem if path.suffix.lower() in PACKED else path).suffix.lower()
    with reading(path):
        if path.suffix.lower() in ("", ".gz") or not path.is_file():
            standard = sys.stdin.buffer.read if sys.stdin else bytes  # a shell may have closed it
            content = standard() if path == STANDARD_INPUT else path.read_bytes()
            content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        with Source(path, suffix, content).open() as file:
            start = file.read(20)
    begins = next((kind for sign, kind in BEGINNINGS.items() if start.startswith(sign)), None)
    if content is not None and suffix not in SUFFIXES:
        suffix = begins or ".csv"
    if not start:
        raise DataError(f"{path}: the file is empty; give at least one row.")
    if suffix not in SUFFIXES:
        known = f"use one of {', '.join(SUFFIXES)}, or say what the file holds, as with --format csv"
        raise DataError(f"{path}: the suffix {suffix!r} is unknown; {known}.")
    if begins and suffix not in (begins, *ARRAY_FILES) and path.suffix.lower() != ".zip":
        what = "a zip archive, as .npz and .xlsx are," if begins == ".npz" else f"a {begins} file"
        raise DataError(f"{path}: by its first bytes this is {what} and no {suffix} file; call it what it is.")
    return Source(path, suffix, content, **written)
