import json
import os
import signal
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from kernelbraid import __version__
from kernelbraid.bench.records.record import Trial
from kernelbraid.bench.records.store import Store
from kernelbraid.bench.trials import on_dask as module
from kernelbraid.bench.trials.experiment import Experiment, read_experiment
from kernelbraid.bench.trials.on_dask import connect
from kernelbraid.bench.trials.runner import dataset, run, share_fits
from kernelbraid.blocks.dask_parts import DaskError
from kernelbraid.cli import app
from kernelbraid.datasets import DataError, available, load

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

FILE = """
[[run]]
data = ["wine"]
methods = ["KKM", "KMeans"]
kernels = ["linear", "gaussian t=1"]
scoring = ["best100"]
seeds = [0, 1, 2]

[[run]]
data = ["wine"]
methods = ["LKGr"]
scoring = ["best100"]
grid = { alpha = [0.01, 0.1], graph_from = ["J", "Z"] }
settings = { max_iter = 8 }
"""


@pytest.fixture(scope="module")
def workers():
    """A cluster of two processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


@pytest.fixture
def cluster(workers):
    """The cluster with both of its workers, whatever the test before has done to them."""
    workers.wait_for_workers(2, timeout=60)
    return workers


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "experiment.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def experiment(file):
    return read_experiment(file, load, available(), __version__)


@pytest.fixture(scope="module")
def expected(experiment, tmp_path_factory):
    """What comes out in this process."""
    store = Store(tmp_path_factory.mktemp("here") / "store.db")
    run(experiment, store)
    return outcomes(store)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store.db")


def outcomes(store):
    """Records without what differs from run to run."""
    blank = {"seconds": 0.0, "peak_bytes": 0, "machine": "", "created": ""}
    return [replace(record, **blank) for record in store.records()]


def run_on(cluster, experiment, store, **kwargs):
    with connect(cluster.scheduler_address) as connected:
        return run(experiment, store, execute=connected.execute, **kwargs)


def kill_a_busy_worker(cluster):
    """Kill one that has something to do, or something done that nobody has fetched."""
    busy = {address for address, state in cluster.scheduler.workers.items() if state.processing or state.has_what}
    pid = next(nanny.pid for nanny in cluster.workers.values() if nanny.worker_address in busy)
    os.kill(pid, signal.SIGKILL)


def test_a_cluster_gives_the_records_of_this_process(cluster, file, expected, tmp_path):
    command = ["bench", "run", str(file), "--store", str(tmp_path / "store.db"), "--json"]
    result = CliRunner().invoke(app, [*command, "--dask", cluster.scheduler_address], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["done"] == len(expected)
    assert outcomes(Store(tmp_path / "store.db")) == expected


def test_a_worker_that_is_killed_changes_nothing(cluster, experiment, expected, store):
    def watch(progress, record):
        if progress.done == 1:
            kill_a_busy_worker(cluster)

    progress = run_on(cluster, experiment, store, watch=watch)
    assert (progress.failed, progress.left) == (0, 0)
    assert outcomes(store) == expected


def test_an_interruption_keeps_what_is_done_and_cancels_the_rest(cluster, experiment, store):
    def watch(progress, record):
        if progress.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_on(cluster, experiment, store, watch=watch)
    assert 0 < len(store.keys()) < len(experiment.trials)
    deadline = time.monotonic() + 20
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not cluster.scheduler.tasks


def test_a_scheduler_that_forgets_the_trials_ends_the_run_with_a_sentence(cluster, experiment, store):
    with connect(cluster.scheduler_address) as connected:

        def watch(progress, record):
            if progress.done == 1:
                client = connected.client
                client.cancel([distributed.Future(key, client=client) for key in list(client.futures)])

        with pytest.raises(DaskError, match="was lost or started again; what is finished is stored"):
            run(experiment, store, execute=connected.execute, watch=watch)
    assert store.keys()


def test_few_groups_of_trials_are_in_flight(cluster, experiment, monkeypatch):
    monkeypatch.setattr(module, "AHEAD", 1)
    groups = share_fits([trial for trial in experiment.trials if trial.method == "KKM"])
    taken = []
    with connect(cluster.scheduler_address) as connected:
        for done, _ in enumerate(connected.execute(taken.append(group) or group for group in groups)):
            assert len(taken) - done <= 2
    assert taken == groups


def test_a_worker_with_other_data_gives_no_record(cluster, experiment, store):
    other = replace(experiment.trials[0], checksum="0000")
    with pytest.raises(DataError, match=r"on the Dask worker tcp://.* the data set 'wine' has the checksum .* 0000;"):
        run_on(cluster, Experiment("x", "x", [other]), store)
    assert not store.keys()


def test_a_worker_without_the_data_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", str(tmp_path))
    dataset.cache_clear()
    with pytest.raises(DataError, match=r"on the Dask worker tcp://w: yale: there is no file yale\.npz"):
        module._same_dataset(Trial("yale", "0000", "KMeans", "mean20"), "tcp://w")


def test_a_worker_that_has_kept_older_data_reads_them_again(monkeypatch):
    trial = Trial("wine", load("wine").checksum, "KMeans", "mean20")
    dataset.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr("kernelbraid.bench.trials.runner.load", lambda name: replace(load(name), checksum="old"))
        assert dataset("wine").checksum == "old"
    assert module._same_dataset(trial, "tcp://w").checksum == trial.checksum


def test_a_worker_with_another_version_that_joins_later_is_refused(cluster, experiment, store, monkeypatch):
    says = f"the Dask worker tcp://.* has kernelbraid {__version__}, this process has 9.9; install the same"
    with connect(cluster.scheduler_address) as connected:
        monkeypatch.setattr(module, "__version__", "9.9")
        with pytest.raises(DaskError, match=says):
            run(experiment, store, execute=connected.execute)
    assert not store.keys()


def test_a_trial_that_kills_its_workers_is_a_failure(cluster, store, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    # Defined here, so that it travels by value.
    monkeypatch.setattr(module, "run_here", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    progress = run_on(cluster, Experiment("x", "x", [Trial("wine", "x", "KMeans", "mean20")]), store)
    assert (progress.done, progress.failed) == (1, 1)
    assert "Dask workers died while they had this trial (1 in all, the last one tcp://" in progress.last_reason
