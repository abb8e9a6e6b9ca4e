"""What there is to say about a fit or about labels: as plain data, as JSON, and as tables and sentences."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import Any

import numpy as np
import typer

from kernelbraid.cli.output import STANDARD, print_json, print_table, print_warnings, write_labels
from kernelbraid.cli.views import HEADERS, FileViews, by_file, table_in_words
from kernelbraid.learning.report import USED, describe_weights
from kernelbraid.methods import TITLES

UNSURE, ASIDE = 0.5, 0.5  # a label is not sure below, and a sample stands aside above
TITLED = {**TITLES, "LKG": "several kernels, one graph"}


def summarise_fit(model: Any, views: FileViews) -> dict[str, Any]:
    """Return what there is to say about a fit; what a method lacks is None or empty."""
    solved, views_known = getattr(model, "solution_", None), getattr(model, "views_", None)
    names = list(getattr(model, "kernel_names_", []) if solved is None else solved.names)
    weights = np.asarray(getattr(model, "kernel_weights_", []) if solved is None else solved.g).tolist()
    sizes = np.bincount(model.labels_).tolist()
    told = [] if views_known is None else views_known.entries()
    files = views.called if len(views.called) == len(told) else [None] * len(told)
    return {
        "n_samples": views.n_samples,
        "n_features": views.n_features,
        "n_clusters": len(sizes),
        "levels": levels_of(model),
        "status": getattr(model, "status_", None) if solved is None else solved.status,
        **{name: getattr(model, f"{name}_", None) for name in ("n_iter", "n_components", "reliability")},
        "cluster_sizes": sizes,
        "kernels": names,
        "kernel_weights": dict(zip(names, weights, strict=False)),
        "kernels_in_words": describe_weights(names, weights),
        "views": [{"file": file, **entry} for file, entry in zip(files, told, strict=True)],
        "why": list(getattr(model, "why_", [])),
    }


def levels_of(model: Any) -> list[dict[str, Any]] | None:
    """Return what speaks for the plausible numbers of clusters, from coarse to fine; None if it was given."""
    told = ("n_clusters", "resolution", "score", "stability", "persistence", "modularity", "background", "is_taken")
    levels = getattr(model, "levels_", None)
    return levels and [{name: getattr(level, name) for name in told} for level in levels]


def report(
    summary: dict[str, Any], labels: Any, views: FileViews, options: SimpleNamespace, beside: Mapping[str, Any]
) -> None:
    """Write labels, and what is known of each `beside` it, and print the summary."""
    if options.out is not None:
        write_labels(options.out, labels, views.ids, beside)
    files = list(zip(views.called, views.files, strict=True))
    forms = {name: file.form for name, file in files if file.form is not None}
    summary |= {
        "confidence": _certainty(**beside) if beside else None,
        "header": {name: file.header for name, file in files if file.header is not None},
        "tables": {name: {"delimiter": form.delimiter, "decimal": form.decimal} for name, form in forms.items()},
        "out": options.out and str(options.out),
    }
    print_warnings(summary["warnings"])
    if options.json:
        each = {f"{name}s": values for name, values in beside.items()}
        print_json({**summary, "ids": views.ids, "labels": labels, "confidences": None, **each})
    elif not options.quiet:
        with redirect_stdout(sys.stderr if options.out == STANDARD else sys.stdout):
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
        "header": by_file(summary["header"], HEADERS.__getitem__),
        "tables": by_file(summary["tables"], table_in_words),
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
    print_table([f"{name:13}", str(text)] for name, text in rows.items() if text is not None)
    print_views(get("views", ()))
    weights = get("kernel_weights", {})
    for sentences in (get("why"), get("kernels_in_words") if len(weights) > 1 else None):
        if sentences:
            typer.echo("\n" + "\n".join(sentences))
    if len(set(weights.values())) > 1:  # equal ones say no more than the sentence
        listed = sorted(weights.items(), key=lambda item: -item[1])
        typer.echo("")
        used_ones = [[name, f"{weight:.3f}"] for name, weight in listed if weight >= USED]
        print_table(used_ones, header=["kernel", "weight"], numbers=[1])


def print_views(views: Sequence[Mapping[str, Any]]) -> None:
    """Print what each of several views counts, and why."""
    cells = []
    for number, view in enumerate(views, 1):
        counts = [str(view["n_samples"]), f"{view['weight']:.2f}"]
        cells.append([str(number), view["file"] or view["name"], *counts, view["why"]])
    if len(cells) > 1:
        typer.echo("")
        print_table(cells, header=["view", "file", "samples", "weight", "why"], numbers=[0, 2, 3])
