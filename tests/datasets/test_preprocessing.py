import numpy as np
import pytest
from scipy import sparse

from kernelbraid.datasets.preprocessing import STEPS, apply, tfidf, unit_norm, zscore

rng = np.random.default_rng(0)
COUNTS = rng.poisson(0.7, (8, 6)).astype(float)
COUNTS[:, 2] = 0  # a word of no document
COUNTS[:, 3] = rng.integers(1, 4, 8)  # a word of every document


def test_zscore_has_mean_0_and_variance_1_with_ddof_1():
    Z = zscore(rng.normal(3, 2, (10, 4)))
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(Z.std(axis=0, ddof=1), 1)


def test_a_constant_feature_becomes_zero():
    X = rng.normal(size=(7, 3))
    X[:, 1] = 0.1
    np.testing.assert_array_equal(zscore(X)[:, 1], 0)


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
def test_unit_norm_leaves_a_sample_of_zeros(container):
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])
    U = unit_norm(container(X))
    assert sparse.issparse(U) == (container is sparse.csr_array)
    np.testing.assert_allclose(U.toarray() if sparse.issparse(U) else U, [[0.6, 0.8], [0, 0], [0, 1]])


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
def test_tfidf_is_the_formula(container):
    n, df = len(COUNTS), (COUNTS > 0).sum(axis=0)
    W = tfidf(container(COUNTS)).toarray()
    for i, j in np.ndindex(*COUNTS.shape):
        expected = (1 + np.log(COUNTS[i, j])) * np.log(n / df[j]) if COUNTS[i, j] else 0
        assert W[i, j] == pytest.approx(expected)


@pytest.mark.parametrize("name", STEPS)
def test_no_step_changes_its_argument_or_brings_anything_but_finite_numbers(name):
    for container in [np.array, sparse.csr_array]:
        X = container(COUNTS)
        Y = apply(X, [name])
        np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else X, COUNTS)
        assert Y.dtype == np.float64
        assert np.isfinite(Y.toarray() if sparse.issparse(Y) else Y).all()
