"""Data sets that are files beside an experiment: samples in one or several views, and their classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from kernelbraid._typing import Host
from kernelbraid.datasets import DataError, Dataset, LabelFile, Samples, column_names, read_labels, read_samples
from kernelbraid.datasets.npz import digest
from kernelbraid.files.arrays import list_arrays
from kernelbraid.files.columns import LABEL_NAMES
from kernelbraid.files.sources import ARRAY_FILES, SUFFIXES, Source, open_source
from kernelbraid.files.stored import Matrix, is_label_array

SAME_SAMPLES = "give all files the same samples in the same order, or a column of ids in each (id = NAME)"


@dataclass(frozen=True)
class DataFiles:
    """A data set of the user's own, as plain data that other processes can read it by."""

    name: str
    paths: tuple[Path, ...]  # a view each; one .npz file may hold several as X0, X1, ...
    labels: str | Path | None = None  # a column or an array with the classes, or a file of them; None: by its name
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    standardise: bool = False

    def read(self) -> Dataset:
        """Return samples and classes; the checksum is one of their values.

        Raises
        ------
        DataError
            A file is not there or cannot be read, has no classes, or has other samples than the rest.
        """
        sources = [open_source(path) for path in self.paths]
        columns = [[] if source.suffix in ARRAY_FILES else column_names(source) for source in sources]
        for name in (*self.drop, *([self.id_column] if self.id_column else [])):
            if not any(name in names for names in columns):
                raise DataError(f"{self._where}: no file has a column {name!r}; the first has {_some(columns[0])}.")
        at, label = self._find_labels(sources, columns)
        views = [view for pair in zip(sources, columns, strict=True) for view in self._read(*pair, label)]
        if isinstance(self.labels, Path):
            found = self._read_own_labels(self.labels, [samples for _, samples in views])
            values, ids = found.values, found.ids
        else:
            key, column = (label, None) if sources[at].suffix in ARRAY_FILES else (None, label)
            own = next(samples for path, samples in views if path == sources[at].path)
            values = read_labels(sources[at], key=key, column=column, header=own.header).values
            ids = own.ids  # of a table with classes: those of its own rows
        matrices = [self._scaled(_in_order(path, samples, ids, len(values))) for path, samples in views]
        classes, y = np.unique(values, return_inverse=True)
        if len(classes) < 2:
            raise DataError(f"{self._where}: all samples are of the class {classes[0]!s}; give two classes or more.")
        y = y.astype(np.int64)
        return Dataset(self.name, self.name, matrices, y, digest(matrices, y))

    @property
    def _where(self) -> str:
        return f"the data set {self.name!r}"

    @staticmethod
    def _read_own_labels(path: Path, views: Sequence[Samples]) -> LabelFile:
        """Return the labels in a file of their own, whose first row is a header if the samples say so."""
        found = read_labels(path)
        if not found.is_unclear:
            return found
        known = {name for samples in views for name in samples.ids or ()}
        too_many = found.ids[0] not in known if known and found.ids else len(found.values) == views[0].X.shape[0] + 1
        headed = read_labels(path, header=True) if too_many else found
        return headed if headed.repeats else found

    def _find_labels(self, sources: Sequence[Source], columns: Sequence[Sequence[str]]) -> tuple[int, str | None]:
        """Return the file with the classes, and the name of their column or array."""
        if isinstance(self.labels, Path):
            return 0, None
        for at, (source, names) in enumerate(zip(sources, columns, strict=True)):
            if not names and source.suffix != ".npy":
                vectors = [name for name, array in list_arrays(source).items() if is_label_array(array)]
                if self.labels in vectors or (self.labels is None and vectors):
                    return at, self.labels
            for name in names:
                if name == self.labels or (self.labels is None and name.strip().lower() in LABEL_NAMES):
                    return at, name
        known = _some([name for names in columns for name in names])
        what = f"no file has the classes {self.labels!r}" if self.labels else "no file has a column of classes"
        seen = f" (there is {known})" if known else ""
        raise DataError(
            f"{self._where}: {what}{seen}; name the column, the array or a file of its own: "
            f"[data.{self.name}] with labels = NAME."
        )

    def _read(self, source: Source, names: Sequence[str], label: str | None) -> list[tuple[Path, Samples]]:
        """Return the views of a file: one, or those that an .npz file numbers."""
        if source.suffix in ARRAY_FILES:
            there = list_arrays(source) if source.suffix == ".npz" else {}
            numbered = [name for i in range(len(there)) if (name := f"X{i}") in there]
            views = [read_samples(source, key=key) for key in numbered] or [read_samples(source)]
        else:
            drop = [name for name in (*self.drop, *([label] if label else [])) if name in names]
            views = [read_samples(source, id_column=self.id_column if self.id_column in names else None, drop=drop)]
        for samples in views:
            if samples.X.ndim != 2:
                raise DataError(f"{source.path}: this is a stack of shape {samples.X.shape}; give one row per sample.")
        return [(source.path, samples) for samples in views]

    def _scaled(self, X: Matrix) -> Matrix:
        """Return samples as float64, each feature of mean 0 and deviation 1 if that is asked for."""
        X = X.astype(np.float64, copy=False)
        return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X) if self.standardise else X


def is_data_file(name: str) -> bool:
    """Return whether a word of an experiment is a file, not the name of a data set."""
    return name.lower().endswith(SUFFIXES)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _in_order(path: Path, samples: Samples, ids: Sequence[str] | None, count: int) -> Matrix:
    """Return samples in the order of the classes: matched by ids where both have them, NaN for those not there."""
    X: Matrix = samples.X
    if samples.ids is None or ids is None or list(samples.ids) == list(ids):
        if X.shape[0] != count:
            raise DataError(f"{path}: {X.shape[0]} samples, but {count} classes; {SAME_SAMPLES}.")
        return X
    rows, _ = _rows(path, samples.ids), _rows(path, ids)
    places = np.array([rows.get(name, -1) for name in ids])
    if (places < 0).all():
        raise DataError(
            f"{path}: no id is one of those with classes, the first is {samples.ids[0]!r} here and {ids[0]!r} there; "
            "give the column that names the samples in all files."
        )
    if (places < 0).any() and sparse.issparse(X):
        raise DataError(f"{path}: samples are missing in a sparse view; give every sample a row.")
    return X[places] if (places >= 0).all() else _with_gaps(X, places)


def _with_gaps(X: Host, places: Host) -> Host:
    view = np.full((len(places), X.shape[1]), np.nan)
    view[places >= 0] = X[places[places >= 0]]
    return view


def _rows(path: Path, ids: Sequence[str]) -> Mapping[str, int]:
    """Return the row of each id, which must be its only one."""
    rows: dict[str, int] = {}
    for row, name in enumerate(ids):
        if rows.setdefault(name, row) != row:
            raise DataError(
                f"{path}: samples {rows[name] + 1} and {row + 1} have the same id {name!r}; keep one of them."
            )
    return rows
