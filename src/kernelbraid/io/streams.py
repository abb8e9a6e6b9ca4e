"""Samples of a file in pieces, for those that need not be in memory at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid._typing import Host
from kernelbraid.io.arrays import NUMPY, Matrix
from kernelbraid.io.samples import check_kind, check_matrix, read_ids, read_samples, to_numbers
from kernelbraid.io.sources import FilePath, Source, open_source, reading
from kernelbraid.io.tables import Table, open_parquet, open_table, read_parquet

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
        Yields the parts of a piece, given the stream and the number of the piece, wherever the file is seen.
    in_memory : bool, default=False
        Whether the file had to be read as a whole.
    ids : list of str, default=None
        Name of each sample, if the file has them.
    feature_names : list of str, default=None
        Name of each feature, if the file has them.
    header : bool or None, default=None
        Whether the first row names the columns; None where the file is no CSV or TSV.
    form : Source or None, default=None
        How a CSV or TSV file is written: its `delimiter` and `decimal`.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN.
    array : ndarray or scipy.sparse.csr_array, default=None
        All samples, where they are in memory, or in a file that is a map of memory.
    """

    path: Path
    sizes: tuple[int, ...]
    n_features: int
    dtype: DTypeLike
    read: "Callable[[Stream, int], Iterable[Matrix]]"
    in_memory: bool = False
    ids: list[str] | None = None
    feature_names: list[str] | None = None
    header: bool | None = None
    form: Source | None = None
    gaps: bool = False
    array: Matrix | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.sizes)

    def __iter__(self) -> Iterator[Matrix]:
        """Read the samples, or name the first value that is not finite."""
        for number in range(len(self.sizes)):
            yield from self.read(self, number)

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
        first, *others = self.read(self, number)
        return np.concatenate([first, *others]) if others else first


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
        with reading(source.path, NUMPY):
            X = np.load(source.path, mmap_mode="r", allow_pickle=False)
        return _in_pieces(source.path, X, partial(_slice, None), gaps=gaps)
    if source.content is None and source.suffix == ".parquet":
        table = open_table(source)
        ids, kept = table.choose(id_column, drop, keep)
        with open_parquet(source) as file:
            sizes = tuple(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
        read, names = partial(_read_parquet, table, kept), [table.names[i] for i in kept]
        stream = Stream(source.path, sizes, len(kept), np.dtype(np.float64), read, feature_names=names, gaps=gaps)
        first = next(iter(read(stream, int(np.argmax(sizes)))))
        stream = replace(stream, dtype=first.dtype)
        if ids is None:
            return stream
        return replace(
            stream, ids=[name for frame in read_parquet(table, [ids]) for name in read_ids(table, ids, frame[ids])]
        )
    found = read_samples(source, key=key, id_column=id_column, drop=drop, keep=keep, header=header)
    more = {"ids": found.ids, "feature_names": found.feature_names, "header": found.header, "form": found.form}
    return _in_pieces(source.path, found.X, partial(_slice, found.X), in_memory=True, **more)


def _in_pieces(path: Path, X: Matrix, read: Callable[[Stream, int], Iterable[Matrix]], **more: Any) -> Stream:
    """Return a stream of pieces of the same size."""
    check_kind(path, X, ndim=(2,))
    sizes = tuple(min(ROWS, X.shape[0] - start) for start in range(0, X.shape[0], ROWS))
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return Stream(path, sizes, X.shape[1], dtype, read, array=X if X.dtype == dtype else None, **more)


def _slice(X: Matrix | None, stream: Stream, number: int) -> Iterator[Matrix]:
    """Yield a piece of samples in memory, or of a .npy file."""
    first = sum(stream.sizes[:number])
    rows = slice(first, first + stream.sizes[number])
    if X is not None:
        yield X[rows]
    else:
        X = np.array(np.load(stream.path, mmap_mode="r", allow_pickle=False)[rows])
        yield check_matrix(stream.path, X, first=first, gaps=stream.gaps)


def _read_parquet(table: Table, kept: list[int], stream: Stream, number: int) -> Iterator[Host]:
    """Yield the parts of a group of rows of a Parquet file."""
    table = replace(table, source=replace(table.source, path=stream.path))
    for frame in read_parquet(table, kept, [number], ROWS):
        yield to_numbers(table, frame, gaps=stream.gaps)
