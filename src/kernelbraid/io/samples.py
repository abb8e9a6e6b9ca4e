"""Samples of a file: a matrix of finite numbers, or one sentence that says which cell is none."""

import io
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.io.arrays import Matrix, is_sample_array, read_array
from kernelbraid.io.dialect import AS_PYTHON, TRUTHS, find_decimal, is_number
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, Source, open_source
from kernelbraid.io.tables import Table, open_table, read_parquet, read_texts

if TYPE_CHECKING:
    import pandas as pd

EXACT = 2**25  # bytes of a file up to which numbers are rounded to the last bit, which takes pandas three times as long
PLAIN: dict[str, Any] = {"header": None, "na_filter": False}


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
    as pandas writes them above an array, are a header where none of the next 100 rows has a whole number, or where, of
    three columns or more, a sample would hardly hold just these numbers (by their shares in the columns, with a chance
    below 1e-5); not above ranks, indices and distances, which are like them. Semicolons, tabs, vertical bars and spaces
    between cells are found in a .csv file, and commas before decimals where a number has one that cannot separate
    thousands; numbers that could be read in two ways, such as 1,234 alone, are refused. Pickled objects are refused,
    never loaded. Above 32 MB pandas reads the numbers of a CSV or TSV file to 12 digits or more, and below to the last
    bit.

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
        return Samples(check_matrix(source.path, read_array(source, key, ("X", "fea"), is_sample_array)))
    import pandas as pd

    table = open_table(source, header)
    ids, kept = table.choose(id_column, drop, keep)
    if source.suffix == ".parquet":
        frame, decimal = pd.concat(read_parquet(table, kept if ids is None or ids in kept else [*kept, ids])), None
    else:
        frame, decimal = _read_plain(table, kept, ids) or _read_texts(table, kept)
    X = to_numbers(table, frame[kept], decimal)
    names = None if ids is None else read_ids(table, ids, frame[ids])
    features = [table.names[i] for i in kept] if table.has_header else None
    if source.suffix == ".parquet":
        return Samples(X, names, features)
    return Samples(X, names, features, table.has_header, replace(table.source, content=None, decimal=decimal))


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


def check_kind(path: Path, X: Matrix, *, ndim: Sequence[int] = (2, 3)) -> None:
    """Refuse an array that holds no samples."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: the array is of type {X.dtype}; save real numbers.")
    if X.ndim not in ndim or 0 in X.shape:
        raise DataError(f"{path}: the array has shape {X.shape}; give one row per sample, one column per feature.")


def check_matrix(path: Path, X: Matrix, *, first: int = 0, gaps: bool = False) -> Matrix:
    """Return an array as finite samples, of which the first has a number, or name a value that is not finite."""
    check_kind(path, X)
    X = X.astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False)
    if sparse.issparse(X):
        if not np.isfinite(X.data).all():
            raise DataError(f"{path}: the sparse matrix has NaN or infinity in it; remove or fill these entries.")
        return X
    for row, *rest in not_finite(X, gaps=gaps):
        place, value = ", ".join(str(i + 1) for i in (first + row, *rest)), X[(row, *rest)]
        raise DataError(f"{path}: the value at position ({place}), counted from 1, is {value}; remove it or fill it.")
    return np.ascontiguousarray(X)


def not_finite(X: Host, *, gaps: bool = False) -> list[list[int]]:
    """Return the place of the first value that is not finite, if there is one; gaps are rows of NaN."""
    bad = ~np.isfinite(X)
    if gaps:
        bad[np.isnan(X).all(axis=1)] = False
    return np.argwhere(bad)[:1].tolist() if bad.any() else []


def to_numbers(table: Table, frame: "pd.DataFrame", decimal: str | None = ".", *, gaps: bool = False) -> Host:
    """Return columns as a matrix, or name the first cell that is no finite number."""
    is_text = table.source.suffix != ".parquet"
    X = np.column_stack([_as_floats(column, decimal, is_text=is_text) for _, column in frame.items()])
    for row, i in not_finite(X, gaps=gaps):
        raise table.cell_error(frame.columns[i], frame.index[row], str(frame.iat[row, i]))
    return X


def read_ids(table: Table, column: int, values: "pd.Series") -> list[str]:
    """Return the names of samples as they are written, leading zeros and all; each must be there."""
    ids = ["" if value is None else str(value).strip() for value in values]
    if "" in ids:
        raise table.cell_error(column, values.index[ids.index("")], "")
    return ids


def _as_floats(column: "pd.Series", decimal: str | None, *, is_text: bool) -> Host:
    """Return a column as numbers, NaN where there is none; 1 and 0 if all cells are true or false."""
    if column.dtype.kind in "biuf":
        return column.to_numpy(np.float32 if column.dtype == np.float32 else np.float64)
    cells = column.tolist()
    if not is_text:
        return np.array([float(cell) if isinstance(cell, int | float | Decimal) else np.nan for cell in cells])
    if all(cell.lower() in TRUTHS for cell in cells):
        return np.array([TRUTHS[cell.lower()] for cell in cells])
    texts = [cell.translate(AS_PYTHON[decimal]) for cell in cells]
    return np.array([float(text) if is_number(text) else np.nan for text in texts])


def _read_plain(table: Table, kept: list[int], ids: int | None) -> "tuple[pd.DataFrame, str | None] | None":
    """Return the cells of a CSV or TSV file as pandas reads them, and its decimal mark; None if there is any doubt."""
    import pandas as pd

    source, width = table.source, len(table.names)
    certain = source.decimal or find_decimal((row[i] for row in table.head for i in kept), source.delimiter)
    own = {"sep": r"\s+" if source.delimiter == " " else source.delimiter, "dtype": {} if ids is None else {ids: str}}
    # What errors and warnings (of mixed columns) are about is said after another look.
    with suppress(ValueError), warnings.catch_warnings(), source.open() as file:
        warnings.simplefilter("ignore")
        own["float_precision"] = "round_trip" if file.seek(0, io.SEEK_END) < EXACT else None
        file.seek(0)
        frame = pd.read_csv(file, skiprows=table.skipped, decimal=certain or ".", **own, **PLAIN)
        last = frame.columns[-1]
        # Too few cells are filled up with empty ones, and blank lines are left out.
        if len(frame.columns) == width > 1 and not (frame[[last if ids is None else ids, last]] == "").any(axis=None):
            kinds = {frame[i].dtype.kind for i in kept}
            is_doubtful = certain is None and "f" in kinds
            if kinds <= {*"biuf"} and not is_doubtful and all(np.isfinite(frame[i]).all() for i in kept):
                return frame, certain or "."
    return None


def _read_texts(table: Table, kept: list[int]) -> "tuple[pd.DataFrame, str | None]":
    """Return the cells of a CSV or TSV file as they are written, and its decimal mark."""
    frame = read_texts(table)
    return frame, table.source.decimal or find_decimal(chain(*(frame[i] for i in kept)), table.source.delimiter)
