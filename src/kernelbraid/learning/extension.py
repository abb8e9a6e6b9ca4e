"""Samples that a fit has not seen: their edges to the fitted ones, and their place in the embedding."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelbraid._arrays import asarray_like, namespace, row_blocks, to_numpy
from kernelbraid._typing import Array
from kernelbraid.kernels import FittedBank
from kernelbraid.kernels.stacks import Vector
from kernelbraid.learning.candidates import Candidates
from kernelbraid.learning.identity import in_form_of, row_digests
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.outliers import Unexplained
from kernelbraid.learning.settings import Settings
from kernelbraid.ops.refinement import EdgeWeights
from kernelbraid.solvers.extension import Expression, Placement


@dataclass
class Extension:
    """A fitted graph with what it takes to place new samples beside its own."""

    bank: FittedBank | None  # kernels with the fitted samples; None if kernels are precomputed
    kernel_weights: Vector
    ridge: float  # weight of the squared coefficients of new samples
    n_neighbors: int | None  # strongest edges that a new sample keeps; None for all
    edge_weights: EdgeWeights
    placement: Placement
    kernel: Array | None = None  # consensus kernel where it cannot be formed again from the samples
    digests: np.ndarray | None = None  # of the fitted samples, (n, 16), where they are not kept
    views: list[int] | None = None  # which of those that are given are used; None for all
    sizes: list[int] | None = None  # numbers of precomputed kernels of all sources; None if there is one source
    # Formed when they are first needed, and not part of a file.
    _expression: Expression | None = field(default=None, init=False, repr=False, compare=False)
    _places: dict[bytes, int] | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        settings: Settings,
        learned: LearnedGraph,
        placement: Placement,
        kernel: Array | None,
    ) -> "Extension":
        """Take from a fit what new samples need; `kernel` is the consensus kernel where the results live."""
        bank, learning, readout = candidates.bank, settings.learning, settings.readout
        return cls(
            bank,
            candidates.of_bank(learned.weights),
            learning.expression_weight,
            None if isinstance(readout.n_neighbors, str) else int(readout.n_neighbors),
            readout.edge_weights,
            placement,
            None if bank is not None and learning.is_kernel_fixed else kernel,
            as_rows(candidates.digests) if bank is None else None,
            None if candidates.weighed is None else candidates.weighed.used,
            None if bank is not None or candidates.weighed is None else list(candidates.weighed.samples.sizes),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_expression": None, "_places": None}

    def consensus(self) -> Array:
        """Return the kernel of the fitted samples."""
        if self.kernel is not None:
            return self.kernel
        assert self.bank is not None  # a precomputed kernel is kept
        return self.bank.within(self.kernel_weights)

    def known(self, samples: list[Array]) -> np.ndarray:
        """Return the place of each sample among the fitted ones, -1 for those that are new."""
        if self._places is None:
            self._places = first_places(self._digests())
        if self.bank is not None:
            samples = [in_form_of(view, fitted) for view, fitted in zip(samples, self.bank.views, strict=True)]
        return np.array([self._places.get(digest, -1) for digest in row_digests(samples)])

    def first_copies(self) -> np.ndarray:
        """Return for each fitted sample the first one that it is a copy of."""
        return copies_among(self._digests())

    def unexplained(self, kernel: Array | None = None) -> list[Unexplained]:
        """Return what is left of fitted samples when others stand in for them; the kernel is formed if it is None."""
        distances = None if self.bank is None else self.bank.distances()
        return [Unexplained.of(self.consensus() if kernel is None else kernel, distances=distances)]

    def _digests(self) -> list[bytes]:
        """Return what tells the fitted samples apart."""
        if self.bank is not None:
            return row_digests(self.bank.views)
        assert self.digests is not None  # kept with precomputed kernels
        return [row.tobytes() for row in self.digests]

    def edges(self, cross: Array, kernel: Array | None = None) -> np.ndarray:
        """Return the edges of new samples (rows) to fitted ones, from kernel values and the kernel of the fitted."""
        if self._expression is None:
            K = self.consensus() if kernel is None else kernel
            self._expression = Expression.of(K, self.ridge, self.n_neighbors, self.edge_weights)
        like, blocks = self._expression.inverse, row_blocks(cross.shape[0])
        return np.concatenate([to_numpy(self._expression.edges(asarray_like(cross[rows, :], like))) for rows in blocks])

    def place(self, edges: np.ndarray, places: np.ndarray, embedding: Array) -> Array:
        """Return the coordinates of samples: those of new ones from their edges, those of fitted ones as they are."""
        return place_among(self.placement, edges, places, embedding)


def as_rows(digests: list[bytes]) -> np.ndarray:
    """Return digests as rows of bytes."""
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 16)


def first_places(digests: list[bytes]) -> dict[bytes, int]:
    """Return where each digest comes first."""
    return {digest: place for place, digest in reversed(list(enumerate(digests)))}


def copies_among(digests: list[bytes]) -> np.ndarray:
    """Return for each digest the place where it comes first."""
    places = first_places(digests)
    return np.array([places[digest] for digest in digests])


def place_among(placement: Placement, edges: np.ndarray, places: np.ndarray, embedding: Array) -> Array:
    """Return the coordinates of samples: those of new ones from their edges, those of fitted ones as they are."""
    placed = placement.embed(asarray_like(edges, placement.basis))
    fitted = asarray_like(to_numpy(embedding)[places], placed)
    return namespace(placed).where(asarray_like(places >= 0, placed)[:, None] > 0, fitted, placed)
