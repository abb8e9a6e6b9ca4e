"""Where data come from: a file, or a pipe, which is opened and read once."""

import io
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from kernelbraid._system import available_bytes, format_bytes
from kernelbraid.files.errors import DataError

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ARRAY_FILES = (".npy", ".npz", ".mat")
SUFFIXES = (*DELIMITERS, ".parquet", *ARRAY_FILES)

# How the files begin that are no text: a pipe such as /dev/stdin has no suffix.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz", b"PAR1": ".parquet", b"MATLAB": ".mat"}
CHUNK = 2**20  # bytes that are taken from a pipe at a time
SHARE = 2  # a pipe may take the free memory divided by this, since its content is there beside what is read from it


@dataclass(frozen=True, eq=False)
class Source:
    """A file that is there, or what came through a pipe.

    Parameters
    ----------
    path : Path
        Its name.
    suffix : str
        What it holds, as one of the suffixes that are known.
    content : bytes or None, default=None
        What came through a pipe; None: a file, which can be opened again.
    """

    path: Path
    suffix: str
    content: bytes | None = None

    def open(self) -> IO[bytes]:
        """Open the content from its beginning, as often as needed."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def size(self) -> int:
        """Return the number of bytes."""
        return self.path.stat().st_size if self.content is None else len(self.content)


#: What the readers take.
FilePath: TypeAlias = str | Path | Source


def open_source(path: FilePath) -> Source:
    """Return a source that is there and not empty; one that is open already stays as it is."""
    if isinstance(path, Source):
        return path
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:
        raise _not_opened(path, error) from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{path}: this is a directory; give a file.")
    suffix = path.suffix.lower()
    passes = not stat.S_ISREG(mode) or path.parts[1:2] == ("dev",)
    if suffix not in SUFFIXES and not passes:
        raise DataError(f"{path}: the suffix {suffix!r} is unknown; use one of {', '.join(SUFFIXES)}.")
    try:
        content = _drain(path) if passes else None
        with Source(path, suffix, content).open() as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise _not_opened(path, error) from None
    if is_empty:
        raise DataError(f"{path}: the file is empty; give at least one row.")
    return Source(path, suffix if suffix in SUFFIXES else _kind(content or b""), content)


def _not_opened(path: Path, error: Exception) -> DataError:
    reason = getattr(error, "strerror", None) or error
    return DataError(f"{path}: the file cannot be opened ({reason}); check its permissions.")


def _drain(path: Path) -> bytes:
    """Return all that comes through a pipe, as long as there is room for it."""
    free = available_bytes()
    parts, size = [], 0
    with path.open("rb") as file:
        while part := file.read(CHUNK):
            parts.append(part)
            size += len(part)
            if free is not None and size > free // SHARE:
                raise DataError(
                    f"{path}: more than {format_bytes(size)} came through the pipe, and {format_bytes(free)} were "
                    "free; write the samples to a file and give that."
                )
    return b"".join(parts)


def _kind(content: bytes) -> str:
    """Return the suffix that what came through a pipe would have, by its first bytes or its first line."""
    for beginning, suffix in BEGINNINGS.items():
        if content.startswith(beginning):
            return suffix
    first = content.lstrip().partition(b"\n")[0]
    return ".tsv" if b"\t" in first else ".csv"
