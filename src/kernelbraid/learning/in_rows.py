"""Learn where samples are too many for matrices of n x n: the closed form in rows, and what new samples need of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import asarray_like, namespace, to_numpy
from kernelbraid._typing import Array, Host, Place
from kernelbraid.kernels.functions import Kernel
from kernelbraid.kernels.rows import KernelRows, Points, ViewRows
from kernelbraid.learning.effort import reported
from kernelbraid.learning.extend import Member, Relation
from kernelbraid.learning.outliers import NEAREST, NOTHING, PENALTY, Unexplained
from kernelbraid.ops.graphs import EdgeWeights, joined_edges, weigh_edges
from kernelbraid.solvers.low_rank.rows import (
    LANDMARKS,
    NEGLIGIBLE,
    RANK,
    Basis,
    Cells,
    Task,
    every_pair,
    jobs_of,
    mutual_pairs,
    nearest_in_rows,
    refined_in_rows,
    strongest_in_rows,
)

#: Samples up to which the closed form is exact; from which new ones are compared with those of the nearest cells alone;
#: and features up to which cells are found in dense samples themselves, and not in what their kernels say.
EXACT, CELLS_FROM, FEW_FEATURES = 2000, 20_000, 256
#: Samples of which one graph is learned at most: of more, so many stand for all others.
MOST = 30_000
#: Nearest cells of new samples that are looked at where that is enough.
FEW_CELLS = 4
#: Share of the work when nearest neighbours are known.
HALF = 0.5


def representatives(n: int, random_state: np.random.RandomState) -> NDArray[np.int64] | None:
    """Draw the samples that stand for all of so many, in ascending order; None if all of them do.

    A graph is learned of these; every other sample is placed and labelled by its edges to them, as a new one is.
    """
    if n <= MOST:
        return None
    drawing = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    return np.sort(drawing.choice(n, MOST, replace=False))


@dataclass
class RowKernels(Relation):
    """The kernels of views in rows, with a factor of few columns."""

    kernel: KernelRows
    basis: Basis
    left: Host  # what that leaves of the diagonal
    cells: Cells | None  # whose members new samples are compared with; None: with all
    counts: Host | None  # how often each sample counts; None: once

    @classmethod
    def of(
        cls,
        views: Sequence[Array],
        banks: Sequence[Sequence[Kernel]],
        shares: Sequence[float],
        alphas: Sequence[float],
        counts: Host | None = None,
        n_jobs: int | None = None,
    ) -> "RowKernels":
        """Pose kernels, as exact as the weights of the penalty need it.

        Parameters
        ----------
        views : sequence of arrays or csr matrices of shape (n, d)
            Where rows are formed, which is the host where one is sparse.
        banks : sequence of sequence of kernels
            One for each view.
        shares : sequence of float
            Weights of the views in the sum.
        alphas : sequence of float
            Weights of the penalty.
        counts : ndarray of shape (n,), default=None
            How often each sample counts; once if None.
        n_jobs : int, default=None
            Blocks in work at a time.
        """
        jobs = jobs_of(views[0], n_jobs)
        if any(map(sparse.issparse, views)):
            views = [X if sparse.issparse(X) else to_numpy(X) for X in views]
        kernel = KernelRows([ViewRows.of(X, bank) for X, bank in zip(views, banks, strict=True)], list(shares))
        basis = Basis.of(kernel, min(alphas) * NEGLIGIBLE, counts, jobs, RANK)
        found = cls(kernel, basis, np.empty(0), None, counts)
        known = [
            view.knowing(*nearest_in_rows(view, found.tasks(0.0, HALF), view.n_nearest, jobs))
            if view.n_nearest
            else view
            for view in kernel.views
        ]
        found.kernel = KernelRows(known, list(shares))
        found.left = basis.left(found.kernel.diagonal())
        return found

    @property
    def is_by_samples(self) -> bool:
        """Whether cells are found in the samples themselves."""
        X = self.kernel.views[0].points.X
        return len(self.kernel.views) == 1 and not sparse.issparse(X) and int(X.shape[1]) <= FEW_FEATURES

    def tasks(self, first: float = 0.0, last: float = 1.0) -> Iterable[Task]:
        """Return all pairs of samples, told as so much of the work."""
        n = self.kernel.n_samples
        return reported(mutual_pairs(n, self.basis.factor), Task.n_pairs, n * n, (first, last))

    def tasks_of(self, points: Sequence[Points]) -> Iterable[Task]:
        """Return the same for new samples."""
        if self.cells is None:
            new, known = np.arange(len(points[0])), np.arange(self.kernel.n_samples)
            return every_pair(new, known, self.basis.factor)
        if self.is_by_samples:
            return self.cells.tasks_of(points[0].X)
        return self.cells.tasks_of(self.basis.at(self.kernel, points))

    def graphs(
        self, alphas: Sequence[float], n_neighbors: int, edge_weights: EdgeWeights, n_jobs: int | None = None
    ) -> list[Array]:
        """Return the symmetric graph of the strongest edges of every sample for each weight of the penalty."""
        jobs = jobs_of(self.basis.factor, n_jobs)
        given: Any = (self.tasks(HALF), alphas, n_neighbors, jobs)
        has_local = any(view.local for view in self.kernel.views)
        if not has_local and self.left.mean() > NEGLIGIBLE * min(alphas):
            refined = refined_in_rows(self.kernel, self.basis, self.left, *given, counts=self.counts)
            self.basis, self.left, found = refined
        else:
            found = strongest_in_rows(self.kernel, self.basis, self.left, *given, counts=self.counts)
        if self.kernel.n_samples >= CELLS_FROM:
            self.cells = Cells.of(self.kernel.views[0].points.X if self.is_by_samples else self.basis.factor, jobs)
        return [joined_edges(edges, edge_weights, self.counts) for edges in found]

    def samples(self) -> list[Array]:
        """Return the fitted samples as each of its views has them, in single precision."""
        return [view.samples() for view in self.kernel.views]

    def move(self, place: Place) -> None:
        """Take all arrays to where results are published."""
        self.kernel, self.basis = self.kernel.moved(place), self.basis.moved(place)
        self.cells = None if self.cells is None else self.cells.moved(place)

    def fewer(self) -> "RowKernels":
        """Return the same, by which new samples are compared with those of fewer cells."""
        cells = self.cells
        return self if cells is None else replace(self, cells=replace(cells, near=cells.near[:, :FEW_CELLS]))

    def edges_of(self, given: list[Array], member: Member, room: float) -> list[Array]:
        """Return the strongest edges of new samples (rows) to fitted ones for each weight of the penalty."""
        points, few = self.kernel.new(given), int(member.n_neighbors or self.kernel.n_samples)
        how: Any = (self.tasks_of(points), member.ridges, few, jobs_of(self.basis.factor, None))
        found = strongest_in_rows(self.kernel, self.basis, self.left, *how, counts=self.counts, points=points)
        for edges in found:
            weigh_edges(edges, member.edge_weights)
        return found

    def unexplained(self, rows: np.ndarray | None, weight: float) -> Unexplained:
        """Return what is left of samples by all others, and by the nearest."""
        jobs, kernel = jobs_of(self.basis.factor, None), self.kernel
        diagonal = kernel.diagonal()
        penalty = PENALTY * float(diagonal.mean())
        basis = Basis.of(kernel, penalty * NEGLIGIBLE, None, jobs, LANDMARKS)
        G = basis.gram(None)
        inside = asarray_like(np.linalg.inv(G + penalty * np.eye(len(G))), basis.factor)
        leverage = to_numpy(namespace(inside).vecdot(basis.factor @ inside, basis.factor))
        left = basis.left(diagonal) + penalty * leverage / np.maximum(1 - leverage, 1e-12)
        near = sum(
            nearest_in_rows(view, self.tasks(), min(NEAREST, kernel.n_samples - 1), jobs)[0].mean(axis=1)
            / (view.max_distance or 1.0)
            for view in kernel.views
        )
        least = NOTHING * float(np.mean(near))
        left = np.maximum(left, NOTHING * float(diagonal.mean()))
        return Unexplained(np.sqrt(left * np.maximum(near, least or 1.0)), rows, weight)
