from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import StoredStack, build_bank, stack_given
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.kernel_kmeans import MinMaxProblem, comparable_kernels, descent_line, solve_min_max
from problems import blobs, relative_gap, rival, rival_kernels

BANK = build_bank(blobs(n=36)[0] + np.random.default_rng(0).normal(size=(36, 6)), "rmkkm")[2:9]
RIVALS = [("yale", 15), ("webkb203", 4), ("ngs", 5)]


def problem(H=BANK, k=3, *, exact=False):
    return MinMaxProblem(comparable_kernels(stack_given(H)), k, exact)


def solve(H=BANK, k=3, *, exact=False, tol=1e-5, **options):
    return solve_min_max(problem(H, k, exact=exact), max_iter=200, tol=tol, **options)


def test_the_value_is_the_largest_trace_of_any_partition():
    posed, rng = problem(), np.random.default_rng(0)
    w = rng.dirichlet(np.ones(7))
    H = posed.partition(w)
    K = posed.kernels.combine(w**2)
    assert np.trace(H.T @ K @ H) == pytest.approx(posed.value(w))
    for _ in range(20):
        other, _ = np.linalg.qr(H + 0.1 * rng.normal(size=H.shape))
        assert np.trace(other.T @ K @ other) <= posed.value(w)


def test_the_gradient_is_that_of_the_value():
    posed, w, small = problem(), np.full(7, 1 / 7), 1e-5
    slopes = [(posed.value(w + small * d) - posed.value(w - small * d)) / (2 * small) for d in np.eye(7)]
    np.testing.assert_allclose(posed.gradient(w, posed.partition(w)), slopes, rtol=1e-6)


def test_a_line_keeps_the_sum_and_no_weight_that_is_zero_falls():
    rng = np.random.default_rng(0)
    for _ in range(50):
        w = rng.dirichlet(np.ones(6)) * (rng.random(6) < 0.7)
        w = np.where(w.sum() > 0, w / max(w.sum(), 1e-9), 1 / 6)
        gradient = rng.random(6)
        line = descent_line(w, gradient)
        assert abs(line.d.sum()) < 1e-12
        assert (line.d[w == 0] >= 0).all()
        assert line.d @ gradient <= 1e-12
        if line.reach > 0:
            end = line.turn(line.reach)
            assert end.w.min() >= 0
            assert end.w.sum() == pytest.approx(1)
            assert np.count_nonzero(end.w) <= np.count_nonzero(w + (line.d > 0))


@pytest.mark.parametrize("exact", [False, True])
def test_the_value_never_rises_and_the_weights_stay_on_the_simplex(exact):
    seen = []
    solution = solve(exact=exact, watch=lambda n, state: seen.append(state) and None)
    assert solution.status is Status.CONVERGED
    values = [problem().value(np.full(7, 1 / 7)), *(state.value for state in seen)]
    assert all(after <= before for before, after in pairwise(values))
    for state in seen:
        assert state.w.min() >= 0
        assert state.w.sum() == pytest.approx(1, abs=1e-12)
        assert problem().value(state.w) == pytest.approx(state.value, rel=1e-10)
        np.testing.assert_allclose(state.H.T @ state.H, np.eye(3), atol=1e-10)


def test_the_exact_form_finds_the_minimum_and_its_partition():
    posed, state = problem(), solve(exact=True, tol=1e-7).state
    sums = {"type": "eq", "fun": lambda w: w.sum() - 1}
    found = minimize(posed.value, np.full(7, 1 / 7), bounds=[(0, 1)] * 7, constraints=sums, tol=1e-12)
    assert state.value <= found.fun * (1 + 1e-8)
    np.testing.assert_allclose(state.w, found.x, atol=2e-3)
    P = posed.partition(state.w)
    np.testing.assert_allclose(state.H @ state.H.T, P @ P.T, atol=1e-9)


def test_copies_of_a_kernel_share_what_one_of_them_has_in_the_limit():
    w = solve(np.stack([BANK[0], BANK[3], BANK[3]]), exact=True, tol=1e-7).state.w
    assert w[1] == pytest.approx(w[2], abs=1e-3)


def test_one_kernel_has_all_the_weight():
    solution = solve(BANK[:1])
    assert (solution.status, solution.n_iter) == (Status.CONVERGED, 1)
    assert solution.state.w.tolist() == [1.0]


def test_every_array_library_takes_the_same_path(foreign):
    expected, found = solve(), solve(foreign.asarray(BANK))
    np.testing.assert_allclose(found.state.w, expected.state.w, atol=1e-8)
    H, G = to_numpy(found.state.H), expected.state.H
    np.testing.assert_allclose(H @ H.T, G @ G.T, atol=1e-6)


def test_comparable_kernels_leave_the_kernels_alone():
    H = BANK.copy()
    stack = comparable_kernels(stack_given(H))
    np.testing.assert_array_equal(H, BANK)
    assert isinstance(stack, StoredStack)
    for row in np.eye(7):
        K = stack.combine(row)
        np.testing.assert_allclose(np.diagonal(K), 1, atol=1e-9)
        assert np.linalg.eigvalsh(K)[0] > -1e-9


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k"), RIVALS)
def test_weights_and_partition_are_those_of_the_authors_code(name, k):
    known, seen = rival("simplemkkm", name), []
    state = solve(rival_kernels(name), k, watch=lambda n, state: seen.append(state.w) and None).state
    assert len(seen) + 1 == known["n_iter"]  # it counts the start
    assert relative_gap(np.array(seen), known["weights"][1:]) < 1e-8
    assert relative_gap(state.H @ state.H.T, known["H"] @ known["H"].T) < 1e-8


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k"), RIVALS[1:2])
def test_the_exact_form_has_the_weights_of_another_solver(name, k):
    known = rival("simplemkkm", name)
    state = solve(rival_kernels(name), k, exact=True).state
    np.testing.assert_allclose(state.w, known["optimum_weights"], atol=1e-6)
    assert state.value == pytest.approx(float(known["optimum_objective"]), rel=1e-11)
