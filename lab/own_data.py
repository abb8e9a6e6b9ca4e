"""Data sets that are files beside an experiment: samples in one or several views, and their classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from kernelbraid.datasets import DataError, Dataset, LabelFile, Samples, column_names, read_labels, read_samples

SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", ".npy", ".npz", ".mat")
#: Columns that are the classes where none is named.
LABEL_NAMES = ("label", "labels", "cluster", "class", "y", "target")


@dataclass(frozen=True)
class OwnData:
    """A data set of the user's own, as plain data that other processes can read it by."""

    name: str
    paths: tuple[Path, ...]  # a view each; one .npz file may hold several as X0, X1, ...
    labels: str | Path | None = None  # a column or an array with the classes, or a file of them; None: by its name
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    standardise: bool = False

    @classmethod
    def at(cls, folder: Path, name: str, table: Mapping[str, Any]) -> "OwnData | None":
        """Return what a table of an experiment describes; None for a name that is no file."""
        files = [table["files"]] if isinstance(table["files"], str) else table["files"]
        labels = table.get("labels")
        if not name and not _is_file(files[0]):
            return None
        return cls(
            name or Path(files[0]).stem,
            tuple((folder / file).resolve() for file in files),
            (folder / labels).resolve() if labels is not None and _is_file(labels) else labels,
            table.get("id"),
            tuple(table.get("drop", ())),
            table.get("standardise", False),
        )

    def read(self) -> Dataset:
        """Return samples and classes; the checksum is one of their values."""
        columns = {path: column_names(path) for path in self.paths}  # none in a file of arrays
        for name in filter(None, (*self.drop, self.id_column)):
            if not any(name in names for names in columns.values()):
                raise DataError(f"the data set {self.name!r}: no file has a column {name!r}.")
        home, label, classes = self._classes(columns)
        views = [view for path in self.paths for view in self._views(path, columns[path], label)]
        if home == self.labels and classes.is_unclear and len(classes.values) == views[0][1].X.shape[0] + 1:
            classes = read_labels(home, header=True)  # the one too many names the column
        ids = classes.ids if home == self.labels else next(samples.ids for path, samples in views if path == home)
        matrices = [self._scaled(_in_order(path, samples, ids, len(classes.values))) for path, samples in views]
        names, y = np.unique(classes.values, return_inverse=True)
        if len(names) < 2:
            raise DataError(f"the data set {self.name!r}: all samples are of the class {names[0]!s}; give two.")
        y = y.astype(np.int64)
        return Dataset(self.name, self.name, matrices, y, joblib.hash((matrices, y)))

    def _classes(self, columns: Mapping[Path, Sequence[str]]) -> tuple[Path, str | None, LabelFile]:
        """Return the file with the classes, the name of their column, and the classes."""
        if isinstance(self.labels, Path):
            return self.labels, None, read_labels(self.labels)
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
        there = ", ".join(name for names in columns.values() for name in names[:8])
        raise DataError(
            f"the data set {self.name!r}: {what}{f' (there is {there})' if there else ''}; name the column, the array "
            f"or a file of its own: [data.{self.name}] with labels = NAME."
        )

    def _views(self, path: Path, names: Sequence[str], label: str | None) -> Iterator[tuple[Path, Samples]]:
        """Yield the views of a file: one, or those that an .npz file numbers."""
        if names:
            drop = [name for name in names if name in (*self.drop, label)]
            yield path, read_samples(path, id_column=self.id_column if self.id_column in names else None, drop=drop)
            return
        keys: Sequence[str | None] = _numbered(path) or [None]
        yield from ((path, read_samples(path, key=key)) for key in keys)

    def _scaled(self, X: Any) -> Any:
        """Return samples as float64, each feature of mean 0 and deviation 1 if that is asked for."""
        X = X.astype(np.float64, copy=False)
        return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X) if self.standardise else X


def _is_file(word: str) -> bool:
    return word.lower().endswith(SUFFIXES)


def _numbered(path: Path) -> list[str]:
    """Return the names X0, X1, ... of the views in an .npz file."""
    if path.suffix.lower() != ".npz":
        return []
    with np.load(path) as arrays:
        return [key for i in range(len(arrays)) if {key := f"X{i}", f"{key}_data"} & set(arrays)]


def _in_order(path: Path, samples: Samples, ids: Sequence[str] | None, n: int) -> Any:
    """Return samples in the order of the classes: matched by ids where both have them, NaN for those not there."""
    X = samples.X
    if samples.ids is None or ids is None or list(samples.ids) == list(ids):
        if X.shape[0] != n:
            remedy = "give all files the same samples in the same order, or a column of ids in each (id = NAME)"
            raise DataError(f"{path}: {X.shape[0]} samples, but {n} classes; {remedy}.")
        return X
    index = pd.Index(samples.ids)
    if index.has_duplicates:
        raise DataError(f"{path}: samples have the same id {index[index.duplicated()][0]!r}; keep one of them.")
    rows = index.get_indexer(ids)
    if (rows < 0).all() or (sparse.issparse(X) and (rows < 0).any()):
        row = int(np.argmin(rows))
        raise DataError(
            f"{path}: it has no sample {ids[row]!r}, which has a class; give the column of ids in all files."
        )
    X = X[rows]
    if (rows < 0).any():
        X[rows < 0] = np.nan
    return X
