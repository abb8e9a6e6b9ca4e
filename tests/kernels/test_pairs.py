import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

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


@pytest.mark.parametrize("offset", [1e4, 1e8, 1e12])
def test_distances_far_from_the_origin_are_those_near_it(xp, offset):
    near = np.random.default_rng(1).integers(-50, 50, (12, 4)).astype(float)  # so that the offset rounds none away
    pairs = pairs_within(xp.asarray(near + offset))
    assert pairs.is_far
    np.testing.assert_allclose(to_numpy(pairs.squared_distances()), squareform(pdist(near) ** 2), atol=1e-7)
    assert pairs.max_distance == pytest.approx(pdist(near).max() ** 2)
    some = pairs.rows(slice(3, 7)).about_origin()[0]
    np.testing.assert_allclose(to_numpy(some), (near[3:7] + offset) @ (near + offset).T)


def test_products_far_from_the_origin_are_those_about_it():
    far = X + 1e3
    pairs = pairs_within(far)
    products, rows, columns = pairs.about_origin()
    assert pairs.is_far
    assert not pairs_within(X).is_far
    np.testing.assert_allclose(products, far @ far.T, rtol=1e-13)
    np.testing.assert_allclose(rows, (far**2).sum(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(rows, columns)
    assert pairs.max_square == pytest.approx(rows.max())
