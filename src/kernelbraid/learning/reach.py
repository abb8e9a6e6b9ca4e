"""How far neighbours speak for new samples."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernelbraid._arrays import quiet_overflow, to_numpy
from kernelbraid._typing import Array
from kernelbraid.learning.extend import Extension, NewSamples


@dataclass(frozen=True)
class Reach:
    """How far neighbours speak for new samples: as far as a fitted sample is from its own ones at most.

    Means of squared distances along edges are compared, in every view that is kept.
    """

    views: dict[int, tuple[np.ndarray | slice, Array, Array | float, float]]  # samples, what a view has, mean, reach

    @classmethod
    def of(cls, fitted: Extension, graph: Array) -> "Reach":
        """Take the distances from the graph of the fitted samples."""
        graph, views = sparse.csr_array(graph), {}
        for view, (rows, A) in fitted.samples().items():
            mine, A = slice(None) if rows is None else rows, sparse.csr_array(A) if sparse.issparse(A) else to_numpy(A)
            mean = 0.0 if sparse.issparse(A) else A.mean(axis=0)
            A = A if sparse.issparse(A) else A - mean  # distances lose digits far from the origin
            reach = float(_distances_along(graph[mine][:, mine], A, A).max(initial=0.0))
            if reach > 0:
                views[view] = mine, A, mean, reach
        return cls(views)

    def holds(self, new: NewSamples, edges: Array) -> np.ndarray:
        """Return how far what neighbours say holds for new samples: 1 within reach, and less the farther beyond it."""
        total, n_views = np.zeros(new.n_samples), np.zeros(new.n_samples)
        edges = sparse.csr_array(edges)
        for view, (mine, A, mean, reach) in self.views.items():
            there = np.flatnonzero(new.measured[view])
            (B,) = new.of([view], there)
            if sparse.issparse(A):
                B = sparse.csr_array(B)
            else:
                B = (B.toarray() if sparse.issparse(B) else to_numpy(B)).astype(np.float64) - mean
            total[there] += _distances_along(edges[there][:, mine], B, A) / reach
            n_views[there] += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.minimum(n_views / total, 1.0, where=total > 0, out=np.ones(new.n_samples)))


def _distances_along(edges: Array, rows: Array, columns: Array) -> np.ndarray:
    """Return mean squared distances of samples to those that edges lead to; infinity where numbers end."""
    sums = np.asarray(edges.sum(axis=1)).ravel()
    shares = sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ edges
    with quiet_overflow():
        squares = [np.asarray((A * A).sum(axis=1)).ravel() for A in (rows, columns)]
        found = squares[0] - 2 * np.asarray((rows * (shares @ columns)).sum(axis=1)).ravel() + shares @ squares[1]
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))
