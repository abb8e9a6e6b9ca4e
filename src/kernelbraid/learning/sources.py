"""Samples, whatever they come as: one protocol, behind which nobody asks what they are.

:class:`Samples` says what the rest of the line needs to know: which samples there are and in which views, whom each has
for neighbours, which copies there are, and the parts that get graphs of their own. Matrices are here,
kernels and ready graphs in :mod:`~kernelbraid.learning.given`; a new kind of samples is one more class.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import Digests, as_dense, itemsize, measured_rows, namespace, row_digests, rows_of, to_numpy
from kernelbraid._machine import blas_threads
from kernelbraid._typing import Array, Place
from kernelbraid.kernels import FittedBank, KernelStack, bank_names, banks_for, n_matrices, pairs_of, stack_pairs
from kernelbraid.kernels.functions import Custom, Kernel, Pairs
from kernelbraid.learning.trust import neighbour_graph

#: Samples up to which the inner products of all views are kept; beyond, of one at a time.
KEPT = 3000
#: Correlation from which one column is another, shifted and scaled.
SAME = 1 - 1e-6
#: The kernels by which neighbours are found.
TELLING_BANK = "middle"


class Samples:
    """What is known of samples, in one view or several. Subclasses say how; views are counted from 0."""

    has_kernels: ClassVar[bool] = True  # whether kernels are posed over them: a ready graph has none
    place: Place | None = None  # moves an array to the device that computes

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.of(0)[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.widths)

    @property
    def widths(self) -> list[int]:
        """What new samples bring for each view: numbers of features or of kernels, or one graph."""
        raise NotImplementedError

    @property
    def measured(self) -> list[NDArray[np.bool_]]:
        """Which samples each view has."""
        return [np.ones(self.n_samples, dtype=bool)] * self.n_views

    @property
    def like(self) -> Array:
        """An array that lives where results do."""
        return self.of(0)[0]

    @property
    def there(self) -> Array:
        """An array that lives where kernels are formed."""
        return self.like if self.place is None else self.place(np.empty(0))

    @property
    def has_gaps(self) -> bool:
        """Whether a view lacks samples."""
        return not all(rows.all() for rows in self.measured)

    def only(self, view: int) -> "Samples":
        """Return one view with the samples that it has, over which kernels are posed."""
        raise NotImplementedError

    def pose(self, kernels: Any, *, stored: bool = False, is_shared: bool = False) -> "Candidates":
        """Return candidate kernels over all views, which have all samples."""
        raise NotImplementedError

    def size(self, kernels: Any) -> dict[str, int]:
        """Return what decides the memory of a fit with these kernels."""
        raise NotImplementedError

    def has_rows(self, banks: Sequence[Any]) -> bool:
        """Tell whether rows of these kernels can be formed without those of all pairs."""
        return False

    def usual_edges(self, kept: int | None) -> int | None:
        """Return how many edges a sample has in the graph of a view, of which so many are kept; None for all."""
        return kept

    def banks_of(self, view: int, banks: Sequence[Any]) -> list[Any]:
        """Return the kernels of which a view gets graphs of their own, one for each, of banks for all views."""
        return list(banks)

    def some(self, rows: np.ndarray) -> "Samples":
        """Return some of the samples, by which views are compared where all would be too many."""
        raise NotImplementedError

    def neighbours(self, view: int, rows: NDArray[np.int64] | None = None) -> Array:
        """Return the graph of nearest neighbours in a view over all samples, or among some of those that it has."""
        raise NotImplementedError

    def halves(self, view: int) -> "Samples | None":
        """Return two halves of what a view knows, as views; None where it has no two."""
        return None

    def are_equal(self, one: int, other: int) -> bool:
        """Tell whether two views hold the same numbers."""
        raise NotImplementedError

    def is_constant(self, view: int) -> bool:
        """Tell whether all samples of a view are alike."""
        return False

    def of(self, view: int) -> list[Array]:
        """Return what a view has of its samples, as it came."""
        raise NotImplementedError

    def digests(self, views: Iterable[int]) -> Digests:
        """Return what tells the samples apart: equal where all of these views have the same."""
        return row_digests([A for view in views for A in self.of(view)])

    def order(self, rows: NDArray[np.int64], views: Sequence[int]) -> NDArray[np.int64]:
        """Return an order of some distinct samples that hangs on what they are, not on that of rows or columns."""
        values = row_digests([A for view in views for A in self.of(view)], by_place=False)
        return np.lexsort((self.digests(views)[rows], values[rows]))

    def identities(self, views: Iterable[int]) -> np.ndarray:
        """Return numbers of the distinct samples, in order of appearance: equal ones for copies."""
        return identities(self.digests(views))


@dataclass(frozen=True)
class Candidates:
    """Candidate kernels over samples."""

    stack: KernelStack
    names: list[str]
    samples: Samples
    bank: FittedBank | None  # for kernel values of new samples; None for precomputed kernels
    views: tuple[int, ...] = ()  # of the samples, over which the kernels are; all of them if empty
    mixing: np.ndarray | None = None  # (kernels of the bank, candidates): what candidates are made of; None: themselves
    counts: np.ndarray | None = None  # how often each sample counts; None: once
    is_shared: bool = False  # whether several fits take the average, which is kept then, and which none may use up
    _kept: list[Array] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.stack.n_samples

    @cached_property
    def identities(self) -> np.ndarray:
        """Numbers of the distinct samples: equal ones for copies."""
        return self.samples.identities(self.views or range(self.samples.n_views))

    def of_bank(self, weights: np.ndarray | None) -> np.ndarray:
        """Return the weights of the kernels that have names, and of which the bank is made, from those of the stack."""
        weights = np.asarray(weights, dtype=np.float64)
        return weights if self.mixing is None else self.mixing @ weights

    def weights_of_views(self, weights: np.ndarray) -> np.ndarray:
        """Return the share of every view in the weights of the kernels; one for precomputed kernels of one source."""
        sizes = [weights.shape[0]] if self.bank is None else [len(kernels) for kernels in self.bank.banks]
        sums = np.add.reduceat(np.asarray(weights, dtype=np.float64), np.cumsum([0, *sizes[:-1]]))
        return np.asarray(sums / sums.sum())

    def average(self) -> Array:
        """Return the average kernel: summed up, no kernel is stored."""
        if self._kept:
            return self._kept[0]
        m = self.stack.n_kernels
        K = self.stack.combine(np.full(m, 1 / m))
        if self.is_shared:
            self._kept.append(K)
        return K


class KernelSamples(Samples):
    """Samples over which kernels are posed: these tell which samples are near."""

    def neighbours(self, view: int, rows: NDArray[np.int64] | None = None) -> Array:
        """Return the graph of nearest neighbours in the feature space of the average kernel of a view."""
        similarities = _similarities(self.only(view))
        has = np.flatnonzero(self.measured[view])
        if rows is not None:
            places = np.searchsorted(has, rows)
            return neighbour_graph(similarities[np.ix_(places, places)])
        return spread_out(neighbour_graph(similarities), None if len(has) == self.n_samples else has, self.n_samples)

    def are_equal(self, one: int, other: int) -> bool:
        """Tell whether two views hold the same numbers, those of a dense column shifted and scaled at most."""
        mine, theirs = (self.only(view).of(0) for view in (one, other))
        return [A.shape for A in mine] == [B.shape for B in theirs] and all(map(_are_same, mine, theirs))


def _are_same(A: Array, B: Array) -> bool:
    """Tell whether two matrices of one shape are the same, or dense ones are but for scale and shift of columns."""
    if sparse.issparse(A) and sparse.issparse(B):
        return bool(A.nnz == B.nnz and (A != B).nnz == 0)
    A, B = (to_numpy(as_dense(X)).astype(np.float64) for X in (A, B))
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    lengths = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return bool((np.abs((A * B).sum(axis=0)) >= SAME * lengths).all() and lengths.any())


@dataclass(frozen=True)
class Views(KernelSamples):
    """Checked matrices of the same samples; rows of NaN in a dense one are samples that the view does not have."""

    views: list[Array]
    place: Place | None = None
    _single: "dict[int, Views]" = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def measured(self) -> list[NDArray[np.bool_]]:
        """Which samples each view has."""
        return [measured_rows(view) for view in self.views]

    @property
    def widths(self) -> list[int]:
        """Features of the views."""
        return [int(view.shape[1]) for view in self.views]

    @cached_property
    def pairs(self) -> list[Pairs]:
        """Inner products, for all banks."""
        with blas_threads(self.n_samples):
            return pairs_of(self.views, self.place)

    @cached_property
    def _digests(self) -> Digests:
        return row_digests(self.views)

    def digests(self, views: Iterable[int]) -> Digests:
        """Return what tells the samples apart in these views."""
        wanted = list(views)
        return self._digests if wanted == list(range(self.n_views)) else super().digests(wanted)

    def of(self, view: int) -> list[Array]:
        """Return the matrix of a view."""
        return [self.views[view]]

    def at_work(self, view: int) -> Array:
        """Return the matrix of a view where rows of kernels are formed; sparse ones are on the host."""
        X = self.views[view]
        return X if self.place is None or sparse.issparse(X) else self.place(X)

    def only(self, view: int) -> "Views":
        """Return one view with the samples that it has; asked again, it knows its inner products, if it is small."""
        if view in self._single:
            return self._single[view]
        X, rows = self.views[view], self.measured[view]
        single = Views([X if rows.all() else rows_of(X, np.flatnonzero(rows))], self.place)
        if self.n_samples <= KEPT:
            self._single[view] = single
        return single

    def some(self, rows: np.ndarray) -> "Views":
        """Return some of the samples."""
        return Views([rows_of(view, rows) for view in self.views], self.place)

    def halves(self, view: int) -> "Views | None":
        """Return two halves of the features of a view, as views; None if it has no two features."""
        X = self.only(view).views[0]
        d = int(X.shape[1])
        if d < 2:
            return None
        order = np.random.RandomState(0).permutation(d)
        parts = (np.sort(order[: d // 2]), np.sort(order[d // 2 :]))
        return Views([rows_of(X.T, part).T for part in parts], self.place)

    def is_constant(self, view: int) -> bool:
        """Tell whether all samples of a view are alike."""
        X = self.only(view).views[0]
        if X.shape[0] < 2:
            return False
        if sparse.issparse(X):
            return bool((X.max(axis=0) - X.min(axis=0)).nnz == 0)
        return bool(namespace(X).all(X[:1, :] == X))

    def size(self, kernels: Any) -> dict[str, int]:
        """Return what decides the memory of a fit with these kernels."""
        banks = banks_for(kernels, [self.only(view).views[0] for view in range(self.n_views)])
        return {
            "n_samples": self.n_samples,
            "n_kernels": sum(map(len, banks)),
            "n_views": self.n_views,
            "itemsize": 4 if all(itemsize(view.dtype) == 4 for view in self.views) else 8,
            "n_given": sum(map(n_matrices, banks)),
        }

    def pose(self, kernels: Any, *, stored: bool = False, is_shared: bool = False) -> Candidates:
        """Return candidates: one bank for all views, or one each."""
        banks = banks_for(kernels, self.views)
        stack = stack_pairs(self.views, banks, self.pairs, place=self.place)
        bank = FittedBank.of(self.views, banks, stack)
        return Candidates(stack.store() if stored else stack, bank_names(banks), self, bank, is_shared=is_shared)

    def has_rows(self, banks: Sequence[Any]) -> bool:
        """Tell whether rows of these kernels can be formed: without functions of users."""
        kernels = (kernel for view in range(self.n_views) for bank in self.row_banks(view, banks) for kernel in bank)
        return not any(isinstance(kernel, Custom) for kernel in kernels)

    def row_banks(self, view: int, banks: Sequence[Any]) -> list[list[Kernel | Custom]]:
        """Return the same, as lists of kernels."""
        return [banks_for(bank, [self.views[view]])[0] for bank in self.banks_of(view, banks)]

    def banks_of(self, view: int, banks: Sequence[Any]) -> list[Any]:
        """Return the kernels of which a view gets graphs of their own; a list of banks has one for each view."""
        return [banks_for(bank, self.views)[view] if is_bank_per_view(bank) else bank for bank in banks]


def _similarities(samples: Samples) -> np.ndarray:
    """Return half the negative squared distances in the feature space of the average kernel."""
    K = to_numpy(samples.pose(TELLING_BANK).average()).astype(np.float64)
    squares = np.diagonal(K) / 2
    K -= squares[:, None]
    return np.subtract(K, squares[None, :], out=K)


def spread_out(graph: Array, rows: np.ndarray | None, n: int) -> Array:
    """Return a graph over some of the samples as one over all of them."""
    if rows is None:
        return graph
    edges = graph.tocoo()
    return sparse.csr_array((edges.data, (rows[edges.row], rows[edges.col])), shape=(n, n))


def identities(digests: Digests) -> NDArray[np.int64]:
    """Number the distinct samples by their digests: equal numbers for equal ones, in order of appearance."""
    _, first, numbers = np.unique(digests, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]


def is_bank_per_view(kernels: Any) -> bool:
    """Tell a list of banks from a bank."""
    return (
        not isinstance(kernels, str) and bool(kernels) and all(isinstance(bank, str | list | tuple) for bank in kernels)
    )
