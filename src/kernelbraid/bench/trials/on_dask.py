"""Trials on a Dask cluster: its workers fit and score, this process alone writes to the store."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from kernelbraid._version import __version__
from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.trials.data_files import DataFiles
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.runner import dataset
from kernelbraid.bench.trials.sources import Sources
from kernelbraid.bench.trials.trial import machine_facts, run_trials
from kernelbraid.blocks.client import SAME_VERSION, check_version, open_client
from kernelbraid.blocks.dask_parts import DaskError
from kernelbraid.datasets import DataError, Dataset

if TYPE_CHECKING:
    from distributed import Client, Future

# Groups of trials in flight for each thread of the cluster: enough that none waits for this process.
AHEAD = 3
NO_FILES = Sources()


@contextmanager
def connect(address: str) -> Iterator["Workers"]:
    """Connect to a Dask cluster; at the end, for whatever reason, it forgets the trials that are not done.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://127.0.0.1:8786"``, or ``"tls://10.0.0.1:8786"`` in a network.

    Yields
    ------
    Workers
        Its `execute` is what `kernelbraid.bench.run` takes.
    """
    with open_client(address) as client:
        yield Workers(client, address)


@dataclass(frozen=True)
class Workers:
    """A Dask cluster that runs trials."""

    client: "Client"
    address: str  # of the scheduler

    def execute(
        self, groups: Iterable[list[Trial]], sources: Sources = NO_FILES
    ) -> Generator[list[Record], None, None]:
        """Yield the records of groups of trials that share a fit, as they are finished.

        Files of data and methods are read by the workers under the same paths.
        """
        from distributed import as_completed

        waiting, finished = iter(groups), as_completed(loop=self.client.loop)
        pending: dict[Future, list[Trial]] = {}  # groups by their futures
        try:
            while True:
                threads = sum(self.client.nthreads().values())  # workers may come and go
                for group in islice(waiting, max(0, AHEAD * max(threads, 1) - len(pending))):
                    future = self.client.submit(run_here, group, __version__, sources, pure=False)
                    pending[future] = group
                    finished.add(future)
                if not pending:
                    return
                future = next(finished)
                yield self._records(future, pending.pop(future))
        except (OSError, CancelledError):
            raise DaskError(
                f"the Dask scheduler at {self.address!r} was lost or started again; what is finished is stored, and "
                "the same command does the rest."
            ) from None

    def _records(self, future: "Future", group: list[Trial]) -> list[Record]:
        """Return what came out of a task, or failures if it took its workers with it."""
        from distributed import KilledWorker

        try:
            return list(future.result())
        except KilledWorker as error:
            count, last = error.allowed_failures + 1, error.last_worker.address
            reason = f"Dask workers died while they had this trial ({count} in all, the last one {last}); see their "
            reason += "logs, and give them more memory if it ran out."
            return [Record(trial, "failed", reason=reason, **machine_facts()) for trial in group]
        except (CancelledError, DataError, DaskError, ProtocolError):
            raise
        except Exception as error:
            if future.status != "error":  # the cluster is at fault, not the task
                raise
            raise DaskError(
                f"the Dask cluster at {self.address!r} could not run a trial ({_reason(error)}); {SAME_VERSION}."
            ) from None


def run_here(group: list[Trial], version: str, sources: Sources = NO_FILES) -> list[Record]:
    """Run trials that share a fit on a worker, with one thread of linear algebra, if it has the data they name."""
    from distributed import get_worker

    worker = get_worker().address
    check_version(worker, __version__, version)
    # For good: of several tasks in a process, the first one to end would give the others their threads back.
    threadpool_limits(1)
    sources.provide()
    for trial in group:
        data = _same_dataset(trial, worker, sources.data.get(trial.data))
    return run_trials(group, data)


def _same_dataset(trial: Trial, worker: str, files: DataFiles | None = None) -> Dataset:
    """Return the data set of a trial as this worker has it, if it is the one that the trial is keyed by."""
    try:
        found = dataset(trial.data, files)
        if found.checksum != trial.checksum:
            dataset.cache_clear()  # a worker may be older than its files
            found = dataset(trial.data, files)
    except DataError as error:
        raise DataError(f"on the Dask worker {worker}: {error}") from None
    if found.checksum != trial.checksum:
        raise DataError(
            f"on the Dask worker {worker} the data set {trial.data!r} has the checksum {found.checksum}, here it has "
            f"{trial.checksum}; give both machines the same file."
        )
    return found


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
