"""Samples of a file: finite numbers, or one sentence that says which cell is none."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kernelbraid._blocks import together
from kernelbraid.io.arrays import Matrix, check_matrix, is_sample_array, read_array
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, Source, open_source
from kernelbraid.io.tables import open_table


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
    gaps: bool = False,
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
    gaps : bool, default=False
        Whether there may be rows without a value, for samples that one of several views lacks.

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
        return Samples(check_matrix(source.path, read_array(source, key, ("X", "fea"), is_sample_array), gaps=gaps))
    table = open_table(source, header)
    kept = table.choose(id_column, drop, keep)
    X = together(table.blocks(kept, gaps=gaps), str(source.path))
    features = None if table.header is False else [table.names[i] for i in kept]
    form = (
        None
        if table.header is None
        else replace(table.source, content=None, decimal="," if table.source.decimal == "," else ".")
    )
    return Samples(X, None if table.index is None else table.ids, features, table.header, form)


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
