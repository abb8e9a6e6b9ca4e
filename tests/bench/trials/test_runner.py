import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.bench.records.claims import Claims
from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.records.store import Store, StoreError, StoreWarning
from kernelbraid.bench.trials import runner
from kernelbraid.bench.trials.compared import COMPARED
from kernelbraid.bench.trials.experiment import Experiment, read_experiment
from kernelbraid.bench.trials.runner import run, share_fits
from kernelbraid.bench.trials.trial import run_trials
from kernelbraid.datasets import available, load

FILE = """
[[run]]
data = ["wine"]
methods = ["KKM", "MKKM", "KMeans", "SC-knn"]
kernels = ["linear", "gaussian t=1"]
seeds = [0, 1, 2]

[[run]]
data = ["wine"]
methods = ["LKGr"]
scoring = ["best100", "mean20"]
grid = { alpha = [0.01, 0.1], graph_from = ["J", "Z"] }
settings = { max_iter = 8 }
"""


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text(FILE)
    return read_experiment(path, load, available(), "1.0")


def outcomes(store):
    """Records without what differs from run to run."""
    blank = {"seconds": 0.0, "peak_bytes": 0, "machine": "", "created": ""}
    return [replace(record, **blank) for record in store.records()]


def test_every_trial_gets_a_record_and_none_is_run_twice(experiment, tmp_path, monkeypatch):
    store = Store(tmp_path / "store.db")
    seen = []
    progress = run(experiment, store, watch=lambda state, record: seen.append(record))
    assert (progress.done, progress.failed, progress.left) == (len(experiment.trials), 0, 0)
    assert seen[0] is None
    assert len(seen) == len(experiment.trials) + 1
    assert store.keys() == {trial.key for trial in experiment.trials}
    monkeypatch.setattr(runner, "run_trials", None)  # would fail if it were called
    again = run(experiment, store)
    assert (again.done, again.known) == (0, len(experiment.trials))


def test_records_of_earlier_versions_are_not_run_again(experiment, tmp_path, monkeypatch):
    store = Store(tmp_path / "store.db")
    of_before = [replace(trial, version="0.1.0") for trial in experiment.trials]
    foreign = replace(experiment.trials[0], version="0.0.1")
    store.add(*(Record(trial, "done", scores={"acc": 0.5}) for trial in (*of_before[1:], foreign)))
    ran = []
    monkeypatch.setattr(runner, "run_trials", lambda group, data: ran.extend(group) or [])
    progress = run(experiment, store)
    assert ran == experiment.trials[:1]
    assert progress.known == len(experiment.trials) - 1


def test_processes_give_the_same_records(experiment, tmp_path):
    stores = [Store(tmp_path / f"{jobs}.db") for jobs in (1, 2)]
    for jobs, store in zip((1, 2), stores, strict=True):
        run(experiment, store, n_jobs=jobs)
    assert outcomes(stores[0]) == outcomes(stores[1])


def test_readouts_of_one_fit_are_fitted_once_and_equal_single_fits(experiment):
    trials = [trial for trial in experiment.trials if trial.method == "LKGr"]
    groups = share_fits(trials)
    assert [len(group) for group in groups] == [4, 4]
    together = run_trials(groups[0], load("wine"))
    for trial, record in zip(groups[0], together, strict=True):
        [alone] = run_trials([trial], load("wine"))
        assert dict(record.scores) == pytest.approx(dict(alone.scores))
        assert record.status == alone.status


def test_a_failing_trial_is_a_record_with_its_reason(tmp_path):
    wrong = Trial("wine", "x", "LKGr", "mean20", "rmkkm", "", {"alpha": -1.0})
    right = Trial("wine", "x", "KMeans", "mean20")
    store = Store(tmp_path / "store.db")
    progress = run(Experiment("x", "x", [wrong, right]), store)
    assert (progress.done, progress.failed) == (2, 1)
    [failure] = [record for record in store.records() if record.status == "failed"]
    assert "alpha" in failure.reason
    assert not failure.succeeded


def test_a_skipped_trial_is_a_record_with_its_reason(tmp_path):
    trials = [Trial("wine", "x", name, "mean20") for name in ("KMeans", "SC-knn")]
    store = Store(tmp_path / "store.db")
    progress = run(Experiment("x", "x", trials, {trials[1].key: "too dear"}), store)
    assert (progress.done, progress.skipped) == (2, 1)
    assert {record.trial.method: record.reason for record in store.records()} == {"KMeans": "", "SC-knn": "too dear"}


def test_a_trial_is_run_once_its_experiment_skips_it_no_longer(tmp_path):
    trials = [Trial("wine", "x", name, "mean20") for name in ("KMeans", "SC-knn")]
    store = Store(tmp_path / "store.db")
    too_dear = Experiment("x", "x", trials, {trials[1].key: "too dear"})
    run(too_dear, store)
    assert run(Experiment("x", "x", trials), store).known == 1
    assert {record.status for record in store.records()} == {"done"}
    assert run(too_dear, store).known == 2  # what was run stays
    assert {record.status for record in store.records()} == {"done"}


@pytest.mark.parametrize("method", ["KKM", "MKKM", "SSR", "KMeans", "LKGr", "LKGSearch"])
def test_every_kind_of_method_takes_several_views(method):
    wine = load("wine")
    views = [wine.X[:, :6], sparse.csr_matrix(wine.X[:, 6:])]
    both = SimpleNamespace(X=None, views=views, y=wine.y, n_clusters=3)
    kernel = "view 2: linear" if method == "KKM" else ""
    bank = "" if COMPARED[method].policy == "features" else "paper"
    parameters = {"LKGr": {"max_iter": 8}, "LKGSearch": {"budget": 2}}.get(method, {})
    [record] = run_trials([Trial("both", "x", method, "best100", bank, kernel, parameters)], both)
    assert record.reason == ""
    assert record.scores["acc"] > 0.5


@pytest.mark.parametrize("method", COMPARED)
def test_every_method_gives_all_eight_measures(method):
    policy = COMPARED[method].policy
    bank, kernel = {"each": ("paper", "linear"), "all": ("paper", ""), "features": ("", "")}[policy]
    known = COMPARED[method].make(2).get_params()
    parameters = {"max_iter": 8} if "max_iter" in known and method not in ("KMeans",) else {}
    parameters |= {"budget": 2} if "budget" in known else {}
    [record] = run_trials([Trial("wine", "x", method, "mean20", bank, kernel, parameters)], load("wine"))
    assert record.reason == ""
    assert set(record.scores) == set(record.deviations)
    assert len(record.scores) == 8
    assert np.isfinite(list(record.scores.values())).all()
    assert -1 <= record.label_free["silhouette"] <= 1
    assert 0 <= record.label_free["balance"] <= 1


def test_a_device_gives_the_same_scores(experiment):
    pytest.importorskip("torch", reason="torch is not installed")
    trials = [trial for trial in experiment.trials if trial.method == "LKGr" and trial.scoring == "best100"]
    here = [record for group in share_fits(trials) for record in run_trials(group, load("wine"))]
    there = [record for records in runner.run_on_device(share_fits(trials), load, "cpu") for record in records]
    by_key = {record.trial.key: record for record in there}
    for record in here:
        assert by_key[record.trial.key].scores["acc"] == pytest.approx(record.scores["acc"], abs=0.02)


def test_a_trial_that_keeps_its_history_is_not_batched():
    pytest.importorskip("torch", reason="torch is not installed")
    trial = Trial("wine", "x", "LKGr", "best100", "rmkkm", "", {"max_iter": 8}, keep=("history",))
    [[record]] = runner.run_on_device([[trial]], load, "cpu")
    assert len(record.kept["history"]["objective"]) == 8


SMALL = Experiment("x", "x", [Trial("wine", "x", "KKM", "mean20", seed=seed) for seed in range(12)])


@pytest.fixture
def hasty(monkeypatch):
    """Runners that look often at what others do."""
    monkeypatch.setattr(runner, "GLANCE", 0.01)


def quick(ran):
    """Return what runs trials in no time, and notes which."""

    def execute(groups):
        for group in groups:
            ran.extend(trial.key for trial in group)
            time.sleep(0.001)
            yield [Record(trial, "done", scores={"acc": 0.5}) for trial in group]

    return execute


def test_two_runners_share_the_work_of_one_store(tmp_path, hasty):
    ran = [[], []]
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(run, SMALL, Store(tmp_path / "s.db"), execute=quick(own)) for own in ran]
        ends = [one.result() for one in both]
    assert sorted(ran[0] + ran[1]) == sorted(trial.key for trial in SMALL.trials)
    assert [end.done for end in ends] == [len(own) for own in ran]
    assert [end.left for end in ends] == [0, 0]
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


@pytest.mark.parametrize("is_done", [True, False])
def test_a_runner_waits_for_what_another_has_and_runs_it_if_that_gives_up(tmp_path, monkeypatch, is_done):
    store, ran, other = Store(tmp_path / "s.db"), [], Claims(Store(tmp_path / "s.db"))

    def end_of_the_other(seconds):
        if is_done:
            store.add(*(Record(trial, "done", scores={"acc": 0.5}) for trial in SMALL.trials[:3]))
        other.__exit__(None, None, None)

    with other:
        other.take(SMALL.trials[:3])
        monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=time.monotonic, sleep=end_of_the_other))
        progress = run(SMALL, store, execute=quick(ran))
    assert (progress.done, progress.elsewhere, progress.left) == ((9, 3, 0) if is_done else (12, 0, 0))
    assert len(ran) == progress.done
    assert len(store.records()) == 12


def test_an_interrupted_runner_gives_its_claims_back(tmp_path):
    def interrupt(groups):
        next(iter(groups))
        raise KeyboardInterrupt

    store = Store(tmp_path / "s.db")
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, store, execute=interrupt)
    with Claims(store) as claims:
        assert claims.take(SMALL.trials).theirs == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_store_that_fails_while_trials_are_claimed_ends_the_run(experiment, tmp_path, monkeypatch, n_jobs):
    def fail(*_):
        raise StoreError("the disk is full.")

    monkeypatch.setattr(Claims, "take", fail)
    with pytest.raises(StoreError, match="the disk is full"):
        run(experiment, Store(tmp_path / "s.db"), n_jobs=n_jobs)


def test_trials_of_damaged_records_are_run_again(tmp_path):
    store, ran = Store(tmp_path / "s.db"), []
    run(SMALL, store, execute=quick([]))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE records SET outcome = '{}' WHERE key = ?", (SMALL.trials[7].key,))
    with pytest.warns(StoreWarning):
        progress = run(SMALL, store, execute=quick(ran))
    assert ran == [SMALL.trials[7].key]
    assert (progress.known, progress.done) == (11, 1)
    assert len(store.records()) == 12


KILLED = """
import sys
from kernelbraid.bench.trials.experiment import read_experiment
from kernelbraid.bench.trials.runner import run
from kernelbraid.bench.records.store import Store
from kernelbraid.datasets import available, load
print("ready", flush=True)
run(read_experiment(sys.argv[1], load, available(), "1.0"), Store(sys.argv[2]))
"""


@pytest.mark.timeout(240)
def test_a_run_that_is_killed_ten_times_ends_with_the_records_of_an_undisturbed_one(experiment, tmp_path):
    calm, troubled = Store(tmp_path / "calm.db"), tmp_path / "troubled.db"
    started = time.monotonic()
    run(experiment, calm)
    duration = time.monotonic() - started
    rng = np.random.default_rng(0)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "experiment.toml"), str(troubled)]
    environment = {**os.environ, "PYTHONPATH": str(Path(runner.__file__).parents[3])}
    for _ in range(10):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        process.stdout.readline()
        time.sleep(rng.uniform(0, duration / 6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    store = Store(troubled)
    with closing(sqlite3.connect(troubled)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert outcomes(store) == outcomes(calm)
