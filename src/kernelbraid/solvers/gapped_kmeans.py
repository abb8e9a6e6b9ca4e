"""k-means of samples that lack some of several views: squared distances are means over the views that two have."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Array
from kernelbraid.solvers.centres import Labels, Matrix, cluster_sums, inner_products, squared_lengths
from kernelbraid.solvers.landmarks import row_slices

#: Mean squared distance of two samples, in squared units of the spread; taken for those without a view in common.
STRANGERS = 2.0


@dataclass(frozen=True)
class GappedViews:
    """Samples in several views of spread one; what a view lacks are rows of zeros."""

    views: list[Array]  # (n, d) each
    has: Matrix  # (n, n_views): one for a sample that is there

    @classmethod
    def of(cls, views: Sequence[Array], has: Sequence[NDArray[np.bool_]]) -> "GappedViews":
        """Take views with rows of NaN, or anything else, where they are not to count."""
        return cls(
            [_with_rows(view, rows) for view, rows in zip(views, has, strict=True)], np.stack(has, axis=1).astype(float)
        )

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.has.shape[0])

    @cached_property
    def squares(self) -> Matrix:
        """Squared lengths, (n, n_views)."""
        return np.stack([squared_lengths(view) for view in self.views], axis=1)

    def some(self, rows: Labels | slice) -> "GappedViews":
        """Return some of the samples."""
        return GappedViews([view[rows] for view in self.views], self.has[rows])

    def distances(self, centres: "GappedViews", strangers: float) -> Matrix:
        """Return squared distances to centres, (n, k): means over common views; `strangers` where there is none."""
        total = self.squares @ centres.has.T + self.has @ centres.squares.T
        for mine, theirs in zip(self.views, centres.views, strict=True):
            total -= 2 * inner_products(mine, theirs)
        shared = self.has @ centres.has.T
        return np.where(shared > 0, total / np.maximum(shared, 1.0), strangers)

    def spread(self, count: int, random_state: np.random.RandomState) -> Labels:
        """Draw different samples one after the other, far ones with higher probability (k-means++)."""
        nearest, left = np.full(self.n_samples, np.inf), np.ones(self.n_samples, dtype=bool)
        chosen = np.empty(count, dtype=np.int64)
        for position in range(count):
            odds = np.where(left, nearest, 0.0) if position else left.astype(float)
            totals = np.cumsum(odds if odds.any() else left)
            row = int(np.searchsorted(totals, random_state.random_sample() * totals[-1], side="right"))
            row = row if row < self.n_samples and left[row] else int(np.argmax(left))
            chosen[position], left[row] = row, False
            apart = self.distances(self.some(np.array([row])), STRANGERS)[:, 0]
            nearest = np.minimum(nearest, np.maximum(apart, 0.0))
        return chosen

    def settle(self, rows: Labels, max_iter: int) -> "GappedViews":
        """Move centres from samples to the means, view by view, of what is nearest to them, so many times.

        A centre has every view that a sample of its own has, and keeps what it had where none has.
        """
        centres = self.some(rows)
        labels: Labels | None = None
        for _ in range(max_iter):
            before, labels = labels, self._nearest(centres)
            if before is not None and np.array_equal(before, labels):
                break
            centres = self._means(labels, centres)
        return centres

    def _nearest(self, centres: "GappedViews") -> Labels:
        k = centres.n_samples
        found = [self.some(rows).distances(centres, np.inf).argmin(axis=1) for rows in row_slices(self.n_samples, k)]
        return np.concatenate(found).astype(np.int64)

    def _means(self, labels: Labels, before: "GappedViews") -> "GappedViews":
        counts = np.asarray(cluster_sums(self.has, labels, before.n_samples))  # (k, n_views)
        views = []
        for view, old, count in zip(self.views, before.views, counts.T, strict=True):
            share, kept = sparse.diags_array(1 / np.maximum(count, 1.0)), sparse.diags_array((count == 0).astype(float))
            views.append(share @ cluster_sums(view, labels, before.n_samples) + kept @ old)
        return GappedViews(views, np.maximum(before.has, counts > 0))


def _with_rows(view: Array, rows: NDArray[np.bool_]) -> Array:
    """Return a view in double precision, with zeros in the other rows."""
    if rows.all():
        return view.astype(np.float64)
    if sparse.issparse(view):
        places = np.repeat(rows, np.diff(view.indptr))
        return sparse.csr_array((np.where(places, view.data, 0.0), view.indices, view.indptr), shape=view.shape)
    return np.where(rows[:, None], view, 0.0)
