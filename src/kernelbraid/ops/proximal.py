"""Closed forms of proximal operators, and the values of the penalties that they belong to."""

from kernelbraid._arrays import asarray_like, namespace
from kernelbraid._typing import Array


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
