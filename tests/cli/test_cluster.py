import csv
import json
import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from kernelbraid import LKG
from kernelbraid.methods import METHODS, kernels_taken
from kernelbraid.metrics import evaluate

FAST = ("-k", 3, "--set", "n_init=3")
SHORT = ("--set", "solver__gamma=10", "--set", "solver__max_iter=2")
LEARNED = ("--fusion", "kernels", "--set", "solver__gamma=10")
KEYS = {
    *("method", "n_samples", "n_features", "n_clusters", "levels", "status", "n_iter", "n_components"),
    *("cluster_sizes", "kernels", "kernel_weights", "kernels_in_words", "views", "reliability", "why", "seconds"),
    *("scale", "confidence", "header", "tables", "out", "model", "warnings", "ids", "labels", "confidences"),
}


def read_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_blobs_are_clustered_and_summarised(run, blobs_csv, blobs, tmp_path):
    out = tmp_path / "labels.csv"
    result = run("cluster", blobs_csv, *FAST, "--out", out)
    assert result.exit_code == 0
    assert result.stderr == ""
    for words in (
        "method         LKG, several kernels, one graph",
        "samples        30",
        "features       4",
        "clusters       3",
        "cluster sizes  10, 10, 10",
        str(out),
    ):
        assert words in result.stdout
    shown = run("cluster", blobs_csv, *FAST, "--set", "solver__gamma=10").stdout
    for words in ("kernels        7", "status         converged", "kernel                  weight", "matters most"):
        assert words in shown
    header, *rows = read_rows(out)
    assert header == ["id", "label"]
    assert [row[0] for row in rows] == [f"s{i}" for i in range(30)]
    assert evaluate(blobs[1], [int(row[1]) for row in rows])["acc"] == 1.0


def test_json_is_one_object_with_these_keys(run, blobs_csv, tmp_path):
    out = tmp_path / "labels.csv"
    summary = json.loads(run("cluster", blobs_csv, *FAST, "--json", "--out", out).stdout)
    assert set(summary) == KEYS
    known = {
        "method": "LKG",
        "n_samples": 30,
        "n_features": 4,
        "n_clusters": 3,
        "status": None,
        "levels": None,
    }
    known |= {"cluster_sizes": [10, 10, 10], "out": str(out), "warnings": [], "confidence": None}
    assert {name: summary[name] for name in known} == known
    assert [view["file"] for view in summary["views"]] == ["blobs.csv"]
    assert 0.8 < summary["reliability"] <= 1.0
    assert f"reliability {summary['reliability']:.2f}" in summary["why"][0]
    learned = json.loads(run("cluster", blobs_csv, *FAST, "--set", "solver__gamma=10", "--json").stdout)
    assert learned["status"] == "converged"
    assert "7 kernels" in learned["kernels_in_words"][0]
    assert sum(learned["kernel_weights"].values()) == pytest.approx(1)
    assert [summary["ids"], summary["labels"]] == [
        list(column) for column in zip(*labelled(read_rows(out)), strict=True)
    ]
    assert summary["tables"] == {"blobs.csv": {"delimiter": ",", "decimal": "."}}


def labelled(rows):
    return [(row[0], int(row[1])) for row in rows[1:]]


def test_a_table_of_another_country_is_clustered_and_the_summary_says_how_it_was_read(run, blobs_csv, blobs):
    table = blobs_csv.read_text().replace(",", ";").replace(".", ",")
    result = run("cluster", "-", *FAST, content=table.encode())
    assert "tables         semicolons between cells, decimal commas" in result.stdout
    result = run(
        "cluster", "-", *FAST, "--json", "--delimiter", "semicolon", "--decimal", "comma", content=table.encode()
    )
    summary = json.loads(result.stdout)
    assert evaluate(blobs[1], summary["labels"])["acc"] == 1.0
    assert summary["tables"] == {"standard input": {"delimiter": ";", "decimal": ","}}


def test_warnings_of_the_library_are_single_lines(run, blobs_csv):
    result = run("cluster", blobs_csv, *FAST, *SHORT, "--json")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["status"] == "max_iter"
    assert len(summary["warnings"]) == 1
    assert result.stderr == f"Warning: {summary['warnings'][0]}\n"
    assert "limit of iterations" in run("cluster", blobs_csv, *FAST, *SHORT).stdout
    assert summary["warnings"][0].startswith("LKG made max_iter=2 steps")


# Methods


@pytest.mark.parametrize("method", METHODS)
def test_every_method_clusters_a_file(run, blobs_csv, blobs, method):
    result = run("cluster", blobs_csv, "-k", 3, "--set", "n_init=5", "--method", method, "--json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert set(summary) == KEYS
    assert summary["method"] == method
    assert summary["status"] in (None, "converged")
    assert len(summary["kernels"]) == {"one": 1, "several": 12, "none": 0}[kernels_taken(METHODS[method])]
    assert set(summary["kernel_weights"]) in (set(), set(summary["kernels"]))
    assert evaluate(blobs[1], summary["labels"])["acc"] == 1.0


def test_a_summary_without_weights_and_status_has_only_the_rest(run, blobs_csv):
    lines = run("cluster", blobs_csv, *FAST, "--method", "SC").stdout.splitlines()
    rows = {line[:15].strip(): line[15:].strip() for line in lines}
    assert list(rows) == [
        *("method", "samples", "features", "header", "kernels", "iterations", "clusters", "cluster sizes", "time"),
        "labels",
    ]
    assert rows["header"] == "row 1 names the columns"
    assert rows["kernels"] == "gaussian s=1"
    assert "kernels" not in run("cluster", blobs_csv, *FAST, "--method", "SSR").stdout


@pytest.fixture
def graphs(blobs, tmp_path):
    """Files with a graph of neighbours, and with one of distances that has those of new samples beside it."""
    near = KNeighborsTransformer(n_neighbors=6).fit(blobs[0])
    sparse.save_npz(tmp_path / "near.npz", kneighbors_graph(blobs[0], 6))
    sparse.save_npz(tmp_path / "far.npz", near.transform(blobs[0]))
    sparse.save_npz(tmp_path / "new.npz", near.transform(blobs[0][::5] + 0.01))
    return tmp_path


def test_graphs_are_read_out(run, graphs, blobs):
    out = graphs / "labels.csv"
    for name, kind in (("near.npz", "graph"), ("far.npz", "distances")):
        result = run("cluster", graphs / name, "-k", 3, "--kernels", kind, "--out", out, "--save", graphs / "model")
        assert result.exit_code == 0, result.stderr
        assert evaluate(blobs[1], [int(row[1]) for row in read_rows(out)[1:]])["acc"] == 1.0
    assert run("predict", graphs / "model", graphs / "new.npz", "--out", out).exit_code == 0
    assert evaluate(blobs[1][::5], [int(row[1]) for row in read_rows(out)[1:]])["acc"] == 1.0


# Views


def write_view(path, ids, X, name="id"):
    header = ",".join([name, *[f"{path.stem}{i}" for i in range(X.shape[1])]])
    path.write_text("\n".join([header, *(",".join([i, *map(str, row)]) for i, row in zip(ids, X, strict=True))]))
    return path


def test_several_files_are_views_of_the_same_samples(run, blobs, tmp_path):
    X, y = blobs
    first = write_view(tmp_path / "first.csv", [f"s{i}" for i in range(30)], X[:, :2])
    np.save(tmp_path / "second.npy", X[:, 2:])
    out = tmp_path / "labels.csv"
    summary = json.loads(run("cluster", tmp_path / "second.npy", first, *FAST, "--json", "-o", out).stdout)
    assert summary["n_features"] == 4
    assert [(view["name"], view["file"]) for view in summary["views"]] == [
        ("view 1", "second.npy"),
        ("view 2", "first.csv"),
    ]
    assert summary["kernels"] == summary["kernels_in_words"] == []
    assert summary["kernel_weights"] == {}
    joined = json.loads(run("cluster", tmp_path / "second.npy", first, *FAST, *LEARNED, "--json").stdout)
    assert len(joined["kernel_weights"]) == 14
    assert [told[:7] for told in joined["kernels_in_words"][1:]] == ["View 1:", "View 2:"]
    header, *rows = read_rows(out)
    assert header == ["id", "label"]
    assert rows[29][0] == "s29"
    assert evaluate(y, [int(row[1]) for row in rows])["acc"] == 1.0


def test_the_views_are_told_as_a_table(run, write_views, told, tmp_path):
    out = tmp_path / "labels.csv"
    result = run("cluster", *write_views(), *FAST, "--out", out)
    assert result.exit_code == 0, result.stderr
    for line in (
        "\nview  file       samples  weight  why\n",
        "\n   1  a.csv           60    0.50  shares neighbours with view 2 (",
        "\n   3  noise.csv       60    0.00  shares neighbours with no other view (",
    ):
        assert line in result.stdout
    assert "kernels  " not in result.stdout
    assert evaluate(told[1], [int(row[1]) for row in read_rows(out)[1:]])["acc"] == 1.0


def test_columns_of_several_files_are_dropped_where_they_are(run, refuse, blobs, tmp_path):
    ids = [f"s{i}" for i in range(30)]
    first = write_view(tmp_path / "a.csv", ids, blobs[0], name="code")
    second = write_view(tmp_path / "b.csv", ids, blobs[0])
    refuse("cluster", first, second, *FAST, code=1, says=["a.csv", "'code'", "--id code"])
    result = run("cluster", first, second, *FAST, "--id", "code", "--drop", "a0", "--drop", "b1", "--json")
    assert json.loads(result.stdout)["n_features"] == 6
    refuse("cluster", first, second, *FAST, "--drop", "zz", code=1, says="no file has a column 'zz'")


# Array files and kernels


def test_precomputed_kernels_come_as_a_stack_or_as_files_which_are_views(run, stack, tmp_path):
    np.save(tmp_path / "kernel.npy", np.load(stack)[1])
    pair, learned = [stack, tmp_path / "kernel.npy"], ("--set", "solver__gamma=10")
    for files, options, n_kernels in (([stack], learned, 2), ([stack], (), 0), (pair, (), 0)):
        summary = json.loads(run("cluster", *files, *FAST, "--kernels", "precomputed", *options, "--json").stdout)
        assert (summary["n_samples"], summary["n_features"]) == (30, None)
        assert summary["cluster_sizes"] == [10, 10, 10]
        assert len(summary["kernel_weights"]) == n_kernels
        assert [view["file"] for view in summary["views"]] == [file.name for file in files]
    one = ("--method", "KKM", "--set", "kernel=precomputed", "--set", "n_init=20")
    shown = run("cluster", tmp_path / "kernel.npy", "-k", 3, *one).stdout
    assert "none, kernels or a graph" in shown
    assert "kernels        1" in shown


# Bad data


def test_too_little_memory_is_a_sentence(refuse, monkeypatch, blobs_csv):
    def fit(*_):
        raise MemoryError

    monkeypatch.setattr(LKG, "fit", fit)
    refuse("cluster", blobs_csv, *FAST, code=1, says="memory")


# Output


def test_confidence_is_that_of_python_and_in_the_summary(run, blobs_csv, blobs, tmp_path):
    out = tmp_path / "labels.csv"
    model = LKG(3, n_init=3, random_state=0).fit(blobs[0])
    said = json.loads(run("cluster", blobs_csv, *FAST, "--confidence", "--json").stdout)
    assert said["confidence"]["mean"] == pytest.approx(model.confidence_.mean(), abs=1e-3)
    assert said["confidence"]["outliers"] == (model.outlier_scores_ > 0.5).sum()
    np.testing.assert_allclose(said["outlier_scores"], model.outlier_scores_, atol=1e-6)
    shown = run("cluster", blobs_csv, *FAST, "--confidence", "--out", out).stdout
    header, *rows = read_rows(out)
    assert header == ["id", "label", "confidence", "outlier_score"]
    sure = np.array([float(row[2]) for row in rows])
    assert f"{sure.mean():.2f} on the mean, below 0.5 for {(sure < 0.5).sum()} labels" in shown


def test_a_chosen_number_comes_with_what_speaks_for_it(run, blobs_csv):
    summary = json.loads(run("cluster", blobs_csv, "--json").stdout)
    taken = [level for level in summary["levels"] if level["is_taken"]]
    assert [level["n_clusters"] for level in taken] == [summary["n_clusters"]] == [3]


# Output


def test_the_output_file_is_checked_before_the_fit(refuse, no_fit, monkeypatch, blobs_csv, tmp_path):
    for out, says in [
        (tmp_path / "none" / "labels.csv", "no folder"),
        (tmp_path, "is a folder"),
        (blobs_csv, "is another file"),
        (blobs_csv / "labels.csv", "no folder"),
        ("/dev/null", "no plain file"),
    ]:
        refuse("cluster", blobs_csv, *FAST, "--out", out, code=2, says=["--out", says])
    monkeypatch.setattr(os, "access", lambda *_: False)
    refuse("cluster", blobs_csv, *FAST, "--out", tmp_path / "labels.csv", code=2, says="not writable")
