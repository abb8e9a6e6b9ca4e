"""Closed forms: proximal operators and their penalties, projection onto the simplex, weights from costs."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import asarray_like, device, namespace
from kernelbraid._typing import Array

Vector: TypeAlias = NDArray[np.float64]

# Entries of a projection below this many units of the precision are zeros that rounding missed.
ROUNDING = 4


def soft_threshold(A: Array, threshold: float | Array) -> Array:
    """Shrink every element towards zero, Eq. (11): argmin_J t ||J||_1 + 1/2 ||J - A||_F^2."""
    xp = namespace(A)
    zero = asarray_like(0.0, A)
    return xp.sign(A) * xp.maximum(xp.abs(A) - threshold, zero)


def scale_down(A: Array, factor: float | Array) -> Array:
    """Shrink every element by the same share: argmin_J t/2 ||J||_F^2 + 1/2 ||J - A||_F^2."""
    return A / (1 + factor)


def nonnegative(A: Array) -> Array:
    """Set negative elements to zero."""
    return namespace(A).maximum(A, asarray_like(0.0, A))


def l1_norm(A: Array) -> float:
    """Return the sum of absolute values."""
    xp = namespace(A)
    return float(xp.sum(xp.abs(A)))


def nuclear_norm(A: Array) -> float:
    """Return the sum of singular values."""
    xp = namespace(A)
    return float(xp.sum(xp.linalg.svdvals(A)))


def half_square(A: Array) -> float:
    """Return half the sum of squares."""
    return 0.5 * float(namespace(A).sum(A * A))


def project_to_simplex(A: Array, forbidden: Array | None = None) -> Array:
    """Return the nearest point of the probability simplex to each row.

    Parameters
    ----------
    A : array of shape (p, n)
        Points as rows.
    forbidden : array of bool of shape (p, n), default=None
        Entries that must be zero; at least one entry of each row is free.

    Returns
    -------
    array of shape (p, n)
        Rows max(a - t, 0) with the threshold t that makes their sum one.
    """
    xp = namespace(A)
    free = A if forbidden is None else xp.where(forbidden, asarray_like(-xp.inf, A), A)
    A = A - xp.max(free, axis=1, keepdims=True)  # what counts is near zero now, and keeps its digits
    if forbidden is not None:
        A = xp.where(forbidden, asarray_like(-2.0, A), A)  # the support lies within 1 of the largest entry
    ordered = xp.sort(A, axis=1, descending=True)
    excess = xp.cumulative_sum(ordered, axis=1) - 1
    counts = xp.arange(1, A.shape[1] + 1, dtype=A.dtype, device=device(A))
    inside = ordered * counts[None, :] > excess
    size = xp.sum(xp.astype(inside, xp.int64), axis=1, keepdims=True)
    size = xp.where(size > 0, size, xp.ones_like(size))  # rounding may deny even the largest entry
    threshold = xp.take_along_axis(excess, size - 1, axis=1) / xp.astype(size, A.dtype)
    B = A - threshold
    return xp.where(ROUNDING * float(xp.finfo(A.dtype).eps) < B, B, asarray_like(0.0, A))


def power_weights(costs: Vector, exponent: float = 0.5) -> Vector:
    r"""Minimise :math:`\sum_k a_k h_k` subject to :math:`a \ge 0` and :math:`\sum_k a_k^\gamma = 1`.

    With an exponent of 1/2 and a = w^2 this is min sum_k w_k^2 h_k on the probability simplex, with w_k
    proportional to 1 / h_k.

    Parameters
    ----------
    costs : ndarray of shape (..., m)
        h, not negative; infinite for a kernel that must not be used, finite for one at least.
    exponent : float, default=0.5
        gamma, between 0 and 1: near 0 all kernels count alike, near 1 the cheapest alone does.

    Returns
    -------
    ndarray of shape (..., m)
        a, proportional to h^(1 / (gamma - 1)). Costs of zero share the weight among them.
    """
    costs = np.asarray(costs, dtype=float)
    free = costs == 0
    costs = np.where(free.any(axis=-1, keepdims=True), np.where(free, 1.0, np.inf), costs)
    # Logarithms relative to the cheapest kernel: powers of small costs would overflow.
    logs = np.log(costs)
    shares = np.exp((logs - logs.min(axis=-1, keepdims=True)) / (exponent - 1))
    return np.asarray(shares / np.sum(shares**exponent, axis=-1, keepdims=True) ** (1 / exponent))
