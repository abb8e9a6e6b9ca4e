"""Many fits of LKG as batches on an accelerator."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from joblib import Parallel, delayed, parallel_config

from kernelbraid import LKG
from kernelbraid.datasets import Dataset
from kernelbraid.learning import Candidates, Learning, PlacedGraph, Settings, Views, learn_many, place
from lab.methods import ABLATIONS, Method
from lab.outcome import failure, record_of
from lab.records import LabError, Record, Trial, to_json
from lab.trial import cluster_runs, is_read_out, make, readout_of, run_trials

# Fits of one batch, between two of which records are stored, and the numbers in one matrix of all of them.
BATCH, NUMBERS = 32, 2**28


def run_on_device(
    groups: Iterable[list[Trial]], methods: Mapping[str, Method], load: Callable[[Trial], Dataset], device: str
) -> Iterator[list[Record]]:
    """Yield the records of groups of trials that share a fit, those of LKG batch by batch."""
    to_device = _placing(device)
    batches: dict[str, list[list[Trial]]] = defaultdict(list)
    for group in groups:
        trial, method = group[0], methods[group[0].method]
        learning = _batched(trial, method)
        if learning is None:
            yield run_trials(group, method, load(trial), device)
        else:
            batches[to_json([trial.data, trial.bank, learning.max_iter, learning.tol])].append(group)
    labelling: Iterator[list[Record]] = iter(())  # of the batch before, while the device solves the next one
    for alike in batches.values():
        dataset = load(alike[0][0])
        candidates = Views(dataset.views, to_device).pose(alike[0][0].bank, stored=True)
        size = max(1, min(BATCH, NUMBERS // candidates.n_samples**2))
        for first in range(0, len(alike), size):
            solved = _run_batch(alike[first : first + size], methods, dataset, candidates)
            yield from labelling
            labelling = solved
    yield from labelling


def _placing(device: str) -> Callable[[Any], Any]:
    """Return what moves an array to a device, which must be there."""
    try:
        import torch

        torch.empty(0, device=device)
    except (ImportError, RuntimeError, AssertionError) as error:  # AssertionError: PyTorch without CUDA
        raise LabError(f"--device {device}: {str(error).splitlines()[0].rstrip('.')}.") from None
    return partial(torch.as_tensor, device=device)


def _batched(trial: Trial, method: Method) -> Learning | None:
    """Return how a trial learns if that can be done in a batch, which knows no history; otherwise None."""
    if method.estimator is not LKG or not is_read_out(trial, method) or trial.keep or trial.changes:
        return None
    if trial.method in ABLATIONS or trial.method == "LKG":
        return None
    learning = _learning(trial, method)
    return learning if learning.is_batched else None


def _learning(trial: Trial, method: Method) -> Learning:
    return Settings.of(make(trial, method, 2).get_params(deep=False)).learning


def _run_batch(
    groups: Sequence[list[Trial]], methods: Mapping[str, Method], dataset: Dataset, candidates: Candidates
) -> Iterator[list[Record]]:
    """Learn some graphs over the same kernels on the device; return their records, made in processes of the host."""
    started = time.perf_counter()
    try:
        placed = list(_place(groups, methods, dataset, candidates))
    except Exception as error:
        return iter([[failure(trial, error) for group in groups for trial in group]])
    seconds = (time.perf_counter() - started) / len(groups)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        tasks = [delayed(_label)(*fit, dataset, seconds) for fit in placed]
        return iter(Parallel(n_jobs=-1, return_as="generator", pre_dispatch="all")(tasks))


def _place(
    groups: Sequence[list[Trial]], methods: Mapping[str, Method], dataset: Dataset, candidates: Candidates
) -> Iterator[tuple[Trial, Method, PlacedGraph, Any]]:
    """Yield the embedding of every trial on the host, and what its record tells of the fit.

    A graph is learned once for all trials of a group, but if it was cut off for the other of its two forms.
    """
    left = [list(group) for group in groups]
    for name in ("J", "Z"):
        asked = [group for group in left if any(_graph(trial, methods) == name for trial in group)]
        how = [replace(_learning(group[0], methods[group[0].method]), graph_from=name) for group in asked]
        for group, learned in zip(asked, learn_many(candidates, how), strict=True):
            served = [trial for trial in group if learned.serves(_graph(trial, methods))]
            group[:] = [trial for trial in group if trial not in served]
            told = {"status_": str(learned.status), "n_iter_": learned.n_iter, "kernel_weights_": learned.weights}
            for trial in served:
                readout = readout_of(trial, methods[trial.method], dataset.n_samples, dataset.n_clusters, several=False)
                placed = place(learned, readout)
                embedding = placed.embedding.cpu().numpy()
                placed = PlacedGraph(None, None, embedding, placed.identities)
                yield trial, methods[trial.method], placed, SimpleNamespace(**told, kernel_names_=candidates.names)


def _graph(trial: Trial, methods: Mapping[str, Method]) -> str:
    return _learning(trial, methods[trial.method]).graph_from


def _label(
    trial: Trial, method: Method, placed: PlacedGraph, fitted: Any, dataset: Dataset, seconds: float
) -> list[Record]:
    """Return the record of an embedding, as a list of one."""
    readout = readout_of(trial, method, dataset.n_samples, dataset.n_clusters, several=False)
    return [record_of(trial, fitted, cluster_runs(placed, readout, trial), seconds, method, dataset)]
