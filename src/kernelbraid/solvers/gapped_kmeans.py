"""k-means of samples that lack some of several views: squared distances are means over the views that two have."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Array
from kernelbraid.blocks.parts import LocalParts
from kernelbraid.solvers.landmark_centres import Centres, Sums, means
from kernelbraid.solvers.landmarks import row_slices, split_views
from kernelbraid.solvers.lloyd import Labels, Matrix, cluster_sums, inner_products, squared_lengths

#: Mean squared distance of two samples, in squared units of the spread; taken for those without a view in common.
STRANGERS = 2.0


@dataclass(frozen=True)
class GappedViews:
    """Samples, or centres, in several views of spread one, of which they have some."""

    points: Array  # (n, d): the views side by side, with zeros where one is lacking
    has: Matrix  # (n, n_views): one for a sample that is there
    widths: tuple[int, ...]  # features of each view

    @classmethod
    def of(cls, views: Sequence[Array], has: Sequence[NDArray[np.bool_]]) -> "GappedViews":
        """Take views with rows of NaN, or anything else, where they are not to count."""
        points = _joined([_with_rows(view, rows) for view, rows in zip(views, has, strict=True)])
        return cls(points, np.stack(has, axis=1).astype(float), tuple(view.shape[1] for view in views))

    @cached_property
    def lengths(self) -> Matrix:
        """Squared lengths in each view, (n, n_views)."""
        return np.stack([squared_lengths(view) for view in split_views(self.points, self.widths)], axis=1)

    @property
    def squares(self) -> Matrix:
        """Squared lengths in all views, (1, n)."""
        return np.asarray(self.lengths.sum(axis=1)[None, :])

    def some(self, rows: Labels | slice) -> "GappedViews":
        """Return some of the samples."""
        return GappedViews(self.points[rows], self.has[rows], self.widths)

    def apart(self, others: "GappedViews", strangers: float) -> Matrix:
        """Return squared distances to others, (n, k): means over common views; `strangers` where there is none."""
        total = self.lengths @ others.has.T + self.has @ others.lengths.T
        total -= 2 * inner_products(self.points, others.points)
        shared = self.has @ others.has.T
        return np.where(shared > 0, total / np.maximum(shared, 1.0), strangers)

    def from_samples(self, rows: Labels) -> Matrix:
        """Return squared distances to some of the samples, (1, c, n)."""
        return np.maximum(self.some(rows).apart(self, STRANGERS), 0.0)[None, ...]

    def settle(self, rows: Labels, max_iter: int) -> "GappedCentres":
        """Move centres from samples to the means, view by view, of what is nearest to them, so many times."""
        start = self.some(rows)
        return GappedCentres(start.points, start.has, start.widths).settle(LocalParts([self], None), max_iter)


@dataclass(frozen=True)
class GappedCentres(Centres):
    """Centres of such samples: each has every view that a sample of its own has, and keeps those that it had."""

    has: Matrix
    widths: tuple[int, ...]

    @property
    def views(self) -> list[Array]:
        """The centres in each view."""
        return split_views(self.points, self.widths)

    def nearest(self, placed: GappedViews) -> Labels:
        """Return the nearest centre of each sample."""
        centres, n = GappedViews(self.points, self.has, self.widths), placed.has.shape[0]
        found = [
            placed.some(rows).apart(centres, np.inf).argmin(axis=1) for rows in row_slices(n, self.points.shape[0])
        ]
        return np.concatenate(found).astype(np.int64)

    def sums(self, placed: GappedViews) -> Sums:
        """Sum the samples that are nearest to each centre, and count them view by view."""
        k, mine = self.points.shape[0], self.nearest(placed)
        return Sums(cluster_sums(placed.points, mine, k), np.asarray(cluster_sums(placed.has, mine, k)))

    def moved(self, sums: Sums) -> "GappedCentres":
        """Return the means of the clusters, view by view."""
        parts = zip(split_views(sums.points, self.widths), sums.counts.T, self.views, strict=True)
        views = [means(view, counts, before) for view, counts, before in parts]
        return GappedCentres(_joined(views), np.maximum(self.has, sums.counts > 0), self.widths)


def _joined(views: Sequence[Array]) -> Array:
    """Return matrices side by side, sparse if one of them is."""
    return sparse.hstack(views, format="csr") if any(map(sparse.issparse, views)) else np.hstack(views)


def _with_rows(view: Array, rows: NDArray[np.bool_]) -> Array:
    """Return a view in double precision, with zeros in the other rows."""
    if rows.all():
        return view.astype(np.float64)
    if sparse.issparse(view):
        places = np.repeat(rows, np.diff(view.indptr))
        return sparse.csr_array((np.where(places, view.data, 0.0), view.indices, view.indptr), shape=view.shape)
    return np.where(rows[:, None], view, 0.0)
