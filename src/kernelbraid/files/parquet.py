"""Parquet files, through pyarrow."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid._typing import Host
from kernelbraid.files.columns import Columns
from kernelbraid.files.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


@contextmanager
def open_file(path: Path) -> Iterator["pq.ParquetFile"]:
    """Open a file with pyarrow, or say that it is none of Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(f'{path}: Parquet needs pyarrow; install it with pip install "kernelbraid[io]".') from None
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError):  # its messages run over several lines
        raise DataError(f"{path}: this is not a readable Parquet file; write it again.") from None


def read_table(path: Path) -> "pa.Table":
    """Return the file as a pyarrow table."""
    with open_file(path) as file:
        table = file.read()
    if not table.num_rows or not table.num_columns:
        raise _empty(path)
    return table


def _empty(path: Path) -> DataError:
    return DataError(f"{path}: the file is empty; give at least one row of numbers.")


def read_columns(schema: "pa.Schema", path: Path) -> Columns:
    """Return the columns of a table; an index that pandas stored with it holds the ids."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [schema.names.index(name) for name in stored if name in schema.names]
    return Columns(path, list(schema.names), True, id_index=index[0] if len(index) == 1 else None)


@dataclass(frozen=True)
class Layout:
    """What a file says about itself: its columns, those of them that are data, and the rows of its groups."""

    columns: Columns
    dtype: DTypeLike  # of the data as a matrix
    groups: tuple[int, ...]
    ids: list[str] | None

    @property
    def names(self) -> list[str]:
        """Names of the data columns."""
        return [self.columns.names[i] for i in self.columns.kept]


def read_layout(
    path: Path, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None = None
) -> Layout:
    """Return the layout of a file without its data; the ids are read."""
    with open_file(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        if not metadata.num_rows or not schema.names:
            raise _empty(path)
        columns = read_columns(schema, path).choose(id_column, drop, keep)
        for i in columns.kept:
            if schema.names.count(columns.names[i]) > 1:
                raise DataError(
                    f"{path}: several columns are called {columns.names[i]!r}, and blocks are read by name; rename one."
                )
            if not _is_numeric(schema.field(i).type):
                first = file.read_row_group(0, columns=[columns.names[i]]).column(0)
                _numbers(first, columns, i)  # says what is wrong
        ids = None
        if columns.id_index is not None:
            ids = read_ids(file.read(columns=[columns.names[columns.id_index]]).column(0), columns, columns.id_index)
        groups = tuple(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
        single = all(str(schema.field(i).type) == "float" for i in columns.kept)
        return Layout(columns, np.dtype(np.float32 if single else np.float64), groups, ids)


def read_group(path: Path, names: list[str], dtype: DTypeLike, number: int) -> Host:
    """Return the data of a group of rows; what is missing becomes NaN."""
    with open_file(path) as file:
        return _matrix(file.read_row_group(number, columns=names), names, dtype)


def read_batches(path: Path, names: list[str], dtype: DTypeLike, rows: int) -> Iterator[Host]:
    """Yield the data in batches of at most so many rows; what is missing becomes NaN."""
    with open_file(path) as file:
        for batch in file.iter_batches(batch_size=rows, columns=names):
            yield _matrix(batch, names, dtype)


def _matrix(table: "pa.Table", names: list[str], dtype: DTypeLike) -> Host:
    return np.column_stack([table.column(name).to_numpy(zero_copy_only=False).astype(dtype) for name in names])


def read_matrix(
    path: Path, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None = None
) -> tuple[Host, Columns, list[str] | None]:
    """Return the data columns as a matrix, the columns, and the ids."""
    table = read_table(path)
    columns = read_columns(table.schema, path).choose(id_column, drop, keep)
    ids = None if columns.id_index is None else read_ids(table.column(columns.id_index), columns, columns.id_index)
    X = np.column_stack([_numbers(table.column(i), columns, i) for i in columns.kept])
    for i, j in np.argwhere(~np.isfinite(X))[:1]:
        raise columns.cell_error(columns.kept[j], int(i) + 1, X[i, j])
    return X, columns, ids


def read_ids(column: "pa.ChunkedArray", columns: Columns, index: int) -> list[str]:
    """Return one column as text."""
    values = column.to_pylist()
    if None in values:
        raise columns.cell_error(index, values.index(None) + 1, None)
    return [str(value) for value in values]


def _numbers(column: "pa.ChunkedArray", columns: Columns, index: int) -> Host:
    """Return one column as floating-point numbers."""
    if not _is_numeric(column.type):
        values = column.to_pylist()
        row = next((i for i, value in enumerate(values) if value is not None), 0)
        raise columns.cell_error(index, row + 1, values[row])
    if column.null_count:
        raise columns.cell_error(index, column.to_pylist().index(None) + 1, None)
    values = column.to_numpy()
    return values if values.dtype == np.float32 else values.astype(np.float64)


def _is_numeric(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(is_kind(kind) for is_kind in known)
