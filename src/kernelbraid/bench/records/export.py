"""Records as Parquet files: small enough to be kept beside the code, and readable by any data frame library."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelbraid._system import write_whole
from kernelbraid.bench.records.record import Json, Record, Trial, to_json
from kernelbraid.bench.records.store import StoreError

# Columns that hold tables of their own, as JSON.
NESTED = ("parameters", "changes", "keep", "scores", "deviations", "label_free", "learned", "kept", "tuned")


def write_records(records: Sequence[Record], path: Path | str) -> Path:
    """Write records, one row each, in the order of their keys; the file appears when it is complete."""
    arrow, parquet = _libraries()
    rows = [_row(record) for record in sorted(records, key=lambda record: record.trial.key)]
    path = Path(path)
    try:
        with write_whole(path, "wb") as file:
            parquet.write_table(arrow.Table.from_pylist(rows), file, compression="zstd", compression_level=19)
    except OSError as error:
        raise StoreError(f"{path} could not be written ({error.strerror or error}).") from None
    return path


def read_records(path: Path | str) -> list[Record]:
    """Read what `write_records` wrote."""
    arrow, parquet = _libraries()
    try:
        rows = parquet.read_table(path).to_pylist()
        return [_record(row) for row in rows]
    except (OSError, arrow.ArrowInvalid, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise StoreError(f"{path} holds no records ({reason}); give a file of kernelbraid bench export.") from None


def _row(record: Record) -> dict[str, Json]:
    content = asdict(record)
    row = {**content.pop("trial"), **content}
    return {name: to_json(value) if name in NESTED else value for name, value in row.items()}


def _record(row: dict[str, Any]) -> Record:
    values = {name: json.loads(value) if name in NESTED else value for name, value in row.items()}
    # A file may be older than some of the columns.
    trial = {name: values.pop(name) for name in Trial.__dataclass_fields__ if name in values}
    return Record(Trial(**trial), **values)


def _libraries() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise StoreError("Parquet files need pyarrow; install kernelbraid[io].") from None
    return pyarrow, parquet
