"""The LAPACK and BLAS calls of one step, run alone on the matrices of that step: the floor of its time.

Calls whose result a route threw away (an attempt that failed its check) are not counted, so that the time of the
step over the time of these calls shows that waste, too.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from benchmarks.machine import timed
from kernelbraid.solvers.low_rank import thresholding
from kernelbraid.solvers.low_rank.step import LowRankProblem, LowRankState


class Clock:
    """Adds up the seconds of calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Make a call, and return what it returns."""
        seconds, result = timed(function, *arguments, **options)
        self.seconds += seconds
        return result


def copy_state(s: LowRankState) -> LowRankState:
    """Return a state with arrays of its own; a step uses up the one it is given."""
    return replace(s, **{name: getattr(s, name).copy() for name in ("Z", "K", "J", "W", "g", "Y1", "Y2")})


def seconds_of_own_calls(p: LowRankProblem, before: LowRankState, after: LowRankState) -> float:
    """Return the summed time of the LAPACK and BLAS calls that led from one state to the next (stored kernels)."""
    clock, mu, progress = Clock(), before.mu, after.progress
    _solve(clock, before.K + mu * np.eye(len(before.K)), before.K + mu * before.J + before.Y1)
    clock(np.matmul, after.Z, after.Z.T)
    flat = p.kernels.flat()
    clock(np.matmul, p.R @ before.g, flat)
    clock(np.matmul, flat, after.K.reshape(-1))
    if progress.graph_route in ROUTES:
        ROUTES[progress.graph_route](clock, after.Z - before.Y1 / mu, p.alpha / mu, progress.graph_rank)
    ROUTES[progress.kernel_route](clock, after.K - before.Y2 / mu, p.beta / mu, progress.kernel_rank)
    return clock.seconds


def _solve(clock: Clock, A: Any, B: Any) -> None:
    getrf, trsm = get_lapack_funcs("getrf", (A, B)), get_blas_funcs("trsm", (A, B))
    factors = clock(getrf, A.T, overwrite_a=True)[0]
    solved = clock(trsm, 1.0, factors, B.T, side=1, lower=False, overwrite_b=True)
    clock(trsm, 1.0, factors, solved, side=1, lower=True, diag=1, overwrite_b=True)


def _gram(clock: Clock, A: Any) -> Any:
    return clock(get_blas_funcs("syrk", (A,)), 1.0, A.T, lower=True)


def _all_vectors(clock: Clock, G: Any) -> tuple[Any, Any]:
    values, vectors, _ = clock(get_lapack_funcs("syevd", (G,)), G, lower=True, overwrite_a=True)
    return values, vectors


def _product(clock: Clock, A: Any, t: float, values: Any, vectors: Any, rank: int) -> None:
    """A V diag(f) V' in the order that the library takes."""
    first = values.shape[0] - rank
    V, f = vectors[:, first:], 1 - t / np.sqrt(values[first:])
    if rank <= len(A) // 4:
        clock(np.matmul, clock(np.matmul, A, V * f), V.T)
        return
    syrk, symm = get_blas_funcs(("syrk", "symm"), (A, V))
    P = clock(syrk, 1.0, V * np.sqrt(f), lower=True)
    clock(symm, 1.0, P, A.T, side=0, lower=True)


def _by_svd(clock: Clock, A: Any, t: float, rank: int) -> None:
    U, s, Vt = clock(np.linalg.svd, A, full_matrices=False)
    clock(np.matmul, U[:, :rank] * (s[:rank] - t), Vt[:rank])


def _by_gram(clock: Clock, A: Any, t: float, rank: int) -> None:
    _product(clock, A, t, *_all_vectors(clock, _gram(clock, A)), rank)


def _by_range(clock: Clock, A: Any, t: float, rank: int) -> None:
    G = _gram(clock, A)
    options = {"lower": True, "overwrite_a": True, "check_finite": False, "subset_by_value": (t * t, np.inf)}
    values, vectors = clock(linalg.eigh, G, **options)
    _product(clock, A, t, values, vectors, min(rank, len(values)))


def _by_symmetric(clock: Clock, A: Any, t: float, rank: int) -> None:
    values, vectors = _all_vectors(clock, A.copy().T)
    clock(np.matmul, vectors * values, vectors.T)


def _by_subspace(clock: Clock, A: Any, t: float, rank: int) -> None:
    """The products and factorisations of that route on blocks of its width; their values do not matter."""
    Q = np.random.default_rng(0).standard_normal((len(A), rank + thresholding.SUBSPACE_EXTRA))
    blocks = [Q]
    for _ in range(2):
        Q = clock(np.linalg.qr, blocks[-1])[0]
        blocks.append(clock(np.matmul, A.T, clock(np.matmul, A, Q)))
    Q = clock(np.linalg.qr, np.concatenate(blocks, axis=1))[0]
    B = clock(np.matmul, A, Q)
    rotation = clock(np.linalg.eigh, clock(np.matmul, B.T, B))[1][:, -rank:]
    V, AV = clock(np.matmul, Q, rotation), clock(np.matmul, B, rotation)
    clock(np.matmul, A.T, AV)
    clock(np.matmul, V, V.T)  # the certificate: two products and a factorisation
    clock(np.linalg.cholesky, clock(np.matmul, A.T, A) + len(A) * np.eye(len(A)))
    clock(np.matmul, AV, V.T)


def _by_polar(clock: Clock, A: Any, t: float, rank: int) -> None:
    """Three products a step; how many steps follows from the spread of the singular values, as in the library."""
    eye = np.eye(len(A))
    squares = np.linalg.eigvalsh(A.T @ A)
    centre = squares.mean()
    spread = np.abs(1 - squares / centre).max()
    accuracy = 0.01 * thresholding.ACCURACY * np.sqrt(centre) / t
    steps = thresholding._polar_steps(spread, max(np.finfo(A.dtype).eps, min(1e-3, accuracy))) or 0
    X = A / np.sqrt(centre)
    clock(np.matmul, A.T, A)
    for step in range(steps):
        E = eye - (clock(np.matmul, X.T, X) if step > 0 else X.T @ X)
        X = X + clock(np.matmul, X, E / 2 + 0.375 * clock(np.matmul, E.T, E))


ROUTES = {
    "svd": _by_svd,
    "gram": _by_gram,
    "range": _by_range,
    "symmetric": _by_symmetric,
    "subspace": _by_subspace,
    "polar": _by_polar,
}
