import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize_scalar

from kernelbraid._arrays import to_numpy
from kernelbraid.ops import L1, NUCLEAR, nonnegative, singular_value_threshold, soft_threshold

elements = st.floats(-10, 10, allow_nan=False, width=32)
matrices = hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=elements)
thresholds = st.floats(0.01, 10)


@given(matrices, thresholds)
def test_soft_threshold_agrees_with_a_slow_scalar_minimisation(A, t):
    found = soft_threshold(A, t)
    for a, j in zip(A.ravel(), found.ravel(), strict=True):
        slow = minimize_scalar(lambda x, a=a: t * abs(x) + 0.5 * (x - a) ** 2, bounds=(-11, 11), method="bounded")
        assert t * abs(j) + 0.5 * (j - a) ** 2 <= slow.fun + 1e-9
        assert j == pytest.approx(slow.x, abs=1e-4)


@given(matrices, thresholds)
def test_soft_threshold_satisfies_its_optimality_condition(A, t):
    # A - J is t times a subgradient of the l1 norm at J.
    J = soft_threshold(A, t)
    step = A - J
    assert np.all(np.abs(step) <= t * (1 + 1e-12))
    np.testing.assert_allclose(step[J != 0], t * np.sign(J[J != 0]), rtol=1e-9, atol=1e-12)


@given(matrices, thresholds)
def test_singular_value_threshold_satisfies_its_optimality_condition(A, t):
    # A - J = t (U V' + N) with U' N = 0, N V = 0 and ||N||_2 <= 1: the subgradient of the nuclear norm.
    J = singular_value_threshold(A, t)
    residual = (A - J) / t
    scale = max(1.0, np.linalg.norm(A) / t)
    assert np.linalg.norm(residual, 2) <= 1 + 1e-9 * scale
    assert np.sum(residual * J) == pytest.approx(NUCLEAR.value(J), rel=1e-9, abs=1e-9 * scale)


@given(matrices, thresholds, st.randoms(use_true_random=False))
def test_singular_value_threshold_beats_every_neighbour(A, t, random):
    J = singular_value_threshold(A, t)

    def value(B):
        return t * np.linalg.svd(B, compute_uv=False).sum() + 0.5 * np.sum((B - A) ** 2)

    rng = np.random.default_rng(random.randint(0, 2**31))
    for size in (1e-3, 1e-1, 1.0):
        assert value(J) <= value(J + size * rng.standard_normal(J.shape)) + 1e-9


@given(hnp.arrays(float, 4, elements=elements), thresholds)
def test_singular_value_threshold_of_a_diagonal_matrix_is_the_soft_threshold(d, t):
    np.testing.assert_allclose(singular_value_threshold(np.diag(d), t), np.diag(soft_threshold(d, t)), atol=1e-12)


@pytest.mark.parametrize("penalty", [L1, NUCLEAR], ids=["l1", "nuclear"])
def test_penalty_is_its_own_value_at_the_moreau_envelope(penalty):
    # The prox never has a larger penalised value than the point it starts from.
    A = np.random.default_rng(0).standard_normal((6, 6))
    J = penalty.prox(A, 0.7)
    assert 0.7 * penalty.value(J) + 0.5 * np.sum((J - A) ** 2) < 0.7 * penalty.value(A)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_backends_agree_and_keep_the_type(xp, dtype):
    A = np.random.default_rng(0).standard_normal((7, 7))
    B = xp.asarray(A, dtype=getattr(xp, dtype))
    for operator in (soft_threshold, singular_value_threshold):
        found = operator(B, 0.5)
        assert found.dtype == B.dtype
        np.testing.assert_allclose(to_numpy(found), operator(A, 0.5), atol=1e-5 if dtype == "float32" else 1e-12)
    np.testing.assert_array_equal(to_numpy(nonnegative(B)), np.maximum(to_numpy(B), 0))
