import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, StoredStack, build_bank
from kernelbraid.solvers.centres import (
    Clusters,
    Distances,
    FeatureSpace,
    FeatureSpaces,
    cluster_sums,
    inner_products,
    moved_centres,
    nearest_centres,
    smallest,
    squared_lengths,
)
from kernelbraid.solvers.kernel_kmeans import KernelSpace

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 4))
FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def explicit(X, centres):
    return ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)


def as_dense(A):
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


def test_the_nearest_centre_is_that_of_the_smallest_distance(xp):
    centres = rng.standard_normal((5, 4))
    products, lengths = xp.asarray(X @ centres.T), xp.asarray((centres**2).sum(axis=1))
    found = nearest_centres(products, lengths)
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, explicit(X, centres).argmin(axis=1))


def test_of_two_equal_centres_the_first_is_the_nearest():
    assert nearest_centres(np.ones((3, 2)), np.ones(2)).tolist() == [0, 0, 0]


@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 9), st.integers(0, 999))
def test_the_first_of_equal_elements_is_the_smallest(runs, k, n, seed):
    D = np.random.default_rng(seed).integers(0, 3, (runs, k, n)).astype(float)
    labels, values = smallest(D)
    np.testing.assert_array_equal(labels, D.argmin(axis=1))
    np.testing.assert_array_equal(values, D.min(axis=1))


def test_the_smallest_of_very_many_is_found():
    D = np.random.default_rng(0).random((1, 70_000, 2))
    np.testing.assert_array_equal(smallest(D)[0], D.argmin(axis=1))


def test_every_backend_finds_the_same_smallest_elements(xp):
    D = rng.integers(0, 3, (2, 5, 7)).astype(float)
    for here, there in zip(smallest(D), smallest(xp.asarray(D)), strict=True):
        np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("form", FORMS)
def test_products_lengths_and_sums_are_the_same_for_sparse_samples(form):
    A, labels = form(X), np.arange(20) % 3
    np.testing.assert_allclose(inner_products(A, A), X @ X.T)
    np.testing.assert_allclose(squared_lengths(A), (X**2).sum(axis=1))
    sums = as_dense(cluster_sums(A, labels, 4))
    np.testing.assert_allclose(sums, [X[labels == c].sum(axis=0) for c in range(4)])


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_cluster_keeps_its_centre_and_others_move_to_their_means(form):
    before = form(X[:3])
    found = moved_centres(form(np.array([[2.0] * 4, [0.0] * 4, [9.0] * 4])), np.array([2, 0, 3]), before)
    assert sparse.issparse(found) == sparse.issparse(before)
    np.testing.assert_allclose(as_dense(found), [[1.0] * 4, X[1], [3.0] * 4])


def test_distances_to_weighted_means_are_explicit_ones(xp):
    V = rng.dirichlet(np.ones(20), size=6)
    space = FeatureSpace(xp.asarray(X))
    found = to_numpy(space.distances(xp.asarray(V)))
    assert found.shape == (1, 6, 20)
    np.testing.assert_allclose(found[0].T, explicit(X, V @ X), atol=1e-12)
    np.testing.assert_allclose(to_numpy(space.squares)[0], (X**2).sum(axis=1))


def random_clusters(seed, shares=False, empty=False):
    draw = np.random.default_rng(seed)
    labels = draw.integers(-1 if empty else 0, 5, size=(3, 20))
    return Clusters(labels, 5, draw.random((3, 20)) if shares else None)


@given(st.integers(0, 200), st.booleans(), st.booleans())
def test_sparse_and_dense_weights_are_those_of_means(seed, shares, empty):
    clusters = random_clusters(seed, shares, empty)
    V = clusters.weights_like(X)
    np.testing.assert_allclose(clusters.weights().toarray(), V, atol=1e-15)
    chosen = np.random.default_rng(seed).random(15) < 0.4
    np.testing.assert_allclose(clusters.weights(chosen).toarray(), V[chosen], atol=1e-15)
    for run in range(3):
        for c in range(5):
            share = (clusters.labels[run] == c) * (1.0 if clusters.shares is None else clusters.shares[run])
            np.testing.assert_allclose(V[5 * run + c], share / (share.sum() or 1.0), atol=1e-15)


def test_samples_as_centres_are_clusters_of_one():
    starts = np.array([[3, 0], [1, 19]])
    clusters = Clusters.around(starts, 20)
    np.testing.assert_array_equal(clusters.weights().toarray(), np.eye(20)[starts.ravel()])


def test_sizes_count_the_members_of_every_run():
    clusters = Clusters(np.array([[0, 0, 1], [2, 2, 0]]), 3)
    assert clusters.sizes.tolist() == [[2, 1, 0], [1, 0, 2]]


def test_changed_clusters_are_those_that_a_sample_has_left_or_entered():
    before = Clusters(np.array([[0, 1, -1], [0, 1, 2]]), 3)
    after = Clusters(np.array([[0, 2, -1], [0, 1, 0]]), 3)
    assert after.changed_since(before).tolist() == [False, True, True, True, False, True]
    assert not after.changed_since(after).any()
    assert Clusters(after.labels, 3, np.ones((2, 3))).changed_since(after).all()


SPACES = {
    "features": FeatureSpace(X),
    "kernels": KernelSpace(StoredStack.of(build_bank(X, [Gaussian(0.5), Linear()]))),
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("shares", [False, True])
def test_kept_distances_are_those_formed_anew(name, shares):
    space = SPACES[name]
    kept = Distances(space)
    clusters = random_clusters(1, shares)
    for seed in range(6):
        expected = space.distances(clusters.weights_like(space.squares))
        found = kept.to(clusters)
        assert found.shape == (expected.shape[0], clusters.n_runs, 5, 20)
        np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-12)
        if seed == 3:
            stays = np.array([True, False, True])
            kept.keep(stays)
            clusters = clusters.only(stays)
        labels = clusters.labels.copy()
        labels[:, seed : seed + 1 + 4 * (seed == 2)] = seed % 5  # few move, and once many
        clusters = Clusters(labels, 5, clusters.shares)


def test_only_distances_to_changed_centres_are_formed_anew():
    asked = []

    class Watched(FeatureSpace):
        def distances(self, V, by_space=None):
            asked.append(V.shape[0])
            return super().distances(V, by_space)

    kept = Distances(Watched(X))
    first = np.arange(20)[None, :] % 10
    second = first.copy()
    second[0, 0] = 1  # from cluster 0 to cluster 1
    for labels in (first, second, second):
        kept.to(Clusters(labels, 10))
    assert asked == [10, 2]


def test_every_run_is_measured_in_its_own_space():
    spaces = [FeatureSpace(rng.standard_normal((20, 3))) for _ in range(3)]
    labels = rng.integers(4, size=(5, 20))
    clusters = Clusters(labels, 4, spaces=np.array([2, 0, 3]))
    kept = Distances(FeatureSpaces(spaces))
    owners = [0, 0, 2, 2, 2]
    for found, mine in zip(kept.to(clusters)[0], zip(owners, labels, strict=True), strict=True):
        owner, own = mine
        alone = Distances(spaces[owner]).to(Clusters(own[None, :], 4))[0, 0]
        np.testing.assert_allclose(found, alone, atol=1e-12)
    stay = np.array([True, False, False, True, True])
    kept.keep(stay)
    moved = clusters.only(stay).with_labels(rng.integers(4, size=(3, 20)))
    np.testing.assert_array_equal(moved.spaces, [1, 0, 2])
    alone = Distances(spaces[2]).to(Clusters(moved.labels[1:], 4))[0]
    np.testing.assert_allclose(kept.to(moved)[0, 1:], alone, atol=1e-12)


def test_distances_have_the_precision_of_the_samples():
    single = FeatureSpace(X.astype(np.float32))
    assert Distances(single).to(Clusters(np.arange(20)[None, :] % 3, 3)).dtype == np.float32
