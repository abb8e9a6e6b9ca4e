"""Projection onto the probability simplex."""

from kernelbraid._arrays import asarray_like, device, namespace
from kernelbraid._typing import Array

# Entries of the result below this many units of the precision are zeros that rounding missed.
ROUNDING = 4


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
