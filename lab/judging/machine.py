"""What a measurement ran on, a clock, and a meter of memory (of Linux)."""

import os
import platform
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kernelbraid

#: What keeps the libraries for linear algebra to so many threads, if it is set before they are loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PAUSE = 0.01  # seconds between two looks at the memory


def describe() -> str:
    """Return processor, memory, system and versions, in words."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.1f} GB, {platform.system()}, Python "
        f"{platform.python_version()}, {packages}, kernelbraid {kernelbraid.__version__}"
    )


def timed(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it returned."""
    started = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - started, result


@contextmanager
def metered() -> Iterator[dict[str, int]]:
    """Yield a dict that has, after the block, its peak of resident memory and the growth up to there, in bytes.

    ``growth_bytes`` is over before the block, ``own_bytes`` what of that are no pages of files, looked at often.
    """
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before, own = resident("VmRSS"), [resident("RssAnon")]
    done, found = threading.Event(), dict[str, int]()

    def watch() -> None:
        while not done.wait(PAUSE):
            own.append(resident("RssAnon"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
        peak = resident("VmHWM")
        found.update(peak_bytes=peak, growth_bytes=peak - before, own_bytes=max(own) - own[0])


def resident(field: str) -> int:
    """Return what the system says of this process: VmRSS, resident bytes, VmHWM, their peak, or RssAnon, of no file."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def commit() -> str:
    """Return the commit of the package that is measured; a plus says that files were changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    place = Path(kernelbraid.__file__).parent
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
