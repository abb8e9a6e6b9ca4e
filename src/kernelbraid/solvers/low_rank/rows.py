r"""LKG with a fixed kernel and the squared penalty, in rows: no matrix of n x n.

With the eigenpairs (l, u) of the kernel, :math:`Z = (K + \alpha I)^{-1} K` is

.. math:: \alpha Z = K - \sum_r u_r u_r^\top \frac{l_r^2}{l_r + \alpha}

and eigenvalues far below :math:`\alpha` change nothing: the others are found by landmarks (Nystroem), and rows of Z are
formed block by block, of which the strongest entries stay. Local kernels, whose eigenvalues are small, are added as
they are. Samples that count as m_i of them have the coefficients :math:`(K M + \alpha I)^{-1} K`, M the diagonal of m,
to which the same formula applies with :math:`M^{-1/2} u` for the eigenvectors u of :math:`M^{1/2} K M^{1/2}`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._machine import blas_threads, workers
from kernelbraid._typing import Array, Host
from kernelbraid.kernels.rows import KernelRows, Places, Points, ViewRows, squared_distances

T = TypeVar("T")
#: Rows with the columns that they are compared with.
Task = tuple[Places, Places]
#: Share of alpha above which eigenvalues count, and landmarks that they are found by.
NEGLIGIBLE, LANDMARKS = 1 / 50, 1000
# Eigenvalues of landmarks, relative to the largest, that are rounding in single precision.
ROUNDING = 3e-7
#: Numbers in one block.
BLOCK = 2**21
#: Samples of each cell, on the mean, by which its centre is found, and steps of k-means; cells that are looked at.
SEEN, STEPS, PROBES = 50, 10, 16


@dataclass(frozen=True)
class Basis:
    """Eigenvectors of a kernel, whose values at any sample follow from its kernel values at landmarks."""

    landmarks: list[Points]
    lift: Host  # (n_landmarks, r)
    vectors: Host  # (n, r), divided by the roots of the weights
    values: NDArray[np.float64]  # (r,), descending

    @classmethod
    def of(cls, kernel: KernelRows, least: float, weights: Host | None, n_jobs: int) -> "Basis":
        """Find those with eigenvalues above a number."""
        n = kernel.n_samples
        chosen = np.sort(np.random.RandomState(0).choice(n, min(LANDMARKS, n), replace=False))
        landmarks = kernel.at(chosen)
        W = kernel.smooth(landmarks, landmarks).astype(np.float64)
        values, B = np.linalg.eigh((W + W.T) / 2)
        kept = values > ROUNDING * max(values[-1], np.finfo(float).tiny)  # local kernels alone have none
        B = (B[:, kept] / np.sqrt(values[kept])).astype(np.float32)

        def gram(rows: slice) -> Host:
            F = kernel.smooth(kernel.at(rows), landmarks) @ B
            return np.asarray(F.T @ (F if weights is None else F * weights[rows, None].astype(np.float32)))

        G = np.zeros((B.shape[1], B.shape[1]))
        for part in in_threads(gram, slices(n, len(chosen)), n_jobs):
            G += part
        values, Q = np.linalg.eigh(G)
        kept = values > max(least, ROUNDING * values.max(initial=0.0))
        values, Q = values[kept][::-1], Q[:, kept][:, ::-1]
        lift = np.asarray(B @ (Q / np.sqrt(values)).astype(np.float32))
        parts = in_threads(
            lambda rows: kernel.smooth(kernel.at(rows), landmarks) @ lift, slices(n, len(chosen)), n_jobs
        )
        return cls(landmarks, lift, np.concatenate(list(parts)), values)

    def at(self, kernel: KernelRows, points: Sequence[Points], n_jobs: int = 1) -> Host:
        """Return the values of the eigenvectors at other samples."""
        blocks = slices(len(points[0]), len(self.lift))
        found = in_threads(
            lambda rows: kernel.smooth([view.some(rows) for view in points], self.landmarks) @ self.lift, blocks, n_jobs
        )
        return np.concatenate(list(found))

    def coordinates(self) -> Host:
        """Return coordinates whose inner products are the kernel, as far as these eigenvectors go."""
        return np.asarray(self.vectors * np.sqrt(self.values).astype(np.float32))


@dataclass(frozen=True)
class Cells:
    """Samples in cells, by k-means, and the nearest cells of each."""

    centres: Host
    members: list[Places]
    near: NDArray[np.int64]  # (n_cells, PROBES)

    @classmethod
    def of(cls, X: Host, n_jobs: int) -> "Cells":
        """Make about as many cells of samples as each has members."""
        n = len(X)
        n_cells, drawing = max(int(np.sqrt(n)), 1), np.random.RandomState(0)
        seen = X[np.sort(drawing.choice(n, min(n, SEEN * n_cells), replace=False))]
        centres = seen[np.sort(drawing.choice(len(seen), n_cells, replace=False))]
        for _ in range(STEPS):
            cell = _cells_of(seen, centres, n_jobs)
            counts, order = np.bincount(cell, minlength=n_cells), np.argsort(cell, kind="stable")
            found = counts > 0
            sums = np.add.reduceat(seen[order], (np.cumsum(counts) - counts)[found], axis=0)
            centres[found] = sums / counts[found][:, None]
        cell = _cells_of(X, centres, n_jobs)
        ends = np.cumsum(np.bincount(cell, minlength=n_cells))[:-1]
        near = np.argsort(_distances(centres, centres), axis=1, kind="stable")[:, :PROBES]
        return cls(centres, np.split(np.argsort(cell, kind="stable"), ends), near)

    def tasks(self) -> Iterator[Task]:
        """Yield the members of every cell with those of the nearest ones."""
        for own, others in zip(self.members, self.near, strict=True):
            yield from _in_blocks(own, self._of(others))

    def tasks_of(self, X: Host) -> Iterator[Task]:
        """Yield places among new samples with the members of the cells nearest to theirs."""
        cell = _cells_of(X, self.centres, workers())
        for own in np.unique(cell):
            yield from _in_blocks(np.flatnonzero(cell == own), self._of(self.near[own]))

    def nearest(self, count: int) -> "Cells":
        """Return the same with fewer nearest cells of each."""
        return replace(self, near=self.near[:, :count])

    def _of(self, cells: Host) -> Places:
        return np.sort(np.concatenate([self.members[cell] for cell in cells]))


def every_pair(n_rows: int, n: int) -> Iterator[Task]:
    """Yield blocks of rows with all samples."""
    yield from _in_blocks(np.arange(n_rows), np.arange(n))


def _in_blocks(rows: Places, columns: Places) -> Iterator[Task]:
    size = max(1, BLOCK // max(len(columns), 1))
    for first in range(0, len(rows), size):
        yield rows[first : first + size], columns


def nearest_in_rows(view: ViewRows, tasks: Iterable[Task], k: int, n_jobs: int) -> tuple[Host, Places]:
    """Return the squared distances of every sample to the nearest others, ascending, and these samples: (n, k) each."""
    n = len(view.points)
    distances, nearest = np.zeros((n, k), dtype=np.float32), np.zeros((n, k), dtype=np.int64)

    def find(task: Task) -> tuple[Places, Host, Places]:
        rows, columns = task
        D = squared_distances(view.points.some(rows), view.points.some(columns))
        D[rows[:, None] == columns[None, :]] = np.inf
        few = min(k, len(columns) - 1)
        found = np.argpartition(D, few - 1, axis=1)[:, :few]
        own = np.take_along_axis(D, found, axis=1)
        order = np.argsort(own, axis=1, kind="stable")
        order = np.concatenate([order, np.repeat(order[:, -1:], k - few, axis=1)], axis=1)
        return rows, np.take_along_axis(own, order, 1), columns[np.take_along_axis(found, order, 1)]

    for rows, own, found in in_threads(find, tasks, n_jobs):
        distances[rows], nearest[rows] = own, found
    return distances, nearest


def strongest_in_rows(
    kernel: KernelRows,
    basis: Basis,
    tasks: Iterable[Task],
    alphas: Sequence[float],
    n_neighbors: int,
    n_jobs: int,
    *,
    counts: Host | None = None,
    points: Sequence[Points] | None = None,
) -> list[Array]:
    """Return the largest positive entries of the rows of alpha Z M, off the diagonal, one csr array for each alpha.

    Parameters
    ----------
    kernel : KernelRows
        K.
    basis : Basis
        Its eigenvectors.
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
    drops = [(-(basis.values**2) / (basis.values + alpha)).astype(np.float32) for alpha in alphas]
    vectors = basis.vectors if points is None else basis.at(kernel, points, n_jobs)

    def strongest(task: Task) -> list[tuple[Places, Places, Host]]:
        rows, columns = task
        own = kernel.at(rows) if points is None else [view.some(rows) for view in points]
        K = kernel.values(own, columns, rows if points is None else None)
        if points is None:
            K[rows[:, None] == columns[None, :]] = -np.inf
        found = []
        for drop in drops:
            Z = (vectors[rows] * drop) @ basis.vectors[columns].T
            Z += K
            if counts is not None:
                Z *= counts[columns].astype(np.float32)
            found.append((rows, *_largest(Z, columns, n_neighbors)))
        return found

    parts = list(in_threads(strongest, tasks, n_jobs))
    shape = (len(vectors), kernel.n_samples)
    return [_as_csr([part[number] for part in parts], shape) for number in range(len(alphas))]


def _largest(Z: Host, columns: Places, k: int) -> tuple[Places, Host]:
    """Return the columns and values of the largest entries of every row."""
    k = min(k, Z.shape[1])
    found = np.argpartition(Z, Z.shape[1] - k, axis=1)[:, Z.shape[1] - k :]
    return columns[found], np.take_along_axis(Z, found, axis=1)


def _as_csr(parts: Sequence[tuple[Places, Places, Host]], shape: tuple[int, int]) -> Array:
    rows = np.concatenate([np.repeat(rows, found.shape[1]) for rows, found, _ in parts])
    columns, values = (np.concatenate([part[i].ravel() for part in parts]) for i in (1, 2))
    kept = values > 0
    A = sparse.csr_array((values[kept], (rows[kept], columns[kept])), shape=shape)
    A.sort_indices()
    return A


def _cells_of(X: Host, centres: Host, n_jobs: int) -> NDArray[np.int64]:
    parts = in_threads(lambda rows: _distances(X[rows], centres).argmin(axis=1), slices(len(X), len(centres)), n_jobs)
    return np.concatenate(list(parts))


def _distances(X: Host, centres: Host) -> Host:
    """Return squared distances but for the squares of X."""
    return np.asarray(np.einsum("ij,ij->i", centres, centres)[None, :] - 2 * X @ centres.T)


def slices(n: int, width: int) -> list[slice]:
    """Return blocks of rows of so many numbers each."""
    size = max(1, BLOCK // max(width, 1))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def in_threads(function: Callable[[Any], T], tasks: Iterable[Any], n_jobs: int) -> Iterator[T]:
    """Yield the results for tasks in their order, some of which are in work at a time."""
    if n_jobs == 1:
        yield from map(function, tasks)
        return
    working = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    with blas_threads(0, 1):  # several threads of each would wait for each other
        yield from working(delayed(function)(task) for task in tasks)
