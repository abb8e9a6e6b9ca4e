import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbraid._arrays import LinAlgError, to_numpy
from kernelbraid.solvers.low_rank import penalties
from kernelbraid.solvers.low_rank.penalties import ROUTES, SingularValueThreshold
from problems import singular_value_threshold


def with_spectrum(values, seed=0, symmetric=False):
    rng = np.random.default_rng(seed)
    n = len(values)
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    A = (U * values) @ (U if symmetric else V).T
    return (A + A.T) / 2 if symmetric else A


SPECTRA = {
    "all pass, little spread": np.linspace(0.97, 1.03, 60),
    "all pass, wide": np.geomspace(0.01, 10, 60),
    "few pass": np.r_[np.linspace(5, 10, 3), np.linspace(0, 0.004, 57)],
    "one passes": np.r_[1.0, np.zeros(59)],
    "half pass": np.linspace(0, 0.012, 60),
    "none passes": np.full(60, 0.001),
    "zero": np.zeros(60),
}


def test_every_route_gives_the_result_of_the_singular_value_decomposition(xp):
    for route in ROUTES:
        for spectrum in SPECTRA:
            for symmetric in [False, True]:
                A = with_spectrum(SPECTRA[spectrum], symmetric=symmetric)
                shrink = SingularValueThreshold(route)
                found = shrink(xp.asarray(A), 0.006)
                expected = singular_value_threshold(A, 0.006)
                np.testing.assert_allclose(to_numpy(found), expected, atol=1e-11 * max(1, abs(A).max()))
                assert shrink.rank == np.count_nonzero(np.linalg.svd(A, compute_uv=False) > 0.006)
                assert shrink.used in ({"svd", "none"} if route == "svd" else {"gram", "svd", "none"})


@given(st.integers(0, 500), st.floats(0.001, 2.0), st.sampled_from(ROUTES))
def test_random_matrices(seed, t, route):
    A = np.random.default_rng(seed).standard_normal((9, 9))
    np.testing.assert_allclose(SingularValueThreshold(route)(A, t), singular_value_threshold(A, t), atol=1e-10)


def test_a_threshold_of_zero_changes_nothing_and_a_huge_one_leaves_nothing():
    A = np.random.default_rng(0).standard_normal((5, 5))
    shrink = SingularValueThreshold()
    np.testing.assert_array_equal(shrink(A, 0.0), A)
    assert (shrink.used, shrink.rank) == ("none", 5)
    np.testing.assert_array_equal(shrink(A, np.inf), 0 * A)
    assert (shrink.used, shrink.rank) == ("none", 0)


def test_values_too_small_for_the_gram_matrix_go_to_the_singular_value_decomposition():
    A = with_spectrum(np.r_[1.0, np.full(20, 1e-9)])
    shrink = SingularValueThreshold()
    np.testing.assert_allclose(shrink(A, 1e-10), singular_value_threshold(A, 1e-10), atol=1e-14)
    assert shrink.used == "svd"


def test_single_precision_is_as_exact_as_single_precision_can_be(xp):
    for spectrum in SPECTRA:
        A = with_spectrum(SPECTRA[spectrum])
        for route in ROUTES:
            found = SingularValueThreshold(route)(xp.asarray(A, dtype=xp.float32), 0.005)
            assert found.dtype == xp.float32
            np.testing.assert_allclose(
                to_numpy(found), singular_value_threshold(A, 0.005), atol=3e-6 * max(1, abs(A).max())
            )


def test_a_failing_decomposition_is_retried_by_another_route(monkeypatch):
    def fail(*args, **kwargs):
        raise LinAlgError

    monkeypatch.setattr(penalties, "gram_eigh", fail)
    A = with_spectrum(SPECTRA["half pass"])
    shrink = SingularValueThreshold()
    np.testing.assert_allclose(shrink(A, 0.006), singular_value_threshold(A, 0.006), atol=1e-12)
    assert shrink.used == "svd"


def test_what_is_not_finite_is_refused():
    with pytest.raises(LinAlgError, match="not finite"):
        SingularValueThreshold()(np.full((3, 3), np.nan), 0.1)


def test_a_batch_goes_through_products_whatever_the_route(xp):
    for route in ROUTES:
        A = np.stack([with_spectrum(values) for values in SPECTRA.values()])
        t = np.linspace(0.005, 0.006, len(A))
        shrink = SingularValueThreshold(route)
        found = to_numpy(shrink(xp.asarray(A), xp.asarray(t[:, None, None])))
        assert (shrink.used, shrink.rank) == ("products", -1)
        for matrix, threshold, result in zip(A, t, found, strict=True):
            expected = singular_value_threshold(matrix, threshold)
            np.testing.assert_allclose(result, expected, atol=1e-9 * max(1, abs(matrix).max()))
