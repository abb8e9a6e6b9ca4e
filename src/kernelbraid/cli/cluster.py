"""``kernelbraid cluster`` and ``predict``: read views, fit a method or load a model, write labels, summarise."""

import ast
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from kernelbraid import ADMM, LKG, load_model, save_model
from kernelbraid.cli import blocks
from kernelbraid.cli.arguments import PARAMETERS
from kernelbraid.cli.ending import BAD_USAGE, Failure, beside, nearest
from kernelbraid.cli.output import check_outputs, library_speaks, writing
from kernelbraid.cli.summary import report, summarise_fit
from kernelbraid.cli.views import FileViews, read_views, shape_of, takes_pairs
from kernelbraid.cli.watching import Watch, watching
from kernelbraid.estimators.base import refuse_moved
from kernelbraid.estimators.each_view import AS_IT_IS
from kernelbraid.io.tables import listing
from kernelbraid.learning.effort import phase, plan
from kernelbraid.methods import METHODS
from kernelbraid.plotting.page import load_template_engine, names_of_samples, write_report

SURE, ASIDE = "working out how sure labels are", "looking for samples that stand aside"


def cluster(paths: list[Path], options: SimpleNamespace) -> None:
    """Cluster the samples in the files and report."""
    name = options.method or "LKG"
    model = make(name, options)
    check(name, model, options)
    check_outputs(options, paths)
    hidden = options.quiet or options.json
    with library_speaks() as warnings, watching(name, hidden=hidden, verbose=options.verbose) as watch:
        views = read_views(paths, options, model)
        if options.report is not None:
            load_template_engine()  # before the work
            names_of_samples(views.ids, None, views.n_samples)
        for file, view in zip(views.called, views.data, strict=True):
            watch.tell(f"read {file}: {' x '.join(map(str, shape_of(view)))}, {view.dtype}")
        start = perf_counter()
        fitted = fit(model, views, options, watch)
        seconds = perf_counter() - start
        watch.tell_of_fit(model)
        is_asked = options.confidence or options.report is not None
        sure = certainty_of(model) if is_asked and hasattr(type(model), "confidence_") else {}
        if options.report is not None:
            write_page(model, views, options, watch)
    summary = {"method": name, **summarise_fit(model, views), "seconds": round(seconds, 4), "warnings": warnings}
    summary |= {"scale": options.scale or "none", "model": options.save and str(options.save)}
    summary |= {} if options.report is None else {"report": str(options.report)}
    if options.save is not None:
        if views.names is not None:
            first = fitted[0] if fitted is not model else model
            first.feature_names_in_ = np.array(views.names, dtype=object)
        with writing(options.save):
            save_model(fitted, options.save)
    report(summary, model.labels_, views, options, sure if options.confidence else {})


def certainty_of(model: Any) -> dict[str, Any]:
    """Return how sure labels are, and which samples stand aside, which takes as long as the fit."""
    plan({SURE: 75, ASIDE: 25})
    with phase(SURE):
        confidence = model.confidence_
    with phase(ASIDE):
        return {"confidence": confidence, "outlier_score": model.outlier_scores_}


def write_page(model: Any, views: FileViews, options: SimpleNamespace, watch: Watch) -> None:
    """Write the report of a fit, in the units of the files."""
    watch.tell("writing the report")
    frames: Any = None if views.on_pairs or not hasattr(views.data[0], "shape") else views.frames
    title, call = ", ".join(views.called), shlex.join(["kernelbraid", *sys.argv[1:]])
    with writing(options.report):
        write_report(model, options.report, frames, ids=views.ids, title=title, call=call)


def make(name: str, options: SimpleNamespace) -> Any:
    """Return the estimator of a method, with the parameters that options and ``--set`` give."""
    model = LKG() if name == "LKG" else METHODS[name]
    given = {name: value_of(text) for name in PARAMETERS if (text := getattr(options, name)) is not None}
    for setting in options.set or ():
        parameter, sign, text = setting.partition("=")
        if not sign:
            raise Failure(f"--set {setting} gives no value; write --set {setting}=VALUE.", BAD_USAGE)
        given[parameter] = value_of(text)
    known = [name for name in model.get_params(deep=False) if name != "solver"]  # that takes an object
    if isinstance(model, LKG):
        known += [f"solver__{parameter}" for parameter in ADMM().get_params()]
        try:
            refuse_moved(LKG, given)
        except TypeError as error:
            raise Failure(f"{error}.", BAD_USAGE) from None
    for parameter in given:
        if parameter not in known:
            told = f"{type(model).__name__} has no parameter {parameter!r}"
            raise Failure(f"{told}; {nearest(parameter, known)}", BAD_USAGE)
    if "n_clusters" not in given and not isinstance(model, LKG):
        raise Failure(f"{name} does not choose the number of clusters; give --n-clusters.", BAD_USAGE)
    model.set_params(**{"n_clusters": "auto", "random_state": 0, **given})
    try:
        model._validate_params()  # before files are read; a fit begins with it
    except ValueError as error:
        raise Failure(str(error).replace(". Got ", ", not ").replace(" instead.", "."), BAD_USAGE) from None
    return model


def value_of(text: str) -> Any:
    """Return a value as Python writes it, or else the text itself."""
    for read in (ast.literal_eval, float):  # the latter for inf
        with suppress(ValueError, SyntaxError):
            return read(text)
    return str(text)


def check(name: str, model: Any, options: SimpleNamespace) -> None:
    """Refuse, before any work is done, what does not go together."""
    is_sure, predicts = hasattr(type(model), "confidence_"), hasattr(model, "predict")
    is_scaled = options.scale not in (None, "none")
    wrong = {
        "--verbose excludes --quiet; leave out one of them.": options.quiet and options.verbose,
        f"--dask is for LKG, and {name} needs its samples here; leave it out.": options.dask
        and not isinstance(model, LKG),
        f"{name} cannot label new samples; leave out --save.": options.save and not predicts,
        f"{name} does not know how sure its labels are; leave out --confidence.": options.confidence and not is_sure,
        "--scale is for features, and DATA holds kernels or a graph; leave it out.": is_scaled and takes_pairs(model),
    }
    for sentence, is_wrong in wrong.items():
        if is_wrong:
            raise Failure(sentence, BAD_USAGE)


def fit(model: Any, views: FileViews, options: SimpleNamespace, watch: Watch) -> Any:
    """Fit the model, and return it with what scales its samples."""
    scalers = [] if options.scale in (None, "none") else [blocks.scaler_of(options.scale, views.data)]
    samples = views.data if scalers else views.frames
    with blocks.samples_of(samples, watch, address=options.dask) as given:
        data = blocks.transformed(scalers, given)
        beside(lambda: model.fit(data if len(data) > 1 else data[0]))
    return Pipeline([("scale", scalers[0]), ("cluster", model)]) if scalers else model


def predict(path: Path, paths: list[Path], options: SimpleNamespace) -> None:
    """Label the samples in the files with a model and report."""
    check_outputs(options, [path, *paths])
    asked = ["predict", *(["predict_proba"] if options.confidence else [])]
    with library_speaks() as warnings, watching("labels", hidden=options.quiet or options.json) as watch:
        *steps, last = read_model(path, options)
        views, start = read_new([*steps, last], paths, options), perf_counter()
        with blocks.samples_of(views.data, watch, times=len(asked)) as given:
            data = blocks.transformed(steps, given)
            one = data if len(data) > 1 else data[0]
            labels, *shares = (np.asarray(beside(partial(getattr(last, method), one))) for method in asked)
        seconds = perf_counter() - start
    classes = getattr(last, "classes_", None)
    n_clusters = getattr(last, "n_clusters_", None) or len(getattr(last, "centre_weights_", ()))
    names = np.arange(n_clusters) if classes is None else classes
    summary = {
        "model": str(path),
        "estimator": type(last).__name__,
        "steps": [type(step).__name__ for step in steps],
        "n_samples": views.n_samples,
        "n_features": views.n_features,
        "n_clusters": len(names),
        "classes": None if classes is None else [str(name) for name in classes],
        "cluster_sizes": [int((labels == name).sum()) for name in names],
        "seconds": round(seconds, 4),
        "warnings": warnings,
    }
    of_own = [one[np.arange(len(labels)), np.searchsorted(names, labels)] for one in shares]  # classes are in order
    report(summary, labels, views, options, dict(zip(["confidence"], of_own, strict=False)))


def read_model(path: Path, options: SimpleNamespace) -> list[Any]:
    """Return what is done to samples, one after the other; the last of it labels them, and is as sure as asked for."""
    try:
        model = load_model(path)
    except OSError as error:
        raise Failure(f"{path} could not be read ({error.strerror or error}).") from None
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = steps[-1]
    if not hasattr(last, "n_features_in_"):
        raise Failure(f"{path} holds an estimator that was not fitted; call fit first, and save it again.")
    asked = {"predict": "labels new samples", "predict_proba": "knows how sure its labels are"}
    for method, what in asked.items():
        if not hasattr(last, method) and (method == "predict" or options.confidence):
            raise Failure(f"{path} holds a {type(last).__name__}; save a fitted LKG, which {what}.")
    return [step for step in steps if step not in (None, AS_IT_IS)]


def read_new(steps: Sequence[Any], paths: list[Path], options: SimpleNamespace) -> FileViews:
    """Read new samples, or their kernels with the fitted ones, as the steps of a model take them."""
    # Columns are found by these names; matrices, which the model gets, have none.
    names = [str(name) for name in vars(steps[0]).pop("feature_names_in_", ())]
    views = read_views(paths, options, steps[-1], names or None)
    if names and views.names not in (None, names):
        told = f"DATA has the columns {listing(views.names)}, and the model was fitted on {listing(names)}"
        raise Failure(f"{told}; give the files in the order of the fit.")
    return views
