import numpy as np
import pytest
from scipy import sparse

from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.learning import background
from kernelbraid.learning.background import cloud_of
from kernelbraid.learning.candidates import GivenKernels, Views
from problems import blobs


def samples_of(candidates):
    return [np.asarray(view) for view in candidates.bank.views]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_cloud_has_the_mean_and_the_covariance_of_the_samples(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.1]]) + [5.0, -3.0, 0.0]
    (cloud,) = samples_of(cloud_of(Views([form(X)]).pose([Linear()]), np.random.RandomState(0)))
    assert cloud.shape == X.shape
    np.testing.assert_allclose(cloud.mean(axis=0), X.mean(axis=0), atol=0.2)
    np.testing.assert_allclose(np.cov(cloud.T), np.cov(X.T), atol=0.35)


def test_a_cloud_has_the_kernels_of_the_samples_and_no_clusters():
    X, _ = blobs(n=60)
    candidates = Views([X]).pose([Gaussian(0.5), Linear()])
    cloud = cloud_of(candidates, np.random.RandomState(0))
    assert cloud.names == candidates.names
    np.testing.assert_allclose(
        cloud.average(), build_bank(samples_of(cloud)[0], [Gaussian(0.5), Linear()]).mean(axis=0)
    )


def test_views_of_a_cloud_belong_to_the_same_samples():
    X, _ = blobs(n=80)
    first, second = samples_of(cloud_of(Views([X, 2 * X]).pose([Linear()]), np.random.RandomState(0)))
    np.testing.assert_allclose(second, 2 * first)


def test_there_is_no_cloud_of_kernels_functions_and_very_many_numbers(monkeypatch):
    X, _ = blobs(n=30)
    K = X @ X.T
    assert (
        cloud_of(GivenKernels([K], lambda kernels: np.stack(kernels)).pose("precomputed"), np.random.RandomState(0))
        is None
    )
    assert cloud_of(Views([X]).pose([lambda A, B: A @ B.T]), np.random.RandomState(0)) is None
    monkeypatch.setattr(background, "MOST_NUMBERS", 10)
    assert cloud_of(Views([X]).pose([Linear()]), np.random.RandomState(0)) is None
