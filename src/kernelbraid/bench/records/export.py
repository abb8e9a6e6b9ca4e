"""Records as Parquet files: small enough to be kept beside the code, and readable by any data frame library."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelbraid._messages import install
from kernelbraid._system import write_whole
from kernelbraid.bench.records.checking import DamagedRecord, build_record, digest
from kernelbraid.bench.records.record import Json, Record, Trial, to_json
from kernelbraid.bench.records.store import StoreError

# Columns that hold tables of their own, as JSON.
NESTED = ("parameters", "changes", "keep", "scores", "deviations", "label_free", "learned", "kept", "tuned")
# Where the file says the checksum of all its rows: one of each would not compress.
CHECKSUM = b"kernelbraid checksum"
# And the titles of the experiments by name.
TITLES = b"kernelbraid titles"
REMEDY = "give a file of kernelbraid bench export, or a sound copy of it"


def write_records(records: Sequence[Record], path: Path | str, titles: Mapping[str, str] | None = None) -> Path:
    """Write records, one row each, in the order of their keys; the file appears when it is complete.

    The titles of their experiments go with them.
    """
    arrow, parquet = _libraries()
    table = arrow.Table.from_pylist([_row(record) for record in sorted(records, key=lambda record: record.trial.key)])
    table = table.replace_schema_metadata({CHECKSUM: _sum(table.to_pylist()), TITLES: to_json(titles or {})})
    path = Path(path)
    try:
        with write_whole(path, "wb") as file:
            parquet.write_table(table, file, compression="zstd", compression_level=19)
    except OSError as error:
        raise StoreError(f"{path} could not be written ({error.strerror or error}).") from None
    return path


def read_records(path: Path | str) -> list[Record]:
    """Read what `write_records` wrote, if it still is that; files of version 0.2.0 and before have no checksum."""
    arrow, parquet = _libraries()
    try:
        table = parquet.read_table(path)
        rows = table.to_pylist()
        known = (table.schema.metadata or {}).get(CHECKSUM)
    except (OSError, arrow.ArrowException, ValueError) as error:
        raise StoreError(f"{path} holds no records ({_one_line(error)}); {REMEDY}.") from None
    if known is not None and known != _sum(rows):
        raise StoreError(f"{path} is damaged: its checksum is another; {REMEDY}.")
    try:
        return [_record(row) for row in rows]
    except (DamagedRecord, KeyError) as error:
        raise StoreError(f"{path} holds no records ({_one_line(error)}); {REMEDY}.") from None


def read_titles(path: Path | str) -> dict[str, str]:
    """Return the titles of experiments that `write_records` was given."""
    arrow, parquet = _libraries()
    try:
        titles = json.loads((parquet.read_schema(path).metadata or {}).get(TITLES, b"{}"))
        return {str(name): str(title) for name, title in titles.items()}
    except (OSError, arrow.ArrowException, ValueError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path} holds no records ({_one_line(error)}); {REMEDY}.") from None


def _sum(rows: Sequence[dict[str, Any]]) -> bytes:
    return digest(*map(to_json, rows)).encode()


def _row(record: Record) -> dict[str, Json]:
    content = asdict(record)
    row = {**content.pop("trial"), **content}
    return {name: to_json(value) if name in NESTED else value for name, value in row.items()}


def _record(row: dict[str, Any]) -> Record:
    try:
        values = {name: json.loads(value) if name in NESTED else value for name, value in row.items()}
    except (TypeError, ValueError, RecursionError):
        raise DamagedRecord("a row is damaged") from None
    # A file may be older than some of the columns.
    trial = {name: values.pop(name) for name in Trial.__dataclass_fields__ if name in values}
    return build_record(trial, values)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _libraries() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise StoreError(f"Parquet files need pyarrow; {install('io')}.") from None
    return pyarrow, parquet
