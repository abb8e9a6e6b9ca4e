"""Convex quadratic programs over the probability simplex."""

from typing import Any, TypeAlias

import numpy as np

from kernelbraid._arrays import LinAlgError

Vector: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# A constraint counts as violated when its multiplier, relative to the mean diagonal of Q, is below minus this.
DUAL_TOLERANCE = 1e-14
# Steps allowed per variable; an active-set method rarely needs more than two.
STEPS_PER_VARIABLE = 20
# A slope that Q cannot balance, relative to the data of the problem, above which it is no rounding.
FLATNESS = 1e-10


def solve_simplex_qp(Q: Matrix, a: Vector, start: Vector | None = None) -> Vector:
    """Minimise 1/2 g'Qg - a'g subject to g >= 0 and sum(g) = 1, by a primal active-set method.

    Parameters
    ----------
    Q : ndarray of shape (m, m)
        Symmetric positive semidefinite; may be singular, then one of the solutions is returned.
    a : ndarray of shape (m,)
        Linear term.
    start : ndarray of shape (m,), default=None
        Feasible starting point; uniform if None.

    Returns
    -------
    ndarray of shape (m,)
        A point of the simplex that satisfies the optimality conditions up to rounding.

    Notes
    -----
    The support of g is the working set. Each round minimises over the support with sum(g) = 1. If that leaves the
    simplex, g moves to the boundary and the blocking index leaves the support; otherwise the index outside the
    support with the most negative multiplier enters. Finite because every full step lowers the objective.
    """
    m = a.shape[0]
    if not (np.isfinite(Q).all() and np.isfinite(a).all()):
        raise LinAlgError("the quadratic program of the kernel weights is not finite")
    scale = float(np.trace(Q)) / m or 1.0
    Q, a = Q / scale, a / scale
    g = np.full(m, 1 / m) if start is None else np.asarray(start, dtype=float)
    support = g > 0
    refused = np.zeros(m, dtype=bool)  # entered only to leave at once: multipliers negative by rounding alone
    entered = -1
    for _ in range(STEPS_PER_VARIABLE * m):
        target = _minimise_on_support(Q, a, support)
        falling = support & (target < 0)
        if falling.any():
            ratios = np.where(falling, g / np.where(falling, g - target, 1.0), np.inf)
            blocking = int(np.argmin(ratios))
            g = np.where(support, g + ratios[blocking] * (target - g), 0.0)
            g[blocking] = 0.0
            support[blocking] = False
            refused[blocking] |= blocking == entered
            continue
        g = target
        gradient = Q @ g - a
        multipliers = np.where(support | refused, np.inf, gradient - g @ gradient)
        entered = int(np.argmin(multipliers))
        if multipliers[entered] >= -DUAL_TOLERANCE:
            break
        support[entered] = True
    return np.asarray(g / g.sum())


def _minimise_on_support(Q: Matrix, a: Vector, support: np.ndarray[Any, np.dtype[np.bool_]]) -> Vector:
    """Minimise 1/2 g'Qg - a'g with sum(g) = 1 and zeros outside the support (the most even point if not unique)."""
    inside = np.flatnonzero(support)
    size = inside.shape[0]
    # sum(g) = 1 is met by the mean point; what remains is an unconstrained problem on vectors of sum zero.
    mean = np.full(size, 1 / size)
    centring = np.eye(size) - 1 / size
    reduced = centring @ Q[np.ix_(inside, inside)] @ centring
    slope = centring @ (a[inside] - Q[np.ix_(inside, inside)] @ mean)
    shift = centring @ np.linalg.lstsq(reduced, slope, rcond=None)[0]
    flat = slope - reduced @ shift
    size_of_flat = float(np.linalg.norm(flat))
    if size_of_flat > FLATNESS * (1 + float(np.abs(a).max())):
        # The objective falls without end along a direction in which Q is zero: aim beyond the simplex.
        shift = shift + flat * (2 / size_of_flat)
    g = np.zeros(support.shape[0])
    g[inside] = mean + shift
    return g


def solve_simplex_qps(Q: Matrix, a: Matrix, start: Matrix) -> Matrix:
    """Solve one quadratic program for every row of `a`, from the rows of `start`.

    In an iteration most supports stay as they are: all problems are solved on theirs at once, and only those whose
    solution fails the optimality conditions go through the active-set method.
    """
    m = a.shape[1]
    scale = float(np.trace(Q)) / m or 1.0
    scaled, slopes = Q / scale, a / scale
    inside = (start > 0).astype(float)
    size = inside.sum(axis=1, keepdims=True)
    mean = inside / size
    centring = inside[:, :, None] * np.eye(m) - inside[:, :, None] * mean[:, None, :]
    reduced = centring @ scaled @ centring
    slope = np.einsum("bij,bj->bi", centring, slopes - mean @ scaled)
    values, vectors = np.linalg.eigh(reduced)
    large = np.abs(values) > np.finfo(float).eps * m * np.abs(values).max(axis=1, keepdims=True)
    inverse = np.where(large, 1 / np.where(large, values, 1.0), 0.0)
    shift = np.einsum("bij,bj->bi", vectors, inverse * np.einsum("bji,bj->bi", vectors, slope))
    flat = np.linalg.norm(slope - np.einsum("bij,bj->bi", reduced, shift), axis=1)
    g = mean + np.einsum("bij,bj->bi", centring, shift)
    gradient = g @ scaled - slopes
    multipliers = np.where(inside > 0, np.inf, gradient - np.sum(g * gradient, axis=1, keepdims=True))
    solved = (g >= 0).all(axis=1) & (multipliers.min(axis=1) >= -DUAL_TOLERANCE)
    solved &= flat <= FLATNESS * (1 + np.abs(slopes).max(axis=1))
    for row in np.flatnonzero(~solved):
        g[row] = solve_simplex_qp(Q, a[row], start[row])
    return np.asarray(g / g.sum(axis=1, keepdims=True))
