"""Which samples stand aside: those that the others cannot express."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernelbraid._arrays import namespace, to_numpy
from kernelbraid._linalg import ridge_inverse
from kernelbraid._typing import Array
from kernelbraid.learning.confidence import without_loops

#: Weight of the squared coefficients in units of the mean kernel value of a sample with itself: small, so that what is
#: left of a sample is what the others lack, and not what the penalty takes.
PENALTY = 0.1
# What is left of a sample, in the same units, below which it counts as expressed: many copies of it are, to any degree.
NOTHING = 1e-3


@dataclass(frozen=True)
class Unexplained:
    """What is left of samples when the others express them, under one kernel."""

    left: np.ndarray  # squared distance in the feature space, (n_rows,), positive
    rows: np.ndarray | None = None  # samples that it is about; None for all
    weight: float = 1.0

    @classmethod
    def of(cls, K: Array, rows: np.ndarray | None = None, weight: float = 1.0) -> "Unexplained":
        r"""Express every sample by the others, of which the kernel is given.

        With :math:`B = (K + a I)^{-1}`, it is :math:`1 / B_{ii} - a`, the Schur complement of all others.
        """
        xp = namespace(K)
        K = xp.astype(K, xp.float64)
        size = float(xp.mean(xp.linalg.diagonal(K))) or 1.0
        penalty = PENALTY * abs(size)
        inverse = to_numpy(xp.linalg.diagonal(ridge_inverse(K, penalty)))
        left = 1 / np.where(inverse > 0, inverse, np.inf) - penalty
        return cls(np.maximum(left, NOTHING * abs(size)), rows, weight)


def outlier_scores(graph: Array, parts: Sequence[Unexplained]) -> np.ndarray:
    r"""Return how far each sample stands aside, from 0 (not at all) to 1.

    .. math:: 1 - 1 / \max(q_i, 1), \qquad q_i = r_i \max\Big(\sum_j P_{ij} / r_j,\ 1 / \operatorname{median} r\Big)

    with :math:`r` what is left of samples when the others express them, and :math:`P` the random walk on the graph: a
    sample is compared with its neighbours, or with all if these are better expressed. So one that stands aside of a
    dense cluster is found, and so are several that are neighbours of each other. One that is expressed half as well has
    a score of 1/2.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        Symmetric.
    parts : sequence of Unexplained
        One per kernel; the score is the mean over those that a sample has, by their weights.
    """
    edges = without_loops(graph if sparse.issparse(graph) else to_numpy(graph))
    n = edges.shape[0]
    total, weights = np.zeros(n), np.zeros(n)
    for part in parts:
        rows = np.arange(n) if part.rows is None else part.rows
        mine = edges if part.rows is None else edges[rows][:, rows]
        total[rows] += part.weight * score_of(compared(mine, part.left))
        weights[rows] += part.weight
    return np.asarray(total / np.where(weights > 0, weights, 1.0))


def compared(edges: Array, left: np.ndarray) -> np.ndarray:
    """Return what is left of samples in units of what is left of their neighbours, or of half of all samples."""
    sums = np.asarray(edges.sum(axis=1)).ravel()
    near = (edges @ (1 / left)) / np.where(sums > 0, sums, 1.0)
    return np.asarray(left * np.maximum(near, 1 / np.median(left)))


def score_of(ratio: np.ndarray) -> np.ndarray:
    """Return ratios to what is common as scores between 0 and 1."""
    return np.asarray(1 - 1 / np.maximum(ratio, 1.0))
