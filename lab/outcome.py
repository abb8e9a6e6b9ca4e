"""From a fit and its labels to a record."""

import os
import platform
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelbraid.datasets import Dataset
from kernelbraid.kernels import bank_names, banks_for
from kernelbraid.metrics import evaluate
from lab.changes import OUTLIER, SHUFFLED
from lab.methods import Method
from lab.records import Record, Trial


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
        learned=_weights(trial, method, dataset, model),
        n_iter=int(getattr(model, "n_iter_", 0)),
        seconds=seconds,
        **_machine_facts(),
    )


def no_outcome(trial: Trial, status: str, reason: str) -> Record:
    """Return the record of a trial that failed or is not run."""
    return Record(trial, status, reason, **_machine_facts())


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


def _machine_facts() -> dict[str, Any]:
    """Return what a record says about the machine and the time."""
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
