import numpy as np
import pytest
from array_api_compat import array_namespace
from sklearn.metrics.pairwise import laplacian_kernel

from kernelbraid import _arrays
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, Polynomial, StoredStack, build_bank, stack_bank
from kernelbraid.kernels.stacks import without_spread

X = np.random.default_rng(0).standard_normal((14, 5))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_arrays, "BLOCK_SIZE", 14 * 4)  # four rows per block: the last one is short


def laplacian(A, B):
    """A kernel function for arrays of any library."""
    return array_namespace(A).asarray(laplacian_kernel(to_numpy(A), to_numpy(B)))


def test_sums_and_coordinates_are_what_their_formulas_say(xp):
    for kind in ["stored", "lazy"]:
        for bank in ["rmkkm", "paper", [Gaussian(0.1), laplacian, Linear("max")]]:
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


def test_products_diagonals_and_traces_are_those_of_the_matrices(xp):
    for kind in ["stored", "lazy"]:
        for bank in ["rmkkm", [Gaussian(0.1), laplacian, Linear("max")]]:
            H = build_bank(X, bank)
            lazy = stack_bank(xp.asarray(X), bank)
            stack = lazy if kind == "lazy" else lazy.store()
            rng = np.random.default_rng(2)
            V, A = rng.standard_normal((14, 3)), rng.standard_normal((14, 14))  # A is not symmetric
            np.testing.assert_allclose(to_numpy(stack.apply(xp.asarray(V))), H @ V, atol=1e-12)
            np.testing.assert_allclose(to_numpy(stack.diagonals()), np.diagonal(H, axis1=1, axis2=2), atol=1e-13)
            np.testing.assert_allclose(stack.traces(xp.asarray(A)), [np.trace(A @ h) for h in H], atol=1e-10)


@pytest.mark.parametrize("kind", ["stored", "lazy"])
def test_products_of_several_views_come_view_after_view(kind):
    views = [X, X[:, :2]]
    lazy = stack_bank(views, [[Gaussian(1.0)], [Linear(), Gaussian(0.1)]])
    stack, H = lazy if kind == "lazy" else lazy.store(), lazy.evaluate()
    V = np.random.default_rng(3).standard_normal((14, 2))
    np.testing.assert_allclose(stack.apply(V), H @ V, atol=1e-12)
    np.testing.assert_allclose(stack.diagonals(), np.diagonal(H, axis1=1, axis2=2), atol=1e-13)


@pytest.mark.parametrize("kind", ["stored", "lazy"])
def test_products_and_diagonals_of_single_precision_are_single(kind):
    Y = X.astype(np.float32)
    lazy = stack_bank(Y)
    stack = lazy if kind == "lazy" else lazy.store()
    V = np.ones((14, 2), dtype=np.float32)
    assert stack.apply(V).dtype == stack.diagonals().dtype == np.float32
    np.testing.assert_allclose(stack.apply(V), build_bank(Y.astype(float)) @ V, atol=1e-5)


def test_dependent_kernels_keep_their_products():
    H = np.stack([np.eye(3), 2 * np.eye(3), np.zeros((3, 3)), np.ones((3, 3))])
    stack, V = StoredStack.of(H), np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(stack.apply(V), H @ V, atol=1e-14)
    np.testing.assert_allclose(stack.diagonals(), np.diagonal(H, axis1=1, axis2=2), atol=1e-14)


def test_kernels_of_very_different_size_keep_their_digits():
    H = build_bank(X, [Linear(), Gaussian(1.0), Gaussian(0.1)]) * np.array([1e12, 1.0, 1e-12])[:, None, None]
    stack = StoredStack.of(H)
    np.testing.assert_allclose(stack.diagonals(), np.diagonal(H, axis1=1, axis2=2), rtol=1e-12)
    np.testing.assert_allclose(stack.traces(np.eye(14)), np.trace(H, axis1=1, axis2=2), rtol=1e-11)


def test_lazy_traces_of_a_small_kernel_beside_a_large_one_keep_their_digits():
    stack = stack_bank(1e5 * X, [Linear(None), Gaussian(1.0)])
    np.testing.assert_allclose(stack.traces(np.eye(14)), stack.store().traces(np.eye(14)), rtol=1e-6)


def test_kernels_under_which_all_samples_coincide_say_nothing(xp):
    for kind in ["stored", "lazy"]:

        def constant(A, B):
            return xp.ones((A.shape[0], B.shape[0]), dtype=xp.float64) * 3.7

        lazy = stack_bank(xp.asarray(X), [Gaussian(1.0), constant, Linear(), Gaussian(1e4)])
        stack = lazy if kind == "lazy" else lazy.store()
        np.testing.assert_array_equal(without_spread(stack), [False, True, False, False])


def test_if_no_kernel_says_anything_none_is_reported():
    stack = StoredStack.of(np.ones((3, 5, 5)) * np.array([1.0, 2.0, 0.0])[:, None, None])
    assert not without_spread(stack).any()


def test_a_kernel_of_zeros_says_nothing_beside_one_that_does():
    stack = StoredStack.of(np.stack([np.zeros((4, 4)), np.eye(4)]))
    np.testing.assert_array_equal(without_spread(stack), [True, False])


def test_a_constant_added_to_a_kernel_does_not_make_it_say_nothing():
    stack = StoredStack.of(np.stack([1e6 + np.eye(6), np.full((6, 6), 1e6)]))
    np.testing.assert_array_equal(without_spread(stack), [False, True])


@pytest.mark.parametrize(("size", "message"), [(1e5, "overflows in single precision"), (1e-30, "too small for single")])
def test_kernels_beyond_single_precision_are_refused(size, message):
    samples = (size * np.random.default_rng(0).normal(size=(6, 3))).astype(np.float32)
    with pytest.raises(ValueError, match=message):
        stack_bank(samples, [Polynomial(0.0, 4, None)]).combine(np.ones(1))
    assert np.isfinite(stack_bank(samples.astype(float), [Polynomial(0.0, 4, None)]).combine(np.ones(1))).all()
    assert np.isfinite(stack_bank(samples, [Polynomial(0.0, 4)]).combine(np.ones(1))).all()


def test_samples_of_zeros_have_a_kernel_of_zeros():
    assert not stack_bank(np.zeros((4, 2), dtype=np.float32), [Linear(None)]).combine(np.ones(1)).any()
