"""``kernelbraid cluster`` and ``predict``: read views, fit a method or load a model, write labels, summarise."""

import ast
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from kernelbraid import LKG, LandmarkLKG, load_model
from kernelbraid.blocks.dask_parts import DaskError
from kernelbraid.cli import blocks
from kernelbraid.cli.arguments import PARAMETERS
from kernelbraid.cli.ending import BAD_USAGE, Failure, interruptible, one_line
from kernelbraid.cli.output import check_outputs, collect_warnings
from kernelbraid.cli.summary import report, summarise_fit
from kernelbraid.cli.views import FileViews, read_views, shape_of, sort_columns
from kernelbraid.cli.watching import Watch, tell_of_fit, watching
from kernelbraid.estimators.each_view import AS_IT_IS
from kernelbraid.methods import METHODS

OVER_PAIRS = ("precomputed", "graph", "distances")  # words for data that are matrices over pairs of samples
MODELS = {"LKG": LKG, "LandmarkLKG": LandmarkLKG}


def cluster(paths: Sequence[Path], options: SimpleNamespace) -> None:
    """Cluster the samples in the files and report."""
    name = options.method or ("LandmarkLKG" if options.n_landmarks else "LKG")
    model = make(name, options)
    check(name, model, options)
    check_outputs(options, paths)
    hidden = options.quiet or options.json
    with collect_warnings() as warnings, watching(name, hidden=hidden, verbose=options.verbose) as watch:
        views = read_views(paths, options, on_pairs=takes_pairs(model), in_blocks=isinstance(model, LandmarkLKG))
        for file, view in zip(views.called, views.data, strict=True):
            watch.tell(f"read {file}: {' x '.join(map(str, shape_of(view)))}, {view.dtype}")
        start = perf_counter()
        fitted = fit(model, views, options, watch)
        seconds = perf_counter() - start
        tell_of_fit(watch, model)
        beside = {"confidence": model.confidence_, "outlier_score": model.outlier_scores_} if options.confidence else {}
    summary = {"method": name, **summarise_fit(model, views), "seconds": round(seconds, 4)}
    summary["scale"] = options.scale or "none"
    report(summary, model.labels_, views, beside, warnings, options, fitted)


def make(name: str, options: SimpleNamespace) -> Any:
    """Return the estimator of a method, with the parameters that options and ``--set`` give."""
    if name not in MODELS and name not in METHODS:
        raise Failure(f"{name!r} is no method; {nearest(name, [*METHODS, *MODELS])}", BAD_USAGE)
    model = MODELS[name]() if name in MODELS else METHODS[name]
    given = {name: value for name in PARAMETERS if (value := getattr(options, name)) is not None}
    given |= {name: value for name, _, value in (setting.partition("=") for setting in options.set or ())}
    known = list(model.get_params(deep=False))
    for parameter in given:
        if parameter not in known:
            told = f"{type(model).__name__} has no parameter {parameter!r}"
            raise Failure(f"{told}; {nearest(parameter, known)}", BAD_USAGE)
    if "n_clusters" not in given and not isinstance(model, LKG | LandmarkLKG):
        raise Failure(f"{name} does not choose the number of clusters; give --n-clusters.", BAD_USAGE)
    values = {parameter: value_of(text) for parameter, text in given.items()}
    model.set_params(**{"n_clusters": "auto", "random_state": 0, **values})
    try:
        model._validate_params()  # before files are read; a fit begins with it
    except ValueError as error:
        raise Failure(one_line(error).replace(". Got ", ", not ").replace(" instead.", "."), BAD_USAGE) from None
    return model


def value_of(text: str) -> Any:
    """Return a value as Python writes it, or else the text itself."""
    for read in (ast.literal_eval, float):  # the latter for inf
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text


def nearest(word: str, known: Sequence[str]) -> str:
    """Return advice: the most similar word, or all words if none is."""
    folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), folded, n=1)
    return f"the nearest is {folded[found[0]]!r}." if found else f"choose one of {', '.join(known)}."


def takes_pairs(model: Any) -> bool:
    """Return whether a model is fitted on kernels, or on graphs."""
    words = [getattr(model, name, None) for name in ("kernels", "kernel")]
    return any(isinstance(word, str) and word in OVER_PAIRS for word in words)


def check(name: str, model: Any, options: SimpleNamespace) -> None:
    """Refuse, before any work is done, what does not go together."""
    is_sure, predicts = hasattr(type(model), "confidence_"), hasattr(model, "predict")
    is_scaled = options.scale not in (None, "none")
    wrong = {
        "--verbose excludes --quiet; leave out one of them.": options.quiet and options.verbose,
        "--dask is for many samples; add --n-landmarks 500.": options.dask and not isinstance(model, LandmarkLKG),
        f"{name} cannot label new samples; leave out --save.": options.save and not predicts,
        f"{name} does not know how sure its labels are; leave out --confidence.": options.confidence and not is_sure,
        "--scale is for features, and DATA holds kernels or a graph; leave it out.": is_scaled and takes_pairs(model),
    }
    for sentence, is_wrong in wrong.items():
        if is_wrong:
            raise Failure(sentence, BAD_USAGE)


def fit(model: Any, views: FileViews, options: SimpleNamespace, watch: Watch) -> Any:
    """Fit the model, and return it with what scales its samples."""
    if watch.is_seen and "callback" in model.get_params(deep=False):
        model.set_params(callback=watch.step)
    if isinstance(model, LandmarkLKG) and len(views.data) > 1:
        model.set_params(view_widths=[stream.n_features for stream in views.data])
    scalers, is_scaled = None, options.scale not in (None, "none")
    passes = 2 + is_scaled  # landmarks are chosen, and all samples expressed over them
    try:
        with blocks.samples_of(views, watch, times=passes, address=options.dask) as data, interruptible():
            if is_scaled:  # workers scale, but do not measure
                scalers = blocks.scalers_of(options.scale, data if options.dask is None else views.data)
                data = blocks.scaled(scalers, data)
            elif data is views.data:
                data = views.frames
            model.fit(data if len(data) > 1 else data[0])
            # What Dask workers hold of a fit, and is asked for when they are gone.
            for name in ("labels_", *(("embedding_", "outlier_scores_") if options.confidence else ())):
                if name in vars(model):
                    setattr(model, name, np.asarray(getattr(model, name)))
    except DaskError as error:
        raise Failure(str(error)) from None
    return model if scalers is None else blocks.with_scalers(scalers, model)


def predict(path: Path, paths: Sequence[Path], options: SimpleNamespace) -> None:
    """Label the samples in the files with a model and report."""
    check_outputs(options, [path, *paths])
    model = read_model(path, options)
    *steps, last = steps_of(model)
    hidden = options.quiet or options.json
    with collect_warnings() as warnings, watching(f"{type(last).__name__}, labels", hidden=hidden) as watch:
        views, start = read_new(model, paths, options), perf_counter()
        with interruptible():
            labels, *shares = label(model, views, watch, options)
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
    }
    of_own = [one[np.arange(len(labels)), np.searchsorted(names, labels)] for one in shares]  # classes are in order
    beside = dict(zip(["confidence"], of_own, strict=False))
    report(summary, labels, views, beside, warnings, options)


def read_model(path: Path, options: SimpleNamespace) -> Any:
    """Return a fitted estimator that can label samples, and tell how sure it is if that is asked for."""
    try:
        model = load_model(path)
    except OSError as error:
        raise Failure(f"{path} could not be read ({error.strerror or error}).") from None
    last = steps_of(model)[-1]
    if not hasattr(last, "n_features_in_"):
        raise Failure(f"{path} holds an estimator that was not fitted; call fit first, and save it again.")
    asked = {"predict": "labels new samples", "predict_proba": "knows how sure its labels are"}
    for method, what in asked.items():
        if not hasattr(last, method) and (method == "predict" or options.confidence):
            raise Failure(f"{path} holds a {type(last).__name__}; save a fitted LKG, which {what}.")
    return model


def steps_of(model: Any) -> list[Any]:
    """Return what is done to samples, one after the other; at last they are clustered."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return [step for step in steps if step not in (None, AS_IT_IS)]


def read_new(model: Any, paths: Sequence[Path], options: SimpleNamespace) -> FileViews:
    """Read new samples, or their kernels with the fitted ones, as the model takes them."""
    first, last = steps_of(model)[0], steps_of(model)[-1]
    # Columns are found by these names; matrices, which the model gets, have none.
    names = [str(name) for name in vars(first).pop("feature_names_in_", ())]
    keep = names if names and len(paths) == 1 else None
    in_blocks = isinstance(last, LandmarkLKG)
    views = read_views(paths, options, keep=keep, in_blocks=in_blocks, on_pairs=takes_pairs(last))
    if views.n_features not in (None, first.n_features_in_):
        raise Failure(
            f"DATA has {views.n_features} features, and the model was fitted on {first.n_features_in_}; give the same "
            "columns (--drop leaves some out) of all views."
        )
    if names and views.names not in (None, names):
        sort_columns(views, names)
    return views


def label(model: Any, views: FileViews, watch: Watch, options: SimpleNamespace) -> list[Any]:
    """Return the labels of the samples and, if it is asked for, the shares of all clusters in each."""
    *steps, last = steps_of(model)
    asked = ["predict", *(["predict_proba"] if options.confidence else [])]
    with blocks.samples_of(views, watch, times=len(asked)) as data:
        if steps and isinstance(last, LandmarkLKG):
            model, data = last, blocks.prepared(steps, data)
        return [np.asarray(getattr(model, method)(data if len(data) > 1 else data[0])) for method in asked]
