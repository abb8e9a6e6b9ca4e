import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernelbraid._arrays import to_numpy
from kernelbraid.solvers.low_rank.penalties import L1, NUCLEAR, ROUTES
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES

elements = st.floats(-10, 10, allow_nan=False, width=32)
squares = st.integers(1, 5).flatmap(lambda n: hnp.arrays(float, (n, n), elements=elements))
thresholds = st.floats(0.01, 10)
every_penalty = pytest.mark.parametrize("penalty", GRAPH_PENALTIES.values(), ids=GRAPH_PENALTIES)
every_route = pytest.mark.parametrize("route", ROUTES)


def matrices(n=6, count=3, seed=0):
    """Plain ones, a symmetric one of positive values, and one of low rank."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((count, n, n))
    return np.concatenate([A, A[:1] @ A[:1].mT, A[:1, :, :2] @ A[:1, :, :2].mT])


def assert_minimises(penalty, A, t, J):
    """Compare J with others: t value(X) + 1/2 ||X - A||^2 grows at least by 1/2 ||X - J||^2 from its minimum."""

    def total(X):
        return t * penalty.value(X) + 0.5 * np.sum((X - A) ** 2)

    rng = np.random.default_rng(1)
    directions = [A - J, J, A, np.eye(len(A)), *rng.standard_normal((20, *A.shape))]
    rounding = 1e-9 * max(1.0, total(A), total(J))
    for D in directions:
        for size in (-1.0, -1e-2, -1e-4, 1e-4, 1e-2, 1.0):
            X = J + size * D
            assert total(X) >= total(J) + 0.5 * np.sum((X - J) ** 2) - rounding


@every_route
@every_penalty
def test_value_and_operator_belong_together_alone_and_in_a_batch(penalty, route):
    operator, A = penalty.operator(route), matrices()
    for matrix in A:
        for t in (0.1, 0.7, 3.0):
            assert_minimises(penalty, matrix, t, operator(matrix, t))
    t = np.geomspace(0.1, 3.0, len(A))[:, None, None]
    for matrix, threshold, J in zip(A, t, penalty.operator(route)(A, t), strict=True):
        assert_minimises(penalty, matrix, threshold.item(), J)


@every_penalty
def test_the_comparison_finds_an_operator_of_another_threshold(penalty):
    A = matrices()[0]
    for wrong in (0.5, 0.9, 1.1, 2.0):
        with pytest.raises(AssertionError):
            assert_minimises(penalty, A, 0.7, penalty.operator("auto")(A, 0.7 * wrong))


@every_penalty
def test_the_comparison_finds_the_operator_of_another_penalty(penalty):
    A = matrices()[0]
    for other in GRAPH_PENALTIES.values():
        if other is not penalty:
            with pytest.raises(AssertionError):
                assert_minimises(penalty, A, 0.7, other.operator("auto")(A, 0.7))


@every_penalty
def test_every_backend_gives_the_same_matrix_batch_and_value(foreign, penalty):
    A = matrices()
    t = np.geomspace(0.1, 3.0, len(A))[:, None, None]
    expected = penalty.operator("auto")(A, t)
    np.testing.assert_allclose(
        to_numpy(penalty.operator("auto")(foreign.asarray(A), foreign.asarray(t))),
        expected,
        atol=1e-9 * np.abs(A).max(),
    )
    one = to_numpy(penalty.operator("auto")(foreign.asarray(A[0]), t[0].item()))
    np.testing.assert_allclose(one, expected[0], atol=1e-9 * np.abs(A).max())
    assert penalty.value(foreign.asarray(A[0])) == pytest.approx(penalty.value(A[0]))


@every_penalty
def test_the_argument_is_not_changed(penalty):
    A = matrices()
    before = A.copy()
    penalty.operator("auto")(A[0], 0.5)
    penalty.operator("auto")(A, np.full((len(A), 1, 1), 0.5))
    np.testing.assert_array_equal(A, before)


def test_only_the_nuclear_norm_reports_a_rank_and_its_route():
    told = {}
    for name, penalty in GRAPH_PENALTIES.items():
        operator = penalty.operator("svd")
        operator(np.diag([3.0, 2.0, 0.1]), 1.0)
        told[name] = operator.used, operator.rank
    assert told == {"nuclear": ("svd", 2), "l1": ("soft", -1), "frobenius": ("scale", -1)}


def test_every_operator_starts_without_a_memory():
    NUCLEAR.operator("auto")(np.eye(4), 0.5)
    assert NUCLEAR.operator("auto").rank == -1


@given(squares, thresholds)
def test_the_nuclear_norm_satisfies_its_optimality_condition(A, t):
    # A - J = t (U V' + N) with U' N = 0, N V = 0 and ||N||_2 <= 1: the subgradient of the nuclear norm.
    J = NUCLEAR.operator("auto")(A, t)
    residual = (A - J) / t
    scale = max(1.0, np.linalg.norm(A) / t)
    assert np.linalg.norm(residual, 2) <= 1 + 1e-9 * scale
    assert np.sum(residual * J) == pytest.approx(NUCLEAR.value(J), rel=1e-9, abs=1e-9 * scale)


@given(hnp.arrays(float, 4, elements=elements), thresholds)
def test_the_nuclear_norm_of_a_diagonal_matrix_is_the_l1_norm(d, t):
    D = np.diag(d)
    np.testing.assert_allclose(NUCLEAR.operator("auto")(D, t), L1.operator("auto")(D, t), atol=1e-9)
    assert NUCLEAR.value(D) == pytest.approx(L1.value(D))
