import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels.pairs import pairs_of, pairs_within

X = np.random.default_rng(0).standard_normal((9, 5))


def test_products_lengths_and_the_diameter_are_those_of_the_samples(xp):
    pairs = pairs_within(xp.asarray(X))
    np.testing.assert_allclose(to_numpy(pairs.products), X @ X.T, atol=1e-12)
    np.testing.assert_allclose(to_numpy(pairs.row_squares), (X**2).sum(axis=1))
    assert pairs.max_square == pytest.approx((X**2).sum(axis=1).max())
    assert pairs.max_distance == pytest.approx(pdist(X).max() ** 2)


def test_sparse_samples_have_the_pairs_of_dense_ones():
    dense, thin = pairs_within(X), pairs_within(sparse.csr_array(X))
    np.testing.assert_allclose(thin.products, dense.products, atol=1e-12)
    assert thin.max_distance == pytest.approx(dense.max_distance)


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_extreme_samples_are_divided_by_a_power_of_two(form, size):
    pairs = pairs_within(form(X * size))
    assert np.log2(pairs.scale) == round(np.log2(pairs.scale)) != 0
    np.testing.assert_allclose(pairs.products * (pairs.scale / size) ** 2, X @ X.T, rtol=1e-12, atol=1e-12)


def test_products_are_double_for_single_samples():
    assert pairs_within(X.astype(np.float32)).products.dtype == np.float64


def test_every_view_has_pairs_and_they_are_moved_where_they_shall_be_kept():
    moved = []

    def place(A):
        moved.append(A.shape)
        return A

    found = pairs_of([X, sparse.csr_array(X[:, :2])], place)
    assert [pairs.products.shape for pairs in found] == [(9, 9), (9, 9)]
    assert (9, 5) in moved
    assert (9, 2) not in moved  # a sparse view stays; its products move
    assert moved.count((9, 9)) == 2
