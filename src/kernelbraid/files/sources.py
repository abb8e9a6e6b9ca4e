"""Where data come from: a file, a packed one, or a pipe, which is opened and read once."""

import gzip
import io
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeAlias

from kernelbraid._system import available_bytes, format_bytes
from kernelbraid.files.errors import DataError, reading

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ARRAY_FILES = (".npy", ".npz", ".mat")
SUFFIXES = (*DELIMITERS, ".parquet", *ARRAY_FILES)
PACKED = ".gz"  # after one of them

# How the files begin that are no text: a pipe such as /dev/stdin has no suffix.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz", b"PAR1": ".parquet", b"MATLAB": ".mat", b"\x89HDF": ".mat"}
PACKED_BEGINNING = b"\x1f\x8b"
TELLING = 2**16  # bytes, among which a zero says that they are no text
CHUNK = 2**20  # bytes that are taken from a pipe at a time
SHARE = 2  # a pipe may take the free memory divided by this, since its content is there beside what is read from it

#: What standard input is called in messages.
STANDARD_INPUT = Path("standard input")


@dataclass(frozen=True)
class Form:
    """What a user says of files, where they do not say it themselves.

    Parameters
    ----------
    suffix : str or None, default=None
        What a pipe, or a file whose name tells nothing, holds: one of `SUFFIXES`; found by its content if None.
    delimiter : str or None, default=None
        What stands between the cells of a CSV or TSV file; found by its first rows if None.
    decimal : {".", ","} or None, default=None
        The decimal mark of a CSV or TSV file; found by its cells if None.
    """

    suffix: str | None = None
    delimiter: str | None = None
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """A file that is there, or what was packed in it or came through a pipe.

    Parameters
    ----------
    path : Path
        Its name.
    suffix : str
        What it holds, as one of the suffixes that are known.
    content : bytes or None, default=None
        What was packed or came through a pipe; None: a file, which can be opened again.
    form : Form, default=Form()
        What the user says of it.
    """

    path: Path
    suffix: str
    content: bytes | None = None
    form: Form = field(default_factory=Form)

    def open(self) -> IO[bytes]:
        """Open the content from its beginning, as often as needed."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def size(self) -> int:
        """Return the number of bytes."""
        return self.path.stat().st_size if self.content is None else len(self.content)


#: What the readers take.
FilePath: TypeAlias = str | Path | Source


def open_source(path: FilePath, form: Form | None = None) -> Source:
    """Return a source that is there and not empty; one that is open already stays as it is."""
    if isinstance(path, Source):
        return path
    path, form = Path(path), form or Form()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:
        raise _not_opened(path, error) from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{path}: this is a directory; give a file.")
    passes = not stat.S_ISREG(mode) or path.parts[1:2] == ("dev",)
    if not (passes or names_content(path) or form.suffix is not None):
        raise DataError(
            f"{path}: the suffix {path.suffix.lower()!r} is unknown; use one of {', '.join(SUFFIXES)}, or say what the "
            "file holds, as with --format csv."
        )
    try:
        with path.open("rb") as file:
            content = _content(path, file) if passes or path.suffix.lower() == PACKED else None
            is_empty = not (file.read(1) if content is None else content)
    except OSError as error:
        raise _not_opened(path, error) from None
    if is_empty:
        raise DataError(f"{path}: the file is empty; give at least one row.")
    suffix = _suffix(path)
    return Source(path, suffix if suffix in SUFFIXES else _kind(path, content, form), content, form)


def read_stdin(form: Form | None = None) -> Source:
    """Return what comes through standard input."""
    form = form or Form()
    if sys.stdin is None:
        raise DataError(f"{STANDARD_INPUT}: it is closed; give a file.")
    content = _content(STANDARD_INPUT, sys.stdin.buffer)
    if not content:
        raise DataError(f"{STANDARD_INPUT}: nothing came through it; give at least one row.")
    return Source(STANDARD_INPUT, _kind(STANDARD_INPUT, content, form), content, form)


def names_content(path: Path) -> bool:
    """Return whether the name of a file says what it holds."""
    return _suffix(path) in SUFFIXES


def _suffix(path: Path) -> str:
    """Return the suffix of a file in small letters; of a packed one, that before."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == PACKED else suffix


def _not_opened(path: Path, error: Exception) -> DataError:
    reason = getattr(error, "strerror", None) or error
    return DataError(f"{path}: the file cannot be opened ({reason}); check its permissions.")


def _content(path: Path, file: IO[bytes]) -> bytes:
    """Return all that comes through a pipe, or that was packed in a file."""
    content = _drain(path, file, "came through the pipe")
    if not content.startswith(PACKED_BEGINNING):
        return content
    with reading(path), gzip.open(io.BytesIO(content)) as packed:
        return _drain(path, packed, "were packed in it")


def _drain(path: Path, file: IO[bytes] | gzip.GzipFile, how: str) -> bytes:
    """Return all bytes of a stream, as long as there is room for them."""
    free = available_bytes()
    parts, size = [], 0
    while part := file.read(CHUNK):
        parts.append(part)
        size += len(part)
        if free is not None and size > free // SHARE:
            raise DataError(
                f"{path}: more than {format_bytes(size)} {how}, and {format_bytes(free)} were free; write the samples "
                "to a file that is not packed and give that."
            )
    return b"".join(parts)


def _kind(path: Path, content: bytes | None, form: Form) -> str:
    """Return the suffix that content would have if its name told it: as the user says, or by how it begins."""
    if form.suffix is not None:
        return form.suffix
    content = content or b""
    for beginning, suffix in BEGINNINGS.items():
        if content.startswith(beginning):
            return suffix
    if b"\0" in content[:TELLING]:
        raise DataError(
            f"{path}: this is no text, and it does not begin like a .npy, .npz, .parquet or .mat file; say what it is "
            "with --format, or give UTF-8 text."
        )
    first = content.lstrip().partition(b"\n")[0]
    return ".tsv" if b"\t" in first else ".csv"
