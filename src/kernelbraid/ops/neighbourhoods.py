"""Neighbours by distances in which rounding decides nothing."""

import math
from dataclasses import dataclass

from kernelbraid._arrays import (
    add_to_diagonal,
    asarray_like,
    device,
    identity_like,
    kth_smallest,
    namespace,
    tie_share,
)
from kernelbraid._typing import Array


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
        limit = kth_smallest(D, k + 1)[:, None]
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


def complete_graph(n: int, like: Array) -> Array:
    """Return the graph of two samples, or of one: too few for one neighbour and the next."""
    xp = namespace(like)
    ones = xp.ones((n, n), dtype=like.dtype, device=device(like))
    return add_to_diagonal(ones, -1.0)
