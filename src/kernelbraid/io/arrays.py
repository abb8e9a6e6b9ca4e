"""Array files: which of the arrays in a .npy, .npz or .mat file is meant; nothing is ever unpickled."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.io.sources import DataError, Source, reading

#: What a file holds under a name: an array of NumPy, or a sparse matrix by rows.
Matrix: TypeAlias = Host | sparse.csr_array

NUMPY, MATLAB = "save plain arrays with numpy.save or numpy.savez", "save it again in MATLAB with -v7"
SPARSE_PARTS = ("data", "indices", "indptr", "shape")


def read_array(source: Source, key: str | None, preferred: Sequence[str], fits: Callable[[Matrix], bool]) -> Matrix:
    """Return one array of a file: the one called `key`, the only one that fits, or the first preferred name."""
    with reading(source.path, MATLAB if source.suffix == ".mat" else NUMPY), source.open() as file:
        if source.suffix == ".npy" and source.content is None:  # which is read where it is needed
            return np.load(source.path, mmap_mode="r", allow_pickle=False)
        found = _list_mat(file) if source.suffix == ".mat" else _list_numpy(file)
    if "" in found:  # the array of a .npy file has no name
        return found[""]
    fitting = [name for name, array in found.items() if fits(array)]
    if key is None and len(fitting) != 1:
        fitting = [name for name in preferred if name in (fitting or found)][:1] or fitting
    if key is None and len(fitting) > 1:
        raise DataError(f"{source.path}: several arrays could be meant ({', '.join(fitting)}); name one with --key.")
    key = key or next(iter(fitting), None)
    if key not in found:
        wanted = "of the right shape and type" if key is None else repr(key)
        there = ", ".join(f"{name} {array.shape}" for name, array in found.items()) or "none"
        told = f"there is no array {wanted} (found {there}; pickled objects are never loaded)"
        raise DataError(f"{source.path}: {told}; {NUMPY}.")
    return found[key]


def is_sample_array(array: Matrix) -> bool:
    """Return whether an array can be samples by features or a stack of kernels."""
    return array.dtype.kind in "biuf" and array.ndim in (2, 3) and min(array.shape) > 1


def is_label_array(array: Matrix) -> bool:
    """Return whether an array can be one label per sample."""
    is_dense = isinstance(array, np.ndarray) and array.dtype.kind != "V"
    return is_dense and array.ndim in (1, 2) and array.size == max(array.shape)


def _list_numpy(file: IO[bytes]) -> dict[str, Matrix]:
    """Return the arrays of a file by name, that of a .npy file as "", without those of pickled objects."""
    content = np.load(file, allow_pickle=False)
    if isinstance(content, np.ndarray):
        return {"": content}
    if {"format", "shape", "data"} <= {*content.files}:  # as scipy.sparse.save_npz writes it
        file.seek(0)
        return {"X": _by_rows(sparse.load_npz(file))}
    arrays = {}
    for name in content.files:
        with suppress(ValueError):  # pickled objects
            arrays[name] = content[name]
    for stem in [name.removesuffix("_indptr") for name in arrays if name.endswith("_indptr")]:
        data, indices, indptr, shape = (arrays.pop(f"{stem}_{part}") for part in SPARSE_PARTS)
        arrays[stem] = _by_rows(sparse.csr_array((data, indices, indptr), shape=shape))
    return arrays


def _list_mat(file: IO[bytes]) -> dict[str, Matrix]:
    """Return the variables of a .mat file; of a stack of kernels, (n, n, m) in MATLAB, the last axis comes first."""
    from scipy.io import loadmat

    found = {name: _by_rows(array) for name, array in loadmat(file).items() if not name.startswith("__")}
    stacks = [name for name, a in found.items() if a.ndim == 3 and a.shape[0] == a.shape[1] != a.shape[2]]
    return {**found, **{name: np.moveaxis(found[name], 2, 0) for name in stacks}}


def _by_rows(array: Matrix) -> Matrix:
    """Return a sparse matrix by rows with its indices checked, and anything else as it is."""
    if not sparse.issparse(array):
        return array
    if hasattr(array, "check_format"):  # an index out of bounds would crash the interpreter later on
        array.check_format(full_check=True)
    array = sparse.csr_array(array)
    array.sum_duplicates()
    return array
