"""Many fits of LKG as batches on an accelerator."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from joblib import Parallel, delayed, parallel_config

from kernelbraid._arrays import to_device, to_numpy
from kernelbraid.bench.records.record import Record, Trial, to_json
from kernelbraid.bench.trials.trial import Fitted, cluster_runs, machine_facts, make, readout_of, record_of, run_trials
from kernelbraid.datasets import Dataset
from kernelbraid.learning.candidates import Candidates, Views
from kernelbraid.learning.learn import LearnedGraph, learn_many
from kernelbraid.learning.readout import PlacedGraph, place
from kernelbraid.learning.settings import Learning
from kernelbraid.methods import METHODS
from kernelbraid.solvers.low_rank.step import GraphName

# Fits of one batch, between two of which records are stored, and the numbers in one matrix of all of them.
BATCH, NUMBERS = 32, 2**28


def run_on_device(groups: Iterable[list[Trial]], load: Callable[[str], Dataset], device: str) -> Iterator[list[Record]]:
    """Yield the records of groups of trials that share a fit, those of LKG batch by batch."""
    batches: dict[str, list[list[Trial]]] = defaultdict(list)
    for group in groups:
        if _can_batch(group[0]):
            learning = _learning(group[0])
            batches[to_json([group[0].data, group[0].bank, learning.max_iter, learning.tol])].append(group)
        else:
            yield run_trials(group, load(group[0].data), device=device)
    labelling: Iterator[list[Record]] = iter(())  # of the batch before, while the device solves the next one
    for alike in batches.values():
        dataset = load(alike[0][0].data)
        views = Views(dataset.views, partial(to_device, name=device))
        candidates = views.pose(alike[0][0].bank, stored=True)
        size = max(1, min(BATCH, NUMBERS // candidates.n_samples**2))
        for first in range(0, len(alike), size):
            solved = _run_batch(alike[first : first + size], dataset, candidates)
            yield from labelling
            labelling = solved
        del views, candidates
    yield from labelling


def _can_batch(trial: Trial) -> bool:
    """Tell whether a trial is a fit of LKG that starts as the batched solver does; the batch knows no history."""
    if trial.keep:
        return False
    if trial.altered or METHODS.get(trial.method) is None or "graph_penalty" not in METHODS[trial.method].settings:
        return False
    try:
        make(trial, 2)._validate_params()
    except ValueError:
        return False  # it fails by itself, and spoils no batch
    return _learning(trial).is_batched


def _learning(trial: Trial) -> Learning:
    learning: Learning = make(trial, 2)._settings().learning
    return learning


def _run_batch(groups: Sequence[list[Trial]], dataset: Dataset, candidates: Candidates) -> Iterator[list[Record]]:
    """Learn some graphs over the same kernels on the device; return their records, made in processes of the host."""
    started = time.perf_counter()
    learned = _learn(groups, candidates)
    seconds = (time.perf_counter() - started) / len(groups)
    placed = [
        (trial, *_place(trial, dataset, graphs[_learning(trial).graph_from], candidates.names))
        for group, graphs in zip(groups, learned, strict=True)
        for trial in group
    ]
    del learned
    with parallel_config(backend="loky", inner_max_num_threads=1):
        tasks = [delayed(_label)(*fit, dataset, seconds) for fit in placed]
        return iter(Parallel(n_jobs=-1, return_as="generator", pre_dispatch="all")(tasks))


def _learn(groups: Sequence[list[Trial]], candidates: Candidates) -> list[dict[GraphName, LearnedGraph]]:
    """Return what was learned for each graph that is asked for: the same unless it was cut off for one of them."""
    wanted = [{_learning(trial).graph_from for trial in group} for group in groups]
    found: list[dict[GraphName, LearnedGraph]] = [{} for _ in groups]
    names: tuple[GraphName, ...] = ("J", "Z")
    for graph in names:
        open_fits = [i for i in range(len(groups)) if graph in wanted[i] and graph not in found[i]]
        asked = [replace(_learning(groups[i][0]), graph_from=graph) for i in open_fits]
        for i, learned in zip(open_fits, learn_many(candidates, asked), strict=True):
            found[i] |= {name: learned for name in wanted[i] if learned.serves(name)}
    return found


def _place(
    trial: Trial, dataset: Dataset, learned: LearnedGraph, names: list[str]
) -> tuple[PlacedGraph | Exception, Fitted | None]:
    """Return the embedding of a trial and what its record tells of the fit; a failure instead of the first."""
    try:
        readout = readout_of(trial, dataset.n_clusters)
        placed = place(learned, readout)
    except (RuntimeError, ArithmeticError) as error:
        return error, None
    graph = placed.graph if readout.assign_labels == "merge" else None
    coordinates = PlacedGraph(graph, None, to_numpy(placed.embedding), placed.identities)
    return coordinates, replace(Fitted.of(learned, names), kernel_=None)


def _label(
    trial: Trial, placed: PlacedGraph | Exception, fitted: Fitted | None, dataset: Dataset, seconds: float
) -> list[Record]:
    """Return the record of an embedding, as a list of one."""
    if isinstance(placed, Exception) or fitted is None:
        reason = " ".join(f"{type(placed).__name__}: {placed}".split())
        return [Record(trial, "failed", reason=reason, **machine_facts())]
    labels = cluster_runs(placed, readout_of(trial, dataset.n_clusters), trial)
    return [record_of(trial, dataset, fitted, labels, seconds)]
