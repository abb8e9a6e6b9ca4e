"""Commands that are killed, asked to end, or run out of disk: what they had written stays, and the next run ends it."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from kernelbraid.bench.records.record import Record
from kernelbraid.bench.records.store import Store, StoreError
from typer.testing import CliRunner

from fuzzing.target import HANG, Target, check_sentence
from kernelbraid._system import DRAFT
from kernelbraid.cli.app import app

PLAN = "plan.json"
START = 3.0  # seconds that Python and its libraries take to start, about
ENDS = ("KILL", "TERM", "FULL")
EXPERIMENT = """[[run]]
data = ["wine"]
methods = ["KMeans", "KKM"]
kernels = ["linear"]
scoring = ["once"]
seeds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
"""
BLANK = {"seconds": 0.0, "peak_bytes": 0, "machine": "", "created": ""}  # what differs between runs
LONG = 240.0  # seconds of an attempt: a calm run, those that are ended, and the one that goes on to its end
ROOMS = (0, 3000, 9000, 20000, 60000)  # bytes that a full disk still has


def run(arguments: list[str], room: int | None = None) -> "subprocess.Popen[str]":
    """Start the command line in a session of its own, on a disk with little room if that is said."""

    def limit() -> None:
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    command = [sys.executable, "-m", "kernelbraid", *arguments]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        start_new_session=True,
    )


def end(process: "subprocess.Popen[str]", how: str, is_time: Callable[[], bool]) -> str:
    """End a process when it is time, expect that it ends soon and says a sentence at most, and return that."""
    try:
        began = time.monotonic()
        while process.poll() is None and not is_time() and time.monotonic() - began < LONG / 4:
            time.sleep(0.002)
        if how != "FULL":
            process.send_signal(signal.SIGKILL if how == "KILL" else signal.SIGTERM)
        process.wait(timeout=HANG if how != "FULL" else LONG / 3)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own session: its workers
        process.wait()
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read()  # workers of a run that is killed would hold it
    assert "Traceback" not in said, said
    if how == "FULL" and process.returncode:
        check_sentence(said.strip().splitlines()[-1])
    return said


def complete(arguments: list[str]) -> None:
    """Run a command to its end, in this process, which has loaded everything."""
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 0, f"the next run ended with {ended.exit_code}: {ended.output}"


def drafts(folder: Path) -> list[str]:
    """Return files that are not complete."""
    return [entry.name for entry in folder.iterdir() if DRAFT.fullmatch(entry.name)]


# --- bench run


def bench(folder: Path, jobs: int) -> list[str]:
    """Return the command that runs the experiment."""
    (folder / "e.toml").write_text(EXPERIMENT, encoding="utf-8")
    return ["bench", "run", str(folder / "e.toml"), "--store", str(folder / "r.db"), "--jobs", str(jobs), "--json"]


def stored(folder: Path) -> dict[str, Record]:
    """Return the records of a store without what differs between runs; none if there is no store yet."""
    try:
        records = Store(folder / "r.db", create=False).records()
    except StoreError:
        if (folder / "r.db").exists() and (folder / "r.db").stat().st_size and not drafts(folder):
            raise
        return {}
    return {record.trial.key: replace(record, **BLANK) for record in records}


@cache
def calm() -> dict[str, Record]:
    """Return the records of a run that nobody disturbed."""
    with TemporaryDirectory() as name:
        complete(bench(Path(name), 1))
        return stored(Path(name))


def make_bench(rng: random.Random, folder: Path) -> None:
    """Say how and when a run is ended, and sometimes the one after it, too."""
    ends = [
        {
            "how": rng.choice(ENDS),
            "jobs": rng.choice((1, 1, 2)),
            "records": rng.randrange(1, 28),
            "delay": rng.random() * START,
            "room": rng.choice(ROOMS),
        }
        for _ in range(rng.choice((1, 1, 2)))
    ]
    (folder / PLAN).write_text(json.dumps(ends), encoding="utf-8")


def check_bench(folder: Path) -> None:
    """End a run as planned, then run it to its end: no record is lost, doubled or another."""
    expected = calm()
    for plan in json.loads((folder / PLAN).read_text(encoding="utf-8")):
        size = (folder / "r.db").stat().st_size if (folder / "r.db").exists() else 0
        seen = stored(folder) if size else {}
        process = run(bench(folder, plan["jobs"]), size + plan["room"] if plan["how"] == "FULL" else None)
        began, wanted = time.monotonic(), len(seen) + plan["records"]

        def is_time(seen=seen, began=began, wanted=wanted, delay=plan["delay"]) -> bool:
            if wanted > len(expected) or wanted % 3 == 0:  # some are ended early, whatever there is
                return time.monotonic() - began > delay
            with suppress(StoreError):
                seen.update(stored(folder))
            return len(seen) >= wanted

        end(process, plan["how"], is_time)
        found = stored(folder)
        assert seen.items() <= found.items(), "records that were there are lost"
        assert all(expected.get(key) == record for key, record in found.items()), "records are others"
    complete(bench(folder, 1))
    assert stored(folder) == expected, "the records are not those of a run that nobody disturbed"
    assert not drafts(folder), f"drafts are left: {drafts(folder)}"


# --- cluster


@cache
def table() -> str:
    """Return samples in three clusters."""
    X = np.random.default_rng(0).normal(size=(150, 5)) + 6 * (np.arange(150) % 3)[:, None]
    return "\n".join(",".join(map(str, row)) for row in X.round(3).tolist()) + "\n"


def cluster(folder: Path) -> list[str]:
    """Return the command that writes labels and a model."""
    (folder / "x.csv").write_text(table(), encoding="utf-8")
    outputs = ["--out", str(folder / "labels.csv"), "--save", str(folder / "fitted.model")]
    return ["cluster", str(folder / "x.csv"), "-k", "3", "--seed", "0", "--quiet", *outputs]


@cache
def outputs() -> dict[str, bytes]:
    """Return what the command writes when nobody disturbs it."""
    with TemporaryDirectory() as name:
        complete(cluster(Path(name)))
        return {file: (Path(name) / file).read_bytes() for file in ("labels.csv", "fitted.model")}


def make_cluster(rng: random.Random, folder: Path) -> None:
    """Say how the command is ended and when, and what is there before."""
    for file in ("labels.csv", "fitted.model"):
        if rng.random() < 0.5:
            (folder / file).write_text("an older file\n", encoding="utf-8")
    when = rng.choice(("draft", "draft", "time"))
    plan = {"how": rng.choice(ENDS), "when": when, "delay": rng.uniform(0.5, START), "room": rng.choice(ROOMS)}
    (folder / PLAN).write_text(json.dumps(plan), encoding="utf-8")


def check_cluster(folder: Path) -> None:
    """End the command as planned: each of its files is whole, or the one that was there before."""
    plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    expected = outputs()
    before = {file: (folder / file).read_bytes() for file in expected if (folder / file).exists()}
    began = time.monotonic()
    process = run(cluster(folder), plan["room"] if plan["how"] == "FULL" else None)

    def is_time() -> bool:
        return bool(drafts(folder)) if plan["when"] == "draft" else time.monotonic() - began > plan["delay"]

    end(process, plan["how"], is_time)
    for file, content in expected.items():
        found = (folder / file).read_bytes() if (folder / file).exists() else None
        assert found in (content, before.get(file)), f"{file} is neither whole nor the one before"
    assert plan["how"] == "KILL" or not drafts(folder), f"drafts are left: {drafts(folder)}"
    complete(cluster(folder))
    assert {file: (folder / file).read_bytes() for file in expected} == expected, "the next run writes something else"
    assert not drafts(folder), f"drafts are left: {drafts(folder)}"


TARGETS = [
    Target("kill-bench", make_bench, check_bench, share=5.0, limit=LONG),
    Target("kill-cluster", make_cluster, check_cluster, share=2.0, limit=LONG),
]
