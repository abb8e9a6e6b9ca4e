import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import euclidean_distances, laplacian_kernel

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import (
    BANKS,
    Custom,
    Gaussian,
    Linear,
    Neighbours,
    Polynomial,
    SelfTuning,
    banks_for,
    build_bank,
    resolve_banks,
    stack_bank,
)
from kernelbraid.kernels.pairs import FittedBank, pairs_of, pairs_within

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


def test_extreme_samples_are_divided_by_a_power_of_two():
    for size in [1e-200, 1e200]:
        for form in [np.asarray, sparse.csr_array]:
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


def test_distances_far_from_the_origin_are_those_near_it(xp):
    for offset in [1e4, 1e8, 1e12]:
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


FITTED, NEW = X[:6], 0.5 * X[6:] + 0.1 * X[:3]


EVERY_KERNEL = [
    *BANKS["paper"],
    *BANKS["rmkkm"],
    Linear(None),
    Polynomial(0.7, 3, None),
    Custom(laplacian_kernel),
]


def fit_bank(views, kernels):
    stack = stack_bank(views, kernels)
    return FittedBank.of(views, resolve_banks(kernels, len(views)), stack), stack


def unit(count, position):
    return np.eye(count)[position]


def scaled_by_the_fitted(kernel, new, fitted):
    """Slow scalar version: kernel values with the largest distance and length of the fitted samples."""
    if isinstance(kernel, Custom):
        return kernel.function(new, fitted)
    if isinstance(kernel, Gaussian):
        largest = euclidean_distances(fitted, squared=True).max()
        return np.exp(-euclidean_distances(new, fitted, squared=True) / (kernel.scale * largest))
    offset, degree = getattr(kernel, "offset", 0.0), getattr(kernel, "degree", 1)
    K = (offset + new @ fitted.T) ** degree
    own = [(offset + np.sum(A * A, axis=1)) ** degree for A in (new, fitted)]
    if kernel.normalise == "cosine":
        return K / np.sqrt(np.outer(*own))
    return K / own[1].max() if kernel.normalise == "max" else K


def test_new_samples_get_kernel_values_in_the_scale_of_the_fitted_ones():
    for position in range(len(EVERY_KERNEL)):
        fitted, stack = fit_bank([FITTED], EVERY_KERNEL)
        chosen = unit(len(EVERY_KERNEL), position)
        expected = scaled_by_the_fitted(EVERY_KERNEL[position], NEW, FITTED)
        np.testing.assert_allclose(fitted.cross([NEW], chosen), expected, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(fitted.cross([FITTED], chosen), stack.combine(chosen), rtol=1e-10, atol=1e-13)


def test_kernel_values_of_new_samples_are_a_block_of_the_kernel_over_all():
    # The fitted samples hold the two farthest and the longest one, so that all samples have the same scales.
    D, lengths = euclidean_distances(X), np.linalg.norm(X, axis=1)
    ends = {*np.unravel_index(D.argmax(), D.shape), lengths.argmax()}
    fitted_rows = sorted(ends | {0, 1, 2})
    new_rows = sorted(set(range(9)) - set(fitted_rows))
    fitted, _ = fit_bank([X[fitted_rows]], EVERY_KERNEL)
    H = build_bank(X, EVERY_KERNEL)
    weights = np.random.default_rng(0).random(len(EVERY_KERNEL))
    expected = np.tensordot(weights, H, 1)[np.ix_(new_rows, fitted_rows)]
    np.testing.assert_allclose(fitted.cross([X[new_rows]], weights), expected, rtol=1e-10)


def test_cross_kernels_sum_over_views():
    views, new = [FITTED, FITTED[:, :2]], [NEW, NEW[:, :2]]
    banks = [[Gaussian(1.0), laplacian_kernel], [Linear("max")]]
    fitted, stack = fit_bank(views, banks)
    weights = [0.2, 0.3, 0.5]
    np.testing.assert_allclose(fitted.cross(views, weights), stack.combine(np.array(weights)), rtol=1e-12)
    parts = [
        fit_bank([view], bank)[0].cross([samples], w)
        for view, samples, bank, w in zip(views, new, banks, ([0.2, 0.3], [0.5]), strict=True)
    ]
    np.testing.assert_allclose(fitted.cross(new, weights), sum(parts), rtol=1e-12)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_samples_have_the_cross_kernels_of_dense_ones(form):
    weights = np.ones(len(EVERY_KERNEL))
    expected = fit_bank([FITTED], EVERY_KERNEL)[0].cross([NEW], weights)
    fitted, _ = fit_bank([form(FITTED)], EVERY_KERNEL)
    np.testing.assert_allclose(fitted.cross([form(NEW)], weights), expected, rtol=1e-11)
    built_in, _ = fit_bank([form(FITTED)], "paper")
    np.testing.assert_allclose(built_in.cross([NEW], np.ones(12)), built_in.cross([form(NEW)], np.ones(12)), rtol=1e-11)


def test_cross_kernels_survive_extreme_scales():
    for size in [1e-150, 1e-100, 1e100, 1e150]:
        bank = [Gaussian(0.1), Gaussian(1.0), Linear(), Linear("max"), Polynomial(0.0, 4), Polynomial(0.0, 4, "max")]
        expected = fit_bank([FITTED], bank)[0].cross([NEW], np.ones(6))
        for form in (np.asarray, sparse.csr_array):
            fitted, stack = fit_bank([form(FITTED * size)], bank)
            np.testing.assert_allclose(fitted.cross([form(NEW * size)], np.ones(6)), expected, rtol=1e-10)
            np.testing.assert_allclose(fitted.cross([form(FITTED * size)], np.ones(6)), stack.combine(np.ones(6)))


def test_copies_of_fitted_samples_have_the_kernel_values_of_the_originals():
    far = FITTED + 1e6  # distances are lost in the rounding of inner products
    fitted, stack = fit_bank([far], [Gaussian(0.01)])
    np.testing.assert_allclose(np.diag(fitted.cross([far.copy()], [1.0])), 1)
    np.testing.assert_allclose(fitted.cross([far], [1.0]), stack.combine(np.ones(1)), atol=1e-3)


def test_cross_kernels_agree_on_every_backend(foreign):
    expected = fit_bank([FITTED], "rmkkm")[0].cross([NEW], np.full(12, 0.1))
    fitted, _ = fit_bank([foreign.asarray(FITTED)], "rmkkm")
    found = fitted.cross([foreign.asarray(NEW)], np.full(12, 0.1))
    assert type(found) is type(foreign.asarray(NEW))
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-11)


def test_single_precision_samples_have_cross_kernels_formed_in_double():
    fitted, _ = fit_bank([FITTED.astype(np.float32)], "rmkkm")
    found = fitted.cross([NEW.astype(np.float32)], np.ones(12))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, fit_bank([FITTED], "rmkkm")[0].cross([NEW], np.ones(12)), atol=1e-2)


def test_kernels_are_formed_again_between_the_fitted_samples():
    views = [X, sparse.csr_array(np.maximum(X, 0))]
    for bank in ("rmkkm", "local"):
        banks = banks_for(bank, views)
        stack = stack_bank(views, bank)
        weights = np.random.default_rng(0).dirichlet(np.ones(stack.n_kernels))
        found = FittedBank.of(views, banks, stack).within(weights)
        np.testing.assert_allclose(found, stack.combine(weights), atol=1e-13)


def test_kernels_of_distances_do_not_change_with_the_origin():
    for kernel in [Gaussian(0.1), SelfTuning(2), Neighbours(2)]:
        rng = np.random.default_rng(2)
        near, new = (rng.integers(-50, 50, (n, 4)).astype(float) for n in (12, 5))
        found = [
            fit_bank([near + offset], [kernel])[0].cross([new + offset], np.ones(1)) for offset in (0.0, 1e4, 1e8, 1e12)
        ]
        for far in found[1:]:
            np.testing.assert_allclose(far, found[0], atol=1e-9)


def test_kernels_of_products_keep_their_meaning_far_from_the_origin():
    fitted, new = FITTED + 1e3, NEW + 1e3
    kernels = [Linear(None), Linear("cosine"), Polynomial(1.0, 2, "max")]
    bank, stack = fit_bank([fitted], kernels)
    lengths = np.linalg.norm(new, axis=1)[:, None] * np.linalg.norm(fitted, axis=1)
    largest = 1 + (fitted**2).sum(axis=1).max()
    expected = [new @ fitted.T, new @ fitted.T / lengths, ((1 + new @ fitted.T) / largest) ** 2]
    assert stack.views[0][0].is_far
    for position, values in enumerate(expected):
        np.testing.assert_allclose(bank.cross([new], unit(3, position)), values, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_distances_of_the_fitted_samples_are_in_units_of_the_largest_of_each_view(form):
    views = [1000 * FITTED, FITTED[:, :2]]
    fitted, _ = fit_bank([form(view) for view in views], [Linear(None)])
    wanted = sum(D / D.max() for D in (euclidean_distances(view, squared=True) for view in views))
    np.testing.assert_allclose(np.concatenate(list(fitted.distances())), wanted, atol=1e-12)


def test_distances_of_samples_that_are_all_the_same_are_zero():
    fitted, _ = fit_bank([np.ones((4, 3))], [Linear(None)])
    assert not np.concatenate(list(fitted.distances())).any()
