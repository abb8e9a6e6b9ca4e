import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, load_model
from kernelbraid.cli import reading
from kernelbraid.estimators import dask_views
from kernelbraid.io import arrays, tables
from problems import blobs as make_blobs

X, y = make_blobs(n=200, d=5, k=3)
MANY = ("-k", 3)


@pytest.fixture
def in_blocks(monkeypatch):
    """Files are too large to be held in memory."""
    for module in (reading, dask_views):
        monkeypatch.setattr(module, "ROWS", 64)
    for module in (arrays, tables):
        monkeypatch.setattr(module, "CELLS", 300)
    monkeypatch.setattr(arrays, "MAPPED", 0)
    monkeypatch.setattr("kernelbraid._blocks.SHARE", np.inf)


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


@pytest.fixture
def parquet(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    columns = {f"f{i}": column for i, column in enumerate(X.T)}
    table = pa.table({"id": [f"s{i}" for i in range(200)], **columns, "species": ["x"] * 200})
    pq.write_table(table, tmp_path / "X.parquet", row_group_size=70)
    return tmp_path / "X.parquet"


@pytest.fixture
def expected():
    return LKG(3, random_state=0).fit(X).labels_


def labels_in(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=1, dtype=int)


def test_a_large_file_is_read_in_blocks_and_the_model_labels_it(run, npy, parquet, expected, tmp_path, in_blocks):
    out, model = tmp_path / "labels.csv", tmp_path / "X.model"
    result = run("cluster", npy, *MANY, "--out", out, "--save", model, "--verbose")
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(labels_in(out), expected)
    result = run("cluster", parquet, *MANY, "--drop", "species", "--out", out, "--verbose", "--save", model)
    assert "reading samples" in result.stderr
    np.testing.assert_array_equal(labels_in(out), expected)
    assert out.read_text().splitlines()[1].startswith("s0,")
    assert isinstance(load_model(model), LKG)
    again = tmp_path / "again.csv"
    assert run("predict", model, parquet, "--out", again).exit_code == 0
    assert again.read_bytes() == out.read_bytes()


def test_what_cannot_be_done_gets_a_sentence(refuse, npy, tmp_path):
    files = ("--out", tmp_path / "labels.csv", "--save", tmp_path / "X.model")
    says = "'localhost' is no address of a Dask scheduler"
    refuse("cluster", npy, *MANY, "--dask", "localhost", *files, code=1, says=says)


def test_several_files_in_blocks_are_views(run, refuse, tmp_path, in_blocks):
    np.save(tmp_path / "first.npy", X[:, :3])
    sparse.save_npz(tmp_path / "second.npz", sparse.csr_array(X[:, 3:]))
    files, out, model = (tmp_path / "first.npy", tmp_path / "second.npz"), tmp_path / "l.csv", tmp_path / "X.model"
    result = run("cluster", *files, *MANY, "--out", out, "--save", model)
    assert result.exit_code == 0, result.stderr
    expected = LKG(3, random_state=0).fit([X[:, :3], sparse.csr_array(X[:, 3:])])
    np.testing.assert_array_equal(labels_in(out), expected.labels_)
    again = tmp_path / "again.csv"
    assert run("predict", model, *files, "--out", again).exit_code == 0
    assert again.read_bytes() == out.read_bytes()
    refuse("predict", model, files[0], code=1, says=["X has 3 features, but LKG is expecting 5"])
    np.save(tmp_path / "short.npy", X[:9, 3:])
    refuse("cluster", files[0], tmp_path / "short.npy", *MANY, code=1, says=["9 samples, but", "has 200"])


# On a Dask cluster


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


def test_workers_read_and_label_the_samples(run, cluster, npy, parquet, expected, tmp_path):
    address, out = cluster.scheduler_address, tmp_path / "labels.csv"
    scaled = LKG(3, random_state=0).fit(StandardScaler().fit_transform(X)).labels_
    options = ("--scale", "standard", "--out", out, "--save", tmp_path / "X.model")
    result = run("cluster", npy, *MANY, "--dask", address, *options)
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(labels_in(out), scaled)
    summary = json.loads(run("predict", tmp_path / "X.model", npy, "--json").stdout)
    assert summary["labels"] == scaled.tolist()
    result = run("cluster", parquet, *MANY, "--drop", "species", "--dask", address, "--out", out, "--json")
    assert json.loads(result.stdout)["n_samples"] == 200
    np.testing.assert_array_equal(labels_in(out), expected)


def test_a_file_that_workers_cannot_read_in_parts_is_refused(refuse, cluster, blobs_csv):
    says = ["--dask lets workers read .npy and Parquet files"]
    refuse("cluster", blobs_csv, "-k", 3, "--dask", cluster.scheduler_address, code=2, says=says)


def test_a_file_that_a_worker_does_not_see_is_named(refuse, cluster, npy, monkeypatch):
    read = dask_views.read_block
    monkeypatch.setattr(dask_views, "read_block", lambda path, *rest: read(path.with_name("elsewhere.npy"), *rest))
    says = ["a Dask worker could not read a file, which all must see", "elsewhere.npy"]
    refuse("cluster", npy, *MANY, "--dask", cluster.scheduler_address, code=1, says=says)
