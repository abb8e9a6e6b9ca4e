"""Samples of a file in pieces, for those that need not be in memory at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid._typing import Host
from kernelbraid.io.arrays import Matrix, load_numpy
from kernelbraid.io.columns import Table, open_parquet, open_table, read_columns
from kernelbraid.io.sources import DataError, FilePath, Form, Source, open_source
from kernelbraid.io.tables import check_finite, read_ids, read_samples, typed_numbers

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
        Yields the parts of a piece, given its number, wherever the file is seen.
    in_memory : bool, default=False
        Whether the file had to be read as a whole.
    ids : list of str, default=None
        Name of each sample, if the file has them.
    feature_names : list of str, default=None
        Name of each feature, if the file has them.
    header : bool or None, default=None
        Whether the first row names the columns; None where the file is no CSV or TSV.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN.
    form : Form or None, default=None
        How a CSV or TSV file is written: what stands between cells, and before decimals.
    table : Table or None, default=None
        A Parquet file, for messages.
    kept : list of int, default=()
        The columns of it that are read.
    """

    path: Path
    sizes: tuple[int, ...]
    n_features: int
    dtype: DTypeLike
    read: Callable[[int], Iterable[Matrix]]
    in_memory: bool = False
    ids: list[str] | None = None
    feature_names: list[str] | None = None
    header: bool | None = None
    gaps: bool = False
    form: Form | None = None
    table: Table | None = None
    kept: Sequence[int] = ()

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.sizes)

    def __iter__(self) -> Iterator[Matrix]:
        """Read the samples, or name the first value that is not finite."""
        return chain.from_iterable(map(self._parts, range(len(self.sizes))))

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
        first, *others = self._parts(number)
        return np.concatenate([first, *others]) if others else first

    def _parts(self, number: int) -> Iterator[Matrix]:
        first = sum(self.sizes[:number])
        for part in self.read(number):
            if not self.in_memory:
                check_finite(self.path, part, first, gaps=self.gaps, table=self.table, kept=self.kept)
            first += part.shape[0]
            yield part


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
        stream = _in_pieces(source.path, _map_npy(source.path), partial(_read_npy, source.path.resolve()))
        return replace(stream, gaps=gaps)
    if source.content is None and source.suffix == ".parquet":
        return replace(_parquet_stream(source, id_column, drop, keep), gaps=gaps)
    found = read_samples(source, key=key, id_column=id_column, drop=drop, keep=keep, header=header)
    stream = replace(_in_pieces(source.path, found.X, partial(_slice, found.X)), in_memory=True, form=found.form)
    return replace(stream, ids=found.ids, feature_names=found.feature_names, header=found.header)


def _in_pieces(path: Path, X: Matrix, read: Callable[[int], Iterable[Matrix]]) -> Stream:
    """Return a stream of pieces of the same size."""
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"{path}: the array has shape {X.shape}; give one row per sample, one column per feature.")
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: the array is of type {X.dtype}; save real numbers.")
    sizes = tuple(min(ROWS, X.shape[0] - start) for start in range(0, X.shape[0], ROWS))
    return Stream(path, sizes, X.shape[1], np.dtype(np.float32 if X.dtype == np.float32 else np.float64), read)


def _parquet_stream(
    source: Source, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None
) -> Stream:
    """Return a stream whose pieces are the groups of rows of a Parquet file."""
    table = open_table(source)
    id_index, kept = table.choose(id_column, drop, keep)
    with open_parquet(source) as file:
        sizes = tuple(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
    read = partial(_read_parquet, source.path.resolve(), table, kept)
    first = next(iter(read(int(np.argmax(sizes)))))
    ids = None if id_index is None else read_ids(table, id_index, read_columns(table, [id_index])[0])
    stream = Stream(source.path, sizes, len(kept), first.dtype, read, table=table, kept=kept)
    return replace(stream, ids=ids, feature_names=[table.names[i] for i in kept])


def _slice(X: Matrix, number: int) -> list[Matrix]:
    return [X[number * ROWS : (number + 1) * ROWS]]


def _map_npy(path: Path) -> Host:
    return np.asanyarray(load_numpy(path, open_source(path).path, mmap_mode="r"))


def _read_npy(path: Path, number: int) -> list[Host]:
    X = _map_npy(path)
    return [np.array(X[number * ROWS : (number + 1) * ROWS], np.float32 if X.dtype == np.float32 else np.float64)]


def _read_parquet(path: Path, table: Table, kept: list[int], number: int) -> Iterator[Host]:
    names = [table.names[i] for i in kept]
    with open_parquet(open_source(path)) as file:
        for batch in file.iter_batches(ROWS, row_groups=[number], columns=names):
            frame = batch.to_pandas(ignore_metadata=True)
            yield typed_numbers(table, kept, [frame[name] for name in names])
