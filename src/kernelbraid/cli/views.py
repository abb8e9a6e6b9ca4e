"""The files of a command as views of the same samples, read at once or opened to be read in blocks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.cli.inputs import open_inputs
from kernelbraid.datasets import DataError, LabelFile, Samples, Stream, column_names, open_stream, read_samples
from kernelbraid.files.dialect import DELIMITER_NAMES
from kernelbraid.files.sources import DELIMITERS, PACKED, Form, Source

SAME_ORDER = "give the same samples in the same order"


@dataclass(frozen=True)
class FileViews:
    """The data of all files, ready for a fit."""

    data: Any  # one matrix, a list of views, kernels, or streams
    ids: list[str] | None
    n_samples: int
    n_features: int | None  # over all views; None for kernels
    files: tuple[str, ...] = ()  # one for each view
    headers: dict[str, bool] = field(default_factory=dict)  # by file: whether the first row of a CSV or TSV is one
    columns: tuple[Sequence[str] | None, ...] = ()  # names of the features of each view, where a file has them
    tables: dict[str, dict[str, str]] = field(default_factory=dict)  # by file: how a CSV or TSV is written

    @property
    def names(self) -> list[str] | None:
        """Names of the features, view by view, if all files have them."""
        known = [list(names) for names in self.columns if names is not None]
        return list(chain.from_iterable(known)) if known and len(known) == len(self.columns) else None

    def in_words(self) -> list[str]:
        """Return what was read, a sentence for each file."""
        views = self.data if isinstance(self.data, list) else [self.data]
        shapes = [getattr(view, "shape", None) or (view.n_samples, view.n_features) for view in views]
        return [
            f"{name}: {' x '.join(map(str, shape))}, {view.dtype}"
            for name, view, shape in zip(self.files, views, shapes, strict=True)
        ]


def open_views(
    paths: Sequence[Path],
    *,
    key: str | None,
    id_column: str | None,
    drop: Sequence[str],
    keep: Sequence[str] | None = None,
    header: bool | None = None,
    form: Form | None = None,
) -> FileViews:
    """Open the files as views of the same samples, to be read in blocks."""
    sources = open_inputs(paths, form)
    paths = [source.path for source in sources]
    choices = columns_by_file(sources, id_column, drop, header)
    streams: list[Stream] = [
        open_stream(source, key=key, keep=keep, header=header, gaps=len(sources) > 1, **choice)
        for source, choice in zip(sources, choices, strict=True)
    ]
    remedy = f"files that are read in blocks are not matched by ids; {SAME_ORDER}"
    n_samples = agreed_count(paths, [stream.n_samples for stream in streams], remedy)
    ids = agreed_ids(paths, [stream.ids for stream in streams], remedy)
    n_features = sum(stream.n_features for stream in streams)
    columns = tuple(stream.feature_names for stream in streams)
    headers, tables = headers_of(paths, streams), tables_of(paths, streams)
    return FileViews(streams, ids, n_samples, n_features, called(paths), headers, columns, tables)


def read_views(
    paths: Sequence[Path],
    *,
    key: str | None,
    id_column: str | None,
    drop: Sequence[str],
    precomputed: bool,
    keep: Sequence[str] | None = None,
    header: bool | None = None,
    form: Form | None = None,
    instead_of_kernels: str = "for kernels add --kernels precomputed",
) -> FileViews:
    """Read the files as views of the same samples, or as kernels over them.

    Views that all have the column of ids are matched by it: a sample that a file does not have is a row of NaN there.
    """
    sources = open_inputs(paths, form)
    paths = [source.path for source in sources]
    choices = columns_by_file(sources, id_column, drop, header)
    files = [
        read_samples(source, key=key, keep=keep, header=header, **choice)
        for source, choice in zip(sources, choices, strict=True)
    ]
    about: dict[str, Any] = {
        "files": called(paths),
        "headers": headers_of(paths, files),
        "tables": tables_of(paths, files),
        "columns": tuple(file.feature_names for file in files),
    }
    for path, file in zip(paths, files, strict=True):
        if file.X.ndim == 3 and not precomputed:
            raise DataError(f"{path}: this is a stack of shape {file.X.shape}; {instead_of_kernels}.")
    if len(files) > 1 and not precomputed and all(choice["id_column"] is not None for choice in choices):
        return replace(matched_by_id(paths, files), **about)
    remedy = f"kernels are not matched by ids; {SAME_ORDER}" if precomputed else way_out(paths, choices, id_column)
    # Kernels between new and fitted samples need not be square.
    n_samples = agreed_count(paths, [file.X.shape[-2] for file in files], remedy)
    ids = agreed_ids(paths, [file.ids for file in files], remedy)
    matrices = [file.X for file in files]
    # The kernels of one file are of one source, and so is a matrix: those of several files are views.
    data = matrices if len(matrices) > 1 else matrices[0]
    if precomputed:
        return FileViews(data, ids, n_samples, None, **{**about, "columns": ()})
    return FileViews(data, ids, n_samples, sum(X.shape[1] for X in matrices), **about)


def in_order(views: FileViews, names: Sequence[str]) -> FileViews:
    """Return several views with their columns in the order of the names that a model knows, if all files have names."""
    if views.names is None or views.names == list(names):
        return views
    columns = [list(own or ()) for own in views.columns]
    wanted = np.split(np.array(names, dtype=object), np.cumsum([len(own) for own in columns])[:-1])
    orders = [_order_of(*one) for one in zip(views.files, columns, map(list, wanted), strict=True)]
    if not all(isinstance(X, np.ndarray) for X in views.data):
        raise DataError(
            f"{', '.join(views.files)}: the columns are in another order than those of the fit, and files that are "
            "read in blocks are not sorted; give them in the order of the fit."
        )
    return replace(views, data=[X[:, order] for X, order in zip(views.data, orders, strict=True)])


def _order_of(file: str, own: list[str], wanted: list[str]) -> np.ndarray:
    """Return where the columns of a file stand that are wanted; those of one name in their order."""
    strange = Counter(own) - Counter(wanted)
    if strange:
        raise DataError(
            f"{file}: the column {next(iter(strange))!r} is none of those that this view had in the fit; give the "
            "files in the order of the fit."
        )
    return np.argsort(np.array(own), kind="stable")[np.argsort(np.argsort(np.array(wanted), kind="stable"))]


def columns_by_file(
    sources: Sequence[Source], id_column: str | None, drop: Sequence[str], header: bool | None
) -> list[dict[str, Any]]:
    """Return id column and columns to drop for each file; among several files a column need not be in all."""
    if len(sources) == 1 or not (drop or id_column):
        return [{"id_column": id_column, "drop": drop} for _ in sources]
    known = [column_names(source, header=header) for source in sources]
    for name in [*drop, *([id_column] if id_column else [])]:
        if not any(name in names for names in known):
            raise DataError(f"no file has a column {name!r}; with several files give columns by name.")
    return [
        {"id_column": id_column if id_column in names else None, "drop": [name for name in drop if name in names]}
        for names in known
    ]


def headers_of(paths: Sequence[Path], files: Sequence[Samples | Stream | LabelFile]) -> dict[str, bool]:
    """Return what was decided about the first rows of the files that have a header or could have one."""
    return {name: file.header for name, file in zip(called(paths), files, strict=True) if file.header is not None}


def tables_of(paths: Sequence[Path], files: Sequence[Samples | Stream]) -> dict[str, dict[str, str]]:
    """Return what stands between cells and before decimals in the CSV and TSV files."""
    return {
        name: {"delimiter": file.form.delimiter or "", "decimal": file.form.decimal or ""}
        for name, file in zip(called(paths), files, strict=True)
        if file.form is not None
    }


def tables_in_words(tables: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return how tables are written for people, where that is not what their names promise."""
    told = {name: _table_in_words(name, **table) for name, table in tables.items()}
    if len(set(told.values())) <= 1:
        return next(iter(told.values()), None)
    return "; ".join(f"{name}: {words}" for name, words in told.items() if words is not None)


def _table_in_words(name: str, delimiter: str, decimal: str) -> str | None:
    is_usual = delimiter == DELIMITERS.get(Path(name.lower().removesuffix(PACKED)).suffix, ",")
    words = [
        *([] if is_usual else [f"{DELIMITER_NAMES.get(delimiter, repr(delimiter))} between cells"]),
        *(["decimal commas"] if decimal == "," else []),
    ]
    return ", ".join(words) or None


def headers_in_words(headers: Mapping[str, bool]) -> str | None:
    """Return what was decided about first rows for people; None where there was nothing to decide."""
    words = {True: "row 1 names the columns", False: "none, row 1 is a sample"}
    told = {name: words[header] for name, header in headers.items()}
    if len(set(told.values())) <= 1:
        return next(iter(told.values()), None)
    return "; ".join(f"{name}: {sentence}" for name, sentence in told.items())


def called(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return what the files are called: their names if these differ, with their folders otherwise."""
    names = tuple(path.name for path in paths)
    return names if len(set(names)) == len(names) else tuple(map(str, paths))


def matched_by_id(paths: Sequence[Path], files: Sequence[Samples]) -> FileViews:
    """Return views with a row for every id of any file, in the order of first appearance."""
    rows = [rows_by_id(path, file.ids or []) for path, file in zip(paths, files, strict=True)]
    ids = list(dict.fromkeys(chain.from_iterable(rows)))
    if len(ids) == sum(map(len, rows)):
        raise DataError(
            f"{paths[1]}: no id occurs in two files, the first is {next(iter(rows[1]))!r} here and {ids[0]!r} in "
            f"{paths[0]}; give the column that names the samples in all files."
        )
    views = [spread(file.X, place, ids) for file, place in zip(files, rows, strict=True)]
    return FileViews(views, ids, len(ids), sum(X.shape[1] for X in views), called(paths))


def rows_by_id(path: Path, ids: Sequence[str]) -> dict[str, int]:
    """Return the row of each id of a file, which must be its only one."""
    rows: dict[str, int] = {}
    for row, name in enumerate(ids):
        if rows.setdefault(name, row) != row:
            raise DataError(
                f"{path}: samples {rows[name] + 1} and {row + 1} have the same id {name!r}; keep one of them."
            )
    return rows


def spread(X: Host, rows: Mapping[str, int], ids: Sequence[str]) -> Host:
    """Return the samples of a file in the order of all ids, with rows of NaN for those that it does not have."""
    found = np.array([rows.get(name, -1) for name in ids])
    view = np.full((len(ids), X.shape[1]), np.nan, dtype=X.dtype)
    view[found >= 0] = X[found[found >= 0]]
    return view


def way_out(paths: Sequence[Path], choices: Sequence[dict[str, Any]], id_column: str | None) -> str:
    """Return what to do about files of different samples that could be matched by ids."""
    if id_column is None:
        return f"{SAME_ORDER}, or tables with a column of ids to match them by (--id COLUMN)"
    lacking = [str(path) for path, choice in zip(paths, choices, strict=True) if choice["id_column"] is None]
    return f"{SAME_ORDER}, or all files with the column {id_column!r}, which is not in {', '.join(lacking)}"


def agreed_ids(paths: Sequence[Path], ids: Sequence[list[str] | None], remedy: str) -> list[str] | None:
    """Return the ids of the samples, which must be the same wherever they are given."""
    given = [(path, names) for path, names in zip(paths, ids, strict=True) if names is not None]
    if not given:
        return None
    first_path, first = given[0]
    for path, names in given[1:]:
        for row, (mine, other) in enumerate(zip(names, first, strict=True), 1):
            if mine != other:
                raise DataError(f"{path}: sample {row} has the id {mine!r}, but {other!r} in {first_path}; {remedy}.")
    return first


def agreed_count(paths: Sequence[Path], counts: Sequence[int], remedy: str) -> int:
    """Return the number of samples, which must be the same in all files."""
    for path, count in zip(paths, counts, strict=True):
        if count != counts[0]:
            raise DataError(f"{path}: {count} samples, but {paths[0]} has {counts[0]}; {remedy}.")
    return counts[0]
