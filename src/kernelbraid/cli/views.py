"""The files of a command as views of the same samples, read at once or opened to be read in blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import typer

from kernelbraid import align_views
from kernelbraid.datasets import DataError, column_names, open_stream, read_samples
from kernelbraid.io.sources import Source, open_source

SAME_ORDER = "give the same samples in the same order"
MARKS = {"point": ".", "comma": ","}
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "pipe": "|"}


@dataclass(frozen=True)
class FileViews:
    """The data of all files, ready for a fit."""

    data: list[Any]  # of each file: a matrix, kernels, or a stream
    ids: list[str] | None
    called: list[str]  # the files
    columns: list[Sequence[str] | None]  # names of the features of each view, where a file has them
    headers: dict[str, bool]  # by file: whether the first row of a CSV or TSV is one
    tables: dict[str, dict[str, str]]  # by file: how a CSV or TSV is written
    on_pairs: bool  # kernels, or graphs

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return shape_of(self.data[0])[-2]

    @property
    def n_features(self) -> int | None:
        """Number of features over all views; None for kernels."""
        return None if self.on_pairs else sum(shape_of(view)[-1] for view in self.data)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, view by view, if all files have them."""
        known = [names for names in self.columns if names is not None]
        return list(chain.from_iterable(known)) if len(known) == len(self.columns) and not self.on_pairs else None

    @property
    def frames(self) -> list[Any]:
        """The views as data frames, if all files have names of features: the library calls features by them."""
        is_dense = all(isinstance(view, np.ndarray) for view in self.data)
        if self.names is None or len(set(self.names)) < len(self.names) or not is_dense:
            return self.data
        return [pd.DataFrame(X, columns=names) for X, names in zip(self.data, self.columns, strict=True)]


def shape_of(view: Any) -> tuple[int, ...]:
    """Return the numbers of samples and features; kernels with fitted samples have these as columns."""
    return tuple(view.shape) if hasattr(view, "shape") else (view.n_samples, view.n_features)


def open_files(paths: Sequence[Path], options: SimpleNamespace) -> list[Source]:
    """Open files, and take what comes through standard input."""
    between = DELIMITERS.get(options.delimiter, options.delimiter)
    if between is not None and (len(between) != 1 or between.isalnum()):
        reason = f"{between!r} cannot stand between cells; give a sign, or one of {', '.join(DELIMITERS)}."
        raise typer.BadParameter(reason, param_hint="'--delimiter'")
    decimal = MARKS.get(getattr(options, "decimal", None) or "")
    held = options.format and f".{options.format}"
    return [open_source(path, held=held, delimiter=between, decimal=decimal) for path in paths]


def read_views(
    paths: Sequence[Path],
    options: SimpleNamespace,
    *,
    keep: Sequence[str] | None = None,
    on_pairs: bool = False,
    in_blocks: bool = False,
) -> FileViews:
    """Read the files as views of the same samples, as kernels over them, or open them to be read in blocks.

    Views that all have the column of ids are matched by it: a sample that a file does not have is a row of NaN there.
    """
    sources = open_files(paths, options)
    called = names_of([source.path for source in sources])
    choices = _columns_by_file(sources, options)
    more: dict[str, Any] = {"key": options.key, "keep": keep, "header": options.header}
    read: Any = read_samples
    if in_blocks:
        read, more = open_stream, {**more, "gaps": len(sources) > 1}
    files = [read(source, **choice, **more) for source, choice in zip(sources, choices, strict=True)]
    data, ids = [file if in_blocks else file.X for file in files], [file.ids for file in files]
    if len(files) > 1 and not (on_pairs or in_blocks) and all(choice["id_column"] is not None for choice in choices):
        frames, index = align_views([pd.DataFrame(X, index=own) for X, own in zip(data, ids, strict=True)])
        data = [frame.to_numpy() for frame in frames]
        known: list[str] | None = list(index)
    else:
        matched = "" if on_pairs or in_blocks else ", or name a column of ids that all files have (--id COLUMN)"
        known = _agreed_ids(called, data, ids, f"{SAME_ORDER}{matched}")
    named = dict(zip(called, files, strict=True))
    headers = {name: file.header for name, file in named.items() if file.header is not None}
    forms = {name: file.form for name, file in named.items() if file.form is not None}
    tables = {name: {"delimiter": form.delimiter, "decimal": form.decimal} for name, form in forms.items()}
    return FileViews(data, known, called, [file.feature_names for file in files], headers, tables, on_pairs)


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return what files are called: their names if these differ, with their folders otherwise."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else list(map(str, paths))


def _columns_by_file(sources: Sequence[Source], options: SimpleNamespace) -> list[dict[str, Any]]:
    """Return id column and columns to drop for each file; among several files a column need not be in all."""
    drop, ids = options.drop or [], options.id
    if len(sources) == 1 or not (drop or ids):
        return [{"id_column": ids, "drop": drop} for _ in sources]
    known = [column_names(source, header=options.header) for source in sources]
    for name in [*drop, *([ids] if ids else [])]:
        if not any(name in names for names in known):
            raise DataError(f"no file has a column {name!r}; with several files give columns by name.")
    return [
        {"id_column": ids if ids in names else None, "drop": [name for name in drop if name in names]}
        for names in known
    ]


def _agreed_ids(
    called: Sequence[str], data: Sequence[Any], ids: Sequence[list[str] | None], remedy: str
) -> list[str] | None:
    """Return the ids of the samples, which must be as many everywhere, and the same wherever they have ids."""
    n_samples, known, first = shape_of(data[0])[-2], None, called[0]
    for file, view, names in zip(called, data, ids, strict=True):
        if (count := shape_of(view)[-2]) != n_samples:
            raise DataError(f"{file}: {count} samples, but {called[0]} has {n_samples}; {remedy}.")
        if known is None:
            known, first = names, file
        for row, (mine, other) in enumerate(zip(names or (), known or (), strict=names is not None), 1):
            if mine != other:
                raise DataError(f"{file}: sample {row} has the id {mine!r}, but {other!r} in {first}; {remedy}.")
    return known


def sort_columns(views: FileViews, names: Sequence[str]) -> None:
    """Put the columns of several views in the order of the names that a model knows."""
    for number, (file, columns) in enumerate(zip(views.called, views.columns, strict=True)):
        own = list(columns or ())
        wanted, names = names[: len(own)], names[len(own) :]
        if sorted(own) != sorted(wanted) or not isinstance(views.data[number], np.ndarray):
            strange = ", ".join(sorted({*own} - {*wanted})) or "in another order"
            raise DataError(
                f"{file}: the columns are not those of the fit ({strange}); give files and columns as there."
            )
        views.data[number] = views.data[number][:, [own.index(name) for name in wanted]]


def headers_in_words(headers: Mapping[str, bool]) -> str | None:
    """Return what was decided about first rows; None where there was nothing to decide."""
    words = {True: "row 1 names the columns", False: "none, row 1 is a sample"}
    return _by_file({name: words[has] for name, has in headers.items()})


def tables_in_words(tables: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return how tables are written, where that is not as most are."""
    words = {sign: f"{word}s between cells" for word, sign in DELIMITERS.items() if sign not in ",\t"}
    marks = {",": "decimal commas"}
    told = {name: (words.get(table["delimiter"]), marks.get(table["decimal"])) for name, table in tables.items()}
    return _by_file({name: ", ".join(filter(None, parts)) for name, parts in told.items()})


def _by_file(told: Mapping[str, str]) -> str | None:
    """Return what is told of every file, once if it is the same of all."""
    if len(set(told.values())) > 1:
        return "; ".join(f"{name}: {words}" for name, words in told.items() if words)
    return next(iter(told.values()), None) or None
