import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernelbraid._arrays import to_numpy
from kernelbraid.ops.closed_forms import project_to_simplex


def slow_projection(a):
    """Bisection for the threshold t with sum(max(a - t, 0)) = 1."""
    low, high = a.max() - 1, a.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(a - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(a - (low + high) / 2, 0)


points = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.floats(-50, 50), min_size=n, max_size=n), min_size=1, max_size=4)
)


@given(points)
def test_rows_agree_with_bisection(rows):
    A = np.array(rows)
    found = project_to_simplex(A)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-13)
    np.testing.assert_allclose(found, [slow_projection(a) for a in A], atol=1e-12)


@given(points, st.integers(0, 99))
def test_no_other_point_of_the_simplex_is_nearer(rows, seed):
    A = np.array(rows)
    P = project_to_simplex(A)
    others = np.random.default_rng(seed).dirichlet(np.ones(A.shape[1]), size=A.shape[0])
    assert np.all(np.sum((A - P) * (others - P), axis=1) <= 1e-10)  # the variational inequality


@given(st.integers(2, 9), st.integers(0, 999))
def test_forbidden_entries_are_zero_and_the_others_are_projected_alone(n, seed):
    rng = np.random.default_rng(seed)
    A, forbidden = 3 * rng.standard_normal((4, n)), rng.random((4, n)) < 0.5
    forbidden[:, 0] = False
    found = project_to_simplex(A, forbidden)
    for a, banned, row in zip(A, forbidden, found, strict=True):
        np.testing.assert_array_equal(row[banned], 0)
        np.testing.assert_allclose(row[~banned], slow_projection(a[~banned]), atol=1e-12)


def test_simplex_projection_keeps_a_feasible_point():
    P = np.random.default_rng(0).dirichlet(np.ones(6), size=20)
    np.testing.assert_allclose(project_to_simplex(P), P, atol=1e-15)


def test_a_forbidden_entry_may_be_the_largest_by_far():
    found = project_to_simplex(np.array([[1e9, 0.25, 0.25]]), np.array([[True, False, False]]))
    np.testing.assert_allclose(found, [[0, 0.5, 0.5]], atol=1e-15)


def test_numbers_of_any_size_give_rows_of_sum_one():
    for size in [1e-300, 1e8, 1e300]:
        A = size * np.array([[1.0, 1.0, -1.0, 0.5], [-1.0, -1.0, -1.0, -1.0]])
        found = project_to_simplex(A)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-15)
        np.testing.assert_allclose(found[1], 0.25)


def test_a_constant_in_a_row_changes_nothing():
    A = np.random.default_rng(1).standard_normal((5, 7))
    np.testing.assert_allclose(project_to_simplex(A + 1e6), project_to_simplex(A), atol=1e-9)


def test_every_backend_gives_the_same_rows_and_keeps_the_type(xp):
    rng = np.random.default_rng(2)
    A, forbidden = rng.standard_normal((6, 8)), np.eye(6, 8) > 0
    for dtype, atol in ((xp.float64, 1e-14), (xp.float32, 1e-6)):
        found = project_to_simplex(xp.asarray(A, dtype=dtype), xp.asarray(forbidden))
        assert found.dtype == dtype
        np.testing.assert_allclose(to_numpy(found), project_to_simplex(A, forbidden), atol=atol)


def test_the_argument_is_not_overwritten():
    A = np.random.default_rng(3).standard_normal((3, 4))
    before = A.copy()
    project_to_simplex(A, np.eye(3, 4) > 0)
    np.testing.assert_array_equal(A, before)
