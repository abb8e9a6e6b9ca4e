from itertools import pairwise

import daqp
import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_wine

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, StoredStack, build_bank, stack_bank
from kernelbraid.ops.closed_forms import power_weights
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.similarity import TwinProblem, solve_simplex, solve_twin, squared_distances, update_weights
from problems import blobs, rings

NOISE = np.random.default_rng(0).standard_normal((30, 6))
DATA = {
    "blobs": blobs(n=36)[0],
    "rings": rings(40)[0],
    "noise": NOISE,
    "copies": np.repeat(NOISE[:8], 4, axis=0),
    "wine": load_wine().data[::4],
}


@pytest.fixture(params=DATA)
def X(request):
    return DATA[request.param]


def follow(solve, *args, **options):
    """Run a solver and return its solution with the states it went through."""
    states = []
    solution = solve(*args, watch=lambda n, state: states.append(state), **options)
    return solution, states


def assert_descends(states, rtol=1e-9):
    values = np.array([state.progress.objective for state in states])
    assert np.diff(values).max(initial=-np.inf) <= rtol * np.abs(values).max()


def assert_rows_on_the_simplex(T):
    T = to_numpy(T)
    assert T.min() >= 0
    np.testing.assert_allclose(T.sum(axis=1), 1, atol=1e-12)


def explicit_costs(H, Z):
    return np.array([np.trace(K - 2 * K @ Z + Z.T @ K @ Z) for K in H])


def explicit_objective(problem, state, H):
    Z, S = state.T.T, (state.T + state.T.T) / 2
    smoothness = np.trace(state.F.T @ (np.diag(S.sum(axis=1)) - S) @ state.F)
    return state.a @ explicit_costs(H, Z) + problem.alpha * np.sum(Z**2) + problem.beta * smoothness


def test_ssr_descends_to_rows_on_the_simplex_with_a_zero_diagonal(X):
    solution, states = follow(solve_simplex, stack_bank(X, [Linear(None)]).store(), max_iter=100)
    assert solution.status is Status.CONVERGED
    assert_descends(states)
    assert_rows_on_the_simplex(solution.state.T)
    np.testing.assert_array_equal(np.diagonal(solution.state.T), 0)
    residual = np.sum((X.T - X.T @ solution.state.T.T) ** 2)
    assert solution.state.progress.objective == pytest.approx(residual, abs=1e-10 * np.sum(X**2))


def test_ssr_agrees_with_a_slow_reference():
    X = np.random.default_rng(1).standard_normal((6, 3))
    T = solve_simplex(StoredStack.of((X @ X.T)[None]), max_iter=100).state.T
    for i in range(6):
        others = np.delete(np.arange(6), i)
        slow = minimize(
            lambda z, i=i, others=others: np.sum((X[i] - z @ X[others]) ** 2),
            np.full(5, 0.2),
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert np.sum((X[i] - T[i] @ X) ** 2) <= slow.fun + 1e-9


def test_ssr_joins_views_feature_by_feature():
    X = DATA["noise"]
    both = solve_simplex(stack_bank([X[:, :2], X[:, 2:]], [Linear(None)]).store(), max_iter=100).state.T
    joined = solve_simplex(stack_bank(X, [Linear(None)]).store(), max_iter=100).state.T
    np.testing.assert_allclose(X.T @ both.T, X.T @ joined.T, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2])
def test_ssr_of_one_or_two_samples(n):
    X = np.array([[1.0, 2.0], [3.0, -1.0]])[:n]
    solution = solve_simplex(StoredStack.of((X @ X.T)[None]), max_iter=5)
    assert solution.status is Status.CONVERGED
    np.testing.assert_array_equal(solution.state.T, 1 - np.eye(n))


def twin(X, *, kernels=None, alpha=0.01, beta=0.01, learn_weights=False, k=3, storage="stored"):
    stack = stack_bank(X, kernels or [Gaussian(1.0)])
    return TwinProblem(stack.store() if storage == "stored" else stack, k, alpha, beta, learn_weights)


SETTINGS = [(1e-4, 1e-2), (1e-2, 1e-3), (1e-1, 1.0)]


def test_scsk_descends_to_rows_on_the_simplex(X):
    for kernel in [Gaussian(1.0), Gaussian(0.02), Linear("max")]:
        for alpha, beta in SETTINGS:
            problem = twin(X, kernels=[kernel], alpha=alpha, beta=beta)
            solution, states = follow(solve_twin, problem, max_iter=15, tol=1e-6)
            assert_descends(states)
            assert_rows_on_the_simplex(solution.state.T)
            np.testing.assert_array_equal(solution.state.a, 1)


def test_scmk_descends_to_rows_on_the_simplex(X):
    for bank in ["paper", "rmkkm"]:
        for alpha, beta in SETTINGS:
            problem = twin(X, kernels=bank, alpha=alpha, beta=beta, learn_weights=True)
            solution, states = follow(solve_twin, problem, max_iter=10, tol=1e-6)
            assert_descends(states)
            assert_rows_on_the_simplex(solution.state.T)
            assert np.sum(np.sqrt(solution.state.a)) == pytest.approx(1)


def test_recorded_objective_and_costs_are_what_their_formulas_say():
    problem = twin(DATA["noise"], kernels="paper", learn_weights=True)
    H = build_bank(DATA["noise"], "paper")
    solution, states = follow(solve_twin, problem, max_iter=4, tol=0.0)
    for state in states:
        np.testing.assert_allclose(state.costs, explicit_costs(H, state.T.T), rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(state.K, np.tensordot(state.a, H, 1), atol=1e-12)
        assert state.progress.objective == pytest.approx(explicit_objective(problem, state, H), rel=1e-9)
        np.testing.assert_allclose(state.F.T @ state.F, np.eye(3), atol=1e-10)
    for before, after in pairwise(states):
        np.testing.assert_allclose(after.a, power_weights(before.costs, 0.5), rtol=1e-10)
        change = np.linalg.norm(after.T - before.T) / np.linalg.norm(before.T)
        assert after.progress.change == pytest.approx(change, abs=1e-14)
    assert solution.n_iter == len(states)


def test_without_the_spectral_term_one_kernel_gives_the_start():
    for name in ("blobs", "rings", "noise"):
        problem = twin(DATA[name], beta=0.0)
        solution = solve_twin(problem, max_iter=10, tol=1e-8)
        assert solution.status is Status.CONVERGED
        assert solution.n_iter == 1
        np.testing.assert_allclose(solution.state.T, problem.start().T, atol=1e-8)


def test_a_strong_spectral_term_leaves_as_many_components_as_clusters():
    problem = twin(blobs(n=36)[0], kernels=[Gaussian(0.1)], alpha=0.1, beta=10.0)
    T = solve_twin(problem, max_iter=50, tol=1e-6).state.T
    S = (T + T.T) / 2
    values = np.linalg.eigvalsh(np.diag(S.sum(axis=1)) - S)
    assert values[2] < 1e-6


def constant(A, B):
    return np.ones((A.shape[0], B.shape[0]))


@pytest.mark.parametrize("storage", ["stored", "lazy"])
def test_a_constant_kernel_gets_no_weight(storage):
    problem = twin(DATA["noise"], kernels=[Gaussian(1.0), constant, Linear()], learn_weights=True, storage=storage)
    a = solve_twin(problem, max_iter=20, tol=1e-6).state.a
    assert a[1] == 0
    assert a[[0, 2]].min() > 0


def test_permuted_kernels_have_permuted_weights():
    H = build_bank(DATA["blobs"], [Gaussian(1.0), Gaussian(0.1), Linear("max"), Linear()])
    order = [2, 0, 3, 1]
    solutions = [
        solve_twin(TwinProblem(StoredStack.of(A), 3, 0.01, 0.01, True), max_iter=10, tol=1e-8) for A in (H, H[order])
    ]
    np.testing.assert_allclose(solutions[1].state.a, solutions[0].state.a[order], rtol=1e-5)
    np.testing.assert_allclose(solutions[1].state.T, solutions[0].state.T, atol=1e-6)


def test_stored_and_lazy_kernels_give_the_same_graph():
    stored, lazy = (
        solve_twin(
            twin(DATA["noise"], kernels="rmkkm", learn_weights=True, storage=storage), max_iter=5, tol=1e-6
        ).state
        for storage in ("stored", "lazy")
    )
    np.testing.assert_allclose(lazy.a, stored.a, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(lazy.T, stored.T, atol=1e-5)


def test_every_backend_gives_the_same_graph(foreign):
    for learn_weights in [False, True]:
        H = build_bank(DATA["noise"], [Gaussian(1.0), Linear("max")])
        H = H if learn_weights else H[:1]
        here, there = (
            solve_twin(TwinProblem(StoredStack.of(A), 3, 0.01, 0.01, learn_weights), max_iter=5, tol=1e-6).state
            for A in (H, foreign.asarray(H))
        )
        assert type(there.T) is type(foreign.asarray(H))
        np.testing.assert_allclose(to_numpy(there.T), here.T, atol=1e-7)
        np.testing.assert_allclose(there.a, here.a, rtol=1e-7)


def test_every_backend_solves_ssr(foreign):
    K = build_bank(DATA["noise"], [Linear(None)])
    T = solve_simplex(StoredStack.of(foreign.asarray(K)), max_iter=100).state.T
    expected = solve_simplex(StoredStack.of(K), max_iter=100).state.T
    np.testing.assert_allclose(to_numpy(T) @ DATA["noise"], expected @ DATA["noise"], atol=1e-6)


def test_squared_distances_are_those_of_rows(xp):
    F = np.random.default_rng(2).standard_normal((7, 3))
    expected = np.sum((F[:, None] - F[None]) ** 2, axis=2)
    np.testing.assert_allclose(to_numpy(squared_distances(xp.asarray(F))), expected, atol=1e-13)


def test_single_precision_stays_single():
    problem = twin(DATA["noise"].astype(np.float32), kernels="paper", learn_weights=True)
    solution, states = follow(solve_twin, problem, max_iter=5, tol=1e-6)
    assert solution.state.T.dtype == np.float32
    assert_descends(states, rtol=1e-4)


def slow_graph(problem, H, a, F):
    """The columns of Z, one by one, by a solver of general quadratic programs."""
    K, n = np.tensordot(a, H, 1), len(H[0])
    constraints, sense = np.vstack([np.ones((1, n)), np.eye(n)]), np.r_[5, np.zeros(n)].astype(np.int32)  # 5: equality
    lower, upper = np.r_[1.0, np.zeros(n)], np.ones(n + 1)
    spread = np.zeros((n, n)) if F is None else np.sum((F[:, None] - F[None]) ** 2, axis=2)
    unit = np.trace(K) / n
    Q = (2 * K + 2 * problem.alpha * np.eye(n)) / unit
    slopes = (-2 * K + problem.beta / 2 * spread) / unit
    return np.array([daqp.solve(Q, c, constraints, upper, lower, sense, primal_tol=1e-12)[0] for c in slopes])


def test_the_alternation_goes_the_way_of_a_slow_reference():
    X = DATA["noise"][:24]
    problem = twin(X, kernels=[Gaussian(1.0), Gaussian(0.1), Linear("max")], learn_weights=True, beta=0.1)
    H = build_bank(X, [Gaussian(1.0), Gaussian(0.1), Linear("max")])
    _, states = follow(solve_twin, problem, max_iter=4, tol=0.0)
    T = slow_graph(problem, H, power_weights(np.ones(3), 0.5), None)
    for state in states:
        a = power_weights(explicit_costs(H, T.T), 0.5)
        S = (T + T.T) / 2
        F = np.linalg.eigh(np.diag(S.sum(axis=1)) - S)[1][:, :3]
        T = slow_graph(problem, H, a, F)
        np.testing.assert_allclose(state.T, T, atol=1e-6)
        np.testing.assert_allclose(state.a, a, rtol=1e-6)


def test_an_error_that_is_rounding_does_not_decide_the_weights():
    problem = twin(1e4 * DATA["noise"], kernels=[Linear(None), Gaussian(1.0)], learn_weights=True)
    H = build_bank(1e4 * DATA["noise"], [Linear(None), Gaussian(1.0)])
    np.testing.assert_allclose(problem.rounding, 4 * 30 * np.finfo(float).eps * np.trace(H, axis1=1, axis2=2))
    a = [update_weights(np.array([h, 0.1]), problem.rounding, problem.unused) for h in (-1e-9, 0.0, 1e-9)]
    np.testing.assert_array_equal(a[1], a[0])
    np.testing.assert_array_equal(a[2], a[0])
    assert a[0][0] < 1
    large = np.array([50.0, 0.1])
    np.testing.assert_array_equal(update_weights(large, problem.rounding, problem.unused), power_weights(large, 0.5))
