r"""LKG with a fixed kernel and the squared penalty, in rows: no matrix of n x n.

A factor F of few columns holds the eigenvectors of the kernel whose eigenvalues are not far below :math:`\alpha`, by
landmarks (Nystroem). What is left, :math:`E = K - F F^\top`, is small beside :math:`\alpha`: its diagonal e joins
:math:`\alpha I`, and the rest is taken to first order. So the coefficients :math:`Z = (K + \alpha I)^{-1} K` are, off
their diagonal,

.. math:: \alpha Z_{ij} = w_i w_j (K_{ij} - F_i A F_j^\top), \qquad w_i = \frac{\alpha}{\alpha + e_i}

with :math:`A = G (G + \alpha I)^{-1}` and :math:`G = F^\top \operatorname{diag}(w) F`. They are formed block by block,
and the strongest of each row stay. Samples that count as m_i of them, :math:`Z = (K M + \alpha I)^{-1} K`, have
:math:`w_i = m_i \alpha / (\alpha + m_i e_i)` in G.

Where all pairs are looked at and much is left, as of texts, whose eigenvalues fall slowly, products of the kernel with
F are formed on the way. They give a better factor, by which a few candidates of each row are judged again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import (
    asarray_like,
    beside,
    is_on_host,
    largest_of_rows,
    namespace,
    nearest_of_rows,
    rows_of,
    to_numpy,
    with_entries,
)
from kernelbraid._machine import blas_threads, workers
from kernelbraid._typing import Array, Host, Place, Places
from kernelbraid.kernels.rows import KernelRows, Points, ViewRows, squared_distances

T = TypeVar("T")
#: Rows with the columns that they are compared with.
Task = tuple[Places, Places]
#: Rows with the columns and values of some of their entries.
Entries = tuple[Places, Places, Host]
#: Share of alpha above which eigenvalues count, landmarks that they are found by, and the most that are kept.
NEGLIGIBLE, LANDMARKS, RANK = 1 / 50, 1000, 128
#: Samples, in units of landmarks, that tell which eigenvectors of these are large over all samples.
TELLING = 5
# Eigenvalues of landmarks, relative to the largest, that are rounding in single precision.
ROUNDING = 3e-7
#: Candidates among which the strongest entries of a row are, in units of their number.
CANDIDATES = 4
#: Numbers in one block; and how many times as many on an accelerator, which waits for each.
BLOCK, DEVICE_SHARE = 2**21, 16
#: Samples of each cell, on the mean, by which its centre is found, and steps of k-means; cells that a new one looks at.
SEEN, STEPS, PROBES = 50, 10, 32


@dataclass(frozen=True)
class Basis:
    """A factor of few columns of a kernel, whose rows for any sample follow from its kernel values at landmarks."""

    landmarks: list[Points]
    lift: Array  # (n_landmarks, r)
    factor: Array  # F, (n, r): F F' is the kernel, as far as it goes; its columns are orthogonal, the longest first

    @classmethod
    def of(cls, kernel: KernelRows, least: float, weights: Host | None, n_jobs: int, most: int) -> "Basis":
        """Find the eigenvectors with eigenvalues above a number, and at most so many."""
        n, drawing = kernel.n_samples, np.random.RandomState(0)
        landmarks = kernel.at(np.sort(drawing.choice(n, min(LANDMARKS, n), replace=False)))
        W = to_numpy(kernel.smooth(landmarks, landmarks)).astype(np.float64)
        values, B = np.linalg.eigh((W + W.T) / 2)
        kept = values > ROUNDING * max(values[-1], np.finfo(float).tiny)  # local kernels alone have none
        B = (B[:, kept] / np.sqrt(values[kept])).astype(np.float32)
        telling = np.sort(drawing.choice(n, min(TELLING * LANDMARKS, n), replace=False))
        values, Q = np.linalg.eigh(_gram(_lifted(kernel, kernel.at(telling), landmarks, B, n_jobs), weights, telling))
        values *= n / len(telling)
        kept = values > max(least, ROUNDING * values.max(initial=0.0))
        lift = np.asarray(B @ Q[:, kept][:, ::-1][:, :most].astype(np.float32))
        factor = _lifted(kernel, kernel.at(slice(None)), landmarks, lift, n_jobs)
        return cls(landmarks, beside(lift, factor), factor)

    def moved(self, place: Place) -> "Basis":
        """Return the same elsewhere."""
        return Basis([points.moved(place) for points in self.landmarks], place(self.lift), place(self.factor))

    def at(self, kernel: KernelRows, points: Sequence[Points], n_jobs: int = 1) -> Array:
        """Return the rows of the factor for other samples."""
        return _lifted(kernel, points, self.landmarks, self.lift, n_jobs)

    def left(self, diagonal: Host) -> Host:
        """Return what is left of the diagonal of the kernel."""
        left: Host = np.maximum(diagonal - to_numpy(namespace(self.factor).vecdot(self.factor, self.factor)), 0.0)
        return left

    def gram(self, weights: Host | None) -> NDArray[np.float64]:
        """Return G = F' diag(w) F."""
        return _gram(self.factor, weights)


def _lifted(
    kernel: KernelRows, points: Sequence[Points], landmarks: Sequence[Points], lift: Array, n_jobs: int
) -> Array:
    """Return the smooth kernel between samples and landmarks times a matrix."""

    def lifted(rows: slice) -> Array:
        K = kernel.smooth([own.some(rows) for own in points], landmarks)
        return K @ asarray_like(lift, K)

    squares = landmarks[0].squares
    blocks = slices(len(points[0]), lift.shape[0], squares) or [slice(0)]
    return namespace(squares).concat(list(in_threads(lifted, blocks, n_jobs)), axis=0)


def _gram(F: Array, weights: Host | None, places: Places | slice = slice(None)) -> NDArray[np.float64]:
    G = np.zeros((F.shape[1], F.shape[1]))
    w = None if weights is None else asarray_like(weights[places].astype(np.float32), F)
    for rows in slices(F.shape[0], F.shape[1], F):
        own = F[rows, :]
        G += to_numpy(own.T @ (own if w is None else own * w[rows, None]))
    return (G + G.T) / 2


@dataclass(frozen=True)
class Weighting:
    """What makes coefficients of a kernel, for one weight of the penalty."""

    A: Array  # (r, r)
    columns: Array  # w, (n,), in single precision
    rows: Host  # w / (m alpha), (n,)
    alpha: float

    @classmethod
    def of(cls, basis: Basis, left: Host, alpha: float, counts: Host | None) -> "Weighting":
        """Weigh samples by what the basis leaves of them."""
        m = np.ones(len(left)) if counts is None else counts
        shares = alpha / (alpha + m * left)
        G = basis.gram(m * shares)
        A = np.eye(len(G)) - alpha * np.linalg.inv(G + alpha * np.eye(len(G)))
        here = partial(asarray_like, like=basis.factor)
        return cls(here(A.astype(np.float32)), here(m * shares), (shares / alpha).astype(np.float32), alpha)


@dataclass(frozen=True)
class Cells:
    """Samples in cells, by k-means, and the nearest cells of each."""

    centres: Array
    members: list[Places]
    near: NDArray[np.int64]  # (n_cells, PROBES)

    @classmethod
    def of(cls, X: Array, n_jobs: int) -> "Cells":
        """Make about as many cells of samples as each has members."""
        n = X.shape[0]
        n_cells, drawing = max(int(np.sqrt(n)), 1), np.random.RandomState(0)
        seen = to_numpy(rows_of(X, np.sort(drawing.choice(n, min(n, SEEN * n_cells), replace=False))))
        centres = seen[np.sort(drawing.choice(len(seen), n_cells, replace=False))]
        for _ in range(STEPS):
            cell = _cells_of(seen, centres, n_jobs)
            counts, order = np.bincount(cell, minlength=n_cells), np.argsort(cell, kind="stable")
            found = counts > 0
            sums = np.add.reduceat(seen[order], (np.cumsum(counts) - counts)[found], axis=0)
            centres[found] = sums / counts[found][:, None]
        near = np.argsort(_distances(centres, centres), axis=1, kind="stable")[:, :PROBES]
        centres = beside(centres, X)
        cell = _cells_of(X, centres, n_jobs)
        ends = np.cumsum(np.bincount(cell, minlength=n_cells))[:-1]
        return cls(centres, np.split(np.argsort(cell, kind="stable"), ends), near)

    def moved(self, place: Place) -> "Cells":
        """Return the same elsewhere."""
        return replace(self, centres=place(self.centres))

    def tasks_of(self, X: Array) -> Iterator[Task]:
        """Yield places among new samples with the members of the cells nearest to theirs."""
        cell = _cells_of(X, self.centres, workers())
        for own in np.unique(cell):
            yield from _in_blocks(np.flatnonzero(cell == own), self._of(self.near[own]), self.centres)

    def nearest(self, count: int) -> "Cells":
        """Return the same with fewer nearest cells of each."""
        return replace(self, near=self.near[:, :count])

    def _of(self, cells: Host) -> Places:
        return np.sort(np.concatenate([self.members[cell] for cell in cells]))


def every_pair(n_rows: int, n: int, like: Array) -> Iterator[Task]:
    """Yield blocks of rows with all samples, as large as they should be where an array lives."""
    yield from _in_blocks(np.arange(n_rows), np.arange(n), like)


def _in_blocks(rows: Places, columns: Places, like: Array) -> Iterator[Task]:
    for part in slices(len(rows), len(columns), like):
        yield rows[part], columns


def nearest_in_rows(view: ViewRows, tasks: Iterable[Task], k: int, n_jobs: int) -> tuple[Host, Places]:
    """Return the squared distances of every sample to the nearest others, ascending, and these samples: (n, k) each."""
    n = len(view.points)
    distances, nearest = np.zeros((n, k), dtype=np.float32), np.zeros((n, k), dtype=np.int64)

    def find(task: Task) -> tuple[Places, Host, Places]:
        rows, columns = task
        D = _without_self(squared_distances(view.points.some(rows), view.points.some(columns)), task, np.inf)
        few = min(k, len(columns) - 1)
        found = nearest_of_rows(D, few)
        own = to_numpy(namespace(D).take_along_axis(D, beside(found, D), axis=1))
        order = np.argsort(own, axis=1, kind="stable")
        order = np.concatenate([order, np.repeat(order[:, -1:], k - few, axis=1)], axis=1)
        return rows, np.take_along_axis(own, order, 1), columns[np.take_along_axis(found, order, 1)]

    for rows, own, found in in_threads(find, tasks, n_jobs):
        distances[rows], nearest[rows] = own, found
    return distances, nearest


def strongest_in_rows(
    kernel: KernelRows,
    basis: Basis,
    left: Host,
    tasks: Iterable[Task],
    alphas: Sequence[float],
    n_neighbors: int,
    n_jobs: int,
    *,
    counts: Host | None = None,
    points: Sequence[Points] | None = None,
) -> list[Array]:
    """Return the largest positive entries of the rows of Z M, off the diagonal, one csr array for each alpha.

    Parameters
    ----------
    kernel : KernelRows
        K.
    basis : Basis
        Its factor.
    left : ndarray of shape (n,)
        What that leaves of the diagonal.
    tasks : iterable of (rows, columns)
        Which entries are looked at.
    alphas : sequence of float
        Weights of the penalty.
    n_neighbors : int
        Entries of each row.
    n_jobs : int
        Blocks in work at a time.
    counts : ndarray of shape (n,), default=None
        M: how often each sample counts; once if None.
    points : sequence of Points, default=None
        New samples, of which the rows are, as each view has them; the samples themselves if None.
    """
    weightings = [Weighting.of(basis, left, alpha, counts) for alpha in alphas]

    def strongest(task: Task) -> list[Entries]:
        rows, columns = task
        own = kernel.at(rows) if points is None else [view.some(rows) for view in points]
        K = kernel.values(own, columns, rows if points is None else None)
        F = rows_of(basis.factor, rows) if points is None else basis.at(kernel, own)
        return [(rows, *_largest(K, F, basis, w, task, n_neighbors, points is None)) for w in weightings]

    parts = list(in_threads(strongest, tasks, n_jobs))
    shape = (kernel.n_samples if points is None else len(points[0]), kernel.n_samples)
    shares = [w.rows if points is None else np.full(shape[0], 1 / w.alpha, dtype=np.float32) for w in weightings]
    return [_as_csr([part[number] for part in parts], shape, own) for number, own in enumerate(shares)]


def refined_in_rows(
    kernel: KernelRows,
    basis: Basis,
    left: Host,
    tasks: Iterable[Task],
    alphas: Sequence[float],
    n_neighbors: int,
    n_jobs: int,
    *,
    counts: Host | None = None,
) -> tuple[Basis, Host, list[Array]]:
    """Return the same over all pairs of samples by a better basis, which is found on the way, and what that leaves.

    Parameters
    ----------
    kernel : KernelRows
        K, without local kernels.
    basis, left, alphas, n_neighbors, n_jobs, counts
        As for :func:`strongest_in_rows`.
    tasks : iterable of tasks
        Rows, each once, and all columns.
    """
    n, k, xp = kernel.n_samples, CANDIDATES * n_neighbors, namespace(basis.factor)
    telling = basis.factor / xp.linalg.vector_norm(basis.factor, axis=0)
    weightings = [Weighting.of(basis, left, alpha, counts) for alpha in alphas]

    def look(task: Task) -> tuple[Array, list[tuple[Places, Places, Array]]]:
        rows, columns = task
        K = kernel.values(kernel.at(rows), columns, rows)
        found = []
        for weighting in weightings:
            places, _ = _largest(K, rows_of(basis.factor, rows), basis, weighting, task, k, True)
            found.append((rows, places, xp.take_along_axis(K, beside(places, K), axis=1)))
        return K @ telling, found

    parts = list(in_threads(look, tasks, n_jobs))
    products = xp.concat([part for part, _ in parts], axis=0)
    # K = Y C^-1 Y' with Y = K T and C = T' Y, for the columns T of the basis
    C = to_numpy(xp.astype(telling.T, xp.float64) @ xp.astype(products, xp.float64))
    values, V = np.linalg.eigh((C + C.T) / 2)
    kept = values > ROUNDING * values[-1]
    V = asarray_like((V[:, kept][:, ::-1] / np.sqrt(values[kept][::-1])).astype(np.float32), products)
    diagonal = left + to_numpy(xp.vecdot(basis.factor, basis.factor))
    better = Basis(kernel.at(slice(None)), telling @ V, products @ V)
    left = better.left(diagonal)
    weightings = [Weighting.of(better, left, alpha, counts) for alpha in alphas]

    def judge(part: tuple[int, tuple[Array, list[tuple[Places, Places, Array]]]]) -> Entries:
        number, (rows, places, K) = part[0], part[1][1][part[0]]
        weighting = weightings[number]
        off = rows_of(better.factor, rows) @ weighting.A
        others = xp.reshape(rows_of(better.factor, places.ravel()), (*places.shape, -1))
        Z = K - (others @ off[:, :, None])[:, :, 0]
        Z *= xp.reshape(rows_of(weighting.columns, places.ravel()), places.shape)
        Z = xp.where(beside(places == rows[:, None], Z), -xp.inf, Z)
        best, values = largest_of_rows(Z, min(n_neighbors, Z.shape[1]))
        return rows, np.take_along_axis(places, to_numpy(best), axis=1), to_numpy(values)

    found = []
    for number, weighting in enumerate(weightings):
        judged = list(in_threads(judge, [(number, part) for part in parts], n_jobs))
        found.append(_as_csr(judged, (n, n), weighting.rows))
    return better, left, found


def _without_self(A: Array, task: Task, value: float) -> Array:
    """Return a block of pairs of samples with a value where a sample meets itself; its columns ascend."""
    rows, columns = task
    place = np.minimum(np.searchsorted(columns, rows), len(columns) - 1)
    own = np.flatnonzero(columns[place] == rows)
    return with_entries(A, own, place[own], value)


def _largest(
    K: Array, F: Array, basis: Basis, weighting: Weighting, task: Task, k: int, are_samples: bool
) -> tuple[Places, Host]:
    """Return columns and values of the largest coefficients of every row, of which the kernel and the factor are given.

    Samples themselves have none on the diagonal.
    """
    columns = task[1]
    Z = (F @ -weighting.A) @ rows_of(basis.factor, columns).T
    Z += K
    Z *= rows_of(weighting.columns, columns)
    if are_samples:
        Z = _without_self(Z, task, -np.inf)
    places, values = largest_of_rows(Z, min(k, len(columns)))
    return columns[to_numpy(places)], to_numpy(values)


def _as_csr(parts: Sequence[Entries], shape: tuple[int, int], shares: Host) -> Array:
    """Return entries as a csr array, each row times its share."""
    rows = np.concatenate([np.repeat(rows, found.shape[1]) for rows, found, _ in parts])
    columns, values = (np.concatenate([part[i].ravel() for part in parts]) for i in (1, 2))
    kept = values > 0
    rows, columns, values = rows[kept], columns[kept], values[kept]
    A = sparse.csr_array((values * shares[rows], (rows, columns)), shape=shape)
    A.sort_indices()
    return A


def _cells_of(X: Array, centres: Array, n_jobs: int) -> NDArray[np.int64]:
    def nearest(rows: slice) -> NDArray[np.int64]:
        return to_numpy(namespace(X).argmin(_distances(X[rows, :], centres), axis=1))

    return np.concatenate(list(in_threads(nearest, slices(X.shape[0], centres.shape[0], X), n_jobs)))


def _distances(X: Array, centres: Array) -> Array:
    """Return squared distances but for the squares of X."""
    return namespace(X).vecdot(centres, centres)[None, :] - 2 * X @ centres.T


def jobs_of(like: Array, n_jobs: int | None) -> int:
    """Return how many blocks are worked on at a time where an array lives; on an accelerator, two."""
    return workers(n_jobs) if is_on_host(like) else 2


def slices(n: int, width: int, like: Array) -> list[slice]:
    """Return blocks of rows of so many numbers each, larger ones where an array lives on an accelerator."""
    size = max(1, (BLOCK if is_on_host(like) else BLOCK * DEVICE_SHARE) // max(width, 1))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def in_threads(function: Callable[[Any], T], tasks: Iterable[Any], n_jobs: int) -> Iterator[T]:
    """Yield the results for tasks in their order, some of which are in work at a time, each by one thread of BLAS."""
    with blas_threads(0, 1):  # several threads of each would wait for each other
        if n_jobs == 1:
            yield from map(function, tasks)
            return
        working = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from working(delayed(function)(task) for task in tasks)
