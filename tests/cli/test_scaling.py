import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelbraid import LKG, EachView, load_model, save_model
from problems import blobs as make_blobs

WINE, CANCER = load_wine(), load_breast_cancer()
X = make_blobs(n=200, d=5, k=3)[0] * [1, 1, 1, 20, 1] + 30


def write_table(path, data, rows=slice(None)):
    names = [name.replace(",", " ") for name in data.feature_names]
    lines = [",".join(map(repr, map(float, row))) for row in data.data[rows]]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return path


def labels_in(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=1, dtype=int)


@pytest.mark.parametrize(("data", "k", "column"), [(WINE, 3, "proline"), (CANCER, 2, "worst area")])
def test_a_raw_table_gets_the_hint_and_scaled_the_labels_of_scaled_data(run, tmp_path, data, k, column):
    path, out, model = write_table(tmp_path / "raw.csv", data), tmp_path / "labels.csv", tmp_path / "a.model"
    result = run("cluster", path, "-k", k, "-q")
    assert result.stderr.startswith(f"Warning: feature '{column}' of X has ")
    assert result.stderr.count("\n") == 1
    result = run("cluster", path, "-k", k, "--scale", "standard", "--out", out, "--save", model, "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = LKG(k, random_state=0).fit(StandardScaler().fit_transform(data.data)).labels_
    np.testing.assert_array_equal(labels_in(out), expected)
    assert run("predict", model, path, "--out", tmp_path / "again.csv").exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()


def test_unit_is_the_length_of_samples_and_none_is_the_default(run, tmp_path):
    path, model = tmp_path / "X.npy", tmp_path / "a.model"
    np.save(path, X)
    summary = json.loads(run("cluster", path, "-k", 3, "--scale", "unit", "--save", model, "--json").stdout)
    assert summary["scale"] == "unit"
    loaded = load_model(model)
    assert isinstance(loaded[0], Normalizer)
    np.testing.assert_array_equal(loaded[1].labels_, LKG(3, random_state=0).fit(Normalizer().transform(X)).labels_)
    assert "scale          unit" in run("cluster", path, "-k", 3, "--scale", "unit").stdout
    result = run("cluster", path, "-k", 3, "--save", model)
    assert "\nscale " not in result.stdout
    assert isinstance(load_model(model), LKG)


def test_every_file_is_scaled_on_its_own_and_gaps_stay(run, told, write_views, tmp_path):
    files = write_views(range(5, 60), range(60), range(60))[:2]
    out, model = tmp_path / "labels.csv", tmp_path / "a.model"
    options = ("-k", 3, "--id", "id", "--scale", "standard")
    result = run("cluster", *files, *options, "--out", out, "--save", model)
    assert result.exit_code == 0, result.stderr
    loaded = load_model(model)
    assert isinstance(loaded[0], EachView)
    for scaler, view in zip(loaded[0].transformers_, (told[0][0][5:], told[0][1]), strict=True):
        np.testing.assert_allclose(scaler.mean_, view.mean(axis=0))
        np.testing.assert_allclose(scaler.scale_, view.std(axis=0))
    assert run("predict", model, *files, "--id", "id", "--out", tmp_path / "again.csv").exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()


def test_several_files_in_blocks_are_scaled_with_their_gaps(run, refuse, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelbraid.cli.reading.ROWS", 64)
    monkeypatch.setattr("kernelbraid.io.arrays.MAPPED", 0)
    first = X[:, :3].copy()
    first[150:] = np.nan  # two blocks have nothing else
    np.save(tmp_path / "first.npy", first)
    np.save(tmp_path / "second.npy", X[:, 2:])
    files, out, model = (tmp_path / "first.npy", tmp_path / "second.npy"), tmp_path / "l.csv", tmp_path / "a.model"
    result = run("cluster", *files, "-k", 3, "--scale", "standard", "--out", out, "--save", model)
    assert result.exit_code == 0, result.stderr
    np.testing.assert_allclose(load_model(model)[0].transformers_[0].mean_, X[:150, :3].mean(axis=0))
    assert run("predict", model, *files, "--out", tmp_path / "again.csv").exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()
    refuse("predict", model, *files, files[0], code=1, says=["DATA has 3 files"])


def test_sparse_samples_stay_sparse(run, tmp_path):
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.maximum(X - 30, 0)))
    options = ("-k", 3, "--scale", "standard", "--save", tmp_path / "a.model", "-q")
    result = run("cluster", tmp_path / "X.npz", *options)
    assert result.exit_code == 0, result.stderr
    assert load_model(tmp_path / "a.model")[0].with_mean is False


def test_a_pipeline_of_python_labels_files(run, tmp_path):
    model = make_pipeline("passthrough", StandardScaler(), PCA(3), LKG(3, random_state=0)).fit(X)
    save_model(model, tmp_path / "a.model")
    np.save(tmp_path / "X.npy", X)
    result = run("predict", tmp_path / "a.model", tmp_path / "X.npy", "--out", tmp_path / "l.csv", "--json")
    assert json.loads(result.stdout)["steps"] == ["StandardScaler", "PCA"]
    np.testing.assert_array_equal(labels_in(tmp_path / "l.csv"), model[-1].labels_)


def test_streams_go_through_all_steps_of_a_pipeline(run, refuse, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelbraid.cli.reading.ROWS", 64)
    monkeypatch.setattr("kernelbraid.io.arrays.MAPPED", 0)
    model = make_pipeline(StandardScaler(), PCA(3), LKG(3, random_state=0)).fit(X)
    save_model(model, tmp_path / "a.model")
    np.save(tmp_path / "X.npy", X)
    assert run("predict", tmp_path / "a.model", tmp_path / "X.npy", "--out", tmp_path / "l.csv").exit_code == 0
    np.testing.assert_array_equal(labels_in(tmp_path / "l.csv"), model[-1].labels_)
    np.save(tmp_path / "a.npy", X[:, :2])
    np.save(tmp_path / "b.npy", X[:, 2:])
    says = ["DATA has 2 files, and the StandardScaler of the model takes another number; give the files of the fit."]
    refuse("predict", tmp_path / "a.model", tmp_path / "a.npy", tmp_path / "b.npy", code=1, says=says)
