import os
import signal
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG, Blocks, LandmarkLKG
from kernelbraid.blocks.dask_parts import DaskError
from kernelbraid.estimators.landmarks.blocks import open_blocks
from kernelbraid.estimators.landmarks.dask_source import DaskBlocks, DaskViews, open_dask
from problems import blobs

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")

X, y = blobs(n=300, d=6, k=3)


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


@pytest.fixture(params=["threads", "cluster"])
def scheduler(request):
    """Dask in this process, and on workers."""
    if request.param == "cluster":
        request.getfixturevalue("cluster")
        yield request.param
    else:
        with dask.config.set(scheduler="threads"):
            yield request.param


def model(**parameters):
    return LandmarkLKG(**{"n_clusters": 3, "n_landmarks": 40, "random_state": 0, **parameters})


def frame(samples, partitions=7):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    columns = [f"f{i}" for i in range(samples.shape[1])]
    return dd.from_pandas(pandas.DataFrame(samples, columns=columns), npartitions=partitions)


def sparse_blocks(samples):
    return da.from_array(samples, chunks=(70, -1)).map_blocks(sparse.csr_matrix)


COLLECTIONS = {
    "array": lambda samples: da.from_array(samples, chunks=(64, -1)),
    "columns in chunks": lambda samples: da.from_array(samples, chunks=(111, 2)),
    "one block": lambda samples: da.from_array(samples, chunks=-1),
    "unknown sizes": lambda samples: (lambda A: A[A[:, 0] < np.inf])(da.from_array(samples, chunks=(64, -1))),
    "float32": lambda samples: da.from_array(samples.astype(np.float32), chunks=(50, -1)),
    "sparse blocks": sparse_blocks,
    "data frame": frame,
}


@pytest.mark.filterwarnings("ignore:X .* feature names")  # a frame's names, here there and there not
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_dask_in_dask_out_and_the_labels_of_this_process(kind, scheduler):
    expected = model().fit(X.astype(np.float32) if kind == "float32" else X)
    given = COLLECTIONS[kind](X)
    found = model().fit(given)
    for result, there in (
        (found.labels_, expected.labels_),
        (found.predict(given), expected.labels_),
        (expected.predict(given), expected.labels_),
    ):
        assert isinstance(result, da.Array)
        assert result.dtype == np.int64
        np.testing.assert_array_equal(result.compute(), there)
    for placed in (found.embedding_, found.transform(given)):
        assert isinstance(placed, da.Array)
        assert placed.dtype == np.float32
        np.testing.assert_allclose(np.abs(placed.compute()), np.abs(expected.embedding_), atol=1e-5)
    assert found.labels_.chunks[0] == found.embedding_.chunks[0]
    np.testing.assert_array_equal(found.predict(X), expected.labels_)
    for array in (found.landmarks_, found.solution_.K, found.landmark_labels_, found.cluster_centers_):
        assert not isinstance(array, da.Array)
    assert found.n_features_in_ == 6
    assert hasattr(found, "feature_names_in_") == (kind == "data frame")


@pytest.mark.parametrize(
    "parameters",
    [{"landmark_neighbors": "all"}, {"landmarks": X[::10]}, {"n_clusters": "auto"}],
    ids=lambda parameters: "-".join(parameters),
)
def test_every_way_through_the_fit_is_open_to_dask(parameters, scheduler):
    found = model(**parameters).fit(da.from_array(X, chunks=(64, -1)))
    assert adjusted_rand_score(found.labels_.compute(), model(**parameters).fit(X).labels_) == 1


def test_new_samples_are_labelled_when_asked_for(monkeypatch):
    fitted, computed = model().fit(X), []

    def read(block):
        computed.append(len(block))
        return block

    with dask.config.set(scheduler="threads"):
        given = da.from_array(X, chunks=(100, -1)).map_blocks(read, meta=X[:0])
        labels = fitted.predict(given)
        assert computed == []
        np.testing.assert_array_equal(labels[:50].compute(), fitted.labels_[:50])
    assert computed == [100]


def slow_blocks(seconds, chunks=(30, -1)):
    def read(block):
        time.sleep(seconds)
        return block

    return da.from_array(X, chunks=chunks).map_blocks(read, meta=X[:0])


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


@pytest.mark.parametrize("name", ["take", "landmarkexpression.edges", "bipartiteembedding.place"])
def test_a_worker_that_is_killed_changes_nothing(cluster, name):
    expected = model().fit(da.from_array(X, chunks=(30, -1))).labels_.compute()
    killed = []
    murder = threading.Thread(target=kill_a_worker_that_holds, args=(cluster, name, killed))
    murder.start()
    fitted = model().fit(slow_blocks(0.05))
    murder.join()
    assert killed
    np.testing.assert_array_equal(fitted.labels_.compute(), expected)


def test_a_block_that_kills_its_workers_ends_the_fit_with_a_sentence(cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)

    def read(block):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(DaskError, match=r"died again and again with the same block \(1 times\); .* more memory"):
        model().fit(da.from_array(X, chunks=(100, -1)).map_blocks(read, meta=X[:0]))


def test_a_lost_cluster_ends_the_fit_with_a_sentence():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        timer = threading.Timer(0.5, client.close)
        timer.start()
        with (
            client.as_current(),
            pytest.raises(
                DaskError,
                match=r"the Dask cluster was lost before the work was done; start it again, then fit again",
            ),
        ):
            model().fit(slow_blocks(1.0))


def spoilt():
    samples = X.copy()
    samples[123, 4] = np.nan
    return samples


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (da.from_array(spoilt(), chunks=(10, -1)), r"block 12 of X contains NaN \(row 3 of the block, row 123 of X, c"),
        (da.from_array(X[:2], chunks=1), "n_samples=2 is below n_clusters=3"),
        (da.from_array(X[:20], chunks=7), "n_landmarks=40 is above n_samples=20"),
        (da.from_array(X[0], chunks=2), "X is a Dask Array; give a Dask array of two dimensions or a data frame"),
        (dask.delayed(X), r"X is a Dask Delayed\w*; give a Dask array"),
        (da.from_delayed(dask.delayed(X), (300, np.nan), float), "number of features is not known"),
        (Blocks([da.from_array(X), da.from_array(X)]), "the blocks of X are Dask collections; join them"),
        (da.from_delayed(dask.delayed(X), (310, 6), float), r"has shape \(300, 6\), and Dask was told 310 rows and 6"),
        (da.from_array(X[:0], chunks=(1, -1)), r"0 sample\(s\)"),
        (da.from_array(X[:, :0], chunks=(10, 1)), r"0 feature\(s\)"),
        (da.from_array(X.astype(str), chunks=(10, -1)), "the blocks of X hold <U"),
    ],
    ids=[
        "nan",
        "few samples",
        "many landmarks",
        "vector",
        "delayed",
        "width",
        "blocks",
        "rows",
        "no samples",
        "no features",
        "text",
    ],
)
def test_bad_input_gets_a_clear_sentence(given, message):
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match=message):
        model().fit(given)


def test_a_block_that_is_not_what_dask_was_told_is_named():
    with (
        dask.config.set(scheduler="threads"),
        pytest.raises(ValueError, match=r"block \d of X has shape \(100, 5\), and Dask"),
    ):
        model().fit(da.from_array(X, chunks=(100, -1)).map_blocks(lambda block: block[:, 1:], meta=X[:0]))


def test_empty_partitions_do_no_harm(scheduler):
    given = frame(np.c_[X, np.arange(300)])
    rest = given[given.f6 >= 150][[f"f{i}" for i in range(6)]]
    found = model().fit(rest)
    np.testing.assert_array_equal(found.labels_.compute(), model().fit(X[150:]).labels_)
    np.testing.assert_array_equal(found.predict(rest).compute(), found.labels_.compute())
    assert found.transform(rest).compute().shape == (150, 3)


def test_blocks_may_be_of_different_kinds():
    parts = [dask.delayed(X[:100]), dask.delayed(sparse.csr_array(X[100:]))]
    sizes = ((100, 6), (200, 6))
    given = da.concatenate([da.from_delayed(part, size, float) for part, size in zip(parts, sizes, strict=True)])
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(model().fit(given).labels_.compute(), model().fit(X).labels_)


@pytest.mark.parametrize("count", [5, 300, 1000])
def test_the_sample_is_that_of_this_process(count):
    with dask.config.set(scheduler="threads"):
        found = DaskBlocks(da.from_array(X, chunks=(64, -1)), measure=True).sample(count, 7)
    np.testing.assert_array_equal(found, open_blocks(LKG(), X, 10).sample(count, 7))


def test_a_source_tells_what_it_knows():
    estimator = LKG()
    source = open_dask(estimator, da.from_array(X, chunks=(64, -1)), reset=True)
    assert (source.n_samples, source.width, estimator.n_features_in_) == (300, 6, 6)


# Several views

VIEWS = {
    "arrays": lambda A, B: [da.from_array(A, chunks=(64, -1)), da.from_array(B, chunks=(64, 2))],
    "arrays cut differently": lambda A, B: [da.from_array(A, chunks=(64, -1)), da.from_array(B, chunks=(100, -1))],
    "sparse and dense": lambda A, B: [sparse_blocks(A), da.from_array(B, chunks=(64, -1))],
    "data frames": lambda A, B: [frame(A), frame(B)],
    "data frame and array": lambda A, B: [frame(A), da.from_array(B, chunks=(64, -1))],
    "unknown sizes": lambda A, B: [COLLECTIONS["unknown sizes"](A), COLLECTIONS["unknown sizes"](B)],
}


@pytest.mark.parametrize("kind", VIEWS)
def test_views_are_put_side_by_side_where_they_are(kind, scheduler):
    A, B = X[:, :2], X[:, 2:]
    expected = model().fit([A, B])
    given = VIEWS[kind](A, B)
    found = model().fit(given)
    np.testing.assert_array_equal(found.views_.weights, expected.views_.weights)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)
    np.testing.assert_array_equal(found.predict([A, B]), expected.labels_)
    if kind != "data frame and array":  # the partitions of new samples are not counted
        np.testing.assert_array_equal(found.predict(given).compute(), expected.labels_)
    assert found.n_features_in_ == 6
    assert hasattr(found, "feature_names_in_") == (kind == "data frames")  # where all views have names


def test_new_samples_in_views_are_labelled_when_asked_for():
    fitted, computed = model().fit([X[:, :2], X[:, 2:]]), []

    def read(block):
        computed.append(len(block))
        return block

    with dask.config.set(scheduler="threads"):
        views = [da.from_array(A, chunks=(100, -1)).map_blocks(read, meta=A[:0]) for A in (X[:, :2], X[:, 2:])]
        labels = fitted.predict(views)
        assert computed == []
        np.testing.assert_array_equal(labels[:50].compute(), fitted.labels_[:50])
    assert computed == [100, 100]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: [da.from_array(X), X], "view 2 of X is no Dask collection, but others are; give all views as such"),
        (
            lambda: [da.from_array(X), da.from_array(X[:9])],
            r"the views of X have \[300, 9\] rows; give the same samples",
        ),
        (lambda: [da.from_array(X), da.from_array(X[0])], "view 2 of X is a Dask Array; give a Dask array of two dim"),
        (lambda: [frame(X, 7), frame(X, 5)], r"the views of X have \[7, 5\] blocks; cut all views at the same rows"),
        (
            lambda: [da.from_array(X, chunks=(150, -1)), frame(X[:, :2], 3).repartition([0, 50, 299])],
            r"block 0 has \[150, 50\] rows in the views of X; cut all views at the same rows, by rechunk or repart",
        ),
        (
            lambda: [da.from_array(X, chunks=(10, -1)), da.from_array(spoilt(), chunks=(10, -1))],
            r"view 2 of X contains NaN \(row 123, column 4\) beside numbers; a sample that was not measured",
        ),
    ],
    ids=["kinds", "lengths", "vector", "partitions", "cuts", "nan"],
)
def test_bad_views_get_a_clear_sentence(make, message):
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match=message):
        model().fit(make())


def test_views_whose_lengths_dask_does_not_know_are_compared_by_the_workers():
    views = [frame(X, 3), frame(X[:, :2], 3).repartition([0, 50, 100, 299])]
    with dask.config.set(scheduler="threads"):
        source = DaskViews(views, measure=False)
        assert np.isnan(source.sizes).all()
        with pytest.raises(ValueError, match=r"block [012] has \[100, (50|200)\] rows in the views of X"):
            source.parts(None).map(len).total()
