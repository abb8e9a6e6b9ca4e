"""Equal samples are one vertex of the graph, which counts as often as they occur."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Array, Host
from kernelbraid.learning.sources import Samples


@dataclass(frozen=True)
class Vertices:
    """Which samples are one vertex of the graph."""

    index: NDArray[np.int64]  # (n_samples,): the vertex of each; -1 for samples that count nothing
    first: NDArray[np.int64]  # (n_vertices,): the first sample of each
    counts: NDArray[np.float64] | None  # (n_vertices,): how often each counts, relative to their mean; None: alike

    @classmethod
    def of(
        cls,
        samples: Samples,
        sample_weight: Any = None,
        *,
        views: Sequence[int] | None = None,
        are_joined: bool = True,
        least: int = 0,
    ) -> "Vertices":
        """Find the distinct samples.

        Parameters
        ----------
        samples : Samples
            All of them.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each counts.
        views : sequence of int, default=None
            Those in which copies are equal; all of them if None.
        are_joined : bool, default=True
            Whether equal samples become one, and weights count: the solvers of the paper take samples as they come.
        least : int, default=0
            Distinct samples below which there is nothing to be learned between them: copies stay apart then.
        """
        n = samples.n_samples
        weights = None if sample_weight is None else check_sample_weight(sample_weight, n)
        everyone = np.arange(n)
        if not are_joined:
            if weights is not None and np.ptp(weights) > 0:
                raise ValueError(
                    "sample_weight is taken into account where one linear system gives the graph; leave it out, or "
                    "give samples, kernels or distances, and take preset='recommended' without a solver."
                )
            return cls(everyone, everyone, None)
        views = range(samples.n_views) if views is None else views
        numbers = samples.identities(views)
        if weights is None and int(numbers.max()) + 1 < least:
            return cls(everyone, everyone, None)
        sums = np.bincount(numbers, weights)
        _, first = np.unique(numbers, return_index=True)
        # Vertices that count differently stand in an order of their own, so that weights give what copies do.
        is_even = np.ptp(sums[sums > 0]) == 0
        order = np.arange(len(first)) if is_even else samples.order(first, views)
        order = order[sums[order] > 0]
        place = np.full(len(first), -1)
        place[order] = np.arange(len(order))
        counts = sums[order]
        return cls(place[numbers], first[order], None if is_even else counts / counts.mean())

    def within(self, n_samples: int, rows: NDArray[np.int64] | None) -> "Vertices":
        """Return the same of more samples, of which these have some rows; the others count nothing."""
        if rows is None:
            return self
        index = np.full(n_samples, -1)
        index[rows] = self.index
        return Vertices(index, rows[self.first], self.counts)

    @property
    def are_others(self) -> bool:
        """Whether vertices are not just the samples in their order."""
        return not np.array_equal(self.first, np.arange(len(self.index)))

    @property
    def n_counted(self) -> float:
        """As how many samples the vertices count, if the one that counts least is one of them."""
        return float(len(self.first) if self.counts is None else self.counts.sum() / self.counts.min())

    @property
    def sizes(self) -> NDArray[np.float64] | None:
        """As how many samples each vertex counts, where these are not the same."""
        return np.bincount(self.index[self.index >= 0]).astype(np.float64) if self.are_others else None

    @property
    def silent(self) -> NDArray[np.int64]:
        """Samples that count nothing."""
        return np.flatnonzero(self.index < 0)

    def spread(self, values: Host) -> Host:
        """Return for every sample what its vertex has."""
        return values[self.index] if self.are_others else values

    def graph(self, graph: Array) -> Array:
        """Return a graph over all samples: of two vertices, the copies of the one meet those of the other in turn.

        So each copy has about as many edges as its vertex, and the edges between two vertices sum to what they did.
        """
        if not self.are_others:
            return graph
        order = np.argsort(self.index, kind="stable")
        sizes = np.bincount(self.index[self.index >= 0], minlength=len(self.first))
        order = order[len(order) - sizes.sum() :]
        starts = np.cumsum(sizes) - sizes
        half = sparse.coo_array(sparse.triu(graph))
        many = np.maximum(sizes[half.row], sizes[half.col])
        which = np.repeat(np.arange(len(half.data)), many)
        turn = np.arange(len(which)) - np.repeat(np.cumsum(many) - many, many)
        i, j = half.row[which], half.col[which]
        rows, columns = order[starts[i] + turn % sizes[i]], order[starts[j] + turn % sizes[j]]
        n = len(self.index)
        found = sparse.csr_array(((half.data / many.astype(half.dtype))[which], (rows, columns)), shape=(n, n))
        return sparse.csr_array(found + found.T)


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Return weights of samples as numbers, or say what is wrong with them."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}; give one number for each of {n_samples} samples.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be numbers from 0 on; sample {int(bad[0])} (counted from 0) has {weights[bad[0]]}."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample; give some of them weight.")
    return weights
