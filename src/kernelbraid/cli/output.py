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
from typing import Any

import numpy as np
import typer

from kernelbraid import _machine
from kernelbraid._dask import DaskError
from kernelbraid.cli.ending import Failure, one_line

STANDARD = Path("-")  # how standard input and standard output are given
#: What stands between cells, by the ending of a file of labels; a name without one promises nothing, and gets CSV.
SEPARATORS = {"": ",", ".csv": ",", ".tsv": "\t", ".tab": "\t", ".parquet": ""}


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object: arrays as lists."""
    typer.echo(json.dumps(content, ensure_ascii=False, default=lambda array: array.tolist()))


def print_table(rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), numbers: Iterable[int] = ()) -> None:
    """Print rows of cells in columns; those in `numbers` are aligned to the right."""
    cells, numbers = [*([header] if header else []), *rows], set(numbers)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        places = [cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i]) for i, cell in enumerate(row)]
        typer.echo("  ".join(places).rstrip())


@contextmanager
def library_speaks() -> Iterator[list[str]]:
    """Collect warnings of the library as lines, and end the command with the sentence of what it cannot do."""
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # what is for programmers, not for users
        warnings.simplefilter("always", UserWarning)
        try:
            yield lines
        except (ValueError, MemoryError, DaskError) as error:
            told = str(error) or "the work does not fit into memory; give fewer samples or columns."  # of Python itself
            raise Failure(told) from None
        lines.extend(dict.fromkeys(one_line(warning.message) for warning in caught))


def print_warnings(lines: Iterable[str]) -> None:
    """Print one line per warning on stderr."""
    for line in lines:
        typer.echo(f"Warning: {line}", err=True)


def check_outputs(options: SimpleNamespace, inputs: Sequence[Path]) -> None:
    """Refuse, before any work is done, files that labels and a model could not be written to."""
    out, others = options.out, [*inputs]
    if out == STANDARD and options.json:
        reason = "the labels and the JSON object, which holds them, too, cannot both go there; leave out one."
        raise typer.BadParameter(reason, param_hint="'--out'")
    for name in ("out", "save", "report"):
        path = getattr(options, name, None)
        if path is not None and (name, path) != ("out", STANDARD):
            check_target(path, f"'--{name}'", others)
            others.append(path)
    if out is None or out == STANDARD:
        return
    ending, is_packed = ending_of(out)
    if ending not in SEPARATORS or (ending == ".parquet" and is_packed):
        reason = f"labels are written as .csv, .tsv, .csv.gz or .parquet, not as {out.name!r}; choose another name."
        raise typer.BadParameter(reason, param_hint="'--out'")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise Failure(f"{out}: Parquet needs pyarrow; choose a .csv file, or {_machine.install('io')}.")


def check_target(path: Path, option: str, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file that could not be written, or that is another one of the command."""
    folder = path.parent
    wrong = {
        f"there is no folder {str(folder)!r}; create it first.": not folder.is_dir(),
        f"{str(path)!r} is a folder or no plain file; choose another name.": path.exists() and not path.is_file(),
        f"the folder {str(folder)!r} is not writable; choose another.": not os.access(folder, os.W_OK | os.X_OK),
        f"{str(path)!r} is another file of this command; name another.": path.resolve() in map(Path.resolve, inputs),
    }
    for reason, is_wrong in wrong.items():
        if is_wrong:
            raise typer.BadParameter(reason, param_hint=option)


def ending_of(path: Path) -> tuple[str, bool]:
    """Return the ending of a file, and whether it is packed; of a packed one it is that before."""
    is_packed = path.suffix.lower() == ".gz"
    return (Path(path.stem) if is_packed else path).suffix.lower(), is_packed


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """End the program with a sentence if a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path.resolve()} could not be written ({error.strerror or error}).") from None


def write_labels(path: Path, labels: np.ndarray, ids: Sequence[str] | None, beside: Mapping[str, np.ndarray]) -> None:
    """Write labels: by id where there are ids, otherwise by number of the row from 0; numbers beside them."""
    import pandas as pd

    named = {"sample": range(len(labels))} if ids is None else {"id": ids}
    frame, (ending, is_packed) = pd.DataFrame({**named, "label": labels, **beside}), ending_of(path)
    as_text: dict[str, Any] = {"index": False, "float_format": "%.4f", "lineterminator": "\n"}
    if path == STANDARD:
        frame.to_csv(sys.stdout, **as_text)
        return
    with writing(path), _machine.write_whole(path, "wb") as file:
        if ending == ".parquet":
            frame.to_parquet(file, index=False)
        else:
            packed = {"method": "gzip", "mtime": 0} if is_packed else None
            frame.to_csv(file, sep=SEPARATORS[ending], compression=packed, **as_text)


def write_picture(path: Path, figure: Any) -> None:
    """Write a figure, whole or not at all, as the name of the file says."""
    from kernelbraid.plotting.axes import render

    with writing(path), _machine.write_whole(path, "wb") as file:
        file.write(render(figure, path.suffix.lower().removeprefix(".")))
