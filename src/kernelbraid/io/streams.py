"""Samples of a file in pieces, for those that need not be in memory at once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid.io.arrays import NUMPY, Matrix, check_kind, check_matrix
from kernelbraid.io.samples import Samples, read_samples
from kernelbraid.io.sources import FilePath, open_source, reading
from kernelbraid.io.tables import Table, open_parquet, open_table

ROWS = 50_000  # of a piece


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream(Samples):
    """Samples that are read piece by piece, every time they are gone through.

    Parameters
    ----------
    X : matrix or None
        As of :class:`Samples`, and so are the next four; None where a file is read in pieces.
    ids, feature_names : list of str or None
        Names of samples and features.
    header : bool or None
        Whether the first row names the columns.
    form : Source or None
        How a CSV or TSV file is written.
    path : Path
        The file.
    sizes : tuple of int
        Rows of each piece.
    n_features : int
        Number of features.
    dtype : dtype
        float32 or float64.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN.
    table : Table, default=None
        A Parquet file.
    kept : sequence of int, default=()
        Its columns that are features.
    """

    path: Path
    sizes: tuple[int, ...]
    n_features: int
    dtype: DTypeLike
    gaps: bool = False
    table: Table | None = None
    kept: Sequence[int] = ()

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
        return map(self.piece, range(len(self.sizes)))

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
        rows = slice(sum(self.sizes[:number]), sum(self.sizes[: number + 1]))
        if self.X is not None:
            return self.X[rows]
        if self.table is None:
            X = np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[rows])
            return check_matrix(self.path, X, first=rows.start, gaps=self.gaps)
        table = replace(self.table, source=replace(self.table.source, path=self.path))
        return table.numbers(table.read(self.kept, group=number)[0], first=rows.start, gaps=self.gaps)


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
    if source.content is None and source.suffix == ".parquet":
        table = open_table(source)
        ids, kept = table.choose(id_column, drop, keep)
        with open_parquet(source) as file:
            sizes = tuple(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
        named = table.ids(table.read([] if ids is None else [ids])[0], ids)
        known = Samples(None, named, [table.names[i] for i in kept])
        more: dict[str, Any] = {**vars(known), "gaps": gaps, "table": table, "kept": kept}
        stream = Stream(path=source.path, sizes=sizes, n_features=len(kept), dtype=np.float64, **more)
        return replace(stream, dtype=stream.piece(int(np.argmax(sizes))).dtype)
    if source.content is None and source.suffix == ".npy" and id_column is None and not drop:
        with reading(source.path, NUMPY):
            X, known = np.load(source.path, mmap_mode="r", allow_pickle=False), Samples(None)
    else:
        known = read_samples(source, key=key, id_column=id_column, drop=drop, keep=keep, header=header)
        X = known.X
    check_kind(source.path, X, ndim=(2,))
    sizes = tuple(min(ROWS, X.shape[0] - start) for start in range(0, X.shape[0], ROWS))
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return Stream(**vars(known), path=source.path, sizes=sizes, n_features=X.shape[1], dtype=dtype, gaps=gaps)
