"""Parquet files, through pyarrow: the columns that are asked for, in batches, once their size is known to fit."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from kernelbraid._system import install
from kernelbraid._typing import Host
from kernelbraid.files.columns import Columns
from kernelbraid.files.errors import DataError
from kernelbraid.files.memory import OBJECT, check_room
from kernelbraid.files.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS = 50_000  # of a batch, fewer of wide tables
VALUES = 2**23  # of a batch


@contextmanager
def open_file(source: Source, texts: Sequence[str] = ()) -> Iterator["pq.ParquetFile"]:
    """Open a file with pyarrow, or say that it is none of Parquet; of columns of text each text is kept once."""
    path = source.path
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(f"{path}: Parquet needs pyarrow; {install('io')}.") from None
    content = path if source.content is None else pa.BufferReader(source.content)
    try:
        with pq.ParquetFile(content, read_dictionary=list(texts), page_checksum_verification=True) as file:
            yield file
    except pa.ArrowMemoryError:
        raise DataError(
            f"{path}: its columns do not fit into memory, or the file is damaged; save only what is needed."
        ) from None
    except (DataError, MemoryError):
        raise
    except Exception:  # whatever a damaged file makes it stumble over; its messages run over several lines
        raise DataError(f"{path}: this is not a readable Parquet file; write it again.") from None


def _describe(file: "pq.ParquetFile", source: Source) -> tuple[Columns, tuple[int, ...]]:
    """Return the columns of a file, and the rows of its groups; an index that pandas stored holds the ids."""
    schema, metadata = file.schema_arrow, file.metadata
    groups = tuple(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
    if not metadata.num_rows or not schema.names:
        raise DataError(f"{source.path}: the file is empty; give at least one row of numbers.")
    if min(groups, default=0) < 0 or sum(groups) != metadata.num_rows:
        raise ValueError("the groups have another number of rows than the file")
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [schema.names.index(name) for name in stored if name in schema.names]
    columns = Columns(source.path, list(schema.names), True, id_index=index[0] if len(index) == 1 else None)
    return columns, groups


def read_columns(source: Source) -> Columns:
    """Return the columns of a file."""
    with open_file(source) as file:
        return _describe(file, source)[0]


def is_text(source: Source, index: int) -> bool:
    """Return whether a column holds texts."""
    import pyarrow as pa

    with open_file(source) as file:
        kind = file.schema_arrow.field(index).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


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
    source: Source, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None = None
) -> Layout:
    """Return the layout of a file without its data; the ids are read."""
    with open_file(source) as file:
        schema = file.schema_arrow
        columns, groups = _describe(file, source)
        columns = columns.choose(id_column, drop, keep)
        for i in columns.kept:
            if not _is_numeric(schema.field(i).type):
                raise _no_numbers(file, columns, i)
        single = all(str(schema.field(i).type) == "float" for i in columns.kept)
    ids = None
    if columns.id_index is not None:
        ids = read_ids(read_chosen(source, columns, [columns.id_index])[0], columns, columns.id_index)
    return Layout(columns, np.dtype(np.float32 if single else np.float64), groups, ids)


def check_names(columns: Columns) -> None:
    """Refuse data columns of the same name, which cannot be told apart where blocks are read by name."""
    for i in columns.kept:
        if columns.names.count(columns.names[i]) > 1:
            raise DataError(
                f"{columns.path}: several columns are called {columns.names[i]!r}, and blocks are read by name; "
                "rename one."
            )


def read_group(source: Source, names: list[str], dtype: DTypeLike, number: int) -> Host:
    """Return the data of a group of rows; what is missing becomes NaN."""
    with open_file(source) as file:
        size = file.metadata.row_group(number).num_rows * len(names)
        check_room(source.path, f"group {number + 1} of the rows", 16 * size, "write smaller groups")
        return _matrix(file.read_row_group(number, columns=names), names, dtype)


def read_batches(source: Source, names: list[str], dtype: DTypeLike, rows: int) -> Iterator[Host]:
    """Yield the data in batches of at most so many rows; what is missing becomes NaN."""
    with open_file(source) as file:
        for batch in file.iter_batches(batch_size=rows, columns=names):
            yield _matrix(batch, names, dtype)


def _matrix(table: "pa.Table", names: list[str], dtype: DTypeLike) -> Host:
    return np.column_stack([_floats(table.column(name)).astype(dtype, copy=False) for name in names])


def _floats(column: Any) -> Host:
    import pyarrow as pa

    return (column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column).to_numpy(zero_copy_only=False)


def read_matrix(
    source: Source, id_column: str | int | None, drop: Iterable[str | int], keep: Iterable[str] | None = None
) -> tuple[Host, Columns, list[str] | None]:
    """Return the data columns as a matrix, the columns, and the ids."""
    layout = read_layout(source, id_column, drop, keep)
    columns, names = layout.columns, layout.names
    shape, itemsize = (sum(layout.groups), len(names)), np.dtype(layout.dtype).itemsize
    n_bytes = shape[0] * shape[1] * (itemsize + 2)  # itself, and masks
    check_room(source.path, f"a table of {shape[0]} x {shape[1]} numbers", n_bytes, "save a part of it")
    rows = max(1, min(ROWS, VALUES // len(names)))
    unique = all(columns.names.count(name) == 1 for name in names)
    with open_file(source) as file:
        X = np.empty(shape, layout.dtype)
        at = 0
        for batch in file.iter_batches(batch_size=rows, columns=names if unique else None):
            for j, column in enumerate(names if unique else columns.kept):
                X[at : at + batch.num_rows, j] = _floats(batch.column(column))
            at += batch.num_rows
        if at != len(X):
            raise ValueError("there are fewer rows than the file says")
    for i, j in np.argwhere(~np.isfinite(X))[:1]:
        raise columns.cell_error(columns.kept[j], int(i) + 1, X[i, j])
    return X, columns, layout.ids


def read_chosen(source: Source, columns: Columns, chosen: Sequence[int]) -> list["pa.ChunkedArray"]:
    """Return some columns of ids or labels."""
    import pyarrow as pa

    names = [columns.names[i] for i in chosen]
    unique = all(columns.names.count(name) == 1 for name in names)
    with open_file(source) as file:
        kinds = [file.schema_arrow.field(i).type for i in chosen]
    for i, kind in zip(chosen, kinds, strict=True):
        if pa.types.is_nested(kind):
            raise DataError(f"{source.path}: {columns.describe(i)} holds values of the type {kind}; use text.")
    with open_file(source, names) as file:
        n_bytes = file.metadata.num_rows * len(chosen) * OBJECT
        check_room(source.path, f"{file.metadata.num_rows} names of samples or classes", n_bytes, "save a part of it")
        table = file.read(columns=names if unique else None)
        found = [table.column(name) for name in names] if unique else [table.column(i) for i in chosen]
        for column in found:
            if len(column) != file.metadata.num_rows:
                raise ValueError("there are fewer rows than the file says")
            column.validate(full=True)  # a number of a text beyond all texts would be read from memory
        return found


def read_values(column: "pa.ChunkedArray") -> list[Any]:
    """Return a column as a list, in which equal texts are one object."""
    values: list[Any] = []
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            words = chunk.dictionary.to_pylist()
            values += [None if number is None else words[number] for number in chunk.indices.to_pylist()]
        else:
            values += chunk.to_pylist()
    return values


def read_ids(column: "pa.ChunkedArray", columns: Columns, index: int) -> list[str]:
    """Return one column as text."""
    values = read_values(column)
    if None in values:
        raise columns.cell_error(index, values.index(None) + 1, None)
    return [value if isinstance(value, str) else str(value) for value in values]


def _no_numbers(file: "pq.ParquetFile", columns: Columns, index: int) -> DataError:
    """Return the error for a column that is not of numbers, with its first value."""
    import pyarrow as pa

    name, kind = columns.names[index], file.schema_arrow.field(index).type
    if pa.types.is_nested(kind) or columns.names.count(name) > 1:
        return columns.cell_error(index, 1, str(kind))
    row = 0
    for batch in file.iter_batches(batch_size=1000, columns=[name]):
        for value in batch.column(name).to_pylist():
            row += 1
            if value is not None:
                return columns.cell_error(index, row, value)
    return columns.cell_error(index, 1, None)


def _is_numeric(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(is_kind(kind) for is_kind in known)
