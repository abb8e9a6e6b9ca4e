"""What a machine has: threads for linear algebra, and memory that is free.

Threads of BLAS wait for each other by spinning, and small matrices gain nothing by them. So everything runs with one
thread (:func:`calm`), and factorisations and products of large matrices get what BLAS had before
(:func:`blas_threads`); those that are asked for win over both.
"""

import contextlib
import ctypes
import functools
import os
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from threadpoolctl import ThreadpoolController

#: Settings of the C library's mallopt, and what it is to keep.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, KEPT_BYTES = -1, -3, 2**28
#: Order of matrices from which several threads work on them.
ORDER = 3000
_asked: ContextVar[int | None] = ContextVar("_asked", default=None)


class _Pools:
    """The thread pools of all libraries of linear algebra in this process."""

    def __init__(self) -> None:
        controllers = ThreadpoolController().lib_controllers
        self.pools: list[Any] = [pool for pool in controllers if pool.user_api == "blas"]
        self.lock = threading.RLock()
        self.depth = 0
        self.before: list[int] = []  # what they had when the first came

    def get(self) -> list[int]:
        """Return how many threads each has."""
        return [int(pool.num_threads) for pool in self.pools]

    def set(self, counts: list[int]) -> None:
        """Change that."""
        for pool, count in zip(self.pools, counts, strict=True):
            if pool.num_threads != count:
                pool.set_num_threads(count)

    @contextlib.contextmanager
    def limited(self, count: int | None) -> Iterator[None]:
        """Give each so many, or as many as it had at first; the last to leave restores that."""
        with self.lock:
            if self.depth == 0:
                self.before = self.get()
            self.depth += 1
            outer = self.get()
            self.set(self.before if count is None else [count] * len(self.pools))
        try:
            yield
        finally:
            with self.lock:
                self.depth -= 1
                self.set(self.before if self.depth == 0 else outer)


@functools.cache
def _pools() -> _Pools:
    return _Pools()


def n_workers(n_jobs: int | None) -> int | None:
    """Return how many threads or processes `n_jobs` of an estimator asks for; None stays what it is.

    As in scikit-learn, -1 stands for all cores, -2 for all but one, and so on; there is always one.
    """
    if n_jobs is None or n_jobs > 0:
        return n_jobs
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


@contextlib.contextmanager
def calm(asked: int | None = None) -> Iterator[None]:
    """Work with one thread of linear algebra; with those that are asked for, also where :func:`blas_threads` is met.

    Parameters
    ----------
    asked : int, default=None
        Number of threads; if None, one, and more for large matrices.
    """
    token = _asked.set(asked)
    try:
        with _pools().limited(asked or 1):
            yield
    finally:
        _asked.reset(token)


@contextlib.contextmanager
def blas_threads(n: int, asked: int | None = None) -> Iterator[None]:
    """Set the threads for factorisations and products of matrices of order n: those asked for; all if n is large.

    Parameters
    ----------
    n : int
        Order.
    asked : int, default=None
        Number of threads; if None, that of :func:`calm` around it.
    """
    asked = asked or _asked.get()
    with _pools().limited(1 if asked is None and n < ORDER else asked):
        yield


def workers(asked: int | None = None) -> int:
    """Return how many blocks are worked on at a time: those asked for, here or in :func:`calm`, or what BLAS had."""
    asked = asked or _asked.get()
    pools = _pools()
    return asked or min(pools.before if pools.depth else pools.get(), default=1)


def keep_freed_memory() -> None:
    """Let the C library of Linux keep what is freed for the next block; Dask tells its workers to hand it back at once.

    Every pass over a block would fetch fresh pages otherwise, which takes as long as the work.
    """
    with contextlib.suppress(AttributeError, OSError):
        for setting in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            ctypes.CDLL(None).mallopt(setting, KEPT_BYTES)


def available_bytes() -> int | None:
    """Return the memory that is free now, within the limits of a container and of ulimit; None if nothing tells it."""
    limits = [_meminfo(), _cgroup(), _address_space()]
    known = [limit for limit in limits if limit is not None]
    if known:
        return min(known)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def _cgroup() -> int | None:
    """Return what a container's limit leaves (version 2 of control groups)."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        stat = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        cache = next((int(line.split()[1]) for line in stat if line.startswith("inactive_file ")), 0)
        return None if limit == "max" else max(int(limit) - used + cache, 0)
    except (OSError, ValueError):
        return None


def _address_space() -> int | None:
    """Return what ``ulimit -v`` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        return None if limit == resource.RLIM_INFINITY else max(limit - used, 0)
    except (ImportError, OSError, ValueError):  # Windows, and systems without /proc
        return None


# Files that are not complete, hidden.
DRAFT = ".kernelbraid-{}.tmp"
# Seconds after which a draft that nobody touched is left over by a process that was killed.
ABANDONED = 86400


@contextmanager
def write_whole(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete, replacing an older one.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.
    mode : {"w", "wb"}, default="w"
        Text in UTF-8 with line ends as they are written, or bytes.
    """
    path = path.resolve()
    remove_drafts(path.parent)
    draft = path.parent / DRAFT.format(secrets.token_hex(4))
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        with draft.open(mode.replace("w", "x"), **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path) -> None:
    """Remove what processes that were killed have left in a folder a day ago or more."""
    with suppress(OSError):
        for draft in folder.glob(DRAFT.format("*")):
            if time.time() - draft.stat().st_mtime > ABANDONED:
                draft.unlink()


def peak_bytes() -> int:
    """Return the largest memory that this process has had; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def format_bytes(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def counted(number: int, thing: str) -> str:
    """Return how many of something there are, as 1 sample or 2 samples."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def install(extra: str) -> str:
    """Return how the libraries of an extra are installed, wherever this package came from."""
    return f'install it with pip install "kernelbraid[{extra}]", or pip install ".[{extra}]" in a checkout'
