"""Samples as candidate kernels: posed over views whose inner products are formed once, or handed over."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import device, itemsize, measured_rows, namespace
from kernelbraid._threads import blas_threads
from kernelbraid._typing import Array
from kernelbraid.kernels import (
    FittedBank,
    KernelStack,
    StoredStack,
    bank_names,
    banks_for,
    n_matrices,
    pairs_of,
    stack_given,
    stack_pairs,
)
from kernelbraid.kernels.functions import Pairs
from kernelbraid.learning.identity import identities, row_digests

Place = Callable[[Array], Array]
#: Samples up to which the inner products of all views are kept; beyond, of one at a time.
KEPT = 3000


@dataclass(frozen=True)
class Candidates:
    """Candidate kernels over samples."""

    stack: KernelStack
    names: list[str]
    samples: list[Array]  # views, or precomputed kernels: rows that agree in all are copies of one sample
    bank: FittedBank | None  # for kernel values of new samples; None for precomputed kernels
    mixing: np.ndarray | None = None  # (kernels of the bank, candidates): what candidates are made of; None: themselves
    weighed: Any = None  # the views, where they were weighed
    is_shared: bool = False  # whether several fits take the average, which is kept then, and which none may use up
    _kept: list[Array] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.stack.n_samples

    @property
    def like(self) -> Array:
        """An array that lives where the kernels do."""
        return self.stack.like

    def weights_of_views(self, weights: np.ndarray) -> np.ndarray:
        """Return the share of every view in the weights of the kernels; one for precomputed kernels of one source."""
        sizes = [weights.shape[0]] if self.bank is None else [len(kernels) for kernels in self.bank.banks]
        sums = np.add.reduceat(np.asarray(weights, dtype=np.float64), np.cumsum([0, *sizes[:-1]]))
        return np.asarray(sums / sums.sum())

    @cached_property
    def digests(self) -> list[bytes]:
        """What tells the samples apart."""
        return row_digests(self.samples, dense=self.bank is None)

    @cached_property
    def identities(self) -> np.ndarray:
        """Numbers of the distinct samples, in order of appearance: equal ones for copies."""
        return identities(self.digests)

    def of_bank(self, weights: np.ndarray | None) -> np.ndarray:
        """Return the weights of the kernels that have names, and of which the bank is made, from those of the stack."""
        weights = np.asarray(weights, dtype=np.float64)
        return weights if self.mixing is None else self.mixing @ weights

    def average(self) -> Array:
        """Return the average kernel: summed up, no kernel is stored."""
        if self._kept:
            return self._kept[0]
        m = self.stack.n_kernels
        K = self.stack.combine(np.full(m, 1 / m))
        if self.is_shared:
            self._kept.append(K)
        return K


@dataclass(frozen=True)
class Views:
    """Checked views of the same samples; rows of NaN in a dense view are samples that it does not have."""

    views: list[Array]
    place: Place | None = None  # moves an array to the device that computes
    _single: "dict[int, Views]" = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.views[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.views)

    @cached_property
    def measured(self) -> list[NDArray[np.bool_]]:
        """Which samples each view has."""
        return [measured_rows(view) for view in self.views]

    @property
    def has_gaps(self) -> bool:
        """Whether a view lacks samples."""
        return not all(rows.all() for rows in self.measured)

    def only(self, view: int) -> "Views":
        """Return one view with the samples that it has; asked again, it knows its inner products, if it is small."""
        if view in self._single:
            return self._single[view]
        X, rows = self.views[view], self.measured[view]
        single = Views([X if rows.all() else _rows(X, np.flatnonzero(rows))], self.place)
        if self.n_samples <= KEPT:
            self._single[view] = single
        return single

    def some(self, rows: np.ndarray) -> "Views":
        """Return some of the samples."""
        return Views([_rows(view, rows) for view in self.views], self.place)

    def halves(self, view: int) -> "Views | None":
        """Return two halves of the features of a view, as views; None if it has no two features."""
        X = self.only(view).views[0]
        d = int(X.shape[1])
        if d < 2:
            return None
        order = np.random.RandomState(0).permutation(d)
        parts = (np.sort(order[: d // 2]), np.sort(order[d // 2 :]))
        return Views([_columns(X, part) for part in parts], self.place)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Of the views."""
        return [view.shape for view in self.views]

    @property
    def widths(self) -> list[int]:
        """Features of the views."""
        return [width for _, width in self.shapes]

    @property
    def like(self) -> Array:
        """An array that lives where the samples do."""
        return self.views[0]

    @property
    def is_single(self) -> bool:
        """Whether results are single precision: if all views are."""
        return all(itemsize(view.dtype) == 4 for view in self.views)

    @cached_property
    def pairs(self) -> list[Pairs]:
        """Inner products, for all banks."""
        with blas_threads(self.n_samples):
            return pairs_of(self.views, self.place)

    @cached_property
    def digests(self) -> list[bytes]:
        """What tells the samples apart, for all banks."""
        return row_digests(self.views)

    def size(self, kernels: Any) -> dict[str, int]:
        """Return what decides the memory of a fit with these kernels."""
        banks = banks_for(kernels, [self.only(view).views[0] for view in range(self.n_views)])
        return {
            "n_samples": self.views[0].shape[0],
            "n_kernels": sum(map(len, banks)),
            "n_views": len(self.views),
            "itemsize": 4 if self.is_single else 8,
            "n_given": sum(map(n_matrices, banks)),
        }

    def pose(self, kernels: Any, *, stored: bool = False, is_shared: bool = False) -> Candidates:
        """Return candidates: one bank for all views, or one each."""
        banks = banks_for(kernels, self.views)
        stack = stack_pairs(self.views, banks, self.pairs, place=self.place)
        bank = FittedBank.of(self.views, banks, stack)
        stack_used = stack.store() if stored else stack
        candidates = Candidates(stack_used, bank_names(banks), self.views, bank, is_shared=is_shared)
        candidates.__dict__["digests"] = self.digests
        return candidates


def _rows(X: Array, rows: np.ndarray) -> Array:
    """Return some rows, wherever the array lives."""
    return X[rows] if sparse.issparse(X) else namespace(X).take(X, _like(rows, X), axis=0)


def _columns(X: Array, columns: np.ndarray) -> Array:
    """Return some columns, wherever the array lives."""
    return X[:, columns] if sparse.issparse(X) else namespace(X).take(X, _like(columns, X), axis=1)


def _like(numbers: np.ndarray, X: Array) -> Array:
    """Return positions as an array beside another."""
    return namespace(X).asarray(numbers, device=device(X))


def _as_stack(matrices: list[Array]) -> Array:
    """Return kernels that were checked as one array."""
    return namespace(matrices[0]).stack(matrices)


@dataclass(frozen=True)
class GivenKernels:
    """Kernels that were handed over: of one source, or of several, which are views then."""

    matrices: list[Array]  # as they came
    check: Callable[[list[Array]], Array]  # returns them as a stack, (n_kernels, n, n), each symmetric
    place: Place | None = None
    sizes: tuple[int, ...] = ()  # numbers of kernels of the sources; all are of one if empty

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.matrices[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of sources."""
        return max(len(self.sizes), 1)

    @property
    def widths(self) -> list[int]:
        """Numbers of kernels of the sources."""
        return list(self.sizes) or [len(self.matrices)]

    @property
    def measured(self) -> list[NDArray[np.bool_]]:
        """Which samples each source has: all."""
        return [np.ones(self.n_samples, dtype=bool)] * self.n_views

    has_gaps: ClassVar[bool] = False

    def only(self, view: int) -> "GivenKernels":
        """Return the kernels of one source."""
        if not self.sizes:
            return self
        end = int(np.cumsum(self.sizes)[view])
        mine = range(end - self.sizes[view], end)
        return GivenKernels([self.checked[i, ...] for i in mine], _as_stack, self.place)

    def given(self, view: int) -> list[Array]:
        """Return the kernels of one source as they came: symmetric ones may differ from them in the last digits."""
        ends = np.cumsum(self.widths)
        return self.matrices[int(ends[view]) - self.widths[view] : int(ends[view])]

    @cached_property
    def checked(self) -> Array:
        """All of them as a stack, (n_kernels, n, n)."""
        return self.check(self.matrices)

    def some(self, rows: np.ndarray) -> "GivenKernels":
        """Return the kernels between some of the samples."""
        chosen = [_rows(_rows(self.checked[i, ...], rows).T, rows).T for i in range(len(self.matrices))]
        return GivenKernels(chosen, _as_stack, self.place, self.sizes)

    def halves(self, view: int) -> None:
        """There are no features."""

    shapes: ClassVar[list[tuple[int, int]]] = []  # there are no views

    @property
    def like(self) -> Array:
        """An array that lives where the kernels do."""
        return self.matrices[0]

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
        return Candidates(stack, names, self.matrices, None, is_shared=is_shared)
