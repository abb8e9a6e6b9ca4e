"""The opponents: LKG in plain NumPy, once as the authors wrote it and once with its constants computed once.

Both make every step of Algorithm 1 with ``numpy.linalg.solve`` and ``numpy.linalg.svd`` and a new array for every
expression. They know nothing of kernelbraid, except that the exact solver of the weights can be put in.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.problems import GROWTH, METHODS, Setting
from kernelbraid.solvers.low_rank.weights import solve_simplex_lsq

Matrix = np.ndarray[Any, np.dtype[np.float64]]

SUM_ROW_WEIGHT = 1e4  # of the row that asks for a sum of one, over the norm of the other rows
RIDGE = 1e-12  # of the trace, so that nearly equal kernels have a Cholesky factor


@dataclass
class PlainState:
    """The variables of Algorithm 1."""

    K: Matrix
    J: Matrix
    W: Matrix
    g: Matrix
    Y1: Matrix
    Y2: Matrix
    mu: float

    def copy(self) -> "PlainState":
        """Return a state that shares no array with this one."""
        arrays = {name: getattr(self, name).copy() for name in ("K", "J", "W", "g", "Y1", "Y2")}
        return replace(self, **arrays)


def weights_by_least_squares(M: Matrix, linear: Matrix) -> Matrix:
    """Minimise g'Mg - linear'g on the simplex as nonnegative least squares, with a heavy row for the sum."""
    m = linear.shape[0]
    factor = np.linalg.cholesky(M + RIDGE * np.trace(M) * np.eye(m))
    heavy = SUM_ROW_WEIGHT * np.linalg.norm(factor)
    rows = np.vstack([factor.T, np.full((1, m), heavy)])
    target = np.append(np.linalg.solve(factor, linear) / 2, heavy)
    g = nnls(rows, target, maxiter=2000)[0]
    return g / g.sum()


def threshold_singular_values(A: Matrix, t: float) -> Matrix:
    """Lower every singular value by t, through the full decomposition."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * np.maximum(s - t, 0)) @ Vt


def threshold_elements(A: Matrix, t: float) -> Matrix:
    """Lower every absolute value by t."""
    return np.sign(A) * np.maximum(np.abs(A) - t, 0)


@dataclass
class PlainPort:
    """Opponent (b): traces of kernel pairs computed once, one pass for Tr(K H_i). Its stopping test is left out."""

    H: Matrix  # (m, n, n)
    setting: Setting
    method: str  # "LKGr" or "LKGs"
    M: Matrix = field(init=False)  # (m, m)
    eye: Matrix = field(init=False)  # (n, n)

    def __post_init__(self) -> None:
        flat = self.H.reshape(self.H.shape[0], -1)
        self.M = flat @ flat.T
        self.eye = np.eye(self.H.shape[1])

    def start(self) -> PlainState:
        """Return the published starting point: uniform weights, J = I, K = W = average kernel."""
        m = self.H.shape[0]
        zeros = np.zeros_like(self.eye)
        g = np.full(m, 1 / m)
        K = np.tensordot(g, self.H, 1)
        return PlainState(K, self.eye.copy(), K.copy(), g, zeros, zeros.copy(), self.setting.mu)

    def step(self, s: PlainState) -> PlainState:
        """Return the next state; the multipliers are updated in place."""
        p, mu, eye = self.setting, s.mu, self.eye
        shrink = threshold_singular_values if METHODS[self.method] == "nuclear" else threshold_elements
        Z = np.maximum(np.linalg.solve(s.K + mu * eye, s.K + mu * s.J + s.Y1), 0)
        combined = 2 * p.gamma * np.tensordot(s.g, self.H, 1)
        K = np.maximum((combined + mu * s.W + s.Y2 - eye / 2 + Z.T - Z @ Z.T / 2) / (mu + 2 * p.gamma), 0)
        J = np.maximum(shrink(Z - s.Y1 / mu, p.alpha / mu), 0)
        W = np.maximum(threshold_singular_values(K - s.Y2 / mu, p.beta / mu), 0)
        g = self.weights(K)
        Y1, Y2 = s.Y1, s.Y2
        Y1 += mu * (J - Z)
        Y2 += mu * (W - K)
        return PlainState(K, J, W, g, Y1, Y2, GROWTH * mu)

    def weights(self, K: Matrix) -> Matrix:
        """Return the weights of the sum of kernels that is nearest to K."""
        return weights_by_least_squares(self.M, 2 * self.H.reshape(self.H.shape[0], -1) @ K.ravel())


@dataclass
class AsPublished(PlainPort):
    """Opponent (a): every trace is taken of a full product, in every step, as the authors' loop does."""

    def weights(self, K: Matrix) -> Matrix:
        """Return the weights of the sum of kernels that is nearest to K, from m^2 + m products."""
        M = np.array([[np.trace(Hi @ Hj) for Hj in self.H] for Hi in self.H])
        return weights_by_least_squares(M, 2 * np.array([np.trace(K @ Hi) for Hi in self.H]))


@dataclass
class WithExactWeights(PlainPort):
    """Opponent (b) with kernelbraid's solver of the weights, to compare results without the ridge; it is not timed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.Q, self.R = np.linalg.qr(self.H.reshape(self.H.shape[0], -1).T)

    def weights(self, K: Matrix) -> Matrix:
        """Return the weights of the sum of kernels that is nearest to K."""
        return solve_simplex_lsq(self.R, self.Q.T @ K.ravel())
