from itertools import islice, pairwise

import daqp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.solvers import simplex_qp as module
from kernelbraid.solvers.simplex_qp import SimplexQP
from problems import blobs, rings


def curvature(Q):
    """Largest curvature along the simplex."""
    C = np.eye(len(Q)) - 1 / len(Q)
    return np.linalg.eigvalsh(C @ Q @ C)[-1]


def values(Q, B, T):
    return np.sum(T * (T @ Q / 2 - B), axis=1)


def assert_optimal(Q, B, T, *, zero_diagonal=False, tol=1e-8):
    T = to_numpy(T).astype(float)
    assert np.isfinite(T).all()
    assert T.min() >= 0
    np.testing.assert_allclose(T.sum(axis=1), 1, atol=max(1e-12, tol / 100))
    free = np.ones(T.shape, dtype=bool)
    if zero_diagonal:
        free = ~np.eye(len(Q), dtype=bool)
        np.testing.assert_array_equal(np.diagonal(T), 0)
    C = Q - Q.mean(axis=1) / 2 - Q.mean(axis=1)[:, None] / 2  # the same programs but for constants: no lost digits
    G = T @ C - (B - Q.mean(axis=1) / 2)
    slack = G - np.where(free, G, np.inf).min(axis=1, keepdims=True)
    size = curvature(Q) + np.abs(G - G.mean(axis=1, keepdims=True)).max()
    assert np.abs(T * slack).max() <= tol * size  # complementary slackness; slack is not negative by its definition


def problem(name):
    """A Hessian and linear terms as the graph methods have them: b is the Hessian without its ridge."""
    rng = np.random.default_rng(0)
    ridge = 0.0
    if name == "noise":
        A = rng.standard_normal((30, 40))
        K = A @ A.T
    elif name == "rank two":
        A = rng.standard_normal((40, 2))
        K = A @ A.T
    elif name == "copies":
        A = np.repeat(rng.standard_normal((8, 5)), 4, axis=0)
        K = A @ A.T
    elif name == "flat":
        K = build_bank(blobs(n=40)[0], [Gaussian(1e4)])[0]
        ridge = 1e-6
    elif name == "constant":
        K = np.ones((12, 12))
    elif name == "identity":
        K = np.eye(20)
    elif name == "rings":
        K, ridge = build_bank(rings(50)[0], [Gaussian(0.05)])[0], 0.01
    elif name == "blobs":
        K = build_bank(blobs(n=60)[0], [Linear(None)])[0]
    else:
        A = load_wine().data[:: 3 if name == "some wine" else 1]
        K = A @ A.T
    return K + ridge * np.eye(len(K)), K


PROBLEMS = ["noise", "rank two", "copies", "flat", "constant", "identity", "rings", "blobs", "wine"]


def test_rows_satisfy_the_optimality_conditions():
    for name in PROBLEMS:
        for zero_diagonal in [False, True]:
            Q, B = problem(name)
            T = SimplexQP.of(Q, zero_diagonal=zero_diagonal).solve(B)
            assert_optimal(Q, B, T, zero_diagonal=zero_diagonal)


def test_samples_far_from_the_origin_are_expressed_as_well_as_centred_ones():
    for far in [1.0, 100.0, 1e4]:
        A = np.random.default_rng(0).standard_normal((30, 3))
        residuals = []
        for X in (A, A + far):  # inner products of 1e8 hold differences of 1 to eight digits
            K = X @ X.T
            T = SimplexQP.of(K, zero_diagonal=True).solve(K)
            residuals.append(np.sum((A - T @ A) ** 2, axis=1))
        np.testing.assert_allclose(residuals[1], residuals[0], atol=1e-6)


# Whether it happens depends on the last digits of the products, and so on BLAS.
def test_few_steps_give_every_row_a_certificate():
    X = np.random.default_rng(0).standard_normal((30, 3)) + 10
    K = X @ X.T
    path = list(islice(SimplexQP.of(K, zero_diagonal=True).descend(K), 12))
    assert path[-1].n_open == 0


def test_the_scale_of_the_problem_does_not_change_the_rows():
    for size in [1e-100, 1e-10, 1e10, 1e100]:
        Q, B = problem("noise")
        expected = SimplexQP.of(Q, zero_diagonal=True).solve(B)
        np.testing.assert_allclose(SimplexQP.of(Q * size, zero_diagonal=True).solve(B * size), expected, atol=1e-8)


@st.composite
def programs(draw, definite=False):
    n, p = draw(st.integers(2, 12)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    rank = n + 2 if definite else draw(st.integers(1, n + 2))
    A = rng.standard_normal((n, rank)) * 10 ** draw(st.floats(-3, 3))
    return A @ A.T, rng.standard_normal((p, n)) * 10 ** draw(st.floats(-3, 3))


@given(programs())
def test_random_programs_satisfy_the_optimality_conditions(program):
    Q, B = program
    assert_optimal(Q, B, SimplexQP.of(Q).solve(B))


@given(programs())
def test_random_programs_with_a_zero_diagonal_satisfy_the_optimality_conditions(program):
    Q, _ = program
    assert_optimal(Q, Q, SimplexQP.of(Q, zero_diagonal=True).solve(Q), zero_diagonal=True)


@given(programs(definite=True), st.booleans())
def test_rows_agree_with_a_second_solver(program, zero_diagonal):
    Q, B = program
    n = len(Q)
    if zero_diagonal:
        B = Q
    unit = np.trace(Q) / n + np.abs(B).max()
    T = SimplexQP.of(Q, zero_diagonal=zero_diagonal).solve(B)
    constraints, sense = np.vstack([np.ones((1, n)), np.eye(n)]), np.r_[5, np.zeros(n)].astype(np.int32)  # 5: equality
    for i, (b, t) in enumerate(zip(B, T, strict=True)):
        upper = np.ones(n + 1)
        if zero_diagonal:
            upper[1 + i] = 0.0
        x, _, flag, _ = daqp.solve(
            Q / unit, -b / unit, constraints, upper, np.r_[1.0, np.zeros(n)], sense, primal_tol=1e-10
        )
        assert flag == 1
        assert values(Q, b, t[None])[0] <= values(Q, b, np.asarray(x)[None])[0] + 1e-7 * unit


@given(programs(), st.integers(0, 1000))
def test_a_warm_start_does_not_change_the_value(program, seed):
    Q, B = program
    start = np.random.default_rng(seed).dirichlet(np.full(len(Q), 0.3), size=len(B))
    qp = SimplexQP.of(Q)
    cold, warm = qp.solve(B), qp.solve(B, start)
    assert_optimal(Q, B, warm)
    size = np.trace(Q) + np.abs(B).max()
    np.testing.assert_allclose(values(Q, B, warm), values(Q, B, cold), atol=1e-8 * size)


def test_a_solution_as_warm_start_is_kept_as_it_is():
    Q, B = problem("noise")
    qp = SimplexQP.of(Q)
    T = qp.solve(B)
    before = T.copy()
    np.testing.assert_array_equal(qp.solve(B, T), before)
    first = next(qp.descend(B, T))
    assert first.n_open == 0


def test_no_row_gets_worse_on_its_way():
    for name in [*PROBLEMS[:-1], "some wine"]:
        for zero_diagonal in [False, True]:
            for warm in [False, True]:
                Q, B = problem(name)
                qp, n = SimplexQP.of(Q, zero_diagonal=zero_diagonal), len(Q)
                start = None
                if warm:
                    start = np.random.default_rng(1).dirichlet(np.full(n, 0.2), size=n)
                    if zero_diagonal:
                        np.fill_diagonal(start, 0)
                        start /= start.sum(axis=1, keepdims=True)
                path = [
                    qp.start(B) if start is None else start,
                    *(found.T for found in islice(qp.descend(B, start), 9)),
                ]
                C = Q - Q.mean(axis=1) / 2 - Q.mean(axis=1)[:, None] / 2
                D = B - Q.mean(axis=1) / 2
                along = np.array([values(C, D - D.mean(axis=1, keepdims=True), T) for T in path])
                # The iteration tells points apart by the rounding of their gradients, several times in a step.
                assert np.diff(along, axis=0).max() <= 1e-12 * (np.abs(along).max() + np.abs(Q).max())


def test_the_number_of_open_rows_falls_to_zero_and_then_nothing_changes():
    Q, B = problem("blobs")
    path = list(islice(SimplexQP.of(Q, zero_diagonal=True).descend(B), 30))
    assert path[-1].n_open == 0
    assert all(after.n_open <= before.n_open for before, after in pairwise(path))
    done = [found.T for found in path if found.n_open == 0]
    for T in done[1:]:
        np.testing.assert_array_equal(T, done[0])


def test_two_samples_express_each_other():
    Q = np.array([[2.0, 0.3], [0.3, 1.0]])
    np.testing.assert_array_equal(SimplexQP.of(Q, zero_diagonal=True).solve(Q), [[0, 1], [1, 0]])
    assert_optimal(Q, Q, SimplexQP.of(Q).solve(Q))


def test_one_variable_and_one_row_are_enough():
    np.testing.assert_array_equal(SimplexQP.of(np.array([[3.0]])).solve(np.array([[5.0]])), [[1.0]])
    Q, B = problem("rings")
    assert_optimal(Q, B[:1], SimplexQP.of(Q).solve(B[:1]))


def test_a_vertex_is_found_exactly():
    T = SimplexQP.of(np.eye(3)).solve(np.array([[0.0, 5.0, 0.0]]))
    np.testing.assert_array_equal(T, [[0, 1, 0]])


def test_without_any_information_rows_stay_even():
    np.testing.assert_allclose(SimplexQP.of(np.zeros((4, 4))).solve(np.zeros((2, 4))), 0.25)
    even = SimplexQP.of(np.ones((4, 4)), zero_diagonal=True).solve(np.ones((4, 4)))
    np.testing.assert_allclose(even, (1 - np.eye(4)) / 3, atol=1e-15)


def test_a_constant_added_to_a_row_of_the_linear_terms_changes_nothing():
    Q, B = problem("rings")
    qp = SimplexQP.of(Q)
    shift = 10 * np.random.default_rng(4).standard_normal((len(Q), 1))
    np.testing.assert_allclose(qp.solve(B + shift), qp.solve(B), atol=1e-8)


def test_single_precision_is_solved_to_its_own_precision():
    for name in ["noise", "copies", "rings", "flat"]:
        Q, B = (A.astype(np.float32) for A in problem(name))
        T = SimplexQP.of(Q).solve(B)
        assert T.dtype == np.float32
        Q, B, size = Q.astype(float), B.astype(float), np.abs(Q).max()
        exact = SimplexQP.of(Q).solve(B)
        np.testing.assert_allclose(T.sum(axis=1), 1, atol=1e-5)
        assert np.all(T >= 0)
        assert (values(Q, B, T) - values(Q, B, exact)).max() <= 1e-4 * size


def test_every_backend_finds_the_minimum(xp):
    for name in ["noise", "copies", "rings"]:
        for zero_diagonal in [False, True]:
            Q, B = problem(name)
            T = SimplexQP.of(xp.asarray(Q), zero_diagonal=zero_diagonal).solve(xp.asarray(B))
            assert type(T) is type(xp.asarray(Q))
            assert_optimal(Q, B, T, zero_diagonal=zero_diagonal)
            expected = SimplexQP.of(Q, zero_diagonal=zero_diagonal).solve(B)
            np.testing.assert_allclose(values(Q, B, to_numpy(T)), values(Q, B, expected), atol=1e-9 * np.abs(Q).max())


def test_every_backend_takes_warm_starts(xp):
    Q, B = problem("noise")
    start = xp.asarray(np.random.default_rng(5).dirichlet(np.full(30, 0.3), size=30))
    T = SimplexQP.of(xp.asarray(Q)).solve(xp.asarray(B), start)
    assert_optimal(Q, B, T)
    np.testing.assert_allclose(to_numpy(T), SimplexQP.of(Q).solve(B), atol=1e-5)


def test_a_small_budget_changes_nothing_but_the_time(monkeypatch):
    Q, B = problem("noise")
    expected = SimplexQP.of(Q).solve(B)
    monkeypatch.setattr(module, "DEAR", 0.5)
    np.testing.assert_allclose(SimplexQP.of(Q).solve(B), expected, atol=1e-8)


def spread_out(n=50, ridge=0.1):
    """Programs whose minima have nearly all entries, as those of a nearly diagonal kernel with a small ridge."""
    A = np.random.default_rng(8).uniform(size=(n, 4000))
    K = np.corrcoef(A)
    return K + ridge * np.eye(n), K


def test_rows_with_nearly_all_entries_are_solved():
    Q, B = spread_out()
    T = SimplexQP.of(Q).solve(B)
    assert_optimal(Q, B, T, tol=1e-10)


def refuse(*arguments):
    raise AssertionError("only blocks are exchanged")


@pytest.mark.parametrize("make", [spread_out, lambda: problem("rings"), lambda: problem("flat")])
def test_blocks_alone_give_certificates_for_a_hessian_with_a_ridge(monkeypatch, make):
    Q, B = make()
    monkeypatch.setattr(SimplexQP, "_pivot", refuse)
    qp = SimplexQP.of(Q)
    T = qp.solve(B)
    assert_optimal(Q, B, T)
    # From the minimum of a problem nearby, as from the last step of an alternation: one phase, no gradient steps.
    monkeypatch.setattr(SimplexQP, "_accelerate", refuse)
    near = B + 0.02 * np.random.default_rng(9).uniform(size=B.shape) * np.ptp(B)
    found = next(qp.descend(near, T))
    assert found.n_open == 0
    assert_optimal(Q, near, found.T)


def test_rows_beyond_the_budget_are_left_to_gradients(monkeypatch):
    Q, B = problem("noise")
    expected = SimplexQP.of(Q).solve(B)
    monkeypatch.setattr(module, "DEAR", 0.0)
    monkeypatch.setattr(SimplexQP, "_step", refuse)
    qp = SimplexQP.of(Q)
    T = np.random.default_rng(7).permuted(np.repeat([[0.25, 0.0]], [4, 26], axis=1).repeat(30, axis=0), axis=1)
    np.testing.assert_array_equal(qp._exchange_blocks(T, B - qp.shift, None), T)
    monkeypatch.undo()
    np.testing.assert_allclose(qp.solve(B, T), expected, atol=1e-8)


def indefinite(n=40):
    """A kernel with a few negative eigenvalues, as local ones have them."""
    A = np.random.default_rng(3).standard_normal((n, n + 5))
    values, vectors = np.linalg.eigh(A @ A.T)
    return (vectors * np.where(np.arange(n) < 3, -0.05 * values[-1], values)) @ vectors.T


def test_rows_of_an_indefinite_hessian_never_get_worse():
    Q = indefinite()
    qp = SimplexQP.of(Q, zero_diagonal=True)
    path = [qp.start(Q), *(found.T for found in islice(qp.descend(Q), 9))]
    along = np.array([values(Q, Q, T) for T in path])
    assert np.isfinite(path[-1]).all()
    assert np.diff(along, axis=0).max() <= 1e-12 * np.abs(along).max()
    assert np.all(along[-1] < along[0])
