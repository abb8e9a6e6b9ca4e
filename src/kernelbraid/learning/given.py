"""Samples that are handed over as kernels or as graphs: of one source, or of several, which are views then.

Of a ready graph nothing is learned, and several are fused as those of views are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from kernelbraid._arrays import itemsize, namespace, row_blocks, rows_of, to_numpy
from kernelbraid._machine import counted
from kernelbraid._typing import Array, Place
from kernelbraid.kernels import StoredStack, stack_given
from kernelbraid.learning.sources import Candidates, KernelSamples, Samples, identities
from kernelbraid.learning.trust import nearest_in
from kernelbraid.ops.graphs import degrees


@dataclass(frozen=True)
class GivenKernels(KernelSamples):
    """Kernels that were handed over: of one source, or of several, which are views then."""

    matrices: list[Array]  # as they came
    check: Callable[[list[Array]], Array]  # returns them as a stack, (n_kernels, n, n), each symmetric
    place: Place | None = None
    sizes: tuple[int, ...] = ()  # numbers of kernels of the sources; all are of one if empty

    @property
    def widths(self) -> list[int]:
        """Numbers of kernels of the sources."""
        return list(self.sizes) or [len(self.matrices)]

    def of(self, view: int) -> list[Array]:
        """Return the kernels of a source as they came: symmetric ones may differ from them in the last digits."""
        ends = np.cumsum(self.widths)
        return self.matrices[int(ends[view]) - self.widths[view] : int(ends[view])]

    def only(self, view: int) -> "GivenKernels":
        """Return the kernels of one source."""
        if not self.sizes:
            return self
        end = int(np.cumsum(self.sizes)[view])
        mine = range(end - self.sizes[view], end)
        return GivenKernels([self.checked[i, ...] for i in mine], _as_stack, self.place)

    def identities(self, views: Iterable[int]) -> NDArray[np.int64]:
        """Return numbers of the distinct samples: copies have the same kernel values, but for rounding."""
        return by_rows([K for view in views for K in self.of(view)])

    @cached_property
    def checked(self) -> Array:
        """All of them as a stack, (n_kernels, n, n)."""
        return self.check(self.matrices)

    def some(self, rows: np.ndarray) -> "GivenKernels":
        """Return the kernels between some of the samples."""
        chosen = [rows_of(rows_of(self.checked[i, ...], rows).T, rows).T for i in range(len(self.matrices))]
        return GivenKernels(chosen, _as_stack, self.place, self.sizes)

    def size(self, kernels: Any) -> dict[str, int]:
        """Return what decides the memory of a fit."""
        single = all(itemsize(getattr(K, "dtype", float)) == 4 for K in self.matrices)
        n = (self.matrices[0].shape or (0,))[0]
        return {"n_samples": n, "n_kernels": len(self.matrices), "n_views": 0, "itemsize": 4 if single else 8}

    def pose(self, kernels: Any, *, stored: bool = False, is_shared: bool = False) -> Candidates:
        """Return the kernels as candidates; stored ones are made orthonormal in the memory of the checked stack."""
        H = self.check(self.matrices)
        H = H if self.place is None else self.place(H)
        stack = StoredStack.of(H, overwrite=True) if stored else stack_given(H)
        names = [f"kernel {i}" for i in range(stack.n_kernels)]
        return Candidates(stack, names, self, None, is_shared=is_shared)

    def banks_of(self, view: int, banks: Sequence[Any]) -> list[Any]:
        """Return that the kernels of a source are there."""
        return ["precomputed"]


def _as_stack(matrices: list[Array]) -> Array:
    """Return kernels that were checked as one array."""
    return namespace(matrices[0]).stack(matrices)


#: Differences between the rows of copies, in units of the precision of numbers; directions by which rows are compared.
ROUNDING, DIRECTIONS = 100, 8


def by_rows(matrices: Sequence[Array]) -> NDArray[np.int64]:
    """Number distinct samples, in order of appearance, by their rows: those of copies differ by rounding alone.

    The length of a difference, beside that of a row on average, is told by what random directions have of it.
    """
    n, drawing, total = matrices[0].shape[0], np.random.default_rng(0), np.zeros(DIRECTIONS)
    for A in matrices:
        directions = drawing.normal(size=(A.shape[1], DIRECTIONS))
        blocks = [A] if sparse.issparse(A) else (to_numpy(A[rows, :]) for rows in row_blocks(A.shape[0]))
        seen = np.concatenate([block @ directions for block in blocks])
        if len(seen) != n or not np.isfinite(seen).all():
            return np.arange(n)  # the check of kernels says what is wrong
        seen /= np.abs(seen).max() or 1.0
        precision = np.finfo(np.float32 if itemsize(A.dtype) == 4 else np.float64).eps
        total = total + seen / (float(precision) * (np.linalg.norm(seen) or 1.0))
    pairs = KDTree(total, balanced_tree=False).query_pairs(ROUNDING / np.sqrt(n), output_type="ndarray")
    near = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return identities(connected_components(near, directed=False)[1])


#: The neighbour whose distance is the scale of a sample.
SEVENTH = 7


@dataclass(frozen=True)
class GivenGraphs(Samples):
    """Graphs over the same samples: one, or one of each view; a sample without edges is missing in a view."""

    given: list[Array]  # csr, as they came: by their rows fitted samples are known again
    are_distances: bool = False  # of neighbours; else affinities

    has_kernels: ClassVar[bool] = False

    @cached_property
    def scales(self) -> list[NDArray[np.float64] | None]:
        """Of the distances of each sample; None for affinities."""
        return [scales_of(off_diagonal(A)) if self.are_distances else None for A in self.given]

    @cached_property
    def graphs(self) -> list[Array]:
        """Affinities: csr, symmetric, not negative, nothing on the diagonal."""
        pairs = zip(self.given, self.scales, strict=True)
        return [both_ways(A if own is None else as_affinities(A, own, own)) for A, own in pairs]

    @property
    def widths(self) -> list[int]:
        """Graphs of each view."""
        return [1] * len(self.graphs)

    @cached_property
    def measured(self) -> list[NDArray[np.bool_]]:
        """Which samples have edges in each graph."""
        return [degrees(graph) > 0 for graph in self.graphs]

    @property
    def like(self) -> Array:
        """An array that lives where results do."""
        return self.graphs[0].data

    def of(self, view: int) -> list[Array]:
        """Return a graph as it came."""
        return [self.given[view]]

    def identities(self, views: Iterable[int]) -> NDArray[np.int64]:
        """Return numbers of the distinct samples: copies are at no distance, and at the same from and to all others.

        Who has the same neighbours in a ready graph need not be a copy.
        """
        if not self.are_distances:
            return np.arange(self.n_samples)
        near = [_nearness(self.given[view], self.measured[view]) for view in views]
        return by_rows([A + A + A.T for A in near])

    def some(self, rows: np.ndarray) -> "GivenGraphs":
        """Return the graphs between some of the samples."""
        return GivenGraphs([sparse.csr_array(A[rows][:, rows]) for A in self.given], self.are_distances)

    def neighbours(self, view: int, rows: NDArray[np.int64] | None = None) -> Array:
        """Return the graph of nearest neighbours in a view, or among some of its samples."""
        graph = self.graphs[view]
        return nearest_in(graph if rows is None else sparse.csr_array(graph[rows][:, rows]))

    def banks_of(self, view: int, banks: Sequence[Any]) -> list[Any]:
        """Return that the graph of a view is there."""
        return ["graph"]

    def usual_edges(self, kept: int | None) -> int | None:
        """Return how many edges a sample has in most graphs, which are taken as they are."""
        return max(int(np.median([graph.nnz / self.n_samples for graph in self.graphs])), 1)

    def are_equal(self, one: int, other: int) -> bool:
        """Tell whether two graphs are the same."""
        A, B = self.graphs[one], self.graphs[other]
        return bool(A.nnz == B.nnz and (A != B).nnz == 0)


def scales_of(distances: Array) -> NDArray[np.float64]:
    """Return the distance of each row to its seventh neighbour, or to the last of fewer.

    Parameters
    ----------
    distances : csr array of shape (n_rows, n)
        Not negative. What is not stored is no edge; nothing on the diagonal.
    """
    counts, data = np.diff(distances.indptr), distances.data
    rows = np.repeat(np.arange(len(counts)), counts)
    ordered = data[np.lexsort((data, rows))]
    found, has = np.zeros(len(counts)), counts > 0
    found[has] = ordered[(distances.indptr[:-1] + np.minimum(counts, SEVENTH) - 1)[has]]
    known = found > 0  # a sample whose neighbours are all copies has the scale of the others
    return np.where(known, found, found[known].mean() if known.any() else 1.0)


def as_affinities(distances: Array, own: NDArray[np.float64], fitted: NDArray[np.float64]) -> Array:
    r"""Return affinities for distances, each in units of its own two samples.

    .. math:: w_{ij} = \exp\big(-d_{ij}^2 / (s_i s_j)\big)

    Parameters
    ----------
    distances : csr array of shape (n_rows, n)
        Not negative. What is not stored is no edge, and a stored zero the distance of copies.
    own, fitted : ndarray of shape (n_rows,), ndarray of shape (n,)
        s, of rows and of columns.
    """
    rows = np.repeat(np.arange(distances.shape[0]), np.diff(distances.indptr))
    scaled = (distances.data / own[rows]) * (distances.data / fitted[distances.indices])
    return sparse.csr_array((np.exp(-scaled), distances.indices, distances.indptr), shape=distances.shape)


def _nearness(distances: Array, measured: NDArray[np.bool_]) -> Array:
    """Return affinities in which all distances have one scale, and samples are one to themselves where measured."""
    edges = off_diagonal(distances)
    scale = np.full(len(measured), np.median(edges.data[edges.data > 0]) if edges.data.any() else 1.0)
    return sparse.csr_array(as_affinities(edges, scale, scale) + sparse.diags_array(1.0 * measured), dtype=edges.dtype)


def off_diagonal(graph: Array) -> Array:
    """Return a graph without its diagonal, stored zeros elsewhere included."""
    edges = sparse.coo_array(graph)
    kept = edges.row != edges.col
    return sparse.csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=graph.shape)


def both_ways(graph: Array) -> Array:
    """Return (G + G') / 2 without its diagonal, as a csr array."""
    one_way = off_diagonal(graph)
    one_way.eliminate_zeros()
    return sparse.csr_array((one_way + one_way.T) / 2)


def check_edges(samples: GivenGraphs) -> None:
    """Refuse samples without an edge, and graphs that join hardly any two."""
    bare = np.flatnonzero(~np.logical_or.reduce(samples.measured))
    if len(bare) == samples.n_samples:
        raise ValueError("X has no edges; a graph joins samples by positive weights.")
    total = sparse.csr_array(sum(samples.graphs))
    n_components = int(connected_components(total, directed=False)[0])
    if 2 * n_components > samples.n_samples:
        raise ValueError(
            f"X falls into {n_components} parts of {counted(samples.n_samples, 'sample')} in all, so that it joins "
            "hardly any two; give every sample more edges."
        )
    if len(bare):
        more = "" if len(bare) == 1 else f", as {len(bare) - 1} more"
        raise ValueError(
            f"sample {int(bare[0])} of X (counted from 0) has no edge, so that nothing tells where it belongs; "
            f"leave it out, or give it neighbours{more}."
        )
