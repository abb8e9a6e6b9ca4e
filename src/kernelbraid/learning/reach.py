"""How far new samples are from their neighbours: whether these speak for them, and who stands aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import quiet_overflow, to_numpy
from kernelbraid._typing import Array
from kernelbraid.learning.outliers import NOTHING, score_of

if TYPE_CHECKING:
    from kernelbraid.learning.extend import NewSamples


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
    def of(cls, samples: Mapping[int, tuple[np.ndarray | None, Array]], graph: Array) -> Reach:
        """Take them from samples, view by view, with the numbers of those that a view has, and from their graph."""
        graph, views = sparse.csr_array(graph), {}
        for view, (rows, A) in samples.items():
            mine, A = slice(None) if rows is None else rows, sparse.csr_array(A) if sparse.issparse(A) else to_numpy(A)
            mean = 0.0 if sparse.issparse(A) else A.mean(axis=0)
            A = A if sparse.issparse(A) else A - mean  # distances lose digits far from the origin
            views[view] = Distances(mine, A, mean, distances_along(graph[mine][:, mine], A, A))
        return cls(views)

    def holds(self, new: NewSamples, edges: Array) -> NDArray[np.float64]:
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

    def aside(self, new: NewSamples, edges: Array) -> NDArray[np.float64]:
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
    sums = np.asarray(edges.sum(axis=1)).ravel()
    shares = sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ edges
    with quiet_overflow():
        squares = [np.asarray((A * A).sum(axis=1)).ravel() for A in (rows, columns)]
        found = squares[0] - 2 * np.asarray((rows * (shares @ columns)).sum(axis=1)).ravel() + shares @ squares[1]
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))
