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

from kernelbraid._arrays import (
    asarray_like,
    device,
    identity_like,
    is_on_host,
    namespace,
    replace_rows,
    row_blocks,
    take_rows,
    to_numpy,
)
from kernelbraid._typing import Array
from kernelbraid.ops.projection import project_to_simplex
from kernelbraid.solvers.working_sets import SetMinima

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

# Largest duality gap of a solved row, relative to the spread of its gradient, and the rounding of the gradient in units
# of the precision.
GAP, ROUNDING = 1e-11, 64
# Gradient steps in a burst.
BURST = 15
# Exchanges of whole blocks between two bursts, and of single indices after them.
BLOCKS, PIVOTS = 30, 80
# Entries that a set may gain in an exchange, however small it is; larger ones may double.
FEW = 16
# Exchanges after which a block enters only where nothing leaves.
PATIENCE = 6
# Pivoting starts from supports of at most this size; of a larger one the largest entries are kept.
LARGE, KEPT = 64, 16
# Bursts and solves before `solve` gives up: one to three are usual, more where a Hessian is indefinite.
MAX_STEPS = 30
# Exact solves of one step may cost this many times n^3; the smallest supports come first, the others wait.
DEAR = 60
# Regularisation of an exact solve relative to the curvature; a step is proximal, so it does not move the solution.
# Wide supports are often dependent, those of pivoting hardly ever.
WIDE_RIDGE, NARROW_RIDGE = 1e-10, 1e-14
# Share of the usual block of rows in a burst: in the cache of the host; on an accelerator, all.
IN_CACHE, ON_DEVICE = 0.125, 1e6


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
    wide: SetMinima  # on large supports
    narrow: SetMinima  # on those of pivoting

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
        least = 50 * float(xp.finfo(Q.dtype).eps)
        wide, narrow = (SetMinima(centred, curvature, max(ridge, least)) for ridge in (WIDE_RIDGE, NARROW_RIDGE))
        return cls(centred, shift, curvature, forbidden, wide, narrow)

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
        if float(np.sum(self.wide.costs(T > 0))) > DEAR * T.shape[1] ** 3:
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

    def _moved(self, rows: Rows, before: Array, after: Array, B: Array) -> Array:
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
        xp, share = namespace(start), IN_CACHE if is_on_host(start) else ON_DEVICE
        parts = []
        for rows in row_blocks(start.shape[0], share):
            banned = None if forbidden is None else forbidden[rows, :]
            parts.append(self._burst(start[rows, :], B[rows, :], banned))
        return self._best(start, self.gradient(start, B), xp.concat(parts))

    def _burst(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        xp = namespace(T)
        P = T
        momentum = xp.ones((T.shape[0], 1), dtype=T.dtype, device=device(T))
        for _ in range(BURST):
            new = project_to_simplex(P - self.gradient(P, B) / self.curvature, forbidden)
            uphill = xp.sum((P - new) * (new - T), axis=1, keepdims=True) > 0
            longer = (1 + xp.sqrt(1 + 4 * momentum * momentum)) / 2
            P = xp.where(uphill, new, new + (momentum - 1) / longer * (new - T))
            momentum = xp.where(uphill, xp.ones_like(longer), longer)
            T = new
        return T

    def _exchange_blocks(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows that a primal-dual active-set method solves, and the others improved by a cut-off step.

        Each round minimises on the working sets alone; then what is negative leaves them, and all that is worth
        adding enters; later on only where nothing leaves, lest they go round in circles. Mostly a few rounds find the
        optimal sets; where they do not, nothing is lost.
        """
        xp = namespace(T)
        best, rows, open_rows = T, np.arange(T.shape[0]), []
        base, b, banned, working = T, B, forbidden, T > 0
        for n_round in range(BLOCKS):
            dear = self._too_dear(working)
            if dear.any():
                open_rows.append(rows[dear])
                rows = rows[~dear]
                base, b, banned, working = take_rows(np.flatnonzero(~dear), base, b, banned, working)
            if rows.shape[0] == 0:
                break
            point = base + self.wide.steps(self.gradient(base, b), working)
            G = self.gradient(point, b)
            leaving, entering = working & (point <= 0), self._worth_adding(G, working, banned)
            is_short = xp.any(leaving, axis=1, keepdims=True)
            if n_round >= PATIENCE:
                entering = entering & ~is_short
            # A base point of sum one inside the next working set, near the last minimum.
            base = xp.clip(point, min=0.0)
            base = base / xp.sum(base, axis=1, keepdims=True)
            found = ~to_numpy(is_short)[:, 0] & (self.excess(base, G, banned) <= 0)
            best = replace_rows(best, rows[found], *take_rows(np.flatnonzero(found), base))
            rows = rows[~found]
            working = (working & ~leaving) | entering
            base, b, banned, working = take_rows(np.flatnonzero(~found), base, b, banned, working)
        return self._cut_off(best, np.concatenate([rows, *open_rows]), B)

    def _too_dear(self, working: Array) -> NDArray[np.bool_]:
        """Tell which sets are beyond what one round may cost; the cheapest come first."""
        costs = self.wide.costs(working)
        order = np.argsort(costs, kind="stable")
        dear = np.empty(costs.shape, dtype=bool)
        dear[order] = np.cumsum(costs[order]) > DEAR * working.shape[1] ** 3
        return dear

    def _cut_off(self, T: Array, rows: Rows, B: Array) -> Array:
        """Return T with some rows moved towards the minima on their supports, as far as they can go."""
        if rows.shape[0] == 0:
            return T
        part, b = take_rows(rows, T, B)
        dear = np.flatnonzero(self._too_dear(part > 0))
        if dear.shape[0] == rows.shape[0]:
            return T
        rows = np.delete(rows, dear)
        part, b = take_rows(rows, T, B)
        G, working = self.gradient(part, b), part > 0
        return replace_rows(T, rows, self._move(part, G, self.wide.steps(G, working), working))

    def _worth_adding(self, G: Array, working: Array, forbidden: Array | None) -> Array:
        """Tell which entries outside the working sets would lower the objective from the minimum on these."""
        xp = namespace(G)
        one = xp.astype(working, G.dtype)
        level = xp.sum(G * one, axis=1, keepdims=True) / xp.sum(one, axis=1, keepdims=True)
        gain = level - G
        better = ~working & (gain > GAP * (xp.abs(level) + self.curvature))
        return _most_promising(gain, better if forbidden is None else better & ~forbidden, working)

    def _pivot(self, T: Array, B: Array, forbidden: Array | None) -> Array:
        """Return the rows after many steps of an active-set method, which keeps small supports independent."""
        P = self._small_supports(T)
        rows = np.arange(T.shape[0])
        for _ in range(PIVOTS):
            part, b, banned = take_rows(rows, P, B, forbidden)
            part = self._exchange(part, b, banned)
            P = replace_rows(P, rows, part)
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
        step = self.narrow.steps(G, working)
        # A row whose support is not at its minimum yet may push the new index below zero: it goes there first.
        refused = np.flatnonzero(to_numpy(xp.any(entering & (step <= 0), axis=1)))
        if refused.shape[0] > 0:
            part, g = take_rows(refused, T, G)
            step = replace_rows(step, refused, self.narrow.steps(g, part > 0))
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


@dataclass(frozen=True)
class Iterate:
    """Rows on their way to the minimum."""

    T: Array  # (p, n)
    n_open: int  # rows that have no certificate yet and still move


def _most_promising(gain: Array, entering: Array, working: Array) -> Array:
    """Tell which entries enter at once: those of largest gain, so many that a set at most doubles, or a few."""
    xp = namespace(gain)
    most = xp.clip(xp.sum(xp.astype(working, xp.int64), axis=1, keepdims=True), min=FEW)
    many = to_numpy(xp.sum(xp.astype(entering, xp.int64), axis=1, keepdims=True) > most)[:, 0]
    rows = np.flatnonzero(many)
    if rows.shape[0] == 0:
        return entering
    g, new, most = take_rows(rows, gain, entering, most)
    g = xp.where(new, g, asarray_like(0.0, g))
    least = xp.take_along_axis(xp.sort(g, axis=1, descending=True), most - 1, axis=1)
    return replace_rows(entering, rows, new & (g >= least))  # all of several equal ones
