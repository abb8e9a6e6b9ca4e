import numpy as np

from kernelbraid.files.stored import Stored, is_label_array, is_sample_array


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
