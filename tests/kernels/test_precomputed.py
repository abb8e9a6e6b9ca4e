import numpy as np
import pytest
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import stack_kernels

K = np.array([[1.0, 0.5], [0.5, 1.0]])


def test_a_stack_and_a_list_are_the_same():
    for given in [np.stack([K, 2 * K]), [K, 2 * K], (K, 2 * K), [K.tolist(), (2 * K).tolist()]]:
        np.testing.assert_array_equal(stack_kernels(given), np.stack([K, 2 * K]))


def test_one_matrix_is_a_stack_of_one():
    np.testing.assert_array_equal(stack_kernels(K), K[None])
    np.testing.assert_array_equal(stack_kernels(sparse.csr_array(K)), K[None])


def test_sparse_kernels_become_dense():
    np.testing.assert_array_equal(stack_kernels([sparse.csr_array(K), K]), np.stack([K, K]))


def test_rounding_is_symmetrised_and_the_input_left_alone():
    A = K.copy()
    A[0, 1] += 1e-13
    before = A.copy()
    S = stack_kernels([A])[0]
    assert S[0, 1] == S[1, 0]
    np.testing.assert_array_equal(A, before)


def test_types():
    assert stack_kernels(K.astype(np.float32)).dtype == np.float32
    assert stack_kernels([K.astype(np.float32), K]).dtype == np.float64
    assert stack_kernels(np.eye(2, dtype=int)).dtype == np.float64


def test_other_backends_stay_where_they_are(xp):
    stack = stack_kernels(xp.asarray(np.stack([K, K])))
    np.testing.assert_array_equal(to_numpy(stack), np.stack([K, K]))
    assert type(stack) is type(xp.asarray(K))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((2, 3, 4)), r"kernel 0 of X has shape \(3, 4\); a kernel must be square"),
        ([K, np.eye(3)], r"kernel 1 of X has shape \(3, 3\); 2 samples need \(2, 2\)"),
        ([K, np.array([[1.0, 2.0], [0.0, 1.0]])], "kernel 1 of X is not symmetric"),
        ([np.zeros((2, 2))], "kernel 0 of X is zero everywhere"),
        ([K, K * np.nan], "kernel 1 of X contains NaN or infinity"),
        (np.ones(4), "precomputed kernels come as"),
        (np.ones((1, 2, 3, 4)), "precomputed kernels come as"),
        ([], "holds no kernel"),
        (np.empty((0, 3, 3)), "holds no kernel"),
    ],
)
def test_bad_kernels_get_a_clear_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        stack_kernels(given)
