"""New samples of several views beside a fused graph: their edges, summed over the views that they have."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelbraid._arrays import asarray_like, row_blocks, to_numpy
from kernelbraid._typing import Array
from kernelbraid.kernels import FittedBank
from kernelbraid.learning.candidates import Views
from kernelbraid.learning.extension import as_rows, copies_among, first_places, place_among
from kernelbraid.learning.identity import in_form_of, row_digests
from kernelbraid.learning.outliers import Unexplained
from kernelbraid.learning.trust import names_of
from kernelbraid.learning.views import WeighedViews
from kernelbraid.ops.refinement import EdgeWeights
from kernelbraid.solvers.extension import Expression, Placement

# Bytes of inverses that are kept for the next new samples; more are formed anew each time.
KEPT_BYTES = 1_000_000_000


@dataclass
class ViewMember:
    """The graphs of one bank over one view, with what new samples need."""

    view: int
    weight: float  # of each of its graphs in the sum
    rows: np.ndarray | None  # samples that the view has; None for all
    bank: FittedBank | None  # None for precomputed kernels
    kernel: Array | None  # their average, which cannot be formed again
    ridges: tuple[float, ...]  # weight of the squared coefficients, per graph
    degrees: np.ndarray  # (n_graphs, n_samples of the view)
    n_neighbors: int | None  # strongest edges that a new sample keeps in each graph; None for all
    edge_weights: EdgeWeights
    is_reserve: bool = False  # whether it places only samples that no other view has
    _inverses: dict[float, Expression] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inverses": {}}

    def consensus(self) -> Array:
        """Return the kernel of the fitted samples."""
        if self.kernel is not None:
            return self.kernel
        assert self.bank is not None  # a precomputed kernel is kept
        return self.bank.within(self.even)

    def unexplained(self) -> Unexplained:
        """Return what is left of the samples of the view when others stand in for them."""
        distances = None if self.bank is None else self.bank.distances()
        return Unexplained.of(self.consensus(), self.rows, self.weight, distances=distances)

    def cross(self, given: list[Array]) -> Array:
        """Return kernel values between new samples and fitted ones; from the view, or from its kernels."""
        if self.bank is not None:
            return self.bank.cross(given, self.even)
        total: Array = 0.0
        for K in given:
            total = total + K / len(given)
        return total

    def edges(self, cross: Array, room: float) -> np.ndarray:
        """Return the edges of new samples to those of the view, summed over its graphs, degrees divided out."""
        total = np.zeros(cross.shape)
        K = None
        for ridge, D in zip(self.ridges, self.degrees, strict=True):
            expression = self._inverses.get(ridge)
            if expression is None:
                K = self.consensus() if K is None else K
                expression = Expression.of(K, ridge, self.n_neighbors, self.edge_weights)
                if K.shape[0] ** 2 * 8 <= room:
                    self._inverses[ridge] = expression
            blocks = row_blocks(cross.shape[0])
            like = expression.inverse
            found = [to_numpy(expression.edges(asarray_like(cross[rows, :], like))) for rows in blocks]
            edges = np.concatenate(found).astype(np.float64)
            own = edges.sum(axis=1, keepdims=True)
            total += edges / np.sqrt(np.where(own > 0, own, 1.0) * np.where(D > 0, D, 1.0)[None, :])
        return total * self.weight

    @property
    def even(self) -> np.ndarray:
        """Weights of the kernels of the bank."""
        m = 0 if self.bank is None else sum(map(len, self.bank.banks))
        return np.full(m, 1 / m) if m else np.empty(0)


@dataclass
class FusedExtension:
    """A fused graph with what it takes to place new samples beside its own."""

    members: list[ViewMember]
    widths: list[int]  # features of all views, or numbers of kernels of all sources
    n_samples: int
    placement: Placement
    digests: np.ndarray  # of the fitted samples, (n, 16)
    is_precomputed: bool
    _places: dict[bytes, int] | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, weighed: WeighedViews, members: list[ViewMember], placement: Placement) -> "FusedExtension":
        """Take from a fit what new samples need."""
        samples = weighed.samples
        digests = as_rows(weighed.digests)
        return cls(members, samples.widths, samples.n_samples, placement, digests, not isinstance(samples, Views))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_places": None}

    @property
    def used(self) -> list[int]:
        """Views that count."""
        return sorted({member.view for member in self.members})

    def by_view(self, given: list[Array]) -> list[list[Array]]:
        """Return new samples as what each view of the fit has of them, or say that they do not fit."""
        if self.is_precomputed:
            ends = np.cumsum(self.widths).tolist()
            return [given[end - size : end] for end, size in zip(ends, self.widths, strict=True)]
        widths = [view.shape[1] for view in given]
        if widths != self.widths:
            raise ValueError(f"the views of X have {widths} features; those of the fit had {self.widths}.")
        return [[view] for view in given]

    def known(self, given: list[Array]) -> np.ndarray:
        """Return the place of each sample among the fitted ones, -1 for those that are new."""
        if self._places is None:
            self._places = first_places([row.tobytes() for row in self.digests])
        by_view = self.by_view(given)
        for member in self.members:
            if member.bank is not None:
                by_view[member.view] = [in_form_of(by_view[member.view][0], member.bank.views[0])]
        kept = [matrix for view in self.used for matrix in by_view[view]]
        return np.array([self._places.get(digest, -1) for digest in row_digests(kept)])

    def first_copies(self) -> np.ndarray:
        """Return for each fitted sample the first one that it is a copy of."""
        return copies_among([row.tobytes() for row in self.digests])

    def unexplained(self, kernel: Array | None = None) -> list[Unexplained]:
        """Return what is left of fitted samples in every view when others stand in for them; no kernel is of all."""
        return [member.unexplained() for member in self.members]

    def edges(self, given: list[Array]) -> np.ndarray:
        """Return the edges of new samples (rows) to fitted ones, summed over the views that they have."""
        by_view = self.by_view(given)
        n_new = int(given[0].shape[0])
        total = np.zeros((n_new, self.n_samples))
        reached = np.zeros(n_new, dtype=bool)
        n_inverses = sum(len(member.ridges) for member in self.members)
        main = [member.view for member in self.members if not member.is_reserve]
        reached_otherwise = np.logical_or.reduce([Views(by_view[view]).measured[0] for view in main])
        for member in self.members:
            mine = by_view[member.view]
            there = np.ones(n_new, dtype=bool) if self.is_precomputed else Views(mine).measured[0]
            there = there & ~reached_otherwise if member.is_reserve else there
            reached |= there
            if not there.any():
                continue
            some = mine if there.all() else Views(mine).some(np.flatnonzero(there)).views
            found = member.edges(member.cross(some), KEPT_BYTES / n_inverses)
            columns = slice(None) if member.rows is None else member.rows
            total[np.ix_(np.flatnonzero(there), np.arange(self.n_samples)[columns])] += found
        if not reached.all():
            raise ValueError(
                f"sample {int(np.argmin(reached))} of X (counted from 0) is missing in every view that the fit "
                f"uses ({names_of(self.used)}); leave it out."
            )
        return total

    def place(self, edges: np.ndarray, places: np.ndarray, embedding: Array) -> Array:
        """Return the coordinates of samples: those of new ones from their edges, those of fitted ones as they are."""
        return place_among(self.placement, edges, places, embedding)
