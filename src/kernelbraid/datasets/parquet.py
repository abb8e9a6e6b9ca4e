"""Parquet files, through pyarrow."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbraid.datasets.columns import Columns
from kernelbraid.datasets.errors import DataError


def read_table(path: Path) -> Any:
    """Return the file as a pyarrow table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(f'{path}: Parquet needs pyarrow; install it with pip install "kernelbraid[io]".') from None
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError):  # its messages run over several lines
        raise DataError(f"{path}: this is not a readable Parquet file; write it again.") from None
    if not table.num_rows or not table.num_columns:
        raise DataError(f"{path}: the file is empty; give at least one row of numbers.")
    return table


def read_columns(table: Any, path: Path) -> Columns:
    """Return the columns of a table; an index that pandas stored with it holds the ids."""
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [table.column_names.index(name) for name in stored if name in table.column_names]
    return Columns(path, list(table.column_names), True, id_index=index[0] if len(index) == 1 else None)


def read_matrix(
    path: Path, id_column: str | int | None, drop: Iterable[str | int]
) -> tuple[NDArray[Any], Columns, list[str] | None]:
    """Return the data columns as a matrix, the columns, and the ids."""
    table = read_table(path)
    columns = read_columns(table, path).choose(id_column, drop)
    ids = None if columns.id_index is None else read_ids(table, columns, columns.id_index)
    X = np.column_stack([_numbers(table.column(i), columns, i) for i in columns.kept])
    for i, j in np.argwhere(~np.isfinite(X))[:1]:
        raise columns.cell_error(columns.kept[j], int(i) + 1, X[i, j])
    return X, columns, ids


def read_ids(table: Any, columns: Columns, index: int) -> list[str]:
    """Return one column as text."""
    values = table.column(index).to_pylist()
    if None in values:
        raise columns.cell_error(index, values.index(None) + 1, None)
    return [str(value) for value in values]


def _numbers(column: Any, columns: Columns, index: int) -> NDArray[Any]:
    """Return one column as floating-point numbers."""
    import pyarrow as pa

    kind = column.type
    is_numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not (is_numeric or pa.types.is_boolean(kind)):
        values = column.to_pylist()
        row = next((i for i, value in enumerate(values) if value is not None), 0)
        raise columns.cell_error(index, row + 1, values[row])
    if column.null_count:
        raise columns.cell_error(index, column.to_pylist().index(None) + 1, None)
    values = column.to_numpy()
    return values if values.dtype == np.float32 else values.astype(np.float64)
