"""What a measurement ran on, a clock, and a meter of resident memory."""

import os
import platform
import subprocess
import threading
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

PACKAGES = ("kernelbraid", "numpy", "scipy", "scikit-learn", "threadpoolctl", "torch")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory, BLAS libraries and versions."""
    return {
        "processor": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "blas": sorted({f"{pool['internal_api']} {pool['version']} ({pool['architecture']})" for pool in _pools()}),
        "versions": {name: found for name in PACKAGES if (found := _version(name)) is not None},
        "commit": _commit(),
        "load_before": [round(load, 2) for load in os.getloadavg()],
        "date": time.strftime("%Y-%m-%d"),
    }


def timed(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it returned."""
    started = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - started, result


class MemoryMeter:
    """Measures by how much the resident memory grew at its peak.

    The system keeps the peak itself (Linux), also while a long LAPACK call keeps every other thread from looking.
    """

    def __enter__(self) -> "MemoryMeter":
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
        self._before = status_bytes("VmRSS")
        return self

    def __exit__(self, *failure: object) -> None:
        self.growth = status_bytes("VmHWM") - self._before


class OwnMemory:
    """Measures by how much the memory of a process without the pages of files grew at its peak, looked at often."""

    PAUSE = 0.01  # seconds between two looks

    def __enter__(self) -> "OwnMemory":
        self._before = self._peak = status_bytes("RssAnon")
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(self.PAUSE):
            self._peak = max(self._peak, status_bytes("RssAnon"))

    def __exit__(self, *failure: object) -> None:
        self._done.set()
        self._watcher.join()
        self.growth = max(self._peak, status_bytes("RssAnon")) - self._before


def status_bytes(field: str) -> int:
    """Return a figure of this process from the system (Linux): VmRSS, resident memory, or VmHWM, its peak."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def _commit() -> str:
    """Return the commit that was checked out; a plus means that files were changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        return subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _pools() -> list[dict[str, Any]]:
    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
