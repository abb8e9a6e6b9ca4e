import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.solvers.weights import combine, inner_products, nearest_combination, traces
from problems import blob_bank


def test_sums_and_traces_are_what_their_formulas_say(xp):
    H, _ = blob_bank()
    rng = np.random.default_rng(0)
    g, K = rng.dirichlet(np.ones(12)), rng.random(H.shape[1:])  # K is not symmetric
    stack = xp.asarray(H)
    np.testing.assert_allclose(to_numpy(combine(g, stack)), sum(w * h for w, h in zip(g, H, strict=True)), rtol=1e-12)
    np.testing.assert_allclose(inner_products(stack), [[np.trace(a @ b) for b in H] for a in H], rtol=1e-12)
    np.testing.assert_allclose(traces(xp.asarray(K), stack), [np.trace(K @ h) for h in H], rtol=1e-12)


def test_a_combination_of_kernels_is_its_own_nearest_combination():
    H, _ = blob_bank()
    K = combine(np.r_[0.5, 0.2, np.zeros(5), 0.3, np.zeros(4)], H)
    g = nearest_combination(inner_products(H), traces(K, H), np.full(12, 1 / 12))
    np.testing.assert_allclose(combine(g, H), K, atol=1e-7)


def test_the_printed_problem_projects_a_quarter_of_the_kernel():
    H, _ = blob_bank()
    M, start = inner_products(H), np.full(12, 1 / 12)
    K = H[3] + H[8]
    printed = nearest_combination(M, traces(K, H), start, pull=0.5)
    quarter = nearest_combination(M, traces(K / 4, H), start)
    assert np.linalg.norm(combine(printed, H) - combine(quarter, H)) == pytest.approx(0, abs=1e-7)
