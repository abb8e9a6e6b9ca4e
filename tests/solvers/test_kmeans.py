import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from kernelbraid.solvers import kmeans as module
from kernelbraid.solvers.kmeans import kmeans, refill, separate
from problems import blobs


def run(X, k, n_init=10, seed=0):
    return kmeans(X, k, n_init=n_init, random_state=np.random.RandomState(seed))


def test_separated_blobs_are_recovered(xp):
    X, y = blobs()
    assert adjusted_rand_score(y, run(xp.asarray(X), 3).labels) == 1


def test_every_backend_gives_the_same_labels(xp):
    X, _ = blobs(n=50, k=5, d=2, seed=3)
    np.testing.assert_array_equal(run(xp.asarray(X), 5).labels, run(X, 5).labels)


def test_labels_are_a_fixed_point_of_the_iteration():
    X = np.random.default_rng(0).standard_normal((80, 3))
    found = run(X, 6)
    centres = np.stack([X[found.labels == c].mean(axis=0) for c in range(6)])
    distances = ((X[:, None] - centres[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.labels, distances.argmin(axis=1))
    assert found.inertia == pytest.approx(distances.min(axis=1).sum())


def test_it_is_as_good_as_scikit_learn():
    X = np.random.default_rng(1).standard_normal((150, 4))
    reference = KMeans(8, init="random", n_init=50, random_state=0).fit(X)
    assert run(X, 8, n_init=50).inertia <= reference.inertia_ * 1.01


def test_the_batch_size_changes_nothing(monkeypatch):
    X = np.random.default_rng(2).standard_normal((40, 3))
    whole = run(X, 4, n_init=7)
    monkeypatch.setattr(module, "BATCH_SIZE", 1)
    one_by_one = run(X, 4, n_init=7)
    np.testing.assert_array_equal(whole.labels, one_by_one.labels)


def test_more_restarts_never_raise_the_inertia():
    X = np.random.default_rng(3).standard_normal((60, 3))
    assert run(X, 6, n_init=20).inertia <= run(X, 6, n_init=1).inertia


def test_empty_clusters_are_refilled_with_the_worst_fitted_points():
    labels = refill(np.array([0, 0, 0, 2]), np.array([1.1, 1.9, 1.2, 5.0]), 4)
    assert sorted(set(labels)) == [0, 1, 2, 3]
    assert labels[1] == 1  # the worst of the cluster that can spare one; the lone point of cluster 2 stays


def test_copies_of_one_point_are_not_split():
    assert set(refill(np.zeros(4, dtype=int), np.zeros(4), 3)) == {0}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_separate_gives_as_many_labels_as_distinct_samples_allow(samples, k, seed):
    samples = np.array(samples)
    kinds = len(set(samples.tolist()))
    start = np.random.default_rng(seed).integers(0, 2, kinds)[np.unique(samples, return_inverse=True)[1]]
    labels = separate(start, k, samples)
    assert len(set(labels.tolist())) == max(len(set(start.tolist())), min(k, kinds))
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    for a in set(samples.tolist()):
        assert len(set(labels[samples == a].tolist())) == 1  # equal samples stay together


def test_separate_numbers_clusters_in_order_of_appearance():
    np.testing.assert_array_equal(separate(np.array([5, 3, 5]), 2, np.arange(3)), [0, 1, 0])
