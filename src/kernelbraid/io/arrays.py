"""Array files: which of the arrays in a .npy, .npz or .mat file is meant; nothing is ever unpickled."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

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
    found = list_arrays(source)
    fitting = [name for name, array in found.items() if fits(array)]
    if "" in found:  # the array of a .npy file has no name
        key = ""
    elif key is None:
        usual = [name for name in preferred if name in (fitting or found)]
        key = next(iter(usual if len(fitting) != 1 else fitting), None)
    if key is None and fitting:
        raise DataError(f"{source.path}: several arrays could be meant ({', '.join(fitting)}); name one with --key.")
    if key not in found:
        wanted = "of the right shape and type" if key is None else repr(key)
        there = ", ".join(f"{name} {array.shape}" for name, array in found.items()) or "none"
        raise DataError(
            f"{source.path}: there is no array {wanted} (found {there}; pickled objects are never loaded); {NUMPY}."
        )
    return found[key]


def list_arrays(source: Source) -> dict[str, Matrix]:
    """Return the arrays of a file by name, that of a .npy file as "", without those of pickled objects."""
    if source.suffix == ".mat":
        return _list_mat(source)
    with reading(source.path, NUMPY), source.open() as file:
        content = load_numpy(source.path, file)
        if isinstance(content, np.ndarray):
            return {"": content}
        arrays = {}
        for name in content.files:
            with suppress(ValueError):  # pickled objects
                arrays[name] = content[name]
        if arrays.keys() >= {"format", "shape", "data"}:  # as scipy.sparse.save_npz writes it
            file.seek(0)
            return {"X": to_csr(sparse.load_npz(file))}
        for stem in [name.removesuffix("_indptr") for name in arrays if name.endswith("_indptr")]:
            data, indices, indptr, shape = (arrays.pop(f"{stem}_{part}") for part in SPARSE_PARTS)
            arrays[stem] = to_csr(sparse.csr_array((data, indices, indptr), shape=shape))
        return {name: array for name, array in arrays.items() if hasattr(array, "dtype")}


def load_numpy(path: Path, file: Any, **options: Any) -> Any:
    """Return what NumPy reads of a file, and no pickled objects."""
    try:
        return np.load(file, allow_pickle=False, **options)
    except ValueError:
        reason = "the file holds pickled objects, which are never loaded, or is no NumPy file"
        raise DataError(f"{path}: {reason}; {NUMPY}.") from None


def is_sample_array(array: Matrix) -> bool:
    """Return whether an array can be samples by features or a stack of kernels."""
    return array.dtype.kind in "biuf" and array.ndim in (2, 3) and min(array.shape) > 1


def is_label_array(array: Matrix) -> bool:
    """Return whether an array can be one label per sample."""
    is_dense = isinstance(array, np.ndarray) and array.dtype.kind != "V"
    return is_dense and array.ndim in (1, 2) and array.size == max(array.shape)


def to_csr(array: Matrix) -> Matrix:
    """Return a sparse matrix by rows with its indices checked, and anything else as it is."""
    if not sparse.issparse(array):
        return array
    if hasattr(array, "check_format"):  # an index out of bounds would crash the interpreter later on
        array.check_format(full_check=True)
    array = sparse.csr_array(array)
    array.sum_duplicates()
    return array


def _list_mat(source: Source) -> dict[str, Matrix]:
    """Return the variables of a .mat file; of a stack of kernels, (n, n, m) in MATLAB, the last axis comes first."""
    from scipy.io import loadmat

    with reading(source.path, MATLAB), source.open() as file:
        is_new = file.read(4) == b"\x89HDF"
        file.seek(0)
        try:
            content = {} if is_new else loadmat(file)
        except NotImplementedError:
            is_new = True
    if is_new:
        raise DataError(f"{source.path}: this is a .mat file of version 7.3; {MATLAB}.")
    found = {name: to_csr(array) for name, array in content.items() if not name.startswith("__")}
    stacks = [name for name, a in found.items() if a.ndim == 3 and a.shape[0] == a.shape[1] != a.shape[2]]
    return {**found, **{name: np.moveaxis(found[name], 2, 0) for name in stacks}}
