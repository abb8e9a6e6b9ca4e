"""``kernelbraid cluster`` and ``predict``: read views, fit a method or load a model, write labels, summarise."""

import ast
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import typer
from sklearn.pipeline import Pipeline

from kernelbraid import ADMM, LKG, load_model, save_model
from kernelbraid.cli import output, reading
from kernelbraid.cli.ending import BAD_USAGE, TABLES, Failure, beside, nearest
from kernelbraid.cli.watching import Watch, watching
from kernelbraid.estimators.base import refuse_moved
from kernelbraid.estimators.each_view import AS_IT_IS
from kernelbraid.io.tables import listing
from kernelbraid.learning.effort import phase, plan
from kernelbraid.learning.report import USED, describe_weights
from kernelbraid.methods import METHODS, TITLES
from kernelbraid.plotting.page import load_template_engine, names_of_samples, write_report

#: Parameters of estimators that have an option of their own.
PARAMETERS = [option.split()[0].strip("-").replace("-", "_") for option in TABLES["parameters"]]
SURE, APART = "working out how sure labels are", "looking for samples that stand aside"
UNSURE, ASIDE = 0.5, 0.5  # a label is not sure below, and a sample stands aside above
TITLED = {**TITLES, "LKG": "several kernels, one graph"}
OF_A_LEVEL = ("n_clusters", "resolution", "score", "stability", "persistence", "modularity", "background", "is_taken")


def cluster(paths: list[Path], options: SimpleNamespace) -> None:
    """Cluster the samples in the files and report."""
    name = options.method or "LKG"
    model = make(name, options)
    check(name, model, options)
    output.check_outputs(options, paths)
    hidden = options.quiet or options.json
    with output.library_speaks() as warnings, watching(name, hidden=hidden, verbose=options.verbose) as watch:
        watch.tell("reading samples")
        views = reading.read_views(paths, options, model)
        if options.report is not None:
            load_template_engine()  # before the work
            names_of_samples(views.ids, None, views.n_samples)
        for file, view in zip(views.called, views.data, strict=True):
            watch.tell(f"read {file}: {' x '.join(map(str, view.shape))}, {view.dtype}")
        start = perf_counter()
        fitted = fit(model, views, options)
        seconds = perf_counter() - start
        watch.tell_of_fit(model)
        if hasattr(type(model), "why_"):
            watch.tell("judging the clusters")
            beside(lambda: model.why_)
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
        with output.writing(options.save):
            save_model(fitted, options.save)
    report(summary, model.labels_, views, options, sure if options.confidence else {})


def certainty_of(model: Any) -> dict[str, Any]:
    """Return how sure labels are, and which samples stand aside, which takes as long as the fit."""
    plan({SURE: 75, APART: 25})
    with phase(SURE):
        confidence = model.confidence_
    with phase(APART):
        return {"confidence": confidence, "outlier_score": model.outlier_scores_}


def write_page(model: Any, views: reading.FileViews, options: SimpleNamespace, watch: Watch) -> None:
    """Write the report of a fit, in the units of the files."""
    watch.tell("writing the report")
    frames: Any = None if views.on_pairs or options.dask else views.frames
    title, call = ", ".join(views.called), shlex.join(["kernelbraid", *sys.argv[1:]])
    with output.writing(options.report):
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
        "--scale is for features, and DATA holds kernels or a graph; leave it out.": is_scaled
        and reading.takes_pairs(model),
    }
    for sentence, is_wrong in wrong.items():
        if is_wrong:
            raise Failure(sentence, BAD_USAGE)


def fit(model: Any, views: reading.FileViews, options: SimpleNamespace) -> Any:
    """Fit the model, and return it with what scales its samples."""
    scalers = [] if options.scale in (None, "none") else [reading.scaler_of(options.scale, views.data)]
    samples = views.data if scalers else views.frames
    with reading.workers_of(options.dask):
        beside(partial(model.fit, reading.transformed(scalers, samples)))
    return Pipeline([("scale", scalers[0]), ("cluster", model)]) if scalers else model


def predict(path: Path, paths: list[Path], options: SimpleNamespace) -> None:
    """Label the samples in the files with a model and report."""
    output.check_outputs(options, [path, *paths])
    asked = ["predict", *(["predict_proba"] if options.confidence else [])]
    with output.library_speaks() as warnings, watching("labels", hidden=options.quiet or options.json) as watch:
        *steps, last = read_model(path, options)
        watch.tell("reading samples")
        views, start = read_new([*steps, last], paths, options), perf_counter()
        parts = (partial(getattr(last, one), reading.transformed(steps, views.data)) for one in asked)
        labels, *shares = (np.asarray(beside(part)) for part in parts)
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


def read_new(steps: Sequence[Any], paths: list[Path], options: SimpleNamespace) -> reading.FileViews:
    """Read new samples, or their kernels with the fitted ones, as the steps of a model take them."""
    # Columns are found by these names; matrices, which the model gets, have none.
    names = [str(name) for name in vars(steps[0]).pop("feature_names_in_", ())]
    views = reading.read_views(paths, options, steps[-1], names or None)
    if names and views.names not in (None, names):
        told = f"DATA has the columns {listing(views.names)}, and the model was fitted on {listing(names)}"
        raise Failure(f"{told}; give the files in the order of the fit.")
    return views


def summarise_fit(model: Any, views: reading.FileViews) -> dict[str, Any]:
    """Return what there is to say about a fit; what a method lacks is None or empty."""
    solved, views_known = getattr(model, "solution_", None), getattr(model, "views_", None)
    names = list(getattr(model, "kernel_names_", []) if solved is None else solved.names)
    weights = np.asarray(getattr(model, "kernel_weights_", []) if solved is None else solved.g).tolist()
    sizes, levels = np.bincount(model.labels_).tolist(), getattr(model, "levels_", None)
    told = [] if views_known is None else views_known.entries()
    files = views.called if len(views.called) == len(told) else [None] * len(told)
    return {
        "n_samples": views.n_samples,
        "n_features": views.n_features,
        "n_clusters": len(sizes),
        # what speaks for the plausible numbers of clusters, from coarse to fine
        "levels": levels and [{name: getattr(level, name) for name in OF_A_LEVEL} for level in levels],
        "status": getattr(model, "status_", None) if solved is None else solved.status,
        **{name: getattr(model, f"{name}_", None) for name in ("n_iter", "n_components", "reliability")},
        "cluster_sizes": sizes,
        "kernels": names,
        "kernel_weights": dict(zip(names, weights, strict=False)),
        "kernels_in_words": describe_weights(names, weights),
        "views": [{"file": file, **entry} for file, entry in zip(files, told, strict=True)],
        "why": list(getattr(model, "why_", [])),
    }


def report(
    summary: dict[str, Any], labels: Any, views: reading.FileViews, options: SimpleNamespace, beside: Mapping[str, Any]
) -> None:
    """Write labels, and what is known of each `beside` it, and print the summary."""
    if options.out is not None:
        output.write_labels(options.out, labels, views.ids, beside)
    files = list(zip(views.called, views.files, strict=True))
    forms = {name: file.form for name, file in files if file.form is not None}
    summary |= {
        "confidence": _certainty(**beside) if beside else None,
        "header": {name: file.header for name, file in files if file.header is not None},
        "tables": {name: {"delimiter": form.delimiter, "decimal": form.decimal} for name, form in forms.items()},
        "out": options.out and str(options.out),
    }
    output.print_warnings(summary["warnings"])
    if options.json:
        each = {f"{name}s": values for name, values in beside.items()}
        output.print_json({**summary, "ids": views.ids, "labels": labels, "confidences": None, **each})
    elif not options.quiet:
        with redirect_stdout(sys.stderr if options.out == output.STANDARD else sys.stdout):
            print_summary(summary)


def _certainty(confidence: np.ndarray, outlier_score: np.ndarray | None = None) -> dict[str, Any]:
    """Return what there is to say about how sure labels are."""
    told = {"mean": round(float(confidence.mean()), 4), "below_half": int((confidence < UNSURE).sum())}
    return told if outlier_score is None else {**told, "outliers": int((outlier_score > ASIDE).sum())}


def print_summary(summary: dict[str, Any]) -> None:
    """Print what there is to say of a fit, or of the labels of new samples, for people."""
    get = summary.get
    sizes, classes, kernels = summary["cluster_sizes"], get("classes"), get("kernels", ())
    told = map(str, sizes) if classes is None else map("{} {}".format, classes, sizes)
    parts, sure, out, of_fit = get("n_components"), summary["confidence"], summary["out"], "method" in summary
    used = None if of_fit else f"{summary['model']}, {' and '.join([*summary['steps'], summary['estimator']])}"
    number = summary["n_clusters"] if of_fit else f"{np.count_nonzero(sizes)} of {summary['n_clusters']} occur"
    rows = {
        "method": f"{summary['method']}, {TITLED[summary['method']]}" if of_fit else None,
        "samples": summary["n_samples"],
        "features": "none, kernels or a graph" if summary["n_features"] is None else summary["n_features"],
        "header": reading.by_file(summary["header"], reading.HEADERS.__getitem__),
        "tables": reading.by_file(summary["tables"], reading.table_in_words),
        "scale": None if get("scale") == "none" else get("scale"),
        "kernels": kernels[0] if len(kernels) == 1 and summary["n_features"] else len(kernels) or None,
        "status": "stopped at the limit of iterations" if get("status") == "max_iter" else get("status"),
        "iterations": get("n_iter"),
        "graph": parts and ("connected" if parts == 1 else f"{parts} connected components"),
        "clusters" if classes is None else "classes": number,
        "cluster sizes" if classes is None else "class sizes": ", ".join(told),
        "reliability": None if get("reliability") is None else f"{summary['reliability']:.2f}",
        "confidence": sure and f"{sure['mean']:.2f} on the mean, below {UNSURE} for {sure['below_half']} labels",
        "outliers": sure and sure.get("outliers"),
        "time": f"{summary['seconds']:.2f} seconds",
        "labels": {None: "not written; give --out labels.csv", "-": "on standard output"}.get(out, out),
        "model": used or summary["model"],
        "page": get("report"),
    }
    output.print_table([f"{name:13}", str(text)] for name, text in rows.items() if text is not None)
    if len(get("views", ())) > 1:
        about_views = [
            [str(number), view["file"] or view["name"], str(view["n_samples"]), f"{view['weight']:.2f}", view["why"]]
            for number, view in enumerate(summary["views"], 1)
        ]
        typer.echo("")
        output.print_table(about_views, header=("view", "file", "samples", "weight", "why"), numbers=[0, 2, 3])
    weights = get("kernel_weights", {})
    for sentences in (get("why"), get("kernels_in_words") if len(weights) > 1 else None):
        if sentences:
            typer.echo("\n" + "\n".join(sentences))
    if len(set(weights.values())) > 1:  # equal ones say no more than the sentence
        listed = sorted(weights.items(), key=lambda item: -item[1])
        typer.echo("")
        used_ones = [[name, f"{weight:.3f}"] for name, weight in listed if weight >= USED]
        output.print_table(used_ones, header=["kernel", "weight"], numbers=[1])
