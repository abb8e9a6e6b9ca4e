"""Read samples and labels from a file; its suffix says how."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.files import arrays, labels, parquet, text
from kernelbraid.files.columns import IMPUTER, Columns
from kernelbraid.files.errors import DataError
from kernelbraid.files.sources import ARRAY_FILES, FilePath, Form, open_source
from kernelbraid.files.stored import Matrix, is_label_array, is_sample_array


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
    form : Form or None
        How a CSV or TSV file is written: what stands between cells, and before decimals.
    """

    X: Matrix
    ids: list[str] | None = None
    feature_names: list[str] | None = None
    header: bool | None = None
    form: Form | None = None


@dataclass(frozen=True, eq=False)
class LabelFile:
    """The content of a label file.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        One label per sample: whole numbers if all of them are, otherwise text.
    ids : list of str or None
        Name of each sample, if the file has them.
    header : bool or None
        Whether the first row names the columns; None where the file is no CSV or TSV.
    may_be_header : bool
        Whether the first row names the columns, or may do so: texts of which none comes back below it.
    """

    values: Host
    ids: list[str] | None = None
    header: bool | None = None
    may_be_header: bool = False

    @property
    def is_unclear(self) -> bool:
        """Whether the first row is taken for a sample, and may be a header."""
        return self.header is False and self.may_be_header

    @property
    def repeats(self) -> bool:
        """Whether every label occurs more than once."""
        return bool(np.unique(self.values, return_counts=True)[1].min() > 1)


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
        .csv.gz. A pipe, such as /dev/stdin, is opened once, and what it holds is found by its first bytes if its name
        does not say it.
    key : str, default=None
        Which array of an .npz or .mat file to read. By default the only matrix in it, else "X", else "fea".
    id_column : str or int, default=None
        Column of a table that names the samples, by name or by number from 1. By default the first one, if it
        is called id, index, name or sample or has an empty header, or the index stored by pandas.
    drop : iterable of str or int, default=()
        Columns of a table to leave out, by name or by number from 1.
    keep : iterable of str, default=None
        Names of the columns to read, in this order, if the table has a header; all that are left if None. A name that
        is given several times stands for so many columns of this name, in their order.
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
    as pandas writes them above an array, are a header where none of the next 100 rows has a whole number, or where, of
    three columns or more, a sample would hardly hold just these numbers (by their shares in the columns, with a chance
    below 1e-5); not above ranks, indices and distances, which are like them. Semicolons between cells are found in a
    .csv file, and commas before decimals where a number has one that cannot separate thousands; numbers that could be
    read in two ways, such as 1,234 alone, are refused. Pickled objects are refused, never loaded. Memory is taken for
    an array only if its size fits into what is free.

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
    drop = (drop,) if isinstance(drop, str | int) else tuple(drop)
    if source.suffix in ARRAY_FILES:
        if id_column is not None or drop:
            raise DataError(f"{source.path}: an array file has no named columns; --id and --drop are for tables.")
        return Samples(check_matrix(source.path, arrays.read_array(source, key, ("X", "fea"), is_sample_array)))
    if source.suffix == ".parquet":
        X, columns, ids = parquet.read_matrix(source, id_column, drop, keep)
        return Samples(X, ids, _kept_names(columns))
    X, columns, ids, form = text.read_matrix(source, id_column, drop, keep, header=header)
    return Samples(X, ids, _kept_names(columns), columns.has_header, form)


def _kept_names(columns: Columns) -> list[str] | None:
    return [columns.names[i] for i in columns.kept] if columns.has_header else None


def read_labels(
    path: FilePath, *, key: str | None = None, header: bool | None = None, column: str | int | None = None
) -> LabelFile:
    r"""Read one label per sample.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .tab, .parquet, .npy, .npz or .mat file (.mat up to version 7.2).
    key : str, default=None
        Which array of an .npz or .mat file to read. By default the only vector in it, else "y", "labels",
        "label" or "gnd".
    header : bool, default=None
        Whether the first row of a CSV or TSV file names the columns; its rows say it if None.
    column : str or int, default=None
        Column of a table that holds the labels, by its name in the header or by number from 1.

    Returns
    -------
    LabelFile
        The labels, and the names of the samples where the file has them.

    Raises
    ------
    DataError
        The file cannot be read as labels; the message says where and what to do.

    Notes
    -----
    In a table the labels are `column`, otherwise the one called label, labels, cluster, class or target, otherwise y,
    otherwise the only column beside ids. Ids are a first column called id, index, name or sample, or without a name, or
    of texts that are all different; of two columns the first may also be of whole numbers that are all different, and
    is no label then. Where several columns could hold the labels, none is guessed: the table is refused with their
    names.

    The first row of a CSV or TSV file is a header if one of these names of labels is in it and does not come back
    below, if its first cell is called like ids, or if it is of text and a column below it is of numbers. Texts above
    texts are a sample, though they may be a header (`may_be_header`): only a count of the samples, or their ids, tells.

    Labels that are written as numbers are compared exactly: no two of them become one, however many digits they have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernelbraid.datasets import read_labels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("id,label\nfirst,0\nsecond,1\n")
    ...     labels = read_labels(path)
    >>> labels.values, labels.ids
    (array([0, 1]), ['first', 'second'])
    """
    source = open_source(path)
    if source.suffix in ARRAY_FILES:
        if column is not None:
            raise DataError(f"{source.path}: an array file has no columns of labels; --column is for tables.")
        values = arrays.read_array(source, key, ("y", "labels", "label", "gnd"), is_label_array)
        return LabelFile(labels.check_labels(source.path, values))
    if source.suffix == ".parquet":
        return LabelFile(*labels.read_parquet_labels(source, column))
    return LabelFile(*labels.read_text_labels(source, header, column))


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
    if source.suffix in ARRAY_FILES:
        return []
    if source.suffix == ".parquet":
        return parquet.read_columns(source).names
    with text.opened_columns(source, header) as (columns, _):
        return columns.names


def check_matrix(path: Path, X: Matrix) -> Matrix:
    """Return an array as finite floating-point samples, or say what is wrong with it."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: the array is of type {X.dtype}; save real numbers.")
    if X.ndim not in (2, 3):
        raise DataError(f"{path}: the array has shape {X.shape}; give one row per sample, one column per feature.")
    if 0 in X.shape:
        raise DataError(f"{path}: the array has shape {X.shape}; give at least one sample and one feature.")
    X = X.astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False)
    if sparse.issparse(X):
        if not np.isfinite(X.data).all():
            raise DataError(f"{path}: the sparse matrix has NaN or infinity in it; remove or fill these entries.")
        return X
    for at in np.argwhere(~np.isfinite(X))[:1]:
        place = ", ".join(str(i + 1) for i in at)
        raise DataError(
            f"{path}: the value at position ({place}), counted from 1, is {X[tuple(at)]}; remove it or fill "
            f"it{IMPUTER if np.isnan(X[tuple(at)]) else ''}."
        )
    return np.ascontiguousarray(X)
