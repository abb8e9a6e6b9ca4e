import os
import signal
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG, Blocks, LKGClassifier
from kernelbraid._dask import DaskError
from kernelbraid.learning import in_rows
from problems import blobs

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")

X, y = blobs(n=300, d=6, k=3)
MANY, _ = blobs(n=4000, d=6, k=3)
MOST = 2200


@pytest.fixture(scope="module")
def clusters():
    """Clusters of two processes that were started, and what ends them."""
    with ExitStack() as stack:
        yield [], stack


def has_both_workers(cluster):
    try:
        cluster.wait_for_workers(2, timeout=20)
    except TimeoutError:
        return False
    return True


@pytest.fixture
def cluster(clusters):
    """A cluster with both of its workers, and a client that Dask uses; a new one if a killed worker stays away."""
    started, stack = clusters
    if not started or not has_both_workers(started[-1]):
        options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
        started.append(stack.enter_context(distributed.LocalCluster(n_workers=2, **options)))
        stack.enter_context(distributed.Client(started[-1]))
        started[-1].wait_for_workers(2, timeout=60)
    return started[-1]


@pytest.fixture
def threads():
    """Dask in this process."""
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture
def many(monkeypatch):
    """So many samples are very many, and workers label those for which others stand."""
    monkeypatch.setattr(in_rows, "MOST", MOST)
    monkeypatch.setattr("kernelbraid.estimators.low_rank.MOST", MOST)


def model():
    return LKG(3, random_state=0)


def frame(samples, partitions=7):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    columns = [f"f{i}" for i in range(samples.shape[1])]
    return dd.from_pandas(pandas.DataFrame(samples, columns=columns), npartitions=partitions)


def unknown(samples):
    given = da.from_array(samples, chunks=(64, -1))
    return given[given[:, 0] < np.inf]


def some_are_empty(samples):
    return unknown(np.insert(samples, 64, np.full((64, samples.shape[1]), np.inf), axis=0))


COLLECTIONS = {
    "array": lambda samples: da.from_array(samples, chunks=(64, -1)),
    "columns in chunks": lambda samples: da.from_array(samples, chunks=(111, 2)),
    "one block": lambda samples: da.from_array(samples, chunks=-1),
    "unknown sizes": unknown,
    "float32": lambda samples: da.from_array(samples.astype(np.float32), chunks=(50, -1)),
    "sparse blocks": lambda samples: da.from_array(samples, chunks=(70, -1)).map_blocks(sparse.csr_matrix),
    "data frame": frame,
}


@pytest.mark.filterwarnings("ignore:X .* feature names")  # a frame's names, here there and there not
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_a_fit_is_that_of_this_process_and_new_samples_stay_there(kind, threads):
    expected = model().fit(X.astype(np.float32) if kind == "float32" else X)
    given = COLLECTIONS[kind](X)
    found = model().fit(given)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    for labels in (found.predict(given), expected.predict(given)):
        assert isinstance(labels, da.Array)
        np.testing.assert_array_equal(labels.compute(), expected.labels_)
    assert found.transform(given).compute().shape == (300, 3)
    np.testing.assert_allclose(found.predict_proba(given).compute(), expected.membership_, atol=1e-4)
    assert hasattr(found, "feature_names_in_") == (kind == "data frame")


def test_blocks_may_be_without_samples(many, threads):
    fitted = model().fit(X)
    np.testing.assert_array_equal(fitted.predict(some_are_empty(X)).compute(), fitted.labels_)
    assert fitted.transform(some_are_empty(X)).compute().shape == (300, 3)
    np.testing.assert_array_equal(model().fit(some_are_empty(MANY)).labels_, model().fit(MANY).labels_)


def test_workers_label_those_for_which_others_stand(many, cluster):
    given = da.from_array(MANY, chunks=(500, -1))
    expected, found = model().fit(MANY), model().fit(given)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-5)
    np.testing.assert_allclose(found.outlier_scores_, expected.outlier_scores_, atol=1e-4)
    assert abs(found.graph_ - expected.graph_).max() < 1e-4
    np.testing.assert_array_equal(found.predict(given).compute(), expected.labels_)


def test_a_few_labels_reach_new_samples_there(threads):
    known = np.where(np.arange(300) % 10 == 0, y, -1)
    classifier = LKGClassifier().fit(X, known)
    given = da.from_array(X, chunks=(64, -1))
    np.testing.assert_array_equal(classifier.predict(given).compute(), classifier.transduction_)
    np.testing.assert_allclose(classifier.predict_proba(given).sum(axis=1).compute(), 1)


def test_new_samples_are_labelled_when_asked_for(threads):
    fitted, computed = model().fit(X), []

    def read(block):
        computed.append(len(block))
        return block

    labels = fitted.predict(da.from_array(X, chunks=(100, -1)).map_blocks(read, meta=X[:0]))
    assert computed == []
    np.testing.assert_array_equal(labels[:50].compute(), fitted.labels_[:50])
    assert computed == [100]


def slow_blocks(seconds, samples):
    def read(block):
        time.sleep(seconds)
        return block

    return da.from_array(samples, chunks=(400, -1)).map_blocks(read, meta=X[:0])


def kill_a_worker_that_holds(cluster, name, done):
    """Wait until a worker holds a result of a function, and kill that worker."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for address, state in list(cluster.scheduler.workers.items()):
            if any(str(task.key).startswith(name) for task in list(state.has_what)):
                pid = next(nanny.pid for nanny in cluster.workers.values() if nanny.worker_address == address)
                os.kill(pid, signal.SIGKILL)
                done.append(address)
                return
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["take", "placing.everything"])
def test_a_worker_that_is_killed_changes_nothing(name, many, cluster):
    expected, killed = model().fit(MANY), []
    murder = threading.Thread(target=kill_a_worker_that_holds, args=(cluster, name, killed))
    murder.start()
    fitted = model().fit(slow_blocks(0.1, MANY))
    murder.join()
    assert killed
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)


def test_a_block_that_kills_its_workers_ends_the_fit_with_a_sentence(cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)

    def read(block):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(DaskError, match=r"died again and again with the same block \(1 times\); .* more memory"):
        model().fit(da.from_array(X, chunks=(100, -1)).map_blocks(read, meta=X[:0]))


def test_a_lost_cluster_ends_the_fit_with_a_sentence():
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None, "silence_logs": "CRITICAL"}
    with (
        distributed.LocalCluster(n_workers=1, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        timer = threading.Timer(0.5, client.close)
        timer.start()
        says = r"the Dask cluster was lost before the work was done; start it again, then fit again"
        with client.as_current(), pytest.raises(DaskError, match=says):
            model().fit(slow_blocks(1.0, X))


def spoilt():
    samples = X.copy()
    samples[123, 4] = np.nan
    return samples


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (da.from_array(spoilt(), chunks=(10, -1)), r"block 12 of X contains NaN \(row 3 of the block, row 123 of all"),
        (da.from_array(X[:2], chunks=1), "n_samples=2 is below n_clusters=3"),
        (da.from_array(X[0], chunks=2), "X is a Dask Array; give a Dask array of two dimensions or a data frame"),
        (dask.delayed(X), r"X is a Dask Delayed\w*; give a Dask array"),
        (da.from_delayed(dask.delayed(X), (300, np.nan), float), "number of features is not known"),
        (Blocks([da.from_array(X), da.from_array(X)]), "the blocks of X are Dask collections; join them"),
        (da.from_delayed(dask.delayed(X), (310, 6), float), r"has shape \(300, 6\), and Dask was told 310 rows and 6"),
        (da.from_array(X[:0], chunks=(1, -1)), r"0 sample\(s\)"),
        ([da.from_array(X), X], "view 2 of X is no Dask collection, but others are; give all views as such"),
        ([da.from_array(X), da.from_array(X[:9])], r"the views of X have \[300, 9\] rows; give the same samples"),
    ],
    ids=["nan", "few", "vector", "delayed", "width", "blocks", "rows", "no samples", "kinds", "lengths"],
)
def test_bad_input_gets_a_clear_sentence(given, message, threads):
    with pytest.raises(ValueError, match=message):
        model().fit(given)


def test_what_needs_matrices_of_all_pairs_is_refused_for_very_many(many, threads):
    with pytest.raises(ValueError, match="X is a Dask collection of 4000 samples, of which these parameters need"):
        LKG(3, preset="authors").fit(da.from_array(MANY, chunks=(500, -1)))


def test_a_device_is_refused_where_workers_compute(threads):
    with pytest.raises(TypeError, match="or fit LKG without a device, which takes samples of Dask"):
        LKG(3, device="cpu").fit(da.from_array(MANY, chunks=(500, -1)))


VIEWS = {
    "arrays": lambda A, B: [da.from_array(A, chunks=(64, -1)), da.from_array(B, chunks=(64, 2))],
    "arrays cut differently": lambda A, B: [da.from_array(A, chunks=(64, -1)), da.from_array(B, chunks=(100, -1))],
    "data frames": lambda A, B: [frame(A), frame(B)],
}


@pytest.mark.parametrize("kind", VIEWS)
def test_views_are_read_alike_and_may_lack_samples(kind, threads):
    A, B = X[:, :3].copy(), X[:, 3:]
    A[:10] = np.nan
    expected, given = model().fit([A, B]), VIEWS[kind](A, B)
    found = model().fit(given)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.views_.n_samples.tolist() == [290, 300]
    np.testing.assert_array_equal(found.predict(given).compute(), expected.labels_)
