"""LKG with a part taken out: one kernel made of many before the graph is learned.

Each function takes the kernels of a bank and the parameters of a fit and returns the kernel that the graph is then
learned on alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbraid.kernels import StoredStack
from kernelbraid.ops import symmetrise
from kernelbraid.ops.weights import power_weights
from kernelbraid.solvers.batch import Setting, solve_many
from kernelbraid.solvers.low_rank.thresholding import SingularValueThreshold
from kernelbraid.solvers.low_rank.weights import solve_simplex_lsq

Kernels = NDArray[np.float64]

#: So large that the consensus kernel cannot leave the combination of the candidates.
TIGHT = 1e6
#: So small that no singular value of the kernel is cut.
NOTHING = 1e-12
STEPS, CHANGE = 100, 1e-5  # of a kernel learned without a graph
ROUNDS, WEIGHT_CHANGE = 10, 1e-2  # of weights and graph in turn


def average(kernels: Kernels, /, **parameters: Any) -> Kernels:
    """Return the plain average."""
    return np.asarray(kernels.mean(axis=0))


def kernel_first(kernels: Kernels, /, *, beta: float, gamma: float, **parameters: Any) -> Kernels:
    """Learn the kernel by its own terms: minimise beta ||K||_* + gamma ||K - sum_i g_i H_i||^2 over K and g.

    Both steps are exact: K is the combination with its singular values cut by beta / (2 gamma), g projects K on the
    hull of the candidates. They are small where beta / gamma is, and the limits above may end them before the weights
    are those of the minimum, although the objective hardly falls any more.
    """
    stack = StoredStack.of(kernels.copy(), overwrite=True)
    R = stack.factor()
    weights = np.full(len(kernels), 1 / len(kernels))
    K, shrink = average(kernels), SingularValueThreshold()
    for _ in range(STEPS):
        old = K
        K = shrink(np.tensordot(weights, kernels, axes=1), beta / (2 * gamma))
        weights = solve_simplex_lsq(R, stack.coordinates(K), weights)
        if np.linalg.norm(K - old) <= CHANGE * np.linalg.norm(old):
            break
    return symmetrise(K)


def bound_combination(kernels: Kernels, /, *, alpha: float, mu: float, **parameters: Any) -> Kernels:
    """Learn weights with the graph, but no kernel beside the combination: K = sum_i g_i H_i.

    The graph is learned on the combination; then a kernel weighs the more the better the graph expresses its samples:
    weights proportional to the inverse square of Tr((I - Z)' H_i (I - Z)), scaled to sum 1, as SCMK does. An infinite
    gamma in LKG itself would not do: its weights project K, which then is the combination, so that they never move.
    """
    weights = np.full(len(kernels), 1 / len(kernels))
    for _ in range(ROUNDS):
        combined = np.tensordot(weights, kernels, axes=1)
        setting = Setting(alpha, NOTHING, TIGHT, mu)
        (solution,) = solve_many(combined[None], [setting], n_jobs=1)
        rest = np.eye(len(combined)) - solution.state.Z
        costs = np.array([float(np.vdot(rest, H @ rest)) for H in kernels])
        if not np.isfinite(costs).all():  # the graph broke down; these weights are the last that are sound
            break
        old, weights = weights, power_weights(np.maximum(costs, 0.0))
        weights = weights / weights.sum()
        if np.abs(weights - old).max() < WEIGHT_CHANGE:
            break
    return np.asarray(np.tensordot(weights, kernels, axes=1))
