import daqp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbraid.solvers.low_rank.weights import solve_simplex_lsq, solve_simplex_lsqs


@st.composite
def programs(draw, definite=False):
    m = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    rank = m + 2 if definite else draw(st.integers(1, m + 2))
    R = rng.standard_normal((rank, m)) * 10 ** draw(st.floats(-3, 3))
    b = rng.standard_normal(rank) * 10 ** draw(st.floats(-3, 3))
    return R, b


def objective(R, b, g):
    return 0.5 * np.sum((R @ g - b) ** 2)


def scale_of(R, b):
    return np.sum(R**2) / R.shape[1] + np.abs(R.T @ b).max()


def assert_optimal(R, b, g):
    assert np.all(g >= 0)
    assert g.sum() == pytest.approx(1, abs=1e-12)
    gradient = R.T @ (R @ g - b)
    multipliers = gradient - g @ gradient
    assert multipliers.min() >= -1e-9 * scale_of(R, b)  # no direction into the simplex descends
    assert np.abs(multipliers * g).max() <= 1e-9 * scale_of(R, b)  # complementary slackness


@given(programs())
def test_solution_is_feasible_and_satisfies_the_optimality_conditions(program):
    assert_optimal(*program, solve_simplex_lsq(*program))


@given(programs(definite=True))
def test_solution_agrees_with_a_second_solver(program):
    R, b = program
    m = R.shape[1]
    scale = np.sum(R**2) / m
    bounds = np.r_[1.0, np.ones(m)], np.r_[1.0, np.zeros(m)]
    sense = np.r_[5, np.zeros(m)].astype(np.int32)  # 5: equality
    constraints = np.vstack([np.ones((1, m)), np.eye(m)])
    x, _, flag, _ = daqp.solve(R.T @ R / scale, -R.T @ b / scale, constraints, *bounds, sense, primal_tol=1e-10)
    assert flag == 1
    assert objective(R, b, solve_simplex_lsq(R, b)) <= objective(R, b, np.asarray(x)) + 1e-7 * scale_of(R, b)


@given(programs(), st.integers(0, 1000))
def test_the_starting_point_does_not_change_the_value(program, seed):
    R, b = program
    start = np.random.default_rng(seed).dirichlet(np.full(R.shape[1], 0.3))
    cold, warm = objective(R, b, solve_simplex_lsq(R, b)), objective(R, b, solve_simplex_lsq(R, b, start))
    assert warm == pytest.approx(cold, abs=1e-9 * scale_of(R, b))


def test_a_vertex_is_found_exactly():
    np.testing.assert_array_equal(solve_simplex_lsq(np.eye(3), np.array([0.0, 5.0, 0.0])), [0, 1, 0])


def test_without_any_information_the_weights_stay_even():
    np.testing.assert_allclose(solve_simplex_lsq(np.zeros((3, 3)), np.zeros(3)), 1 / 3)


def test_nearly_dependent_columns_keep_the_digits_of_the_fit():
    # Columns that differ by 1e-10: their normal equations are singular, the nearest point is well defined.
    rng = np.random.default_rng(0)
    a, d = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    R = np.c_[a, a + 1e-10 * d]
    g = solve_simplex_lsq(R, a + 0.3e-10 * d)
    assert np.linalg.norm(R @ g - (a + 0.3e-10 * d)) < 1e-15
    np.testing.assert_allclose(g, [0.7, 0.3], atol=1e-4)


def test_what_is_not_finite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        solve_simplex_lsq(np.full((2, 2), np.inf), np.zeros(2))


@given(programs(), st.integers(1, 6), st.integers(0, 1000))
def test_many_problems_at_once_give_the_single_solutions(program, count, seed):
    R, b = program
    rng = np.random.default_rng(seed)
    targets = np.stack([b + 0.3 * R @ rng.standard_normal(R.shape[1]) for _ in range(count)])
    starts = rng.dirichlet(np.full(R.shape[1], 0.5), size=count)
    for target, g in zip(targets, solve_simplex_lsqs(R, targets, starts), strict=True):
        assert_optimal(R, target, g)
