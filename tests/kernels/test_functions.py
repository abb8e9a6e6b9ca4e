from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics.pairwise import euclidean_distances

from kernelbraid import kernels
from kernelbraid.kernels import Custom, Gaussian, Linear, Polynomial, build_bank, functions, local

samples = hnp.arrays(
    float, st.tuples(st.integers(2, 7), st.integers(1, 4)), elements=st.floats(-100, 100, allow_nan=False, width=32)
)
KERNELS = [
    Gaussian(0.5),
    Linear("cosine"),
    Linear("max"),
    Polynomial(0, 2, "cosine"),
    Polynomial(1, 4, "cosine"),
    Polynomial(1, 2, "max"),
    Polynomial(0, 4, "max"),
]


def one(X, kernel):
    return build_bank(X, [kernel])[0]


@given(samples, st.sampled_from(KERNELS))
def test_kernels_are_symmetric_bounded_and_positive_semidefinite(X, kernel):
    K = one(X, kernel)
    np.testing.assert_array_equal(K, K.T)
    assert np.abs(K).max() <= 1 + 1e-9
    # Rounding of a distance is magnified by |x|^2 / d_max^2 when samples nearly coincide far from the origin.
    spread = euclidean_distances(X).max()
    if spread > 1e-3 * np.abs(X).max():
        assert np.linalg.eigvalsh(K).min() > -1e-6


@given(
    samples, st.sampled_from([Linear("cosine"), Polynomial(0, 2, "cosine"), Polynomial(1, 4, "cosine"), Gaussian(1)])
)
def test_cosine_normalisation_gives_a_unit_diagonal(X, kernel):
    diagonal = np.diag(one(X, kernel))
    empty = ~X.any(axis=1)
    assert np.all((np.abs(diagonal - 1) < 1e-9) | (empty & (diagonal == 0)))


@given(samples, st.sampled_from([Linear("max"), Polynomial(0, 4, "max"), Polynomial(1, 2, "max")]))
def test_largest_element_is_one_under_max_normalisation(X, kernel):
    assert one(X, kernel).max() == pytest.approx(1 if X.any() or kernel != Linear("max") else 0) or not X.any()


def test_formulas():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
    G = X @ X.T
    D = euclidean_distances(X, squared=True)
    d = np.diag(G)
    np.testing.assert_allclose(one(X, Gaussian(0.3)), np.exp(-D / (0.3 * D.max())))
    np.testing.assert_allclose(one(X, Linear(None)), G)
    np.testing.assert_allclose(one(X, Polynomial(2, 3, None)), (2 + G) ** 3)
    np.testing.assert_allclose(one(X, Linear()), G / np.sqrt(np.outer(d, d)))
    P = (1 + G) ** 2
    np.testing.assert_allclose(one(X, Polynomial(1, 2)), P / np.sqrt(np.outer(np.diag(P), np.diag(P))))
    np.testing.assert_allclose(one(X, Polynomial(1, 2, "max")), P / P.max())


def test_the_scale_of_the_data_neither_overflows_nor_matters():
    for kernel in [Gaussian(0.5), Linear(), Linear("max"), Polynomial(0, 4), Polynomial(0, 4, "max")]:
        for factor in [1e-200, 1e-90, 1e120, 1e300]:
            X = np.random.default_rng(0).standard_normal((6, 3))
            np.testing.assert_allclose(one(X * factor, kernel), one(X, kernel), atol=1e-9)


def test_offset_polynomials_tend_to_their_limits():
    X = np.random.default_rng(0).standard_normal((6, 3))
    np.testing.assert_allclose(one(X * 1e200, Polynomial(1, 4)), one(X, Polynomial(0, 4)), atol=1e-9)
    np.testing.assert_allclose(one(X * 1e-200, Polynomial(1, 4)), np.ones((6, 6)), atol=1e-9)


def test_coinciding_samples_and_empty_rows_give_finite_kernels():
    for X in (np.zeros((3, 2)), np.ones((4, 2)), np.array([[0.0, 0.0], [1.0, 2.0]])):
        for kernel in KERNELS:
            assert np.isfinite(one(X, kernel)).all()


def test_impossible_kernels_are_refused_when_made():
    for make in [
        lambda: Gaussian(0.0),
        lambda: Gaussian(-1.0),
        lambda: Gaussian(float("nan")),
        lambda: Polynomial(-1.0, 2),
        lambda: Polynomial(0.0, 0),
        lambda: Polynomial(0.0, 1.5),
        lambda: Linear("l2"),
        lambda: Polynomial(0, 2, "unit"),
    ]:
        with pytest.raises(ValueError, match=r"must|unknown"):
            make()


def test_names_are_readable():
    assert [kernel.name for kernel in (Gaussian(2.0), Gaussian(2.0, "wide"), Linear(), Polynomial(1, 4))] == [
        "gaussian s=2",
        "wide",
        "linear",
        "polynomial (1 + x.y)^4",
    ]
    assert Custom(np.dot).name == "dot"


def test_a_kernel_that_overflows_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'polynomial \(0 \+ x.y\)\^4' overflows on X"):
        one(np.full((2, 2), 1e90), Polynomial(0, 4, None))


@pytest.mark.parametrize("module", [functions, local])
def test_a_kernel_is_exported_by_standing_in_its_module(module):
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
    ours = {kind for kind in kinds if is_dataclass(kind) and hasattr(kind, "matrix")} - {functions.Given}
    assert len(ours) > 1
    assert all(getattr(kernels, kind.__name__) is kind and kind.__name__ in kernels.__all__ for kind in ours)
