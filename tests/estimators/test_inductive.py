import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_moons

from kernelbraid import LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, build_bank
from problems import blobs

X, y = blobs(n=60)


@pytest.mark.parametrize("preset", ["recommended", "authors", "paper"])
def test_fitted_samples_keep_their_labels_and_places(xp, preset):
    model = LKG(3, preset=preset, n_init=5, random_state=0).fit(xp.asarray(X))
    assert np.array_equal(to_numpy(model.predict(xp.asarray(X))), to_numpy(model.labels_))
    np.testing.assert_allclose(to_numpy(model.transform(xp.asarray(X))), to_numpy(model.embedding_))
    order = np.random.default_rng(0).permutation(60)[:7]
    assert np.array_equal(to_numpy(model.predict(xp.asarray(X[order]))), to_numpy(model.labels_)[order])


@pytest.mark.parametrize("embedding", ["largest", "random_walk", "magnitude", "unnormalised"])
def test_new_samples_go_to_the_cluster_of_their_neighbours(embedding):
    model = LKG(3, embedding=embedding, random_state=0).fit(X[:45])
    assert np.array_equal(model.predict(X[:45] + 1e-7), model.labels_)
    places = {label: set(model.labels_[y[:45] == label]) for label in set(y)}
    assert all(found in places[label] for found, label in zip(model.predict(X[45:]), y[45:], strict=True))


def test_shapes_that_kmeans_does_not_know():
    samples, classes = make_moons(300, noise=0.05, random_state=0)
    model = LKG(2, random_state=0).fit(samples[:200])
    found = model.predict(samples[200:])
    accuracy = np.mean(found == classes[200:])
    assert max(accuracy, 1 - accuracy) > 0.97


def test_digits_are_told_apart_as_well_as_the_fitted_ones():
    pixels, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digits))  # pages of one writer lie together
    pixels, digits = pixels[order], digits[order]
    model = LKG(10, random_state=0).fit(pixels[:400])
    names = np.array([np.bincount(digits[:400][model.labels_ == label]).argmax() for label in range(10)])
    fitted = np.mean(names[model.labels_] == digits[:400])
    new = np.mean(names[model.predict(pixels[400:600])] == digits[400:600])
    assert new > fitted - 0.05


def test_a_sample_does_not_depend_on_its_company():
    model = LKG(3, random_state=0).fit(X[:45])
    together = model.transform(X[45:])
    apart = np.concatenate([model.transform(X[i : i + 1]) for i in range(45, 60)])
    np.testing.assert_allclose(together, apart, atol=1e-10)


def test_views_sparse_samples_and_kernels_are_taken():
    other = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    views = LKG(3, random_state=0).fit([X[:45], other[:45]])
    assert np.array_equal(views.predict([X[:45], other[:45]]), views.labels_)
    assert views.predict([X[45:], other[45:]]).shape == (15,)
    thin = sparse.csr_array(np.maximum(X, 0))
    model = LKG(3, random_state=0).fit(thin[:45])
    assert np.array_equal(model.predict(thin[:45]), model.labels_)
    bank = [Gaussian(2.0), Gaussian(0.5)]
    H = np.array(build_bank(X, bank))
    given = LKG(3, kernels="precomputed", random_state=0).fit(H[:, :45, :45])
    assert np.array_equal(given.predict(H[:, :45, :45]), given.labels_)
    assert given.predict(H[:, 45:, :45]).shape == (15,)


@pytest.mark.parametrize(
    "parameters",
    [
        {"fusion": "kernels", "graph_penalty": "nuclear", "max_iter": 5},
        {"fusion": "graphs"},
        {"preset": "authors", "max_iter": 1},
    ],
)
def test_fitted_samples_are_known_by_kernels_of_different_precision(parameters):
    factors = np.random.default_rng(0).normal(size=(2, 9, 4))
    H = [(A @ A.T).astype(kind) for A, kind in zip(factors, (np.float32, np.float64), strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise has no clusters
        model = LKG(8, kernels="precomputed", random_state=0, **parameters).fit(H)
    assert np.array_equal(model.predict(H), model.labels_)


def test_bad_input_is_refused():
    model = LKG(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 1 features, but LKG is expecting"):
        model.predict(X[:, :1])
    given = LKG(3, kernels="precomputed", random_state=0).fit(build_bank(X, [Gaussian(1.0)]))
    with pytest.raises(ValueError, match="new samples need"):
        given.predict(np.ones((1, 4, 59)))


@pytest.mark.parametrize("kernels", ["local", "auto"])
def test_kernels_that_were_bound_on_a_device_are_there_for_new_samples(kernels):
    pytest.importorskip("torch", reason="torch is not installed")
    model = LKG(3, kernels=kernels, device="cpu", random_state=0).fit(X[:45])
    expected = LKG(3, kernels=kernels, random_state=0).fit(X[:45])
    np.testing.assert_array_equal(np.asarray(model.predict(X)), expected.predict(X))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["array", "sparse"])
@pytest.mark.parametrize("n_kernels", [1, 2])
def test_fitted_samples_are_known_by_kernels_that_are_symmetric_but_for_rounding(form, n_kernels):
    rng = np.random.default_rng(0)
    views = [X + 0.5 * rng.normal(size=X.shape) for _ in range(n_kernels)]
    K = [build_bank(view, [Gaussian(1.0)])[0] for view in views]
    K = [form(A * (1 + 1e-15 * np.triu(np.ones_like(A)))) for A in K]
    model = LKG(3, kernels="precomputed", random_state=0).fit(K)
    np.testing.assert_array_equal(model.predict(K), model.labels_)
    np.testing.assert_array_equal(model.transform(K), model.embedding_)
