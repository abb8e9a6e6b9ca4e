"""From trials to records: fit once, read the result out in every way that the trials ask for."""

import os
import platform
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize

from kernelbraid import LKG
from kernelbraid.datasets import Dataset
from kernelbraid.kernels import BANKS, bank_names, banks_for, split_name
from kernelbraid.learning import (
    PRESETS,
    Coefficients,
    LearnedGraph,
    PlacedGraph,
    Readout,
    Settings,
    Views,
    cluster,
    place,
)
from kernelbraid.metrics import evaluate
from lab.changes import OUTLIER, SHUFFLED, UNDRAWN, change, changed_kernels
from lab.methods import OF_READOUT, Method
from lab.records import Record, Trial, to_json

RUNS, RESTARTS = 20, 100
# Parameters that change what is read out of a learned graph, not the graph; the last two, not its embedding either.
READOUTS = ("graph_from", "n_neighbors", "edge_weights", "embedding", "restart_score", "n_init")
OF_KMEANS = READOUTS[-2:]
SOUND = ("converged", "max_iter")  # how a fit ends that can be read out from either of its two graphs

#: A trial, what was fitted for it, the labels of each of its runs, and the seconds of one fit.
Run: TypeAlias = tuple[Trial, BaseEstimator, list[np.ndarray], float]


def run_trials(trials: Sequence[Trial], method: Method, dataset: Dataset, device: str | None = None) -> list[Record]:
    """Run trials that share a fit, and return their records; a failure becomes one, too."""
    try:
        with warnings.catch_warnings(action="ignore"):  # how a fit ended is in its status
            k, dataset = dataset.n_clusters, change(dataset, trials[0].changes, trials[0].seed)
            data = data_for(trials[0], method, dataset)
            run = _read_graph if is_read_out(trials[0], method) else _fit_each
            return [record_of(*found, method, dataset) for found in run(trials, method, data, k, device)]
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return [no_outcome(trial, "failed", reason) for trial in trials]


def fit_key(trial: Trial, method: Method) -> str:
    """Return what trials have in common that one fit can serve."""
    if not is_read_out(trial, method):
        return trial.key
    solver = {name: value for name, value in trial.parameters.items() if name not in READOUTS}
    draws = not trial.changes.keys() <= UNDRAWN or "graph_start" in solver or solver.get("preset") == "paper"
    seed = trial.seed if draws else None  # otherwise k-means alone depends on it
    return to_json([trial.data, trial.method, trial.bank, trial.kernel, solver, seed, trial.changes])


def is_read_out(trial: Trial, method: Method) -> bool:
    """Tell whether a graph is learned and read out more than once; scored once, a fit is what a user has of it."""
    return method.learns_graph and trial.scoring != "once"


def _fit_each(trials: Sequence[Trial], method: Method, data: Any, k: int, device: str | None) -> Iterator[Run]:
    """Fit every trial as often as its scoring asks."""
    for trial in trials:
        started = time.perf_counter()
        models = [make(trial, method, k, device, state) for state in random_states(trial)]
        for model in models:
            model.fit(data)
            if not hasattr(model, "labels_"):
                raise TypeError(f"{type(model).__name__} has no labels_ after fit; fit must set them, one per sample")
        seconds = (time.perf_counter() - started) / len(models)
        yield trial, models[0], [np.asarray(model.labels_) for model in models], seconds


def _read_graph(trials: Sequence[Trial], method: Method, data: Any, k: int, device: str | None) -> Iterator[Run]:
    """Learn one graph, and read it out as each trial asks; again only where it does not serve."""
    views = data if isinstance(data, list) else [data] if data.ndim == 2 else list(data)
    copies = Views(views).identities(range(len(views)))
    by_embedding = {key: list(alike) for key, alike in groupby(sorted(trials, key=_embedding_key), _embedding_key)}
    model: Any = None
    for alike in by_embedding.values():
        readouts = [readout_of(trial, method, len(copies), k, several=len(views) > 1) for trial in alike]
        solved = getattr(model, "solution_", None)
        if solved is not None and solved.status in SOUND:
            found = Coefficients(Z=solved.Z, J=solved.J)
            placed = place(LearnedGraph.of(found, readouts[0], copies), readouts[0])
        else:
            model = make(alike[0], method, k, device).set_params(n_init=1)
            started = time.perf_counter()
            model.fit(data)
            seconds = time.perf_counter() - started
            is_sum = getattr(getattr(model, "views_", None), "shares", None) is not None
            placed = PlacedGraph.known(model.graph_, model.embedding_, copies, is_sum=is_sum)
            if set(OF_READOUT[:3]) & alike[0].parameters.keys() - set(method.parameters):  # which no fit can do
                found = Coefficients(Z=getattr(model, "coefficients_", model.graph_))
                placed = place(LearnedGraph.of(found, readouts[0], copies), readouts[0])
        for trial, readout in zip(alike, readouts, strict=True):
            yield trial, model, cluster_runs(placed, readout, trial), seconds


def _embedding_key(trial: Trial) -> str:
    """Return what decides the embedding of trials that share a fit."""
    return to_json({name: value for name, value in trial.parameters.items() if name not in OF_KMEANS})


def cluster_runs(placed: PlacedGraph, readout: Readout, trial: Trial) -> list[np.ndarray]:
    """Run k-means as often as the scoring of a trial asks, each time with a seed of its own."""
    generators = [np.random.RandomState(state) for state in random_states(trial)]
    return [cluster(placed, readout, random_state=generator).labels for generator in generators]


def readout_of(trial: Trial, method: Method, n_samples: int, k: int, *, several: bool) -> Readout:
    """Return how the graph of a trial is read out."""
    model = make(trial, method, k)
    if isinstance(model, LKG):
        readout = Settings.of(model.get_params(deep=False)).sized(n_samples, k, several=several).readout
        return replace(readout, restart_score=trial.parameters.get("restart_score", readout.restart_score))
    asked = {name: value for name, value in {**method.settings, **trial.parameters}.items() if name in OF_READOUT}
    given = {"n_clusters": k, "n_init": model.n_init, "embedding": "largest", "graph_from": "Z"}
    return replace(PRESETS["authors"].readout, **{**given, **asked})


def random_states(trial: Trial) -> list[int]:
    """Return a number for each run of each seed; the seed itself where a fit is scored as a user would make it."""
    if trial.scoring == "once":
        return [trial.seed]
    return [trial.seed * RUNS + run for run in range(RUNS if trial.scoring == "mean20" else 1)]


def make(trial: Trial, method: Method, k: int, device: str | None = None, random_state: int | None = None) -> Any:
    """Return the unfitted estimator of a trial, by default of its first run."""
    known, parameters = method.parameters, dict(trial.parameters)
    if method.policy == "all":
        parameters["kernels"] = "precomputed" if takes_kernels(trial, method) else trial.bank
    if method.policy == "each":
        kernel = next(kernel for kernel in BANKS[trial.bank] if kernel.name == split_name(trial.kernel)[1])
        parameters |= {"kernel": kernel} if "kernel" in known else {"kernels": [kernel]}
    if trial.scoring == "best100" and "n_init" in known:
        parameters["n_init"] = RESTARTS
    elif trial.scoring == "mean20" and method.learns_graph:  # a mean over runs has one restart in each
        parameters = {"n_init": method.settings.get("n_init", 1), **parameters}
    if device is not None and "device" in known:
        parameters["device"] = device
    state = random_states(trial)[0] if random_state is None else random_state
    return method.make(k, **parameters, random_state=state)


def takes_kernels(trial: Trial, method: Method) -> bool:
    """Tell whether a trial needs kernels that no estimator makes of samples."""
    return SHUFFLED in trial.changes or method.reduce is not None


def data_for(trial: Trial, method: Method, dataset: Dataset) -> Any:
    """Return what the estimator of a trial takes: views, the one of its kernel, views joined, or kernels."""
    if takes_kernels(trial, method):
        return kernels_for(trial, method, dataset)
    if dataset.X is not None:
        return dataset.X
    if method.joins:
        return join(dataset.views, unit_rows=method.joins == "unit rows")
    if method.policy == "each":
        return dataset.views[(split_name(trial.kernel)[0] or 1) - 1]
    return dataset.views


def kernels_for(trial: Trial, method: Method, dataset: Dataset) -> np.ndarray:
    """Return kernels of shape (n_kernels, n, n): those of the bank with the changes of a trial, or one made of them."""
    kernels = changed_kernels(dataset, trial.bank, trial.changes, trial.seed)
    if method.reduce is None:
        return kernels
    model = method.estimator(**{**method.settings, **trial.parameters})
    return np.asarray(method.reduce(kernels, **asdict(Settings.of(model.get_params(deep=False)).learning)))[None]


def join(views: Sequence[Any], *, unit_rows: bool) -> Any:
    """Return views side by side, the rows of each perhaps scaled to unit length; a row of zeros stays one."""
    views = [normalize(X) for X in views] if unit_rows else views
    return sparse.hstack(views).tocsr() if any(map(sparse.issparse, views)) else np.concatenate(views, axis=1)


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
        status=getattr(getattr(model, "solution_", None), "status", getattr(model, "status_", "done")),
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
    views, solved = getattr(model, "views_", None), getattr(model, "solution_", None)
    if views is not None and np.isfinite(views.agreement).any():  # they were weighed
        return dict(zip(views.names, views.weights.tolist(), strict=True))
    weights = np.asarray(getattr(model, "kernel_weights_", ()) if solved is None else solved.g).tolist()
    if len(weights) < 2:
        return {}
    is_precomputed = SHUFFLED in trial.changes  # and known by their numbers alone
    of_model = getattr(model, "kernel_names_", ()) if solved is None else solved.names
    names = bank_names(banks_for(trial.bank, dataset.views)) if is_precomputed else of_model
    return dict(zip(names, weights, strict=True))


def _machine_facts() -> dict[str, Any]:
    """Return what a record says about the machine and the time."""
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
