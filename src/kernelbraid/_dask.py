"""Dask: tasks for its workers, its failures in words, and a connection to workers that have this package."""

import asyncio
import logging
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from kernelbraid._machine import install
from kernelbraid._version import __version__

# Seconds in which a scheduler must answer, and must have a worker.
PATIENCE = 10.0
GIVE_ADDRESS = "give the address that dask scheduler prints when it starts, such as tcp://127.0.0.1:8786"
SAME_VERSION = f"install kernelbraid {__version__} on the scheduler and on every worker, and start them again"
LOST = "the Dask cluster was lost before the work was done; start it again, then fit again."


class DaskError(Exception):
    """A Dask cluster cannot be used; the text says why and what to do."""


def task(function: Callable[..., Any], named_after: Any, *arguments: Any) -> Any:
    """Return a call that a worker makes later; a dashboard shows it by the name of a function."""
    import dask

    name = getattr(named_after, "__qualname__", type(named_after).__name__).strip("_").lower()
    return dask.delayed(function, pure=False)(*arguments, dask_key_name=f"{name}-{uuid4()}")


def compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Return the results of calls, or say in a sentence that the cluster was lost."""
    import dask

    # Graphs may be large: the fitted samples and their kernels travel with them, once. Where distributed is not loaded
    # there is no client, and Dask would forget the settings that it brings when this one is taken back.
    large = {"distributed.admin.large-graph-warning-threshold": "1 TB"} if "distributed" in sys.modules else {}
    with in_words(), dask.config.set(large):
        return tuple(dask.compute(*tasks))


@contextmanager
def in_words() -> Iterator[None]:
    """Turn what Dask raises when workers or the scheduler are lost into a sentence."""
    try:
        yield
    except (ConnectionError, CancelledError):
        raise DaskError(LOST) from None
    except Exception as error:
        # Classes of distributed, which need not be installed for Dask's threads.
        if type(error).__name__ == "KilledWorker":
            deaths = getattr(error, "allowed_failures", 0) + 1
            raise DaskError(
                f"the Dask workers died again and again with the same block ({deaths} times); see their logs, and give "
                "them more memory or smaller blocks."
            ) from None
        if type(error).__name__ == "CommClosedError":
            raise DaskError(LOST) from None
        raise


@contextmanager
def open_client(address: str) -> Iterator[Any]:
    """Connect to a Dask cluster that has workers with this version of the package.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://127.0.0.1:8786"``, or ``"tls://10.0.0.1:8786"`` in a network.

    Yields
    ------
    distributed.Client
        The connection; at the end, for whatever reason, the cluster forgets what is not done.

    Raises
    ------
    DaskError
        No scheduler answers, it has no worker, or one with another version of this package.
    """
    try:
        import distributed
    except ImportError:
        raise DaskError(f"A Dask cluster needs distributed; {install('dask')}.") from None
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


def _find_scheduler(address: str) -> None:
    """Ask who answers at an address; a client of Dask may wait for ever if it is another program."""
    try:
        kind = asyncio.run(asyncio.wait_for(_kind(address), PATIENCE))
    except (ValueError, TypeError) as error:
        if isinstance(error, TypeError) and address.startswith("tls:"):
            raise DaskError(
                f"{address!r} asks for a certificate, and Dask knows of none here; name its configuration, with "
                "distributed.comm.tls in it, in DASK_CONFIG."
            ) from None
        raise DaskError(f"{address!r} is no address of a Dask scheduler ({error}); {GIVE_ADDRESS}.") from None
    except Exception:  # another program may answer anything
        raise DaskError(
            f"no Dask scheduler answered at {address!r} within {PATIENCE:g} s; check that it runs, and {GIVE_ADDRESS}."
        ) from None
    if kind != "Scheduler":
        raise DaskError(f"at {address!r} is a Dask {kind.lower()}; give the address of its scheduler.")


async def _kind(address: str) -> str:
    from distributed import Security, rpc

    async with rpc(address, timeout=PATIENCE, connection_args=Security().get_connection_args("client")) as server:
        return str((await server.identity())["type"])


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster without workers, and workers without this version of the package: it is part of every key."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise DaskError(
            f"the Dask scheduler at {address!r} has no worker; start some with dask worker {address}{_alone(address)}."
        ) from None
    # A function of the standard library: one of ours could not be read where the package is missing.
    found = client.run(pkgutil.resolve_name, "kernelbraid:__version__", on_error="return")
    for worker, version in found.items():
        if isinstance(version, ImportError | AttributeError):
            raise DaskError(f"the Dask worker {worker} cannot import kernelbraid ({version}); {SAME_VERSION}.")
        if isinstance(version, str):  # anything else is a worker that has just gone
            check_version(worker, version, __version__)


def _alone(address: str) -> str:
    """Return what keeps a worker of this machine to itself: whoever reaches one can run any program there."""
    host = address.rpartition("//")[2].rpartition(":")[0]
    return f" --host {host}" if host in ("127.0.0.1", "localhost", "[::1]") else ""


def check_version(worker: str, version: str, wanted: str) -> None:
    """Refuse a worker with another version of the package."""
    if version != wanted:
        raise DaskError(
            f"the Dask worker {worker} has kernelbraid {version}, this process has {wanted}; install the same on both."
        )
