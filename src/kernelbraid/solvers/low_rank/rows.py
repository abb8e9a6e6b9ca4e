r"""LKG with a fixed kernel and the squared penalty, in rows: no matrix of n x n.

A factor F of few columns holds the eigenvectors of the kernel whose eigenvalues are not far below :math:`\alpha`, by
landmarks (Nystroem). What is left, :math:`E = K - F F^\top`, is small beside :math:`\alpha`: its diagonal e joins
:math:`\alpha I`, and the rest is taken to first order. So the coefficients :math:`Z = (K + \alpha I)^{-1} K` are, off
their diagonal,

.. math:: \alpha Z_{ij} = w_i w_j (K_{ij} - F_i A F_j^\top), \qquad w_i = \frac{\alpha}{\alpha + e_i}

with :math:`A = G (G + \alpha I)^{-1}` and :math:`G = F^\top \operatorname{diag}(w) F`. They are formed block by block,
and the strongest of each row stay. Samples that count as m_i of them, :math:`Z = (K M + \alpha I)^{-1} K`, have
:math:`w_i = m_i \alpha / (\alpha + m_i e_i)` in G.

Where much is left, as of texts, whose eigenvalues fall slowly, products of the kernel with F are formed on the way.
They give a better factor, by which a few candidates of each row are judged again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.linalg import lapack

from kernelbraid._arrays import (
    as_rows,
    asarray_like,
    beside,
    is_on_host,
    largest_of_rows,
    namespace,
    rows_of,
    to_numpy,
    with_entries,
)
from kernelbraid._linalg import outer_eigh
from kernelbraid._machine import blas_threads, workers
from kernelbraid._typing import Array, Host, Place, Places
from kernelbraid.kernels.rows import KernelRows, Points, ViewRows, squared_distances

T = TypeVar("T")
#: Share of alpha above which eigenvalues count, landmarks that they are found by, and the most that are kept.
NEGLIGIBLE, LANDMARKS, RANK = 1 / 50, 700, 128
#: Samples, in units of landmarks, that tell which eigenvectors of these are large over all samples.
TELLING = 5
# Numbers, relative to the largest of their kind, that are rounding in single precision.
ROUNDING = 1e-6
#: Candidates among which the strongest entries of a row are, in units of their number.
CANDIDATES = 4
#: Numbers in one block; and how many times as many on an accelerator, which waits for each.
BLOCK, DEVICE_SHARE = 2**21, 16
#: Samples of each cell, on the mean, by which its centre is found, and steps of k-means; cells that a new one looks at.
SEEN, STEPS, PROBES = 50, 10, 32


class Task(NamedTuple):
    """Samples, and those that they are compared with."""

    rows: Places
    columns: Places  # ascending
    is_mutual: bool = False  # whether these are others, and compared with the rows, too

    def n_pairs(self) -> int:
        """Return how many pairs it looks at."""
        return len(self.rows) * len(self.columns) * (1 + self.is_mutual)


class Entries(NamedTuple):
    """Some entries of rows."""

    rows: Places
    columns: Places  # (n_rows, k)
    values: Host


class Strongest:
    """The largest entries of every row among those that were seen so far."""

    def __init__(self, n: int, k: int) -> None:
        self.columns = np.zeros((n, k), dtype=np.int64)
        self.values = np.full((n, k), -np.inf, dtype=np.float32)  # where nothing was seen

    def take(self, seen: Entries) -> None:
        """Keep the largest ones of what was seen before and now."""
        columns = np.concatenate([self.columns[seen.rows], seen.columns], axis=1)
        values = np.concatenate([self.values[seen.rows], seen.values], axis=1)
        best, self.values[seen.rows] = largest_of_rows(values, self.values.shape[1])
        self.columns[seen.rows] = np.take_along_axis(columns, best, axis=1)

    def graph(self, shares: Host, n_columns: int) -> Array:
        """Return the positive ones as a csr array, each row times its share."""
        kept = self.values > 0
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        values = (self.values * shares[:, None])[kept]
        kind = sparse.get_index_dtype(maxval=max(n_columns, len(values)))
        places = (self.columns[kept].astype(kind), ends.astype(kind))
        A = sparse.csr_array((values, *places), shape=(len(kept), n_columns))
        A.sort_indices()
        return A


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
        with blas_threads(0, 1):  # which of them tell depends on rounding
            W = to_numpy(kernel.smooth(landmarks, landmarks)).astype(np.float64)
            chosen, B = _telling_ones(W, ROUNDING * float(W.max()))
        landmarks = [points.some(chosen) for points in landmarks]
        telling = np.sort(drawing.choice(n, min(TELLING * LANDMARKS, n), replace=False))
        G = _gram(_lifted(kernel, kernel.at(telling), landmarks, B, n_jobs), weights, telling) * (n / len(telling))
        values, Q = outer_eigh(G, min(most, len(G)), largest=True) or np.linalg.eigh(G)
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


def _telling_ones(W: NDArray[np.float64], tol: float) -> tuple[Places, Host]:
    """Return rows of a symmetric matrix that leave less than `tol` of its diagonal, and R with R R' = their W^-1."""
    factor, pivots, rank, _ = lapack.dpstrf(W, tol=tol, lower=True)
    inverse = linalg.solve_triangular(factor[:rank, :rank], np.eye(rank), lower=True)
    chosen = pivots[: max(rank, 1)] - 1  # local kernels alone have none
    return chosen, np.asarray(inverse.T.reshape(len(chosen), rank), dtype=np.float32)


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

    @classmethod
    def of(cls, basis: Basis, left: Host, alpha: float, counts: Host | None) -> "Weighting":
        """Weigh samples by what the basis leaves of them."""
        m = np.ones(len(left)) if counts is None else counts
        shares = alpha / (alpha + m * left)
        G = basis.gram(m * shares)
        A = np.eye(len(G)) - alpha * np.linalg.inv(G + alpha * np.eye(len(G)))
        here = partial(asarray_like, like=basis.factor)
        return cls(here(A.astype(np.float32)), here(m * shares), (shares / alpha).astype(np.float32))

    def coefficients(self, K: Array, rows: Array, columns: Array) -> Array:
        """Return a block of K - F A F' from one of K and the rows of F."""
        Z = (rows @ -self.A) @ columns.T
        Z += K
        return Z


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
            columns = np.sort(np.concatenate([self.members[near] for near in self.near[own]]))
            yield from every_pair(np.flatnonzero(cell == own), columns, self.centres)


def every_pair(rows: Places, columns: Places, like: Array) -> Iterator[Task]:
    """Yield blocks of rows with all columns, as large as they should be where an array lives."""
    for part in slices(len(rows), len(columns), like):
        yield Task(rows[part], columns)


def mutual_pairs(n: int, like: Array) -> Iterator[Task]:
    """Yield all pairs of so many samples, each once, in blocks as large as they should be where an array lives."""
    parts = np.array_split(np.arange(n), -(-n // int(np.sqrt(_block(like)))))
    for place, rows in enumerate(parts):
        for other, columns in enumerate(parts[place:]):
            yield Task(rows, columns, is_mutual=other > 0)


def nearest_in_rows(view: ViewRows, tasks: Iterable[Task], k: int, n_jobs: int) -> tuple[Host, Places]:
    """Return the squared distances of every sample to the nearest others, ascending, and these samples: (n, k) each."""
    found = Strongest(len(view.points), k)

    def find(task: Task) -> list[Entries]:
        D = squared_distances(view.points.some(task.rows), view.points.some(task.columns))
        return _largest(-D, task, k)

    for parts in in_threads(find, tasks, n_jobs):
        for part in parts:
            found.take(part)
    order = np.argsort(-found.values, axis=1, kind="stable")
    seen = np.isfinite(found.values).sum(axis=1)  # the last one stands for those that are missing
    order = np.take_along_axis(order, np.minimum(np.arange(k), seen[:, None] - 1), axis=1)
    return -np.take_along_axis(found.values, order, 1), np.take_along_axis(found.columns, order, 1)


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
    tasks : iterable of tasks
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
    found, _ = _pass(kernel, basis, weightings, tasks, n_neighbors, n_jobs, points=points)
    shares = [
        w.rows if points is None else np.full(1, 1 / a, dtype=np.float32)
        for w, a in zip(weightings, alphas, strict=True)
    ]
    return [own.graph(share, kernel.n_samples) for own, share in zip(found, shares, strict=True)]


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
        All pairs of samples.
    """
    n, xp = kernel.n_samples, namespace(basis.factor)
    telling = basis.factor / xp.linalg.vector_norm(basis.factor, axis=0)
    weightings = [Weighting.of(basis, left, alpha, counts) for alpha in alphas]
    found, parts = _pass(kernel, basis, weightings, tasks, CANDIDATES * n_neighbors, n_jobs, telling=telling)
    products = xp.concat(parts, axis=0)
    # K = Y C^-1 Y' with Y = K T and C = T' Y, for the columns T of the basis
    C = to_numpy(xp.astype(telling.T, xp.float64) @ xp.astype(products, xp.float64))
    values, V = np.linalg.eigh((C + C.T) / 2)
    kept = values > ROUNDING * values[-1]
    V = asarray_like((V[:, kept][:, ::-1] / np.sqrt(values[kept][::-1])).astype(np.float32), products)
    diagonal = left + to_numpy(xp.vecdot(basis.factor, basis.factor))
    better = Basis(kernel.at(slice(None)), telling @ V, products @ V)
    left = better.left(diagonal)
    graphs = []
    for alpha, before, seen in zip(alphas, weightings, found, strict=True):
        after, best = Weighting.of(better, left, alpha, counts), Strongest(n, n_neighbors)
        for rows in slices(n, seen.columns.shape[1] * len(C), products):
            columns = seen.columns[rows]
            old, new = (_at_pairs(by.factor, w.A, rows, columns) for by, w in ((basis, before), (better, after)))
            Z = seen.values[rows] / to_numpy(before.columns)[columns] + old - new
            Z *= to_numpy(after.columns)[columns]
            best.take(_entries(Z, np.arange(n)[rows], columns, n_neighbors))
        graphs.append(best.graph(after.rows, n))
    return better, left, graphs


def _at_pairs(F: Array, A: Array, rows: slice, columns: Places) -> Host:
    """Return some entries of rows of F A F', of which each has its own columns."""
    others = namespace(F).reshape(rows_of(F, columns.ravel()), (*columns.shape, -1))
    return to_numpy((others @ (rows_of(F, rows) @ A)[:, :, None])[:, :, 0])


def _pass(
    kernel: KernelRows,
    basis: Basis,
    weightings: Sequence["Weighting"],
    tasks: Iterable[Task],
    k: int,
    n_jobs: int,
    *,
    points: Sequence[Points] | None = None,
    telling: Array | None = None,
) -> tuple[list[Strongest], list[Array]]:
    """Return the largest entries of the rows of Z M, times m alpha / w, and parts of K times some columns."""
    n = kernel.n_samples if points is None else len(points[0])
    found = [Strongest(n, k) for _ in weightings]
    products: dict[int, Array] = {}  # by the first of rows

    def look(task: Task) -> tuple[list[list[Entries]], list[tuple[Places, Array]]]:
        rows, columns, is_mutual = task
        own = kernel.at(rows) if points is None else [view.some(rows) for view in points]
        K = kernel.values(own, columns, rows if points is None else None)
        F = rows_of(basis.factor, rows) if points is None else basis.at(kernel, own)
        blocks = ((w.coefficients(K, F, rows_of(basis.factor, columns)), w.columns) for w in weightings)
        seen = [_largest(Z, task, k, w, are_samples=points is None) for Z, w in blocks]
        if telling is None:
            return seen, []
        return seen, [(rows, K @ rows_of(telling, columns))] + [(columns, K.T @ rows_of(telling, rows))] * is_mutual

    for seen, parts in in_threads(look, tasks, n_jobs):
        for own, entries in zip(found, seen, strict=True):
            for part in entries:
                own.take(part)
        for rows, product in parts:
            products[int(rows[0])] = products.get(int(rows[0]), 0.0) + product
    return found, [products[first] for first in sorted(products)]


def _largest(Z: Array, task: Task, k: int, weights: Array | None = None, *, are_samples: bool = True) -> list[Entries]:
    """Return the largest entries of rows of a symmetric block, which is used up, times the weights of its columns.

    Samples have none with themselves. Where pairs are mutual, columns are rows, too.
    """
    rows, columns, is_mutual = task
    if are_samples and not is_mutual:
        places = np.minimum(np.searchsorted(columns, rows), len(columns) - 1)
        own = np.flatnonzero(columns[places] == rows)
        Z = with_entries(Z, own, places[own], -np.inf)
    other = None
    if is_mutual:
        other = as_rows(Z if weights is None else Z * rows_of(weights, rows)[:, None], slice(None))
    if weights is not None:
        Z *= rows_of(weights, columns)
    found = [_entries(Z, rows, columns, k)]
    return found if other is None else [*found, _entries(other, columns, rows, k)]


def _entries(Z: Array, rows: Places, columns: Places, k: int) -> Entries:
    """Return the largest entries of rows, of which all have these columns, or each has its own."""
    places, values = map(to_numpy, largest_of_rows(Z, min(k, Z.shape[1])))
    found = columns[places] if columns.ndim == 1 else np.take_along_axis(columns, places, axis=1)
    return Entries(rows, found, values)


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


def _block(like: Array) -> int:
    """Return how many numbers a block has where an array lives."""
    return BLOCK if is_on_host(like) else BLOCK * DEVICE_SHARE


def slices(n: int, width: int, like: Array) -> list[slice]:
    """Return blocks of rows of so many numbers each, larger ones where an array lives on an accelerator."""
    size = max(1, _block(like) // max(width, 1))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def in_threads(function: Callable[[Any], T], tasks: Iterable[Any], n_jobs: int) -> Iterator[T]:
    """Yield the results for tasks in their order, some of which are in work at a time, each by one thread of BLAS."""
    with blas_threads(0, 1):  # several threads of each would wait for each other
        if n_jobs == 1:
            yield from map(function, tasks)
            return
        working = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from working(delayed(function)(task) for task in tasks)
