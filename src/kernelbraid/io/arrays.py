"""Array files: which of the arrays in a .npy, .npz or .mat file is meant; nothing is ever unpickled."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.io.sources import DataError, Source, reading

SPARSE_PARTS = ("data", "indices", "indptr", "shape")  # of a matrix X in compressed rows, as X_data and so on
NUMPY, MATLAB = "save plain arrays with numpy.save or numpy.savez", "save it again in MATLAB with -v7"

#: What an array file holds under a name: an array of NumPy, or a sparse matrix by rows.
Matrix: TypeAlias = Host | sparse.csr_array


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
