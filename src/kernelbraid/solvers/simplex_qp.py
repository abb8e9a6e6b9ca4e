"""Many quadratic programs over the probability simplex that share one Hessian, solved together.

    min_t  1/2 t Q t' - b t'    subject to t >= 0, sum(t) = 1, and t_j = 0 for forbidden j

for every row t of a matrix. Accelerated projected gradients find the supports of all rows roughly; then one row after
the other is solved exactly, until each carries a certificate: the duality gap

    t (Q t' - b) - min_j (Q t' - b)_j

bounds how far its objective is from the minimum.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from kernelbraid._arrays import asarray_like, device, identity_like, namespace, replace_rows, take_rows, to_numpy
from kernelbraid._typing import Array, Matrix, Places, Vector
from kernelbraid.ops.closed_forms import project_to_simplex

# Largest duality gap of a solved row, relative to the spread of its gradient, and the rounding of the gradient in units
# of the precision.
GAP, ROUNDING = 1e-11, 64
# Gradient steps in a burst.
BURST = 15
# Exchanges of whole blocks of a row, after which single indices are; and those after which a block enters only where
# nothing leaves.
BLOCKS, PATIENCE = 30, 6
# Exact solves start from supports of at most this size; of a larger one the largest entries are kept, and it doubles.
LARGE, KEPT = 64, 16
# Exchanges of single indices for each variable.
PIVOTS = 4
# Bursts and solves before `solve` gives up: one to three are usual, more where a Hessian is indefinite.
MAX_STEPS = 30
# Exact solves of one step may cost this many times n^3; the smallest supports come first, the others wait.
DEAR = 60
# Regularisation of an exact solve relative to the curvature; a step is proximal, so it does not move the solution.
RIDGE = 1e-12


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
    ridge: float  # on the diagonal of an exact solve

    @classmethod
    def of(cls, Q: Array, *, zero_diagonal: bool = False) -> "SimplexQP":
        """Prepare programs with Hessian Q; with `zero_diagonal`, row i has t_i = 0."""
        xp = namespace(Q)
        means = xp.mean(Q, axis=1)
        shift = means - xp.mean(means) / 2
        centred = Q - shift[:, None] - shift[None, :]
        curvature = float(xp.linalg.eigvalsh(centred)[-1])
        forbidden = identity_like(Q) > 0 if zero_diagonal else None
        curvature = max(curvature, float(xp.finfo(Q.dtype).smallest_normal) ** 0.5)
        ridge = max(RIDGE, 50 * float(xp.finfo(Q.dtype).eps)) * curvature
        return cls(centred, shift, curvature, forbidden, ridge)

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
        if len(_cheap(to_numpy(T))) < T.shape[0]:
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
                part, b, forbidden = take_rows(rows, T, B, self.forbidden)
                part = improve(part, b, forbidden)
                T = replace_rows(T, rows, part)
                rows = rows[self.excess(part, self.gradient(part, b), forbidden) > 0]
                n_steps += 1
                if n_steps % len(phases) == 0:  # what a whole cycle did not move is as good as the arithmetic gets
                    rows, before = rows[self._moved(rows, before, T, B)], T
            yield Iterate(T, rows.shape[0])

    def _moved(self, rows: Places, before: Array, after: Array, B: Array) -> Array:
        """Tell which rows were lowered by more than rounding."""
        xp = namespace(after)
        T, new, b = take_rows(rows, before, after, B)
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
        """Return the rows with those that a primal-dual active-set method solves; the others stay.

        Each round minimises on the working set alone; then what is negative leaves it, and what promises most enters;
        later on only where nothing leaves, lest it go round in circles. Mostly a few rounds find the optimal set; where
        they do not, nothing is lost.
        """
        best, (starts, gradients, free) = to_numpy(T).astype(float), self._rows_on_host(T, B, forbidden)
        for row in _cheap(starts):
            base, g, working = starts[row], gradients[row], starts[row] > 0
            for n_round in range(BLOCKS):
                step, change = self._step(g, working)
                point, g = base + step, g + change
                leaving, level = working & (point <= 0), g[working].mean()
                entering = free[row] & ~working & (level - g > GAP * (abs(level) + self.curvature))
                if entering.sum() > (most := max(KEPT, working.sum())):
                    entering &= g <= np.partition(g[entering], most - 1)[most - 1]
                # A base point of sum one inside the next working set, near the last minimum.
                base = np.maximum(point, 0.0)
                base = base / base.sum()
                if leaving.any():
                    moved = np.flatnonzero(base != point)
                    g = g + (base - point)[moved] @ self._on_host[moved]
                    entering &= n_round < PATIENCE
                elif not entering.any():
                    best[row] = base
                    break
                working = (working & ~leaving) | entering
        return asarray_like(best, T)

    def _pivot(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows after exchanges of single indices: one that blocks leaves, the most promising one enters."""
        best, gradients, free = self._rows_on_host(T, B, forbidden)
        for row in _cheap(best):
            point, g, working, refused = best[row], gradients[row], best[row] > 0, ~free[row]
            entered = -1
            for _ in range(PIVOTS * len(point)):
                step, change = self._step(g, working)
                falling = working & (step < 0)
                ratios = np.where(falling, point / np.where(falling, -step, 1.0), np.inf)
                blocking = int(np.argmin(ratios))
                length = min(float(ratios[blocking]), 1.0)
                point, g = np.maximum(point + length * step, 0.0), g + length * change
                if length < 1:
                    point[blocking] = 0.0
                    working[blocking] = False
                    refused[blocking] |= blocking == entered  # it promised by rounding alone
                    continue
                level = g[working].mean()
                gains = np.where(working | refused, -np.inf, level - g)
                entered = int(np.argmax(gains))
                if gains[entered] <= GAP * (abs(level) + self.curvature):
                    break
                working[entered] = True
            best[row] = point
        return self._best(T, self.gradient(T, B), asarray_like(best, T))

    def _step(self, g: Vector, working: NDArray[np.bool_]) -> tuple[Vector, Vector]:
        """Return the step from a point to the minimum on a set, and what it adds to the gradient g.

        It minimises 1/2 d Q d' + g d' over d of sum zero with d_j = 0 outside the set.
        """
        inside = np.flatnonzero(working)
        Q = self._on_host[inside]
        A = Q[:, inside]
        np.einsum("ii->i", A)[:] += self.ridge
        # A constant in the gradient does not matter where the sum is fixed; without it the rest keeps its digits.
        right = np.stack([g[inside].mean() - g[inside], np.ones(len(inside))], axis=1)
        _, solved, is_indefinite = dposv(A, right)
        newton, even = (np.linalg.solve(A, right) if is_indefinite else solved).T
        step = np.zeros(len(g))
        step[inside] = newton - even * (newton.sum() / even.sum())
        step[inside] -= step[inside].mean()  # on dependent columns the solve is inexact
        return step, step[inside] @ Q

    def _rows_on_host(self, T: Array, B: Array, forbidden: Array | None) -> tuple[Matrix, Matrix, NDArray[np.bool_]]:
        """Return rows of small supports in double precision, their gradients, and which entries need not be zero."""
        free = np.ones(T.shape, dtype=bool) if forbidden is None else ~to_numpy(forbidden)
        start = to_numpy(T).astype(float)
        if (is_large := np.count_nonzero(start > 0, axis=1) > LARGE).any():
            wide = start[is_large]
            wide[wide < np.partition(wide, -KEPT, axis=1)[:, [-KEPT]]] = 0.0
            start[is_large] = wide / wide.sum(axis=1, keepdims=True)
        return start, to_numpy(self.gradient(asarray_like(start, T), B)).astype(float), free

    @cached_property
    def _on_host(self) -> Matrix:
        """Q in double precision."""
        return to_numpy(self.Q).astype(float, copy=False)

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


@dataclass(frozen=True)
class Iterate:
    """Rows on their way to the minimum."""

    T: Array  # (p, n)
    n_open: int  # rows that have no certificate yet and still move


def _cheap(T: Matrix) -> Places:
    """Return the rows that one step may solve, the smallest supports first."""
    costs = np.count_nonzero(T > 0, axis=1).astype(float) ** 3
    order = np.argsort(costs, kind="stable")
    return np.asarray(order[np.cumsum(costs[order]) <= DEAR * T.shape[1] ** 3])
