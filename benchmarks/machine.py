"""What a measurement ran on, a clock, and a meter of resident memory."""

import os
import platform
import threading
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

PACKAGES = ("kernelbraid", "numpy", "scipy", "scikit-learn", "threadpoolctl", "torch")
SAMPLING_SECONDS = 0.002


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
        "load_before": [round(load, 2) for load in os.getloadavg()],
        "date": time.strftime("%Y-%m-%d"),
    }


def timed(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it returned."""
    started = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - started, result


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class MemoryMeter:
    """Samples the resident memory in a thread; `growth` is the peak over the memory at the start."""

    def __enter__(self) -> "MemoryMeter":
        self._stop = threading.Event()
        self._before = self._peak = resident_bytes()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        """Bytes at the peak beyond those at the start."""
        return self._peak - self._before

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLING_SECONDS):
            self._peak = max(self._peak, resident_bytes())


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
