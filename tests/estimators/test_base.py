import numpy as np
import pytest
from scipy import sparse

from kernelbraid.estimators.base import check_n_clusters, identities

ROWS = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [2.0, 3.0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_equal_rows_get_equal_numbers_in_order_of_appearance(form):
    np.testing.assert_array_equal(identities([form(ROWS)]), [0, 0, 1, 0, 2])


def test_samples_differ_if_they_differ_in_one_view():
    other = np.array([[1.0], [2.0], [3.0], [1.0], [5.0]])
    np.testing.assert_array_equal(identities([ROWS, other]), [0, 1, 2, 0, 3])


def test_stored_zeros_of_a_sparse_matrix_are_zeros():
    A = sparse.csr_array((np.array([1.0, 0.0, 1.0]), (np.array([0, 0, 1]), np.array([1, 0, 1]))), shape=(2, 2))
    np.testing.assert_array_equal(identities([A]), [0, 0])


def test_more_clusters_than_samples_are_refused():
    check_n_clusters(3, 3)
    with pytest.raises(ValueError, match="n_samples=2 is below n_clusters=3; ask for at most 2"):
        check_n_clusters(3, 2)
