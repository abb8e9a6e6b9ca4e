"""Array files: which of the arrays in a .npy, .npz or .mat file is meant; nothing is ever unpickled."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._blocks import together
from kernelbraid._typing import Host
from kernelbraid.io.sources import DataError, Source, reading

#: What a file holds under a name: an array of NumPy, or a sparse matrix by rows.
Matrix: TypeAlias = Host | sparse.csr_array

NUMPY, MATLAB = "save plain arrays with numpy.save or numpy.savez", "save it again in MATLAB with -v7"
#: Bytes of a .npy file above which it is read where it is needed.
MAPPED = 2**25
#: Numbers in a block.
CELLS = 2**20


def list_arrays(source: Source) -> dict[str, Matrix]:
    """Return what a file holds by name, that of a .npy file as "", of many bytes as it lies there."""
    list_them, remedy = (_list_mat, MATLAB) if source.suffix == ".mat" else (_list_numpy, NUMPY)
    with reading(source.path, remedy), source.open() as file:
        if source.suffix == ".npy" and source.content is None and source.path.stat().st_size > MAPPED:
            return {"": np.load(source.path, mmap_mode="r", allow_pickle=False)}
        return list_them(file)


def read_array(source: Source, key: str | None, preferred: Sequence[str], fits: Callable[[Matrix], bool]) -> Matrix:
    """Return one array of a file: the one called `key`, the only one that fits, or the first preferred name."""
    found = list_arrays(source)
    fitting = [name for name, array in found.items() if fits(array) or not name]  # that of a .npy file has no name
    if len(fitting) != 1:
        fitting = [name for name in preferred if name in (fitting or found)][:1] or fitting
    chosen = fitting if key is None or "" in found else [name for name in found if name == key]
    if len(chosen) == 1:
        return found[chosen[0]]
    there = ", ".join(f"{name} {array.shape}" for name, array in found.items()) or "none"
    told = f"there is no array {key or 'of the right kind'!r}, pickled objects being none"
    told = f"several arrays could be meant ({', '.join(chosen)})" if chosen else told
    raise DataError(f"{source.path}: {told} (found {there}); name one with --key, or {NUMPY}.")


def is_sample_array(array: Matrix) -> bool:
    """Return whether an array can be samples by features or a stack of kernels."""
    return array.dtype.kind in "biuf" and array.ndim in (2, 3) and min(array.shape) > 1


def is_label_array(array: Matrix) -> bool:
    """Return whether an array can be one label per sample."""
    is_dense = isinstance(array, np.ndarray) and array.dtype.kind != "V"
    return is_dense and array.ndim in (1, 2) and array.size == max(array.shape)


def _list_numpy(file: IO[bytes]) -> dict[str, Matrix]:
    """Return the arrays of a file by name, without those of pickled objects."""
    content, arrays = np.load(file, allow_pickle=False), {}
    if isinstance(content, np.ndarray):
        return {"": content}
    if {"format", "shape", "data"} <= {*content.files}:  # as scipy.sparse.save_npz writes it
        file.seek(0)
        return {"X": _by_rows(sparse.load_npz(file))}
    for name in content.files:
        with suppress(ValueError):  # pickled objects
            arrays[name] = content[name]
    for stem in [name.removesuffix("_indptr") for name in arrays if name.endswith("_indptr")]:
        data, indices, indptr, shape = (arrays.pop(f"{stem}_{part}") for part in ("data", "indices", "indptr", "shape"))
        arrays[stem] = _by_rows(sparse.csr_array((data, indices, indptr), shape=shape))
    return arrays


def _list_mat(file: IO[bytes]) -> dict[str, Matrix]:
    """Return the variables of a .mat file; of a stack of kernels, (n, n, m) in MATLAB, the last axis comes first."""
    from scipy.io import loadmat

    found = {name: _by_rows(array) for name, array in loadmat(file).items() if not name.startswith("__")}
    stacks = [name for name, a in found.items() if a.ndim == 3 and a.shape[0] == a.shape[1] != a.shape[2]]
    return {**found, **{name: np.moveaxis(found[name], 2, 0) for name in stacks}}


def _by_rows(array: Matrix) -> Matrix:
    """Return a sparse matrix by rows, and anything else as it is."""
    if sparse.issparse(array):
        array = sparse.csr_array(array)
        array.check_format()  # an index out of bounds would crash the interpreter later on
        array.sum_duplicates()
    return array


def check_matrix(path: Path, X: Matrix, *, gaps: bool = False) -> Matrix:
    """Return an array as finite samples by rows, where it lies if it can be, or name a value that is not finite."""
    if X.dtype.kind not in "biuf" or X.ndim not in (2, 3) or 0 in X.shape:
        told = f"the array has shape {X.shape} and type {X.dtype}"
        raise DataError(f"{path}: {told}; give real numbers, one row per sample and one column per feature.")
    if sparse.issparse(X):
        if not np.isfinite(X.data).all():
            raise DataError(f"{path}: the sparse matrix has NaN or infinity in it; remove or fill these entries.")
        return X.astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False)
    if X.dtype not in (np.float32, np.float64) or not X.dtype.isnative or not X.flags.c_contiguous:
        return together(_finite(path, X, gaps), str(path))
    for _ in _finite(path, X, gaps):
        pass
    return X


def _finite(path: Path, X: Host, gaps: bool) -> Iterator[Host]:
    """Yield blocks of an array as floating-point numbers, or name one that is not finite; gaps are rows of NaN."""
    step = max(1, CELLS // X[0].size)
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], np.float32 if X.dtype == np.float32 else np.float64)
        for row, *rest in not_finite(block, gaps=gaps):
            place, value = ", ".join(str(i + 1) for i in (start + row, *rest)), block[(row, *rest)]
            raise DataError(f"{path}: the value at position ({place}), counted from 1, is {value}; remove or fill it.")
        yield block


def not_finite(X: Host, *, gaps: bool = False) -> list[list[int]]:
    """Return the place of the first value that is not finite, if there is one; gaps are rows of NaN."""
    bad = ~np.isfinite(X)
    if gaps:
        bad[np.isnan(X).all(axis=1)] = False
    return np.argwhere(bad)[:1].tolist() if bad.any() else []
