import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.solvers import working_sets as module
from kernelbraid.solvers.working_sets import SetMinima


def hessian(n=60, rank=None, seed=0):
    """A Hessian whose rows have sum zero, of curvature one; definite on vectors of sum zero unless a rank is given."""
    A = np.random.default_rng(seed).standard_normal((n, rank or n + 5))
    Q = A @ A.T + (0.0 if rank else 0.1) * np.eye(n)
    C = np.eye(n) - 1 / n
    Q = C @ Q @ C
    return Q / np.linalg.eigvalsh(Q)[-1]


def sets_of(sizes, n=60, seed=1):
    rng = np.random.default_rng(seed)
    working = np.zeros((len(sizes), n), dtype=bool)
    for row, size in zip(working, sizes, strict=True):
        row[rng.choice(n, size, replace=False)] = True
    return working


def slow_steps(Q, G, working):
    """The same from the conditions of optimality with the multiplier of the sum."""
    steps = np.zeros(G.shape)
    for step, g, inside in zip(steps, G, working, strict=True):
        s = np.count_nonzero(inside)
        A = np.zeros((s + 1, s + 1))
        A[:s, :s] = Q[np.ix_(inside, inside)]
        A[s, :s] = A[:s, s] = 1
        step[inside] = np.linalg.solve(A, np.r_[-g[inside], 0])[:s]
    return steps


# In no order, so that rows that are solved together lie apart; below and above the sizes where the route changes.
SIZES = [50, 3, 30, 1, 60, 12, 59, 25, 7, 40, 2, 24]


def gradients(p=12, n=60):
    return np.random.default_rng(2).standard_normal((p, n))


def test_steps_agree_with_the_conditions_of_optimality(xp):
    Q, G, working = hessian(), gradients(), sets_of(SIZES)
    steps = to_numpy(SetMinima(xp.asarray(Q), 1.0, 1e-13).steps(xp.asarray(G), xp.asarray(working)))
    np.testing.assert_allclose(steps, slow_steps(Q, G, working), atol=1e-9)
    assert np.all(steps[~working] == 0)
    np.testing.assert_allclose(steps.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "value"), [("MOST", 1.0), ("MOST", 0.0), ("SMALL", 0), ("SMALL", 99), ("BATCH_SIZE", 1)]
)
def test_every_route_leads_to_the_same_steps(monkeypatch, name, value):
    Q, G, working = hessian(), gradients(), sets_of(SIZES)
    monkeypatch.setattr(module, name, value)
    np.testing.assert_allclose(SetMinima(Q, 1.0, 1e-13).steps(G, working), slow_steps(Q, G, working), atol=1e-9)


def test_a_hessian_without_enough_digits_is_not_inverted():
    flat = hessian(rank=5)
    assert SetMinima(flat, 1.0, 1e-10).inverse is None
    working, G = sets_of([55, 40]), gradients(2) @ flat  # the slopes of functions that have a minimum
    minima = SetMinima(flat, 1.0, 1e-10)
    np.testing.assert_array_equal(minima.costs(working), [55.0**3, 40.0**3])
    steps = minima.steps(G, working)
    left = G + steps @ flat
    for slope, inside in zip(left, working, strict=True):
        assert np.ptp(slope[inside]) <= 1e-6 * np.abs(G).max()


def test_a_set_of_most_entries_costs_what_is_outside():
    minima = SetMinima(hessian(), 1.0, 1e-13)
    np.testing.assert_array_equal(minima.costs(sets_of([10, 36, 37, 60])), [1e3, 36.0**3, 23.0**3, 0])


def test_the_inverse_undoes_the_hessian_on_vectors_of_sum_zero(xp):
    Q = hessian()
    found = to_numpy(SetMinima(xp.asarray(Q), 1.0, 1e-13).inverse)
    np.testing.assert_allclose(found @ Q, np.eye(60) - 1 / 60, atol=1e-9)


def test_an_indefinite_hessian_gives_stationary_points():
    Q = hessian() - 0.2 * (np.eye(60) - 1 / 60)
    G, working = gradients(3), sets_of([30, 40, 8])
    left = G + SetMinima(Q, 1.0, 1e-14).steps(G, working) @ Q
    for slope, inside in zip(left, working, strict=True):
        assert np.ptp(slope[inside]) <= 1e-7
