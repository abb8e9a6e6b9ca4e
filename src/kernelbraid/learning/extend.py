"""Samples that a fit has not seen: their edges to the fitted ones, member by member, and their place beside them.

A learned graph is a sum of graphs, of each of which a member knows what new samples need: kernels over the samples of
a view, or of several together, or a graph that was handed over. One view is a sum of one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import Digests, asarray_like, namespace, row_digests, rows_of, squared_lengths, to_numpy
from kernelbraid._machine import calm
from kernelbraid._typing import Array
from kernelbraid.learning.given import as_affinities, scales_of
from kernelbraid.learning.outliers import Reach, Unexplained
from kernelbraid.learning.sources import Samples
from kernelbraid.learning.trust import names_of
from kernelbraid.learning.vertices import Vertices
from kernelbraid.ops.graphs import EdgeWeights, Spectrum, embed_rows, spectral_vectors, unit_rows
from kernelbraid.solvers.lloyd import nearest_centres

# Bytes of inverses that are kept for the next new samples; more are formed anew each time.
KEPT_BYTES = 1_000_000_000
#: New samples that are placed at a time; and how many times as many on an accelerator, which waits for each block.
AT_ONCE, DEVICE_SHARE = 25_000, 10


@dataclass(frozen=True)
class NewSamples:
    """Samples to be placed, as the views of a fit have them."""

    given: list[list[Array]]  # of every view of the fit: its matrix, its kernels with the fitted samples, or its graph
    measured: list[NDArray[np.bool_]]  # which samples each view has

    @classmethod
    def of_samples(cls, samples: Samples) -> "NewSamples":
        """Take the samples that are there."""
        return cls([samples.of(view) for view in range(samples.n_views)], samples.measured)

    def some(self, rows: NDArray[np.int64] | slice) -> "NewSamples":
        """Return some of them."""
        given = [[rows_of(A, rows) for A in view] for view in self.given]
        return NewSamples(given, [has[rows] for has in self.measured])

    def narrowed(self, columns: NDArray[np.int64] | None) -> "NewSamples":
        """Return the same, with some of the columns of what the views have."""
        if columns is None:
            return self
        return NewSamples([[rows_of(A.T, columns).T for A in view] for view in self.given], self.measured)

    @property
    def n_samples(self) -> int:
        """Number of new samples."""
        return len(self.measured[0])

    def in_blocks(self) -> Iterator["NewSamples"]:
        """Yield so many of them at a time that what is known of them needs little memory."""
        for first in range(0, max(self.n_samples, 1), AT_ONCE):
            yield self.some(slice(first, first + AT_ONCE))

    def of(self, views: Sequence[int], rows: NDArray[np.int64] | None = None) -> list[Array]:
        """Return what some views have of all samples, or of some of them."""
        found = [A for view in views for A in self.given[view]]
        return found if rows is None or len(rows) == self.n_samples else [rows_of(A, rows) for A in found]


class Relation:
    """What new samples have to do with fitted ones, in one view or in several together: kernels, or a graph."""

    def edges_of(self, given: list[Array], member: "Member", room: float) -> Iterable[Array]:
        """Return the edges of new samples (rows) to fitted ones, for each weight of the squared coefficients."""
        raise NotImplementedError

    def unexplained(self, rows: np.ndarray | None, weight: float) -> Unexplained:
        """Return what is left of the fitted samples when others stand in for them."""
        raise NotImplementedError

    def samples(self) -> list[Array]:
        """Return the fitted samples as each of its views has them, where they are kept."""
        return []

    def move(self, place: Callable[[Array], Array]) -> None:
        """Take what it keeps, and is not on the host anyway, to where results are published."""

    def fewer(self) -> "Relation":
        """Return the same, by which new samples are compared with fewer fitted ones, where there is a choice."""
        return self


@dataclass
class GivenEdges(Relation):
    """A graph that was handed over."""

    degrees: np.ndarray
    scales: np.ndarray | None  # of distances; None for affinities
    counts: np.ndarray | None = None  # how often fitted samples count; None: once

    def unexplained(self, rows: np.ndarray | None, weight: float) -> Unexplained:
        """Return what stands in for it where there is no kernel: the weaker the edges of a sample, the more is left."""
        has = np.flatnonzero(self.degrees)
        return Unexplained(1 / self.degrees[has], None if len(has) == len(self.degrees) else has, weight)

    def edges_of(self, given: list[Array], member: "Member", room: float) -> list[Array]:
        """Return the edges of new samples to fitted ones as affinities."""
        (rows,) = given
        edges = rows if self.scales is None else as_affinities(rows, scales_of(rows), self.scales)
        return [edges if self.counts is None else sparse.csr_array(edges @ sparse.diags_array(self.counts))]


@dataclass
class Member:
    """Some of the graphs whose sum was learned, as new samples need them: one for each weight of the penalty."""

    views: tuple[int, ...]  # from which they are
    n_samples: int
    rows: np.ndarray | None  # samples that these have; None for all
    weight: float  # of each of the graphs in the sum
    relation: Relation
    ridges: tuple[float, ...] = (0.0,)  # weight of the squared coefficients, per graph
    degrees: np.ndarray | None = None  # (n_graphs, n_samples of the view); None where nothing is summed
    n_neighbors: int | None = None  # strongest edges that a new sample keeps in each graph; None for all
    edge_weights: EdgeWeights = "learned"
    is_reserve: bool = False  # whether it places only samples that no other member has

    def edges(self, given: list[Array], room: float) -> Array:
        """Return the edges of new samples, summed over the graphs, with degrees divided out as those of fitted ones.

        A csr array, as all edges of new samples are.
        """
        total: Array = 0.0
        for number, edges in enumerate(self.relation.edges_of(given, self, room)):
            edges = edges if self.degrees is None else _balanced(edges, self.degrees[number])
            total = edges if number == 0 else total + edges
        total = total if self.degrees is None else total * self.weight
        if self.rows is None:
            return total
        columns = self.rows[total.indices]
        return sparse.csr_array((total.data, columns, total.indptr), shape=(total.shape[0], self.n_samples))


def _balanced(edges: Array, degrees: np.ndarray) -> Array:
    """Return edges of new samples (rows) divided by the roots of their degrees and of those of fitted samples."""
    own = np.asarray(edges.sum(axis=1), dtype=np.float64).ravel()
    left, right = (1 / np.sqrt(np.where(D > 0, D, 1.0)) for D in (own, degrees))
    return sparse.csr_array(sparse.diags_array(left) @ edges @ sparse.diags_array(right))


@dataclass(frozen=True)
class Placement:
    """Where the vertices of a graph are, and edges to them place others: worked out when it is first asked for."""

    graph: Array  # symmetric
    n_components: int
    spectrum: Spectrum
    n_jobs: int | None = None

    def at(self, place: Callable[[Array], Array]) -> "Placement":
        """Return the same where results are published; sparse graphs stay on the host."""
        return self if sparse.issparse(self.graph) else replace(self, graph=place(self.graph))

    @cached_property
    def vectors(self) -> Array:
        """Orthonormal eigenvectors of the graph, (n, k)."""
        with calm(self.n_jobs):
            return spectral_vectors(self.graph, self.n_components, spectrum=self.spectrum)

    @cached_property
    def embedding(self) -> Array:
        """What they make of the vertices, (n, k)."""
        return embed_rows(self.graph, self.vectors, self.spectrum)

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """Eigenvectors, scaled so that edges times these give coordinates, (n, k), and eigenvalues, (k,)."""
        xp, graph, vectors = namespace(self.graph), self.graph, self.vectors
        degrees = xp.sum(graph, axis=1)
        if self.spectrum == "unnormalised":
            product = degrees[:, None] * vectors - graph @ vectors
            return vectors, xp.sum(vectors * product, axis=0)
        scale = 1 / xp.sqrt(xp.where(degrees > 0, degrees, asarray_like(1.0, degrees)))
        scaled = scale[:, None] * vectors
        values = xp.sum(scaled * (graph @ scaled), axis=0)
        largest = xp.max(graph)  # by which the embedding divides the graph
        return scaled * xp.sqrt(largest) if self.spectrum == "random_walk" else scaled, values

    def embed(self, edges: Array) -> Array:
        """Return the coordinates of new samples, (n_new, k), as the embedding of the fitted ones has them."""
        basis, values = self._scaled
        xp = namespace(basis)
        edges = edges if sparse.issparse(edges) else to_numpy(edges)
        degrees, sums = asarray_like(edges.sum(axis=1), basis), asarray_like(edges @ to_numpy(basis), basis)
        degrees = xp.where(degrees > 0, degrees, asarray_like(1.0, degrees))[:, None]
        if self.spectrum == "unnormalised":
            return unit_rows(sums / _away_from_zero(degrees - values[None, :]))
        placed = sums / degrees / _away_from_zero(values[None, :])
        return placed if self.spectrum == "random_walk" else unit_rows(placed)


@dataclass
class Extension:
    """A learned graph with what it takes to place new samples beside its own."""

    members: Sequence[Member]
    widths: list[int]  # what new samples bring for each view
    placement: Placement
    digests: Digests  # of the fitted samples
    copies: np.ndarray  # (n,): the first sample that each is a copy of
    given_as: str  # how samples come: as matrices, or as what `kernels` said they are
    columns: NDArray[np.int64] | None = None  # of what new samples bring, by which they are known; None: all
    places: NDArray[np.int64] | None = None  # of those that the digests are of among the fitted samples; None: in turn

    @classmethod
    def of(cls, samples: Samples, members: Sequence[Member], placement: Placement, given_as: str) -> "Extension":
        """Take from a fit what new samples need."""
        used = sorted({view for member in members for view in member.views})
        _, first, numbers = np.unique(samples.identities(used), return_index=True, return_inverse=True)
        return cls(members, samples.widths, placement, samples.digests(used), first[numbers], given_as)

    def known_by(self, vertices: Vertices, samples: Samples) -> "Extension":
        """Return the same, by which all samples are known, also copies that differ by rounding."""
        every = NewSamples.of_samples(samples).narrowed(vertices.first)
        return replace(self, columns=vertices.first, digests=row_digests(every.of(self.used)), places=vertices.index)

    @property
    def n_samples(self) -> int:
        """Number of fitted samples."""
        return len(self.copies)

    @property
    def used(self) -> list[int]:
        """Views that count."""
        return sorted({view for member in self.members for view in member.views})

    def samples(self) -> dict[int, tuple[np.ndarray | None, Array]]:
        """Return the fitted samples by view, as far as they are kept, with the numbers of those that a view has."""
        kept: dict[int, tuple[np.ndarray | None, Array]] = {}
        for member in self.members:
            for view, A in zip(member.views, member.relation.samples(), strict=False):
                kept.setdefault(view, (member.rows, A))
        return dict(sorted(kept.items()))

    def unexplained(self) -> list[Unexplained]:
        """Return what is left of fitted samples, member by member, when others stand in for them."""
        return [member.relation.unexplained(member.rows, member.weight) for member in self.members]

    def known(self, new: NewSamples) -> np.ndarray:
        """Return the place of each sample among the fitted ones, -1 for those that are new."""
        wanted = row_digests(new.narrowed(self.columns).of(self.used))
        fitted, first = np.unique(self.digests, return_index=True)
        at = np.minimum(np.searchsorted(fitted, wanted), len(fitted) - 1)
        return np.where(fitted[at] == wanted, first[at] if self.places is None else self.places[first[at]], -1)

    def edges(self, new: NewSamples) -> Array:
        """Return the edges of new samples (rows) to fitted ones, summed over the members that have them."""
        new = new.narrowed(self.columns)
        there = [np.logical_and.reduce([new.measured[view] for view in member.views]) for member in self.members]
        main = np.logical_or.reduce(
            [has for member, has in zip(self.members, there, strict=True) if not member.is_reserve]
        )
        bare = np.flatnonzero(~np.logical_or.reduce(there))
        if len(bare):
            which = "every view" if all(len(member.views) == 1 for member in self.members) else "a view"
            raise ValueError(
                f"sample {int(bare[0])} of X (counted from 0) is missing in {which} that the fit uses "
                f"({names_of(self.used)}); leave it out."
            )
        total: Array = None
        for member, has in zip(self.members, there, strict=True):
            rows = np.flatnonzero(has & ~main if member.is_reserve else has)
            if len(rows):
                found = member.edges(new.of(member.views, rows), KEPT_BYTES / len(self.members))
                total = _added(total, found, rows, new.n_samples)
        return total

    def place(self, edges: Array, places: np.ndarray) -> Array:
        """Return the coordinates of samples: those of new ones from their edges, those of fitted ones as they are."""
        placed = self.placement.embed(edges)
        fitted = asarray_like(to_numpy(self.placement.embedding)[places], placed)
        return namespace(placed).where(asarray_like(places >= 0, placed)[:, None] > 0, fitted, placed)


@dataclass(frozen=True)
class Placing:
    """What new samples are asked about: their edges, coordinates and labels, wherever they are."""

    fitted: Extension
    labels: NDArray[np.int64]  # of the distinct samples

    def coordinates(self, new: NewSamples) -> Array:
        """Return coordinates in the embedding; fitted samples have their own."""
        return self.fitted.place(self.fitted.edges(new), self.fitted.known(new))

    def nearest(self, new: NewSamples) -> NDArray[np.int64]:
        """Return the clusters with the nearest centre; of fitted samples their own."""
        return self.by_edges(self.fitted.edges(new), self.fitted.known(new))[1]

    def everything(self, new: NewSamples) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.float64]]:
        """Return edges to the fitted samples as a csr array, coordinates, clusters, and how far samples stand aside."""
        edges = self.fitted.edges(new)
        return edges, *self.by_edges(edges, self.fitted.known(new)), self.reach.aside(new, edges)

    def by_edges(self, edges: Array, places: np.ndarray) -> tuple[Array, NDArray[np.int64]]:
        """Return coordinates and clusters of samples from their edges, and the places of those that are fitted."""
        placed = self.fitted.place(edges, places)
        found = nearest_centres(to_numpy(placed) @ self.centres.T, squared_lengths(self.centres))
        return placed, np.where(places >= 0, self.labels[places], found)

    @cached_property
    def reach(self) -> Reach:
        """How far fitted samples are from their neighbours."""
        return Reach.of(self.fitted.samples(), self.fitted.placement.graph)

    @cached_property
    def centres(self) -> NDArray[Any]:
        """The means of the clusters."""
        numbers, embedding = range(int(self.labels.max()) + 1), to_numpy(self.fitted.placement.embedding)
        return np.stack([embedding[self.labels == label].mean(axis=0) for label in numbers])


def _added(total: Array, edges: Array, rows: np.ndarray, n_new: int) -> Array:
    """Return edges of some of the new samples beside those that there are of all."""
    if len(rows) < n_new:
        where = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n_new, len(rows)))
        edges = where @ edges
    return edges if total is None else total + edges


def _away_from_zero(A: Array) -> Array:
    """Return numbers that can divide: eigenvalues of zero carry no information and are not blown up."""
    xp = namespace(A)
    least = 1e-8 * (1 + xp.max(xp.abs(A)))
    sign = xp.where(A < 0, asarray_like(-1.0, A), asarray_like(1.0, A))
    return xp.where(xp.abs(A) < least, least * sign, A)


def with_rows(graph: Array, edges: Array, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Array:
    """Return a symmetric sparse graph with edges between some samples, which have none there, and others."""
    n, back = graph.shape[0], edges.T.tocsr()
    kind = sparse.get_index_dtype(maxval=max(n, 2 * edges.nnz))
    numbers = np.concatenate([columns.astype(kind)[edges.indices], rows.astype(kind)[back.indices]])
    ends = np.concatenate([edges.indptr, edges.nnz + back.indptr[1:]]).astype(kind)
    added = sparse.csr_array((np.concatenate([edges.data, back.data]), numbers, ends), shape=(len(ends) - 1, n))
    owners, counts = np.concatenate([rows, columns]), np.zeros(n + 1, dtype=kind)
    counts[owners + 1] = np.diff(ends)
    added = added[np.argsort(owners)]
    known = sparse.csr_array((graph.data, graph.indices.astype(kind), graph.indptr.astype(kind)), shape=(n, n))
    return known + sparse.csr_array((added.data, added.indices, np.cumsum(counts, dtype=kind)), shape=(n, n))
