"""``kernelbraid cluster``: read views, fit a method, write labels, summarise."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kernelbraid.bench.cluster import ClusterError
from kernelbraid.bench.fitting import settings_of
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.output import collect_warnings, print_json, print_warnings, write_labels, write_model
from kernelbraid.cli.progress import show_progress, show_search
from kernelbraid.cli.recipe import Recipe
from kernelbraid.cli.streaming import open_one, samples_of
from kernelbraid.cli.summary import print_summary, summarise
from kernelbraid.cli.wording import in_options, out_of_range
from kernelbraid.datasets import DataError, Stream, column_names, read_samples

PASSES = 2  # of a fit through landmarks over the samples: to choose them, and to express all


@dataclass(frozen=True)
class Views:
    """The data of all files, ready for a fit."""

    data: Any  # one matrix, a list of views, kernels, or a stream
    ids: list[str] | None
    n_samples: int
    n_features: int | None  # over all views; None for kernels
    names: list[str] | None = None  # of the features, if one file has them


def run(
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    reading: dict[str, Any],
    out: Path | None,
    save: Path | None,
    dask: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Cluster the samples in the files and report."""
    with collect_warnings() as lines:
        if recipe.streams:
            views = as_views(open_one(paths, **reading))
        else:
            views = read_views(paths, precomputed=recipe.precomputed, **reading)
        model, seconds = fit(views, recipe, dask=dask, hidden=quiet or as_json)
    warnings = [in_words(recipe, line) for line in lines]
    if out is not None:
        write_labels(out, model.labels_.tolist(), views.ids)
    if save is not None:
        write_model(save, model, views.names)
    summary = {
        "method": recipe.name,
        **summarise(model, views.n_samples, views.n_features),
        "seconds": round(seconds, 4),
    }
    files = {"out": out, "model": save}
    summary |= {name: None if path is None else str(path) for name, path in files.items()}
    summary["warnings"] = warnings
    print_warnings(warnings)
    if as_json:
        print_json(summary)
    elif not quiet:
        print_summary(summary)


def as_views(stream: Stream) -> Views:
    """Return samples that are read block by block."""
    return Views(stream, stream.ids, stream.n_samples, stream.n_features, stream.feature_names)


def read_views(
    paths: Sequence[Path],
    *,
    key: str | None,
    id_column: str | None,
    drop: Sequence[str],
    precomputed: bool,
    keep: Sequence[str] | None = None,
    instead_of_kernels: str = "for kernels add --kernels precomputed",
) -> Views:
    """Read the files as views of the same samples, or as kernels over them."""
    choices = _columns_by_file(paths, id_column, drop)
    files = [read_samples(path, key=key, keep=keep, **choice) for path, choice in zip(paths, choices, strict=True)]
    for path, file in zip(paths, files, strict=True):
        if file.X.ndim == 3 and not precomputed:
            raise DataError(f"{path}: this is a stack of shape {file.X.shape}; {instead_of_kernels}.")
    rows = [file.X.shape[-2] for file in files]  # kernels between new and fitted samples need not be square
    for path, count in zip(paths, rows, strict=True):
        if count != rows[0]:
            raise DataError(
                f"{path}: {count} samples, but {paths[0]} has {rows[0]}; all files must hold the same samples."
            )
    ids = _agreed_ids(paths, [file.ids for file in files])
    matrices = [file.X for file in files]
    if precomputed:
        kernels = [kernel for X in matrices for kernel in (X if X.ndim == 3 else [X])]
        return Views(kernels, ids, rows[0], None)
    n_features = sum(X.shape[1] for X in matrices)
    if len(files) > 1:
        return Views(matrices, ids, rows[0], n_features)
    return Views(matrices[0], ids, rows[0], n_features, files[0].feature_names)


def _columns_by_file(paths: Sequence[Path], id_column: str | None, drop: Sequence[str]) -> list[dict[str, Any]]:
    """Return id column and columns to drop for each file; among several files a column need not be in all."""
    if len(paths) == 1 or not (drop or id_column):
        return [{"id_column": id_column, "drop": drop} for _ in paths]
    known = [column_names(path) for path in paths]
    for name in [*drop, *([id_column] if id_column else [])]:
        if not any(name in names for names in known):
            raise DataError(f"no file has a column {name!r}; with several files give columns by name.")
    return [
        {"id_column": id_column if id_column in names else None, "drop": [name for name in drop if name in names]}
        for names in known
    ]


def _agreed_ids(paths: Sequence[Path], ids: Sequence[list[str] | None]) -> list[str] | None:
    """Return the ids of the samples, which must be the same wherever they are given."""
    given = [(path, names) for path, names in zip(paths, ids, strict=True) if names is not None]
    if not given:
        return None
    first_path, first = given[0]
    for path, names in given[1:]:
        for row, (mine, other) in enumerate(zip(names, first, strict=True), 1):
            if mine != other:
                raise DataError(
                    f"{path}: sample {row} has the id {mine!r}, but {other!r} in {first_path}; "
                    "give the same samples in the same order."
                )
    return first


def fit(views: Views, recipe: Recipe, *, dask: str | None = None, hidden: bool) -> tuple[Any, float]:
    """Return the fitted model, with labels that are here, and the seconds that the fit took."""
    model = recipe.make()
    start = perf_counter()
    try:
        with _watched(views, model, recipe, dask, hidden) as data:
            model.fit(data)
            model.labels_ = np.asarray(model.labels_)
    except DataError:  # about a file: it has the words of the command line
        raise
    except ValueError as error:
        wrong_option = out_of_range(str(error), recipe.name)
        if wrong_option is not None:
            raise Failure(wrong_option, BAD_USAGE) from None
        raise Failure(in_words(recipe, str(error))) from None
    except MemoryError as error:
        reason = str(error) or f"{views.n_samples} samples do not fit into memory; cluster fewer samples."
        raise Failure(in_words(recipe, reason)) from None
    except ClusterError as error:
        raise Failure(in_words(recipe, str(error))) from None
    return model, perf_counter() - start


@contextmanager
def _watched(views: Views, model: Any, recipe: Recipe, dask: str | None, hidden: bool) -> Iterator[Any]:
    """Yield what to fit, while something shows that the fit lives."""
    if recipe.streams:
        with samples_of(views.data, recipe.name, times=PASSES, address=dask, hidden=hidden) as data:
            yield data
        return
    with _watch(model, recipe, hidden=hidden) as callback:
        if recipe.tells_steps or recipe.searches:
            model.set_params(callback=callback)
        yield views.data


def _watch(model: Any, recipe: Recipe, *, hidden: bool) -> AbstractContextManager[Callable[..., None] | None]:
    """Return what shows that a fit lives."""
    if recipe.searches:
        return show_search(recipe.name, hidden=hidden)
    max_iter = settings_of(model)["max_iter"] if recipe.tells_steps else None
    return show_progress(recipe.name, max_iter, hidden=hidden)


def in_words(recipe: Recipe, message: str) -> str:
    """Return a message of the library about a fit in the words of the command line."""
    return in_options(message, estimator=recipe.method.estimator.__name__, method=recipe.name)
