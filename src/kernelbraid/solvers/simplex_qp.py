"""Many quadratic programs over the probability simplex that share one Hessian, solved together.

    min_t  1/2 t Q t' - b t'    subject to t >= 0, sum(t) = 1, and t_j = 0 for forbidden j

for every row t of a matrix. Accelerated projected gradients find the supports roughly; then each support is solved
exactly, all of them in one batched call, until every row carries a certificate: the duality gap

    t (Q t' - b) - min_j (Q t' - b)_j

bounds how far its objective is from the minimum.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from kernelbraid._arrays import asarray_like, device, identity_like, namespace, to_numpy
from kernelbraid._typing import Array
from kernelbraid.ops.projection import project_to_simplex

Vector: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

# Largest duality gap of a solved row, relative to the largest number in its gradient, and in units of the precision.
GAP, ROUNDING = 1e-11, 64
# Gradient steps in a burst; exact solves between two bursts.
BURST, ROUNDS = 25, 12
# Bursts and solves before `solve` gives up.
MAX_STEPS = 600
# Regularisation of an exact solve relative to the curvature; a step is proximal, so it does not move the solution.
PROXIMITY = 1e-11
# Numbers in the matrices of a batch of exact solves.
BATCH_SIZE = 4_000_000


@dataclass(frozen=True)
class SimplexQP:
    """Programs with a common Hessian.

    On the simplex, adding a constant to a row and the same column of Q only changes the linear term. The centred
    Hessian has the mean direction removed: for flat kernels, that is nearly all of it, and gradient steps get longer
    by orders of magnitude.
    """

    Q: Array  # centred Hessian, (n, n), positive semidefinite
    shift: Array  # what centring added to the linear terms, (n,)
    curvature: float  # largest eigenvalue of Q
    forbidden: Array | None  # entries that must be zero, (p, n)

    @classmethod
    def of(cls, Q: Array, *, zero_diagonal: bool = False) -> "SimplexQP":
        """Prepare programs with Hessian Q; with `zero_diagonal`, row i has t_i = 0."""
        xp = namespace(Q)
        means = xp.mean(Q, axis=1)
        shift = means - xp.mean(means) / 2
        centred = Q - shift[:, None] - shift[None, :]
        curvature = float(xp.linalg.eigvalsh(centred)[-1])
        forbidden = identity_like(Q) > 0 if zero_diagonal else None
        smallest = float(xp.finfo(Q.dtype).tiny) ** 0.5
        return cls(centred, shift, max(curvature, smallest), forbidden)

    def solve(self, B: Array, start: Array | None = None) -> Array:
        """Return the minimisers for all rows of B, (p, n), from feasible rows or from uniform ones."""
        T = start
        for found in islice(self.descend(B, start), MAX_STEPS):
            T = found.T
            if found.n_open == 0:
                break
        return T

    def start(self, B: Array) -> Array:
        """Return even rows."""
        return project_to_simplex(namespace(B).zeros_like(B), self.forbidden)

    def descend(self, B: Array, start: Array | None = None) -> Iterator["Iterate"]:
        """Yield ever better rows without end, the same again once each has a certificate.

        Without a starting point, a burst of gradient steps comes before the exact solves. No row ever gets worse.
        """
        B = B - self.shift
        T = self.start(B) if start is None else start
        until_burst = 0 if start is None else ROUNDS
        rows = np.flatnonzero(self.excess(T, self.gradient(T, B), self.forbidden) > 0)
        while True:
            if rows.shape[0] == 0:
                yield Iterate(T, 0)
                continue
            part, b, forbidden = self._rows(rows, T, B)
            part = self._solve_supports(part, b, forbidden) if until_burst else self._accelerate(part, b, forbidden)
            until_burst = until_burst - 1 if until_burst else ROUNDS
            T = _replace_rows(T, rows, part)
            rows = rows[self.excess(part, self.gradient(part, b), forbidden) > 0]
            yield Iterate(T, rows.shape[0])

    def gradient(self, T: Array, B: Array) -> Array:
        """Return the gradients, up to a constant in each row."""
        return T @ self.Q - B

    def excess(self, T: Array, G: Array, forbidden: Array | None) -> Vector:
        """Return the duality gaps less what counts as zero."""
        xp = namespace(T)
        reachable = G if forbidden is None else xp.where(forbidden, asarray_like(xp.inf, G), G)
        gaps = xp.sum(T * G, axis=1) - xp.min(reachable, axis=1)
        size = xp.max(xp.abs(G), axis=1) + self.curvature
        allowed = max(GAP, ROUNDING * float(xp.finfo(T.dtype).eps))
        return to_numpy(gaps - allowed * size).astype(float)

    def _accelerate(self, start: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows after a burst of accelerated projected gradient steps, restarted where they go uphill."""
        xp = namespace(start)
        T = P = start
        momentum = xp.ones((T.shape[0], 1), dtype=T.dtype, device=device(T))
        for _ in range(BURST):
            new = project_to_simplex(P - self.gradient(P, B) / self.curvature, forbidden)
            uphill = xp.sum((P - new) * (new - T), axis=1, keepdims=True) > 0
            longer = (1 + xp.sqrt(1 + 4 * momentum * momentum)) / 2
            P = xp.where(uphill, new, new + (momentum - 1) / longer * (new - T))
            momentum = xp.where(uphill, xp.ones_like(longer), longer)
            T = new
        return self._best(start, self.gradient(start, B), T)

    def _solve_supports(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows after a gradient step, which adds every index worth adding, and an exact solve.

        The minimum on the support may leave the simplex: it is cut off where the first entry becomes negative, or
        projected, whichever is lower.
        """
        xp = namespace(T)
        T = project_to_simplex(T - self.gradient(T, B) / self.curvature, forbidden)
        G = self.gradient(T, B)
        step = self._newton_step(T, G)
        falling = step < 0
        ratios = xp.where(falling, T / xp.where(falling, -step, asarray_like(1.0, T)), asarray_like(xp.inf, T))
        length = xp.clip(xp.min(ratios, axis=1, keepdims=True), max=1.0)
        return self._best(T, G, xp.clip(T + length * step, min=0.0), project_to_simplex(T + step, forbidden))

    def _best(self, T: Array, G: Array, *others: Array) -> Array:
        """Return, row by row, the lowest of some points, of which T has the gradient G."""
        xp = namespace(T)
        best, lowest = T, xp.zeros_like(T[:, :1])
        for point in others:
            point = point / xp.sum(point, axis=1, keepdims=True)
            move = point - T
            change = xp.sum(move * (G + (move @ self.Q) / 2), axis=1, keepdims=True)
            better = change < lowest
            best, lowest = xp.where(better, point, best), xp.where(better, change, lowest)
        return best

    def _newton_step(self, T: Array, G: Array) -> Array:
        """Return the steps to the minima on the supports with unchanged sum: all supports of a batch in one solve."""
        xp = namespace(T)
        n = T.shape[1]
        sizes = to_numpy(xp.sum(xp.astype(T > 0, xp.int64), axis=1))
        order = xp.argsort(T, axis=1, descending=True, stable=True)  # supports first
        step = xp.zeros_like(T)
        for rows in _batches(sizes):
            where, size = xp.asarray(rows, device=device(T)), int(sizes[rows].max())
            ranked = xp.take(order, where, axis=0)
            support = ranked[:, :size]
            inside = xp.take_along_axis(xp.take(T, where, axis=0), support, axis=1) > 0
            g = xp.take_along_axis(xp.take(G, where, axis=0), support, axis=1)
            rest = xp.zeros((rows.shape[0], n - size), dtype=T.dtype, device=device(T))
            moves = xp.concat([self._equality_step(support, inside, g), rest], axis=1)
            step = _replace_rows(step, rows, xp.take_along_axis(moves, xp.argsort(ranked, axis=1), axis=1))
        return step

    def _equality_step(self, support: Array, inside: Array, g: Array) -> Array:
        """Minimise d Q d' / 2 + g d' with sum(d) = 0 on each support, (p, s), zero outside."""
        xp = namespace(g)
        n, (p, s) = self.Q.shape[0], support.shape
        flat = xp.reshape(support[:, :, None] * n + support[:, None, :], (-1,))
        A = xp.reshape(xp.take(xp.reshape(self.Q, (-1,)), flat), (p, s, s))
        one = xp.astype(inside, g.dtype)
        A = A * one[:, :, None] * one[:, None, :]
        ridge = PROXIMITY if g.dtype == xp.float64 else 1e-5
        # Padding has ones on the diagonal and zeros on the right: it does not move.
        A = A + identity_like(A) * ((1 - one) * self.curvature + ridge * self.curvature)[:, :, None]
        right = xp.stack([-g * one, one], axis=2)
        solved = xp.linalg.solve(A, right)
        newton, even = solved[:, :, 0], solved[:, :, 1]
        return newton - even * (xp.sum(newton, axis=1, keepdims=True) / xp.sum(even, axis=1, keepdims=True))

    def _rows(self, rows: Rows, T: Array, B: Array) -> tuple[Array, Array, Array | None]:
        """Return the chosen rows of points, linear terms and forbidden entries."""
        xp = namespace(T)
        where = xp.asarray(rows, device=device(T))
        forbidden = None if self.forbidden is None else xp.take(self.forbidden, where, axis=0)
        return xp.take(T, where, axis=0), xp.take(B, where, axis=0), forbidden


@dataclass(frozen=True)
class Iterate:
    """Rows on their way to the minimum."""

    T: Array  # (p, n)
    n_open: int  # rows without a certificate yet


def _batches(sizes: Rows) -> Iterator[Rows]:
    """Yield rows whose supports have about the same size, few enough for the memory of a batch."""
    bands = np.maximum(np.ceil(np.log2(sizes)), 3).astype(int)
    for band in np.unique(bands):
        rows = np.flatnonzero(bands == band)
        length = max(1, BATCH_SIZE // 4 ** int(band))
        for first in range(0, rows.shape[0], length):
            yield rows[first : first + length]


def _replace_rows(A: Array, rows: Rows, values: Array) -> Array:
    """Return A with some rows exchanged."""
    xp = namespace(A)
    source = np.arange(A.shape[0])
    source[rows] = A.shape[0] + np.arange(rows.shape[0])
    return xp.take(xp.concat([A, values]), xp.asarray(source, device=device(A)), axis=0)
