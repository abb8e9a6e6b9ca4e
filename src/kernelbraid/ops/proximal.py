"""Proximal operators, and penalties that pair a value with its operator."""

from collections.abc import Callable
from dataclasses import dataclass

from kernelbraid._arrays import asarray_like, namespace
from kernelbraid._typing import Array


def soft_threshold(A: Array, threshold: float) -> Array:
    """Shrink every element towards zero, Eq. (11): argmin_J t ||J||_1 + 1/2 ||J - A||_F^2."""
    xp = namespace(A)
    zero = asarray_like(0.0, A)
    return xp.sign(A) * xp.maximum(xp.abs(A) - threshold, zero)


def singular_value_threshold(A: Array, threshold: float) -> Array:
    """Shrink every singular value, Eqs. (10) and (13): argmin_J t ||J||_* + 1/2 ||J - A||_F^2."""
    xp = namespace(A)
    U, s, Vt = xp.linalg.svd(A, full_matrices=False)
    return (U * xp.maximum(s - threshold, asarray_like(0.0, A))) @ Vt


def scale_down(A: Array, factor: float) -> Array:
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


@dataclass(frozen=True)
class Penalty:
    """A convex penalty: its value, and prox(A, t) = argmin_J t value(J) + 1/2 ||J - A||_F^2."""

    value: Callable[[Array], float]
    prox: Callable[[Array, float], Array]
    name: str  # of what the operator does


L1 = Penalty(l1_norm, soft_threshold, "soft")  # a sparse graph: LKGs
NUCLEAR = Penalty(nuclear_norm, singular_value_threshold, "singular values")  # a low-rank graph or kernel: LKGr
FROBENIUS = Penalty(half_square, scale_down, "scale")  # a dense graph in which similar samples get similar columns
