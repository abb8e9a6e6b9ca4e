"""Samples of a file: a matrix of finite numbers, or one sentence that says which cell is none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.io.arrays import Matrix, is_sample_array, read_array
from kernelbraid.io.columns import IMPUTER, Table, open_table, read_columns, read_frame
from kernelbraid.io.dialect import GROUPED, TRUTHS, decimal_mark, is_number
from kernelbraid.io.sources import ARRAY_FILES, DataError, FilePath, Form, open_source

if TYPE_CHECKING:
    import pandas as pd


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
    table = open_table(source, header)
    id_index, kept = table.choose(id_column, drop, keep)
    names = [table.names[i] for i in kept] if table.has_header else None
    if source.suffix == ".parquet":
        ids = None if id_index is None else read_ids(table, id_index, read_columns(table, [id_index])[0])
        X = typed_numbers(table, kept, read_columns(table, kept))
        return Samples(check_finite(source.path, X, table=table, kept=kept), ids, names)
    X, frame, decimal = _read_numbers(table, kept, {} if id_index is None else {id_index: str})
    ids = None if id_index is None else read_ids(table, id_index, frame[id_index])
    return Samples(X, ids, names, table.has_header, replace(table.source.form, suffix=source.suffix, decimal=decimal))


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


def check_matrix(path: Path, X: Matrix) -> Matrix:
    """Return an array as finite floating-point samples, or say what is wrong with it."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: the array is of type {X.dtype}; save real numbers.")
    if X.ndim not in (2, 3) or 0 in X.shape:
        raise DataError(f"{path}: the array has shape {X.shape}; give one row per sample, one column per feature.")
    X = check_finite(path, X.astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False))
    return X if sparse.issparse(X) else np.ascontiguousarray(X)


def check_finite(
    path: Path, X: Matrix, first: int = 0, *, gaps: bool = False, table: Table | None = None, kept: Sequence[int] = ()
) -> Matrix:
    """Return samples, of which the first has a number, or name a value that is not finite; gaps are rows of NaN."""
    if np.isfinite(X.data if sparse.issparse(X) else X).all():
        return X
    if sparse.issparse(X):
        raise DataError(f"{path}: the sparse matrix has NaN or infinity in it; remove or fill these entries.")
    bad = ~np.isfinite(X)
    if gaps:
        bad[np.isnan(X).all(axis=1)] = False
    for at in np.argwhere(bad)[:1]:
        row, *rest = (int(i) for i in at)
        if table is not None:
            raise table.cell_error(kept[rest[0]], first + row, str(X[tuple(at)]))
        place = ", ".join(str(i + 1) for i in (first + row, *rest))
        raise DataError(
            f"{path}: the value at position ({place}), counted from 1, is {X[tuple(at)]}; remove it or fill it "
            f"({IMPUTER})."
        )
    return X


def read_ids(table: Table, column: int, values: "pd.Series") -> list[str]:
    """Return the names of samples as they are written, leading zeros and all; each must be there."""
    ids = ["" if value is None else str(value).strip() for value in values]
    if "" in ids:
        raise table.cell_error(column, ids.index(""), "")
    return ids


def typed_numbers(table: Table, kept: Sequence[int], columns: "Sequence[pd.Series]") -> Host:
    """Return columns of a Parquet file as a matrix, or name a cell that is no number."""
    for i, column in zip(kept, columns, strict=True):
        known = column.dropna()
        if column.dtype.kind not in "biuf" and not all(hasattr(value, "__float__") or value is True for value in known):
            raise table.cell_error(i, int(known.index[0]), str(known.iloc[0]))
    single = all(column.dtype == np.float32 for column in columns)
    return np.column_stack([column.to_numpy(np.float32 if single else np.float64) for column in columns])


def _read_numbers(table: Table, kept: list[int], dtype: dict[int, type]) -> "tuple[Host, pd.DataFrame, str]":
    """Return the numbers of a CSV or TSV file, its columns, and the decimal mark.

    Pandas reads the numbers if the first rows say beyond doubt how they are written; what it does not take for numbers
    is looked at cell by cell.
    """
    form = table.source.form
    sure = {
        mark for row in table.head for i in kept if (mark := decimal_mark(row[i])) and not GROUPED.fullmatch(row[i])
    }
    decimal = form.decimal or ("," if sure == {","} else ".")
    frame = read_frame(table, dtype=dtype, decimal=decimal)
    kinds = {frame[i].dtype.kind for i in kept}
    # Of a country where points may separate thousands; no cell tells that these do not.
    is_suspect = form.delimiter == ";" and form.decimal is None and not sure and "f" in kinds
    if kinds <= set("biuf") and not is_suspect:
        X = np.ascontiguousarray(frame[kept].to_numpy(np.float64))
        if np.isfinite(X).all():
            return X, frame, decimal
    texts = read_frame(table, dtype=str)[kept].apply(lambda column: column.str.strip())
    decimal = _find_decimal(table, texts)
    return np.column_stack([_numbers(table, i, texts[i].tolist(), decimal) for i in kept]), frame, decimal


def _find_decimal(table: Table, texts: "pd.DataFrame") -> str:
    """Return what stands before decimals; nothing is guessed, what could be read in two ways is refused."""
    form = table.source.form
    first: dict[str, str] = {}  # by mark: the first cell with it, in words
    sure = {"."} if form.delimiter != ";" else set()  # marks that cannot separate thousands
    for i, column in texts.items():
        for row, cell in enumerate(column):
            if mark := decimal_mark(cell):
                first.setdefault(mark, f"{cell!r} in row {table.number(row)} of {table.describe(i)}")
                sure |= set() if GROUPED.fullmatch(cell) else {mark}
    if not first.keys() <= ({form.decimal} if form.decimal else sure) or len(first) > 1:
        header = "" if table.has_header else ", or that row 1 names the columns (--header)"
        raise table.error(
            f"{' and '.join(first.values())} may have decimals or thousands behind the mark; write all numbers in one "
            f"way, without thousands, and say what stands before decimals (--decimal , or --decimal .){header}."
        )
    return form.decimal or ("," if "," in first else ".")


def _numbers(table: Table, column: int, cells: Sequence[str], decimal: str) -> list[float]:
    """Return a column as numbers, 1 and 0 if all of its cells are true or false."""
    truths = [cell.lower() in TRUTHS for cell in cells]
    texts = [cell.replace(",", ".") if decimal_mark(cell) == decimal else cell for cell in cells]
    for row, (text, is_truth) in enumerate(zip(texts, truths, strict=True)):
        if is_truth != truths[0] or not (is_truth or (is_number(text) and np.isfinite(float(text)))):
            raise table.cell_error(column, row, cells[row])
    return [TRUTHS[text.lower()] if truths[0] else float(text) for text in texts]
