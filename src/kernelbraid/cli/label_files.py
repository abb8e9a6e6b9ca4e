"""Labels as files: CSV, TSV or Parquet by the name of the file, packed or not, or CSV on standard output."""

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np
import typer

from kernelbraid._system import install
from kernelbraid.cli.failure import Failure
from kernelbraid.cli.inputs import STANDARD
from kernelbraid.cli.output import check_target, write_whole
from kernelbraid.files.sources import DELIMITERS, PACKED

PARQUET = ".parquet"


def check_label_file(path: Path, option: str, inputs: Iterable[Path] = ()) -> None:
    """Refuse, before any work is done, a file that labels could not be written to."""
    if path == STANDARD:
        return
    check_target(path, option, inputs)
    suffix = path.suffix.lower()
    is_packed = suffix == PACKED
    inner = Path(path.stem).suffix.lower() if is_packed else suffix
    # A name without an ending, such as that of a pipe, promises nothing, and CSV is what most programs read.
    if inner not in ("", *DELIMITERS, *([] if is_packed else [PARQUET])):
        raise typer.BadParameter(
            "labels are written as .csv, .tsv, .csv.gz or .parquet, not as "
            f"{inner}{PACKED if is_packed else ''}; choose another name.",
            param_hint=option,
        )
    if suffix == PARQUET and find_spec("pyarrow") is None:
        raise Failure(f"{path}: Parquet needs pyarrow; choose a .csv file, or {install('io')}.")


def write_labels(
    path: Path,
    labels: Sequence[int | str],
    ids: Iterable[str] | None = None,
    beside: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write labels: by id where there are ids, otherwise by number of the row from 0; numbers beside them."""
    columns: dict[str, Sequence[int | str]] = {
        "sample" if ids is None else "id": range(len(labels)) if ids is None else list(ids),
        "label": labels,
    }
    beside = beside or {}
    if path.suffix.lower() == PARQUET:
        _write_parquet(path, {**columns, **beside})
        return
    texts = {**columns, **{name: [f"{value:.4f}" for value in values] for name, values in beside.items()}}
    if path == STANDARD:
        _write_rows(sys.stdout, texts, ",")
    elif path.suffix.lower() == PACKED:
        suffix = Path(path.stem).suffix.lower()
        with (
            write_whole(path, "wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="") as file,
        ):
            _write_rows(file, texts, DELIMITERS.get(suffix, ","))
    else:
        with write_whole(path) as file:
            _write_rows(file, texts, DELIMITERS.get(path.suffix.lower(), ","))


def _write_rows(file: IO[str], columns: Mapping[str, Sequence[int | str]], delimiter: str) -> None:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def _write_parquet(path: Path, columns: Mapping[str, Sequence[int | str] | np.ndarray]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {name: values if isinstance(values, np.ndarray) else list(values) for name, values in columns.items()}
    )
    with write_whole(path, "wb") as file:
        pq.write_table(table, file)
