"""Samples and classes of a catalogued data set out of a file as it is found: .mat, .npz, or a table."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.datasets.entries import Entry, View
from kernelbraid.files import labels, readers
from kernelbraid.files.arrays import list_arrays
from kernelbraid.files.columns import LABEL_NAMES
from kernelbraid.files.errors import DataError, reading
from kernelbraid.files.sources import ARRAY_FILES, Source, open_source
from kernelbraid.files.stored import Matrix, Stored, is_label_array, to_csr

SAMPLE_NAMES = ("X", "fea", "data")
CLASS_NAMES = ("y", "gnd", "labels", "label", "truth")


def read(entry: Entry, path: Path) -> tuple[list[Matrix], NDArray[np.int64]]:
    """Return the views and the classes 0, 1, ... of a file, found by the shapes in the catalogue.

    Raises
    ------
    DataError
        The file cannot be read, or has no matrix or no classes of the right shape.
    """
    source = open_source(path)
    if source.suffix == ".npy":
        raise DataError(f"{path}: an .npy file has no classes; save samples and classes as X and y in one .npz file.")
    if source.suffix not in ARRAY_FILES:
        views, y = _read_table(entry, source)
    else:
        listed = list_arrays(source)
        with reading(path):
            found = dict(_matrices(entry, listed))
        known = found or {name: array for name, array in listed.items() if array.ndim == 2}
        views, y = _find_trailing(entry, found) or (
            _find_views(entry, path, found, known),
            _find_classes(entry, path, listed),
        )
    values = labels.check_labels(path, y)
    if len(values) != entry.n_samples:
        raise DataError(f"{path}: {len(values)} labels for {entry.n_samples} samples; give one label per sample.")
    return [readers.check_matrix(path, X) for X in views], np.unique(values, return_inverse=True)[1].astype(np.int64)


def _read_table(entry: Entry, source: Source) -> tuple[list[Matrix], Host]:
    """Return the columns of a table: the classes are the one called label or so, otherwise the last."""
    path = source.path
    if len(entry.views) > 1:
        raise DataError(f"{path}: a table holds one view; save the {len(entry.views)} views as X0, X1 in an .npz file.")
    names = [name.strip().lower() for name in readers.column_names(source)]
    at = next((names.index(name) for name in LABEL_NAMES if name in names), len(names) - 1)
    samples = readers.read_samples(source, drop=[at + 1])
    _check_shape(entry, path, {"the table without its labels": samples.X})
    return [samples.X], readers.read_labels(source, header=samples.header, column=at + 1).values


def _check_shape(entry: Entry, path: Path, found: Mapping[str, Matrix]) -> None:
    """Refuse matrices of which none has the shape of the data set."""
    view = entry.views[0]
    if not any(_fits(entry, view, X) for X in found.values()):
        raise _no_matrix(entry, view, path, found)


def _no_matrix(entry: Entry, view: View, path: Path, found: Mapping[str, Matrix | Stored]) -> DataError:
    """Return the error for a file without a matrix that it should hold."""
    shapes = ", ".join(f"{name} {' x '.join(map(str, X.shape))}" for name, X in found.items()) or "none"
    return DataError(
        f"{path}: there is no matrix of {entry.n_samples} x {view.n_features} (found {shapes}); "
        f"give the samples of {entry.title} as rows."
    )


def _fits(entry: Entry, view: View, X: Matrix) -> bool:
    """Return whether a matrix has the shape of a view."""
    return tuple(X.shape) == (entry.n_samples, view.n_features)


def _matrices(entry: Entry, listed: Mapping[str, Stored]) -> Iterator[tuple[str, Matrix]]:
    """Yield the matrices of a file that have as many rows or columns as there are samples, and those in cells."""
    for name, array in listed.items():
        if array.dtype.kind == "O":
            yield from _in_cells(name, array.read())
        elif array.dtype.kind in "biuf" and array.ndim == 2 and entry.n_samples in array.shape:
            yield name, array.read()


def _in_cells(name: str, cells: Host) -> Iterator[tuple[str, Matrix]]:
    """Yield the matrices in MATLAB cells."""
    for i, cell in enumerate(cells.ravel(), 1):
        if not hasattr(cell, "dtype"):
            continue
        if cell.dtype.kind == "O" and not sparse.issparse(cell):
            yield from _in_cells(f"{name}{{{i}}}", cell)
        elif cell.dtype.kind in "biuf" and cell.ndim == 2:
            yield f"{name}{{{i}}}", to_csr(cell)


def _find_trailing(entry: Entry, found: Mapping[str, Matrix]) -> tuple[list[Matrix], Host] | None:
    """Return samples and classes of a matrix that has the classes in a column after the features, if there is one."""
    trailing = entry.source.trailing
    width = entry.views[0].n_features
    for X in found.values():
        if trailing and X.shape == (entry.n_samples, width + len(trailing)):
            at = width + trailing.index("label")
            column = X[:, [at]]
            return [X[:, :width]], np.asarray(column if isinstance(column, np.ndarray) else column.toarray()).ravel()
    return None


def _find_views(
    entry: Entry, path: Path, matrices: Mapping[str, Matrix], known: Mapping[str, Matrix | Stored]
) -> list[Matrix]:
    """Return the matrices of the catalogued shapes; one that has features as rows is turned."""
    views = []
    for i, view in enumerate(entry.views):
        names = SAMPLE_NAMES if len(entry.views) == 1 else (f"X{i}",)
        fitting = {name: X for name, X in matrices.items() if _fits(entry, view, X)}
        if not fitting:
            turned = {name: to_csr(X.T) for name, X in matrices.items()}
            fitting = {name: X for name, X in turned.items() if _fits(entry, view, X)}
        if not fitting:
            raise _no_matrix(entry, view, path, known)
        views.append(_choose(view, path, fitting, names))
    return views


def _choose(view: View, path: Path, fitting: Mapping[str, Matrix], names: tuple[str, ...]) -> Matrix:
    """Return the one of several matrices of the same shape that has the right name, or as many entries as known."""
    for name in names:
        if name in fitting:
            return fitting[name]
    alike = {name: X for name, X in fitting.items() if view.nonzeros in (None, _count(X))} or fitting
    if len(alike) > 1:
        raise DataError(f"{path}: several matrices could be meant ({', '.join(alike)}); call the right one {names[0]}.")
    return next(iter(alike.values()))


def _count(X: Matrix) -> int:
    """Return the number of entries that are not zero."""
    return int(np.count_nonzero(X) if isinstance(X, np.ndarray) else X.count_nonzero())


def _find_classes(entry: Entry, path: Path, listed: Mapping[str, Stored]) -> Host:
    """Return the vector with one entry per sample, by name where there are several."""
    vectors = {name: value for name, value in listed.items() if is_label_array(value)}
    fitting = {name: value for name, value in vectors.items() if value.size == entry.n_samples}
    for name in CLASS_NAMES:
        if name in fitting:
            return fitting[name].read()
    if len(fitting) == 1:
        return next(iter(fitting.values())).read()
    what = f"several vectors could be meant ({', '.join(fitting)})" if fitting else "there are no classes"
    raise DataError(f"{path}: {what}; save one label for each of the {entry.n_samples} samples as y.")
