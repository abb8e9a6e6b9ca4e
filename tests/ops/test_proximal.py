import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize_scalar

from kernelbraid._arrays import to_numpy
from kernelbraid.ops.closed_forms import nonnegative, scale_down, soft_threshold

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


def test_backends_agree_and_keep_the_type(xp):
    for dtype in ["float32", "float64"]:
        A = np.random.default_rng(0).standard_normal((7, 7))
        B = xp.asarray(A, dtype=getattr(xp, dtype))
        for operator in (soft_threshold, scale_down):
            found = operator(B, 0.5)
            assert found.dtype == B.dtype
            np.testing.assert_allclose(to_numpy(found), operator(A, 0.5), atol=1e-5 if dtype == "float32" else 1e-12)
        np.testing.assert_array_equal(to_numpy(nonnegative(B)), np.maximum(to_numpy(B), 0))
