"""The files of a command as views of the same samples, as estimators take them: here or on workers, scaled."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import typer
from scipy import sparse
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelbraid import LKG, Blocks, align_views
from kernelbraid._arrays import is_dask
from kernelbraid._dask import open_client
from kernelbraid.cli.ending import BAD_USAGE, Failure
from kernelbraid.cli.output import STANDARD
from kernelbraid.datasets import DataError, column_names, read_samples
from kernelbraid.estimators.dask_views import read_on_workers
from kernelbraid.estimators.each_view import AS_IT_IS, EachView, fit_measured, transform_measured
from kernelbraid.io.sources import Source, open_source
from kernelbraid.io.tables import DELIMITERS

OVER_PAIRS = ("precomputed", "graph", "distances")  # words for data that are matrices over pairs of samples
MARKS = {"point": ".", "comma": ","}
ROWS = 50_000  # of a block
HEADERS = {True: "row 1 names the columns", False: "none, row 1 is a sample"}


@dataclass(frozen=True)
class FileViews:
    """The data of all files, ready for a fit."""

    data: list[Any]  # of each file: a matrix, kernels, or a Dask array
    ids: list[str] | None
    files: list[Any]  # as they were read
    called: list[str]
    on_pairs: bool  # kernels, or graphs

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.data[0].shape[-2])

    @property
    def n_features(self) -> int | None:
        """Number of features over all views; None for kernels."""
        return None if self.on_pairs else sum(view.shape[-1] for view in self.data)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, view by view, if all files have them."""
        known = [file.feature_names for file in self.files]
        return None if self.on_pairs or None in known else list(chain.from_iterable(known))

    @property
    def frames(self) -> list[Any]:
        """The views as data frames, if all files have names of features: the library calls features by them."""
        is_dense = all(isinstance(view, np.ndarray) for view in self.data)
        if self.names is None or len(set(self.names)) < len(self.names) or not is_dense:
            return self.data
        named = zip(self.data, self.files, strict=True)
        return [pd.DataFrame(X, columns=file.feature_names, copy=False) for X, file in named]


def open_files(paths: list[Path], options: SimpleNamespace) -> list[Source]:
    """Open files, and take what comes through standard input."""
    between = DELIMITERS.get(options.delimiter, options.delimiter)
    if between is not None and (len(between) != 1 or between.isalnum()):
        reason = f"{between!r} cannot stand between cells; give a sign, or one of {', '.join(DELIMITERS)}."
        raise typer.BadParameter(reason, param_hint="'--delimiter'")
    if paths.count(STANDARD) > 1:
        raise typer.BadParameter("- stands for standard input, which can be read once; give a file instead.")
    said = {"held": options.format and f".{options.format}", "delimiter": between}
    return [open_source(path, decimal=MARKS.get(getattr(options, "decimal", "")), **said) for path in paths]


def takes_pairs(model: Any) -> bool:
    """Return whether a model is fitted on kernels, or on graphs."""
    words = [getattr(model, name, None) for name in ("kernels", "kernel")]
    return any(isinstance(word, str) and word in OVER_PAIRS for word in words)


def read_views(paths: list[Path], options: SimpleNamespace, model: Any, keep: list[str] | None = None) -> FileViews:
    """Read the files as views of the same samples, as a model takes them: kernels over them, too.

    Views that all have the column of ids are matched by it: a sample that a file does not have is a row of NaN there.
    """
    on_pairs, sources = takes_pairs(model), open_files(paths, options)
    choices, are_here = _columns_by_file(sources, options, keep), getattr(options, "dask", None) is None
    read: Any = partial(read_samples, key=options.key, header=options.header) if are_here else read_on_workers
    for source in [] if are_here else sources:
        if source.content is not None or source.suffix not in (".npy", ".parquet"):
            told = f"{source.path}: --dask lets workers read .npy and Parquet files; write the samples to such a file."
            raise Failure(told, BAD_USAGE)
    gaps = len(sources) > 1 and isinstance(model, LKG) and not on_pairs
    files: list[Any] = [read(source, **choice, gaps=gaps) for source, choice in zip(sources, choices, strict=True)]
    called, are_matched = names_of([source.path for source in sources]), are_here and not on_pairs
    if len(files) > 1 and are_matched and all(choice["id_column"] is not None for choice in choices):
        try:
            frames, index = align_views([pd.DataFrame(file.X, index=file.ids, copy=False) for file in files])
        except ValueError as error:
            raise DataError(re.sub(r"view (\d+)", lambda found: called[int(found[1]) - 1], str(error))) from None
        return FileViews([frame.to_numpy() for frame in frames], list(index), files, called, on_pairs)
    data = [file.X for file in files]
    matched = ", or name a column of ids that all files have (--id COLUMN)" if are_matched else ""
    ids = _agreed_ids(called, files, data, f"give the same samples in the same order{matched}")
    return FileViews(data, ids, files, called, on_pairs)


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return what files are called: their names if these differ, with their folders otherwise."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else list(map(str, paths))


def _columns_by_file(sources: list[Source], options: SimpleNamespace, keep: list[str] | None) -> list[dict[str, Any]]:
    """Return which columns to read of each file; among several files a column need not be in all."""
    drop, ids = options.drop or [], options.id
    if len(sources) == 1 or not (drop or ids or keep):
        return [{"id_column": ids, "drop": drop, "keep": keep} for _ in sources]
    known = [column_names(source, header=options.header) for source in sources]
    for name in [*drop, *([ids] if ids else [])]:
        if not any(name in names for names in known):
            raise DataError(f"no file has a column {name!r}; with several files give columns by name.")

    def there(wanted: list[str], names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(wanted) if name in names]

    return [
        {"id_column": ids if ids in names else None, "drop": there(drop, names), "keep": keep and there(keep, names)}
        for names in known
    ]


def _agreed_ids(called: list[str], files: list[Any], data: list[Any], remedy: str) -> list[str] | None:
    """Return the ids of the samples, which must be as many everywhere, and the same wherever they have ids."""
    n_samples = data[0].shape[-2]
    for name, view in zip(called, data, strict=True):
        if (count := view.shape[-2]) != n_samples:
            raise DataError(f"{name}: {count} samples, but {called[0]} has {n_samples}; {remedy}.")
    named = [(name, file.ids) for name, file in zip(called, files, strict=True) if file.ids is not None]
    for name, ids in named[1:]:
        for row, (mine, other) in enumerate(zip(ids, named[0][1], strict=True), 1):
            if mine != other:
                raise DataError(f"{name}: sample {row} has the id {mine!r}, but {other!r} in {named[0][0]}; {remedy}.")
    return named[0][1] if named else None


def table_in_words(table: Mapping[str, str]) -> str:
    """Return how a table is written, where that is not as most are."""
    signs = [f"{word}s between cells" for word, sign in DELIMITERS.items() if sign == table["delimiter"]]
    told = [*(signs if table["delimiter"] not in ",\t" else []), "decimal commas"]
    return ", ".join(told if table["decimal"] == "," else told[:-1])


def by_file(known: Mapping[str, Any], in_words: Callable[[Any], str]) -> str | None:
    """Return what is known of files in words, once if they are the same of all; None if there are none."""
    told = {name: in_words(one) for name, one in known.items()}
    if len(set(told.values())) > 1:
        return "; ".join(f"{name}: {words}" for name, words in told.items() if words)
    return next(iter(told.values()), None) or None


def blocks_of(view: Any) -> Iterator[Any]:
    """Yield the blocks of samples that lie on disk, or on the workers of a Dask cluster; others are one."""
    if is_dask(view):
        yield from (block.compute() for block in view.to_delayed().ravel())
    elif isinstance(view, np.memmap):
        yield from (view[start : start + ROWS] for start in range(0, len(view), ROWS))
    else:
        yield from view if isinstance(view, Blocks) else [view]


def mapped(function: Callable[[Any], Any], view: Any) -> Any:
    """Return a function of samples: of a matrix, of blocks that are read once, or on the workers of a Dask cluster."""
    if is_dask(view):
        return view.map_blocks(function, dtype=view.dtype, meta=np.empty((0, 0), view.dtype))
    return Blocks(map(function, blocks_of(view))) if isinstance(view, np.memmap | Blocks) else function(view)


def scaler_of(scale: str, views: Sequence[Any]) -> Any:
    """Return what scales the views, each as measured on its samples; rows of NaN do not count."""
    scalers = []
    for view in views:
        # Sparse samples keep their means, and stay sparse.
        scaler: Any = Normalizer() if scale == "unit" else StandardScaler(with_mean=not sparse.issparse(view))
        for block in blocks_of(view):
            fit_measured(scaler, block, further=True)
        scalers.append(scaler if hasattr(scaler, "n_features_in_") else AS_IT_IS)
    each = EachView(scalers)
    each.transformers_, each.n_features_in_ = scalers, sum(view.shape[-1] for view in views)
    return each if len(views) > 1 else scalers[0]


def transformed(steps: Sequence[Any], views: Sequence[Any]) -> Any:
    """Return the views after steps of a pipeline, one as it is; those on disk are transformed as they are read."""
    for step in steps:
        each = step.transformers_ if isinstance(step, EachView) else [step]
        if len(each) != len(views):
            told = f"DATA has {len(views)} files, and the {type(step).__name__} of the model takes another number"
            raise Failure(f"{told}; give the files of the fit.")
        views = [mapped(partial(transform_measured, one), view) for one, view in zip(each, views, strict=True)]
    return list(views) if len(views) > 1 else views[0]


@contextmanager
def workers_of(address: str | None) -> Iterator[None]:
    """Let the workers of a Dask cluster do what Dask is asked for, if there is the address of its scheduler."""
    if address is None:
        yield
        return
    with open_client(address) as client, client.as_current():
        try:
            yield
        except (DataError, OSError) as error:
            raise Failure(f"a Dask worker could not read a file, which all must see: {error}") from None
