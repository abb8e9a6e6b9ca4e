"""Samples of a file in pieces, for those that need not be in memory at once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.io.arrays import NUMPY, Matrix
from kernelbraid.io.samples import Samples, check_kind, check_matrix, read_ids, read_samples, to_numbers
from kernelbraid.io.sources import FilePath, open_source, reading
from kernelbraid.io.tables import Table, open_parquet, open_table, read_parquet

ROWS = 50_000  # of a piece


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream(Samples):
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
    X : ndarray or scipy.sparse.csr_array or None, default=None
        The samples of a file that had to be read as a whole.
    table : Table or None, default=None
        The columns of a Parquet file.
    kept : sequence of int, default=()
        Which of them are read.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN.
    ids, feature_names, header, form
        As of :class:`Samples`.
    """

    path: Path
    sizes: tuple[int, ...]
    n_features: int
    dtype: np.dtype
    X: Matrix | None = None
    table: Table | None = None
    kept: Sequence[int] = ()
    gaps: bool = False

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.sizes)

    @property
    def in_memory(self) -> bool:
        """Whether the file had to be read as a whole."""
        return self.X is not None

    def __iter__(self) -> Iterator[Matrix]:
        """Read the samples, or name the first value that is not finite."""
        return map(self.piece, range(len(self.sizes))) if self.table is None else self._parts(self.table)

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
        if self.table is not None:
            return np.concatenate(list(self._parts(self.table, number)))
        first = sum(self.sizes[:number])
        rows = slice(first, first + self.sizes[number])
        if self.X is not None:
            return self.X[rows]
        X = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return check_matrix(self.path, np.array(X[rows]), first=first, gaps=self.gaps)

    def _parts(self, table: Table, group: int | None = None) -> Iterator[Host]:
        """Yield the samples of a Parquet file, or of a group of its rows."""
        table = replace(table, source=replace(table.source, path=self.path))
        for frame in read_parquet(table, self.kept, group, ROWS):
            yield to_numbers(table, frame, gaps=self.gaps)


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
    is_file = source.content is None
    if is_file and source.suffix == ".parquet":
        table = open_table(source)
        ids, kept = table.choose(id_column, drop, keep)
        with open_parquet(source) as file:
            sizes = tuple(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
        frames = () if ids is None else read_parquet(table, [ids])
        names = [name for frame in frames for i, column in frame.items() for name in read_ids(table, i, column)] or None
        held: dict[str, Any] = {
            "ids": names,
            "feature_names": [table.names[i] for i in kept],
            "table": table,
            "kept": kept,
        }
        shape: dict[str, Any] = {"sizes": sizes, "n_features": len(kept), "dtype": np.dtype(np.float64)}
        stream = Stream(path=source.path, gaps=gaps, **shape, **held)
        return replace(stream, dtype=next(iter(stream)).dtype)
    if is_file and source.suffix == ".npy" and id_column is None and not drop:
        with reading(source.path, NUMPY):
            X, held = np.load(source.path, mmap_mode="r", allow_pickle=False), {"gaps": gaps}
    else:
        samples = read_samples(source, key=key, id_column=id_column, drop=drop, keep=keep, header=header)
        X, held = samples.X, vars(samples)
    check_kind(source.path, X, ndim=(2,))
    sizes = tuple(min(ROWS, X.shape[0] - start) for start in range(0, X.shape[0], ROWS))
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return Stream(path=source.path, sizes=sizes, n_features=X.shape[1], dtype=dtype, **held)
