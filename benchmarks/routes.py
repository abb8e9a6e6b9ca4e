"""Seconds of one thresholding by every route, and by PROPACK, as more singular values pass."""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

from benchmarks.machine import timed
from benchmarks.problems import FEW, Size, evaluate_kernels, pose
from kernelbraid.kernels import StoredStack
from kernelbraid.solvers.low_rank import thresholding
from kernelbraid.solvers.low_rank.step import Stepper, starting_point

REPEATS = 3
# Relative distance of the matrix that a warm basis comes from: early and late iterates differ about as much.
NOISE = {"subspace": 1e-3, "subspace, late": 1e-5}
LARGEST_PROPACK_SHARE = 0.3  # of the values; beyond, it takes minutes


def matrix_with_rank(n: int, rank: int, seed: int = 0) -> Any:
    """Return a matrix of which `rank` singular values exceed one: from 100 down to 1.2, the others below 0.9.

    If all pass they lie between 100 and 104: the polar iteration is for matrices near a multiple of an orthogonal one.
    """
    random = np.random.default_rng(seed)
    U, V = (np.linalg.qr(random.standard_normal((n, n)))[0] for _ in range(2))
    s = np.concatenate([np.geomspace(100, 1.2, rank), random.uniform(0, 0.9, n - rank)])
    return (U * (s if rank < n else np.linspace(104, 100, n))) @ V.T


def matrix_of_fit(size: Size) -> tuple[Any, float]:
    """Return the matrix that becomes W in the fourth step of LKGr where few values pass, and its threshold."""
    kernels = StoredStack.of(evaluate_kernels(size), overwrite=True)
    stepper = Stepper(pose(kernels, FEW, "LKGr"))
    state = starting_point(kernels, FEW.mu)
    for _ in range(3):
        state = stepper(state)
    Y2, mu = state.Y2.copy(), state.mu
    return stepper(state).K - Y2 / mu, FEW.beta / mu


def measure_routes(n: int, ranks: tuple[int, ...], size: Size) -> Iterator[dict[str, Any]]:
    """Yield one row a matrix: made with a rank, then one of a fit."""
    with threadpool_limits(1, user_api="blas"):
        for rank in ranks:
            yield {"matrix": "made"} | _row(matrix_with_rank(n, rank), 1.0)
        yield {"matrix": f"W of a fit, {size.name}-sized"} | _row(*matrix_of_fit(size))


def _row(A: Any, t: float) -> dict[str, Any]:
    n = len(A)
    exact = thresholding.by_svd(A, t)
    row: dict[str, Any] = {"n": n, "rank": exact.rank}
    for name, route in _routes(A, exact.rank).items():
        calls = [timed(route, A, t) for _ in range(REPEATS)]
        result = calls[-1][1]
        row[name] = median(seconds for seconds, _ in calls)
        row[f"fails_{name}"] = result is None
        if result is not None:
            row[f"error_{name}"] = float(np.linalg.norm(result.matrix - exact.matrix) / np.linalg.norm(exact.matrix))
    return row


def _routes(A: Any, rank: int) -> dict[str, Callable[..., Any]]:
    """Return the routes to try: a route answers None where it does not apply."""
    routes = {"svd": thresholding.by_svd, "gram": thresholding.by_gram, "range": thresholding.by_range}
    if rank < len(A):
        for name, noise in NOISE.items():
            routes[name] = partial(thresholding.by_subspace, basis=_warm_basis(A, rank, noise))
    else:
        routes["polar"] = thresholding.by_polar
    if rank < LARGEST_PROPACK_SHARE * len(A):
        routes["propack"] = lambda A, t: by_propack(A, t, rank)
        routes["propack+1"] = lambda A, t: by_propack(A, t, rank + 1)
    return routes


def _warm_basis(A: Any, rank: int, distance: float) -> Any:
    noise = np.random.default_rng(1).standard_normal(A.shape)
    nearby = A + noise * (distance * np.linalg.norm(A) / np.linalg.norm(noise))
    return np.linalg.eigh(nearby.T @ nearby)[1][:, -rank:]


def by_propack(A: Any, t: float, count: int) -> thresholding.Thresholded | None:
    """Threshold through Lanczos bidiagonalisation for so many values; None if they do not converge.

    An iteration does not know how many pass. Only a value below the threshold proves that none is missing, so the
    honest call asks for one more than pass.
    """
    try:
        U, s, Vt = svds(A, k=count, solver="propack", rng=0)
    except np.linalg.LinAlgError:
        return None
    return thresholding.Thresholded((U * np.maximum(s - t, 0)) @ Vt, int(np.count_nonzero(s > t)))
