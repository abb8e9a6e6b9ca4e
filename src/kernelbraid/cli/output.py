"""What the commands print and write: tables, JSON, warnings, and files that are whole or not there."""

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
import typer

from kernelbraid import _system
from kernelbraid.cli.ending import Failure, one_line

STANDARD = Path("-")  # how standard input and standard output are given
SEPARATORS = {"": ",", ".csv": ",", ".tsv": "\t", ".tab": "\t"}  # by the ending of a file of labels
PACKED, PARQUET = ".gz", ".parquet"


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object, a line per entry: arrays as lists, and a kernel by its name."""

    def plain(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else getattr(value, "name", str(value))

    lines = [
        f"  {json.dumps(name)}: {json.dumps(one, ensure_ascii=False, default=plain)}" for name, one in content.items()
    ]
    typer.echo("{\n" + ",\n".join(lines) + "\n}")


def print_table(rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), numbers: Iterable[int] = ()) -> None:
    """Print rows of cells in columns; those in `numbers` are aligned to the right."""
    cells, numbers = [*([header] if header else []), *rows], set(numbers)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        places = [cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i]) for i, cell in enumerate(row)]
        typer.echo("  ".join(places).rstrip())


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect what the library has to say as single lines, instead of Python's warning dumps."""
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)  # for programmers, not for users
        yield lines
        lines.extend(dict.fromkeys(one_line(warning.message) for warning in caught))


def print_warnings(lines: Iterable[str]) -> None:
    """Print one line per warning on stderr."""
    for line in lines:
        typer.echo(f"Warning: {line}", err=True)


def check_outputs(options: SimpleNamespace, inputs: Sequence[Path]) -> None:
    """Refuse, before any work is done, files that labels and a model could not be written to."""
    out, save = options.out, getattr(options, "save", None)
    if out == STANDARD and options.json:
        reason = "the labels and the JSON object, which holds them, too, cannot both go there; leave out one."
        raise typer.BadParameter(reason, param_hint="'--out'")
    if save is not None:
        check_target(save, "'--save'", inputs if out is None else [*inputs, out])
    if out is None or out == STANDARD:
        return
    check_target(out, "'--out'", inputs)
    if out.suffix.lower() == PARQUET and find_spec("pyarrow") is None:
        raise Failure(f"{out}: Parquet needs pyarrow; choose a .csv file, or {_system.install('io')}.")
    if out.suffix.lower() != PARQUET and _ending(out) not in SEPARATORS:
        reason = f"labels are written as .csv, .tsv, .csv.gz or .parquet, not as {out.name!r}; choose another name."
        raise typer.BadParameter(reason, param_hint="'--out'")


def check_target(path: Path, option: str, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file that could not be written, or that is another one of the command."""
    folder, reason = path.parent, None
    if not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}; create it first."
    elif path.exists() and not path.is_file():
        reason = f"{str(path)!r} is {'a folder' if path.is_dir() else 'not a plain file'}; choose another name."
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"the folder {str(folder)!r} is not writable; choose another."
    elif path.resolve() in [source.resolve() for source in inputs]:
        reason = f"{str(path)!r} is another file of this command; choose another name."
    if reason is not None:
        raise typer.BadParameter(reason, param_hint=option)
    _system.remove_drafts(folder)


def _ending(path: Path) -> str:
    """Return the ending of a file; of a packed one, that before; one without promises nothing, and gets CSV."""
    return (Path(path.stem) if path.suffix.lower() == PACKED else path).suffix.lower()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """End the program with a sentence if a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path.resolve()} could not be written ({error.strerror or error}).") from None


@contextmanager
def write_whole(path: Path) -> Iterator[IO[Any]]:
    """Open a file for bytes that appears when it is complete; the program ends with a sentence if that fails."""
    with writing(path), _system.write_whole(path, "wb") as file:
        yield file


def write_labels(path: Path, labels: np.ndarray, ids: Sequence[str] | None, beside: Mapping[str, np.ndarray]) -> None:
    """Write labels: by id where there are ids, otherwise by number of the row from 0; numbers beside them."""
    import pandas as pd

    named = {"sample": range(len(labels))} if ids is None else {"id": ids}
    frame = pd.DataFrame({**named, "label": labels, **beside})
    as_text: dict[str, Any] = {"index": False, "float_format": "%.4f", "lineterminator": "\n"}
    if path == STANDARD:
        frame.to_csv(sys.stdout, **as_text)
        return
    with write_whole(path) as file:
        if path.suffix.lower() == PARQUET:
            frame.to_parquet(file, index=False)
        else:
            packed = {"method": "gzip", "mtime": 0} if path.suffix.lower() == PACKED else None
            frame.to_csv(file, sep=SEPARATORS[_ending(path)], compression=packed, **as_text)
