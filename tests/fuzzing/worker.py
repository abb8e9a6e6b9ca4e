"""The child process: attempts one target after the other, as the engine asks, and tells what became of each."""

import faulthandler
import importlib
import json
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fuzzing.target import MEGABYTE, OURS, RefusedError, Target, check_sentence

# Bytes of addresses after which nothing more is given: the machine must survive whatever a target does.
MOST = 8 * 2**30
SOURCES = f"{os.sep}kernelbraid{os.sep}"


class ForeignWarning(AssertionError):  # noqa: N818  # named after what it tells
    """A warning of another library has reached the user."""


class TooMuchMemory(AssertionError):  # noqa: N818  # likewise
    """An attempt took more memory than it may."""


def serve(registry: str) -> None:
    """Answer requests, one line of JSON each, until there are no more."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MOST, resource.getrlimit(resource.RLIMIT_AS)[1]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a target prints is no answer
    faulthandler.enable()
    targets = importlib.import_module(registry).TARGETS
    for line in sys.stdin:
        request = json.loads(line)
        answer = attempt(targets[request["target"]], request["seed"], Path(request["folder"]))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def attempt(target: Target, seed: int | None, folder: Path) -> dict[str, Any]:
    """Make an input, or take what is in the folder if there is no seed, and check it."""
    try:
        if seed is not None:
            target.make(target.rng(seed), folder)
        with limited_memory(target.room), no_foreign_warnings():
            target.check(folder)
    except RefusedError as refusal:
        return {"result": "refused", "why": str(refusal)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        trace = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in trace if SOURCES in frame.filename] or trace
        at = f"{ours[-1].filename.rpartition(SOURCES)[2].rpartition(os.sep + 'tests' + os.sep)[2]}:{ours[-1].lineno}"
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return {"result": "failed", "why": why, "where": at, "trace": traceback.format_exc()}
    return {"result": "accepted", "why": ""}


@contextmanager
def limited_memory(room: int) -> Iterator[None]:
    """Expect that the process grows by so much at most."""
    begin = _memory("VmRSS")
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is counted from here
    try:
        yield
    finally:
        peak = _memory("VmHWM") - begin
        if peak > room:
            raise TooMuchMemory(f"it took {peak // MEGABYTE} MB, and may take {room // MEGABYTE} MB")


def _memory(what: str) -> int:
    """Return bytes of this process, 0 where nothing tells them."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{what}:"))
    except (OSError, StopIteration):
        return 0


@contextmanager
def no_foreign_warnings() -> Iterator[None]:
    """Expect that nobody but kernelbraid warns; who has called `warnings.warn` tells."""
    plain = warnings.warn

    def warn(message: Any, *rest: Any, **more: Any) -> None:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("kernelbraid"):
            OURS.append(str(message))
        else:
            plain(message, *rest, **more)

    OURS.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn = warn  # type: ignore[assignment]
        try:
            yield
        finally:
            warnings.warn = plain
    for text in OURS:
        check_sentence(text)
    for warning in caught:
        place = f"{warning.filename.rpartition(os.sep)[2]}:{warning.lineno}"
        raise ForeignWarning(f"{warning.category.__name__} of {place}: {warning.message}")


if __name__ == "__main__":
    serve(sys.argv[1])
