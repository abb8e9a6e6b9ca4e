"""Equal samples as one vertex that counts as often as they occur, and samples with weights of their own."""

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
    def of(cls, samples: Samples, sample_weight: Any = None, *, are_joined: bool = True) -> "Vertices":
        """Find the distinct samples.

        Parameters
        ----------
        samples : Samples
            All of them.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each counts.
        are_joined : bool, default=True
            Whether equal samples become one, and weights count: the solvers of the paper take samples as they come.
        """
        n = samples.n_samples
        weights = None if sample_weight is None else check_sample_weight(sample_weight, n)
        everyone = np.arange(n)
        if not are_joined:
            if weights is not None and np.ptp(weights) > 0:
                raise ValueError(
                    "sample_weight is taken into account where one linear system gives the graph; leave it out, or "
                    "take preset='recommended' without gamma and graph_penalty."
                )
            return cls(everyone, everyone, None)
        numbers = samples.identities(range(samples.n_views))
        sums = np.bincount(numbers, weights)
        heavy = sums > 0
        place = np.where(heavy, np.cumsum(heavy) - 1, -1)
        index = place[numbers]
        _, first = np.unique(index, return_index=True)
        first = first if heavy.all() else first[1:]
        counts = sums[heavy]
        return cls(index, first, None if np.ptp(counts) == 0 else counts / counts.mean())

    @property
    def is_smaller(self) -> bool:
        """Whether there are fewer vertices than samples."""
        return len(self.first) < len(self.index)

    @property
    def n_counted(self) -> float:
        """As how many samples the vertices count, if the one that counts least is one of them."""
        return float(len(self.first) if self.counts is None else self.counts.sum() / self.counts.min())

    @property
    def silent(self) -> NDArray[np.int64]:
        """Samples that count nothing."""
        return np.flatnonzero(self.index < 0)

    @property
    def has_silent(self) -> bool:
        """Whether there are such samples."""
        return bool((self.index < 0).any())

    def spread(self, values: Host) -> Host:
        """Return for every sample what its vertex has."""
        return values[self.index] if self.is_smaller else values

    def graph(self, graph: Array) -> Array:
        """Return a graph over all samples: of two vertices, the copies of the one meet those of the other in turn.

        So each copy has about as many edges as its vertex, and the edges between two vertices sum to what they did.
        """
        if not self.is_smaller:
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
        found = sparse.csr_array(((half.data / many)[which], (rows, columns)), shape=(n, n))
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
