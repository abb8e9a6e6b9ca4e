"""Samples and classes of a known data set out of a file: .mat, .npz, or a table; and the preprocessing of the paper."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid.datasets.catalogue import Entry
from kernelbraid.io.arrays import Matrix
from kernelbraid.io.labels import read_labels
from kernelbraid.io.samples import column_names, read_samples
from kernelbraid.io.sources import DataError

SAMPLE_NAMES = ("X", "fea", "data")
CLASS_NAMES = ("y", "gnd", "labels", "label", "class", "truth")
SPARSE_PARTS = ("data", "indices", "indptr", "shape")  # of a matrix X in compressed rows, as X_data and so on


def read(entry: Entry, path: Path) -> tuple[list[Matrix], NDArray[np.int64]]:
    """Return the views and the classes 0, 1, ... of a file, found by their names and the shapes in the catalogue.

    Raises
    ------
    DataError
        The file cannot be read, or is none of this data set.
    """
    n = entry.n_samples
    arrays = dict(_numbers(_read_arrays(path))) if path.suffix.lower() in (".mat", ".npz") else _read_table(path)
    trailing = entry.source.trailing
    for X in [X for X in arrays.values() if trailing and X.shape == (n, entry.n_features[0] + len(trailing))]:
        label = X[:, [trailing.index("label") - len(trailing)]]
        arrays = {"X": X[:, : -len(trailing)], "y": label if isinstance(label, np.ndarray) else label.toarray()}
    shapes = ", ".join(f"{name} {' x '.join(map(str, X.shape))}" for name, X in arrays.items()) or "none"
    views = []
    for i, view in enumerate(entry.views):
        shape = (n, view.n_features)
        fitting = [name for name, X in arrays.items() if shape in (X.shape, X.shape[::-1])]
        alike = [name for name in fitting if view.nonzeros == getattr(arrays[name], "nnz", None)]
        names = SAMPLE_NAMES if len(entry.views) == 1 else (f"X{i}",)
        lacking = f"there is no matrix of {n} x {view.n_features} (found {shapes}); give the samples as rows"
        X = arrays.pop(_only(path, names, fitting, alike, lacking))
        views.append(X if X.shape == shape else X.T if isinstance(X, np.ndarray) else X.T.tocsr())
    vectors = [name for name, y in arrays.items() if n == max(y.shape) == np.prod(y.shape)]
    lacking = f"there are no classes; save one label for each of the {n} samples as y"
    y = arrays[_only(path, CLASS_NAMES, vectors, [], lacking)].ravel()
    for A in (*views, y):
        if A.dtype.kind == "f" and not np.isfinite(A.data if sparse.issparse(A) else A).all():
            raise DataError(f"{path}: there are NaN or infinite values in the samples or classes; remove or fill them.")
    classes, y = np.unique(y, return_inverse=True)
    if len(classes) != entry.n_classes:
        raise DataError(f"{path}: {entry.title} has {entry.n_classes} classes, not {len(classes)}; check the labels.")
    return views, y.astype(np.int64)


def _only(path: Path, names: Sequence[str], fitting: Sequence[str], alike: Sequence[str], lacking: str) -> str:
    """Return the array that fits by its name, or by its entries, or as no other does."""
    found = [name for name in names if name in fitting][:1] or alike or fitting
    if len(found) != 1:
        several = f"several arrays could be meant ({', '.join(found)}); call the right one {names[0]}"
        raise DataError(f"{path}: {several if found else lacking}.")
    return found[0]


def _read_table(path: Path) -> dict[str, Any]:
    """Return samples and classes of a table: the classes are the column called label or so, otherwise the last."""
    names = [name.strip().lower() for name in column_names(path)]
    if not names:
        raise DataError(f"{path}: a file of this kind has no classes; save samples as X, classes as y in an .npz file.")
    at = next((names.index(name) for name in CLASS_NAMES if name in names), len(names) - 1)
    samples = read_samples(path, drop=[at + 1])
    return {"X": samples.X, "y": read_labels(path, header=samples.header, column=at + 1).values}


def _read_arrays(path: Path) -> dict[str, Any]:
    """Return what an .npz or a .mat file holds, by name."""
    try:
        if path.suffix.lower() == ".mat":
            from scipy.io import loadmat

            return loadmat(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        for name in [name.removesuffix("_indptr") for name in arrays if name.endswith("_indptr")]:
            data, indices, indptr, shape = (arrays.pop(f"{name}_{part}") for part in SPARSE_PARTS)
            arrays[name] = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    except Exception as error:  # of a file that is damaged or of another format
        why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(f"{path}: the file cannot be read ({why}); write it again, a .mat file with -v7.") from None
    return arrays


def _numbers(arrays: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arrays with entries, those in MATLAB's cells, too, as X{1}, X{2} and so on."""
    for name, array in arrays.items():
        if sparse.issparse(array):
            yield name, sparse.csr_array(array)
        elif isinstance(array, np.ndarray) and array.dtype.kind == "O":
            yield from _numbers({f"{name}{{{i}}}": cell for i, cell in enumerate(array.ravel(), 1)})
        elif isinstance(array, np.ndarray) and array.dtype.kind in "biufU" and array.ndim:
            yield name, array


def preprocess(X: Matrix, steps: Sequence[str]) -> Matrix:
    """Return X as float64 after steps of the catalogue."""
    X = X.astype(np.float64)
    if steps:
        from sklearn.preprocessing import scale

        known = {"zscore": _zscore, "unit_norm": _unit_norm, "tfidf": _tfidf, "standardise": scale}
        for step in steps:
            X = known[step](X)
    return X if isinstance(X, np.ndarray) else X.tocsr()


def _zscore(X: Matrix) -> Matrix:
    """Return X with every feature at mean 0 and variance 1 (ddof 1); a constant feature becomes 0."""
    X = X if isinstance(X, np.ndarray) else X.toarray()
    constant = np.ptp(X, axis=0) == 0
    return np.where(constant, 0.0, X - X.mean(axis=0)) / np.where(constant, 1.0, X.std(axis=0, ddof=1))


def _unit_norm(X: Matrix) -> Matrix:
    """Return X with every sample divided by its l2 norm; a sample of zeros is left as it is."""
    length = np.sqrt((X * X).sum(axis=1))[:, None]
    return X / np.where(length > 0, length, 1.0)


def _tfidf(X: Matrix) -> Matrix:
    """Return counts weighted by (1 + ln tf) ln(n / df), as a sparse matrix."""
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    documents = np.bincount(X.indices, minlength=X.shape[1])
    X.data = (1 + np.log(X.data)) * np.log(X.shape[0] / documents[X.indices])
    X.eliminate_zeros()  # a word of every document weighs nothing
    return X
