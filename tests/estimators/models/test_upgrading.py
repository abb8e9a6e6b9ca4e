"""Models that an earlier kernelbraid has written.

The files in ``models`` are of format 1: version 0.1.0 wrote them before the graph was learned and read out by functions
of their own. What it predicted stands beside them.
"""

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import load_model, save_model
from kernelbraid.estimators.models.saving import TREE, VERSION
from kernelbraid.estimators.models.upgrading import PARTS_OF_VERSION_1, FittedGraph, neighbours, upgrade
from kernelbraid.kernels import Neighbours, SelfTuning
from kernelbraid.learning.extension import Extension
from problems import dense

FOLDER = Path(__file__).parent
TOLD = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
EXTENDED = ["default", "learned", "precomputed", "near"]  # models of LKG


def load(name):
    return load_model(FOLDER / f"{name}.model")


def predictor(model):
    return getattr(model, "best_estimator_", model)


def assert_predicts(model, told):
    assert predictor(model).predict(np.array(told["new"])).tolist() == told["predict"]
    assert predictor(model).predict(np.array(told["fitted"])).tolist() == told["fitted_predict"]
    for method in ("transform", "predict_proba"):
        if method in told:
            found = getattr(predictor(model), method)(np.array(told["new"]))
            np.testing.assert_allclose(found, told[method], atol=1e-6 if method == "transform" else 1e-9)
    if "labels" in told:
        assert predictor(model).labels_.tolist() == told["labels"]


def test_there_is_a_file_for_every_prediction():
    assert {path.stem for path in FOLDER.glob("*.model")} == set(TOLD)
    for path in FOLDER.glob("*.model"):
        with zipfile.ZipFile(path) as archive:
            assert json.loads(archive.read(TREE))["version"] == 1


@pytest.mark.parametrize("name", TOLD)
def test_a_model_of_version_1_predicts_what_it_did(name):
    assert_predicts(load(name), TOLD[name])


@pytest.mark.parametrize("name", TOLD)
def test_it_is_saved_as_a_model_of_today(name, tmp_path):
    path = tmp_path / "again.model"
    save_model(load(name), path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read(TREE))["version"] == VERSION == 2
    assert_predicts(load_model(path), TOLD[name])
    assert_predicts(pickle.loads(pickle.dumps(load(name))), TOLD[name])


@pytest.mark.parametrize("name", EXTENDED)
def test_what_new_samples_need_is_that_of_today(name):
    extension = load(name)._fitted
    assert isinstance(extension, Extension)
    assert (extension.bank is None) == (extension.digests is not None) == (name == "precomputed")
    assert (extension.kernel is None) == (name in ("default", "near"))
    assert (extension.n_neighbors, extension.edge_weights, extension.ridge) == (10, "scaled", 1.0)


@pytest.mark.parametrize("name", EXTENDED)
def test_the_kernel_of_the_fit_is_the_one_that_is_formed_again(name):
    model = load(name)
    np.testing.assert_allclose(model._fitted.consensus(), model.kernel_, atol=1e-12)


def test_a_search_and_a_classifier_have_upgraded_models_inside():
    assert isinstance(load("search").best_estimator_._fitted, Extension)
    assert isinstance(load("classifier").graph_model_._fitted, Extension)
    assert len(load("search").results_) == 3


def test_local_kernels_come_back_with_what_they_know_of_the_samples():
    [bank] = load("near")._fitted.bank.banks
    local = {type(kernel): kernel for kernel in bank if isinstance(kernel, Neighbours | SelfTuning)}
    assert set(local) == {Neighbours, SelfTuning}
    assert isinstance(local[Neighbours].graph, sparse.csr_array)
    assert local[SelfTuning].widths.shape == (14,)


@pytest.mark.parametrize("name", ["default", "learned", "near"])
def test_a_fit_of_today_has_the_clusters_and_the_graph_of_the_file(name):
    old = load(name)
    then = {} if name == "learned" else {"alpha": 1.0, "n_neighbors": 10, "assign_labels": "kmeans"}
    model = type(old)(**{**old.get_params(), "keep_matrices": True, **then}).fit(np.array(TOLD[name]["fitted"]))
    np.testing.assert_array_equal(model.labels_, old.labels_)
    np.testing.assert_allclose(dense(model.graph_), old.graph_, atol=1e-9)
    np.testing.assert_allclose(model.kernel_, old.kernel_, atol=1e-9)
    np.testing.assert_allclose(model.kernel_weights_, old.kernel_weights_, atol=1e-9)


def test_neighbours_of_version_1_lose_their_dense_values():
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    kernel = neighbours(graph=A, values=A, roots=np.ones(2), degrees=np.ones(2), n_neighbors=3)
    assert kernel.n_neighbors == 3
    assert isinstance(kernel.graph, sparse.csr_array)
    np.testing.assert_array_equal(kernel.graph.toarray(), A)
    assert neighbours(n_neighbors=4) == Neighbours(4)


def test_models_without_new_samples_are_left_alone():
    model = load("landmarks")
    assert upgrade(model) is model
    assert not isinstance(vars(model).get("_fitted"), FittedGraph | Extension)


def test_parts_of_version_1_are_not_read_in_files_of_today(tmp_path):
    path = tmp_path / "mixed.model"
    with zipfile.ZipFile(FOLDER / "default.model") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(content[TREE])
    assert "FittedGraph" in PARTS_OF_VERSION_1
    content[TREE] = json.dumps({**tree, "version": 2}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    with pytest.raises(ValueError, match=r"damaged \(it holds the class 'FittedGraph', which is unknown\)"):
        load_model(path)
