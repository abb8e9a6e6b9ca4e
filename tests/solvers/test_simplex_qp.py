import daqp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbraid.solvers.simplex_qp import solve_simplex_qp, solve_simplex_qps


@st.composite
def programs(draw, definite=False):
    m = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    rank = m + 2 if definite else draw(st.integers(1, m + 2))
    A = rng.standard_normal((rank, m)) * 10 ** draw(st.floats(-3, 3))
    b = rng.standard_normal(rank) * 10 ** draw(st.floats(-3, 3))
    return A.T @ A, A.T @ b


def objective(Q, a, g):
    return 0.5 * g @ Q @ g - a @ g


def assert_optimal(Q, a, g):
    scale = np.trace(Q) / len(a) + np.abs(a).max()
    assert np.all(g >= 0)
    assert g.sum() == pytest.approx(1, abs=1e-12)
    gradient = Q @ g - a
    multipliers = gradient - g @ gradient
    assert multipliers.min() >= -1e-9 * scale  # no direction into the simplex descends
    assert np.abs(multipliers * g).max() <= 1e-9 * scale  # complementary slackness


@given(programs())
def test_solution_is_feasible_and_satisfies_the_optimality_conditions(program):
    assert_optimal(*program, solve_simplex_qp(*program))


@given(programs(definite=True))
def test_solution_agrees_with_a_second_solver(program):
    Q, a = program
    m = len(a)
    scale = np.trace(Q) / m
    bounds = np.r_[1.0, np.ones(m)], np.r_[1.0, np.zeros(m)]
    sense = np.r_[5, np.zeros(m)].astype(np.int32)  # 5: equality
    x, _, flag, _ = daqp.solve(
        Q / scale, -a / scale, np.vstack([np.ones((1, m)), np.eye(m)]), *bounds, sense, primal_tol=1e-10
    )
    assert flag == 1
    value = objective(Q, a, solve_simplex_qp(Q, a))
    assert value <= objective(Q, a, np.asarray(x)) + 1e-7 * (scale + np.abs(a).max())


@given(programs(), st.integers(0, 1000))
def test_the_starting_point_does_not_change_the_value(program, seed):
    Q, a = program
    start = np.random.default_rng(seed).dirichlet(np.full(len(a), 0.3))
    cold, warm = objective(Q, a, solve_simplex_qp(Q, a)), objective(Q, a, solve_simplex_qp(Q, a, start))
    assert warm == pytest.approx(cold, abs=1e-9 * (np.trace(Q) + np.abs(a).max()))


def test_a_vertex_is_found_exactly():
    np.testing.assert_array_equal(solve_simplex_qp(np.eye(3), np.array([0.0, 5.0, 0.0])), [0, 1, 0])


def test_zero_hessian_puts_all_weight_on_the_best_index():
    np.testing.assert_array_equal(solve_simplex_qp(np.zeros((3, 3)), np.array([0.0, 1.0, 3.0])), [0, 0, 1])


def test_what_is_not_finite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        solve_simplex_qp(np.full((2, 2), np.inf), np.zeros(2))


@given(programs(), st.integers(1, 6), st.integers(0, 1000))
def test_many_programs_at_once_give_the_single_solutions(program, count, seed):
    Q, a = program
    rng = np.random.default_rng(seed)
    slopes = np.stack([a + 0.3 * Q @ rng.standard_normal(len(a)) for _ in range(count)])
    starts = rng.dirichlet(np.full(len(a), 0.5), size=count)
    for slope, g in zip(slopes, solve_simplex_qps(Q, slopes, starts), strict=True):
        assert_optimal(Q, slope, g)
