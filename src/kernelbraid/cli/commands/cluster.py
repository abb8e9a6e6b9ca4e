"""``kernelbraid cluster``: read views, fit a method, write labels, summarise."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelbraid._messages import content_of, say
from kernelbraid.blocks.dask_parts import DaskError
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.interrupt import interruptible
from kernelbraid.cli.label_files import write_labels
from kernelbraid.cli.messages import InOptions, out_of_range
from kernelbraid.cli.output import beside_labels, collect_warnings, print_json, print_warnings, write_model
from kernelbraid.cli.progress import show_progress
from kernelbraid.cli.recipe import Recipe
from kernelbraid.cli.scaling import Scaling
from kernelbraid.cli.streaming import samples_of
from kernelbraid.cli.summary import by_sample, print_summary, summarise, summarise_certainty
from kernelbraid.cli.verbose import Log
from kernelbraid.cli.views import FileViews, open_views, read_views
from kernelbraid.datasets import DataError
from kernelbraid.estimators.base import InvalidParameterError, refused_parameter
from kernelbraid.learning.settings import Settings

# What Dask workers may hold of a fit, and is asked for when they are gone; the latter for how sure labels are.
LABELS, CERTAINTY = ("labels_",), ("labels_", "embedding_", "outlier_scores_")
PASSES = 2  # of a fit through landmarks over the samples: to choose them, and to express all


def run(
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    reading: dict[str, Any],
    scale: str = "none",
    out: Path | None,
    save: Path | None,
    dask: str | None,
    confidence: bool = False,
    as_json: bool,
    quiet: bool,
    verbose: bool = False,
) -> None:
    """Cluster the samples in the files and report."""
    log = Log(verbose)
    log.begin()
    with collect_warnings(words_of(recipe)) as of_files:
        if recipe.streams:
            views = open_views(paths, **reading)
        else:
            views = read_views(paths, precomputed=recipe.precomputed, **reading)
    for line in views.in_words():
        log(f"read {line}")
    with collect_warnings(words_of(recipe, views.columns)) as of_fit:
        here = CERTAINTY if confidence else LABELS
        hidden = quiet or as_json
        model, scaling, seconds = fit(views, recipe, scale=scale, dask=dask, hidden=hidden, here=here, log=log)
        log.fitted(model)
        certainty = certainty_of(model) if confidence else None
    labels = model.labels_.tolist()
    if out is not None:
        write_labels(out, labels, views.ids, certainty)
    if save is not None:
        if scaling is None:
            write_model(save, model, views.names)
        else:
            write_model(save, scaling.before(model, views.names), None)
    summary = {
        "method": recipe.name,
        **summarise(model, views.n_samples, views.n_features, views.files),
        "seconds": round(seconds, 4),
        "scale": scale,
    }
    summary["confidence"] = None if certainty is None else summarise_certainty(**certainty)
    summary |= {"header": views.headers, "tables": views.tables}
    files = {"out": out, "model": save}
    summary |= {name: None if path is None else str(path) for name, path in files.items()}
    summary["warnings"] = warnings = [*of_files, *of_fit]
    print_warnings(warnings)
    if as_json:
        print_json({**summary, **by_sample(labels, views.ids, certainty)})
    elif not quiet:
        with beside_labels(out):
            print_summary(summary)


def fit(
    views: FileViews,
    recipe: Recipe,
    *,
    scale: str = "none",
    dask: str | None = None,
    hidden: bool,
    here: Sequence[str] = LABELS,
    log: Log | None = None,
) -> tuple[Any, Scaling | None, float]:
    """Return the fitted model, with some attributes here, how its samples were scaled, and the seconds of the fit."""
    model, scaling = recipe.make(), None
    log = log or Log(False)
    passes = PASSES if scale == "none" else PASSES + 1
    start = perf_counter()
    try:
        with _watched(views, model, recipe, dask, hidden, passes, log) as data:
            if scale != "none":
                given = data if isinstance(data, list) else [data]
                scaling = Scaling.of(scale, given if dask is None else views.data)  # workers scale, but do not measure
                scaled = scaling.apply(given)
                data = scaled if isinstance(data, list) else scaled[0]
            with interruptible():
                model.fit(data)
            for name in here:
                if name in vars(model):
                    setattr(model, name, np.asarray(getattr(model, name)))
    except DataError:  # about a file: it has the words of the command line
        raise
    except (ValueError, MemoryError, DaskError) as error:
        refusal = refused_parameter(model) if isinstance(error, InvalidParameterError) else None
        if refusal is not None:
            raise Failure(out_of_range(refusal, recipe.name), BAD_USAGE) from None
        told = say(content_of(error), words_of(recipe))
        if isinstance(error, MemoryError) and not told:  # of Python itself
            told = f"{views.n_samples} samples do not fit into memory; cluster fewer samples."
        raise Failure(told) from None
    return model, scaling, perf_counter() - start


def certainty_of(model: Any) -> dict[str, np.ndarray]:
    """Return how sure each label is, and how far each sample stands aside, by the names of columns."""
    return {"confidence": np.asarray(model.confidence_), "outlier_score": np.asarray(model.outlier_scores_)}


@contextmanager
def _watched(
    views: FileViews, model: BaseEstimator, recipe: Recipe, dask: str | None, hidden: bool, passes: int, log: Log
) -> Iterator[Any]:
    """Yield what to fit, while something shows that the fit lives: a bar, or lines if those are asked for."""
    hidden = hidden or log.is_asked
    if recipe.streams:
        if len(views.data) > 1:
            model.set_params(view_widths=[stream.n_features for stream in views.data])
        with samples_of(views.data, recipe.name, times=passes, address=dask, hidden=hidden) as data, log.listening():
            yield data
        return
    with _watch(model, recipe, hidden=hidden) as drawn, log.listening():
        if recipe.tells_steps:
            model.set_params(callback=log.step if log.is_asked else drawn)
        yield views.data


def _watch(model: BaseEstimator, recipe: Recipe, *, hidden: bool) -> AbstractContextManager[Callable[..., None] | None]:
    """Return what shows that a fit lives."""
    return show_progress(recipe.name, _most_steps(model) if recipe.tells_steps else None, hidden=hidden)


def _most_steps(model: BaseEstimator) -> int | None:
    """Return the limit of steps; a preset gives that of LKG, and None says that there is but one."""
    asked = model.get_params(deep=False)
    if "preset" not in asked:
        return int(asked["max_iter"])
    learning = Settings.of(asked).learning
    return None if learning.is_closed_form else learning.max_iter


def words_of(recipe: Recipe, columns: Sequence[Sequence[str] | None] = ()) -> InOptions:
    """Return how the command line speaks of a fit, on files with these columns."""
    return InOptions({recipe.estimator.__name__: recipe.name}, columns=columns)
