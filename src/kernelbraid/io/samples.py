"""Samples and labels of a file, or one sentence that says which cell is none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid._blocks import together
from kernelbraid._typing import Host
from kernelbraid.io import tables
from kernelbraid.io.arrays import Matrix, check_matrix, is_label_array, is_sample_array, read_array
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, Source, open_source
from kernelbraid.io.tables import MISSING, NUMBER, Table, id_column, is_header, is_name, open_table, texts_of

NAMES_OF_ARRAYS = ("y", "labels", "label", "gnd")
LABEL_NAMES = ("label", "labels", "cluster", "class", "y", "target")


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
    true or false, is a sample, unless its first cell is called like ids, or three or more numbers count columns, beside
    names that do not come back below; so is one of marks such as NA or ?, or of numbers with a slip such as 3..5, which
    is then reported. The numbers 0, 1, ... alone, as pandas writes them above an array, are a header where none of the
    next 99 rows has a whole number; above others they may be a sample, and are refused until `header` says what they
    are. Semicolons, tabs, vertical bars and spaces between cells are found in a .csv file, and commas before decimals
    where a number has one that cannot separate thousands; numbers that could be read in two ways, such as 1,234 alone,
    are refused, and so are those with signs between their thousands. Pickled objects are refused, never loaded. Above
    32 MB pandas reads the numbers of a CSV or TSV file to 12 digits or more, and below to the last bit.

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
    if table.is_unclear:
        told = "row 1 counts the columns, and may be a header or a sample"
        raise table.error(f"{told}; say which with --header or --no-header")
    kept = table.choose(id_column, drop, keep)
    X = together(table.blocks(kept, gaps=gaps), str(source.path))
    features = None if table.header is False else [table.names[i] for i in kept]
    form = None if table.header is None else replace(table.source, content=None, decimal=table.source.decimal or ".")
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
    is_unclear : bool, default=False
        Whether the first row is taken for a sample, and may be a header: texts of which none comes back below it.
    """

    values: Host
    ids: list[str] | None = None
    header: bool | None = None
    is_unclear: bool = False


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
    in the next 99 rows, if its first cell is called like ids, or if it is of text and a column of these rows is of
    numbers. Texts above texts are a sample, though they may be a header (`is_unclear`).

    Labels that are whole numbers are compared exactly: no two of them become one, however many digits they have.

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
    import pandas as pd

    source = open_source(path)
    if source.suffix in ARRAY_FILES:
        if column is not None:
            raise DataError(f"{source.path}: an array file has no columns of labels; --column is for tables.")
        return LabelFile(_checked(source.path, read_array(source, key, NAMES_OF_ARRAYS, is_label_array)))
    if header is None and column is not None and not str(column).isdecimal():  # by its name in the header
        header = True
    table = open_table(source, header, _has_header)
    frame = pd.concat(table.frames(range(len(table.names))), ignore_index=True)
    if not len(frame):
        raise table.error(tables.EMPTY)
    at, ids = _find_columns(table, frame, column)
    names = None if ids in (None, at) else texts_of(frame[ids])
    return LabelFile(_values(table, at, frame[at]), names, table.header, table.is_unclear)


def _has_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool | None:
    """Return whether the first row of a table with labels names its columns; None where nothing tells."""
    columns = [(cell.lower(), {row[i].lower() for row in below if i < len(row)}) for i, cell in enumerate(first)]
    # A name that comes back below is a label itself, as y is among y and n.
    is_named = id_column(first) == 0 or any(name in LABEL_NAMES and name not in known for name, known in columns)
    if not is_header(first, below):
        return False
    if is_named or any(is_name(name) and known and all(map(NUMBER.fullmatch, known)) for name, known in columns):
        return True
    return None if below and all(is_name(name) and name not in known for name, known in columns) else False


def _find_columns(table: Table, frame: Any, column: str | int | None) -> tuple[int, int | None]:
    """Return the column of the labels, by its name or as the only one beside ids, and that of ids; none is guessed."""
    first, width = texts_of(frame[0]), len(table.names)
    has_numbers = any(map(NUMBER.fullmatch, first))
    is_apart = len({*first}) == len(first) and all(cell.isdecimal() or not NUMBER.fullmatch(cell) for cell in first)
    ids = 0 if table.index is None and is_apart and not has_numbers else table.index
    named = [i for i, name in enumerate(table.names) if name.lower() in LABEL_NAMES]
    named = [i for i in named if table.names[i].lower() != "y"] or named  # y may be a coordinate
    # Whole numbers that tell all rows apart are no classes.
    others = [1] if width == 2 and is_apart else [i for i in range(width) if i != ids] or [0]
    found = [table.find(column)] if column is not None else named or others
    if len(found) > 1:
        names = tables.listing([table.names[i] for i in found])
        told = f"the labels may be in any of the columns {names}; say in which"
        raise table.error(f"{told} (--column NAME; of the scored ones, --labels-column NAME), or call it label")
    return found[0], ids


def _values(table: Table, at: int, column: Any) -> Host:
    """Return a column as labels: numbers if all of them are; no two whole ones become one, however large."""
    texts = texts_of(column)
    present = [text for text in texts if text.lower() not in MISSING]
    are_numbers = len(present) > 0 and all(map(NUMBER.fullmatch, present))
    for row, text in enumerate(texts):
        if text.lower() in (MISSING if are_numbers else ("",)):
            raise table.error(f"{table.place(at, row, 'no label')} ({text!r}); fill the cell or delete the row")
    are_whole = are_numbers and all(text.lstrip("+-").isdecimal() for text in texts)
    are_large = are_whole and max(abs(int(text)) for text in texts) >= 2**63
    dtype = str if are_large or not are_numbers else np.int64 if are_whole else np.float64
    return _checked(table.source.path, np.array(texts, dtype=dtype))


def _checked(path: Path, values: Host) -> Host:
    """Return an array as one label per sample, or say what is wrong with it."""
    if values.ndim not in (1, 2) or values.size != max(values.shape) or not values.size:
        raise DataError(f"{path}: the labels have shape {values.shape}; give one label per sample.")
    values = values.ravel()
    if values.dtype.kind == "O" and all(np.size(v) == 1 and np.asarray(v).dtype.kind == "U" for v in values):
        values = np.array([np.asarray(value).item() for value in values])  # of a cell array of MATLAB
    if values.dtype.kind not in "biufUS":
        raise DataError(f"{path}: the labels are neither numbers nor text; save them as a vector.")
    if values.dtype.kind == "f":
        for at in np.flatnonzero(~np.isfinite(values))[:1]:
            raise DataError(f"{path}: label {at + 1} is {values[at]}; leave out samples without a label.")
        if np.all(values == np.round(values)) and np.max(np.abs(values)) < 2**53:
            values = values.astype(np.int64)
    return values
