"""What a command reads: files, and standard input, which is called ``-``."""

from collections.abc import Sequence
from pathlib import Path

import typer

from kernelbraid.files.sources import SUFFIXES, FilePath, Form, Source, names_content, open_source, read_stdin

#: How standard input and standard output are given.
STANDARD = Path("-")


def form_of(
    paths: Sequence[Path], *, suffix: str | None = None, delimiter: str | None = None, decimal: str | None = None
) -> Form:
    """Return what options say of files, or refuse what cannot be meant.

    Parameters
    ----------
    paths : sequence of Path
        The files of the command.
    suffix : str or None, default=None
        What those hold whose names do not tell it.
    delimiter, decimal : str or None, default=None
        As for :class:`kernelbraid.files.sources.Form`.
    """
    if list(paths).count(STANDARD) > 1:
        raise typer.BadParameter("- stands for standard input, which can be read once; give one -, and files.")
    if suffix is not None and all(path != STANDARD and names_content(path) for path in paths):
        raise typer.BadParameter(
            f"it is for standard input and for files that end in none of {', '.join(SUFFIXES)}, and there are none; "
            "leave it out, or rename the file.",
            param_hint="'--format'",
        )
    return Form(suffix, delimiter, decimal)


def open_inputs(paths: Sequence[FilePath], form: Form | None = None) -> list[Source]:
    """Open files, and take what comes through standard input."""
    return [read_stdin(form) if path == STANDARD else open_source(path, form) for path in paths]


def files_among(paths: Sequence[Path]) -> list[Path]:
    """Return the paths that are files."""
    return [path for path in paths if path != STANDARD]
