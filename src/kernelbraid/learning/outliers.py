"""Which samples stand aside: those that the others cannot express, and that are far from the nearest of them.

Of new samples, also whether their neighbours speak for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import namespace, quiet_overflow, to_numpy
from kernelbraid._typing import Array
from kernelbraid.learning.confidence import without_loops
from kernelbraid.ops.closed_forms import kernel_distances
from kernelbraid.ops.graphs import unit_sums
from kernelbraid.solvers.low_rank.ridge import ridge_inverse

if TYPE_CHECKING:
    from kernelbraid.learning.extend import NewSamples

#: Weight of the squared coefficients in units of the mean kernel value of a sample with itself: small, so that what is
#: left of a sample is what the others lack, and not what the penalty takes.
PENALTY = 0.1
# What is left of a sample, in the same units, below which it counts as expressed: many copies of it are, to any degree.
NOTHING = 1e-3
#: Samples to which the distances count.
NEAREST = 10


@dataclass(frozen=True)
class Unexplained:
    """What is left of samples when others stand in for them, in one view or under one kernel."""

    left: np.ndarray  # squared distance, (n_rows,), positive; the unit does not matter
    rows: np.ndarray | None = None  # samples that it is about; None for all
    weight: float = 1.0

    @classmethod
    def of(
        cls, K: Array, rows: np.ndarray | None = None, weight: float = 1.0, *, distances: Iterable[Array] | None = None
    ) -> "Unexplained":
        """Return the geometric mean of what is left by all others together and by the nearest alone.

        The first misses samples between clusters, which a flat kernel expresses by both sides; the second, clusters
        that are wide. Both are ratios by which samples are compared, so the mean does not depend on any unit.

        Parameters
        ----------
        K : array of shape (n_rows, n_rows)
            Kernel.
        rows : ndarray of shape (n_rows,), default=None
            Samples that it is about; all if None.
        weight : float, default=1.0
            Of this part among others.
        distances : iterable of array of shape (n, n_rows), default=None
            Squared distances of the samples, block by block of them; those of the kernel if None.
        """
        blocks = [kernel_distances(K)] if distances is None else distances
        return cls(np.sqrt(left_by_all(K) * left_by_nearest(blocks)), rows, weight)


def left_by_all(K: Array) -> np.ndarray:
    r"""Return the squared distance of every sample to what the others express of it, in the feature space of a kernel.

    With :math:`B = (K + a I)^{-1}`, it is :math:`1 / B_{ii} - a`, the Schur complement of all others.
    """
    xp = namespace(K)
    K = xp.astype(K, xp.float64)
    size = float(xp.mean(xp.linalg.diagonal(K))) or 1.0
    penalty = PENALTY * abs(size)
    inverse = to_numpy(xp.linalg.diagonal(ridge_inverse(K, penalty)))
    left = 1 / np.where(inverse > 0, inverse, np.inf) - penalty
    return np.asarray(np.maximum(left, NOTHING * abs(size)))


def left_by_nearest(distances: Iterable[Array]) -> np.ndarray:
    """Return the mean squared distance of every sample to the nearest others, from blocks of rows of all distances."""
    sums, total, first = [], 0.0, 0
    for block in distances:
        D = to_numpy(block).astype(np.float64, copy=True)
        total += float(D.sum())
        own = np.arange(D.shape[0])
        D[own, first + own] = np.inf
        first += D.shape[0]
        k = min(NEAREST, D.shape[1] - 1)
        sums.append(np.partition(D, k - 1, axis=1)[:, :k].mean(axis=1) if k > 0 else np.zeros(D.shape[0]))
    near = np.concatenate(sums)
    least = NOTHING * total / len(near) ** 2
    return np.asarray(np.maximum(near, least if least > 0 else 1.0))


def outlier_scores(graph: Array, parts: Sequence[Unexplained]) -> np.ndarray:
    r"""Return how far each sample stands aside, from 0 (not at all) to 1.

    .. math:: 1 - 1 / \max(q_i, 1), \qquad q_i = r_i \max\Big(\sum_j P_{ij} / r_j,\ 1 / \operatorname{median} r\Big)

    with :math:`r` what is left of samples when others stand in for them, and :math:`P` the random walk on the graph: a
    sample is compared with its neighbours, or with all if of these less is left. So one that stands aside of a dense
    cluster is found, and so are several that are neighbours of each other. One of which twice as much is left has a
    score of 1/2.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        Symmetric.
    parts : sequence of Unexplained
        One per view or kernel; the score is the mean over those that a sample has, by their weights.
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


@dataclass(frozen=True)
class Distances:
    """What one view has of the fitted samples, and how far they are from their neighbours."""

    rows: np.ndarray | slice  # samples that the view has
    A: Array  # about their mean, if they are dense
    mean: Array | float
    own: NDArray[np.float64]  # mean squared distances along edges

    def of(self, B: Array, edges: Array) -> NDArray[np.float64]:
        """Return those of other samples."""
        if sparse.issparse(self.A):
            return distances_along(edges, sparse.csr_array(B), self.A)
        B = (B.toarray() if sparse.issparse(B) else to_numpy(B)).astype(np.float64)
        return distances_along(edges, B - self.mean, self.A)


@dataclass(frozen=True)
class Reach:
    """The distances of fitted samples from their neighbours in every view that is kept."""

    views: dict[int, Distances]

    @classmethod
    def of(cls, samples: Mapping[int, tuple[np.ndarray | None, Array]], graph: Array) -> "Reach":
        """Take them from samples, view by view, with the numbers of those that a view has, and from their graph."""
        graph, views = sparse.csr_array(graph), {}
        for view, (rows, A) in samples.items():
            mine, A = slice(None) if rows is None else rows, sparse.csr_array(A) if sparse.issparse(A) else to_numpy(A)
            mean = 0.0 if sparse.issparse(A) else A.mean(axis=0)
            A = A if sparse.issparse(A) else A - mean  # distances lose digits far from the origin
            views[view] = Distances(mine, A, mean, distances_along(graph[mine][:, mine], A, A))
        return cls(views)

    def holds(self, new: "NewSamples", edges: Array) -> NDArray[np.float64]:
        """Return how far what neighbours say holds for new samples: 1 within reach, and less the farther beyond it.

        Within reach are those that are as near to their neighbours as a fitted sample is to its own.
        """
        total, n_views, edges = np.zeros(new.n_samples), np.zeros(new.n_samples), sparse.csr_array(edges)
        for view, known in self.views.items():
            there, reach = np.flatnonzero(new.measured[view]), known.own.max(initial=0.0)
            if reach > 0:
                (B,) = new.of([view], there)
                total[there] += known.of(B, edges[there][:, known.rows]) / reach
                n_views[there] += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.minimum(n_views / total, 1.0, where=total > 0, out=np.ones(new.n_samples)))

    def aside(self, new: "NewSamples", edges: Array) -> NDArray[np.float64]:
        """Return how far new samples stand aside, from 0 to 1, as far as samples are kept.

        They are compared with their neighbours, as for fitted samples in
        :func:`~kernelbraid.learning.outliers.outlier_scores` what is left of them is.
        """
        total, n_views = np.zeros(new.n_samples), np.zeros(new.n_samples)
        for view, known in self.views.items():
            there = np.flatnonzero(new.measured[view])
            own, links = np.maximum(known.own, NOTHING * known.own.mean() or 1.0), edges[there][:, known.rows]
            near = (links @ (1 / own)) / np.maximum(links.sum(axis=1), np.finfo(float).tiny)
            (B,) = new.of([view], there)
            left = known.of(B, links)
            total[there] += score_of(left * np.maximum(near, 1 / np.median(own)))
            n_views[there] += 1
        return np.asarray(total / np.maximum(n_views, 1))


def distances_along(edges: Array, rows: Array, columns: Array) -> NDArray[np.float64]:
    """Return mean squared distances of samples to those that edges lead to; infinity where numbers end."""
    shares = unit_sums(edges)
    with quiet_overflow():
        squares = [np.asarray((A * A).sum(axis=1)).ravel() for A in (rows, columns)]
        found = squares[0] - 2 * np.asarray((rows * (shares @ columns)).sum(axis=1)).ravel() + shares @ squares[1]
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))
