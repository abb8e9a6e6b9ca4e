"""Trials on a Dask cluster: its workers fit and score, this process alone writes to the store."""

import asyncio
import logging
import pkgutil
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from threadpoolctl import threadpool_limits

from kernelbraid import __version__
from kernelbraid._cluster import ClusterError
from kernelbraid.bench.fitting import here, run_trials
from kernelbraid.bench.records import Record, Trial
from kernelbraid.bench.runner import dataset
from kernelbraid.datasets import DataError

# Seconds in which a scheduler must answer, and must have a worker.
PATIENCE = 10.0
# Groups of trials in flight for each thread of the cluster: enough that none waits for this process.
AHEAD = 3
GIVE_ADDRESS = "give the address that dask scheduler prints when it starts, such as tcp://10.0.0.1:8786"
SAME_VERSION = f"install kernelbraid {__version__} on the scheduler and on every worker, and start them again"


@contextmanager
def connect(address: str) -> Iterator["Cluster"]:
    """Connect to a Dask cluster; at the end, for whatever reason, it forgets the trials that are not done.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Yields
    ------
    Cluster
        Its `execute` is what `kernelbraid.bench.run` takes.
    """
    with open_client(address) as client:
        yield Cluster(client, address)


@contextmanager
def open_client(address: str) -> Iterator[Any]:
    """Connect to a Dask cluster that has workers with this version of the package.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Yields
    ------
    distributed.Client
        The connection; at the end, for whatever reason, the cluster forgets what is not done.

    Raises
    ------
    ClusterError
        No scheduler answers, it has no worker, or one with another version of this package.
    """
    distributed = _library()
    _find_scheduler(address)
    logs = [logging.getLogger(name) for name in ("distributed.client", "asyncio")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)  # a lost scheduler or an interruption is reported once, in a sentence
    try:
        # At its end, a client gives up what it has asked for.
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            _check_workers(client, address)
            yield client
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def _library() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError(
            "distributed, which talks to a Dask cluster, is not installed; pip install 'kernelbraid[dask]'."
        ) from None
    return distributed


def _find_scheduler(address: str) -> None:
    """Ask who answers at an address; a client of Dask may wait for ever if it is another program."""
    try:
        kind = asyncio.run(asyncio.wait_for(_kind(address), PATIENCE))
    except (ValueError, TypeError) as error:
        raise ClusterError(f"{address!r} is no address of a Dask scheduler ({error}); {GIVE_ADDRESS}.") from None
    except Exception:  # another program may answer anything
        raise ClusterError(
            f"no Dask scheduler answered at {address!r} within {PATIENCE:g} s; check that it runs, and {GIVE_ADDRESS}."
        ) from None
    if kind != "Scheduler":
        raise ClusterError(f"at {address!r} is a Dask {kind.lower()}; give the address of its scheduler.")


async def _kind(address: str) -> str:
    from distributed import Security, rpc

    async with rpc(address, timeout=PATIENCE, connection_args=Security().get_connection_args("client")) as server:
        return str((await server.identity())["type"])


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster without workers, and workers without this version of the package: it is part of every key."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the Dask scheduler at {address!r} has no worker; start some with dask worker {address}."
        ) from None
    # A function of the standard library: one of ours could not be read where the package is missing.
    found = client.run(pkgutil.resolve_name, "kernelbraid:__version__", on_error="return")
    for worker, version in found.items():
        if isinstance(version, ImportError | AttributeError):
            raise ClusterError(f"the Dask worker {worker} cannot import kernelbraid ({version}); {SAME_VERSION}.")
        if isinstance(version, str):  # anything else is a worker that has just gone
            _check_version(worker, version, __version__)


def _check_version(worker: str, version: str, wanted: str) -> None:
    if version != wanted:
        raise ClusterError(
            f"the Dask worker {worker} has kernelbraid {version}, this process has {wanted}; install the same on both."
        )


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster that runs trials."""

    client: Any
    address: str  # of the scheduler

    def execute(self, groups: Sequence[list[Trial]]) -> Iterator[list[Record]]:
        """Yield the records of groups of trials that share a fit, as they are finished."""
        from distributed import as_completed

        waiting, finished = iter(groups), as_completed(loop=self.client.loop)
        pending: dict[Any, list[Trial]] = {}  # groups by their futures
        try:
            while True:
                threads = sum(self.client.nthreads().values())  # workers may come and go
                for group in islice(waiting, max(0, AHEAD * max(threads, 1) - len(pending))):
                    future = self.client.submit(run_here, group, __version__, pure=False)
                    pending[future] = group
                    finished.add(future)
                if not pending:
                    return
                future = next(finished)
                yield self._records(future, pending.pop(future))
        except (OSError, CancelledError):
            raise ClusterError(
                f"the Dask scheduler at {self.address!r} was lost or started again; what is finished is stored, and "
                "the same command does the rest."
            ) from None

    def _records(self, future: Any, group: list[Trial]) -> list[Record]:
        """Return what came out of a task, or failures if it took its workers with it."""
        from distributed import KilledWorker

        try:
            return list(future.result())
        except KilledWorker as error:
            count, last = error.allowed_failures + 1, error.last_worker.address
            reason = f"Dask workers died while they had this trial ({count} in all, the last one {last}); see their "
            reason += "logs, and give them more memory if it ran out."
            return [Record(trial, "failed", reason=reason, **here()) for trial in group]
        except (CancelledError, DataError, ClusterError):
            raise
        except Exception as error:
            if future.status != "error":  # the cluster is at fault, not the task
                raise
            raise ClusterError(
                f"the Dask cluster at {self.address!r} could not run a trial ({_reason(error)}); {SAME_VERSION}."
            ) from None


def run_here(group: list[Trial], version: str) -> list[Record]:
    """Run trials that share a fit on a worker, with one thread of linear algebra, if it has the data they name."""
    from distributed import get_worker

    worker = get_worker().address
    _check_version(worker, __version__, version)
    # For good: of several tasks in a process, the first one to end would give the others their threads back.
    threadpool_limits(1)
    for trial in group:
        data = _same_dataset(trial, worker)
    return run_trials(group, data)


def _same_dataset(trial: Trial, worker: str) -> Any:
    """Return the data set of a trial as this worker has it, if it is the one that the trial is keyed by."""
    try:
        found = dataset(trial.data)
        if found.checksum != trial.checksum:
            dataset.cache_clear()  # a worker may be older than its files
            found = dataset(trial.data)
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
