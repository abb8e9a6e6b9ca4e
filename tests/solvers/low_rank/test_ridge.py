import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from kernelbraid._arrays import to_numpy
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.low_rank.ridge import (
    EASY,
    LARGE,
    TILE,
    Expression,
    mirror,
    resolved_ridge,
    ridge_coefficients,
    ridge_inverse,
    ridge_smoother,
    solve_ridge,
)
from problems import blob_bank, blobs


def kernel_of(n=20, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, 8))
    return A @ A.T


def solve(K, alpha=0.5, *, keep_kernel=True):
    """A graph, and how often the kernel was asked for."""
    asked = []
    found = solve_ridge(lambda: asked.append(1) or K.copy(), alpha, keep_kernel=keep_kernel)
    return found, len(asked)


def test_ridge_coefficients_solve_their_normal_equations(xp):
    K = kernel_of()
    Z = ridge_coefficients(xp.asarray(K, copy=True), 0.5)
    exact = np.linalg.solve(K + 0.5 * np.eye(20), K)
    np.testing.assert_allclose(to_numpy(Z), np.maximum(exact, 0), atol=1e-10)


def test_they_minimise_the_objective_before_the_clip():
    K = np.abs(kernel_of(4)) + 3 * np.eye(4)
    K = (K + K.T) / 2

    def value(z):
        Z = z.reshape(4, 4)
        return 0.5 * np.trace(K - 2 * K @ Z + Z.T @ K @ Z) + 0.35 * np.sum(Z**2)

    best = minimize(value, np.zeros(16), method="BFGS", options={"gtol": 1e-10}).x.reshape(4, 4)
    np.testing.assert_allclose(ridge_coefficients(K, 0.7), np.maximum(best, 0), atol=1e-6)


@pytest.mark.parametrize("keep_kernel", [True, False])
def test_the_kernel_is_kept_if_asked(keep_kernel):
    K = blob_bank()[0].mean(axis=0)
    (Z, kept, status), asked = solve(K, keep_kernel=keep_kernel)
    assert (status, asked) == (Status.CONVERGED, 1)
    np.testing.assert_allclose(Z, ridge_coefficients(K, 0.5), atol=1e-12)
    if keep_kernel:
        np.testing.assert_array_equal(kept, K)
        assert not np.shares_memory(Z, kept)
    else:
        assert kept is None


def test_the_memory_of_the_kernel_becomes_that_of_the_graph_unless_it_is_kept():
    for keep_kernel in (True, False):
        K = kernel_of()
        Z, _, _ = solve_ridge(lambda K=K: K, 0.5, keep_kernel=keep_kernel)
        assert np.shares_memory(Z, K) is not keep_kernel


def test_backends_agree(xp):
    K = blob_bank()[0].mean(axis=0)
    for keep_kernel in (True, False):
        here, _, status = solve(K, keep_kernel=keep_kernel)[0]
        there, _, theirs = solve_ridge(lambda: xp.asarray(K, copy=True), 0.5, keep_kernel=keep_kernel)
        assert status == theirs
        np.testing.assert_allclose(to_numpy(there), here, atol=1e-10)


@pytest.mark.parametrize("keep_kernel", [True, False])
@pytest.mark.parametrize(
    ("K", "status"),
    [
        (np.full((4, 4), np.nan), Status.NON_FINITE),
        (np.zeros((4, 4)), Status.KERNEL_VANISHED),
        (np.eye(4), Status.GRAPH_DIAGONAL),
        (np.where(np.eye(4) == 1, 1.0, -0.1), Status.GRAPH_DIAGONAL),
        (-0.4 * np.eye(4), Status.GRAPH_EMPTY),
    ],
    ids=["not finite", "zero", "identity", "negative", "no coefficients"],
)
def test_every_bad_end_is_named_and_the_average_kernel_comes_back(K, status, keep_kernel):
    with np.errstate(all="ignore"):
        (Z, kept, ended), _ = solve(K, keep_kernel=keep_kernel)
    assert ended is status
    np.testing.assert_array_equal(Z, np.where(K > 0, K, 0.0) if np.isfinite(K).all() else K)
    assert (kept is None) is not keep_kernel


def test_one_sample_alone_is_sound():
    assert solve(np.ones((1, 1)))[0][2] is Status.CONVERGED


@pytest.mark.parametrize("n", [3, 900])  # one block of rows, and several
def test_a_single_edge_is_found_wherever_it_is(n):
    for place in ((0, n - 1), (n - 1, n // 2)):
        K = np.eye(n)
        K[place] = K[place[::-1]] = 0.5
        assert solve(K)[0][2] is Status.CONVERGED


def definite(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n + 2))
    return A @ A.T / n


def indefinite(n, seed=0):
    """Symmetric, with eigenvalues on both sides of -1, none near it."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    K = (Q * np.linspace(-3.3, 2.1, n)) @ Q.T
    return (K + K.T) / 2


def without_negative_eigenvalues(K):
    values, vectors = np.linalg.eigh(K)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def test_the_smoother_solves_the_ridge_equations_of_the_nearest_kernel_with_a_minimum():
    for overwrite in [False, True]:
        for kind in [definite, indefinite]:
            for n in [1, 2, 25, TILE, TILE + 3, 2 * TILE + 70]:
                K = kind(n)
                Z = ridge_smoother(K.copy(), 1.0, overwrite=overwrite)
                K = without_negative_eigenvalues(K)
                np.testing.assert_allclose((K + np.eye(n)) @ Z, K, atol=1e-9)


def test_no_negative_eigenvalue_outweighs_the_others(xp):
    for lowest in [-0.4, -0.9, -1.0, -40.0]:
        K = definite(12)
        K[:2, :2] = [[0.0, lowest], [lowest, 0.0]]  # eigenvalues of both signs
        K[:2, 2:] = K[2:, :2] = 0.0
        Z = to_numpy(ridge_smoother(xp.asarray(K), 1.0))
        assert np.linalg.norm(Z, 2) <= 1
        expected = K if lowest > -0.5 else without_negative_eigenvalues(K)
        np.testing.assert_allclose((expected + np.eye(12)) @ Z, expected, atol=1e-9)
        inverse = to_numpy(ridge_inverse(xp.asarray(K), 1.0))
        np.testing.assert_allclose(inverse @ (expected + np.eye(12)), np.eye(12), atol=1e-9)


def test_smoothers_of_all_libraries_agree(xp):
    for kind in [definite, indefinite]:
        for overwrite in [False, True]:
            K = kind(30)
            found = ridge_smoother(xp.asarray(K, copy=True), 0.7, overwrite=overwrite)
            K = without_negative_eigenvalues(K)
            np.testing.assert_allclose(to_numpy(found), np.linalg.solve(K + 0.7 * np.eye(30), K), atol=1e-10)


def test_a_kernel_that_must_stay_stays():
    for kind in [definite, indefinite]:
        for order in ["C", "F"]:
            K = np.array(kind(20), order=order)
            before = K.copy()
            Z = ridge_smoother(K, 1.0)
            np.testing.assert_array_equal(K, before)
            assert not np.shares_memory(Z, K)


def test_the_memory_of_a_kernel_that_is_used_up_becomes_that_of_the_graph():
    K = definite(20)
    Z = ridge_smoother(K, 1.0, overwrite=True)
    assert Z.base is K or np.shares_memory(Z, K)
    assert Z.flags.c_contiguous


def test_a_view_that_is_not_contiguous_may_be_used_up_too():
    wide = np.zeros((20, 40))
    wide[:, ::2] = definite(20)
    K = wide[:, ::2]
    np.testing.assert_allclose(ridge_smoother(K, 1.0, overwrite=True), ridge_smoother(definite(20), 1.0), atol=1e-12)


@pytest.mark.parametrize("overwrite", [False, True])
def test_smoothers_are_exactly_symmetric_and_keep_their_precision(overwrite):
    for dtype in (np.float32, np.float64):
        Z = ridge_smoother(definite(300).astype(dtype), 1.0, overwrite=overwrite)
        assert Z.dtype == dtype
        np.testing.assert_array_equal(Z, Z.T)


@pytest.mark.parametrize("overwrite", [False, True])
def test_large_kernels_are_inverted_in_single_precision_where_little_is_lost_by_it(overwrite):
    K = definite(LARGE)
    K /= K.max()
    for alpha, is_easy in ((1.0, True), (LARGE / (2 * EASY), False)):
        exact = np.linalg.solve(K + alpha * np.eye(LARGE), K)
        off = np.abs(ridge_smoother(K.copy(), alpha, overwrite=overwrite) - exact).max() / exact.max()
        assert off < (1e-4 if is_easy else 1e-9)
        assert (off > 1e-9) == is_easy


def test_a_large_kernel_that_is_not_definite_is_replaced_by_the_nearest_that_is():
    values, vectors = np.linalg.eigh(definite(LARGE))
    K = (vectors * np.where(np.arange(LARGE) < 3, -5.0, values / values[-1])) @ vectors.T
    near = (vectors * np.where(np.arange(LARGE) < 3, 0.0, values / values[-1])) @ vectors.T
    np.testing.assert_allclose(ridge_smoother((K + K.T) / 2, 1.0), ridge_smoother(near, 1.0), atol=1e-5)


def test_kept_and_used_up_kernels_give_the_same_graph():
    K = definite(70)
    np.testing.assert_array_equal(ridge_smoother(K.copy(), 0.3, overwrite=True), ridge_smoother(K, 0.3))


@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_is_expressed_in_a_kernel_without_positive_eigenvalues(overwrite):
    np.testing.assert_array_equal(ridge_smoother(-np.eye(4), 1.0, overwrite=overwrite), 0)


@given(st.integers(1, 12), st.integers(0, 30))
def test_the_smoother_shrinks_the_eigenvalues_of_a_kernel(n, seed):
    values = np.linalg.eigvalsh(definite(n, seed))
    found = np.linalg.eigvalsh(ridge_smoother(definite(n, seed), 0.5))
    np.testing.assert_allclose(found, values / (values + 0.5), atol=1e-10)


def test_a_mirror_copies_the_lower_triangle_to_the_upper():
    for n in [1, 5, TILE - 1, TILE, TILE + 1, 2 * TILE, 2 * TILE + 9]:
        A = np.random.default_rng(0).normal(size=(n, n))
        expected = np.tril(A) + np.tril(A, -1).T
        assert mirror(A) is A
        np.testing.assert_array_equal(A, expected)


def test_a_ridge_beside_a_kernel_of_any_size_leaves_something_to_invert(xp):
    for size in [1e-3, 1.0, 1e60, 1e300]:
        A = np.random.default_rng(0).normal(size=(8, 3))
        K = xp.asarray(size * (A @ A.T))
        assert resolved_ridge(K, 2.0) >= 2.0
        assert np.isfinite(to_numpy(ridge_inverse(K, 2.0))).all()
        smooth = to_numpy(ridge_smoother(K, 2.0))
        assert np.isfinite(smooth).all()
        if size > 1:  # the projection to the space of the kernel, as far as rounding leaves it
            Q = np.linalg.qr(A)[0]
            np.testing.assert_allclose(smooth, Q @ Q.T, atol=0.1)


def test_a_kernel_that_is_singular_by_rounding_has_an_inverse_beside_a_ridge():
    K = np.array([[3.90625021e116, 3.90625026e116], [3.90625026e116, 3.90625031e116]])
    for sign in (1, -1):
        assert np.isfinite(ridge_inverse(sign * K, 1.0)).all()
    singular = np.array([[-1.0, 0.0], [0.0, 1.0]])  # with the ridge
    assert np.isfinite(ridge_inverse(singular, 1.0)).all()


def gaussian(X, Y):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2) / 4)


def test_edges_solve_the_ridge_regression_on_the_fitted_samples(xp):
    X, _ = blobs(n=30)
    new = X[:5] + 0.05
    K, cross = gaussian(X, X), gaussian(new, X)
    found = Expression.of(xp.asarray(K), 0.5, None, "learned").edges(xp.asarray(cross))
    expected = np.maximum(np.linalg.solve(K + 0.5 * np.eye(30), cross.T).T, 0)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-10)


def test_edges_are_refined_as_those_of_the_fit():
    X, _ = blobs(n=30)
    expression = Expression.of(gaussian(X, X), 0.5, 4, "scaled")
    edges = expression.edges(gaussian(X[:6] + 0.05, X))
    assert ((edges > 0).sum(axis=1) == 4).all()
    np.testing.assert_allclose(edges.max(axis=1), 1.0)


def test_a_sample_far_from_all_others_is_joined_with_the_most_similar_one():
    X, _ = blobs(n=20)
    cross = np.full((1, 20), -1.0)
    cross[0, 7] = -0.5
    edges = Expression.of(gaussian(X, X), 1.0, 5, "scaled").edges(cross)
    assert np.flatnonzero(edges[0]).tolist() == [7]
