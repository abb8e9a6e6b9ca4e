import numpy as np
import pytest
from scipy import sparse

from kernelbraid.files.stored import Stored, check_indices, is_label_array, is_sample_array, to_csr


def stored(*shape, dtype="f8", is_sparse=False):
    return Stored(shape, np.dtype(dtype), lambda: np.zeros(shape), is_sparse=is_sparse)


def test_what_can_be_samples_or_labels_is_told_by_shape_and_type():
    assert is_sample_array(stored(3, 2))
    assert is_sample_array(stored(2, 3, 3))
    assert not is_sample_array(stored(3, 1))
    assert not is_sample_array(stored(3, 2, dtype="U1"))
    assert is_label_array(stored(3, dtype="U1"))
    assert is_label_array(stored(1, 3))
    assert not is_label_array(stored(3, 2))
    assert not is_label_array(stored(1, 3, is_sparse=True))
    assert not is_label_array(stored(1, 1, dtype="V8"))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_a_matrix_of_zeros_with_places_beyond_its_entries_is_refused(kind):
    # SciPy's own check passes, and its conversion reads memory that is not its own.
    matrix = kind((2, 2))
    matrix.indptr = np.array([0, 9, 0], dtype=np.int32)
    with pytest.raises(ValueError, match="do not grow"):
        to_csr(matrix)


def test_entries_are_at_whole_places():
    check_indices(np.array([1]), np.array([1], dtype="u8"))
    with pytest.raises(ValueError, match="no whole numbers"):
        check_indices(np.array([1]), np.array([0.5]))
