import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid import LKG, load_model, save_model
from kernelbraid.kernels import Gaussian, SelfTuning, build_bank
from kernelbraid.learning.settings import PRESETS

COMPUTING = {"thresholding", "storage", "memory_budget", "device", "n_jobs", "record_objective", "callback"}
BESIDE = {"preset", "view_weights", "random_state"}  # published elsewhere, or nothing that a fit could choose
LEARNED = {"alpha", "beta", "gamma", "mu", "graph_penalty", "n_neighbors", "edge_weights", "max_iter", "tol"}


@pytest.fixture(scope="module")
def X():
    return make_blobs(60, 12, centers=3, random_state=0)[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_parameter_that_decides_has_a_value(X, preset):
    settings = LKG(3, preset=preset, max_iter=8, tol=0.0, n_init=2, random_state=0).fit(X[:20]).settings_
    assert set(settings) == set(LKG().get_params()) - COMPUTING - BESIDE
    assert None not in settings.values()


@pytest.mark.parametrize("width", [4, 12])
@pytest.mark.parametrize("given", [{}, {"gamma": 10.0}, {"n_clusters": "auto"}, {"kernels": [Gaussian(0.5)]}])
def test_the_values_fit_the_same_again(X, width, given):
    first = LKG(**{"n_clusters": 3, "random_state": 0, **given}).fit(X[:, :width])
    again = LKG(**first.settings_, random_state=0).fit(X[:, :width])
    assert again.settings_ == first.settings_
    np.testing.assert_array_equal((again.graph_ - first.graph_).data, 0.0)
    if "n_clusters" not in given:  # choosing a number takes random numbers, too
        np.testing.assert_array_equal(again.labels_, first.labels_)


def test_what_samples_decide_follows_them(X):
    few, many = (LKG(3, n_init=2, random_state=0).fit(x).settings_ for x in (X, np.vstack([X, X + 0.01, X - 0.01])))
    assert (few["n_neighbors"], many["n_neighbors"]) == (5, 10)
    assert many["alpha"] > few["alpha"] == pytest.approx(0.2)


def test_fused_views_list_penalties_and_banks(X):
    settings = LKG(3, n_init=2, random_state=0).fit([X[:, :6], X[:, 6:]]).settings_
    assert settings["alpha"] == [1.0, 30.0]
    assert settings["kernels"] == ["middle", [SelfTuning(7)]]
    assert (settings["fusion"], settings["assign_labels"], settings["n_neighbors"]) == ("graphs", "kmeans", 10)
    given = LKG(3, alpha=2.0, n_neighbors=7, n_init=2, random_state=0).fit([X[:, :6], X[:, 6:]]).settings_
    assert (given["alpha"], given["n_neighbors"]) == ([2.0], 7)


def test_joined_kernels_of_views_have_a_bank_each(X):
    settings = LKG(3, fusion="kernels", n_init=2, random_state=0).fit([X[:, :2], X]).settings_
    assert [len(bank) for bank in settings["kernels"]] == [7, 4]


def test_given_kernels_and_graphs_are_named_and_nothing_is_said_of_what_a_graph_does_not_need(X):
    kernels = LKG(3, kernels="precomputed", n_init=2, random_state=0).fit(build_bank(X, "middle"))
    assert kernels.settings_["kernels"] == "precomputed"
    graph = LKG(3, kernels="graph", n_init=2, random_state=0).fit(kernels.graph_)
    assert graph.settings_["kernels"] == "graph"
    assert {graph.settings_[name] for name in LEARNED} == {None}
    assert graph.settings_["assign_labels"] == "merge"


def test_a_file_keeps_the_values(X, tmp_path):
    model = LKG(3, random_state=0).fit(X)
    save_model(model, tmp_path / "a.model")
    assert load_model(tmp_path / "a.model").settings_ == model.settings_
