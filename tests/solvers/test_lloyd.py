import array_api_strict
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kernelbraid._arrays import squared_lengths, to_numpy
from kernelbraid.solvers.lloyd import (
    Clusters,
    FeatureSpace,
    nearest_centres,
)

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


def test_lengths_and_distances_are_the_same_for_sparse_samples():
    for form in FORMS:
        A = form(X)
        np.testing.assert_allclose(squared_lengths(A), (X**2).sum(axis=1))
        [found] = FeatureSpace(A).from_samples(np.arange(3))
        np.testing.assert_allclose(found, explicit(X[:3], X), atol=1e-12)


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
    V = clusters.weights(X).toarray()
    np.testing.assert_allclose(to_numpy(clusters.weights(array_api_strict.asarray(X))), V, atol=1e-15)
    for run in range(3):
        for c in range(5):
            share = (clusters.labels[run] == c) * (1.0 if clusters.shares is None else clusters.shares[run])
            np.testing.assert_allclose(V[5 * run + c], share / (share.sum() or 1.0), atol=1e-15)


def test_samples_as_centres_are_clusters_of_one():
    starts = np.array([[3, 0], [1, 19]])
    clusters = Clusters.of(starts, 2, 20)
    np.testing.assert_array_equal(clusters.weights(X).toarray(), np.eye(20)[starts.ravel()])


def test_distances_from_samples_are_zero_to_copies_alone():
    for form in FORMS:
        A = np.repeat(X, 2, axis=0) + 1e6
        found = FeatureSpace(form(A)).from_samples(np.array([3, 8]))
        assert found.shape == (1, 2, 40)
        np.testing.assert_allclose(found[0].T, explicit(A, A[[3, 8]]), rtol=0, atol=1.0)
        assert (found[0, [0, 0, 1, 1], [2, 3, 8, 9]] == 0).all()


def test_distances_have_the_precision_of_the_samples():
    single = X.astype(np.float32)
    assert FeatureSpace(single).distances(Clusters(np.arange(20)[None, :] % 3, 3).weights(single)).dtype == np.float32
