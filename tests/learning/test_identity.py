import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kernelbraid.learning.identity import identities, row_digests

ROWS = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [2.0, 3.0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_equal_rows_get_equal_numbers_in_order_of_appearance(form):
    np.testing.assert_array_equal(identities(row_digests([form(ROWS)])), [0, 0, 1, 0, 2])


def test_rows_of_any_library_have_the_digests_of_numpy(xp):
    assert row_digests([xp.asarray(ROWS)]) == row_digests([ROWS])


def test_samples_differ_if_they_differ_in_one_view():
    other = np.array([[1.0], [2.0], [3.0], [1.0], [5.0]])
    np.testing.assert_array_equal(identities(row_digests([ROWS, other])), [0, 1, 2, 0, 3])


def test_stored_zeros_of_a_sparse_matrix_are_zeros():
    A = sparse.csr_array((np.array([1.0, 0.0, 1.0]), (np.array([0, 0, 1]), np.array([1, 0, 1]))), shape=(2, 2))
    np.testing.assert_array_equal(identities(row_digests([A])), [0, 0])
    assert A.nnz == 3


def test_entries_that_are_stored_twice_or_in_any_order_are_the_same_row():
    whole = sparse.csr_array(np.array([[0.0, 3.0, 1.0]]))
    order = np.array([2, 1, 1], dtype=whole.indices.dtype)
    parts = sparse.csr_array((np.array([1.0, 1.0, 2.0]), order, np.array([0, 3], dtype=order.dtype)), shape=(1, 3))
    assert row_digests([parts]) == row_digests([whole])


def test_the_width_of_the_indices_does_not_matter():
    A = sparse.csr_array(ROWS)
    wide = sparse.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    assert wide.indices.dtype != A.indices.dtype
    assert row_digests([wide]) == row_digests([A])


def test_views_do_not_run_into_each_other():
    one, other = (sparse.csr_array(np.array([row])) for row in ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0]))
    assert row_digests([one, other]) != row_digests([other, one])


@given(st.integers(1, 20), st.integers(1, 3), st.integers(0, 100))
def test_the_numbers_are_those_of_distinct_rows(n, d, seed):
    A = np.random.default_rng(seed).integers(0, 2, size=(n, d)).astype(float)
    found = identities(row_digests([A]))
    np.testing.assert_array_equal(found[:, None] == found, (A[:, None] == A).all(axis=2))
    first = [int(found[i]) for i in range(n) if found[i] not in found[:i]]
    assert first == list(range(len(first)))


def test_digests_have_sixteen_bytes():
    assert all(len(digest) == 16 for digest in row_digests([ROWS]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
def test_rows_have_the_digests_of_an_array_in_any_form(form):
    assert row_digests([form(ROWS)]) == row_digests([ROWS])
