"""Data sets that are files beside an experiment: samples in one or several views, and their classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from kernelbraid.datasets import DataError, Dataset, LabelFile, Samples, column_names, read_labels, read_samples

SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", ".npy", ".npz", ".mat")
#: Columns that are the classes where none is named.
LABEL_NAMES = ("label", "labels", "cluster", "class", "y", "target")
#: By file: the names of its columns; none in a file of arrays.
Columns = Mapping[Path, Sequence[str]]


@dataclass(frozen=True)
class OwnData:
    """A data set of the user's own, as plain data that other processes can read it by."""

    name: str
    paths: tuple[Path, ...]  # a view each; one .npz file may hold several as X0, X1, ...
    labels: str | Path | None = None  # a column or an array with the classes, or a file of them; None: by its name
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    standardise: bool = False

    def read(self) -> Dataset:
        """Return samples and classes; the checksum is one of their values."""
        columns = {path: column_names(path) for path in self.paths}
        for name in (*self.drop, *([self.id_column] if self.id_column else [])):
            if not any(name in names for names in columns.values()):
                raise DataError(f"the data set {self.name!r}: no file has a column {name!r}{_seen(columns)}.")
        if isinstance(self.labels, Path):
            views = [view for path in self.paths for view in self._views(path, columns[path], None)]
            found = _own_labels(self.labels, len(_rows_of(views[0][1])))
            ids = found.ids
        else:
            home, label, found = self._find_labels(columns)
            views = [view for path in self.paths for view in self._views(path, columns[path], label)]
            ids = next(samples.ids for path, samples in views if path == home)
        matrices = [self._scaled(_in_order(path, samples, ids, len(found.values))) for path, samples in views]
        classes, y = np.unique(found.values, return_inverse=True)
        if len(classes) < 2:
            raise DataError(f"the data set {self.name!r}: all samples are of the class {classes[0]!s}; give two.")
        y = y.astype(np.int64)
        return Dataset(self.name, self.name, matrices, y, joblib.hash((matrices, y)))

    def _find_labels(self, columns: Columns) -> tuple[Path, str | None, LabelFile]:
        """Return the file with the classes, the name of their column, and the classes."""
        for path, names in columns.items():
            for name in names:
                if name == self.labels or (self.labels is None and name.strip().lower() in LABEL_NAMES):
                    return path, name, read_labels(path, column=name)
            if not names:
                try:
                    return path, None, read_labels(path, key=self.labels)
                except DataError:  # of arrays without classes; another file may have them
                    continue
        what = f"no file has the classes {self.labels!r}" if self.labels else "no file has a column of classes"
        raise DataError(
            f"the data set {self.name!r}: {what}{_seen(columns)}; name the column, the array or a file of its own: "
            f"[data.{self.name}] with labels = NAME."
        )

    def _views(self, path: Path, names: Sequence[str], label: str | None) -> Iterator[tuple[Path, Samples]]:
        """Yield the views of a file: one, or those that an .npz file numbers."""
        if names:
            drop = [name for name in (*self.drop, label) if name in names]
            id_column = self.id_column if self.id_column in names else None
            yield path, read_samples(path, id_column=id_column, drop=drop)
            return
        for key in _numbered(path) or [None]:
            samples = read_samples(path, key=key)
            if samples.X.ndim != 2:
                raise DataError(f"{path}: this is a stack of shape {samples.X.shape}; give one row per sample.")
            yield path, samples

    def _scaled(self, X: np.ndarray | sparse.csr_array) -> np.ndarray | sparse.csr_array:
        """Return samples as float64, each feature of mean 0 and deviation 1 if that is asked for."""
        X = X.astype(np.float64, copy=False)
        return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X) if self.standardise else X


def is_data_file(name: str) -> bool:
    """Tell whether a word of an experiment is a file, not the name of a data set."""
    return name.lower().endswith(SUFFIXES)


def _seen(columns: Columns) -> str:
    names = [name for of_file in columns.values() for name in of_file]
    return f" (there is {', '.join(names[:8])}{', ...' if len(names) > 8 else ''})" if names else ""


def _own_labels(path: Path, n_samples: int) -> LabelFile:
    """Return the labels in a file of their own, whose first row is a header if it is one too many."""
    found = read_labels(path)
    return read_labels(path, header=True) if found.is_unclear and len(found.values) == n_samples + 1 else found


def _rows_of(samples: Samples) -> range:
    return range(samples.X.shape[0])


def _numbered(path: Path) -> list[str]:
    """Return the names X0, X1, ... of the views in an .npz file."""
    if path.suffix.lower() != ".npz":
        return []
    with np.load(path) as arrays:
        return list(takewhile(lambda key: key in arrays or f"{key}_data" in arrays, (f"X{i}" for i in count())))


def _in_order(path: Path, samples: Samples, ids: Sequence[str] | None, n: int) -> np.ndarray | sparse.csr_array:
    """Return samples in the order of the classes: matched by ids where both have them, NaN for those not there."""
    X = samples.X
    if samples.ids is None or ids is None or list(samples.ids) == list(ids):
        if X.shape[0] != n:
            raise DataError(
                f"{path}: {X.shape[0]} samples, but {n} classes; give all files the same samples in the same order, or "
                "a column of ids in each (id = NAME)."
            )
        return X
    for repeated in (index[index.duplicated()] for index in (pd.Index(samples.ids), pd.Index(ids))):
        if len(repeated):
            raise DataError(f"{path}: several samples have the same id {repeated[0]!r}; keep one of them.")
    rows = pd.Index(samples.ids).get_indexer(ids)
    if (rows < 0).all():
        raise DataError(
            f"{path}: no id is one of those with classes, the first is {samples.ids[0]!r} here and {ids[0]!r} there; "
            "give the column that names the samples in all files."
        )
    if sparse.issparse(X) and (rows < 0).any():
        raise DataError(f"{path}: samples are missing in a sparse view; give every sample a row.")
    X = X[rows]
    if (rows < 0).any():
        X[rows < 0] = np.nan
    return X
