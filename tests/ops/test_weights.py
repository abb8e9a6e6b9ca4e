import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbraid.ops.closed_forms import power_weights

exponents = st.floats(0.05, 0.95)
costs = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=12).map(np.array)


@given(costs, exponents)
def test_weights_are_feasible_and_no_other_feasible_ones_cost_less(h, gamma):
    a = power_weights(h, gamma)
    assert a.min() >= 0
    assert np.sum(a**gamma) == pytest.approx(1)
    others = np.random.default_rng(0).dirichlet(np.ones(len(h)), size=50) ** (1 / gamma)
    assert a @ h <= (others @ h).min() * (1 + 1e-9)


@given(costs)
def test_an_exponent_of_one_half_gives_squares_of_inverse_costs_with_sum_one(h):
    np.testing.assert_allclose(power_weights(h), (1 / h / np.sum(1 / h)) ** 2, rtol=1e-10)


@given(costs, exponents, st.sampled_from([1e-290, 1e-30, 1e30, 1e290]))
def test_the_unit_of_the_costs_does_not_matter(h, gamma, unit):
    np.testing.assert_allclose(power_weights(h * unit, gamma), power_weights(h, gamma), rtol=1e-6, atol=1e-300)


@given(costs, exponents, st.integers(0, 99))
def test_permuted_costs_give_permuted_weights(h, gamma, seed):
    order = np.random.default_rng(seed).permutation(len(h))
    np.testing.assert_allclose(power_weights(h[order], gamma), power_weights(h, gamma)[order], rtol=1e-10)


def test_cheaper_kernels_weigh_more():
    assert np.all(np.diff(power_weights(np.array([1.0, 2.0, 3.0]), 0.3)) < 0)


def test_an_infinite_cost_gets_no_weight():
    np.testing.assert_allclose(power_weights(np.array([1.0, np.inf, 1.0])), [0.25, 0, 0.25])


def test_costs_of_zero_share_the_weight():
    np.testing.assert_allclose(power_weights(np.array([0.0, 1e-9, 0.0, np.inf])), [0.25, 0, 0.25, 0])


def test_one_kernel_gets_weight_one_whatever_it_costs():
    for cost in (0.0, 1e-300, 1.0, 1e300):
        np.testing.assert_allclose(power_weights(np.array([cost]), 0.7), [1.0])


def test_leading_axes_are_problems_of_their_own():
    h = np.random.default_rng(0).random((3, 2, 5))
    h[1, 1, 2] = 0.0
    expected = [[power_weights(row, 0.4) for row in block] for block in h]
    np.testing.assert_allclose(power_weights(h, 0.4), expected)


def test_an_exponent_near_one_takes_the_cheapest_and_one_near_zero_takes_all_alike():
    h = np.array([1.0, 1.1, 2.0])
    np.testing.assert_allclose(power_weights(h, 1 - 1e-6), [1, 0, 0], atol=1e-9)
    small = power_weights(h, 0.02)
    assert small.min() / small.max() > 0.45


def test_the_smallest_exponent_of_the_estimators_does_not_overflow():
    shares = power_weights(np.ones(12), 0.01)
    np.testing.assert_allclose(shares / shares.sum(), np.full(12, 1 / 12))
