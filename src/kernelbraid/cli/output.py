"""What the commands print and write: tables, JSON, warnings, and files that are whole or not there."""

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sklearn.base import BaseEstimator

from kernelbraid import _system
from kernelbraid._messages import PYTHON, Wording, content_of, say
from kernelbraid.cli.failure import Failure, one_line
from kernelbraid.cli.inputs import STANDARD
from kernelbraid.io.models import save_model

BAR_WIDTH = 24  # characters of the longest bar
UNLIMITED = 10_000  # columns of a file or a pipe, which has no width to fit into


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object: a line per entry, and one per list of numbers or texts, which may be long."""
    typer.echo(as_json(content))


def as_json(value: Any, indent: str = "") -> str:
    """Return a value as JSON."""
    is_list = isinstance(value, list | tuple)
    entries = list(value.values()) if isinstance(value, Mapping) else value if is_list else []
    if not entries or (is_list and not any(isinstance(entry, Mapping | list | tuple) for entry in entries)):
        return json.dumps(value, ensure_ascii=False)
    deeper = f"{indent}  "
    lines = [f"{deeper}{as_json(entry, deeper)}" for entry in entries]
    if not is_list:
        lines = [
            f"{deeper}{json.dumps(str(name), ensure_ascii=False)}: {as_json(entry, deeper)}"
            for name, entry in value.items()
        ]
    left, right = "[]" if is_list else "{}"
    return "\n".join([left, ",\n".join(lines), f"{indent}{right}"])


def print_table(
    rows: Iterable[Iterable[str]],
    *,
    header: Iterable[str] | None = None,
    numbers: Iterable[int] = (),
    unbroken: Iterable[int] = (),
) -> None:
    """Print rows of cells in columns; those in `numbers` are aligned to the right, those in `unbroken` not wrapped."""
    numbers, unbroken = set(numbers), set(unbroken)
    cells = [list(row) for row in rows]
    names = list(header) if header is not None else [""] * len(cells[0])
    table = Table(show_header=header is not None, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(names):
        justify: Literal["left", "right"] = "right" if i in numbers else "left"
        table.add_column(Text(name, style="bold"), justify=justify, overflow="fold", no_wrap=i in unbroken)
    for row in cells:
        table.add_row(*map(Text, row))
    width = None if Console().is_terminal else UNLIMITED
    Console(highlight=False, width=width).print(table)


@contextmanager
def beside_labels(out: Path | None) -> Iterator[None]:
    """Print on stderr what is for people, if the labels go to standard output."""
    if out != STANDARD:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def bar(share: float) -> str:
    """Return a bar of a length between 0 and `BAR_WIDTH`."""
    mark = "█" if Console().encoding.lower().startswith("utf") else "#"
    return mark * max(1, round(BAR_WIDTH * share)) if share > 0 else ""


@contextmanager
def collect_warnings(wording: Wording = PYTHON) -> Iterator[list[str]]:
    """Collect what the library has to say as single lines in somebody's words, instead of Python's warning dumps."""
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)  # for programmers, not for users
        yield lines
        lines.extend(dict.fromkeys(one_line(_words(warning.message, wording)) for warning in caught))


def _words(warning: Warning | str, wording: Wording) -> str:
    return say(content_of(warning) if isinstance(warning, Warning) else warning, wording)


def print_warnings(lines: Iterable[str]) -> None:
    """Print one line per warning on stderr."""
    for line in lines:
        typer.echo(f"Warning: {line}", err=True)


def check_target(path: Path, option: str, inputs: Iterable[Path] = (), others: Iterable[Path | None] = ()) -> None:
    """Refuse, before any work is done, an output file that could not be written, or is that of another option."""
    folder = path.parent
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {str(folder)!r}; create it first.", param_hint=option)
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder; give a file name.", param_hint=option)
    if path.exists() and not path.is_file():
        raise typer.BadParameter(f"{str(path)!r} is not a plain file; choose another name.", param_hint=option)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise typer.BadParameter(f"the folder {str(folder)!r} is not writable; choose another.", param_hint=option)
    if any(path.exists() and path.samefile(source) for source in inputs):
        raise typer.BadParameter(f"{str(path)!r} is a data file; choose another name.", param_hint=option)
    if any(other is not None and path.resolve() == other.resolve() for other in others):
        raise typer.BadParameter(
            f"{str(path)!r} is also the file for the labels; choose another name.", param_hint=option
        )
    _system.remove_drafts(folder)


def check_folder(path: Path, option: str) -> None:
    """Refuse, before any work is done, an output folder that is not there and could not be made."""
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"{str(there)!r} is a file; give a folder.", param_hint=option)
    if not os.access(there, os.W_OK | os.X_OK):
        raise typer.BadParameter(f"the folder {str(there)!r} is not writable; choose another.", param_hint=option)


@contextmanager
def write_whole(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears when it is complete; the program ends with a sentence if that fails."""
    with _end_if_not_written(path), _system.write_whole(path, mode) as file:
        yield file


@contextmanager
def _end_if_not_written(path: Path) -> Iterator[None]:
    """End the program with a sentence if a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path.resolve()} could not be written ({error.strerror or error}).") from None


def write_model(path: Path, model: BaseEstimator, names: list[str] | None) -> None:
    """Write a fitted estimator, with the names of the features."""
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    with _end_if_not_written(path):
        save_model(model, path)
