"""Many fits of LKG as batches on an accelerator."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace

from kernelbraid.datasets import Dataset
from kernelbraid.learning import Candidates, LearnedGraph, Learning, PlacedGraph, Settings, Views, learn_many, place
from lab.methods import METHODS, Method
from lab.records import LabError, Record, Trial, to_json
from lab.trial import cluster_runs, is_read_out, make, readout_of, record_of, run_trials

# Fits of one batch, between two of which records are stored, and the numbers in one matrix of all of them.
BATCH, NUMBERS = 32, 2**28


def run_on_device(
    groups: Iterable[list[Trial]], methods: Mapping[str, Method], load: Callable[[Trial], Dataset], device: str
) -> Iterator[list[Record]]:
    """Yield the records of groups of trials that share a fit, those of LKG batch by batch."""
    try:
        import torch

        torch.empty(0, device=device)
    except (ImportError, RuntimeError, AssertionError) as error:  # AssertionError: PyTorch without CUDA
        raise LabError(f"--device {device}: {str(error).splitlines()[0].rstrip('.')}.") from None
    batches: dict[str, list[list[Trial]]] = defaultdict(list)
    for group in groups:
        how = _learning(group[0], methods)
        if how is None:
            yield run_trials(group, methods[group[0].method], load(group[0]), device)
        else:
            batches[to_json([group[0].data, group[0].bank, how.max_iter, how.tol, how.graph_from])].append(group)
    for alike in batches.values():
        dataset = load(alike[0][0])
        candidates = Views(dataset.views, partial(torch.as_tensor, device=device)).pose(alike[0][0].bank, stored=True)
        size = max(1, min(BATCH, NUMBERS // candidates.n_samples**2))
        for batch in (alike[first : first + size] for first in range(0, len(alike), size)):
            found, rest = _run_batch(batch, methods, dataset, candidates)
            yield found
            yield from (run_trials([trial], methods[trial.method], dataset, device) for trial in rest)


def _learning(trial: Trial, methods: Mapping[str, Method]) -> Learning | None:
    """Return how a trial learns if that can be done in a batch; otherwise None."""
    method = methods[trial.method]
    if trial.method not in METHODS or not is_read_out(trial, method) or trial.changes:
        return None
    model = make(trial, method, 2)
    if "graph_penalty" not in method.settings or model.preset not in ("authors", "paper"):
        return None
    learning = Settings.of(model.get_params(deep=False)).learning
    return learning if learning.is_batched else None


def _run_batch(
    groups: Sequence[list[Trial]], methods: Mapping[str, Method], dataset: Dataset, candidates: Candidates
) -> tuple[list[Record], list[Trial]]:
    """Learn some graphs over the same kernels on the device, and read them out on the host.

    Returns the records, and the trials that need a fit of their own: what is read out was cut off for the first trial.
    """
    started = time.perf_counter()
    try:
        fits = learn_many(candidates, [how for group in groups if (how := _learning(group[0], methods))])
    except Exception:  # of one of them; each will tell by itself
        return [], [trial for group in groups for trial in group]
    seconds = (time.perf_counter() - started) / len(groups)
    records, rest = [], []
    for group, found in zip(groups, fits, strict=True):
        solved = SimpleNamespace(status=str(found.status), g=found.weights, names=candidates.names)
        model = SimpleNamespace(solution_=solved, n_iter_=found.n_iter)
        for trial in group:
            readout = readout_of(trial, methods[trial.method], dataset.n_samples, dataset.n_clusters, several=False)
            if found.serves(readout.graph_from):
                learned = place(LearnedGraph.of(found, readout, candidates.identities), readout)
                placed = PlacedGraph.known(None, learned.embedding.cpu().numpy(), candidates.identities)
                runs = cluster_runs(placed, readout, trial)
                records.append(record_of(trial, model, runs, seconds, methods[trial.method], dataset))
            else:
                rest.append(trial)
    return records, rest
