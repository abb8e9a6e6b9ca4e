import numpy as np

from kernelbraid._arrays import quiet_overflow, to_numpy
from kernelbraid.solvers.low_rank.penalties import shrink_batch
from problems import singular_value_threshold


def test_thresholding_by_products_gives_the_singular_value_decomposition(xp):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 12, 12))
    A[1] *= 1e-6
    A[2] *= 1e6
    A[3, :, 6:] = 0  # singular
    A[4] = 0
    t = np.array([1.0, 2e-6, 1e3, 0.01, 1.0])[:, None, None]
    found = shrink_batch(xp.asarray(A), xp.asarray(t))
    for matrix, threshold, result in zip(A, t, to_numpy(found), strict=True):
        expected = singular_value_threshold(matrix, float(threshold[0, 0]))
        np.testing.assert_allclose(result, expected, atol=1e-9 * max(np.abs(matrix).max(), 1e-300))


def test_a_matrix_that_is_not_finite_leaves_the_others_of_its_batch_alone(xp):
    A = np.random.default_rng(0).standard_normal((4, 8, 8))
    A[1, 0, 0], A[2, 3, 4] = np.nan, np.inf
    with quiet_overflow():  # as in every iteration
        found = to_numpy(shrink_batch(xp.asarray(A), xp.asarray(np.full((4, 1, 1), 0.5))))
    for at in (0, 3):
        np.testing.assert_allclose(found[at], singular_value_threshold(A[at], 0.5), atol=1e-9)
