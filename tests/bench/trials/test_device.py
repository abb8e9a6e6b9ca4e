from dataclasses import replace

import pytest

from kernelbraid.bench.records.record import Trial
from kernelbraid.bench.trials import device as batching
from kernelbraid.bench.trials.device import run_on_device
from kernelbraid.bench.trials.runner import share_fits
from kernelbraid.bench.trials.trial import run_trials
from kernelbraid.datasets import Dataset
from problems import blobs

pytest.importorskip("torch", reason="torch is not installed")

TRIALS = [
    Trial("blobs", "sum", "LKGr", "best100", "rmkkm", "", {"alpha": alpha, "max_iter": 8, "graph_from": graph})
    for alpha in (0.01, 0.1, 1.0)
    for graph in ("J", "Z")
]


@pytest.fixture(scope="module")
def dataset():
    X, y = blobs(n=24, d=4)
    return Dataset("blobs", "Blobs", [X - X.min()], y, "sum")


@pytest.fixture
def log(monkeypatch):
    """What happened: how many fits a batch solved, and when its records were taken."""
    seen = []

    def solve(groups, *_):
        number = sum(entry[0] == "solved" for entry in seen)
        seen.append(("solved", len(groups)))
        return label(groups, number)

    def label(groups, number):
        seen.append(("labelled", number))
        yield from groups

    monkeypatch.setattr(batching, "_run_batch", solve)
    return seen


def on_device(trials, dataset):
    return [record for records in run_on_device(share_fits(trials), lambda name: dataset, "cpu") for record in records]


def test_a_batch_is_solved_before_the_one_ahead_of_it_is_labelled(dataset, log, monkeypatch):
    monkeypatch.setattr(batching, "BATCH", 1)
    assert on_device(TRIALS, dataset) == TRIALS
    assert log == [
        ("solved", 1),
        ("solved", 1),
        ("labelled", 0),
        ("solved", 1),
        ("labelled", 1),
        ("labelled", 2),
    ]


@pytest.mark.parametrize(("numbers", "sizes"), [(2**28, [3]), (2 * 24**2, [2, 1]), (1, [1, 1, 1])])
def test_a_batch_is_as_large_as_its_numbers_allow(dataset, log, monkeypatch, numbers, sizes):
    monkeypatch.setattr(batching, "NUMBERS", numbers)
    on_device(TRIALS, dataset)
    assert [size for what, size in log if what == "solved"] == sizes


def test_altered_trials_are_fitted_one_by_one(dataset, log):
    changed = [{"noise": 0.5}, {"outliers": 0.2}, {"useless_views": 1}, {"shuffled": 1, "kernel": "linear"}]
    trials = [replace(TRIALS[0], changes=changes) for changes in changed]
    trials += [replace(TRIALS[0], method="LKGr/whole"), replace(TRIALS[0], method="LKGr/average")]
    found = {record.trial.key: record for record in on_device(trials, dataset)}
    assert log == []
    for trial in trials:
        [expected] = run_trials([trial], dataset)
        assert found[trial.key].reason == ""
        assert found[trial.key].scores["acc"] == pytest.approx(expected.scores["acc"], abs=0.05)
