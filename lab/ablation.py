"""LKG with a part taken out: one kernel made of many before the graph is learned.

Each function takes the kernels of a bank, (m, n, n), and the parameters of a fit, and returns the kernel that the graph
is then learned on alone.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from kernelbraid.learning import PRESETS, Candidates, Samples, StoredStack, express

#: So large that the consensus kernel cannot leave the combination of the candidates.
TIGHT = 1e6
#: So small that no singular value of the kernel is cut.
NOTHING = 1e-12
STEPS, CHANGE = 100, 1e-5  # of a kernel learned without a graph
ROUNDS, WEIGHT_CHANGE = 10, 1e-2  # of weights and graph in turn
LEAST_COST = 1e-100  # of a kernel under which the graph expresses everything
SUM_TO_ONE = 1e4  # how heavy the row is that says so, relative to the kernels


def average(kernels: np.ndarray, /, **parameters: Any) -> np.ndarray:
    """Return the plain average."""
    return np.asarray(kernels.mean(axis=0))


def kernel_first(kernels: np.ndarray, /, *, beta: float, gamma: float, **parameters: Any) -> np.ndarray:
    """Learn the kernel by its own terms: minimise beta ||K||_* + gamma ||K - sum_i g_i H_i||^2 over K and g.

    Both steps are exact: K is the combination with its singular values cut by beta / (2 gamma), g projects K on the
    hull of the candidates. They are small where beta / gamma is, and the limits above may end them before the weights
    are those of the minimum, although the objective hardly falls any more.
    """
    Q, R = np.linalg.qr(kernels.reshape(len(kernels), -1).T)
    heavy = SUM_TO_ONE * np.linalg.norm(R)
    system = np.vstack([R, np.full(len(kernels), heavy)])
    weights = np.full(len(kernels), 1 / len(kernels))
    K = average(kernels)
    for _ in range(STEPS):
        old = K
        K = _cut(np.tensordot(weights, kernels, axes=1), beta / (2 * gamma))
        weights = nnls(system, np.append(Q.T @ K.ravel(), heavy))[0]
        if np.linalg.norm(K - old) <= CHANGE * np.linalg.norm(old):
            break
    return K


def bound_combination(kernels: np.ndarray, /, *, alpha: float, mu: float, **parameters: Any) -> np.ndarray:
    """Learn weights with the graph, but no kernel beside the combination: K = sum_i g_i H_i.

    The graph is learned on the combination; then a kernel weighs the more the better the graph expresses its samples:
    weights proportional to the inverse square of Tr((I - Z)' H_i (I - Z)), scaled to sum 1, as SCMK does. An infinite
    gamma in LKG itself would not do: its weights project K, which then is the combination, so that they never move.
    """
    weights = np.full(len(kernels), 1 / len(kernels))
    learning = replace(PRESETS["authors"].learning, alpha=alpha, beta=NOTHING, gamma=TIGHT, mu=mu)
    for _ in range(ROUNDS):
        combined = np.tensordot(weights, kernels, axes=1)
        stack = StoredStack.of(combined[None].copy())
        found = express(Candidates(stack, ["combination"], Samples(), None), learning)
        rest = np.eye(len(combined)) - np.asarray(found.Z)
        costs = np.array([float(np.vdot(rest, H @ rest)) for H in kernels])
        if not np.isfinite(costs).all():  # the graph broke down; these weights are the last that are sound
            break
        costs = np.maximum(costs, LEAST_COST)
        old, weights = weights, (costs.min() / costs) ** 2
        weights = weights / weights.sum()
        if np.abs(weights - old).max() < WEIGHT_CHANGE:
            break
    return np.asarray(np.tensordot(weights, kernels, axes=1))


def _cut(K: np.ndarray, threshold: float) -> np.ndarray:
    """Return a symmetric matrix with its singular values lower by a threshold, none below zero."""
    values, vectors = np.linalg.eigh(K)
    values = np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)
    cut = (vectors * values) @ vectors.T
    return np.asarray((cut + cut.T) / 2)
