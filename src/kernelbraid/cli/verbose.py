"""``--verbose``: what a command does and decides, a line each with the seconds since it began, on stderr."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from time import perf_counter
from typing import Any

import typer

from kernelbraid._system import format_bytes, peak_bytes
from kernelbraid._version import __version__
from kernelbraid.cli.messages import option_name
from kernelbraid.learning.progress import Course, heard_by
from kernelbraid.learning.settings import Settings

TENTHS = 10  # of work that tells how much there is, after each of which there is a line
#: Parameters that decide no outcome, or are told elsewhere.
LEFT_OUT = (
    "callback",
    "kernels",
    "kernel",
    "n_clusters",
    "n_jobs",
    "keep_matrices",
    "record_objective",
    "thresholding",
)


class Log:
    """Lines on stderr, if they are asked for.

    Parameters
    ----------
    is_asked : bool
        Without it, nothing is written.
    """

    def __init__(self, is_asked: bool) -> None:
        self.is_asked = is_asked
        self._start = perf_counter()
        self._tenths = -1

    def __call__(self, text: str) -> None:
        """Write a line."""
        if self.is_asked:
            typer.echo(f"{perf_counter() - self._start:8.2f} s  {text}", err=True)

    def begin(self) -> None:
        """Write which software runs."""
        if self.is_asked:
            packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
            self(f"kernelbraid {__version__}, Python {platform.python_version()}, {packages}, {platform.platform()}")

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Write how far work has come that tells it."""
        if not self.is_asked:
            yield
            return
        with heard_by(self._hear):
            yield

    def step(self, n_iter: int, state: Any) -> None:
        """Write a step of a fit."""
        change = state.kernel_change if hasattr(state, "kernel_change") else state.change
        self(f"step {n_iter}: change {change:.1e}")

    def _hear(self, course: Course) -> None:
        tenths = int(TENTHS * course.done / course.total) if course.total else TENTHS
        if tenths != self._tenths:
            self._tenths = tenths
            self(f"choosing {course.what}: {tenths * 100 // TENTHS} %")

    def fitted(self, model: Any) -> None:
        """Write what a fit has decided."""
        if not self.is_asked:
            return
        names = getattr(model, "kernel_names_", None)
        if names:
            self(f"kernels: {', '.join(names)}")
        told = (f"{option_name(name)[2:]} {_plain(value)}" for name, value in settings_of(model).items())
        self(f"settings: {', '.join(told)}")
        graph = getattr(model, "graph_", None)
        if graph is not None:
            edges = int(graph.nnz if hasattr(graph, "nnz") else (graph != 0).sum()) // 2
            self(f"graph: {graph.shape[0]} samples, {edges} edges")
        peak = peak_bytes()
        self("fitted" + (f", {format_bytes(peak)} of memory at most" if peak else ""))


def settings_of(model: Any) -> Mapping[str, Any]:
    """Return what decided the outcome of a fit, with the values behind those that were left open."""
    asked = model.get_params(deep=False)
    if hasattr(model, "settings_"):
        asked = {"preset": asked["preset"], **model.settings_}
    elif hasattr(model, "landmarks_"):
        asked = {"preset": asked["preset"], **Settings.of(asked).flat()}
    return {name: value for name, value in asked.items() if name not in LEFT_OUT and value is not None}


def _plain(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
