import math
from dataclasses import replace

import numpy as np
import pytest

from kernelbraid import ADMM, LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.low_rank.step import solve
from problems import PENALTIES, begin, blob_bank, blobs, low_rank_problem


def problem_of(penalty, alpha=0.3):
    H, _ = blob_bank()
    return H, low_rank_problem(H, penalty=penalty, alpha=alpha, beta=1.0, gamma=math.inf, growth=1.0)


def value(problem, K, Z):
    fit = 0.5 * np.trace(K - 2 * K @ Z + Z.T @ K @ Z)
    return fit + problem.alpha * problem.penalty.value(Z)


@pytest.mark.parametrize("penalty", ["nuclear", "frobenius"])
def test_no_nearby_graph_is_better(penalty):
    H, problem = problem_of(penalty)
    solution = solve(problem, begin(H, 1.0), tol=1e-9, max_iter=2000)
    K, Z = H.mean(axis=0), solution.state.J
    assert solution.status is Status.CONVERGED
    rng = np.random.default_rng(1)
    best = value(problem, K, Z)
    for size in (1e-3, 1e-2, 1e-1):
        other = np.maximum(Z + size * rng.normal(size=Z.shape) * np.abs(Z).max(), 0)
        assert value(problem, K, other) > best - 1e-3 * abs(best)


@pytest.mark.filterwarnings("ignore:The graph has .* connected components")  # what is found is not the point
def test_the_kernel_and_the_weights_stay():
    for penalty in ["nuclear", "l1", "frobenius"]:
        X, _ = blobs()
        model = LKG(
            3, preset="authors", n_init=5, solver=ADMM(graph_penalty=penalty, gamma=math.inf), random_state=0
        ).fit(X)
        assert model.solution_.status == "converged"
        np.testing.assert_allclose(model.solution_.g, 1 / 12)
        assert set(model.solution_.history["kernel_change"]) == {0.0}


def test_backends_agree(foreign):
    for penalty in PENALTIES:
        H, _ = blob_bank()
        here, there = (
            solve(low_rank_problem(kernels, penalty=penalty, gamma=math.inf), begin(kernels, 1.0), max_iter=25)
            for kernels in (H, foreign.asarray(H))
        )
        assert (here.status, here.n_iter) == (there.status, there.n_iter)
        for name in ("Z", "J", "K"):
            np.testing.assert_allclose(to_numpy(getattr(there.state, name)), getattr(here.state, name), atol=1e-9)


def test_a_kernel_that_is_not_finite_is_named():
    for penalty in PENALTIES:
        H, problem = problem_of(penalty)
        bad = replace(begin(H, 1.0)(), K=np.full(H.shape[1:], np.nan))
        assert solve(problem, [bad].pop).status is Status.NON_FINITE
