import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.methods import AffinityAggregation, KernelSpectralClustering
from kernelbraid.ops.graphs import spectral_embedding
from problems import blobs, rings

X, y = blobs(n=45)
NOISE = np.random.default_rng(0).standard_normal((30, 4))


def one(data=X, k=3, **parameters):
    return KernelSpectralClustering(k, **{"random_state": 0, "n_init": 10, **parameters}).fit(data)


def several(data=X, k=3, **parameters):
    return AffinityAggregation(k, **{"random_state": 0, "n_init": 10, **parameters}).fit(data)


def test_rings_that_k_means_cannot_separate_are_separated_by_a_narrow_gaussian():
    samples, ring = rings(80)
    assert adjusted_rand_score(ring, KMeans(2, n_init=10, random_state=0).fit_predict(samples)) < 0.2
    for embedding in ("largest", "magnitude", "unnormalised"):
        model = one(samples, 2, kernel=Gaussian(0.005), embedding=embedding)
        assert adjusted_rand_score(ring, model.labels_) == 1


@pytest.mark.parametrize("embedding", ["largest", "magnitude"])
def test_a_normalised_graph_has_no_negative_values(embedding):
    K = build_bank(NOISE, [Linear()])[0]
    assert K.min() < 0
    model = one(NOISE, kernel="linear", embedding=embedding)
    np.testing.assert_allclose(model.graph_, np.maximum(K, 0), atol=1e-12)


def test_an_unnormalised_graph_keeps_negative_values():
    K = build_bank(NOISE, [Linear()])[0]
    np.testing.assert_allclose(one(NOISE, kernel="linear", embedding="unnormalised").graph_, K, atol=1e-12)
    given = one(K, kernel="precomputed", embedding="unnormalised")
    np.testing.assert_allclose(given.graph_, K, atol=1e-12)


def test_the_embedding_is_that_of_the_graph():
    for embedding in ["largest", "magnitude", "unnormalised"]:
        model = one(embedding=embedding)
        assert model.embedding_.shape == (45, 3)
        np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)
        expected = spectral_embedding(model.graph_, 3, spectrum=embedding)
        np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, expected @ expected.T, atol=1e-7)


def test_restarts_may_be_compared_by_distance():
    by_square, by_distance = (one(NOISE, 5, n_init=30, restart_score=score) for score in ("inertia", "distance"))
    assert by_square.inertia_ <= by_distance.inertia_ + 1e-12


def test_one_kernel_takes_neither_several_views_nor_several_kernels():
    with pytest.raises(ValueError, match="2 views, and KernelSpectralClustering takes one"):
        one([X, X])
    with pytest.raises(ValueError, match="2 kernels, and KernelSpectralClustering takes one"):
        one(build_bank(X, [Gaussian(1.0), Linear()]), kernel="precomputed")


def test_several_views_have_a_weight_for_each_kernel():
    model = several([X[:, :2], X[:, 2:]], kernels=[Gaussian(0.1), Gaussian(0.05)])
    assert model.kernel_weights_.shape == (4,)
    assert model.n_features_in_ == 6
    assert model.kernel_names_[2].startswith("view 2")
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_kernel_that_shows_the_clusters_outweighs_noise():
    blocks = np.kron(np.eye(3), np.ones((15, 15))) + 0.05
    A = np.random.default_rng(1).random((45, 45))
    model = several(np.stack([A @ A.T, blocks]), kernels="precomputed")
    assert model.kernel_weights_[1] > 0.8
    assert adjusted_rand_score(np.repeat([0, 1, 2], 15), model.labels_) == 1
