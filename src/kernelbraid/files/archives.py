"""Archives of arrays, .npz: a zip file of .npy members, of which only those that are asked for are decoded."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO

import numpy as np
from scipy import sparse

from kernelbraid.files import npy
from kernelbraid.files.errors import DataError, reading
from kernelbraid.files.memory import check_room
from kernelbraid.files.npy import Header
from kernelbraid.files.sources import Source
from kernelbraid.files.stored import Matrix, Stored, check_indices, to_csr

SPARSE_PARTS = ("data", "indices", "indptr", "shape")
SPARSE_FILE = {"format", "shape", "data"}  # members that scipy.sparse.save_npz always writes
# What numpy.savez and numpy.savez_compressed write; others can grow without a limit while they are decoded.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1  # flag of a member
MOST_AXES = 8  # of a sparse matrix: what says its shape is as short as this


@contextmanager
def _open(source: Source) -> Iterator[zipfile.ZipFile]:
    """Open an archive, or say that it is none."""
    with reading(source.path), source.open() as file:
        beginning = file.read(len(npy.MAGIC))
        file.seek(0)
        if beginning == npy.MAGIC:
            raise DataError(f"{source.path}: this is a single .npy array; rename it to .npy.")
        if not beginning.startswith(b"PK"):
            raise npy.pickled(source.path)
        with zipfile.ZipFile(file) as archive:
            yield archive


def list_npz(source: Source, key: str | None = None) -> dict[str, Stored]:
    """Return the arrays of a .npz file by name; given a key, that one alone."""
    with _open(source) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        is_sparse_file = members.keys() >= SPARSE_FILE
        if key is not None and not is_sparse_file:
            if key not in members and f"{key}_data" not in members:
                raise DataError(f"{source.path}: there is no array {key!r}; use one of {', '.join(members)}.")
            members = {name: info for name, info in members.items() if name in (key, *_parts(key))}
        found = {name: _read_header(source, archive, info) for name, info in members.items()}
        arrays = {
            name: Stored(header.shape, header.dtype, partial(_read, source, members[name].filename, name))
            for name, header in found.items()
            if header is not None
        }
    if is_sparse_file and arrays.keys() >= SPARSE_FILE:
        n_bytes = sum(array.size * array.dtype.itemsize for array in arrays.values())
        shape, dtype = _shape(source, arrays["shape"]), arrays["data"].dtype
        return {key or "X": Stored(shape, dtype, partial(_read_sparse, source, n_bytes), is_sparse=True)}
    for stem in [name.removesuffix("_data") for name in arrays if name.endswith("_data")]:
        if arrays.keys() >= set(_parts(stem)):
            *parts, last = (arrays.pop(part) for part in _parts(stem))
            shape = _shape(source, last)
            arrays[stem] = Stored(shape, parts[0].dtype, partial(_join, source, parts, shape), is_sparse=True)
    return arrays


def _parts(stem: str) -> list[str]:
    """Return the names under which the parts of a sparse matrix are stored."""
    return [f"{stem}_{part}" for part in SPARSE_PARTS]


def _open_member(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Open a member, or say why that is not done."""
    if info.flag_bits & ENCRYPTED:
        raise DataError(f"{source.path}: {info.filename!r} is encrypted; save it without a password.")
    if info.compress_type not in COMPRESSIONS:
        raise DataError(
            f"{source.path}: {info.filename!r} is compressed in another way than NumPy does; write it again with "
            "numpy.savez_compressed."
        )
    return archive.open(info)


def _read_header(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Header | None:
    """Return the header of a member; None if it is no array and not called one, as a text beside them."""
    is_called_array = info.filename.endswith(".npy")
    if info.is_dir() or (not is_called_array and info.file_size == 0):
        return None
    with _open_member(source, archive, info) as file:
        if file.read(len(npy.MAGIC)) != npy.MAGIC:
            if is_called_array:
                raise npy.pickled(source.path)
            return None
    with _open_member(source, archive, info) as file:
        return npy.read_header(source.path, file, info.file_size)


def _read(source: Source, member: str, name: str) -> np.ndarray:
    """Return an array."""
    with _open(source) as archive:
        info = archive.getinfo(member)
        with _open_member(source, archive, info) as file:
            header = npy.read_header(source.path, file, info.file_size)
            check_room(source.path, f"the array {name!r}", header.room())
            return npy.read_values(source.path, file, header)


def _shape(source: Source, array: Stored) -> tuple[int, ...]:
    """Return the shape that an array says."""
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.size > MOST_AXES:
        raise DataError(f"{source.path}: the file is damaged (the shape of a sparse matrix is none); write it again.")
    return tuple(array.read().tolist())


def _join(source: Source, parts: list[Stored], shape: tuple[int, ...]) -> Matrix:
    """Return a sparse matrix of its parts."""
    with reading(source.path):
        data, indices, indptr = (part.read() for part in parts)
        check_indices(indices, indptr)
        return to_csr(sparse.csr_array((data, indices, indptr), shape=shape), source.path)


def _read_sparse(source: Source, n_bytes: int) -> Matrix:
    check_room(source.path, "the sparse matrix", 4 * n_bytes)  # as it is, by rows, sorted, and masks
    with reading(source.path), source.open() as file:
        return to_csr(sparse.load_npz(file), source.path)
