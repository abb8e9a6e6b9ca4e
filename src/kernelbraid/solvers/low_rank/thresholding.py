"""Singular value thresholding by the cheapest route that is correct.

Every route computes argmin_J t ||J||_* + 1/2 ||J - A||_F^2. They differ in cost: how many singular values pass the
threshold, and how far the singular values spread, decide which one is cheapest. Consecutive calls of an iteration are
alike, so what one call finds out chooses the route of the next.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np

from kernelbraid._arrays import (
    LinAlgError,
    add_to_diagonal,
    asarray_like,
    frobenius_norm,
    is_finite,
    is_on_host,
    linalg_errors,
    namespace,
)
from kernelbraid._eigen import eigh, gram_eigh
from kernelbraid._linalg import gram, spectral_product
from kernelbraid._typing import Array
from kernelbraid.solvers.low_rank.polar import shrink_and_count, shrink_batch

#: How to threshold: ``"auto"`` chooses per call, the others force a route (and fall back when its check fails).
Route: TypeAlias = Literal["auto", "svd", "gram", "symmetric", "range", "subspace", "polar", "products"]
ROUTES: tuple[str, ...] = get_args(Route)

# Largest error of a result, relative to the largest singular value, that a route may make.
ACCURACY = 1e-10
# LAPACK's range selection beats the full decomposition while fewer than this share of the values pass.
RANGE_SHARE = 0.15
# The warm subspace pays while its three blocks are a small part of the matrix.
SUBSPACE_SHARE = 0.02
SUBSPACE_EXTRA = 8  # columns beyond the values that passed last time
REST = 10  # calls without another try after a route failed that another one can replace
# Steps of the polar iteration that cost less than a decomposition: on a CPU about six products, on a GPU thirty.
POLAR_STEPS = {True: 2, False: 6}  # by whether the arrays are on the host
POLAR_POWER_STEPS = 12  # products with a vector that estimate the spread


@dataclass(frozen=True)
class Thresholded:
    """A thresholded matrix and what was learned on the way."""

    matrix: Array
    rank: int  # singular values that passed
    basis: Array | None = None  # right singular vectors that passed, for the next subspace


@dataclass
class SingularValueThreshold:
    """The proximal operator of the nuclear norm, with a memory of its last call.

    Parameters
    ----------
    route : Route, default="auto"
        Route to take; when it does not apply or its check fails, the next exact one is taken.
    """

    route: Route = "auto"
    used: str = field(default="", init=False)  # route of the last call
    rank: int = field(default=-1, init=False)  # values that passed in the last call; -1 before it and for a batch
    _basis: Array | None = field(default=None, init=False, repr=False)
    _rest: dict[str, int] = field(  # calls until a route that failed is tried again
        default_factory=lambda: {"subspace": 0, "polar": 0, "gram": 0}, init=False, repr=False
    )

    def __call__(self, A: Array, t: float | Array) -> Array:
        """Return A with every singular value lowered by t, those below t to zero.

        A batch of matrices (b, n, n) with thresholds (b, 1, 1) goes through products, whatever the route: they need no
        decision for a single matrix. One that is not finite is not refused, so that the others have their results.
        """
        if A.ndim > 2:
            self.used, self.rank, self._basis = "products", -1, None
            return shrink_batch(A, t)
        size = frobenius_norm(A)
        if not math.isfinite(size) and not is_finite(A):
            raise LinAlgError("a matrix to be thresholded is not finite")
        if t == 0.0 or t >= size:  # nothing or everything is taken away
            self.used, self.rank, self._basis = "none", A.shape[-1] if t == 0.0 else 0, None
            return A + 0.0 if t == 0.0 else 0.0 * A
        for route in self._plan(A):
            outcome = _attempt(route, A, t, self._basis)
            if outcome is not None:
                break
            if route in self._rest:
                self._rest[route] = REST
        else:
            raise LinAlgError("no route to the singular values succeeded")
        self.used, self.rank, self._basis = route, outcome.rank, outcome.basis
        self._rest = {name: max(calls - 1, 0) for name, calls in self._rest.items()}
        return outcome.matrix

    def _plan(self, A: Array) -> list[str]:
        """Return the routes to try, best first; the last two are exact and always apply."""
        if self.route != "auto":
            return list(dict.fromkeys([self.route, "gram", "svd"]))
        n = A.shape[-1]
        # A decomposition that can afford no squaring is what accelerators are slowest at.
        exact = ["gram", "svd"] if is_on_host(A) else ["gram", "products", "svd"][self._rest["gram"] > 0 :]
        if self.rank < 0:
            return ["symmetric", *exact]
        if self.rank == n and self._rest["polar"] == 0:
            return ["polar", *exact]
        if is_on_host(A) and self.rank < RANGE_SHARE * n:
            exact = ["range", *exact]
            if self._basis is not None and self.rank < SUBSPACE_SHARE * n and self._rest["subspace"] == 0:
                return ["subspace", *exact]
        return exact


def _attempt(route: str, A: Array, t: float, basis: Array | None) -> Thresholded | None:
    """Take one route; None if it does not apply, fails its check or its decomposition does not converge."""
    try:
        if route == "subspace":
            return by_subspace(A, t, basis) if basis is not None else None
        return SINGLE[route](A, t)
    except linalg_errors():
        return None


def by_svd(A: Array, t: float) -> Thresholded:
    """Threshold through the singular value decomposition."""
    xp = namespace(A)
    U, s, Vt = xp.linalg.svd(A, full_matrices=False)
    rank = int(xp.count_nonzero(s > t))
    return Thresholded((U[:, :rank] * (s[:rank] - t)) @ Vt[:rank, :], rank)


def by_gram(A: Array, t: float) -> Thresholded | None:
    """Threshold as A f(A'A) through the eigenvectors of A'A; None if squaring lost too much of the small values."""
    return _from_gram(A, t, *gram_eigh(A))


def by_range(A: Array, t: float) -> Thresholded | None:
    """Threshold through those eigenvectors of A'A alone that pass."""
    return _from_gram(A, t, *gram_eigh(A, above=t * t))


def _from_gram(A: Array, t: float, values: Array, vectors: Array) -> Thresholded | None:
    xp = namespace(A)
    s = xp.sqrt(xp.maximum(values, asarray_like(0.0, values)))
    rank = int(xp.count_nonzero(s > t))
    if rank == 0:
        return Thresholded(0 * A, 0)
    first = s.shape[0] - rank
    s, vectors = s[first:], vectors[:, first:]
    # An eigenvalue of A'A is off by eps s_max^2, so a singular value is off by eps s_max^2 / (2 s).
    eps = float(xp.finfo(s.dtype).eps)
    if eps * float(s[-1]) / (2 * float(s[0])) > ACCURACY:
        return None
    few = rank <= A.shape[-1] // 8  # only then the vectors may serve again; otherwise their memory does
    return Thresholded(spectral_product(A, vectors, 1 - t / s), rank, vectors if few else None)


def by_symmetric(A: Array, t: float) -> Thresholded | None:
    """Threshold a symmetric matrix through its own eigenvectors; None if it is not symmetric."""
    xp = namespace(A)
    if not bool(xp.all(A == A.T)):
        return None
    values, vectors = eigh(A)
    passed = xp.abs(values) > t
    rank = int(xp.count_nonzero(passed))
    shrunk = xp.where(passed, values - t * xp.sign(values), asarray_like(0.0, values))
    return Thresholded((vectors * shrunk) @ vectors.T, rank)


def by_subspace(A: Array, t: float, basis: Array) -> Thresholded | None:
    """Threshold through a Krylov space grown from the vectors that passed last time; None unless it holds them all.

    A factorisation proves that nothing outside the space passes.
    """
    xp = namespace(A)
    n, width = A.shape[-1], basis.shape[1] + SUBSPACE_EXTRA
    if 4 * width > n:
        return None
    extra = np.random.default_rng(width).standard_normal((n, SUBSPACE_EXTRA))  # finds what is new, in any direction
    blocks = [xp.concat([xp.astype(basis, A.dtype, copy=False), asarray_like(extra, A)], axis=1)]
    for _ in range(2):
        Q = xp.linalg.qr(blocks[-1])[0]
        blocks.append(A.T @ (A @ Q))
    Q = xp.linalg.qr(xp.concat(blocks, axis=1))[0]
    B = A @ Q
    values, rotation = xp.linalg.eigh(B.T @ B)
    s = xp.sqrt(xp.maximum(values, asarray_like(0.0, values)))
    rank = int(xp.count_nonzero(s > t))
    if rank == 0 or rank > basis.shape[1] + SUBSPACE_EXTRA // 2:
        return None  # the space may be too small to hold everything that passes
    s, rotation = s[s.shape[0] - rank :], rotation[:, rotation.shape[1] - rank :]
    V, AV = Q @ rotation, B @ rotation
    residuals = xp.linalg.vector_norm(A.T @ AV - V * (s * s), axis=0)
    if float(xp.max(residuals / s)) > ACCURACY * float(s[-1]):
        return None
    rest = (V * (s * s)) @ V.T
    rest -= gram(A)
    xp.linalg.cholesky(add_to_diagonal(rest, t * t))  # t^2 I - A'A + V S^2 V': raises if anything else passes
    return Thresholded((AV * (1 - t / s)) @ V.T, rank, V)


def by_polar(A: Array, t: float) -> Thresholded | None:
    """Threshold as A - t U with the polar factor U, by products alone; None unless all values pass and spread little.

    X <- X (I + E/2 + 3/8 E^2) with E = I - X'X cubes the distance of the singular values from one.
    """
    xp = namespace(A)
    n = A.shape[-1]
    E = gram(A)
    centre = float(xp.linalg.trace(E)) / n
    if centre <= t * t:
        return None
    E *= -1 / centre
    E = add_to_diagonal(E, 1.0)  # I - G / centre
    # An error d of U is an error t d of the result, whose scale is that of A.
    tolerance = max(float(xp.finfo(A.dtype).eps), min(1e-3, 0.01 * ACCURACY * math.sqrt(centre) / t))
    spread = _spectral_radius(E)
    spread *= 1.05 * n ** (0.5 / POLAR_POWER_STEPS)  # the estimate comes from below by at most this factor
    steps = _polar_steps(spread, tolerance)
    # Squared singular values lie within centre (1 +- spread): all pass if the lowest does.
    if steps is None or steps > POLAR_STEPS[is_on_host(A)] or centre * (1 - spread) <= t * t:
        return None
    X = A / math.sqrt(centre)
    for step in range(steps):
        if step > 0:
            E = gram(X)
            E *= -1
            E = add_to_diagonal(E, 1.0)
        factor = gram(E)
        factor *= 0.375
        E *= 0.5
        factor += E
        del E
        X += X @ factor
        del factor
    X *= -t
    X += A
    return Thresholded(X, n)


def by_products(A: Array, t: float) -> Thresholded:
    """Threshold by products alone, in float64, however the singular values spread."""
    xp = namespace(A)
    exact = xp.astype(A, xp.float64, copy=False)[None, ...]
    matrices, ranks = shrink_and_count(exact, asarray_like([[[t]]], exact))
    return Thresholded(xp.astype(matrices[0, ...], A.dtype, copy=False), ranks[0])


#: Routes that need the matrix and the threshold alone.
SINGLE = {
    "svd": by_svd,
    "gram": by_gram,
    "symmetric": by_symmetric,
    "range": by_range,
    "polar": by_polar,
    "products": by_products,
}


def _polar_steps(distance: float, tolerance: float) -> int | None:
    """Return the steps after which singular values whose squares are `distance` off one are one; None if too far."""
    if distance > 0.8:
        return None
    steps = 0
    while distance > tolerance:
        distance = 0.625 * distance**3 * (1 + distance)
        steps += 1
    return steps


def _spectral_radius(E: Array) -> float:
    """Estimate the largest absolute eigenvalue of a symmetric matrix by powers of it on a random vector."""
    xp = namespace(E)
    x = asarray_like(np.random.default_rng(0).standard_normal(E.shape[-1]), E)
    size = 0.0
    for _ in range(POLAR_POWER_STEPS):
        x = x / xp.linalg.vector_norm(x)
        x = E @ x
        size = float(xp.linalg.vector_norm(x))
        if size == 0.0:
            break
    return size
