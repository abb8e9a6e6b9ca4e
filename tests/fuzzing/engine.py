"""Run targets in a child process with limits, count what becomes of them, and keep the inputs that fail."""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzzing.target import Target

START = 60.0  # seconds that the child may take to import everything
KEPT = 3  # inputs that are kept of failures of one kind
TESTS = Path(__file__).resolve().parents[1]
FAILURE = "failure.json"


@dataclass
class Tally:
    """What became of the attempts of a target."""

    attempts: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # refused, accepted, failed
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)  # of failures


class Worker:
    """A child process that attempts targets; another one replaces it when it dies or hangs.

    Parameters
    ----------
    registry : str
        Module whose `TARGETS` the child knows.
    """

    def __init__(self, registry: str = "fuzzing.targets") -> None:
        self.registry = registry
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch = TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = Path(self._scratch.name) / "input"

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._scratch.cleanup()

    def attempt(self, target: Target, seed: int | None, folder: Path | None = None) -> dict[str, Any]:
        """Make the input of a seed and check it, or check what is in a folder."""
        if folder is None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
        process, patience = self._running(target.limit)
        request = {"target": target.name, "seed": seed, "folder": str(folder or self.folder)}
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = self._answer(process, patience)
        except BrokenPipeError:
            line = b""
        if line is None:
            self._stop()
            return _failed(f"it hung: no answer within {target.limit:g} s", "hang", self._said())
        if not line.endswith(b"\n"):
            self._stop()
            return _failed(f"the interpreter died ({_end_of(process.returncode)})", "crash", self._said())
        return json.loads(line)

    def _running(self, limit: float) -> tuple["subprocess.Popen[bytes]", float]:
        """Return the process, started if needed, and how long it may take."""
        if self._process is not None and self._process.poll() is None:
            return self._process, limit
        self._stop()
        paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        command = [sys.executable, "-m", "fuzzing.worker", self.registry]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, bufsize=0
            )
        return self._process, limit + START

    @property
    def _log(self) -> Path:
        return Path(self._scratch.name) / "log"

    @staticmethod
    def _answer(process: "subprocess.Popen[bytes]", patience: float) -> bytes | None:
        """Return the line that a process answers, None if there is none in time."""
        end, line = time.monotonic() + patience, b""
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(end - time.monotonic(), 0)):
                    return None
                part = os.read(process.stdout.fileno(), 65536)
                if not part:
                    process.wait()
                    break
                line += part
        return line

    def _said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-4000:]

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None


def _failed(why: str, where: str, trace: str) -> dict[str, Any]:
    return {"result": "failed", "why": why, "where": where, "trace": trace}


def _end_of(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def fuzz(
    worker: Worker,
    targets: Mapping[str, Target],
    *,
    seed: int = 0,
    seconds: float | None = None,
    attempts: int | None = None,
    out: Path,
    say: Callable[[str], object] = lambda text: None,
) -> dict[str, Tally]:
    """Attempt targets with the seeds from `seed` on, until the seconds are over or each had so many attempts.

    Who had the least of its share of the time comes next, so that all are attacked however short the time is.
    """
    tallies = {name: Tally() for name in targets}
    begin = time.monotonic()
    while seconds is None or time.monotonic() - begin < seconds:
        open_targets = [name for name in targets if attempts is None or tallies[name].attempts < attempts]
        if not open_targets:
            break
        name = min(open_targets, key=lambda name: tallies[name].seconds / targets[name].share)
        tally, number = tallies[name], seed + tallies[name].attempts
        start = time.monotonic()
        answer = worker.attempt(targets[name], number)
        tally.seconds += time.monotonic() - start
        tally.attempts += 1
        tally.counts[answer["result"]] += 1
        if answer["result"] == "failed":
            kind = f"{answer['where']} {answer['why'].split(':')[0]}"
            tally.kinds[kind] += 1
            if tally.kinds[kind] <= KEPT:
                kept = keep(worker.folder, out, name, number, answer)
                say(f"FAILED {name}, seed {number}, {answer['where']}: {answer['why'][:300]}")
                say(f"       PYTHONPATH=tests python -m fuzzing --replay {kept}")
    return tallies


def keep(folder: Path, out: Path, target: str, seed: int, answer: Mapping[str, Any]) -> Path:
    """Keep an input that failed, and return the file that says how."""
    kept = out / f"{target}-{seed}"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept / "input", symlinks=True, ignore_dangling_symlinks=True)
    content = {"target": target, "seed": seed, **answer}
    (kept / FAILURE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return kept / FAILURE


def replay(worker: Worker, targets: Mapping[str, Target], file: Path) -> dict[str, Any]:
    """Check an input that was kept, as it was."""
    content = json.loads(file.read_text(encoding="utf-8"))
    copied = worker.folder
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(file.parent / "input", copied, symlinks=True)
    return worker.attempt(targets[content["target"]], None, copied)


def table(tallies: Mapping[str, Tally], seed: int) -> str:
    """Return the counts as a table."""
    rows = [("target", "seeds", "attempts", "refused", "accepted", "failures", "seconds")]
    total = Tally()
    for name, tally in [*tallies.items(), ("all", total)]:
        counts = [tally.counts[result] for result in ("refused", "accepted", "failed")]
        seeds = f"{seed}-{seed + tally.attempts - 1}" if tally.attempts and tally is not total else ""
        rows.append((name, seeds, str(tally.attempts), *map(str, counts), f"{tally.seconds:.0f}"))
        total.attempts += tally.attempts
        total.counts += tally.counts
        total.seconds += tally.seconds
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i > 1 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
