"""Samples of a file in pieces, for those that need not be in memory at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid._typing import Host
from kernelbraid.files import parquet
from kernelbraid.files.columns import IMPUTER, Columns
from kernelbraid.files.errors import DataError
from kernelbraid.files.npy import map_npy
from kernelbraid.files.readers import read_samples
from kernelbraid.files.sources import FilePath, Form, Source, open_source
from kernelbraid.files.stored import Matrix

ROWS = 50_000  # of a piece


@dataclass(frozen=True, eq=False)
class Stream:
    """Samples that are read piece by piece, every time they are gone through.

    Parameters
    ----------
    path : Path
        The file.
    sizes : tuple of int
        Rows of each piece.
    n_features : int
        Number of features.
    dtype : dtype
        float32 or float64.
    read : callable
        Returns a piece, given its number, wherever the file is seen.
    go_through : callable
        Returns an iterator over all samples in order, in parts that fit into memory.
    in_memory : bool, default=False
        Whether the file had to be read as a whole.
    ids : list of str, default=None
        Name of each sample, if the file has them.
    feature_names : list of str, default=None
        Name of each feature, if the file has them.
    columns : Columns, default=None
        The columns of a table, for messages.
    header : bool or None, default=None
        Whether the first row names the columns; None where the file is no CSV or TSV.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN.
    form : Form or None, default=None
        How a CSV or TSV file is written: what stands between cells, and before decimals.
    """

    path: Path
    sizes: tuple[int, ...]
    n_features: int
    dtype: DTypeLike
    read: Callable[[int], Matrix]
    go_through: Callable[[], Iterator[Matrix]]
    in_memory: bool = False
    ids: list[str] | None = None
    feature_names: list[str] | None = None
    columns: Columns | None = None
    header: bool | None = None
    gaps: bool = False
    form: Form | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.sizes)

    def __iter__(self) -> Iterator[Matrix]:
        """Read the samples, or name the first value that is not finite."""
        first = 0
        for piece in self.go_through():
            self._check_rows(first + piece.shape[0], self.n_samples, is_whole=False)
            yield self._checked(piece, first)
            first += piece.shape[0]
        self._check_rows(first, self.n_samples)

    def piece(self, number: int) -> Matrix:
        """Read one piece, or name its first value that is not finite.

        Parameters
        ----------
        number : int
            From 0.

        Returns
        -------
        ndarray or scipy.sparse.csr_array
            Its samples.
        """
        piece = self.read(number)
        self._check_rows(piece.shape[0], self.sizes[number])
        return self._checked(piece, sum(self.sizes[:number]))

    def _check_rows(self, found: int, said: int, is_whole: bool = True) -> None:
        """Refuse more rows than the file says, and fewer if no more are to come."""
        if found > said or (is_whole and found < said):
            raise DataError(
                f"{self.path}: it says that there are {said} rows where {found} were read, so that it is damaged or "
                "was changed meanwhile; write it again."
            )

    def _checked(self, piece: Matrix, first_row: int) -> Matrix:
        values = piece if isinstance(piece, np.ndarray) else piece.data
        with np.errstate(over="ignore", invalid="ignore"):
            if self.in_memory or np.isfinite(values.sum()) or np.isfinite(values).all():
                return piece
        bad = ~np.isfinite(piece)
        if self.gaps:
            bad[np.isnan(piece).all(axis=1)] = False
            if not bad.any():
                return piece
        row, column = (int(at) for at in np.argwhere(bad)[0])
        value, row_number = piece[row, column], first_row + row + 1
        if self.columns is not None:
            raise self.columns.cell_error(self.columns.kept[column], row_number, value)
        raise DataError(
            f"{self.path}: the value at position ({row_number}, {column + 1}), counted from 1, is {value}; remove it "
            f"or fill it{IMPUTER if np.isnan(value) else ''}."
        )


def open_stream(
    path: FilePath,
    *,
    key: str | None = None,
    id_column: str | int | None = None,
    drop: Iterable[str | int] = (),
    keep: Iterable[str] | None = None,
    header: bool | None = None,
    gaps: bool = False,
) -> Stream:
    """Open a file of samples: .npy and Parquet files are read in pieces, others and pipes as a whole.

    Parameters
    ----------
    path : str or Path
        A file that :func:`read_samples` reads.
    key : str, default=None
        As for :func:`read_samples`, as are the following.
    id_column : str or int, default=None
        Column of a table that names the samples.
    drop : iterable of str or int, default=()
        Columns of a table to leave out.
    keep : iterable of str, default=None
        Names of the columns to read.
    header : bool, default=None
        Whether the first row of a CSV or TSV file names the columns.
    gaps : bool, default=False
        Whether .npy and Parquet files may have rows without a value, for samples that one of several views lacks.

    Returns
    -------
    Stream
        The samples.

    Raises
    ------
    DataError
        The file cannot be read as samples; the message says where and what to do.
    """
    source = open_source(path)
    drop = (drop,) if isinstance(drop, str | int) else tuple(drop)
    if source.content is None and source.suffix == ".npy" and id_column is None and not drop:
        return replace(_npy_stream(source), gaps=gaps)
    if source.content is None and source.suffix == ".parquet":
        return replace(_parquet_stream(source, id_column, drop, keep), gaps=gaps)
    samples = read_samples(source, key=key, id_column=id_column, drop=drop, keep=keep, header=header)
    if samples.X.ndim != 2:
        raise DataError(f"{source.path}: this is a stack of shape {samples.X.shape}; give one row per sample.")
    X = samples.X
    whole = _in_pieces(source.path, X.shape, X.dtype, partial(_matrix_piece, X), in_memory=True)
    names, header = samples.feature_names, samples.header
    return replace(whole, ids=samples.ids, feature_names=names, header=header, form=samples.form)


def _in_pieces(
    path: Path, shape: tuple[int, int], dtype: DTypeLike, read: Callable[[int], Matrix], in_memory: bool
) -> Stream:
    """Return a stream of pieces of the same size."""
    n, d = shape
    sizes = tuple(min(ROWS, n - start) for start in range(0, n, ROWS))
    return Stream(path, sizes, d, dtype, read, partial(map, read, range(len(sizes))), in_memory)


def _matrix_piece(X: Matrix, number: int) -> Matrix:
    return X[number * ROWS : (number + 1) * ROWS]


def _npy_stream(source: Source) -> Stream:
    path, X = source.path, map_npy(source)
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: the array is of type {X.dtype}; save real numbers.")
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"{path}: the array has shape {X.shape}; give one row per sample, one column per feature.")
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return _in_pieces(path, X.shape, dtype, partial(_npy_piece, path.resolve()), in_memory=False)


def _npy_piece(path: Path, number: int) -> Host:
    X = map_npy(open_source(path))[number * ROWS : (number + 1) * ROWS]
    return np.array(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)


def _parquet_stream(
    source: Source, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None
) -> Stream:
    layout = parquet.read_layout(source, id_column, drop, keep)
    parquet.check_names(layout.columns)
    where = (source.path.resolve(), layout.names, layout.dtype)
    return Stream(
        source.path,
        layout.groups,
        len(layout.names),
        layout.dtype,
        partial(_parquet_piece, *where),
        partial(_parquet_batches, *where, ROWS),
        in_memory=False,
        ids=layout.ids,
        feature_names=layout.names,
        columns=layout.columns,
    )


def _parquet_piece(path: Path, names: list[str], dtype: DTypeLike, number: int) -> Host:
    return parquet.read_group(open_source(path), names, dtype, number)


def _parquet_batches(path: Path, names: list[str], dtype: DTypeLike, rows: int) -> Iterator[Host]:
    return parquet.read_batches(open_source(path), names, dtype, rows)
