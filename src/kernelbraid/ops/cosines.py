"""Kernels made comparable: every sample at length one, about the mean of all if asked."""

from kernelbraid._arrays import add_to_diagonal, asarray_like, namespace, symmetric_part
from kernelbraid._typing import Array

#: Added to squared lengths, relative to the largest entry: a sample of length zero is orthogonal to all others.
RIDGE = 1e-12
#: Squared lengths below zero by more than so many units of the precision, relative to the largest, are no rounding.
NEGATIVE = 1e3
#: Those below so many are zero where nothing is added.
EMPTY = 16


def cosine_kernel(K: Array, name: str, *, centred: bool, ridge: float = RIDGE) -> Array:
    """Return K_ij / (K_ii K_jj)^(1/2), after a little is added to the diagonal.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric.
    name : str
        What to call it in an error message: squared lengths below zero are refused.
    centred : bool
        Whether the samples are taken about their mean first: (I - 11'/n) K (I - 11'/n) in place of K.
    ridge : float, default=1e-12
        What is added, relative to the largest entry; if 0, samples of length zero keep it.
    """
    xp = namespace(K)
    eps, largest = float(xp.finfo(K.dtype).eps), float(xp.max(xp.abs(K)))
    if centred:
        means = xp.mean(K, axis=0)
        K = K - means[None, :] - means[:, None] + xp.mean(means)
    squares = xp.linalg.diagonal(K) + 0.0
    check_squares(squares, largest, name)
    least = EMPTY * eps * largest
    if ridge > 0:
        least, added = 0.0, max(ridge, 4 * eps) * largest
        K = add_to_diagonal(K + 0.0, xp.clip(-squares, min=0.0) + added)
        squares = xp.linalg.diagonal(K) + 0.0
    is_empty = squares <= least
    scale = xp.where(is_empty, asarray_like(0.0, K), 1 / xp.sqrt(xp.where(is_empty, asarray_like(1.0, K), squares)))
    return symmetric_part(K * scale[:, None] * scale[None, :])


def check_squares(squares: Array, largest: float, name: str) -> None:
    """Refuse a kernel that is no inner product by the squared length of a sample.

    Parameters
    ----------
    squares : array of shape (n,)
        The diagonal.
    largest : float
        Size of what the diagonal was computed from.
    name : str
        What to call the kernel.
    """
    xp = namespace(squares)
    least = float(xp.min(squares))
    if least < -NEGATIVE * float(xp.finfo(squares.dtype).eps) * largest:
        raise ValueError(
            f"{name} is no inner product: the squared length of sample {int(xp.argmin(squares))} is {least:.2g}; "
            "give a kernel without negative eigenvalues."
        )
