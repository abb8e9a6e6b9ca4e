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
        seen: list[_Seen] = []
        for view, rows, columns, found in self._found(samples, seen):
            parts[view][rows if columns is None else np.ix_(rows, columns)] += found
        edges = Edges.strongest(parts.sum(axis=0), self.n_neighbors, "learned")
        kept = np.stack([edges.at(part).sum(axis=1) for part in parts], axis=1)
        return edges.with_shares(kept).with_unlike(_mean_unlike(seen, edges.index, self.n_landmarks))

    def _found(
        self, samples: Array, seen: "list[_Seen]"
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64] | None, Array]]:
        """Yield the weighted edges of every member: its view, the samples, the landmarks (None for all), the edges.

        What its bank has seen is added to the list.
        """
        views = split_views(samples, self.widths)
        has = self._which(views)
        bank, cross, edges_of = None, None, np.arange(0)
        for number, (member, weight) in enumerate(zip(self.members, self.weights, strict=True)):
            view = _view_of(member)
            columns = None if self.rows is None else self.rows[number]
            if member.bank is not bank:  # several graphs of a bank have its kernel values in common
                bank, edges_of = member.bank, np.flatnonzero(has[view])
                mine = views[view] if has[view].all() else views[view][edges_of]
                cross = None
                if len(edges_of):
                    cross, distances = bank.cross_and_distances([mine], member.kernel_weights)
                    seen.append(_Seen(edges_of, columns, member.unlike(cross, distances), float(weight)))
            if cross is not None:
                yield view, edges_of, columns, float(weight) * member.edges_from(cross).dense()

    def _which(self, views: list[Array]) -> NDArray[np.bool_]:
        """Tell which samples each view places, (n_views, n)."""
        has = np.stack([measured_rows(view) for view in views])
        main = [view for view in self.views if view not in self.reserve]
        for view in self.reserve:
            has[view] &= ~has[main].any(axis=0)
        return has


@dataclass(frozen=True)
class _Seen:
    """How unlike samples and landmarks are by one bank."""

    rows: NDArray[np.int64]  # samples that it has
    columns: NDArray[np.int64] | None  # landmarks that it has; None for all
    unlike: Array  # (n_rows, n_columns)
    weight: float

    def at(self, index: NDArray[np.int32], n_landmarks: int) -> tuple[Array, Array]:
        """Return the values at some landmarks of each sample, weighted, and the weights, zero where there are none."""
        if self.columns is None:
            return self.weight * np.take_along_axis(self.unlike, index, axis=1), np.full(index.shape, self.weight)
        place = np.full(n_landmarks, -1)
        place[self.columns] = np.arange(len(self.columns))
        where = place[index]
        weights = np.where(where >= 0, self.weight, 0.0)
        return weights * np.take_along_axis(self.unlike, np.maximum(where, 0), axis=1), weights


def _mean_unlike(seen: list[_Seen], index: NDArray[np.int32], n_landmarks: int) -> Array:
    """Return how unlike samples and the landmarks of their edges are, on the mean of the banks that have both."""
    total, weights = np.zeros(index.shape), np.zeros(index.shape)
    for one in seen:
        more, weight = one.at(index[one.rows], n_landmarks)
        total[one.rows] += more
        weights[one.rows] += weight
    return np.where(weights > 0, total / np.where(weights > 0, weights, 1.0), 1.0)


def _view_of(member: LandmarkExpression) -> int:
    assert member.views is not None  # of several
    return int(member.views[0])
