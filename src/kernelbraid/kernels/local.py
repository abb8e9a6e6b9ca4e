"""Local kernels: similarity by the neighbourhoods of samples, which global widths miss."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, Self, runtime_checkable

from scipy import sparse

from kernelbraid._arrays import (
    as_dense,
    as_sparse,
    asarray_like,
    identity_like,
    in_place,
    kth_of_rows,
    namespace,
    row_blocks,
    tie_share,
)
from kernelbraid._typing import Array
from kernelbraid.kernels.functions import Kernel, Pairs


@runtime_checkable
class LocalKernel(Kernel, Protocol):
    """A kernel that must see all fitted samples before it can compare two of them."""

    @property
    def n_matrices(self) -> int:
        """Matrices of n x n that it keeps."""

    def bind(self, pairs: Pairs) -> Self:
        """Return the kernel with what it needs to know about the fitted samples."""

    def moved(self, place: Callable[[Array], Array]) -> Self:
        """Return the kernel with what it knows on another device, or as arrays of another library."""


@dataclass(frozen=True)
class SelfTuning:
    r"""Gaussian kernel whose width follows the density of the samples.

    .. math:: K(x, y) = \exp\left(-\frac{\|x - y\|^2}{\sigma_x \sigma_y}\right)

    where :math:`\sigma_x` is the distance from x to its k-th nearest neighbour among the fitted samples (Zelnik-Manor
    and Perona). It need not be positive semidefinite.

    Parameters
    ----------
    n_neighbors : int, default=7
        k, at least 1; all other samples where there are fewer.
    widths : array of shape (n_fitted,), default=None
        Of the fitted samples; set by :meth:`bind`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.kernels import SelfTuning, build_bank
    >>> build_bank(np.array([[0.0], [1.0], [10.0], [20.0]]), [SelfTuning(1)])[0].round(2)
    array([[1.  , 0.37, 0.  , 0.  ],
           [0.37, 1.  , 0.  , 0.  ],
           [0.  , 0.  , 1.  , 0.33],
           [0.  , 0.  , 0.33, 1.  ]])
    """

    n_neighbors: int = 7
    widths: Array | None = field(default=None, repr=False, compare=False)  # of the fitted samples

    def __post_init__(self) -> None:
        _check_neighbours(type(self).__name__, self.n_neighbors)

    @property
    def name(self) -> str:
        """Readable name."""
        return f"self-tuning k={self.n_neighbors}"

    @property
    def n_matrices(self) -> int:
        """None: one width per sample is all."""
        return 0

    def bind(self, pairs: Pairs) -> "SelfTuning":
        """Measure the widths."""
        xp = namespace(pairs.products)
        n = pairs.products.shape[0]
        blocks = [self._widths(pairs.rows(rows).squared_distances(), itself=True) for rows in row_blocks(n)]
        widths = xp.concat(blocks)
        positive = widths > 0
        # Samples with many copies have no width; the smallest of the others is the best guess.
        smallest = xp.min(xp.where(positive, widths, xp.max(widths))) if bool(xp.any(positive)) else 1.0
        return replace(self, widths=xp.where(positive, widths, asarray_like(smallest, widths)))

    def moved(self, place: Callable[[Array], Array]) -> "SelfTuning":
        """Return the kernel with its widths elsewhere."""
        return self if self.widths is None else replace(self, widths=place(self.widths))

    def matrix(self, pairs: Pairs) -> Array:
        """Return the kernel for the rows of the pairs."""
        if self.widths is None:
            return self.bind(pairs).matrix(pairs)
        xp = namespace(pairs.products)
        distances = pairs.squared_distances()
        if pairs.new:
            rows = self._widths(distances, itself=False)
            rows = xp.where(rows > 0, rows, xp.min(self.widths))
        else:
            rows = self.widths[pairs.first_row : pairs.first_row + distances.shape[0]]
        return in_place("exp", in_place("divide", distances / -rows[:, None], self.widths[None, :]))

    def _widths(self, distances: Array, *, itself: bool) -> Array:
        """Return the distance of every row to its k-th neighbour; the nearest column may be the row itself."""
        xp = namespace(distances)
        place = min(self.n_neighbors if itself else self.n_neighbors - 1, distances.shape[1] - 1)
        return xp.sqrt(kth_of_rows(distances, place))


@dataclass(frozen=True)
class Neighbours:
    r"""Kernel of shared neighbours.

    .. math:: K = \operatorname{cosine}(N N^\top), \qquad N = D^{-1/2} A D^{-1/2}

    where A joins each sample with its k nearest neighbours and those it is a neighbour of, D holds the degrees, and
    "cosine" scales the diagonal to one. Two samples are alike when they have neighbours in common.

    Parameters
    ----------
    n_neighbors : int, default=10
        k, at least 1; all other samples where there are fewer.
    graph : csr array or array of shape (n_fitted, n_fitted), default=None
        N of the fitted samples; set by :meth:`bind`.
    roots, degrees : array of shape (n_fitted,), default=None
        Roots of the diagonal of N N', and D; set by :meth:`bind`.
    """

    n_neighbors: int = 10
    graph: Array | None = field(default=None, repr=False, compare=False)  # N
    roots: Array | None = field(default=None, repr=False, compare=False)  # of the diagonal of N N'
    degrees: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_neighbours(type(self).__name__, self.n_neighbors)

    @property
    def name(self) -> str:
        """Readable name."""
        return f"neighbours k={self.n_neighbors}"

    @property
    def n_matrices(self) -> int:
        """While it is bound, the graph and what it is joined from; it is sparse then."""
        return 2

    def bind(self, pairs: Pairs) -> "Neighbours":
        """Find the neighbours and form the kernel."""
        xp = namespace(pairs.products)
        n = pairs.products.shape[0]
        nearest = xp.concat([self._nearest(pairs.rows(rows), itself=True) for rows in row_blocks(n)])
        nearest = nearest * (1 - identity_like(nearest))
        A = xp.maximum(nearest, nearest.T)
        degrees = xp.sum(A, axis=1)
        degrees = xp.where(degrees > 0, degrees, asarray_like(1.0, degrees))
        N = A / xp.sqrt(degrees)[:, None] / xp.sqrt(degrees)[None, :]
        lengths = xp.sqrt(xp.sum(N * N, axis=1))
        lengths = xp.where(lengths > 0, lengths, asarray_like(1.0, lengths))
        return replace(self, graph=as_sparse(N), roots=lengths, degrees=degrees)

    def moved(self, place: Callable[[Array], Array]) -> "Neighbours":
        """Return the kernel with its graph elsewhere."""
        if self.graph is None:
            return self
        graph = place(self.graph.toarray() if sparse.issparse(self.graph) else self.graph)
        return replace(self, graph=as_sparse(graph), roots=place(self.roots), degrees=place(self.degrees))

    def matrix(self, pairs: Pairs) -> Array:
        """Return the kernel for the rows of the pairs."""
        if self.graph is None or self.roots is None or self.degrees is None:
            return self.bind(pairs).matrix(pairs)
        xp = namespace(pairs.products)
        if not pairs.new:
            rows = slice(pairs.first_row, pairs.first_row + pairs.products.shape[0])
            shared = as_dense(self.graph[rows, :] @ self.graph.T)
            return in_place("divide", in_place("divide", shared, self.roots[rows][:, None]), self.roots[None, :])
        joined = self._nearest(pairs, itself=False)
        joined = in_place("divide", joined, xp.sqrt(xp.sum(joined, axis=1))[:, None])
        joined = in_place("divide", joined, xp.sqrt(self.degrees)[None, :])
        lengths = xp.linalg.vector_norm(joined, axis=1)
        shared = joined @ self.graph.T
        return in_place("divide", in_place("divide", shared, lengths[:, None]), self.roots[None, :])

    def _nearest(self, pairs: Pairs, *, itself: bool) -> Array:
        """Return ones where a column is among the nearest of a row, or as far as the last of them but for rounding."""
        xp = namespace(pairs.products)
        distances = pairs.squared_distances()
        place = min(self.n_neighbors if itself else self.n_neighbors - 1, distances.shape[1] - 1)
        last = kth_of_rows(distances, place) + tie_share(distances) * xp.max(distances, axis=1)
        return xp.astype(distances <= last[:, None], distances.dtype)


def _check_neighbours(name: str, count: int) -> None:
    if count < 1 or int(count) != count:
        raise ValueError(f"{name} n_neighbors={count!r} must be a whole number, 1 or more.")
