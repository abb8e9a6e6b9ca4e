"""Runs what is missing of an experiment, in parallel processes, and stores every record as soon as it is there."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from joblib import Parallel, delayed, parallel_config

from kernelbraid.datasets import DataError, Dataset, load
from lab.device import run_on_device
from lab.experiment import Experiment
from lab.methods import COMPARED, Method
from lab.outcome import skip
from lab.own_data import OwnData
from lab.own_methods import OwnMethod
from lab.records import Folder, Record, Trial
from lab.trial import fit_key, run_trials


def run(
    experiment: Experiment,
    folder: Folder,
    *,
    n_jobs: int = 1,
    device: str | None = None,
    again: bool = False,
    watch: Callable[[Record], None] = lambda record: None,
) -> Counter[str]:
    """Run the trials of an experiment that a folder does not have, or has as skipped where this one runs them.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    folder : Folder
        Where records go; one that is there already, be it of an earlier version, is not run again.
    n_jobs : int, default=1
        Processes, each with one thread of linear algebra; -1 stands for all cores, -2 for all but one.
    device : str, default=None
        PyTorch device for the methods that can use one; then everything runs in this process.
    again : bool, default=False
        Whether trials that failed are run once more.
    watch : callable, default=None
        Is called with every new record.

    Returns
    -------
    Counter
        How many trials are ``"known"``, ``"done"``, ``"failed"``, ``"failed before"`` and ``"skipped"``, each counted
        once.
    """
    counts: Counter[str] = Counter()
    with folder.alone():
        statuses = {record.trial.key: record.status for record in folder.records()}
        missing = []
        for trial in experiment.trials:
            found = {statuses[key] for key in trial.keys if key in statuses}
            if found - {"failed", "skipped"}:
                counts["known"] += 1
            elif "failed" in found and not again:
                counts["failed before"] += 1
            elif trial.key not in experiment.skipped:
                missing.append(trial)
            elif "skipped" in found:
                counts["known"] += 1
            else:
                _keep(folder, skip(trial, experiment.skipped[trial.key]), counts, watch)
        for records in _execute(experiment, missing, n_jobs, device):
            for record in records:
                _keep(folder, record, counts, watch)
    return counts


def _keep(folder: Folder, record: Record, counts: Counter[str], watch: Callable[[Record], None]) -> None:
    folder.add(record)
    counts["done" if record.succeeded else record.status] += 1
    watch(record)


def _execute(experiment: Experiment, trials: list[Trial], n_jobs: int, device: str | None) -> Iterator[list[Record]]:
    """Yield the records of trials, those that share a fit together, as they are finished."""
    methods = {trial.method: _method(trial, experiment.methods.get(trial.method)) for trial in trials}
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[fit_key(trial, methods[trial.method])].append(trial)
    if device is not None:
        yield from run_on_device(list(groups.values()), methods, lambda t: _data(t, experiment.data), device)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        yield from Parallel(n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
            delayed(run_group)(group, experiment.data, experiment.methods.get(group[0].method))
            for group in groups.values()
        )


def run_group(group: list[Trial], data: Mapping[str, OwnData], own: OwnMethod | None) -> list[Record]:
    """Run trials that share a fit, in whatever process this is."""
    return run_trials(group, _method(group[0], own), _data(group[0], data))


def _method(trial: Trial, own: OwnMethod | None) -> Method:
    return COMPARED[trial.method] if own is None else own.method()


def _data(trial: Trial, data: Mapping[str, OwnData]) -> Dataset:
    return dataset(trial.data, data.get(trial.data), trial.checksum)


@lru_cache(maxsize=2)
def dataset(name: str, own: OwnData | None, checksum: str) -> Dataset:
    """Return a data set, by its name or from files, if it is the one that trials are keyed by."""
    found = load(name) if own is None else own.read()
    if found.checksum != checksum:
        raise DataError(f"the data set {name!r} has changed since the experiment was read; run the same command again.")
    return found
