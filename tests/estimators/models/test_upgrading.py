"""Models that an earlier kernelbraid has written.

The folders beside this file are named after the version that wrote them, by `write_models.py`; what it predicted stands
there, too. Those of 0.1.0 are of format 1: from before the graph was learned and read out by functions of their own.
"""

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import load_model, save_model
from kernelbraid.estimators.models.encoding import MODELS
from kernelbraid.estimators.models.members import CHECKSUMS
from kernelbraid.estimators.models.saving import READABLE, TREE, VERSION
from kernelbraid.estimators.models.upgrading import PARTS_OF_VERSION_1, FittedGraph, neighbours, upgrade
from kernelbraid.kernels import Neighbours, SelfTuning
from kernelbraid.learning.extension import Extension
from problems import dense

HERE = Path(__file__).parent
LATER = {"SimpleMultipleKernelKMeans", "SelfWeightedMultipleKernel", "MultiViewGraphFusion", "CrossViewDiffusion"}
FORMATS = {"0.1.0": 1, "0.2.0": 2}
SAID = {folder: json.loads((HERE / folder / "predictions.json").read_text(encoding="utf-8")) for folder in FORMATS}
CASES = [(folder, name) for folder, told in SAID.items() for name in told]
OLD, TOLD = HERE / "0.1.0", SAID["0.1.0"]
EXTENDED = ["default", "learned", "authors", "precomputed", "near", "sparse", "views"]  # models of LKG
cases = pytest.mark.parametrize(("folder", "name"), CASES, ids=map("-".join, CASES))


def load(name):
    return load_model(OLD / f"{name}.model")


def predictor(model):
    return getattr(model, "best_estimator_", model)


def samples(told, kind):
    """Return samples as the fit had them."""
    if isinstance(told[kind][0][0], list) and len(told[kind][0][0]) < 14:  # views; kernels have more columns
        return [np.array(view) for view in told[kind]]
    return sparse.csr_matrix(told[kind]) if told["is_sparse"] else np.array(told[kind])


def assert_predicts(model, told):
    if "labels" in told:
        assert model.labels_.tolist() == told["labels"]
    if "new" not in told:
        return
    new = samples(told, "new")
    assert predictor(model).predict(new).tolist() == told["predict"]
    assert predictor(model).predict(samples(told, "fitted")).tolist() == told["known"]
    for method in ("transform", "predict_proba"):
        if method in told:
            found = getattr(predictor(model), method)(new)
            np.testing.assert_allclose(found, told[method], atol=1e-6 if method == "transform" else 1e-9)


@pytest.mark.parametrize("folder", FORMATS)
def test_there_is_a_file_of_every_estimator_with_what_it_predicted(folder):
    assert {path.stem for path in (HERE / folder).glob("*.model")} == set(SAID[folder])
    kinds = set()
    for path in (HERE / folder).glob("*.model"):
        with zipfile.ZipFile(path) as archive:
            tree = json.loads(archive.read(TREE))
            assert (CHECKSUMS in archive.namelist()) == (folder != "0.1.0")
        assert (tree["version"], tree["kernelbraid"]) == (FORMATS[folder], folder)
        kinds.add(tree["model"]["class"])
    assert kinds == set(MODELS) - (LATER if folder == "0.1.0" else set())


def test_there_is_a_file_of_every_format():
    assert set(FORMATS.values()) == set(READABLE)


@cases
def test_a_model_of_an_earlier_version_predicts_what_it_did_and_is_saved_as_one_of_today(folder, name, tmp_path):
    path = tmp_path / "again.model"
    model = load_model(HERE / folder / f"{name}.model")
    assert_predicts(model, SAID[folder][name])
    save_model(model, path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read(TREE))["version"] == VERSION == 2
    assert_predicts(load_model(path), SAID[folder][name])
    assert_predicts(pickle.loads(pickle.dumps(model)), SAID[folder][name])


@pytest.mark.parametrize("name", EXTENDED)
def test_what_new_samples_need_is_that_of_today(name):
    extension = load(name)._fitted
    assert isinstance(extension, Extension)
    assert (extension.bank is None) == (extension.digests is not None) == (name == "precomputed")
    assert (extension.kernel is None) == (name not in ("learned", "authors", "precomputed"))
    edges = (None, "learned") if name == "authors" else (10, "scaled")
    assert (extension.n_neighbors, extension.edge_weights, extension.ridge) == (*edges, 1.0)


@pytest.mark.parametrize("name", EXTENDED)
def test_the_kernel_of_the_fit_is_the_one_that_is_formed_again(name):
    model = load(name)
    np.testing.assert_allclose(model._fitted.consensus(), model.kernel_, atol=1e-12)


def test_a_classifier_has_an_upgraded_model_inside():
    assert isinstance(load("classifier").graph_model_._fitted, Extension)


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
    with zipfile.ZipFile(OLD / "default.model") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(content[TREE])
    assert "FittedGraph" in PARTS_OF_VERSION_1
    content[TREE] = json.dumps({**tree, "version": 2}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    with pytest.raises(ValueError, match=r"damaged \(it holds the class 'FittedGraph', which is unknown\)"):
        load_model(path)
