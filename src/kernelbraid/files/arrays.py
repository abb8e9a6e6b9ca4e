"""Array files: .npy, .npz (never unpickled) and .mat up to v7.2, with sparse matrices kept sparse."""

import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.files.errors import DataError

T = TypeVar("T")

SPARSE_PARTS = ("data", "indices", "indptr", "shape")
#: What a file holds under a name: an array of NumPy, or a sparse matrix by rows.
Matrix: TypeAlias = Host | sparse.csr_array

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
HDF5_OFFSETS = (0, 512)  # a v7.3 .mat puts 512 bytes of its own in front


def read_array(path: Path, key: str | None, preferred: Sequence[str], fits: Callable[[Matrix], bool]) -> Matrix:
    """Return one array of a file: the one called `key`, the only one that fits, or the first preferred name."""
    if path.suffix.lower() == ".npy":
        return _load_npy(path)
    arrays = read_arrays(path, key)
    if key is not None:
        if key not in arrays:
            raise DataError(f"{path}: there is no array {key!r}; use one of {_listing(arrays)}.")
        return arrays[key]
    fitting = [name for name, array in arrays.items() if fits(array)]
    if len(fitting) == 1:
        return arrays[fitting[0]]
    for name in preferred:
        if name in (fitting or arrays):
            return arrays[name]
    if fitting:
        names = ", ".join(fitting)
        raise DataError(f"{path}: several arrays could be meant ({names}); name one with --key.")
    raise DataError(f"{path}: no array has the right shape and type (found {_listing(arrays)}).")


def read_arrays(path: Path, key: str | None = None) -> dict[str, Matrix]:
    """Return the arrays of an .npz or .mat file by name; given a key, of an .npz file that one alone."""
    return _load_npz(path, key) if path.suffix.lower() == ".npz" else _load_mat(path)


def is_sample_array(array: Matrix) -> bool:
    """Return whether an array can be samples by features or a stack of kernels."""
    return array.dtype.kind in "biuf" and array.ndim in (2, 3) and min(array.shape) > 1


def is_label_array(array: Matrix) -> bool:
    """Return whether an array can be one label per sample."""
    return not sparse.issparse(array) and array.ndim in (1, 2) and array.size == max(array.shape, default=0)


def _listing(arrays: Mapping[str, Matrix]) -> str:
    """Return the names and shapes in a file, for a message."""
    return ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items()) or "none"


@contextmanager
def _open_numpy(path: Path) -> Iterator[np.ndarray | NpzFile]:
    """Open a file with NumPy, without ever unpickling anything."""
    with path.open("rb") as file:  # given a path, NumPy leaves a broken archive open
        try:
            content = np.load(file, allow_pickle=False)
        except (ValueError, EOFError, MemoryError, OSError, zipfile.BadZipFile) as error:
            raise _numpy_error(path, error) from None
        yield content


def _numpy_error(path: Path, error: Exception) -> DataError:
    """Return the error for a file that NumPy could not read."""
    if "allow_pickle" in str(error) or "Python objects" in str(error):
        return DataError(
            f"{path}: the file holds pickled objects, which are never loaded, or is no NumPy file; "
            "save plain arrays of numbers with numpy.save or numpy.savez."
        )
    return DataError(f"{path}: the file is damaged ({_one_line(error)}); write it again.")


def _one_line(error: Exception) -> str:
    """Return the text of an error of another library, as part of a sentence."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _load_npy(path: Path) -> np.ndarray:
    """Return the array of a .npy file."""
    with _open_numpy(path) as array:
        if not isinstance(array, np.ndarray):
            raise DataError(f"{path}: this is an .npz archive; rename it to .npz.")
        return array


def map_npy(path: Path) -> np.ndarray:
    """Return the array of a .npy file as a memory map."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise _numpy_error(path, error) from None
    if not isinstance(array, np.ndarray):
        raise DataError(f"{path}: this is an .npz archive; rename it to .npz.")
    return array


def _load_npz(path: Path, key: str | None) -> dict[str, Matrix]:
    """Return the arrays of a .npz file: all of them, or only the one called `key`."""
    with _open_numpy(path) as archive:
        if isinstance(archive, np.ndarray):
            raise DataError(f"{path}: this is a single .npy array; rename it to .npy.")
        names = set(archive.files)
        if {"format", "shape", "data"} <= names:  # written by scipy.sparse.save_npz
            return {key or "X": _read_member(path, sparse.load_npz, path)}
        if key is not None and key not in names and f"{key}_data" not in names:
            raise DataError(f"{path}: there is no array {key!r}; use one of {', '.join(archive.files)}.")
        wanted = names if key is None else names & {key, *_parts(key)}
        members = [name for name in archive.files if name in wanted]
        arrays = {name: _read_member(path, archive.__getitem__, name) for name in members}
    for stem in [name.removesuffix("_data") for name in arrays if name.endswith("_data")]:
        if wanted.issuperset(_parts(stem)):
            *parts, shape = (arrays.pop(part) for part in _parts(stem))
            arrays[stem] = _read_member(path, partial(sparse.csr_array, shape=shape), tuple(parts))
    return arrays


def _parts(stem: str) -> list[str]:
    """Return the names under which the parts of a sparse matrix are stored."""
    return [f"{stem}_{part}" for part in SPARSE_PARTS]


def _read_member(path: Path, read: Callable[[T], Matrix], source: T) -> Matrix:
    """Return one array of an archive, a sparse one checked and in rows."""
    try:
        return to_csr(read(source))
    except (ValueError, TypeError, EOFError, MemoryError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise _numpy_error(path, error) from None


def to_csr(array: Matrix) -> Matrix:
    """Return a sparse matrix by rows with its indices checked, and anything else as it is."""
    if not sparse.issparse(array):
        return array
    if hasattr(array, "check_format"):
        array.check_format(full_check=True)  # an index out of bounds would crash the interpreter later on
    array = sparse.csr_array(array)
    array.sum_duplicates()
    return array


def _load_mat(path: Path) -> dict[str, Matrix]:
    """Return the variables of a .mat file."""
    from scipy.io import loadmat  # brings readers of sound and other files, which no fit needs

    with path.open("rb") as file:
        head = file.read(1024)
    if head.startswith(b"MATLAB 7.3") or any(head.startswith(HDF5_SIGNATURE, at) for at in HDF5_OFFSETS):
        raise DataError(f"{path}: this is a .mat file of version 7.3; save it in MATLAB with -v7.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about variables that are not read here
            content = loadmat(path)
        arrays = {name: to_csr(value) for name, value in content.items() if not name.startswith("__")}
    except MemoryError:
        raise DataError(f"{path}: the arrays do not fit into memory; save only the one needed.") from None
    except Exception as error:  # loadmat raises whatever a damaged file makes it stumble over
        raise DataError(f"{path}: the file is damaged ({_one_line(error)}); save it again with -v7.") from None
    return {name: _kernels_first(value) for name, value in arrays.items() if hasattr(value, "dtype")}


def _kernels_first(array: Matrix) -> Matrix:
    """Return a stack of kernels as (m, n, n); MATLAB keeps them as (n, n, m)."""
    if array.ndim == 3 and array.shape[0] == array.shape[1] != array.shape[2]:
        return np.moveaxis(array, 2, 0)
    return array
