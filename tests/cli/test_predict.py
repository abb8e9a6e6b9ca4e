import csv
import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid import LKG, LKGClassifier, load_model, save_model
from kernelbraid.methods import KernelKMeans, KernelSpectralClustering

FAST = ("-k", 3, "--set", "n_init=3")
KEYS = {
    *("model", "estimator", "steps", "n_samples", "n_features", "n_clusters", "classes", "cluster_sizes", "seconds"),
    *("confidence", "header", "tables", "out", "warnings", "ids", "labels", "confidences"),
}


@pytest.fixture(scope="module")
def new():
    """Nine more samples of the blobs, and their classes."""
    X, y = make_blobs([13, 13, 13], n_features=4, cluster_std=0.3, random_state=1)
    rows = np.concatenate([np.flatnonzero(y == label)[:3] for label in range(3)])
    return X[rows], y[rows]


@pytest.fixture
def new_csv(tmp_path, new):
    path = tmp_path / "new.csv"
    rows = ["id,a,b,c,d", *(",".join([f"n{i}", *map(repr, map(float, row))]) for i, row in enumerate(new[0]))]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def saved(run, blobs_csv, tmp_path):
    """The model of the blobs."""
    assert run("cluster", blobs_csv, *FAST, "--save", tmp_path / "blobs.model", "--quiet").exit_code == 0
    return tmp_path / "blobs.model"


def read_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


# Models of ``cluster --save``


def test_a_model_that_cannot_be_written_ends_with_a_sentence(refuse, monkeypatch, blobs_csv, tmp_path):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kernelbraid.cli.cluster.save_model", fail)
    says = ["a.model could not be written (No space left on device)"]
    refuse("cluster", blobs_csv, *FAST, "--save", tmp_path / "a.model", code=1, says=says)


# Labels


def test_new_samples_are_labelled_and_summarised(run, saved, blobs_csv, blobs, new_csv, new, tmp_path):
    out = tmp_path / "labels.csv"
    result = run("predict", saved, new_csv, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    for words in (f"model          {saved}, LKG", "clusters       3 of 3 occur", "cluster sizes  3, 3, 3"):
        assert words in result.stdout
    header, *rows = read_rows(out)
    assert header == ["id", "label"]
    assert [row[0] for row in rows] == [f"n{i}" for i in range(9)]
    model = load_model(saved)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    of_class = {int(label): int(model.labels_[blobs[1] == label][0]) for label in range(3)}
    assert [int(row[1]) for row in rows] == [of_class[int(label)] for label in new[1]]


def test_json_is_one_object_with_these_keys(run, saved, new_csv):
    summary = json.loads(run("predict", saved, new_csv, "--json", "--confidence").stdout)
    assert set(summary) == KEYS
    known = {"model": str(saved), "estimator": "LKG", "n_samples": 9, "n_features": 4, "n_clusters": 3, "classes": None}
    assert {name: summary[name] for name in known} == known
    assert len(summary["labels"]) == len(summary["confidences"]) == 9


def test_new_samples_come_through_standard_input(run, saved, new_csv):
    direct = json.loads(run("predict", saved, new_csv, "--json").stdout)
    result = run("predict", saved, "-", "--out", "-", content=new_csv.read_bytes())
    lines = [f"{name},{label}" for name, label in zip(direct["ids"], direct["labels"], strict=True)]
    assert result.stdout.splitlines() == ["id,label", *lines]
    assert "labels         on standard output" in result.stderr


def test_a_key_ids_and_columns_to_drop_are_read_as_in_a_fit(run, refuse, saved, new, tmp_path):
    np.savez(tmp_path / "a.npz", first=new[0][:1], second=new[0])
    shown = run("predict", saved, tmp_path / "a.npz", "--key", "first").stdout
    assert "samples        1\n" in shown
    assert "clusters       1 of 3 occur" in shown
    table, out = tmp_path / "a.csv", tmp_path / "labels.csv"
    rows = [",".join(["x", f"m{i}", *map(str, row)]) for i, row in enumerate(new[0])]
    table.write_text("\n".join(["kind,code,a,b,c,d", *rows]))
    result = run("predict", saved, table, "--drop", 1, "--id", "code", "-o", out, "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert [row[0] for row in read_rows(out)[1:]] == [f"m{i}" for i in range(9)]
    table.write_text("a,b,c,d\n1,2,3,x\n")
    refuse("predict", saved, table, code=1, says=["column 'd'", "row 2", "'x'"])
    refuse("predict", table, table, code=1, says=["a.csv is no model of kernelbraid", "save_model"])
    refuse("predict", saved, tmp_path / "a.npz", "--out", saved, code=2, says="is another file of this command")


def test_new_samples_that_no_used_file_has_are_refused(run, refuse, write_views, tmp_path):
    run("cluster", *write_views(), *FAST, "--save", tmp_path / "views.model")
    files = write_views(range(9), range(9), range(12), folder="new")
    says = ["sample 9 of X", "missing", "(views 1, 2)"]
    refuse("predict", tmp_path / "views.model", *files, "--id", "id", code=1, says=says)


def test_views_are_given_in_the_order_of_the_fit(run, refuse, blobs, new, tmp_path):
    for name, X in (("fit", blobs[0]), ("new", new[0])):
        np.save(tmp_path / f"{name}1.npy", X[:, :3])
        np.save(tmp_path / f"{name}2.npy", X[:, 3:])
    path = tmp_path / "views.model"
    run("cluster", tmp_path / "fit1.npy", tmp_path / "fit2.npy", *FAST, "--save", path)
    summary = json.loads(run("predict", path, tmp_path / "new1.npy", tmp_path / "new2.npy", "--json").stdout)
    assert summary["cluster_sizes"] == [3, 3, 3]
    np.save(tmp_path / "all.npy", new[0])
    says = "the views of X have [4] features; those of the fit had [3, 1]"
    refuse("predict", path, tmp_path / "all.npy", code=1, says=says)
    says = "the views of X have [1, 3] features"
    refuse("predict", path, tmp_path / "new2.npy", tmp_path / "new1.npy", code=1, says=says)
    says = "X has 3 features, but LKG is expecting 4 features as input."
    refuse("predict", path, tmp_path / "new1.npy", code=1, says=says)


def write_halves(X, tmp_path):
    """Write the samples as two files with named columns, and the first once more, turned around."""
    names = [f"c{i}" for i in range(X.shape[1])]
    orders = {"left.csv": (0, 1), "right.csv": (2, 3), "turned.csv": (1, 0)}
    for file, columns in orders.items():
        head = ",".join(names[i] for i in columns)
        np.savetxt(tmp_path / file, X[:, columns], delimiter=",", header=head, comments="", fmt="%.17g")
    return [tmp_path / file for file in orders]


@pytest.mark.parametrize("more", [[], ["--scale", "standard"]], ids=["all", "scaled"])
def test_columns_of_several_files_are_found_by_their_names(run, refuse, tmp_path, more):
    X = make_blobs(60, 4, centers=3, random_state=0)[0]
    left, right, turned = write_halves(X, tmp_path)
    model, first, again = (tmp_path / name for name in ("views.model", "fit.csv", "again.csv"))
    run("cluster", left, right, "-k", 3, "--save", model, "--out", first, *more)
    run("predict", model, left, right, "--out", again)
    assert again.read_text() == first.read_text()
    says = (
        "DATA has the columns c2, c3, c0, c1, and the model was fitted on c0, c1, c2, c3; give the files in the order"
    )
    refuse("predict", model, right, left, code=1, says=says)
    again.unlink()
    run("predict", model, turned, right, "--out", again)
    assert again.read_text() == first.read_text()


def test_new_samples_that_lack_files_are_labelled_by_the_others(run, refuse, write_views, told, tmp_path):
    rows = np.arange(60)
    fit, new = rows[rows % 3 > 0], rows[rows % 3 == 0]
    path, out = tmp_path / "views.model", tmp_path / "labels.csv"
    result = run("cluster", *write_views(fit, fit[::2], fit), *FAST, "--id", "id", "--save", path, "-o", out)
    assert result.exit_code == 0, result.stderr
    named = {told[1][int(row[0][1:])]: row[1] for row in read_rows(out)[1:]}
    files = write_views(new[:14], new[6:], new, folder="new")
    result = run("predict", path, *files, "--id", "id", "-o", out)
    assert result.exit_code == 0, result.stderr
    assert {row[0]: row[1] for row in read_rows(out)[1:]} == {f"s{i}": named[told[1][i]] for i in new}
    says = ["b.csv: 14 samples, but", "a.csv has 20", "(--id COLUMN)"]
    files = write_views(new, new[6:], new, folder="new")
    refuse("predict", path, *files, code=1, says=says)


def test_kernels_between_new_and_fitted_samples_are_read(run, refuse, stack, blobs, new, tmp_path):
    path = tmp_path / "kernels.model"
    run("cluster", stack, *FAST, "--kernels", "precomputed", "--save", path)
    mean = blobs[0].mean(axis=0)
    A, B = new[0] - mean, blobs[0] - mean
    cross = np.stack([A @ B.T, np.exp(-((A[:, None] - B) ** 2).sum(-1))])
    np.save(tmp_path / "cross.npy", cross)
    for i in range(2):
        np.save(tmp_path / f"cross{i}.npy", cross[i])
    for files in (["cross.npy"], ["cross0.npy", "cross1.npy"]):
        summary = json.loads(run("predict", path, *(tmp_path / name for name in files), "--json").stdout)
        assert summary["n_samples"] == 9
        assert summary["n_features"] is None
        assert summary["cluster_sizes"] == [3, 3, 3]
    assert "none, kernels or a graph" in run("predict", path, tmp_path / "cross.npy").stdout
    refuse("predict", path, tmp_path / "cross0.npy", code=1, says="X holds 1 kernels; the fit had 2")
    np.save(tmp_path / "few.npy", cross[:, :, :5])
    refuse("predict", path, tmp_path / "few.npy", code=1, says=["(9, 5)", "30"])


def test_a_classifier_names_its_classes(run, blobs, new_csv, tmp_path):
    path, out = tmp_path / "classes.model", tmp_path / "labels.csv"
    save_model(LKGClassifier().fit(blobs[0], np.array(["ash", "birch", "cedar"])[blobs[1]]), path)
    result = run("predict", path, new_csv, "--out", out)
    assert "classes        3 of 3 occur" in result.stdout
    assert "class sizes    ash 3, birch 3, cedar 3" in result.stdout
    assert {row[1] for row in read_rows(out)[1:]} == {"ash", "birch", "cedar"}
    assert json.loads(run("predict", path, new_csv, "--json").stdout)["classes"] == ["ash", "birch", "cedar"]


# What cannot be done


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        (
            KernelSpectralClustering(3),
            (),
            "KernelSpectralClustering; save a fitted LKG, which labels",
        ),
        (
            KernelKMeans(3),
            ["--confidence"],
            "KernelKMeans; save a fitted LKG, which knows how sure",
        ),
        (LKG(3), None, "holds an estimator that was not fitted; call fit first"),
    ],
)
def test_a_model_that_cannot_do_what_is_asked_is_refused(refuse, blobs, blobs_csv, tmp_path, model, options, says):
    save_model(model if options is None else model.fit(blobs[0]), tmp_path / "a.model")
    refuse("predict", tmp_path / "a.model", blobs_csv, *(options or ()), code=1, says=says)


@pytest.mark.parametrize("fitted_with", ["cluster", "data frame"])
def test_columns_are_found_by_name(run, refuse, blobs, saved, new, tmp_path, fitted_with):
    if fitted_with == "data frame":
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        save_model(LKG(3, random_state=0).fit(pandas.DataFrame(blobs[0], columns=list("abcd"))), saved)
    table = tmp_path / "mixed.csv"
    rows = [",".join([*map(str, row[[2, 0]]), "word", *map(str, row[[3, 1]])]) for row in new[0]]
    table.write_text("\n".join(["c,a,note,d,b", *rows]))
    np.save(tmp_path / "new.npy", new[0])
    first, second = (json.loads(run("predict", saved, name, "--json").stdout) for name in (table, tmp_path / "new.npy"))
    assert first["cluster_sizes"] == second["cluster_sizes"] == [3, 3, 3]
    assert first["warnings"] == []
    table.write_text("a,b,c,d,d\n1,2,3,4,5\n")
    refuse("predict", saved, table, code=1, says="several columns are called 'd', which is needed")
    table.write_text("a,b,c,e\n1,2,3,4\n")
    refuse("predict", saved, table, code=1, says=["no column 'd', which is needed", "a, b, c, e"])
    table.write_text("1,2,3,4\n5,6,7,8\n")
    assert json.loads(run("predict", saved, table, "--json").stdout)["n_samples"] == 2


def test_fitted_samples_are_as_sure_as_in_the_fit(run, blobs_csv, tmp_path):
    model, first, again = (tmp_path / name for name in ("a.model", "first.csv", "again.csv"))
    assert run("cluster", blobs_csv, *FAST, "--confidence", "--save", model, "--out", first).exit_code == 0
    result = run("predict", model, blobs_csv, "--confidence", "--out", again)
    assert result.exit_code == 0
    assert "on the mean, below 0.5 for" in result.stdout
    wanted, found = read_rows(first), read_rows(again)
    assert found[0] == ["id", "label", "confidence"]
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    np.testing.assert_allclose([float(row[2]) for row in found[1:]], [float(row[2]) for row in wanted[1:]], atol=2e-4)
