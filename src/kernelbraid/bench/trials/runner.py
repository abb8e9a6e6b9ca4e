"""Runs what is missing of an experiment, in parallel processes, and stores every record as soon as it is there."""

import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from typing import TypeAlias

from joblib import Parallel, delayed, parallel_config

from kernelbraid.bench.records.claims import Claims, Taken
from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.records.store import Store, StoreError, StoreWarning
from kernelbraid.bench.trials.data_files import DataFiles
from kernelbraid.bench.trials.device import run_on_device
from kernelbraid.bench.trials.experiment import Experiment
from kernelbraid.bench.trials.sources import Sources
from kernelbraid.bench.trials.trial import fit_key, run_trials, skip
from kernelbraid.datasets import DataError, Dataset, load

# From groups of trials that share a fit, taken when there is room for them, to the records of each, in any order.
Execute: TypeAlias = Callable[[Iterable[list[Trial]]], Generator[list[Record], None, None]]
# Seconds between two looks at trials that other runners have.
GLANCE = 2.0
# Groups are claimed one by one, or more at once, up to so many, as long as those of the last claim took less than so
# many seconds: a claim takes some milliseconds.
MOST_AT_ONCE, SHORT = 16, 0.5


@dataclass
class RunProgress:
    """Where a run stands."""

    total: int
    known: int  # records that were there before
    done: int = 0
    failed: int = 0
    failed_before: int = 0  # of those that are known
    skipped: int = 0
    elsewhere: int = 0  # records that other runners made meanwhile
    last_reason: str = ""  # of a failure
    best: dict[tuple[str, str], float] = field(default_factory=dict)  # accuracy by data set and method

    @property
    def left(self) -> int:
        """Trials still to run."""
        return self.total - self.known - self.done - self.elsewhere

    def add(self, record: Record) -> None:
        """Count a record."""
        self.done += 1
        if record.status == "failed":
            self.failed, self.last_reason = self.failed + 1, record.reason
        self.skipped += record.status == "skipped"
        if record.succeeded:
            cell = (record.trial.data, record.trial.method)
            self.best[cell] = max(self.best.get(cell, 0.0), record.scores["acc"])


def run(
    experiment: Experiment,
    store: Store,
    *,
    n_jobs: int = 1,
    device: str | None = None,
    execute: Execute | None = None,
    watch: Callable[[RunProgress, Record | None], None] | None = None,
) -> RunProgress:
    """Run the trials of an experiment that the store does not have, or has as skipped where this one runs them.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    store : Store
        Where records go; one that is there already, be it of a version in `EARLIER`, is not run again.
    n_jobs : int, default=1
        Processes, each with one thread of linear algebra; -1 stands for all cores, -2 for all but one.
    device : str, default=None
        PyTorch device for the methods that can use one; then everything runs in this process.
    execute : callable, default=None
        Runs groups of trials elsewhere and yields the records of each as soon as it is done, as that of a
        `kernelbraid.bench.trials.on_dask.Workers` does; then `n_jobs` and `device` are not used.
    watch : callable, default=None
        ``watch(progress, record)`` is called after every record, and once before the first with None.
    """
    asked = (trial for trial in experiment.trials if trial.key not in experiment.skipped)
    with warnings.catch_warnings(action="ignore", category=StoreWarning):  # damaged records are told of below
        store.forget((key for trial in asked for key in trial.keys), "skipped")
    known = store.statuses()
    missing = [trial for trial in experiment.trials if known.keys().isdisjoint(trial.keys)]
    progress = RunProgress(len(experiment.trials), len(experiment.trials) - len(missing))
    progress.failed_before = sum(any(known.get(key) == "failed" for key in t.keys) for t in experiment.trials)
    experiment.sources.provide()
    execute = execute or partial(_execute, n_jobs=n_jobs, device=device, sources=experiment.sources)

    def keep(records: list[Record]) -> None:
        store.add(*records)
        for record in records:
            progress.add(record)
            if watch is not None:
                watch(progress, record)

    def work(groups: Iterable[list[Trial]]) -> None:
        with closing(execute(groups)) as done:  # so that nobody works on after an error
            for records in done:
                keep(records)

    store.add_titles({experiment.name: experiment.title})
    if watch is not None:
        watch(progress, None)
    keep([skip(trial, experiment.skipped[trial.key]) for trial in missing if trial.key in experiment.skipped])
    with Claims(store) as claims:
        free = FreeGroups(share_fits([trial for trial in missing if trial.key not in experiment.skipped]), claims)
        work(free)
        if free.error is not None:
            raise free.error
        progress.elsewhere += len(free.taken.done)
        while aside := free.taken.theirs:  # until they are done, or their runner has died
            time.sleep(GLANCE)
            free.taken = claims.take(aside)
            progress.elsewhere += len(free.taken.done)
            if free.taken.mine:
                work(share_fits(free.taken.mine))
    return progress


class FreeGroups:
    """Groups of trials that this runner may run, each claimed when it is asked for; the rest is put aside.

    Those who ask may be in other threads, where an error would be lost: it ends the groups, and is kept.
    """

    def __init__(self, groups: Iterable[list[Trial]], claims: Claims) -> None:
        self.groups, self.claims = iter(groups), claims
        self.taken = Taken([], [], [])  # all in all
        self.error: StoreError | None = None

    def __iter__(self) -> Iterator[list[Trial]]:
        """Yield groups without the trials that others have or had."""
        count = 1
        while batch := list(islice(self.groups, count)):
            started = time.monotonic()
            try:
                taken = self.claims.take([trial for group in batch for trial in group])
            except StoreError as error:
                self.error = error
                return
            for mine, more in zip(self.taken, taken, strict=True):
                mine.extend(more)
            keys = {trial.key for trial in taken.mine}
            yield from filter(None, ([trial for trial in group if trial.key in keys] for group in batch))
            count = min(2 * count, MOST_AT_ONCE) if time.monotonic() - started < SHORT else 1


def share_fits(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Return trials in groups that one fit can serve, in the order of their first ones."""
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[fit_key(trial)].append(trial)
    return list(groups.values())


def _execute(
    groups: Iterable[list[Trial]], n_jobs: int, device: str | None, sources: Sources
) -> Generator[list[Record], None, None]:
    """Yield the records of the groups as they are finished."""
    if device is not None:
        yield from run_on_device(groups, lambda name: dataset(name, sources.data.get(name)), device)
        return
    if n_jobs == 1:
        yield from (run_group(group, sources) for group in groups)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1), _without_stumbling():
        done = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
            delayed(run_group)(group, sources) for group in groups
        )
        try:
            for records in done:  # noqa: UP028 (the end of this generator must not reach that one by itself)
                yield records
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib tells that it was ended early
                done.close()


@contextmanager
def _without_stumbling() -> Iterator[None]:
    """Say nothing of a thread of joblib that misses work which was taken away from it when a run ended early."""
    tell = threading.excepthook

    def tell_others(args: threading.ExceptHookArgs) -> None:
        if not (issubclass(args.exc_type, KeyError) and args.thread and args.thread.name == "ExecutorManagerThread"):
            tell(args)

    threading.excepthook = tell_others
    try:
        yield
    finally:
        threading.excepthook = tell


def run_group(group: list[Trial], sources: Sources) -> list[Record]:
    """Run trials that share a fit."""
    sources.provide()
    files = sources.data.get(group[0].data)
    found = dataset(group[0].data) if files is None else same_dataset(group[0], files)
    return run_trials(group, found)


def same_dataset(trial: Trial, files: DataFiles | None) -> Dataset:
    """Return the data set of a trial, if it is the one that the trial is keyed by."""
    found = dataset(trial.data, files)
    if found.checksum != trial.checksum:
        dataset.cache_clear()  # this process may be older than the files
        found = dataset(trial.data, files)
    if found.checksum != trial.checksum:
        raise DataError(
            f"the data set {trial.data!r} has the checksum {found.checksum}, the experiment was read with "
            f"{trial.checksum}; leave the files as they are while it runs, and run the same command again."
        )
    return found


@lru_cache(maxsize=2)
def dataset(name: str, files: DataFiles | None = None) -> Dataset:
    """Return a data set, by its name or from files, kept for the next trial of this process."""
    return load(name) if files is None else files.read()
