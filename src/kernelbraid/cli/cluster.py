"""``kernelbraid cluster``: read views, fit a method, write labels, summarise."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer

from kernelbraid.bench import METHODS
from kernelbraid.bench.fitting import settings_of
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.output import bar, collect_warnings, print_json, print_table, print_warnings, write_labels
from kernelbraid.cli.progress import show_progress
from kernelbraid.cli.recipe import Recipe
from kernelbraid.cli.wording import in_options, out_of_range
from kernelbraid.datasets import DataError, column_names, read_samples

SMALL_WEIGHT = 0.0005  # weights below are not listed one by one
STATUS_WORDS = {
    "converged": "converged",
    "max_iter": "stopped at the limit of iterations",
    "stopped": "stopped on request",
    "non_finite": "broke down: values were no longer finite",
    "kernel_vanished": "broke down: the consensus kernel became zero",
    "graph_empty": "broke down: the graph became empty",
    "graph_diagonal": "broke down: the graph joins no two samples",
}


@dataclass(frozen=True)
class Views:
    """The data of all files, ready for a fit."""

    data: Any  # one matrix, a list of views, or kernels
    ids: list[str] | None
    n_samples: int
    n_features: int | None  # over all views; None for kernels


def run(
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    reading: dict[str, Any],
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Cluster the samples in the files and report."""
    with collect_warnings() as lines:
        views = read_views(paths, precomputed=recipe.precomputed, **reading)
        model, seconds = fit(views, recipe, hidden=quiet or as_json)
    warnings = [in_words(recipe, line) for line in lines]
    if out is not None:
        write_labels(out, model.labels_.tolist(), views.ids)
    summary = {"method": recipe.name, **summarise(model, views), "seconds": round(seconds, 4)}
    summary |= {"out": None if out is None else str(out), "warnings": warnings}
    print_warnings(warnings)
    if as_json:
        print_json(summary)
    elif not quiet:
        print_summary(summary)


def read_views(
    paths: Sequence[Path], *, key: str | None, id_column: str | None, drop: Sequence[str], precomputed: bool
) -> Views:
    """Read the files as views of the same samples, or as kernels over them."""
    choices = _columns_by_file(paths, id_column, drop)
    files = [read_samples(path, key=key, **choice) for path, choice in zip(paths, choices, strict=True)]
    for path, file in zip(paths, files, strict=True):
        if file.X.ndim == 3 and not precomputed:
            raise DataError(f"{path}: this is a stack of shape {file.X.shape}; for kernels add --kernels precomputed.")
    rows = [file.X.shape[-1 if precomputed else 0] for file in files]
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
    return Views(matrices if len(matrices) > 1 else matrices[0], ids, rows[0], sum(X.shape[1] for X in matrices))


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


def fit(views: Views, recipe: Recipe, *, hidden: bool) -> tuple[Any, float]:
    """Return the fitted model and the seconds that the fit took."""
    model = recipe.make()
    max_iter = settings_of(model)["max_iter"] if recipe.tells_steps else None
    with show_progress(recipe.name, max_iter, hidden=hidden) as callback:
        if recipe.tells_steps:
            model.set_params(callback=callback)
        start = perf_counter()
        try:
            model.fit(views.data)
        except ValueError as error:
            wrong_option = out_of_range(str(error), recipe.name)
            if wrong_option is not None:
                raise Failure(wrong_option, BAD_USAGE) from None
            raise Failure(in_words(recipe, str(error))) from None
        except MemoryError as error:
            reason = str(error) or f"{views.n_samples} samples do not fit into memory; cluster fewer samples."
            raise Failure(in_words(recipe, reason)) from None
        return model, perf_counter() - start


def in_words(recipe: Recipe, message: str) -> str:
    """Return a message of the library about a fit in the words of the command line."""
    return in_options(message, estimator=recipe.method.estimator.__name__, method=recipe.name)


def summarise(model: Any, views: Views) -> dict[str, Any]:
    """Return what there is to say about a fit, as plain data; what a method lacks is None or empty."""
    names = list(getattr(model, "kernel_names_", []))
    weights = np.asarray(getattr(model, "kernel_weights_", [])).tolist()
    return {
        "n_samples": views.n_samples,
        "n_features": views.n_features,
        "n_clusters": model.n_clusters,
        "status": getattr(model, "status_", None),
        "n_iter": int(model.n_iter_),
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters).tolist(),
        "kernels": names,
        "kernel_weights": dict(zip(names, weights, strict=True)) if weights else {},
    }


def print_summary(summary: dict[str, Any]) -> None:
    """Print a fit for people."""
    status, features = summary["status"], summary["n_features"]
    rows: dict[str, str | None] = {
        "method": f"{summary['method']}, {METHODS[summary['method']].title}",
        "samples": str(summary["n_samples"]),
        "features": "none, precomputed kernels" if features is None else str(features),
        "kernels": _kernels(summary),
        "status": STATUS_WORDS.get(status, status),
        "iterations": str(summary["n_iter"]),
        "cluster sizes": ", ".join(map(str, summary["cluster_sizes"])),
        "fit": f"{summary['seconds']:.2f} seconds",
        "labels": summary["out"] or "not written; give --out labels.csv",
    }
    print_table([label, text] for label, text in rows.items() if text is not None)
    if len(summary["kernel_weights"]) > 1:
        typer.echo("")
        print_weights(summary["kernel_weights"])


def _kernels(summary: dict[str, Any]) -> str | None:
    """Return the number of kernels, or the name of the only one if it has one; None if the method uses none."""
    names = summary["kernels"]
    if not names:
        return None
    return names[0] if len(names) == 1 and summary["n_features"] is not None else str(len(names))


def print_weights(weights: dict[str, float]) -> None:
    """Print the weights of the kernels, the largest first."""
    listed = sorted(weights.items(), key=lambda item: -item[1])
    shown = [(name, weight) for name, weight in listed if weight >= SMALL_WEIGHT]
    largest = max(weights.values())
    table = [[name, f"{weight:.3f}", bar(weight / largest)] for name, weight in shown]
    if len(shown) < len(listed):
        table.append([f"{len(listed) - len(shown)} others", "0.000", ""])
    print_table(table, header=["kernel", "weight", ""], numbers=[1])
