"""Samples of several views over landmarks: the edges of every view that a sample has, summed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import measured_rows
from kernelbraid._typing import Array
from kernelbraid.solvers.landmarks import Edges, LandmarkExpression, row_slices, split_views


@dataclass(frozen=True)
class FusedExpression:
    """How samples of several views are expressed over landmarks: the edges of every view that they have, summed."""

    members: list[LandmarkExpression]  # each has one view; those of one bank follow each other
    weights: NDArray[np.float64]  # of the members, sum 1
    n_neighbors: int | None  # strongest edges that a sample keeps of the sum; None for all
    widths: tuple[int, ...]  # features of each view
    rows: list[NDArray[np.int64] | None] | None = None  # landmarks that the view of each member has; None for all
    reserve: tuple[int, ...] = ()  # views that place only samples that no other one has
    size: int | None = None  # number of landmarks; None where every view has all

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks, p."""
        return self.members[0].n_landmarks if self.size is None else int(self.size)

    @property
    def views(self) -> tuple[int, ...]:
        """Views that count, for some of the samples at least."""
        return tuple(sorted({_view_of(member) for member in self.members}))

    def edges(self, block: Array) -> Edges:
        """Return the edges from a block of samples to the landmarks."""
        return Edges.join([self._edges(block[rows]) for rows in row_slices(block.shape[0], self.n_landmarks)])

    def _edges(self, samples: Array) -> Edges:
        parts = np.zeros((len(self.widths), samples.shape[0], self.n_landmarks))  # by view
        likeness, weights = np.zeros(parts.shape[1:]), np.zeros(parts.shape[1:])
        for view, weight, rows, columns, found, alike in self._found(samples):
            where = rows if columns is None else np.ix_(rows, columns)
            parts[view][where] += weight * found
            likeness[where] += weight * alike
            weights[where] += weight
        edges = Edges.strongest(parts.sum(axis=0), self.n_neighbors, "learned")
        edges = edges.with_likeness(likeness / np.where(weights > 0, weights, 1.0))
        kept = np.stack([np.take_along_axis(part, edges.index, axis=1).sum(axis=1) for part in parts], axis=1)
        return edges.with_shares(kept)

    def _found(
        self, samples: Array
    ) -> Iterator[tuple[int, float, NDArray[np.int64], NDArray[np.int64] | None, Array, Array]]:
        """Yield the view and weight of every member, samples, landmarks (None for all), edges and likeness."""
        views = split_views(samples, self.widths)
        has = self._which(views)
        bank, cross, edges_of = None, None, np.arange(0)
        for number, (member, weight) in enumerate(zip(self.members, self.weights, strict=True)):
            view = _view_of(member)
            if member.bank is not bank:  # several graphs of a bank have its kernel values in common
                bank, edges_of = member.bank, np.flatnonzero(has[view])
                mine = views[view] if has[view].all() else views[view][edges_of]
                cross = bank.cross([mine], member.kernel_weights) if len(edges_of) else None
            if cross is not None:
                found, mine_alone = member.edges_from(cross).dense(), None if self.rows is None else self.rows[number]
                yield view, float(weight), edges_of, mine_alone, found, cross / member.scale

    def _which(self, views: list[Array]) -> NDArray[np.bool_]:
        """Tell which samples each view places, (n_views, n)."""
        has = np.stack([measured_rows(view) for view in views])
        main = [view for view in self.views if view not in self.reserve]
        for view in self.reserve:
            has[view] &= ~has[main].any(axis=0)
        return has


def _view_of(member: LandmarkExpression) -> int:
    assert member.views is not None  # of several
    return int(member.views[0])
