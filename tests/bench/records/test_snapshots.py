import json
from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid.bench.records.record import Trial, to_json
from kernelbraid.bench.records.snapshot_data import PARTS, PIXELS
from kernelbraid.bench.records.snapshots import block_means, keep_parts
from kernelbraid.bench.trials.trial import fit_key, make, run_trials
from kernelbraid.datasets import load


def lkg(keep=PARTS, **parameters):
    return Trial("wine", "x", "LKGr", "mean20", "rmkkm", "", {"max_iter": 8, "tol": 0.0, **parameters}, keep=keep)


@pytest.fixture(scope="module")
def record():
    [found] = run_trials([lkg()], load("wine"))
    assert found.reason == ""
    return found


def test_the_history_has_a_number_a_step_and_the_objective(record):
    history = record.kept["history"]
    assert {"kernel_change", "graph_residual", "kernel_residual", "mu", "objective"} <= set(history)
    assert "graph_route" not in history  # a word
    assert {len(values) for values in history.values()} == {record.n_iter} == {8}
    assert all(value == float(f"{value:.4g}") for values in history.values() for value in values)


def test_the_kernel_is_that_of_the_model_in_the_order_of_the_clusters(record):
    wine = load("wine")
    model = make(lkg(), 3).fit(wine.X)
    image, sizes = record.kept["kernel"]["image"], record.kept["kernel"]["sizes"]
    assert np.shape(image) == (PIXELS, PIXELS)
    assert sum(sizes) == 178
    assert len(sizes) == 3
    # Samples are about equally many in each block: the mean of the image is that of the kernel.
    assert np.mean(image) == pytest.approx(model.kernel_.mean(), rel=0.02)
    inside = np.mean(np.array(image)[:20, :20])
    assert inside > np.mean(np.array(image)[:20, -20:])


def test_what_is_kept_is_json(record):
    assert json.loads(to_json(record.kept)) == record.kept


def test_samples_are_sorted_by_their_cluster():
    labels = np.array([1, 0, 3, 0])
    kernel = np.arange(16.0).reshape(4, 4)
    kept = keep_parts(SimpleNamespace(kernel_=kernel), labels, ["kernel"])
    order = [1, 3, 0, 2]
    assert kept == {"kernel": {"image": kernel[np.ix_(order, order)].tolist(), "sizes": [2, 1, 1]}}


def test_numbers_that_are_not_finite_become_none():
    kept = keep_parts(SimpleNamespace(history_={"objective": np.array([1.23456, np.inf])}), np.zeros(2), ["history"])
    assert kept == {"history": {"objective": [1.235, None]}}


@pytest.mark.parametrize("n", [1, 5, 96, 97, 200])
def test_block_means_cover_everything_once(n):
    matrix = np.random.default_rng(0).random((n, n))
    image = block_means(matrix)
    assert image.shape == (min(n, 96), min(n, 96))
    if n <= 96:
        np.testing.assert_allclose(image, matrix)
    assert block_means(np.ones((n, n))) == pytest.approx(1)
    assert block_means(matrix, most=1).item() == pytest.approx(matrix.mean())


def test_trials_that_keep_something_share_no_fit_with_others_and_are_asked_for_the_objective():
    assert fit_key(lkg()) != fit_key(lkg(keep=()))
    assert make(lkg(), 3).record_objective
    assert not make(lkg(keep=("kernel",)), 3).record_objective


def test_a_trial_that_keeps_nothing_has_nothing_kept():
    [record] = run_trials([lkg(keep=())], load("wine"))
    assert record.kept == {}
