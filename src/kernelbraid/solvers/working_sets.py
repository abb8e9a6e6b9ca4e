"""Exact minima of many quadratic functions with one Hessian, each on a set of entries of its own and with a fixed sum.

    min_d  1/2 d Q d' + g d'    subject to sum(d) = 0, and d_j = 0 for j outside the set

A set of s entries takes the factor of an s x s matrix. Where it holds most of the entries, the equations of what lies
outside are fewer: with the inverse of Q, which is formed once, d = -(g + m) Q^-1, and the prices m of the zeros solve
a system of order n - s.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import (
    add_to_diagonal,
    device,
    identity_like,
    is_finite,
    is_foreign,
    linalg_errors,
    namespace,
    replace_rows,
    take_rows,
    to_numpy,
)
from kernelbraid._linalg import solve_submatrices
from kernelbraid._typing import Array

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

# Numbers in the matrices of a batch of exact solves.
BATCH_SIZE = 4_000_000
# Systems up to this order are solved faster together than one by one, on the host.
SMALL = 24
# Sets of more than this share of the entries are solved from outside.
MOST = 0.6
# Largest entry of the inverse, in units of one over the curvature, that leaves enough digits.
STEEP = 1e7


@dataclass(frozen=True)
class SetMinima:
    """Minima for a Hessian."""

    Q: Array  # (n, n), positive semidefinite, with rows of sum zero
    curvature: float  # largest eigenvalue of Q
    ridge: float  # share of it that is added to the diagonal; a step is proximal, so it does not move the solution

    def steps(self, G: Array, working: Array) -> Array:
        """Return the minimising steps from points with gradients G, (p, n), on their working sets."""
        xp = namespace(G)
        one = xp.astype(working, G.dtype)
        sizes = self.sizes(working)
        count = xp.sum(one, axis=1, keepdims=True)
        # A constant in the gradient does not matter where the sum is fixed; without it the rest keeps its digits.
        G = (G - xp.sum(G * one, axis=1, keepdims=True) / count) * one
        most = self._are_most(sizes)
        if not most.any():
            step = self._from_inside(G, one, sizes)
        elif most.all():
            step = self._from_outside(G, one, sizes)
        else:
            step = xp.zeros_like(G)
            for chosen, solve in ((most, self._from_outside), (~most, self._from_inside)):
                rows = np.flatnonzero(chosen)
                g, inside = take_rows(rows, G, one)
                step = replace_rows(step, rows, solve(g, inside, sizes[rows]))
        # On dependent columns the solve is inexact; what it adds to the sum goes back evenly.
        return step - one * (xp.sum(step, axis=1, keepdims=True) / count)

    def costs(self, working: Array) -> Vector:
        """Return what the solves cost, in multiplications."""
        sizes = self.sizes(working)
        return np.where(self._are_most(sizes), self.Q.shape[0] - sizes, sizes).astype(float) ** 3

    def sizes(self, working: Array) -> Rows:
        """Return how many entries the sets have."""
        xp = namespace(working)
        return to_numpy(xp.sum(xp.astype(working, xp.int64), axis=1))

    @cached_property
    def inverse(self) -> Array | None:
        """Inverse of Q on the vectors of sum zero; None where it has too few digits."""
        xp, n = namespace(self.Q), self.Q.shape[0]
        shifted = add_to_diagonal(self.Q + self.curvature / n, self.ridge * self.curvature)
        try:
            inverse = xp.linalg.inv(shifted) - 1 / (n * self.curvature * (1 + self.ridge))
        except linalg_errors():
            return None
        sound = is_finite(inverse) and float(xp.max(xp.abs(inverse))) * self.curvature < STEEP
        return inverse if sound else None

    def _are_most(self, sizes: Rows) -> NDArray[np.bool_]:
        most = sizes > MOST * self.Q.shape[0]
        return most if most.any() and self.inverse is not None else np.zeros_like(most)

    def _from_inside(self, G: Array, one: Array, sizes: Rows) -> Array:
        xp = namespace(G)
        newton, even = _solve(self.Q, one, [-G, one], sizes, self.ridge * self.curvature)
        return newton - even * (xp.sum(newton, axis=1, keepdims=True) / xp.sum(even, axis=1, keepdims=True))

    def _from_outside(self, G: Array, one: Array, sizes: Rows) -> Array:
        inverse = self.inverse
        free = G @ inverse
        (prices,) = _solve(inverse, 1 - one, [-free], self.Q.shape[0] - sizes, 0.0)
        return -(free + prices @ inverse) * one


def _solve(Q: Array, one: Array, rights: Sequence[Array], sizes: Rows, ridge: float) -> list[Array]:
    """Solve x_S (Q_SS + ridge I) = r_S for several right-hand sides, (p, n), on the sets where `one` is 1."""
    xp = namespace(Q)
    alone = np.zeros(sizes.shape, dtype=bool) if is_foreign(Q) else sizes > SMALL
    if alone.any():  # the rows of others are zeros
        solved = solve_submatrices(Q, to_numpy(one) > 0, rights, np.flatnonzero(alone), ridge)
    else:
        solved = [xp.zeros_like(one) for _ in rights]
    together = np.flatnonzero(~alone & (sizes > 0))
    if together.shape[0] > 0:
        order = xp.argsort(xp.astype(one, xp.int8), axis=1, descending=True, stable=True)  # the sets first
        for part in batches(sizes[together]):
            rows = together[part]
            first, inside, *wanted = take_rows(rows, order, one, *rights)
            found = _solve_batch(Q, first, inside, wanted, sizes[rows], ridge)
            solved = [replace_rows(x, rows, values) for x, values in zip(solved, found, strict=True)]
    return solved


def _solve_batch(Q: Array, order: Array, one: Array, rights: Sequence[Array], sizes: Rows, ridge: float) -> list[Array]:
    """Solve the systems of sets of about the same size in one call, padded to the largest."""
    xp = namespace(Q)
    n, p, s = Q.shape[0], order.shape[0], int(sizes.max())
    support = order[:, :s]
    inside = xp.take_along_axis(one, support, axis=1)
    flat = xp.reshape(support[:, :, None] * n + support[:, None, :], (-1,))
    A = xp.reshape(xp.take(xp.reshape(Q, (-1,)), flat), (p, s, s)) * inside[:, :, None] * inside[:, None, :]
    # Padding has a positive diagonal and zeros on the right: it stays zero.
    size = xp.max(xp.abs(xp.linalg.diagonal(A)), axis=1, keepdims=True) + ridge
    A = A + identity_like(A) * ((1 - inside) * size + ridge)[:, :, None]
    right = xp.stack([xp.take_along_axis(r, support, axis=1) * inside for r in rights], axis=2)
    solved = xp.linalg.solve(A, right)
    rest = xp.zeros((p, n - s), dtype=Q.dtype, device=device(Q))
    back = xp.argsort(order, axis=1)
    return [xp.take_along_axis(xp.concat([solved[:, :, i], rest], axis=1), back, axis=1) for i in range(len(rights))]


def batches(sizes: Rows) -> Iterator[Rows]:
    """Yield rows whose sets have about the same size, few enough for the memory of a batch, in their order."""
    order = np.argsort(sizes, kind="stable")
    bands = np.maximum(np.ceil(np.log2(sizes[order])), 3).astype(int)
    for band in np.unique(bands):
        rows = order[bands == band]
        length = max(1, BATCH_SIZE // 4 ** int(band))
        for first in range(0, rows.shape[0], length):
            yield np.sort(rows[first : first + length])
