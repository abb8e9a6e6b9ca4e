"""Many quadratic programs over the probability simplex that share one Hessian, solved together.

    min_t  1/2 t Q t' - b t'    subject to t >= 0, sum(t) = 1, and t_j = 0 for forbidden j

for every row t of a matrix. Accelerated projected gradients find the supports roughly; then each support is solved
exactly, all of them in one batched call, until every row carries a certificate: the duality gap

    t (Q t' - b) - min_j (Q t' - b)_j

bounds how far its objective is from the minimum.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import asarray_like, device, identity_like, namespace, to_numpy
from kernelbraid._typing import Array
from kernelbraid.ops.projection import project_to_simplex

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

# Largest duality gap of a solved row, relative to the spread of its gradient, and the rounding of the gradient in units
# of the precision.
GAP, ROUNDING = 1e-11, 64
# Gradient steps in a burst.
BURST = 25
# Exchanges of whole blocks between two bursts, and of single indices after them.
BLOCKS, PIVOTS = 12, 80
# Pivoting starts from supports of at most this size; of a larger one the largest entries are kept.
LARGE, KEPT = 64, 16
# Bursts and solves before `solve` gives up: one to three are usual, more where a Hessian is indefinite.
MAX_STEPS = 30
# Exact solves of one step may cost this many times n^3; the smallest supports come first, the others wait.
DEAR = 20
# Regularisation of an exact solve relative to the curvature; a step is proximal, so it does not move the solution.
# Wide supports are often dependent, those of pivoting hardly ever.
WIDE_RIDGE, NARROW_RIDGE = 1e-10, 1e-14
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
        smallest = float(xp.finfo(Q.dtype).smallest_normal) ** 0.5
        return cls(centred, shift, max(curvature, smallest), forbidden)

    def solve(self, B: Array, start: Array | None = None) -> Array:
        """Return the minimisers for all rows of B, (p, n), from feasible rows or from uniform ones."""
        T = start
        for found in islice(self.descend(B, start), MAX_STEPS):
            T = found.T
            if found.n_open == 0:
                break
        return T

    def improve(self, B: Array, T: Array) -> Array:
        """Return rows that are no worse than feasible ones, and mostly much better, at the price of a few steps.

        Small supports are solved exactly; large ones are left to a burst of gradient steps.
        """
        sizes = to_numpy(namespace(T).sum(namespace(T).astype(T > 0, namespace(T).float64), axis=1))
        if float(np.sum(sizes**3)) > DEAR * T.shape[1] ** 3:
            return self._accelerate(T, B - self.shift, self.forbidden)
        *_, last = islice(self.descend(B, T), 2)
        return last.T

    def start(self, B: Array) -> Array:
        """Return even rows."""
        return project_to_simplex(namespace(B).zeros_like(B), self.forbidden)

    def descend(self, B: Array, start: Array | None = None) -> Iterator["Iterate"]:
        """Yield ever better rows without end, the same again once each has a certificate.

        Without a starting point, a burst of gradient steps comes before the exact solves. No row ever gets worse.
        """
        B = B - self.shift
        T = self.start(B) if start is None else start
        phases = [self._accelerate, self._exchange_blocks, self._pivot]
        if start is not None:
            phases = [*phases[1:], phases[0]]
        rows = np.flatnonzero(self.excess(T, self.gradient(T, B), self.forbidden) > 0)
        before, n_steps = T, 0
        for improve in cycle(phases):
            if rows.shape[0] > 0:
                part, b, forbidden = _take_rows(rows, T, B, self.forbidden)
                part = improve(part, b, forbidden)
                T = _replace_rows(T, rows, part)
                rows = rows[self.excess(part, self.gradient(part, b), forbidden) > 0]
                n_steps += 1
                if n_steps % len(phases) == 0:  # what a whole cycle did not move is as good as the arithmetic gets
                    rows, before = rows[self._moved(rows, before, T, B)], T
            yield Iterate(T, rows.shape[0])

    def _moved(self, rows: Rows, before: Array, after: Array, B: Array) -> Array:
        """Tell which rows were lowered by more than rounding."""
        xp = namespace(after)
        T, new, b = _take_rows(rows, before, after, B)
        G = self.gradient(T, b)
        move = new - T
        change = xp.sum(move * (G + (move @ self.Q) / 2), axis=1)
        return to_numpy(change < -float(xp.finfo(T.dtype).eps) * xp.max(xp.abs(G), axis=1))

    def gradient(self, T: Array, B: Array) -> Array:
        """Return the gradients, up to a constant in each row."""
        return T @ self.Q - B

    def excess(self, T: Array, G: Array, forbidden: Array | None) -> Vector:
        """Return the duality gaps less what counts as zero."""
        xp = namespace(T)
        reachable = G if forbidden is None else xp.where(forbidden, asarray_like(xp.inf, G), G)
        gaps = xp.sum(T * G, axis=1) - xp.min(reachable, axis=1)
        spread = xp.max(G, axis=1) - xp.min(G, axis=1) + self.curvature
        rounding = ROUNDING * float(xp.finfo(T.dtype).eps)
        return to_numpy(gaps - max(GAP, rounding) * spread - rounding * xp.max(xp.abs(G), axis=1)).astype(float)

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

    def _exchange_blocks(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows that a primal-dual active-set method solves, and the others improved by a cut-off step.

        Each round minimises on the working sets alone; then what is negative leaves them, and all that is worth
        adding enters. Mostly a few rounds find the optimal sets; where they do not, nothing is lost.
        """
        xp = namespace(T)
        G = self.gradient(T, B)
        working = T > 0
        step = self._newton_step(T, G, working, WIDE_RIDGE)
        best = self._move(T, G, step, working)
        rows, base = np.arange(T.shape[0]), T
        for _ in range(BLOCKS):
            point = base + step
            # A base point of sum one inside the working set, where the last minimum was not.
            base = project_to_simplex(point, ~working)
            found = self.excess(base, self.gradient(base, B), forbidden) <= 0
            best = _replace_rows(best, rows[found], *_take_rows(np.flatnonzero(found), base))
            rows = rows[~found]
            if rows.shape[0] == 0:
                break
            point, B, forbidden, working = _take_rows(np.flatnonzero(~found), point, B, forbidden, working)
            working = (working & (point > 0)) | (~working & self._worth_adding(point, B, working, forbidden))
            base = xp.astype(working, T.dtype)
            base = base / xp.sum(base, axis=1, keepdims=True)
            step = self._newton_step(base, self.gradient(base, B), working, WIDE_RIDGE)
        return best

    def _worth_adding(self, point: Array, B: Array, working: Array, forbidden: Array | None) -> Array:
        """Tell which entries outside the working sets would lower the objective from the minimum on these."""
        xp = namespace(point)
        G = self.gradient(point, B)
        one = xp.astype(working, G.dtype)
        level = xp.sum(G * one, axis=1, keepdims=True) / xp.sum(one, axis=1, keepdims=True)
        better = level - G > GAP * (xp.abs(level) + self.curvature)
        return better if forbidden is None else better & ~forbidden

    def _pivot(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows after many steps of an active-set method, which keeps small supports independent."""
        P = self._small_supports(T)
        rows = np.arange(T.shape[0])
        for _ in range(PIVOTS):
            part, b, banned = _take_rows(rows, P, B, forbidden)
            part = self._exchange(part, b, banned)
            P = _replace_rows(P, rows, part)
            rows = rows[self.excess(part, self.gradient(part, b), banned) > 0]
            if rows.shape[0] == 0:
                break
        return self._best(T, self.gradient(T, B), P)

    def _small_supports(self, T: Array) -> Array:
        """Return rows with large supports cut down to their largest entries."""
        xp = namespace(T)
        if T.shape[1] <= LARGE:
            return T
        large = xp.sum(xp.astype(T > 0, xp.int64), axis=1, keepdims=True) > LARGE
        least = xp.sort(T, axis=1, descending=True)[:, KEPT - 1 : KEPT]
        P = xp.where(large & (least > T), asarray_like(0.0, T), T)
        return P / xp.sum(P, axis=1, keepdims=True)

    def _exchange(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows after a step on their supports and the one index that promises most."""
        xp = namespace(T)
        G = self.gradient(T, B)
        reachable = G if forbidden is None else xp.where(forbidden, asarray_like(xp.inf, G), G)
        index = xp.arange(T.shape[1], device=device(T))
        entering = (index[None, :] == xp.argmin(reachable, axis=1, keepdims=True)) & (T == 0)
        working = (T > 0) | entering
        step = self._newton_step(T, G, working, NARROW_RIDGE)
        # A row whose support is not at its minimum yet may push the new index below zero: it goes there first.
        refused = np.flatnonzero(to_numpy(xp.any(entering & (step <= 0), axis=1)))
        if refused.shape[0] > 0:
            part, g = _take_rows(refused, T, G)
            step = _replace_rows(step, refused, self._newton_step(part, g, part > 0, NARROW_RIDGE))
        return self._move(T, G, step, working)

    def _move(self, T: Array, G: Array, step: Array, working: Array) -> Array:
        """Return the rows after steps that may leave the simplex: cut off there, or projected, whichever is lower."""
        xp = namespace(T)
        falling = step < 0
        ratios = xp.where(falling, T / xp.where(falling, -step, asarray_like(1.0, T)), asarray_like(xp.inf, T))
        length = xp.clip(xp.min(ratios, axis=1, keepdims=True), max=1.0)
        # What blocks leaves the support for good: rounding must not keep a trace of it.
        cut = xp.where(ratios <= length, asarray_like(0.0, T), xp.clip(T + length * step, min=0.0))
        return self._best(T, G, project_to_simplex(T + step, ~working), cut)

    def _best(self, T: Array, G: Array, *others: Array) -> Array:
        """Return, row by row, the lowest of some points, of which T has the gradient G."""
        xp = namespace(T)
        best, lowest = T, xp.zeros_like(T[:, :1])
        rounding = float(xp.finfo(T.dtype).eps) * xp.max(xp.abs(G), axis=1, keepdims=True)
        for point in others:
            point = point / xp.sum(point, axis=1, keepdims=True)
            move = point - T
            change = xp.sum(move * (G + (move @ self.Q) / 2), axis=1, keepdims=True)
            # A point that differs by rounding is taken, too: it may have a smaller support.
            better = change <= lowest + rounding
            best, lowest = xp.where(better, point, best), xp.where(better, change, lowest)
        return best

    def _newton_step(self, T: Array, G: Array, working: Array, ridge: float) -> Array:
        """Return the steps to the minima on the working sets with unchanged sum: all sets of a batch in one solve.

        Rows beyond the budget do not move: they are left to the gradient steps until others are done.
        """
        xp = namespace(T)
        n = T.shape[1]
        sizes = to_numpy(xp.sum(xp.astype(working, xp.int64), axis=1))
        order = xp.argsort(xp.astype(working, xp.int8), axis=1, descending=True, stable=True)  # working sets first
        step = xp.zeros_like(T)
        for rows in _batches(sizes, DEAR * n**3):
            where, size = xp.asarray(rows, device=device(T)), int(sizes[rows].max())
            ranked = xp.take(order, where, axis=0)
            support = ranked[:, :size]
            inside = xp.take_along_axis(xp.take(working, where, axis=0), support, axis=1)
            g = xp.take_along_axis(xp.take(G, where, axis=0), support, axis=1)
            rest = xp.zeros((rows.shape[0], n - size), dtype=T.dtype, device=device(T))
            moves = xp.concat([self._equality_step(support, inside, g, ridge), rest], axis=1)
            step = _replace_rows(step, rows, xp.take_along_axis(moves, xp.argsort(ranked, axis=1), axis=1))
        return step

    def _equality_step(self, support: Array, inside: Array, g: Array, ridge: float) -> Array:
        """Minimise d Q d' / 2 + g d' with sum(d) = 0 on each support, (p, s), zero outside."""
        xp = namespace(g)
        n, (p, s) = self.Q.shape[0], support.shape
        flat = xp.reshape(support[:, :, None] * n + support[:, None, :], (-1,))
        A = xp.reshape(xp.take(xp.reshape(self.Q, (-1,)), flat), (p, s, s))
        one = xp.astype(inside, g.dtype)
        A = A * one[:, :, None] * one[:, None, :]
        ridge = max(ridge, 50 * float(xp.finfo(g.dtype).eps))
        # Padding has ones on the diagonal and zeros on the right: it does not move.
        A = A + identity_like(A) * ((1 - one) * self.curvature + ridge * self.curvature)[:, :, None]
        # A constant in the gradient does not matter where the sum is fixed; without it the rest keeps its digits.
        g = (g - xp.sum(g * one, axis=1, keepdims=True) / xp.sum(one, axis=1, keepdims=True)) * one
        right = xp.stack([-g, one], axis=2)
        solved = xp.linalg.solve(A, right)
        newton, even = solved[:, :, 0], solved[:, :, 1]
        step = newton - even * (xp.sum(newton, axis=1, keepdims=True) / xp.sum(even, axis=1, keepdims=True))
        # On dependent columns the solve is inexact; what it adds to the sum goes back evenly.
        return step - one * (xp.sum(step, axis=1, keepdims=True) / xp.sum(one, axis=1, keepdims=True))


@dataclass(frozen=True)
class Iterate:
    """Rows on their way to the minimum."""

    T: Array  # (p, n)
    n_open: int  # rows that have no certificate yet and still move


def _batches(sizes: Rows, budget: float) -> Iterator[Rows]:
    """Yield rows whose supports have about the same size, few enough for the memory of a batch and for the budget."""
    order = np.argsort(sizes, kind="stable")
    order = order[np.cumsum(sizes[order].astype(float) ** 3) <= budget]
    bands = np.maximum(np.ceil(np.log2(sizes[order])), 3).astype(int)
    for band in np.unique(bands):
        rows = order[bands == band]
        length = max(1, BATCH_SIZE // 4 ** int(band))
        for first in range(0, rows.shape[0], length):
            yield rows[first : first + length]


def _take_rows(rows: Rows, *arrays: Array) -> list[Array]:
    """Return the chosen rows of some arrays of equal height; None stays None."""
    taken = []
    for A in arrays:
        whole = A is None or rows.shape[0] == A.shape[0]
        taken.append(A if whole else namespace(A).take(A, namespace(A).asarray(rows, device=device(A)), axis=0))
    return taken


def _replace_rows(A: Array, rows: Rows, values: Array) -> Array:
    """Return A with some rows exchanged."""
    xp = namespace(A)
    source = np.arange(A.shape[0])
    source[rows] = A.shape[0] + np.arange(rows.shape[0])
    return xp.take(xp.concat([A, values]), xp.asarray(source, device=device(A)), axis=0)
