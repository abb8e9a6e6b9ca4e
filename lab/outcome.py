"""From a fit and its labels to a record."""

import os
import platform
import resource
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from sklearn.metrics import silhouette_score

from kernelbraid.datasets import Dataset
from kernelbraid.kernels import bank_names, banks_for
from kernelbraid.metrics import balance, evaluate
from lab.changes import OUTLIER, SHUFFLED
from lab.methods import Method
from lab.records import Record, Trial

# Samples of which a silhouette is taken where there are more.
SILHOUETTE_SAMPLES = 2000
#: Rows and columns of the picture of a kernel, at most: about 50 kB in a record.
PIXELS = 96
DIGITS_OF_HISTORY, DIGITS_OF_KERNEL = 4, 3


def record_of(
    trial: Trial, model: Any, labels: Sequence[np.ndarray], seconds: float, method: Method, dataset: Dataset
) -> Record:
    """Score the labels of a trial.

    Parameters
    ----------
    trial : Trial
        What was run.
    model : estimator
        Fitted, or what has the same attributes.
    labels : sequence of ndarray
        Of each run.
    seconds : float
        Of one fit.
    method : Method
        Of the trial.
    dataset : Dataset
        With the changes of the trial.
    """
    scored = dataset.y != OUTLIER
    runs = [evaluate(dataset.y[scored], found[scored]) for found in labels]
    table = np.array([list(scores.values()) for scores in runs])
    return Record(
        trial,
        status=getattr(model, "status_", "done"),
        scores=dict(zip(runs[0], table.mean(axis=0).tolist(), strict=True)),
        deviations=dict(zip(runs[0], table.std(axis=0).tolist(), strict=True)) if len(runs) > 1 else {},
        label_free=_label_free(dataset, labels[0]),
        learned=_weights(trial, method, dataset, model),
        n_iter=int(getattr(model, "n_iter_", 0)),
        seconds=seconds,
        kept=keep_parts(model, labels[0], trial.keep),
        **_machine_facts(),
    )


def failure(trial: Trial, error: Exception) -> Record:
    """Return the record of a trial that failed."""
    return Record(trial, "failed", " ".join(f"{type(error).__name__}: {error}".split()), **_machine_facts())


def skip(trial: Trial, reason: str) -> Record:
    """Return the record of a trial that is not run."""
    return Record(trial, "skipped", reason, **_machine_facts())


def _weights(trial: Trial, method: Method, dataset: Dataset, model: Any) -> dict[str, float]:
    """Return the weights of several kernels by name, or of several views."""
    views = getattr(model, "view_report_", [])
    if any(view["agreement"] for view in views):  # they were weighed
        return {view["name"]: view["weight"] for view in views}
    weights = np.asarray(getattr(model, "kernel_weights_", ())).tolist()
    if len(weights) < 2:
        return {}
    is_precomputed = SHUFFLED in trial.changes  # and known by their numbers alone
    names = bank_names(banks_for(trial.bank, dataset.views)) if is_precomputed else model.kernel_names_
    return dict(zip(names, weights, strict=True))


def _label_free(dataset: Dataset, labels: np.ndarray) -> dict[str, float]:
    """Return scores that need no classes: silhouette in the first view, and how even the clusters are."""
    found = {"balance": balance(labels)}
    X = dataset.views[0]
    if isinstance(X, np.ndarray):
        there = ~np.isnan(X).any(axis=1)
        X, labels = X[there], labels[there]
    if 1 < len(np.unique(labels)) < len(labels):
        size = min(SILHOUETTE_SAMPLES, len(labels))
        found["silhouette"] = float(silhouette_score(X, labels, sample_size=size, random_state=0))
    return found


def _machine_facts() -> dict[str, Any]:
    """Return what a record says about the machine and the time."""
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def keep_parts(model: Any, labels: np.ndarray, parts: Collection[str]) -> dict[str, Any]:
    """Return the parts of a fitted LKG as plain data.

    ``"history"``: a list of numbers per quantity, one per step. ``"kernel"``: ``"image"``, means of the consensus
    kernel over at most 96 x 96 blocks, samples ordered by their labels, and ``"sizes"`` of the clusters in this order.
    """
    kept: dict[str, Any] = {}
    if "history" in parts:
        kept["history"] = _history(model.history_)
    if "kernel" in parts:
        order = np.argsort(labels, kind="stable")
        image = block_means(np.asarray(model.kernel_)[np.ix_(order, order)])
        rows = [[_rounded(value, DIGITS_OF_KERNEL) for value in row] for row in image.tolist()]
        kept["kernel"] = {"image": rows, "sizes": np.unique(labels, return_counts=True)[1].tolist()}
    return kept


def _history(columns: Mapping[str, np.ndarray]) -> dict[str, list[float | None]]:
    """Return every series of numbers; words, such as the route of a step, are left out."""
    return {
        name: [_rounded(value, DIGITS_OF_HISTORY) for value in values.tolist()]
        for name, values in columns.items()
        if np.issubdtype(values.dtype, np.number)
    }


def block_means(matrix: np.ndarray, most: int = PIXELS) -> np.ndarray:
    """Return the means of a square matrix over at most `most` blocks per side, of sizes that differ by one at most."""
    edges = np.linspace(0, len(matrix), min(len(matrix), most) + 1).round().astype(int)
    sums = np.add.reduceat(np.add.reduceat(matrix, edges[:-1], axis=0), edges[:-1], axis=1)
    sizes = np.diff(edges)
    return np.asarray(sums / np.outer(sizes, sizes))


def _rounded(value: float, digits: int) -> float | None:
    """Return a number of few digits, or None where it is not finite, which JSON cannot say."""
    return float(f"{value:.{digits}g}") if isfinite(value) else None
