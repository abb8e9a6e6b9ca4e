import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import stack_given
from kernelbraid.solvers.graph_fusion import centred_rows, view_distances

X = np.random.default_rng(0).normal(size=(9, 5)) + 2


def squared(A):
    return ((A[:, None] - A[None]) ** 2).sum(axis=2)


def test_standardised_samples_have_the_distances_of_centred_rows_of_one_length(xp):
    standard = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)
    rows = to_numpy(centred_rows(xp.asarray(X)))
    (found,) = view_distances(stack_given(xp.asarray((rows @ rows.T)[None])), [4.0], centred=False)
    np.testing.assert_allclose(to_numpy(found), squared(standard), atol=1e-8)


def test_a_sample_without_length_stays_in_the_origin():
    samples = np.vstack([X, np.zeros((2, 5))])
    (found,) = view_distances(stack_given((samples @ samples.T)[None]), [1.0], centred=False)
    np.testing.assert_allclose(found[-1], [*np.ones(9), 0, 0], atol=1e-9)


def test_the_mean_of_the_samples_does_not_matter_where_they_are_centred():
    moved = X + 5
    near, far = (next(view_distances(stack_given((A @ A.T)[None]), [8.0], centred=True)) for A in (X, moved))
    np.testing.assert_allclose(near, far, atol=1e-6)


def test_a_negative_kernel_is_named_by_its_number():
    H = np.stack([X @ X.T, -X @ X.T])
    with pytest.raises(ValueError, match=r"^kernel 1 of X is no inner product"):
        list(view_distances(stack_given(H), [1.0, 1.0], centred=False))
