"""Where data come from: a file, a packed one, a pipe or standard input; and which array of an array file is meant."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host

ARRAY_FILES = (".npy", ".npz", ".mat")
SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", *ARRAY_FILES)
# How files begin: what comes through a pipe has no suffix.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz", b"PAR1": ".parquet", b"MATLAB": ".mat"}
UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
PACKED = (".gz", ".bz2", ".xz")
SPARSE_PARTS = ("data", "indices", "indptr", "shape")  # of a matrix X in compressed rows, as X_data and so on
NUMPY, MATLAB = "save plain arrays with numpy.save or numpy.savez", "save it again in MATLAB with -v7"

#: What an array file holds under a name: an array of NumPy, or a sparse matrix by rows.
Matrix: TypeAlias = Host | sparse.csr_array


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


def read_array(source: Source, key: str | None, preferred: Sequence[str], fits: Callable[[Matrix], bool]) -> Matrix:
    """Return one array of a file: the one called `key`, the only one that fits, or the first preferred name."""
    found = read_arrays(source)
    fitting = [name for name, array in found.items() if fits(array)]
    usual = [name for name in preferred if name in (fitting or found)][:1]
    names = [key] if key else fitting if len(fitting) == 1 else usual or fitting
    if "" in found:  # the array of a .npy file has no name
        return found[""]
    if len(names) == 1 and names[0] in found:
        return found[names[0]]
    told = "several arrays could be meant" if len(names) > 1 else f"there is no array {key or 'of the right shape'!r}"
    there = ", ".join(f"{name} {array.shape}" for name, array in found.items()) or "none"
    raise DataError(f"{source.path}: {told} (found {there}, and no pickled object); name one with --key, or {NUMPY}.")


def read_arrays(source: Source) -> dict[str, Any]:
    """Return the arrays of a file by name, that of a .npy file as "", without those of pickled objects."""
    is_mat = source.suffix == ".mat"
    with reading(source.path, MATLAB if is_mat else NUMPY), source.open() as file:
        found = _list_mat(file) if is_mat else _list_numpy(file)
        for name, array in found.items():
            if sparse.issparse(array):
                found[name] = array = sparse.csr_array(array)
                array.check_format(full_check=True)  # an index out of bounds would crash the interpreter later on
                array.sum_duplicates()
    return found


def _list_numpy(file: IO[bytes]) -> dict[str, Any]:
    content = np.load(file, allow_pickle=False)
    if isinstance(content, np.ndarray):
        return {"": content}
    if {"format", "shape", "data"} <= {*content.files}:  # as scipy.sparse.save_npz writes it
        file.seek(0)
        return {"X": sparse.load_npz(file)}
    arrays = {}
    for name in content.files:
        with suppress(ValueError):  # pickled objects
            arrays[name] = content[name]
    for stem in [name.removesuffix("_indptr") for name in arrays if name.endswith("_indptr")]:
        data, indices, indptr, shape = (arrays.pop(f"{stem}_{part}") for part in SPARSE_PARTS)
        arrays[stem] = sparse.csr_array((data, indices, indptr), shape=shape)
    return arrays


def _list_mat(file: IO[bytes]) -> dict[str, Any]:
    """Return the variables of a .mat file; of a stack of kernels, (n, n, m) in MATLAB, the last axis comes first."""
    from scipy.io import loadmat

    found = {name: array for name, array in loadmat(file).items() if not name.startswith("__")}
    stacks = [name for name, a in found.items() if a.ndim == 3 and a.shape[0] == a.shape[1] != a.shape[2]]
    return found | {name: np.moveaxis(found[name], 2, 0) for name in stacks}
