import numpy as np
import pytest

from kernelbraid.kernels import build_bank
from kernelbraid.methods import SelfWeightedMultipleKernel
from problems import blobs, lazy_and_stored, relative_gap, rival, rival_kernels, triangle

X, y = blobs(n=36)
NOISY = X + np.random.default_rng(0).normal(size=X.shape)


def fit(samples=NOISY, k=3, **parameters):
    return SelfWeightedMultipleKernel(k, n_init=5, random_state=0, **parameters).fit(samples)


def test_stored_and_lazy_kernels_give_the_same_graph(monkeypatch):
    lazy, stored = lazy_and_stored(monkeypatch, fit)
    np.testing.assert_allclose(lazy.graph_, stored.graph_, atol=1e-9)
    np.testing.assert_allclose(lazy.kernel_weights_, stored.kernel_weights_, atol=1e-9)


def test_a_kernel_far_from_the_others_counts_less():
    H = build_bank(NOISY, "middle")
    order = np.random.default_rng(0).permutation(36)
    H = np.concatenate([H, H[:1, order][:, :, order]])
    assert np.argmin(fit(H, kernels="precomputed").kernel_weights_) == 4


def test_a_negative_kernel_is_refused_with_a_sentence():
    H = build_bank(NOISY, "middle")
    H[2] *= -1
    with pytest.raises(ValueError, match=r"^kernel 2 of X is no inner product: the squared length of sample \d+ is -"):
        fit(H, kernels="precomputed")


@pytest.mark.reference
def test_a_fit_to_faces_is_that_of_the_authors_code():
    known = rival("smkl", "yale")
    model = fit(rival_kernels("yale"), 15, kernels="precomputed", beta=15.0)
    assert relative_gap(triangle(model.coefficients_), known["Z_triu"]) < 1e-9
    weights = known["weights"][-1]
    assert relative_gap(model.kernel_weights_, weights / weights.sum()) < 1e-9
