"""Weights of kernels from their costs."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]


def power_weights(costs: Vector, exponent: float = 0.5) -> Vector:
    r"""Minimise :math:`\sum_k a_k h_k` subject to :math:`a \ge 0` and :math:`\sum_k a_k^\gamma = 1`.

    With an exponent of 1/2 and a = w^2 this is min sum_k w_k^2 h_k on the probability simplex, with w_k
    proportional to 1 / h_k.

    Parameters
    ----------
    costs : ndarray of shape (..., m)
        h, not negative; infinite for a kernel that must not be used, finite for one at least.
    exponent : float, default=0.5
        gamma, between 0 and 1: near 0 all kernels count alike, near 1 the cheapest alone does.

    Returns
    -------
    ndarray of shape (..., m)
        a, proportional to h^(1 / (gamma - 1)). Costs of zero share the weight among them.
    """
    costs = np.asarray(costs, dtype=float)
    free = costs == 0
    costs = np.where(free.any(axis=-1, keepdims=True), np.where(free, 1.0, np.inf), costs)
    # Logarithms relative to the cheapest kernel: powers of small costs would overflow.
    logs = np.log(costs)
    shares = np.exp((logs - logs.min(axis=-1, keepdims=True)) / (exponent - 1))
    return np.asarray(shares / np.sum(shares**exponent, axis=-1, keepdims=True) ** (1 / exponent))
