import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.ops.closed_forms import cosine_kernel

X = np.random.default_rng(0).normal(size=(12, 4)) + 3


def test_entries_are_cosines_of_the_samples(xp):
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    found = to_numpy(cosine_kernel(xp.asarray(X @ X.T), "K", centred=False))
    np.testing.assert_allclose(found, units @ units.T, atol=1e-10)


def test_centred_entries_are_cosines_about_the_mean(xp):
    centred = X - X.mean(axis=0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    found = to_numpy(cosine_kernel(xp.asarray(X @ X.T), "K", centred=True))
    np.testing.assert_allclose(found, units @ units.T, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_a_kernel_does_not_matter(scale):
    K = X @ X.T
    found = cosine_kernel(scale * K, "K", centred=True)
    np.testing.assert_allclose(found, cosine_kernel(K, "K", centred=True), atol=1e-12)


def test_a_sample_without_length_is_orthogonal_to_the_others():
    samples = np.vstack([X, np.zeros(4)])
    found = cosine_kernel(samples @ samples.T, "K", centred=False)
    np.testing.assert_allclose(found[-1], np.eye(13)[-1], atol=1e-12)


def test_samples_in_one_place_have_finite_cosines():
    found = cosine_kernel(np.ones((5, 5)), "K", centred=True)
    np.testing.assert_allclose(found, np.eye(5), atol=1e-3)


def test_a_negative_square_names_the_sample():
    K = X @ X.T
    K[7, 7] = -1.0
    with pytest.raises(ValueError, match=r"^kernel 3 is no inner product: the squared length of sample 7 is -1; give"):
        cosine_kernel(K, "kernel 3", centred=False)


def test_the_argument_stays_as_it_is():
    K = X @ X.T
    for centred in (False, True):
        cosine_kernel(K, "K", centred=centred)
    np.testing.assert_array_equal(K, X @ X.T)
