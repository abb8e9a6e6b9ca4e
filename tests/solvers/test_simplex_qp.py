import daqp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from kernelbraid.solvers.simplex_qp import solve_simplex_qp
from kernelbraid.solvers.weights import combine, inner_products, nearest_combination, traces
from problems import blob_bank


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


def test_identical_kernels_share_their_weight():
    H = np.stack([np.eye(3), np.eye(3), np.ones((3, 3))])
    K = np.eye(3) + 0.1
    g = nearest_combination(inner_products(H), traces(K, H), np.full(3, 1 / 3))
    assert g[0] == pytest.approx(g[1])


def test_nearly_identical_kernels_give_the_nearest_combination():
    # The flat Gaussians of the bank make M singular to rounding; the weighted sum is well defined all the same.
    H, _ = blob_bank()
    rng = np.random.default_rng(0)
    K = combine(rng.dirichlet(np.ones(12)), H) + 0.05 * rng.random(H.shape[1:])
    g = nearest_combination(inner_products(H), traces(K, H), np.full(12, 1 / 12))
    heavy = 1e4 * np.linalg.norm(H)
    A = np.vstack([H.reshape(12, -1).T, heavy * np.ones(12)])
    other, _ = nnls(A, np.r_[K.ravel(), heavy], maxiter=5000)
    assert np.linalg.norm(K - combine(g, H)) <= np.linalg.norm(K - combine(other / other.sum(), H)) * (1 + 1e-9)
    assert_optimal(2 * inner_products(H), 2 * traces(K, H), g)
