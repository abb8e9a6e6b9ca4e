"""Runs what is missing of an experiment, in parallel processes, and stores every record as soon as it is there."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache

from joblib import Parallel, delayed, parallel_config

from kernelbraid.datasets import DataError, Dataset, load
from lab.device import run_on_device
from lab.experiment import Experiment
from lab.methods import COMPARED, Method
from lab.own_data import OwnData
from lab.own_methods import OwnMethod
from lab.records import Folder, Record, Trial
from lab.trial import fit_key, no_outcome, run_trials


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

    def keep(record: Record) -> None:
        folder.add(record)
        counts["done" if record.succeeded else record.status] += 1
        watch(record)

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
                keep(no_outcome(trial, "skipped", experiment.skipped[trial.key]))
        for records in _execute(experiment, missing, n_jobs, device):
            for record in records:
                keep(record)
    return counts


def _execute(experiment: Experiment, trials: list[Trial], n_jobs: int, device: str | None) -> Iterator[list[Record]]:
    """Yield the records of trials, those that share a fit together, as they are finished."""
    own, data = experiment.methods, experiment.data
    methods = {name: _method(name, own.get(name)) for name in {trial.method for trial in trials}}
    by_fit: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_fit[fit_key(trial, methods[trial.method])].append(trial)
    groups = list(by_fit.values())
    if device is not None:
        yield from run_on_device(groups, methods, lambda trial: _dataset(trial, data.get(trial.data)), device)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        tasks = (delayed(run_group)(group, data.get(group[0].data), own.get(group[0].method)) for group in groups)
        yield from Parallel(n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(tasks)


def run_group(group: list[Trial], data: OwnData | None, own: OwnMethod | None) -> list[Record]:
    """Run trials that share a fit, in whatever process this is."""
    return run_trials(group, _method(group[0].method, own), _dataset(group[0], data))


def _method(name: str, own: OwnMethod | None) -> Method:
    return COMPARED[name] if own is None else own.method()


def _dataset(trial: Trial, own: OwnData | None) -> Dataset:
    """Return the data set of a trial, if it is the one that the trial is keyed by."""
    found = _read(trial.data, own, trial.checksum)
    if found.checksum != trial.checksum:
        raise DataError(f"the data set {trial.data!r} has changed since the run began; run the same command again.")
    return found


@lru_cache(maxsize=2)
def _read(name: str, own: OwnData | None, checksum: str) -> Dataset:
    """Return a data set, by its name or from files; another checksum has it read again."""
    return load(name) if own is None else own.read()
