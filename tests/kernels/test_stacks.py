import numpy as np
import pytest
from array_api_compat import array_namespace
from sklearn.metrics.pairwise import laplacian_kernel

from kernelbraid import _arrays
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, StoredStack, build_bank, stack_bank

X = np.random.default_rng(0).standard_normal((14, 5))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_arrays, "BLOCK_SIZE", 14 * 4)  # four rows a block: the last one is short


def laplacian(A, B):
    """A kernel function for arrays of any library."""
    return array_namespace(A).asarray(laplacian_kernel(to_numpy(A), to_numpy(B)))


@pytest.mark.parametrize("kind", ["stored", "lazy"])
@pytest.mark.parametrize("bank", ["rmkkm", "paper", [Gaussian(0.1), laplacian, Linear("max")]])
def test_sums_and_coordinates_are_what_their_formulas_say(xp, kind, bank):
    H = build_bank(X, bank)
    lazy = stack_bank(xp.asarray(X), bank)
    stack = lazy if kind == "lazy" else lazy.store()
    rng = np.random.default_rng(1)
    g, K = rng.dirichlet(np.ones(len(H))), rng.random(H.shape[1:])  # K is not symmetric
    g[0] = 0.0
    given = xp.asarray(K)
    assert (stack.n_kernels, stack.n_samples) == (len(H), 14)
    np.testing.assert_allclose(to_numpy(stack.combine(g)), np.tensordot(g, H, 1), rtol=1e-11, atol=1e-14)
    R, b = stack.factor(), stack.coordinates(given)
    np.testing.assert_allclose(R.T @ R, [[np.trace(a @ b) for b in H] for a in H], rtol=1e-12)
    np.testing.assert_allclose(R.T @ b, [np.trace(K @ h) for h in H], rtol=1e-10)


def test_the_basis_of_nearly_equal_kernels_is_orthonormal():
    basis = stack_bank(X).store().flat()
    np.testing.assert_allclose(basis @ basis.T, np.eye(12), atol=1e-12)


def test_equal_kernels_and_zero_kernels_span_less():
    H = np.stack([np.eye(3), 2 * np.eye(3), np.zeros((3, 3)), np.ones((3, 3))])
    stack = StoredStack.of(H)
    np.testing.assert_array_equal(stack.R[[1, 2], [1, 2]], 0)
    np.testing.assert_allclose(stack.combine(np.array([0.1, 0.2, 0.3, 0.4])), 0.5 * H[0] + 0.4 * H[3])


def test_kernels_handed_over_are_not_overwritten():
    H = build_bank(X)
    before = H.copy()
    StoredStack.of(H)
    np.testing.assert_array_equal(H, before)


def test_views_are_joined():
    views = [X, X[:, :2]]
    lazy, stored = stack_bank(views).factor(), StoredStack.of(build_bank(views)).factor()
    np.testing.assert_allclose(lazy.T @ lazy, stored.T @ stored, rtol=1e-12)


def test_single_precision_comes_out_single():
    stack = stack_bank(X.astype(np.float32))
    assert stack.combine(np.full(12, 1 / 12)).dtype == np.float32
    assert stack.store().basis.dtype == np.float32
