"""New samples beside graphs that were handed over: their rows of these graphs place them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from kernelbraid._arrays import row_blocks, to_numpy
from kernelbraid._typing import Array
from kernelbraid.learning.extension import as_rows, first_places, place_among
from kernelbraid.learning.graphs import as_affinities, scales_of
from kernelbraid.learning.identity import row_digests
from kernelbraid.learning.outliers import Unexplained
from kernelbraid.learning.views import WeighedViews
from kernelbraid.ops.spectral import degrees
from kernelbraid.solvers.extension import Placement


@dataclass
class GraphMember:
    """One of the graphs, as new samples need it."""

    view: int
    weight: float
    degrees: np.ndarray
    scales: np.ndarray | None  # of distances; None for affinities
    is_alone: bool  # whether there is no other graph, and its degrees are not divided out
    is_reserve: bool = False  # whether it places only samples that no other graph has

    def edges(self, rows: Array) -> Array:
        """Return the edges of new samples to fitted ones, weighed as those of fitted ones are."""
        if self.scales is not None:
            rows = as_affinities(rows, scales_of(rows), self.scales)
        if self.is_alone:
            return rows
        own = degrees(rows)
        left = sparse.diags_array(self.weight / np.sqrt(np.where(own > 0, own, 1.0)))
        right = sparse.diags_array(1 / np.sqrt(np.where(self.degrees > 0, self.degrees, 1.0)))
        return sparse.csr_array(left @ rows @ right)


@dataclass
class GraphExtension:
    """Graphs that were given, with what it takes to place new samples by their rows."""

    members: list[GraphMember]
    n_views: int
    placement: Placement
    digests: np.ndarray  # of the fitted samples, (n, 16)
    _places: dict[bytes, int] | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, weighed: WeighedViews, members: list[GraphMember], placement: Placement) -> "GraphExtension":
        """Take from a fit what new samples need."""
        return cls(members, weighed.samples.n_views, placement, as_rows(weighed.digests))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_places": None}

    @property
    def n_samples(self) -> int:
        """Number of fitted samples."""
        return len(self.digests)

    @property
    def used(self) -> list[int]:
        """Graphs that count."""
        return sorted(member.view for member in self.members)

    def known(self, given: list[Array]) -> np.ndarray:
        """Return the place of each sample among the fitted ones, -1 for those that are new."""
        if self._places is None:
            self._places = first_places([row.tobytes() for row in self.digests])
        return np.array([self._places.get(digest, -1) for digest in row_digests([given[view] for view in self.used])])

    def first_copies(self) -> np.ndarray:
        """Return for each fitted sample itself: whoever has the same neighbours need not be a copy."""
        return np.arange(self.n_samples)

    def unexplained(self, kernel: Array | None = None) -> list[Unexplained]:
        """Return what stands in for it where there is no kernel: the weaker the edges of a sample, the more is left."""
        parts = []
        for member in self.members:
            rows = np.flatnonzero(member.degrees)
            everyone = len(rows) == self.n_samples
            parts.append(Unexplained(1 / member.degrees[rows], None if everyone else rows, member.weight))
        return parts

    def edges(self, given: list[Array]) -> Array:
        """Return the edges of new samples (rows) to fitted ones, summed over the graphs, as a csr array."""
        has = {member.view: np.diff(given[member.view].indptr) > 0 for member in self.members}
        main = np.logical_or.reduce([has[member.view] for member in self.members if not member.is_reserve])
        total = sparse.csr_array((given[0].shape[0], self.n_samples))
        for member in self.members:
            rows = member.edges(given[member.view])
            total = total + (sparse.diags_array((~main).astype(float)) @ rows if member.is_reserve else rows)
        total = sparse.csr_array(total)
        bare = np.flatnonzero(degrees(total) == 0)
        if len(bare):
            raise ValueError(
                f"sample {int(bare[0])} of X (counted from 0) has no edge to a fitted one; leave it out, or give "
                "it neighbours."
            )
        return total

    def place(self, edges: Array, places: np.ndarray, embedding: Array) -> Array:
        """Return the coordinates of samples: those of new ones from their edges, those of fitted ones as they are."""
        share = edges.shape[0] / embedding.shape[0]
        blocks = row_blocks(edges.shape[0], share)
        found = [place_among(self.placement, edges[rows].toarray(), places[rows], embedding) for rows in blocks]
        return np.concatenate(found) if found else to_numpy(embedding)[:0]
