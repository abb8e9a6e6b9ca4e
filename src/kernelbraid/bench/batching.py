"""Many fits of LKG as batches on an accelerator."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from joblib import Parallel, delayed, parallel_config

from kernelbraid._arrays import to_device, to_numpy
from kernelbraid.bench.fitting import cluster_embedding, here, make, record_of, run_trials, settings_of
from kernelbraid.bench.methods import METHODS
from kernelbraid.bench.records import Record, Trial, to_json
from kernelbraid.estimators.candidates import graph_of
from kernelbraid.estimators.low_rank import PULLS
from kernelbraid.kernels import bank_names, banks_for, stack_bank
from kernelbraid.ops import spectral_embedding
from kernelbraid.solvers.batch import Setting, solve_many
from kernelbraid.solvers.iterate import Solution, Status

# Fits of one batch, between two of which records are stored, and the numbers in one matrix of all of them.
BATCH, NUMBERS = 32, 2**28
SOUND = (Status.CONVERGED, Status.MAX_ITER)


def run_on_device(groups: Sequence[list[Trial]], load: Any, device: str) -> Iterator[list[Record]]:
    """Yield the records of groups of trials that share a fit, those of LKG batch by batch."""
    batches: dict[str, list[list[Trial]]] = defaultdict(list)
    for group in groups:
        if _can_batch(group[0]):
            batches[to_json([group[0].data, group[0].bank, _limits(group[0])])].append(group)
        else:
            yield run_trials(group, load(group[0].data), device=device)
    labelling: Iterator[list[Record]] = iter(())  # of the batch before, while the device solves the next one
    for alike in batches.values():
        dataset = load(alike[0][0].data)
        banks = banks_for(alike[0][0].bank, dataset.views)
        stack = stack_bank(dataset.views, banks, place=partial(to_device, name=device)).store()
        size = max(1, min(BATCH, NUMBERS // stack.n_samples**2))
        for first in range(0, len(alike), size):
            solved = _run_batch(alike[first : first + size], dataset, stack, bank_names(banks))
            yield from labelling
            labelling = solved
        del stack
    yield from labelling


def _can_batch(trial: Trial) -> bool:
    """Tell whether a trial is a fit of LKG that starts as the batched solver does; the batch knows no history."""
    if trial.keep:
        return False
    if trial.altered or METHODS.get(trial.method) is None or "graph_penalty" not in METHODS[trial.method].settings:
        return False
    settings = settings_of(make(trial, 2))
    return bool(settings["graph_start"] == "identity" and settings["kernel_start"] == "average")


def _run_batch(groups: Sequence[list[Trial]], dataset: Any, stack: Any, names: list[str]) -> Iterator[list[Record]]:
    """Solve some fits over the same kernels on the device; return their records, made in processes of the host."""
    started = time.perf_counter()
    solutions = _solve(groups, stack)
    seconds = (time.perf_counter() - started) / len(groups)
    embedded = [
        (trial, *_embed(trial, dataset, solution[_graph_of(trial)], names))
        for group, solution in zip(groups, solutions, strict=True)
        for trial in group
    ]
    del solutions
    with parallel_config(backend="loky", inner_max_num_threads=1):
        tasks = [delayed(_label)(*fit, dataset, seconds) for fit in embedded]
        return iter(Parallel(n_jobs=-1, return_as="generator", pre_dispatch="all")(tasks))


def _solve(groups: Sequence[list[Trial]], stack: Any) -> list[dict[str, Solution[Any]]]:
    """Return the solution of every fit for each graph it is asked for: the same one unless it was cut off for one."""
    wanted = [{_graph_of(trial) for trial in group} for group in groups]
    found: list[dict[str, Solution[Any]]] = [{} for _ in groups]
    for graph in ("J", "Z"):
        open_fits = [i for i in range(len(groups)) if graph in wanted[i] and graph not in found[i]]
        settings = [_setting(groups[i][0]) for i in open_fits]
        solved = solve_many(stack, settings, graph=graph, **_limits(groups[0][0]))
        for i, solution in zip(open_fits, solved, strict=True):
            found[i][graph] = solution
            if solution.status in SOUND:
                found[i] = dict.fromkeys(wanted[i], solution)
    return found


def _embed(trial: Trial, dataset: Any, solution: Solution[Any], names: list[str]) -> tuple[Any, "_Fitted | None"]:
    """Return the embedding of a trial and what its record tells of the fit; a failure instead of the first."""
    settings = settings_of(make(trial, dataset.n_clusters))
    try:
        coefficients = solution.state.J if settings["graph_from"] == "J" else solution.state.Z
        graph = graph_of(coefficients, settings["n_neighbors"], settings["edge_weights"])
        embedding = to_numpy(spectral_embedding(graph, dataset.n_clusters, spectrum=settings["embedding"]))
    except (RuntimeError, ArithmeticError) as error:
        return error, None
    return embedding, _Fitted(str(solution.status), solution.n_iter, to_numpy(solution.state.g), names)


def _label(trial: Trial, embedding: Any, outcome: "_Fitted | None", dataset: Any, seconds: float) -> list[Record]:
    """Return the record of an embedding, as a list of one."""
    if outcome is None:
        reason = " ".join(f"{type(embedding).__name__}: {embedding}".split())
        return [Record(trial, "failed", reason=reason, **here())]
    by_distance = settings_of(make(trial, dataset.n_clusters))["restart_score"] == "distance"
    labels = cluster_embedding(embedding, trial, dataset.n_clusters, by_distance=by_distance)
    return [record_of(trial, dataset, outcome, labels, seconds)]


def _limits(trial: Trial) -> dict[str, Any]:
    """Return when the solver stops, the same for all fits of a batch."""
    settings = settings_of(make(trial, 2))
    return {"max_iter": settings["max_iter"], "tol": settings["tol"]}


def _graph_of(trial: Trial) -> Any:
    return settings_of(make(trial, 2))["graph_from"]


def _setting(trial: Trial) -> Setting:
    settings = settings_of(make(trial, 2))
    weights = {name: settings[name] for name in ("alpha", "beta", "gamma", "mu", "graph_penalty")}
    return Setting(**weights, growth=settings["mu_growth"], pull=PULLS[settings["weights_problem"]])


@dataclass(frozen=True)
class _Fitted:
    """What a record tells of a fit."""

    status_: str
    n_iter_: int
    kernel_weights_: Any
    kernel_names_: list[str]
