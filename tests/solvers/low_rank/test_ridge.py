import numpy as np
import pytest
from scipy.optimize import minimize

from kernelbraid._arrays import to_numpy
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients, solve_ridge
from problems import blob_bank


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
    found, asked = solve(K, keep_kernel=keep_kernel)
    assert (found.status, asked) == (Status.CONVERGED, 1)
    np.testing.assert_allclose(found.Z, ridge_coefficients(K, 0.5), atol=1e-12)
    if keep_kernel:
        np.testing.assert_array_equal(found.K, K)
        assert not np.shares_memory(found.Z, found.K)
    else:
        assert found.K is None


def test_the_memory_of_the_kernel_becomes_that_of_the_graph_unless_it_is_kept():
    for keep_kernel in (True, False):
        K = kernel_of()
        found = solve_ridge(lambda K=K: K, 0.5, keep_kernel=keep_kernel)
        assert np.shares_memory(found.Z, K) is not keep_kernel


def test_backends_agree(xp):
    K = blob_bank()[0].mean(axis=0)
    for keep_kernel in (True, False):
        here = solve(K, keep_kernel=keep_kernel)[0]
        there = solve_ridge(lambda: xp.asarray(K, copy=True), 0.5, keep_kernel=keep_kernel)
        assert here.status == there.status
        np.testing.assert_allclose(to_numpy(there.Z), here.Z, atol=1e-10)


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
        found, _ = solve(K, keep_kernel=keep_kernel)
    assert found.status is status
    np.testing.assert_array_equal(found.Z, np.where(K > 0, K, 0.0) if np.isfinite(K).all() else K)
    assert (found.K is None) is not keep_kernel


def test_one_sample_alone_is_sound():
    assert solve(np.ones((1, 1)))[0].status is Status.CONVERGED


@pytest.mark.parametrize("n", [3, 900])  # one block of rows, and several
def test_a_single_edge_is_found_wherever_it_is(n):
    for place in ((0, n - 1), (n - 1, n // 2)):
        K = np.eye(n)
        K[place] = K[place[::-1]] = 0.5
        assert solve(K)[0].status is Status.CONVERGED
