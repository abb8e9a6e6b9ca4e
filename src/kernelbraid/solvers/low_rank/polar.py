"""Singular value thresholding by products alone, which is what accelerators are fast at."""

import math

from kernelbraid._arrays import asarray_like, identity_like, namespace, to_numpy
from kernelbraid._linalg import fused_multiply_add
from kernelbraid._typing import Array

# Singular values closer to zero or to the threshold than this share of the largest are not resolved: an error of that
# size is all it can make.
SMALLEST = 1e-9
# Orders that are multiples of this multiply faster: rows then start at aligned addresses.
ALIGNMENT = 8


def shrink_batch(A: Array, t: Array) -> Array:
    """Threshold the singular values of every matrix of a batch, by products alone.

    With the polar decomposition A = U H the result is U (H - t I)_+, and the positive part of a symmetric matrix D is
    (D + |D|) / 2 with |D| = D sign(D). An accelerator decomposes small matrices one by one, but multiplies a batch of
    them in no time.

    Parameters
    ----------
    A : array of shape (b, n, n)
        Matrices.
    t : array of shape (b, 1, 1)
        Thresholds, positive.
    """
    xp = namespace(A)
    n = A.shape[-1]
    A = _pad(A, -n % ALIGNMENT)  # with zeros, which stay zeros
    size = xp.sqrt(_largest_sum(A, axis=1) * _largest_sum(A, axis=2))  # at least the largest singular value
    size = xp.where(size > 0, size, asarray_like(1.0, size))  # of a matrix with NaN too: it must not reach the others
    A, t = A / size, t / size
    eye = identity_like(A[0, ...])
    relevant = to_numpy(xp.min(t))  # smaller values do not pass
    U = _polar_batch(A, min(max(float(relevant), SMALLEST), 0.5))
    H = U.mT @ A
    D = (H + H.mT) / 2 - t * eye
    sign = _polar_batch(D / (1 + t), SMALLEST)
    product = D @ sign
    return (size * (U @ (D + (product + product.mT) / 2)) / 2)[:, :n, :n]


def _polar_batch(X: Array, smallest: float) -> Array:
    """Return the polar factors of matrices with singular values up to 1; those below `smallest` end below 1.

    A step X <- X (3/2 c I - 1/2 c^3 X'X) with c^2 = 3 / (1 + l + l^2) lifts the singular values of [l, 1] as much as a
    cubic polynomial can without leaving [0, 1].
    """
    multiply_add = fused_multiply_add(X)
    low = smallest
    while low < 1:
        c = math.sqrt(3 / (1 + low + low * low))
        X = multiply_add(X, X, X.mT @ X, beta=1.5 * c, alpha=-0.5 * c**3)
        lifted = 0.5 * c * low * (3 - c * c * low * low)
        if lifted <= low or low > 1 - 1e-9:  # the last step has squared an error of 1e-9 away
            break
        low = lifted
    return X


def _pad(A: Array, extra: int) -> Array:
    """Append rows and columns of zeros to every matrix."""
    if extra == 0:
        return A
    xp = namespace(A)
    b, n, _ = A.shape
    padded = xp.zeros((b, n + extra, n + extra), dtype=A.dtype, device=A.device)
    padded[:, :n, :n] = A
    return padded


def _largest_sum(A: Array, axis: int) -> Array:
    """Return the largest sum of absolute values along an axis of every matrix: the 1-norm or the infinity norm."""
    xp = namespace(A)
    return xp.max(xp.sum(xp.abs(A), axis=axis, keepdims=True), axis=3 - axis, keepdims=True)
