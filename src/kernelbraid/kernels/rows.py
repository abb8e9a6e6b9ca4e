"""Kernel values between any samples, block by block, where a matrix of all pairs would be too large.

Samples decide where they are formed: those that are on a device are compared there, in single precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from kernelbraid._arrays import (
    asarray_like,
    beside,
    clip_negative,
    densified,
    in_place,
    is_foreign,
    is_on_host,
    kth_of_rows,
    namespace,
    nearest_of_rows,
    power_of_two,
    rows_of,
    to_numpy,
)
from kernelbraid._typing import Array, Host, Place, Places
from kernelbraid.kernels.functions import SINGLE_OFFSET, Kernel, Pairs
from kernelbraid.kernels.local import LocalKernel, Neighbours, SelfTuning

#: Samples whose distances to all others stand for the largest distance of any two.
N_TELLING = 500
#: Rows of a pass over all samples.
PASS = 4096
#: Numbers of a tile that kernels pass over several times, which stays in the cache.
TILE = 2**17


@dataclass(frozen=True)
class Points:
    """Samples of one view as inner products need them: in single precision, and about their mean if they are dense."""

    X: Array  # (n, d), dense or csr
    squares: Array  # (n,), lengths squared
    sides: Array | None  # (n,), (x - m) . m + m . m / 2; None for sparse samples, which stay about the origin

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def some(self, rows: Places | slice) -> "Points":
        """Return some of the samples."""
        sides = None if self.sides is None else rows_of(self.sides, rows)
        return Points(rows_of(self.X, rows), rows_of(self.squares, rows), sides)

    def moved(self, place: Place) -> "Points":
        """Return the same elsewhere; sparse samples are on the host."""
        return self if sparse.issparse(self.X) else Points(place(self.X), place(self.squares), place(self.sides))


@dataclass(frozen=True)
class SharedNeighbours:
    """The kernel of shared neighbours over all samples, sparse, with what new ones need."""

    n_neighbors: int
    N: Array  # the graph with its degrees divided out
    degrees: Host
    roots: Host  # lengths of its rows

    @classmethod
    def of(cls, nearest: Places) -> "SharedNeighbours":
        """Take the nearest neighbours of every sample, (n, k)."""
        n, k = nearest.shape
        ends = np.arange(0, n * k + 1, k)
        A = sparse.csr_array((np.ones(n * k, dtype=np.float32), nearest.ravel(), ends), shape=(n, n))
        A = sparse.csr_array(A.maximum(A.T))
        degrees = np.maximum(np.asarray(A.sum(axis=1)).ravel(), 1.0)
        scale = sparse.diags_array(1 / np.sqrt(degrees))
        N = sparse.csr_array(scale @ A @ scale)
        return cls(k, N, degrees, np.sqrt(np.maximum(np.asarray(N.multiply(N).sum(axis=1)).ravel(), 1e-30)))

    def values(self, joined: Array, columns: Places, like: Array) -> Array:
        """Return the kernel between samples, of which the rows of N are given, and some of all."""
        lengths = np.sqrt(np.maximum(np.asarray(joined.multiply(joined).sum(axis=1)).ravel(), 1e-30))
        others, roots = self.N[columns], self.roots[columns]
        if not is_foreign(like):
            return np.asarray((joined @ others.T).toarray() / lengths[:, None] / roots[None, :])
        used = np.unique(others.indices)
        shared = densified(joined[:, used], like) @ densified(others[:, used], like).T
        return shared / asarray_like(lengths, like)[:, None] / asarray_like(roots, like)[None, :]

    def joined(self, distances: Array, columns: Places) -> Array:
        """Return the rows of N of new samples at these distances from some of the samples."""
        k = min(self.n_neighbors, distances.shape[1])
        nearest = columns[nearest_of_rows(distances, k)]
        weights = (1 / np.sqrt(k * self.degrees[nearest])).astype(np.float32)
        ends = np.arange(0, nearest.size + 1, k)
        return sparse.csr_array((weights.ravel(), nearest.ravel(), ends), shape=(len(nearest), len(self.degrees)))


@dataclass(frozen=True)
class ViewRows:
    """The average of the kernels of a bank over one view, of which any rows and columns can be asked for.

    Smooth kernels are functions of a pair alone; local ones know the neighbourhoods of all samples, found before.
    """

    points: Points
    mean: Host | None
    scale: float  # a power of two by which samples are divided
    max_square: float
    max_distance: float
    smooth: list[Kernel]
    local: list[LocalKernel]
    widths: dict[int, Array]  # of every sample, by the neighbour that they are distances to
    shared: list[SharedNeighbours]

    @classmethod
    def of(cls, X: Array, bank: Sequence[Kernel]) -> "ViewRows":
        """Take samples, dense or csr, and kernels over them; what local ones must know comes by :meth:`knowing`."""
        data = X.data if sparse.issparse(X) else X
        xp = namespace(data)
        scale = power_of_two(float(xp.max(xp.abs(data))) if data.size else 0.0, single=True)
        mean = None
        if is_foreign(X):
            mean = to_numpy(xp.mean(xp.astype(X, xp.float64), axis=0)) / scale
        elif not sparse.issparse(X):
            mean = np.asarray(X.mean(axis=0, dtype=np.float64)) / scale
        points = _points(X, mean, scale)
        telling = points.some(np.linspace(0, len(points) - 1, min(N_TELLING, len(points))).astype(np.int64))
        blocks = (points.some(slice(first, first + PASS)) for first in range(0, len(points), PASS))
        farthest = max(float(xp.max(squared_distances(block, telling))) for block in blocks)
        squares = points.squares if points.sides is None else points.squares + 2 * points.sides
        local = [kernel for kernel in bank if isinstance(kernel, LocalKernel)]
        smooth = [kernel for kernel in bank if not isinstance(kernel, LocalKernel)]
        return cls(points, mean, scale, float(xp.max(squares)), farthest, smooth, local, {}, [])

    @property
    def n_nearest(self) -> int:
        """Nearest neighbours of each sample that local kernels must know; 0 if there are none."""
        return max((int(getattr(kernel, "n_neighbors", 0)) for kernel in self.local), default=0)

    def knowing(self, distances: Host, nearest: Places) -> "ViewRows":
        """Return the same with what local kernels know: the nearest samples of each, (n, k), and their distances."""
        widths: dict[int, Array] = {}
        shared = []
        for kernel in self.local:
            if isinstance(kernel, SelfTuning):
                found = np.sqrt(distances[:, min(kernel.n_neighbors, distances.shape[1]) - 1])
                positive = found > 0
                least = found[positive].min() if positive.any() else 1.0
                found = np.where(positive, found, least).astype(np.float32)
                widths[kernel.n_neighbors] = beside(found, self.points.squares)
            elif isinstance(kernel, Neighbours):
                shared.append(SharedNeighbours.of(nearest[:, : kernel.n_neighbors]))
        return replace(self, widths=widths, shared=shared)

    def samples(self) -> Array:
        """Return the samples in their own units."""
        X = self.points.X
        return (X if self.mean is None else X + asarray_like(self.mean, X)) * self.scale

    def moved(self, place: Place) -> "ViewRows":
        """Return the same elsewhere."""
        widths = {k: place(found) for k, found in self.widths.items()}
        return replace(self, points=self.points.moved(place), widths=widths)

    def new(self, X: Array) -> Points:
        """Return other samples, to be compared with these, where these are."""
        if not sparse.issparse(self.points.X):
            X = X.toarray() if sparse.issparse(X) else X
            X = beside(X, self.points.X) if is_foreign(self.points.X) else to_numpy(X)
        return _points(X, self.mean, self.scale)

    def pairs(self, rows: Points, columns: Points) -> Pairs:
        """Return what kernels need to know about some rows and columns."""
        return Pairs(
            _products(rows, columns),
            rows.squares,
            columns.squares,
            max_square=self.max_square,
            max_distance=self.max_distance,
            scale=self.scale,
            new=True,  # several kernels need the distances
            largest_offset=SINGLE_OFFSET,
            row_sides=rows.sides,
            column_sides=columns.sides,
        )

    def smooth_values(self, pairs: Pairs, weight: float) -> Array:
        """Return what smooth kernels add to the average, times a weight."""
        found = namespace(pairs.products).zeros_like(pairs.products)
        n_rows, n_columns = found.shape
        size = max(1, TILE // max(n_columns, 1)) if is_on_host(found) else n_rows
        for first in range(0, n_rows if self.smooth else 0, size):
            rows = slice(first, min(first + size, n_rows))
            part = pairs.rows(rows)
            for kernel in self.smooth:
                found[rows, :] += kernel.matrix(part)
            found[rows, :] /= (len(self.smooth) + len(self.local)) / weight
        return found

    def local_values(self, pairs: Pairs, columns: Places, rows: Places | None) -> Array:
        """Return what local kernels add to the average: between samples by their places, or for new ones if None."""
        total: Array = 0.0
        for k, widths in self.widths.items():
            distances = pairs.squared_distances()
            mine = rows_of(widths, rows) if rows is not None else self._widths_of_new(distances, k)
            K = distances / -(mine[:, None] * rows_of(widths, columns)[None, :])
            total = total + in_place("exp", K)
        for shared in self.shared:
            joined = shared.N[rows] if rows is not None else shared.joined(pairs.squared_distances(), columns)
            total = total + shared.values(joined, columns, pairs.products)
        return total / (len(self.smooth) + len(self.local))

    def _widths_of_new(self, distances: Array, k: int) -> Array:
        xp = namespace(distances)
        found = xp.sqrt(kth_of_rows(distances, min(k, distances.shape[1]) - 1))
        return xp.where(found > 0, found, xp.min(self.widths[k]))


@dataclass(frozen=True)
class KernelRows:
    """A weighted sum of the kernels of views."""

    views: list[ViewRows]
    weights: Sequence[float] = (1.0,)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.views[0].points)

    def at(self, rows: Places | slice) -> list[Points]:
        """Return some of the samples, as every view has them."""
        return [view.points.some(rows) for view in self.views]

    def new(self, given: Sequence[Array]) -> list[Points]:
        """Return other samples, to be compared with these."""
        return [view.new(X) for view, X in zip(self.views, given, strict=True)]

    def moved(self, place: Place) -> "KernelRows":
        """Return the same elsewhere."""
        return replace(self, views=[view.moved(place) for view in self.views])

    def smooth(self, rows: Sequence[Points], columns: Sequence[Points]) -> Array:
        """Return what smooth kernels add."""
        pairs = self._pairs(rows, columns)
        return sum(v.smooth_values(p, w) for w, v, p in zip(self.weights, self.views, pairs, strict=True))

    def values(self, rows: Sequence[Points], columns: Places, places: Places | None = None) -> Array:
        """Return all values between samples, by their places if they are some of these, and some of these."""
        total: Array = None
        for weight, view, pairs in zip(self.weights, self.views, self._pairs(rows, self.at(columns)), strict=True):
            own = view.smooth_values(pairs, weight)
            if view.local:
                own += weight * view.local_values(pairs, columns, places)
            total = own if total is None else in_place("add", total, own)
        return total

    def diagonal(self) -> Host:
        """Return the values of samples with themselves."""
        size = 64 if is_on_host(self.views[0].points.squares) else PASS
        blocks = (slice(first, first + size) for first in range(0, self.n_samples, size))
        places = (np.arange(self.n_samples)[rows] for rows in blocks)
        values = (self.values(self.at(own), own, own) for own in places)
        parts = [to_numpy(namespace(block).linalg.diagonal(block)) for block in values]
        return np.concatenate(parts).astype(np.float64)

    def _pairs(self, rows: Sequence[Points], columns: Sequence[Points]) -> list[Pairs]:
        return [view.pairs(A, B) for view, A, B in zip(self.views, rows, columns, strict=True)]


def squared_distances(rows: Points, columns: Points) -> Array:
    """Return squared distances."""
    D = _products(rows, columns)
    D *= -2
    D += rows.squares[:, None]
    D += columns.squares[None, :]
    return clip_negative(D)


def _products(A: Points, B: Points) -> Array:
    P = A.X @ B.X.T
    return P.toarray() if sparse.issparse(P) else P


def _points(X: Array, mean: Host | None, scale: float) -> Points:
    if mean is None:
        X = sparse.csr_array(X / scale if scale != 1.0 else X, dtype=np.float32)
        return Points(X, np.asarray(X.multiply(X).sum(axis=1), dtype=np.float32).ravel(), None)
    xp = namespace(X)
    X = xp.astype((X / scale if scale != 1.0 else X) - beside(mean, X), xp.float32)
    return Points(X, xp.vecdot(X, X), X @ asarray_like(mean, X) + float(mean @ mean / 2))
