"""What differs between systems: files that are whole or not there, names of processes, memory, and words for them."""

import hashlib
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

# Files that are not complete, hidden, with the process that writes them.
DRAFT = re.compile(r"\.kernelbraid-(?:(?P<process>\w*-\d+-\d*)-)?\w+\.\w+")
# Seconds after which a draft that nobody touched is left over, even if its process cannot be known to have ended.
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
    draft = draft_in(path.parent)
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


def draft_in(folder: Path, suffix: str = ".tmp") -> Path:
    """Return a new hidden name in a folder that tells which process writes the file."""
    return folder / f".kernelbraid-{this_process()}-{secrets.token_hex(4)}{suffix}"


def remove_drafts(folder: Path) -> None:
    """Remove what processes that were killed have left in a folder, and nothing of one that lives."""
    with suppress(OSError):
        found = [(entry, DRAFT.fullmatch(entry.name)) for entry in os.scandir(folder) if entry.name[0] == "."]
        for entry, draft in found:
            if draft is not None and entry.is_file(follow_symlinks=False):
                is_old = time.time() - entry.stat().st_mtime > ABANDONED
                if is_old or has_ended(draft["process"] or ""):
                    Path(entry).unlink()


def this_process() -> str:
    """Return a name that no other process has, on this machine or another, now or later."""
    return f"{_machine()}-{os.getpid()}-{_start_of(os.getpid())}"


def has_ended(process: str) -> bool:
    """Tell whether a process, named by `this_process`, is known to have ended; of another machine, nothing is known."""
    machine, _, rest = process.partition("-")
    number, _, start = rest.partition("-")
    if not machine or machine != _machine() or not number.isdecimal():
        return False
    found = _start_of(int(number))
    try:
        os.kill(int(number), 0)  # sends nothing
    except PermissionError:
        return found not in ("", start)  # somebody else's, who may hide it
    except (OSError, OverflowError):
        return True
    return found != start


@cache
def _machine() -> str:
    """Return a name of this machine since it was started, and of the numbers of its processes; "" if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return hashlib.sha256(f"{boot} {Path('/proc/self/ns/pid').readlink()}".encode()).hexdigest()[:16]
    except OSError:
        return ""


def _start_of(number: int) -> str:
    """Return when a process was started, in ticks since the machine was; "" if there is none or it is not known."""
    try:
        # After the name of the program, which may hold anything: the state is the first field, the start the 20th.
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return "" if state[0] in "ZX" else state[19]
    except (OSError, IndexError):
        return ""


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
