"""From trials to records: fit once, read the result out in every way that the trials ask for."""

import os
import platform
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, TypeAlias, TypedDict

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import normalize

from kernelbraid._arrays import to_numpy
from kernelbraid._system import peak_bytes
from kernelbraid._threads import calm
from kernelbraid._typing import Array
from kernelbraid.bench.records.record import Record, Trial, to_json
from kernelbraid.bench.records.snapshots import keep_parts
from kernelbraid.bench.trials.compared import JOINED, method_of
from kernelbraid.bench.trials.corruption import OUTLIER, SHUFFLED, UNDRAWN, change, changed_kernels
from kernelbraid.datasets import Dataset
from kernelbraid.estimators import LKG, KernelKMeans, MultipleKernelKMeans
from kernelbraid.estimators.graphs import GraphClusterer
from kernelbraid.files.arrays import Matrix
from kernelbraid.kernels import BANKS, Custom, Kernel, bank_names, banks_for, split_name
from kernelbraid.learning.candidates import Candidates
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.readout import PlacedGraph, cluster, place
from kernelbraid.learning.settings import PRESETS, Readout
from kernelbraid.learning.trust import name_of
from kernelbraid.learning.views import WeighedViews
from kernelbraid.metrics import accuracy, balance, evaluate, nmi

# Parameters that change what is read out of a fit, not the fit.
READOUTS = ("graph_from", "n_neighbors", "edge_weights", "embedding", "restart_score", "n_init")
RUNS, RESTARTS = 20, 100
# Embeddings of one fit that are kept: trials that differ in the seed alone share one, but do not follow each other.
EMBEDDINGS = 32
# Measures by which the candidates of a search are compared with labels.
TUNED = {"acc": accuracy, "nmi": nmi}
# Samples of which a silhouette is taken where there are more.
SILHOUETTE_SAMPLES = 2000
# What a search has chosen if it is LKG without any parameter.
AS_IT_COMES = "as it comes"


def fit_key(trial: Trial) -> str:
    """Return what trials have in common that one fit can serve."""
    graph = _has_graph(trial)
    learned_by = getattr(method_of(trial).estimator, "_learns_by", ())
    readouts = [name for name in READOUTS if graph and name not in learned_by]
    solver = {name: value for name, value in trial.parameters.items() if name not in readouts}
    scoring = "" if graph else trial.scoring
    seed = trial.seed if _draws(trial) else None
    return to_json(
        [trial.data, trial.method, trial.bank, trial.kernel, solver, seed, scoring, trial.changes, trial.keep]
    )


def _draws(trial: Trial) -> bool:
    """Tell whether a fit depends on the seed; a graph that is not started at random does not, only the k-means."""
    if not set(UNDRAWN).issuperset(trial.changes) or not _has_graph(trial):
        return True
    model = make(trial, 2)
    if not isinstance(model, LKG):
        return False
    return model.preset not in PRESETS or model._settings().learning.graph_start != "identity"


def _has_graph(trial: Trial) -> bool:
    """Tell whether a method learns a graph and reads it out; one of others is fitted as it is."""
    return not trial.code and issubclass(method_of(trial).estimator, LKG | GraphClusterer)


@dataclass(frozen=True)
class Fitted:
    """What a record tells of a fit that was learned and read out; attributes are named as those of estimators."""

    status_: str
    n_iter_: int
    kernel_weights_: np.ndarray
    kernel_names_: list[str]
    history_: Mapping[str, np.ndarray] = field(default_factory=dict)
    kernel_: Array = None

    @classmethod
    def of(cls, learned: LearnedGraph, names: list[str], weighed: WeighedViews | None = None) -> "Fitted":
        """Take it from a learned graph; one that is a kernel itself was not iterated for.

        Where views were weighed, their weights count; otherwise those of kernels.
        """
        weights = np.empty(0) if learned.weights is None else to_numpy(learned.weights)
        if weighed is not None:
            weights = weighed.spread(weights) if weighed.has_learned_weights else weighed.weights
            names = [str(name_of(view)) for view in range(weighed.samples.n_views)]
        status = str(learned.status) if learned.n_iter > 0 else "done"
        return cls(status, learned.n_iter, weights, names, learned.history, learned.K)


#: A trial, what was fitted for it, the labels of each of its runs, and the seconds of one fit.
Run: TypeAlias = tuple[Trial, BaseEstimator | Fitted, list[np.ndarray], float]
#: What an estimator is fitted to: samples, views of them, or kernels.
Data: TypeAlias = Matrix | list[Matrix]
#: What a search may choose: a number, a word, kernels.
Choice: TypeAlias = "float | str | Kernel | Custom | Sequence[Choice]"


class MachineFacts(TypedDict):
    """What every record says about where and when it was made."""

    peak_bytes: int
    machine: str
    created: str


def run_trials(trials: Sequence[Trial], dataset: Dataset, *, device: str | None = None) -> list[Record]:
    """Run trials that share a fit, and return their records; a failure becomes one, too."""
    try:
        return list(_run(trials, dataset, device))
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return [Record(trial, "failed", reason=reason, **machine_facts()) for trial in trials]


def skip(trial: Trial, reason: str) -> Record:
    """Return the record of a trial that is not run."""
    return Record(trial, "skipped", reason=reason, **machine_facts())


def _run(trials: Sequence[Trial], dataset: Dataset, device: str | None) -> Iterator[Record]:
    k, dataset = dataset.n_clusters, change(dataset, trials[0].changes, trials[0].seed)
    data = data_for(trials[0], dataset)
    run = _run_graphs if _has_graph(trials[0]) else _run_models
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how a fit ended is in its status
        for trial, fitted, labels, seconds in run(trials, data, k, device):
            yield record_of(trial, dataset, fitted, labels, seconds)


def _run_models(trials: Sequence[Trial], data: Data, k: int, device: str | None) -> Iterator[Run]:
    """Fit every trial as often as its scoring asks."""
    for trial in trials:
        started = time.perf_counter()
        models = [make(trial, k, device, run=run) for run in range(_runs(trial))]
        _fit_all(models, data)
        seconds = (time.perf_counter() - started) / len(models)
        yield trial, models[0], [_labels(model) for model in models], seconds


def _fit_all(models: Sequence[BaseEstimator], data: Data) -> None:
    """Fit models that differ in their seed; kernels are posed once for those that can share them."""
    if not isinstance(models[0], KernelKMeans | MultipleKernelKMeans):
        for model in models:
            model.fit(data)
        return
    with calm(models[0].n_jobs):
        models[0]._validate_params()
        candidates = models[0]._read(data)
        for model in models:
            model._find(candidates)


def _labels(model: BaseEstimator) -> np.ndarray:
    if not hasattr(model, "labels_"):
        raise TypeError(f"{type(model).__name__} has no labels_ after fit; fit must set them, one per sample")
    return to_numpy(model.labels_)


def _run_graphs(trials: Sequence[Trial], data: Data, k: int, device: str | None) -> Iterator[Run]:
    """Learn one graph, and read it out as each trial asks; again only where it does not serve."""
    learned: LearnedGraph | None = None
    candidates: Candidates | WeighedViews | None = None
    for trial in trials:
        model = make(trial, k, device)
        model._validate_params()
        if learned is None or not learned.suits(readout_of(trial, k, candidates)):
            started = time.perf_counter()
            candidates = model._read(data)
            readout = readout_of(trial, k, candidates)
            learned = model._learn(candidates, np.random.RandomState(model.random_state))
            placed = lru_cache(maxsize=EMBEDDINGS)(partial(place, learned))
            placed(_without_restarts(readout))
            seconds = time.perf_counter() - started
            weighed = candidates if isinstance(candidates, WeighedViews) else getattr(candidates, "weighed", None)
            fitted = Fitted.of(learned, getattr(candidates, "names", []), weighed)
        readout = readout_of(trial, k, candidates)
        yield trial, fitted, cluster_runs(placed(_without_restarts(readout)), readout, trial), seconds


def _without_restarts(readout: Readout) -> Readout:
    """Return what decides the embedding."""
    return replace(readout, n_init=1, restart_score="inertia", assign_labels="kmeans")


def data_for(trial: Trial, dataset: Dataset) -> Data:
    """Return what the estimator of a trial takes: views, the one of its kernel, features side by side, or kernels."""
    if takes_kernels(trial):
        return kernels_for(trial, dataset)
    if dataset.X is not None:
        return dataset.X
    if trial.method in JOINED:
        return join_rows(dataset.views)
    if method_of(trial).policy == "each":
        return dataset.views[(split_name(trial.kernel)[0] or 1) - 1]
    if method_of(trial).joins:
        return sparse.hstack(dataset.views).tocsr() if any(map(sparse.issparse, dataset.views)) else _joined(dataset)
    return dataset.views


def takes_kernels(trial: Trial) -> bool:
    """Tell whether a trial needs kernels that no estimator makes of samples."""
    return SHUFFLED in trial.changes or method_of(trial).reduce is not None


def kernels_for(trial: Trial, dataset: Dataset) -> np.ndarray:
    """Return kernels of shape (n_kernels, n, n): those of the bank with the changes of a trial, or one made of them."""
    kernels = changed_kernels(dataset, trial.bank, trial.changes, trial.seed)
    method = method_of(trial)
    if method.reduce is None:
        return kernels
    model = method.estimator(dataset.n_clusters, **{**method.settings, **trial.parameters})
    return np.asarray(method.reduce(kernels, **model._settings().flat()))[None]


def join_rows(views: Sequence[Matrix]) -> Matrix:
    """Return views side by side, the rows of each scaled to unit length; a row of zeros stays one."""
    scaled = [normalize(X) for X in views]
    return sparse.hstack(scaled).tocsr() if any(map(sparse.issparse, scaled)) else np.concatenate(scaled, axis=1)


def _joined(dataset: Dataset) -> np.ndarray:
    return np.concatenate(dataset.views, axis=1)


def _runs(trial: Trial) -> int:
    return RUNS if trial.scoring == "mean20" else 1


def make(trial: Trial, n_clusters: int, device: str | None = None, run: int = 0) -> BaseEstimator:
    """Return the unfitted estimator of a trial."""
    method = method_of(trial)
    parameters: dict[str, Any] = dict(trial.parameters)
    known = method.parameters
    if method.policy == "all":
        parameters["kernels"] = "precomputed" if takes_kernels(trial) else trial.bank
    if method.policy == "each":
        kernel = next(kernel for kernel in BANKS[trial.bank] if kernel.name == split_name(trial.kernel)[1])
        parameters |= {"kernel": kernel} if "kernel" in known else {"kernels": [kernel]}
    if trial.scoring == "best100" and "n_init" in known:
        parameters["n_init"] = RESTARTS
    if "history" in trial.keep and "record_objective" in known:
        parameters["record_objective"] = True
    if "kernel" in trial.keep and "keep_matrices" in known:
        parameters["keep_matrices"] = True
    if device is not None and "device" in known:
        parameters["device"] = device
    return method.make(n_clusters, **parameters, random_state=_random_state(trial, run))


def _random_state(trial: Trial, run: int) -> int:
    """Return a number for each run of each seed; the seed itself where there is one run, as a user would give it."""
    return trial.seed if trial.scoring == "once" else trial.seed * RUNS + run


def readout_of(trial: Trial, n_clusters: int, candidates: Candidates | WeighedViews | None = None) -> Readout:
    """Return how the graph of a trial is read out; a mean over runs has one restart in each unless it asks for more."""
    readout: Readout = make(trial, n_clusters)._readout(candidates)
    if trial.scoring == "once":
        return readout
    single = trial.parameters.get("n_init", method_of(trial).settings.get("n_init", 1))
    return replace(readout, n_init=RESTARTS if trial.scoring == "best100" else single)


def cluster_runs(placed: PlacedGraph, readout: Readout, trial: Trial) -> list[np.ndarray]:
    """Run k-means as often as the scoring of a trial asks, each time with a seed of its own."""
    generators = [np.random.RandomState(_random_state(trial, run)) for run in range(_runs(trial))]
    return [cluster(placed, readout, random_state=generator).labels for generator in generators]


def record_of(
    trial: Trial, dataset: Dataset, model: BaseEstimator | Fitted, labels: Sequence[np.ndarray], seconds: float
) -> Record:
    """Score the labels of a trial."""
    scored = dataset.y != OUTLIER
    runs = [evaluate(dataset.y[scored], found[scored]) for found in labels]
    names = list(runs[0])
    table = np.array([[scores[name] for name in names] for scores in runs])
    deviations = dict(zip(names, table.std(axis=0).tolist(), strict=True)) if len(runs) > 1 else {}
    return Record(
        trial,
        status=str(getattr(model, "status_", "done")),
        scores=dict(zip(names, table.mean(axis=0).tolist(), strict=True)),
        deviations=deviations,
        label_free=label_free(dataset, labels[0]),
        learned=_learned(trial, dataset, model),
        n_iter=int(getattr(model, "n_iter_", 0)),
        seconds=seconds,
        kept=keep_parts(model, labels[0], trial.keep),
        tuned=_tuned(dataset, model, labels[0], scored),
        chosen=_chosen(model),
        **machine_facts(),
    )


def _tuned(dataset: Dataset, model: BaseEstimator | Fitted, chosen: np.ndarray, scored: np.ndarray) -> dict[str, float]:
    """Return the best of each measure over the candidates of a search: what choosing by label would have given.

    The chosen one counts as it was clustered in the end, too, with more restarts perhaps than the others.
    """
    if not hasattr(model, "candidate_labels_"):
        return {}
    candidates = [labels[scored] for labels in (*to_numpy(model.candidate_labels_), chosen)]
    return {name: max(score(dataset.y[scored], labels) for labels in candidates) for name, score in TUNED.items()}


def _chosen(model: BaseEstimator | Fitted) -> str:
    """Return what a search chose as words, kernels by their names; LKG as it comes has no parameters."""
    if not hasattr(model, "best_params_"):
        return ""
    return ", ".join(f"{name} {_words(value)}" for name, value in model.best_params_.items()) or AS_IT_COMES


def _words(value: Choice) -> str:
    if isinstance(value, list | tuple):
        return " + ".join(map(_words, value))
    return f"{value:g}" if isinstance(value, float) else str(getattr(value, "name", value))


def _learned(trial: Trial, dataset: Dataset, model: BaseEstimator | Fitted) -> dict[str, float]:
    """Return the weights of several kernels by name."""
    weights = to_numpy(getattr(model, "kernel_weights_", np.empty(0))).tolist()
    if len(weights) < 2:
        return {}
    precomputed = takes_kernels(trial)  # and known by their numbers alone
    names = bank_names(banks_for(trial.bank, dataset.views)) if precomputed else model.kernel_names_
    return dict(zip(names, weights, strict=True))


def label_free(dataset: Dataset, labels: np.ndarray) -> dict[str, float]:
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


def machine_facts() -> MachineFacts:
    """Return what a record says about the machine and the time."""
    return {
        "peak_bytes": peak_bytes(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
