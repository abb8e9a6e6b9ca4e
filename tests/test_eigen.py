import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles

from kernelbraid._eigen import leading_eigenvectors, outer_eigh


@pytest.mark.parametrize("n", [30, 250])  # by the decomposition, and by products
@pytest.mark.parametrize("n_known", [0, 2])
def test_leading_vectors_are_those_that_are_not_known(n, n_known):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.concatenate([np.ones(n_known), np.linspace(0.95, -1, n - n_known)])
    S = sparse.csr_array((Q * values) @ Q.T)
    found = leading_eigenvectors(S, Q[:, :n_known], 4)
    assert found.shape == (n, 4)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(Q[:, :n_known].T @ found, 0, atol=1e-8)
    np.testing.assert_allclose(np.diag(found.T @ (S @ found)), values[n_known : n_known + 4], atol=1e-9)
    assert subspace_angles(found, Q[:, n_known : n_known + 4]).max() < 1e-6


@pytest.mark.parametrize("largest", [False, True])
def test_outer_eigenvectors_are_those_of_the_whole_decomposition(largest):
    A = np.random.default_rng(0).normal(size=(220, 220))
    S = A + A.T
    values, vectors = np.linalg.eigh(S)
    ends = slice(-7, None) if largest else slice(0, 7)
    found, basis = outer_eigh(S.copy(), 7, largest=largest)
    np.testing.assert_allclose(found, values[ends])
    np.testing.assert_allclose(np.abs(basis.T @ vectors[:, ends]), np.eye(7), atol=1e-10)


@pytest.mark.parametrize(("n", "count"), [(150, 3), (220, 60)])
def test_small_matrices_and_many_eigenvectors_are_left_to_the_whole_decomposition(n, count):
    assert outer_eigh(np.eye(n), count, largest=True) is None


def test_a_matrix_that_is_not_finite_has_no_outer_eigenvectors():
    S = np.eye(300)
    S[0, 0] = np.nan
    assert outer_eigh(S, 3, largest=True) is None


def test_the_eigenvectors_of_a_complete_graph_are_found_in_any_number():
    for n in range(18, 33):
        known = np.full((n, 1), n**-0.5)
        S = sparse.csr_array((1 - np.eye(n)) / (n - 1))
        for count in range(1, n):
            found = leading_eigenvectors(S, known, count)
            np.testing.assert_allclose(found.T @ found, np.eye(count), atol=1e-12)
            np.testing.assert_allclose(known.T @ found, 0, atol=1e-12)
