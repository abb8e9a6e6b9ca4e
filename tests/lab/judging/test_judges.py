"""Every judge measures tiny data and tells of them on its page."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from lab.judging import confidence, judge, new_samples, rules, samples, scale, trust, views
from lab.judging.cells import page as page_of_cells
from lab.judging.jobs import in_process
from lab.judging.made import read_made

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def tiny_data(tmp_path, monkeypatch):
    """One set of one view and one of two, the second sparse; two seeds."""
    X, y = make_blobs(60, 8, centers=3, random_state=0)
    parts = sparse.csr_array(np.where(X[:, 4:] > 0, X[:, 4:], 0))
    kept = {"X1_data": parts.data, "X1_indices": parts.indices, "X1_indptr": parts.indptr, "X1_shape": parts.shape}
    (tmp_path / "dev").mkdir()
    np.savez(tmp_path / "dev" / "one.npz", X=X.astype(np.float32), y=y + 1)
    np.savez(tmp_path / "dev" / "two.npz", X0=X[:, :4], y=y, **kept)
    monkeypatch.setenv("KERNELBRAID_DATA", str(tmp_path))
    for judged in (judge, rules, confidence, views):
        monkeypatch.setattr(judged, "SEEDS", (0, 1))
    return X, y


def rows_of(judged, *jobs):
    return [{"job": job, "machine": "", "commit": "", **row} for job in jobs for row in judged.measure(job)]


def test_data_sets_are_read_by_name(tiny_data):
    X, y = tiny_data
    (A, B), classes = samples.read("two")
    assert np.array_equal(A, X[:, :4])
    assert np.array_equal(B.toarray(), np.where(X[:, 4:] > 0, X[:, 4:], 0))
    assert np.array_equal(classes, y)
    assert samples.read("one")[1].min() == 0
    assert samples.read("moons")[0][0].shape == (400, 2)
    assert np.allclose(samples.read("iris, standardised")[0][0].mean(axis=0), 0)


def test_views_side_by_side_weigh_alike():
    A, B = np.full((4, 2), 5.0), sparse.csr_array(np.full((4, 3), 0.1))
    joined = samples.side_by_side([A, B], unit=False).toarray()
    assert np.allclose(np.linalg.norm(joined[:, :2], axis=1), np.linalg.norm(joined[:, 2:], axis=1))
    assert np.allclose((samples.side_by_side([A, B], unit=True).toarray() ** 2).sum(axis=1), 2)


def test_a_cluster_beyond_the_classes_stands_for_none():
    assert samples.matched(np.array([1, 1, 2, 2]), np.array([2, 2, 0, 3]), 4).tolist() == [2, -1, 1, -1]


def test_clusters_are_judged_with_a_number_and_without():
    rows = rows_of(judge, "one", "two", "genes_three")
    assert rows[0]["accuracy"] == rows[0]["rivals"]["KMeans"] == 100
    page = judge.page(rows)
    assert any(line.startswith("| others | 2 | 100.0") for line in page)
    assert any(line.startswith("| one | 60 | 3 | 100.0 | 100.0 |") for line in page)


def test_rules_are_judged_on_graphs_that_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "GRAPHS", tmp_path / "graphs")
    rows = rows_of(rules, "one", "two", "genes_three")
    assert {path.stem for path in (tmp_path / "graphs").iterdir()} == {"one", "two", "genes_three"}
    monkeypatch.setattr(rules, "LKG", None)  # no graph is learned again
    assert rows_of(rules, "one", "two", "genes_three") == rows
    assert set(rows[0]["tried"]) == {*rules.RULES, "communities", "pieces"}
    assert any(line.startswith("| others | 2 | 100.0 | 100.0 |") for line in rules.page(rows))


def test_a_kind_gets_the_rule_that_is_best_on_the_others():
    tried = dict.fromkeys(rules.RULES, 50.0)
    rows = [
        {"job": name, "tried": tried | {best: 60.0}}
        for name, best in (("yale", "0.8, 0.95, 0.3"), ("ba", "0.65, 0.95, 0.4"))
    ]
    assert rules.rules_of_others(rows) == {"faces": "0.65, 0.95, 0.4", "letters": "0.8, 0.95, 0.3"}
    assert rules.rules_of_others([{"job": name, "tried": tried} for name in ("yale", "ba")])["faces"] == rules.OURS


@pytest.mark.parametrize("name", ["rare_4", "letters_1900", "survey_4"])
def test_sets_are_drawn_alike_each_time(name):
    (one, classes), (other, _) = (read_made(name) for _ in range(2))
    assert np.array_equal(one, other)
    assert set(classes) == set(range(int(classes.max()) + 1))


def test_confidence_is_judged_beside_simple_rules():
    rows = rows_of(confidence, "one", "two")
    assert rows[0]["accuracy"] == 100
    assert all(rows[0][f"gain {rule}"] == 0 for rule in confidence.RULES)
    assert "| one | 100.0 | 0.0 |" in "\n".join(confidence.page(rows))


def test_outliers_are_judged_beside_other_detectors(monkeypatch, tiny_data):
    monkeypatch.setattr(confidence, "make_blobs", lambda *_, **__: tiny_data)
    (row,) = rows_of(confidence, "outliers of ten blobs")
    assert all(0 <= row[detector] <= 1 for detector in confidence.DETECTORS)
    assert confidence.page([*rows_of(confidence, "one"), row])[-1].startswith("| ten blobs | ")


def test_rows_among_samples_are_known(tiny_data):
    X, _ = tiny_data
    rows, is_out = confidence.polluted(X, 0)
    assert is_out.sum() == 3
    assert np.array_equal(np.sort(rows[~is_out], axis=0), np.sort(X, axis=0))


def test_new_samples_are_judged_by_the_clusters_of_the_fitted_ones(monkeypatch):
    monkeypatch.setattr(new_samples, "SPLITS", (0, 1))
    rows = rows_of(new_samples, "one")
    assert [row["accuracy of new"] for row in rows] == [100, 100]
    assert "| one | 48 | 12 | 100.00 ± 0.00 | 100.00 ± 0.00 | +0.00 |" in new_samples.page(rows)[-1]


def test_false_views_are_added_and_counted():
    rows = rows_of(views, "two")
    assert rows[0]["as they are"] == 100
    assert views.page(rows)[-2].startswith("| two | 2 | 100.0 |")


def test_views_that_have_nothing_in_common_agree_by_chance_alone(monkeypatch):
    monkeypatch.setattr(trust, "EACH", 1)
    monkeypatch.setattr(trust, "FITS", {50: 2})
    rows = rows_of(trust, "50")
    assert rows[0]["pairs"] == 42
    assert rows[0]["above 6"] == 0
    assert "| 50 | 42 |" in "\n".join(trust.page(rows))
    assert trust.bound(0, 300, 10) == "< 1e-01"
    assert trust.bound(2, 10, 100) == "1.0e+00"


def test_rings_in_a_file_do_not_depend_on_chunks(monkeypatch, tmp_path):
    y = scale.write_rings(tmp_path / "whole.npy", 300)
    monkeypatch.setattr(scale, "CHUNK", 70)
    assert np.array_equal(scale.write_rings(tmp_path / "parts.npy", 300), y)
    assert np.array_equal(np.load(tmp_path / "whole.npy"), np.load(tmp_path / "parts.npy"))


def test_many_samples_are_measured_here_and_on_workers():
    pytest.importorskip("distributed", reason="distributed is not installed")
    rows = [*rows_of(scale, "2000", "4000"), *in_process("scale", "2000 on 1 worker")]
    assert all(row["index"] > 0.9 and row["peak_bytes"] > row["own_bytes"] for row in rows)
    page = "\n".join(scale.page(rows))
    assert "| 2000 on 1 worker |" in page
    assert "Exponents over all sizes: time" in page


def test_cells_are_clustered_beside_leiden():
    for package in ("anndata", "mudata", "scanpy", "leidenalg"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    (row,) = in_process("cells", "modalities 200 8")
    assert row["leiden_found"] > 1
    assert page_of_cells([row])[-1].startswith("| modalities 200 8 | ")
