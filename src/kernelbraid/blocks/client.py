"""A connection to a Dask scheduler whose workers have this version of the package."""

import asyncio
import logging
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelbraid._system import install
from kernelbraid._version import __version__
from kernelbraid.blocks.dask_parts import DaskError

# Seconds in which a scheduler must answer, and must have a worker.
PATIENCE = 10.0
GIVE_ADDRESS = "give the address that dask scheduler prints when it starts, such as tcp://127.0.0.1:8786"
SAME_VERSION = f"install kernelbraid {__version__} on the scheduler and on every worker, and start them again"


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
        raise DaskError(f"A Dask cluster needs distributed; {install('dask')}.") from None
    return distributed


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
