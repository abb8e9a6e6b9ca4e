"""Where data come from: a file, a packed one, or a pipe, which is opened and read once."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeAlias

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ARRAY_FILES = (".npy", ".npz", ".mat")
SUFFIXES = (*DELIMITERS, ".parquet", *ARRAY_FILES)
PACKED = (".gz", ".bz2", ".xz", ".zip")  # after one of them

# How the files begin that are no text: a pipe such as /dev/stdin has no suffix.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz", b"PAR1": ".parquet", b"MATLAB": ".mat", b"\x89HDF": ".mat"}
UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
LONGEST = 200  # characters of another library's text that a sentence repeats

#: What standard input is called in messages.
STANDARD_INPUT = Path("standard input")


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
    except UnicodeDecodeError:
        raise DataError(f"{path}: this is not UTF-8 text; save the table as UTF-8.") from None
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")[:LONGEST] or type(error).__name__
        raise DataError(f"{path}: the file is damaged ({reason}); {remedy}.") from None


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


#: What the readers take.
FilePath: TypeAlias = str | Path | Source


def open_source(path: FilePath, form: Form | None = None) -> Source:
    """Return a source that is there and not empty; one that is open already stays as it is."""
    if isinstance(path, Source):
        return path
    path = Path(path)
    try:
        passes = not path.is_file() or path.parts[1:2] == ("dev",) or path.suffix.lower() in PACKED
        with path.open("rb") as file:
            content = file.read() if passes else None
            return _source(path, content, form or Form(), is_empty=not (content if passes else file.read(1)))
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: the file cannot be opened ({reason}); check its path and permissions.") from None


def read_stdin(form: Form | None = None) -> Source:
    """Return what comes through standard input."""
    content = sys.stdin.buffer.read() if sys.stdin else b""
    return _source(STANDARD_INPUT, content, form or Form(), is_empty=not content)


def suffix_of(path: Path) -> str:
    """Return the suffix of a file in small letters; of a packed one, that before."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in PACKED else suffix


def _source(path: Path, content: bytes | None, form: Form, *, is_empty: bool) -> Source:
    """Return what is read, unpacked; what it holds is said by its name, by the user, or by how it begins."""
    if content is not None:
        with reading(path):
            content = _unpacked(path, content)
    if is_empty or content == b"":
        raise DataError(f"{path}: the file is empty; give at least one row.")
    suffix = suffix_of(path)
    if suffix not in SUFFIXES and form.suffix is None and content is None:
        raise DataError(
            f"{path}: the suffix {suffix!r} is unknown; use one of {', '.join(SUFFIXES)}, or say what the file holds, "
            "as with --format csv."
        )
    if suffix not in SUFFIXES:
        begins = (kind for beginning, kind in BEGINNINGS.items() if content and content.startswith(beginning))
        is_tsv = content is not None and b"\t" in content.lstrip().partition(b"\n")[0]
        suffix = form.suffix or next(begins, ".tsv" if is_tsv else ".csv")
    return Source(path, suffix, content, form)


def _unpacked(path: Path, content: bytes) -> bytes:
    """Return what was packed, if it was; an .npz file is a zip file, too, and stays what it is."""
    for beginning, unpack in UNPACK.items():
        if content.startswith(beginning):
            return unpack(content)
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            if not names[0].endswith(".npy"):
                if len(names) > 1:
                    raise DataError(f"{path}: {len(names)} files are packed in it; give one of them.")
                return archive.read(names[0])
    return content
