"""Closed forms: proximal operators, projection onto the simplex, weights from costs, unit rows, nearest neighbours."""

import math
from dataclasses import dataclass

import numpy as np

from kernelbraid._arrays import (
    add_to_diagonal,
    asarray_like,
    device,
    identity_like,
    kth_of_rows,
    namespace,
    symmetric_part,
    tie_share,
)
from kernelbraid._typing import Array, Vector

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


def kernel_distances(K: Array) -> Array:
    """Return the squared distances K_ii + K_jj - 2 K_ij of samples, rounded so that ties are exact.

    Distances of counts often tie, and what rounding leaves of a tie would choose the neighbours. They are multiples of
    a power of two instead, some 2^-34 of the largest.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric kernel.
    """
    xp = namespace(K)
    squares = xp.linalg.diagonal(K)
    D = xp.clip(squares[:, None] + squares[None, :] - 2 * K, min=0.0)
    D = add_to_diagonal(D, -xp.linalg.diagonal(D))
    largest = float(xp.max(D))
    if largest == 0.0:
        return D
    unit = 2.0 ** round(math.log2(largest * tie_share(D)))
    return xp.round(D / unit) * unit


@dataclass(frozen=True)
class Neighbourhoods:
    """The nearest of every sample."""

    near: Array  # bool, (n, n): whether j is among the nearest k of i
    next: Array  # bool, (n, n): whether j comes after them; at least one does

    @classmethod
    def of(cls, D: Array, k: int, *, by_order: bool) -> "Neighbourhoods":
        """Find the nearest k of every sample, and those that come next.

        Parameters
        ----------
        D : array of shape (n, n)
            Distances.
        k : int
            Number of neighbours, at most n - 2.
        by_order : bool
            Whether equal distances keep the order of the samples, and the first in a row is taken for the sample
            itself, as in published codes. Otherwise none of those that are as far as the next one is near, and a sample
            is not near to itself, whatever the order of the samples.
        """
        xp = namespace(D)
        if by_order:
            ranks = xp.argsort(xp.argsort(D, axis=1, stable=True), axis=1, stable=True)
            return cls((ranks >= 1) & (ranks <= k), ranks == k + 1)
        own = identity_like(D)
        D = D - (1 + D) * own
        limit = kth_of_rows(D, k + 1)[:, None]
        return cls((limit > D) & (own == 0), limit == D)


def nearest_graph(G: Array, neighbourhoods: Neighbourhoods) -> Array:
    """Return (g_i,next - g_ij) / sum_l (g_i,next - g_il) for the nearest of every sample, where that is positive.

    Rows lie on the simplex where neighbours are nearest by g, and minimise sum_j g_ij s_ij + a_i s_ij^2 for the a_i
    that leaves so many of them.

    Parameters
    ----------
    G : array of shape (n, n)
        Costs of edges.
    neighbourhoods : Neighbourhoods
        Where edges may be; of several that come next, the one of the highest cost counts.
    """
    xp, zero = namespace(G), asarray_like(0.0, G)
    edge = xp.max(xp.where(neighbourhoods.next, G, asarray_like(-xp.inf, G)), axis=1, keepdims=True)
    gains = xp.where(neighbourhoods.near, edge - G, zero)
    shares = gains / (xp.sum(gains, axis=1, keepdims=True) + float(xp.finfo(G.dtype).eps))
    return xp.where(shares > 0, shares, zero)
