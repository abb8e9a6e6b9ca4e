"""Least squares over the probability simplex.

The problem of the kernel weights, min g'Mg - a'g with M_ij = Tr(H_i H_j), is one of these: with M = R'R it is to make
R g as near as possible to b. Nearly equal kernels make M singular to rounding, but not R: working with R keeps the
digits that forming M would lose.
"""

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import LinAlgError
from kernelbraid._typing import Matrix, Vector

# A constraint counts as violated when its multiplier, relative to the scale of the problem, is below minus this.
DUAL_TOLERANCE = 1e-14
# Steps allowed per variable; an active-set method rarely needs more than two.
STEPS_PER_VARIABLE = 20


def solve_simplex_lsq(R: Matrix, b: Vector, start: Vector | None = None) -> Vector:
    """Minimise 1/2 ||R g - b||^2 subject to g >= 0 and sum(g) = 1, by a primal active-set method.

    Parameters
    ----------
    R : ndarray of shape (k, m)
        Any matrix; where its columns are dependent, the most even of the solutions on a support is taken.
    b : ndarray of shape (k,)
        Target.
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
    if not (np.isfinite(R).all() and np.isfinite(b).all()):
        raise LinAlgError("the problem of the kernel weights is not finite")
    m = R.shape[1]
    R, b = _to_scale(R, b)
    g = np.full(m, 1 / m) if start is None else np.asarray(start, dtype=float)
    support = g > 0
    refused = np.zeros(m, dtype=bool)  # entered only to leave at once: multipliers negative by rounding alone
    entered = -1
    for _ in range(STEPS_PER_VARIABLE * m):
        target = _minimise_on_support(R, b, support)
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
        gradient = R.T @ (R @ g - b)
        multipliers = np.where(support | refused, np.inf, gradient - g @ gradient)
        entered = int(np.argmin(multipliers))
        if multipliers[entered] >= -DUAL_TOLERANCE:
            break
        support[entered] = True
    return np.asarray(g / g.sum())


def solve_simplex_lsqs(R: Matrix, b: Matrix, start: Matrix) -> Matrix:
    """Solve one problem for every row of `b`, from the rows of `start`.

    In an iteration most supports stay as they are: all problems are solved on theirs at once, and only those whose
    solution fails the optimality conditions go through the active-set method.
    """
    m = R.shape[1]
    scaled, targets = _to_scale(R, b)
    inside = (start > 0).astype(float)
    mean = inside / inside.sum(axis=1, keepdims=True)
    centring = inside[:, :, None] * np.eye(m) - inside[:, :, None] * mean[:, None, :]
    U, s, Vt = np.linalg.svd(scaled @ centring, full_matrices=False)
    large = s > np.finfo(float).eps * max(R.shape) * s[:, :1]
    inverse = np.where(large, 1 / np.where(large, s, 1.0), 0.0)
    misfit = targets - mean @ scaled.T
    shift = np.einsum("bji,bj->bi", Vt, inverse * np.einsum("bji,bj->bi", U, misfit))
    g = mean + np.einsum("bij,bj->bi", centring, shift)
    gradient = (g @ scaled.T - targets) @ scaled
    multipliers = np.where(inside > 0, np.inf, gradient - np.sum(g * gradient, axis=1, keepdims=True))
    solved = (g >= 0).all(axis=1) & (multipliers.min(axis=1) >= -DUAL_TOLERANCE)
    for row in np.flatnonzero(~solved):
        g[row] = solve_simplex_lsq(R, b[row], start[row])
    return np.asarray(g / g.sum(axis=1, keepdims=True))


def _to_scale(R: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """Divide both sides so that the columns of R have length one on average."""
    scale = float(np.linalg.norm(R)) / np.sqrt(R.shape[1]) or 1.0
    return R / scale, b / scale


def _minimise_on_support(R: Matrix, b: Vector, support: NDArray[np.bool_]) -> Vector:
    """Minimise ||R g - b|| with sum(g) = 1 and zeros outside the support (the most even point if not unique)."""
    inside = np.flatnonzero(support)
    size = inside.shape[0]
    # sum(g) = 1 is met by the mean point; what remains is an unconstrained problem on vectors of sum zero.
    mean = np.full(size, 1 / size)
    centring = np.eye(size) - 1 / size
    columns = R[:, inside]
    shift = centring @ np.linalg.lstsq(columns @ centring, b - columns @ mean, rcond=None)[0]
    g = np.zeros(support.shape[0])
    g[inside] = mean + shift
    return g
