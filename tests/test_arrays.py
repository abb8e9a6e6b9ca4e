import math

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import _arrays as arrays
from kernelbraid._arrays import (
    add_to_diagonal,
    as_dense,
    as_rows,
    as_sparse,
    asarray_like,
    beside,
    clip_negative,
    distance,
    frobenius_norm,
    identity_like,
    in_place,
    is_finite,
    is_foreign,
    kth_of_rows,
    namespace,
    power_of_two,
    replace_rows,
    row_blocks,
    row_products,
    symmetric_part,
    take_rows,
    to_numpy,
)


def random_matrix(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_kth_entries_are_those_of_a_sorted_matrix(xp):
    for k in [1, 2, 5]:
        A = random_matrix(5, 5)
        A[0] = A[0, 0]  # ties
        given = xp.asarray(A)
        np.testing.assert_array_equal(to_numpy(kth_of_rows(given.T, -k)), np.sort(A, axis=0)[-k])
        np.testing.assert_array_equal(to_numpy(kth_of_rows(given, -k)), np.sort(A, axis=1)[:, -k])
        np.testing.assert_array_equal(to_numpy(kth_of_rows(given, k - 1)), np.sort(A, axis=1)[:, k - 1])
        np.testing.assert_array_equal(to_numpy(given), A)


def test_columns_become_rows_of_an_array_of_its_own(xp):
    A = random_matrix(6, 4)
    given = xp.asarray(A.copy())
    rows = as_rows(given, slice(1, 3))
    np.testing.assert_array_equal(to_numpy(rows), A[:, 1:3].T)
    rows[0, 0] = 7.0
    np.testing.assert_array_equal(to_numpy(given), A)


def test_rows_of_numpy_lie_side_by_side():
    assert as_rows(random_matrix(6, 4), slice(1, 3)).flags.c_contiguous


def test_only_the_diagonal_is_added_to(xp):
    for value in [2.0, np.arange(4.0)]:
        A = random_matrix(4, 4)
        added = value if isinstance(value, float) else xp.asarray(value)
        np.testing.assert_allclose(
            to_numpy(add_to_diagonal(xp.asarray(A.copy()), added)), A + np.diag(np.full(4, value))
        )


def test_every_matrix_of_a_stack_has_a_number_added_to_its_diagonal(xp):
    H = random_matrix(3, 4, 4)
    np.testing.assert_allclose(to_numpy(add_to_diagonal(xp.asarray(H.copy()), 2.0)), H + 2.0 * np.eye(4))


@pytest.mark.parametrize("block_size", [1, 21, 10**6])
def test_the_symmetric_part_is_symmetric_to_the_bit_whatever_the_blocks(xp, monkeypatch, block_size):
    monkeypatch.setattr(arrays, "BLOCK_SIZE", block_size)
    A = random_matrix(7, 7)
    S = to_numpy(symmetric_part(xp.asarray(A.copy())))
    np.testing.assert_array_equal(S, S.T)
    np.testing.assert_allclose(S, (A + A.T) / 2, rtol=1e-15, atol=1e-15)


def test_the_symmetric_part_of_the_largest_numbers_does_not_overflow(xp):
    A = np.full((3, 3), np.finfo(float).max)
    np.testing.assert_array_equal(to_numpy(symmetric_part(xp.asarray(A.copy()))), A)


def test_a_gram_matrix_is_symmetric_to_the_bit_and_positive(xp):
    X = random_matrix(9, 5)
    G = to_numpy(row_products(xp.asarray(X)))
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, X @ X.T, atol=1e-13)
    assert np.linalg.eigvalsh(G).min() > -1e-12


@pytest.mark.parametrize("form", [np.asfortranarray, lambda X: X[::2], sparse.csr_array, sparse.csc_array])
def test_samples_of_every_form_have_the_same_gram_matrix(monkeypatch, form):
    monkeypatch.setattr(arrays, "BLOCK_SIZE", 20)
    X = np.maximum(random_matrix(8, 5), 0)
    given = form(X)
    expected = as_dense(given) @ as_dense(given).T
    G = row_products(given)
    assert isinstance(G, np.ndarray)
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, expected, atol=1e-14)


def test_values_come_beside_an_array_in_their_own_type(foreign):
    other = foreign.asarray([1.0, 2.0], dtype=foreign.float32)
    values = np.array([3, 4])
    moved = beside(values, other)
    assert is_foreign(moved)
    assert namespace(moved, other) is namespace(other)
    assert moved.dtype == foreign.int64
    assert beside(values, np.zeros(2)) is values
    assert asarray_like(values, other).dtype == foreign.float32


def test_blocks_hold_every_row_once_and_are_small():
    for share in [1e-9, 0.5, 1.0]:
        for n in [1, 7, 3000]:
            blocks = list(row_blocks(n, share))
            rows = [row for block in blocks for row in range(block.start, block.stop)]
            assert rows == list(range(n))
            assert all(
                len(range(n)[block]) == 1 or len(range(n)[block]) * n <= share * arrays.BLOCK_SIZE for block in blocks
            )


def test_a_distance_is_the_norm_of_the_difference(xp, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_SIZE", 15)
    A, B = random_matrix(2, 7, 7)
    found = distance(xp.asarray(A), xp.asarray(B))
    assert found == pytest.approx(np.linalg.norm(A - B), rel=1e-14)
    assert found == pytest.approx(frobenius_norm(xp.asarray(A - B)), rel=1e-14)
    with pytest.raises(ValueError, match="two matrices"):
        distance(xp.asarray(A[0]), xp.asarray(B[0]))


def test_functions_in_place_give_what_they_give_elsewhere(xp):
    A = random_matrix(4, 3)
    np.testing.assert_array_equal(to_numpy(clip_negative(xp.asarray(A.copy()))), np.maximum(A, 0))
    np.testing.assert_allclose(to_numpy(in_place("exp", xp.asarray(A.copy()))), np.exp(A), rtol=1e-14)
    np.testing.assert_array_equal(to_numpy(in_place("multiply", xp.asarray(A.copy()), xp.asarray(A))), A * A)


def test_numpy_works_in_place():
    A = random_matrix(4, 4)
    assert clip_negative(A) is A
    assert in_place("exp", A) is A
    assert add_to_diagonal(A, 1.0) is A
    assert symmetric_part(A) is A


def test_one_entry_decides_whether_all_are_finite(xp):
    for entry, finite in [(0.0, True), (math.inf, False), (math.nan, False)]:
        A = random_matrix(3, 3)
        A[1, 2] = entry
        assert is_finite(xp.asarray(A)) is finite


def test_the_identity_has_the_type_of_its_model(xp):
    eye = identity_like(xp.zeros((2, 3, 3), dtype=xp.float32))
    assert eye.dtype == xp.float32
    np.testing.assert_array_equal(to_numpy(eye), np.eye(3))


def test_a_matrix_of_numpy_becomes_sparse_and_dense_again(xp):
    A = xp.eye(3)
    thin = as_sparse(A)
    assert sparse.issparse(thin) == (not is_foreign(A))
    np.testing.assert_array_equal(to_numpy(as_dense(thin)), np.eye(3))


@pytest.mark.parametrize("single", [False, True])
def test_numbers_divided_by_a_power_of_two_can_be_squared(single):
    for size in [0.0, 5e-324, 1e-200, 1e-20, 1.0, 3e20, 1e200, np.finfo(float).max]:
        scale = power_of_two(size, single=single)
        assert math.frexp(scale)[0] == 0.5
        if size:
            assert (size / scale) * scale == size
            assert 1e-140 < size / scale < 1e70
        assert power_of_two(1.0, single=single) == 1.0


def test_rows_that_are_taken_and_put_back_change_nothing_else(xp):
    for rows in [[], [1, 3], [0, 1, 2, 3], [2, 0, 3, 1]]:
        A, rows = np.arange(12.0).reshape(4, 3), np.array(rows, dtype=np.int64)
        taken, nothing = take_rows(rows, xp.asarray(A), None)
        assert nothing is None
        np.testing.assert_array_equal(to_numpy(taken), A[rows])
        changed = replace_rows(xp.asarray(A), rows, -taken)
        expected = A.copy()
        expected[rows] *= -1
        np.testing.assert_array_equal(to_numpy(changed), expected)
        np.testing.assert_array_equal(A, np.arange(12.0).reshape(4, 3))
