"""Samples of a file: finite numbers, at once or in pieces, or one sentence that says which cell is none."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid.io.arrays import Matrix, check_kind, check_matrix, is_sample_array, list_arrays, read_array
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, Source, open_source
from kernelbraid.io.tables import Table, open_parquet, open_table

ROWS = 50_000  # of a piece


@dataclass(frozen=True, eq=False)
class Samples:
    """The content of a data file.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
        The samples; an array file may also hold a stack of kernels, (n_kernels, n_samples, n_samples).
    ids : list of str or None
        Name of each sample, if the file has them.
    feature_names : list of str or None
        Name of each column of X, if the file has them.
    header : bool or None
        Whether the first row names the columns; None where the file is no CSV or TSV.
    form : Source or None
        How a CSV or TSV file is written: its `delimiter` and `decimal`.
    """

    X: Matrix
    ids: list[str] | None = None
    feature_names: list[str] | None = None
    header: bool | None = None
    form: Source | None = None


def read_samples(
    path: FilePath,
    *,
    key: str | None = None,
    id_column: str | int | None = None,
    drop: Iterable[str | int] = (),
    keep: Iterable[str] | None = None,
    header: bool | None = None,
) -> Samples:
    r"""Read a matrix of samples, one row per sample.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .tab, .parquet, .npy, .npz or .mat file (.mat up to version 7.2), which may be packed, as
        .csv.gz, .bz2, .xz or .zip. A pipe, such as /dev/stdin, is opened once, and what it holds is found by its first
        bytes if its name does not say it.
    key : str, default=None
        Which array of an .npz or .mat file to read. By default the only matrix in it, else "X", else "fea".
    id_column : str or int, default=None
        Column of a table that names the samples, by name or by number from 1. By default the first one, if it
        is called id, index, name or sample or has an empty header, or the index stored by pandas.
    drop : iterable of str or int, default=()
        Columns of a table to leave out, by name or by number from 1.
    keep : iterable of str, default=None
        Names of the columns to read, in this order, if the table has a header; all that are left if None.
    header : bool, default=None
        Whether the first row of a CSV or TSV file names the columns; the first rows say it if None.

    Returns
    -------
    Samples
        The matrix, and the names of its rows and columns where the file has them.

    Raises
    ------
    DataError
        The file cannot be read as finite numbers; the message says where and what to do.

    Notes
    -----
    A column of a CSV or TSV file whose cells are all true or false, in any case, is read as 1 and 0.

    The first row of a CSV or TSV file is a header when it is of text with a name in it. A row with numbers, or with
    true or false, is a sample, unless its first cell is called like ids or the numbers count the columns; so is one of
    marks such as NA or ?, or of numbers with a slip such as 3..5, which is then reported. The numbers 0, 1, ... alone,
    as pandas writes them above an array, are a header where none of the next 100 rows has a whole number; above others
    they may be a sample, and are refused until `header` says what they are. Semicolons, tabs, vertical bars and spaces
    between cells are found in a .csv file, and commas before decimals where a number has one that cannot separate
    thousands; numbers that could be read in two ways, such as 1,234 alone, are refused, and so are those with signs
    between their thousands. Pickled objects are refused, never loaded. Above 32 MB pandas reads the numbers of a CSV or
    TSV file to 12 digits or more, and below to the last bit.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernelbraid.datasets import read_samples
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.csv"
    ...     _ = path.write_text("id,length,width\nfirst,5.1,3.5\nsecond,4.9,3.0\n")
    ...     samples = read_samples(path)
    >>> samples.ids, samples.feature_names
    (['first', 'second'], ['length', 'width'])
    >>> samples.X
    array([[5.1, 3.5],
           [4.9, 3. ]])
    """
    source = open_source(path)
    if source.suffix in ARRAY_FILES:
        if id_column is not None or drop:
            raise DataError(f"{source.path}: an array file has no named columns; --id and --drop are for tables.")
        return Samples(check_matrix(source.path, read_array(source, key, ("X", "fea"), is_sample_array)))
    table = open_table(source, header)
    ids, kept = table.choose(id_column, drop, keep)
    frame, decimal = table.read(kept, ids)
    X = table.numbers(frame[kept], decimal)
    features = None if table.header is False else [table.names[i] for i in kept]
    form = None if table.header is None else replace(table.source, content=None, decimal=decimal)
    return Samples(X, table.ids(frame, ids), features, table.header, form)


def column_names(path: FilePath, *, header: bool | None = None) -> list[str]:
    """Return the names of the columns of a table; an array file has none.

    Parameters
    ----------
    path : str or Path
        A data file that `read_samples` reads.
    header : bool, default=None
        As for `read_samples`.

    Returns
    -------
    list of str
        The header, or the numbers from 1 if there is none.

    Raises
    ------
    DataError
        The file cannot be read.
    """
    source = open_source(path)
    return [] if source.suffix in ARRAY_FILES else open_table(source, header).names


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
            X = np.array(list_arrays(Source(self.path, ".npy"), mapped=0)[""][rows])
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
        more: dict[str, Any] = vars(Samples(None, named, [table.names[i] for i in kept])) | {"gaps": gaps}
        stream = Stream(
            **more, path=source.path, sizes=sizes, n_features=len(kept), dtype=float, table=table, kept=kept
        )
        return replace(stream, dtype=stream.piece(int(np.argmax(sizes))).dtype)
    if source.content is None and source.suffix == ".npy" and id_column is None and not drop:
        X, known = list_arrays(source, mapped=0)[""], Samples(None)
    else:
        known = read_samples(source, key=key, id_column=id_column, drop=drop, keep=keep, header=header)
        X = known.X
    check_kind(source.path, X, ndim=(2,))
    sizes = tuple(min(ROWS, X.shape[0] - start) for start in range(0, X.shape[0], ROWS))
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return Stream(**vars(known), path=source.path, sizes=sizes, n_features=X.shape[1], dtype=dtype, gaps=gaps)
