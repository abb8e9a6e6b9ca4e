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

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from kernelbraid._arrays import (
    asarray_like,
    device,
    identity_like,
    is_foreign,
    namespace,
    replace_rows,
    take_rows,
    to_numpy,
)
from kernelbraid._typing import Array, Places, Vector
from kernelbraid.ops.closed_forms import project_to_simplex

# Largest duality gap of a solved row, relative to the spread of its gradient, and the rounding of the gradient in units
# of the precision.
GAP, ROUNDING = 1e-11, 64
# Gradient steps in a burst.
BURST = 15
# Exchanges of whole blocks between two bursts, and of single indices after them.
BLOCKS, PIVOTS = 30, 80
# Exchanges after which a block enters only where nothing leaves.
PATIENCE = 6
# Working sets start from supports of at most this size; of a larger one the largest entries are kept.
LARGE, KEPT = 64, 16
# Bursts and solves before `solve` gives up: one to three are usual, more where a Hessian is indefinite.
MAX_STEPS = 30
# Exact solves of one step may cost this many times n^3; the smallest supports come first, the others wait.
DEAR = 60
# Regularisation of an exact solve relative to the curvature; a step is proximal, so it does not move the solution.
RIDGE = 1e-12
# Larger supports are solved one by one on the host, which takes half the multiplications and no padding.
SMALL = 24
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
        if float(np.sum(_costs(T > 0))) > DEAR * T.shape[1] ** 3:
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

        Each round minimises on the working sets alone, small ones at first; then what is negative leaves them, and
        what is worth adding enters; later on only where nothing leaves, lest they go round in circles. Mostly a few
        rounds find the optimal sets; where they do not, nothing is lost.
        """
        xp = namespace(T)
        best, rows = T, np.arange(T.shape[0])
        base = self._small_supports(T)
        b, banned, working = B, forbidden, base > 0
        for n_round in range(BLOCKS):
            cheap = np.flatnonzero(~_too_dear(working))
            rows = rows[cheap]
            if rows.shape[0] == 0:
                break
            base, b, banned, working = take_rows(cheap, base, b, banned, working)
            point = base + self.steps(self.gradient(base, b), working)
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
        return best

    def _worth_adding(self, G: Array, working: Array, forbidden: Array | None) -> Array:
        """Tell which entries outside the working sets promise most of a lower objective; sets double at most."""
        xp = namespace(G)
        one = xp.astype(working, G.dtype)
        level = xp.sum(G * one, axis=1, keepdims=True) / xp.sum(one, axis=1, keepdims=True)
        better = ~working & (level - G > GAP * (xp.abs(level) + self.curvature))
        better = better if forbidden is None else better & ~forbidden
        gain = xp.where(better, level - G, asarray_like(0.0, G))
        last = xp.clip(xp.sum(xp.astype(working, xp.int64), axis=1, keepdims=True), min=KEPT, max=G.shape[1]) - 1
        return better & (gain >= xp.take_along_axis(xp.sort(gain, axis=1, descending=True), last, axis=1))

    def steps(self, G: Array, working: Array) -> Array:
        """Return the steps from points with gradients G, (p, n), to the minima on working sets, of sum zero.

        They minimise 1/2 d Q d' + g d' with d_j = 0 outside the set: a linear system for each.
        """
        xp = namespace(G)
        one = xp.astype(working, G.dtype)
        count = xp.sum(one, axis=1, keepdims=True)
        # A constant in the gradient does not matter where the sum is fixed; without it the rest keeps its digits.
        G = (G - xp.sum(G * one, axis=1, keepdims=True) / count) * one
        order = xp.argsort(xp.astype(one, xp.int8), axis=1, descending=True, stable=True)  # the sets first
        step, sizes = xp.zeros_like(G), _sizes(working)
        for rows in batches(sizes):
            first, inside, g = take_rows(rows, order, one, G)
            solve = self._solve if is_foreign(G) or sizes[rows].max() <= SMALL else self._solve_alone
            newton, even = solve(first, inside, [-g, inside], int(sizes[rows].max()))
            level = xp.sum(newton, axis=1, keepdims=True) / xp.sum(even, axis=1, keepdims=True)
            step = replace_rows(step, rows, newton - even * level)
        # On dependent columns the solve is inexact; what it adds to the sum goes back evenly.
        return step - one * (xp.sum(step, axis=1, keepdims=True) / count)

    def _solve(self, order: Array, one: Array, rights: list[Array], s: int) -> list[Array]:
        """Solve x_S (Q_SS + ridge I) = r_S for sets of about the same size in one call, padded to the largest."""
        xp, (p, n) = namespace(one), one.shape
        support = order[:, :s]
        inside = xp.take_along_axis(one, support, axis=1)
        flat = xp.reshape(support[:, :, None] * n + support[:, None, :], (-1,))
        A = xp.reshape(xp.take(xp.reshape(self.Q, (-1,)), flat), (p, s, s)) * inside[:, :, None] * inside[:, None, :]
        # Padding has a positive diagonal and zeros on the right: it stays zero.
        size = xp.max(xp.abs(xp.linalg.diagonal(A)), axis=1, keepdims=True) + self.ridge
        A = A + identity_like(A) * ((1 - inside) * size + self.ridge)[:, :, None]
        solved = xp.linalg.solve(A, xp.stack([xp.take_along_axis(r, support, axis=1) * inside for r in rights], axis=2))
        rest = xp.zeros((p, n - s), dtype=one.dtype, device=device(one))
        back = xp.argsort(order, axis=1)
        found = [xp.concat([solved[:, :, i], rest], axis=1) for i in range(len(rights))]
        return [xp.take_along_axis(x, back, axis=1) for x in found]

    def _solve_alone(self, order: Array, one: Array, rights: list[Array], s: int) -> list[Array]:
        """Solve the same one set after the other, on the host, by Cholesky's method and without padding."""
        found, (posv,) = [np.zeros_like(one) for _ in rights], get_lapack_funcs(("posv",), (self.Q,))
        for row, (indices, size) in enumerate(zip(order, np.count_nonzero(one, axis=1), strict=True)):
            support = indices[:size]
            A = self.Q[support[:, None], support]
            A.flat[:: size + 1] += self.ridge
            wanted = np.stack([right[row, support] for right in rights], axis=1)
            _, solved, is_indefinite = posv(A, wanted)
            for x, values in zip(found, (np.linalg.solve(A, wanted) if is_indefinite else solved).T, strict=True):
                x[row, support] = values
        return found

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
        step = self.steps(G, working)
        # A row whose support is not at its minimum yet may push the new index below zero: it goes there first.
        refused = np.flatnonzero(to_numpy(xp.any(entering & (step <= 0), axis=1)))
        if refused.shape[0] > 0:
            part, g = take_rows(refused, T, G)
            step = replace_rows(step, refused, self.steps(g, part > 0))
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


def _sizes(working: Array) -> Places:
    """Return how many entries the sets have."""
    xp = namespace(working)
    return to_numpy(xp.sum(xp.astype(working, xp.int64), axis=1))


def _costs(working: Array) -> Vector:
    """Return what the solves on sets cost, in multiplications."""
    return _sizes(working).astype(float) ** 3


def _too_dear(working: Array) -> NDArray[np.bool_]:
    """Tell which sets are beyond what one round may cost; the cheapest come first."""
    costs = _costs(working)
    order = np.argsort(costs, kind="stable")
    dear = np.empty(costs.shape, dtype=bool)
    dear[order] = np.cumsum(costs[order]) > DEAR * working.shape[1] ** 3
    return dear


def batches(sizes: Places) -> Iterator[Places]:
    """Yield rows whose sets have about the same size, few enough for the memory of a batch, in their order."""
    order = np.argsort(sizes, kind="stable")
    bands = np.maximum(np.ceil(np.log2(sizes[order])), 3).astype(int)
    for band in np.unique(bands):
        rows = order[bands == band]
        length = max(1, BATCH_SIZE // 4 ** int(band))
        for first in range(0, rows.shape[0], length):
            yield np.sort(rows[first : first + length])
