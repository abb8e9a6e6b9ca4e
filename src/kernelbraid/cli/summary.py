"""What there is to say about a fit: as plain data, and as tables and sentences."""

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import typer
from sklearn.base import BaseEstimator

from kernelbraid._messages import PYTHON, Message, say
from kernelbraid.cli.inputs import STANDARD
from kernelbraid.cli.messages import InOptions
from kernelbraid.cli.output import bar, print_table
from kernelbraid.cli.recipe import WORDS
from kernelbraid.cli.views import headers_in_words, tables_in_words
from kernelbraid.learning.wording import USED, describe_weights, kernel_is_fixed

UNSURE, ASIDE = 0.5, 0.5  # a label is not sure below, and a sample stands aside above
STATUS_WORDS = {
    "converged": "converged",
    "max_iter": "stopped at the limit of iterations",
    "stopped": "stopped on request",
    "non_finite": "broke down: values were no longer finite",
    "kernel_vanished": "broke down: the consensus kernel became zero",
    "graph_empty": "broke down: the graph became empty",
    "graph_diagonal": "broke down: the graph joins no two samples",
}

SCALES = {"standard": "features to mean 0 and variance 1", "unit": "samples to length 1"}


def summarise(
    model: BaseEstimator, n_samples: int, n_features: int | None, files: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what there is to say about a fit, as plain data; what a method lacks is None or empty."""
    names = list(getattr(model, "kernel_names_", []))
    weights = np.asarray(getattr(model, "kernel_weights_", [])).tolist()
    sizes = np.bincount(model.labels_).tolist()
    evidence = getattr(model, "n_clusters_evidence_", None)
    n_components = getattr(model, "n_components_", None)
    return {
        "n_samples": n_samples,
        "n_features": n_features,
        "n_landmarks": _n_landmarks(model),
        "n_clusters": int(getattr(model, "n_clusters_", len(sizes))),
        "evidence": None if evidence is None else {name: _plain(values) for name, values in evidence.items()},
        "status": getattr(model, "status_", None),
        "n_iter": int(model.n_iter_),
        "n_components": None if n_components is None else int(n_components),
        "cluster_sizes": sizes,
        "kernels": names,
        "kernel_weights": dict(zip(names, weights, strict=True)) if weights else {},
        "kernels_in_words": _in_words(names, weights, model),
        "views": _views(model, files),
        "reliability": getattr(model, "reliability_", None),
        "why": [say(sentence, InOptions({})) for sentence in getattr(model, "why_", [])],
    }


def summarise_certainty(confidence: np.ndarray, outlier_score: np.ndarray | None = None) -> dict[str, Any]:
    """Return what there is to say about how sure labels are, as plain data."""
    said = {"mean": round(float(np.mean(confidence)), 4), "below_half": int((confidence < UNSURE).sum())}
    return said if outlier_score is None else {**said, "outliers": int((outlier_score > ASIDE).sum())}


def by_sample(
    labels: Sequence[int | str], ids: Sequence[str] | None, certainty: Mapping[str, np.ndarray] | None
) -> dict[str, Any]:
    """Return what is known of each sample, as plain data: its name and how sure its label is are None if unknown."""
    sure = {} if certainty is None else {f"{name}s": values.tolist() for name, values in certainty.items()}
    return {"ids": None if ids is None else list(ids), "labels": list(labels), "confidences": None, **sure}


def labels_in_words(out: str | None) -> str:
    """Return where the labels are, for people."""
    if out == str(STANDARD):
        return "on standard output"
    return out or "not written; give --out labels.csv"


def certainty_in_words(said: Mapping[str, Any] | None) -> str | None:
    """Return the same for people."""
    if said is None:
        return None
    told = (
        f"{said['mean']:.2f} on the mean, below {UNSURE} for {say(Message('{n:#label}', n=said['below_half']), PYTHON)}"
    )
    return told if "outliers" not in said else f"{told}; outlier score above {ASIDE} for {said['outliers']}"


def _views(model: BaseEstimator, files: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a fit says of its views, each with its file."""
    report = getattr(model, "view_report_", [])
    names = files if len(files) == len(report) else [None] * len(report)
    return [{"file": file, **_plain(entry)} for file, entry in zip(names, report, strict=True)]


def _n_landmarks(model: BaseEstimator) -> int | None:
    landmarks = getattr(model, "landmarks_", None)
    return None if landmarks is None else int(landmarks.shape[0])


def _number_or_none(value: int | None) -> str | None:
    return None if value is None else str(value)


def _in_words(names: list[str], weights: list[float], model: BaseEstimator) -> list[str]:
    """Return what the kernel weights say."""
    if not weights:
        return []
    words = InOptions({})
    told = describe_weights(names, weights, learned=not kernel_is_fixed(model))
    return [say(sentence, words) for sentence in told]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a kernel by its name, None for what is no number, infinity as a word."""
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None if math.isnan(value) else str(float(value))
    return value if value is None or isinstance(value, str) else getattr(value, "name", str(value))


def print_summary(summary: dict[str, Any]) -> None:
    """Print a fit for people."""
    status, features = summary["status"], summary["n_features"]
    rows: dict[str, str | None] = {
        "method": f"{summary['method']}, {WORDS[summary['method']]}",
        "samples": str(summary["n_samples"]),
        "features": "none, kernels or a graph" if features is None else str(features),
        "header": headers_in_words(summary.get("header", {})),
        "tables": tables_in_words(summary.get("tables", {})),
        "scale": SCALES.get(summary.get("scale", "none")),
        "landmarks": _number_or_none(summary["n_landmarks"]),
        "kernels": _kernels(summary),
        "status": STATUS_WORDS.get(status, status),
        "iterations": str(summary["n_iter"]),
        "graph": _components(summary["n_components"]),
        "clusters": n_clusters_in_words(summary["n_clusters"], summary["evidence"]),
        "cluster sizes": ", ".join(map(str, summary["cluster_sizes"])),
        "reliability": None if summary["reliability"] is None else f"{summary['reliability']:.2f}",
        "confidence": certainty_in_words(summary.get("confidence")),
        "fit": f"{summary['seconds']:.2f} seconds",
        "labels": labels_in_words(summary["out"]),
        "model": summary["model"],
    }
    print_table([label, text] for label, text in rows.items() if text is not None)
    if len(summary["views"]) > 1:
        typer.echo("")
        print_views(summary["views"])
    if summary["why"]:
        print_sentences(summary["why"])
    weights = summary["kernel_weights"]
    if len(weights) > 1:
        print_sentences(summary["kernels_in_words"])
    if len(set(weights.values())) > 1:  # bars of equal length say no more than the sentence
        typer.echo("")
        print_weights(weights)


def n_clusters_in_words(n_clusters: int, evidence: Mapping[str, Any] | None) -> str:
    """Return the number of clusters and, if it was chosen, among which ones and before which one."""
    if evidence is None:
        return str(n_clusters)
    tried = evidence["n_clusters"]
    others = [
        (score, number)
        for number, score in zip(tried, evidence["score"], strict=True)
        if number != n_clusters and isinstance(score, float | int)
    ]
    if not others:
        return f"{n_clusters}, chosen; there was no other to compare"
    return f"{n_clusters}, chosen among {min(tried)} to {max(tried)}; next best {max(others)[1]}"


def _components(count: int | None) -> str | None:
    """Return the parts of the graph, None if the method has no graph."""
    if count is None:
        return None
    return "connected" if count == 1 else f"{count} connected components"


def _kernels(summary: dict[str, Any]) -> str | None:
    """Return the number of kernels, or the name of the only one if it has one; None if the method uses none."""
    names = summary["kernels"]
    if not names:
        return None
    return names[0] if len(names) == 1 and summary["n_features"] is not None else str(len(names))


def print_sentences(sentences: list[str]) -> None:
    """Print sentences, one a line, after an empty line."""
    typer.echo("")
    for sentence in sentences:
        typer.echo(sentence)


def print_views(views: Sequence[Mapping[str, Any]]) -> None:
    """Print what each view counts, with whom it agrees most, and why."""
    files = {view["name"]: view["file"] or view["name"] for view in views}
    counts = [view["n_samples"] for view in views]
    columns = {
        "view": [str(number) for number in range(1, len(views) + 1)],
        "file": list(files.values()),
        "samples": [str(count) for count in counts] if len(set(counts)) > 1 else [],
        "trusted": ["yes" if view["trusted"] else "no" for view in views],
        "weight": [f"{view['weight']:.2f}" for view in views],
        "agrees most with": [_nearest(view["agreement"], files) for view in views],
        "reason": [view["reason"] for view in views],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    numbers = [place for place, name in enumerate(shown) if name in ("view", "samples", "weight")]
    print_table(zip(*shown.values(), strict=True), header=shown, numbers=numbers)


def _nearest(agreement: Mapping[str, float], files: Mapping[str, str]) -> str:
    """Return the view that agrees most, with deviations above chance; nothing if none was compared."""
    if not agreement:
        return ""
    nearest = max(agreement, key=lambda name: agreement[name])
    return f"{files[nearest]} ({agreement[nearest]:z.1f})"


def print_weights(weights: dict[str, float]) -> None:
    """Print the weights of the kernels, the largest first."""
    listed = sorted(weights.items(), key=lambda item: -item[1])
    shown = [(name, weight) for name, weight in listed if weight >= USED]
    largest = max(weights.values())
    table = [[name, f"{weight:.3f}", bar(weight / largest)] for name, weight in shown]
    if len(shown) < len(listed):
        n_others = len(listed) - len(shown)
        table.append([f"{n_others} other{'s' if n_others > 1 else ''}", "0.000", ""])
    print_table(table, header=["kernel", "weight", ""], numbers=[1])
