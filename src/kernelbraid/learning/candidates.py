"""Samples as candidate kernels: posed over views whose inner products are formed once, or handed over."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from kernelbraid._arrays import itemsize
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


@dataclass(frozen=True)
class Candidates:
    """Candidate kernels over samples."""

    stack: KernelStack
    names: list[str]
    samples: list[Array]  # views, or precomputed kernels: rows that agree in all are copies of one sample
    bank: FittedBank | None  # for kernel values of new samples; None for precomputed kernels
    is_shared: bool = False  # whether several fits take the average, which is kept then, and which none may use up
    _kept: list[Array] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.stack.n_samples

    @cached_property
    def digests(self) -> list[bytes]:
        """What tells the samples apart."""
        return row_digests(self.samples)

    @cached_property
    def identities(self) -> np.ndarray:
        """Numbers of the distinct samples, in order of appearance: equal ones for copies."""
        return identities(self.digests)

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
    """Checked views of the same samples."""

    views: list[Array]
    place: Place | None = None  # moves an array to the device that computes

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Of the views."""
        return [view.shape for view in self.views]

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
        return pairs_of(self.views, self.place)

    @cached_property
    def digests(self) -> list[bytes]:
        """What tells the samples apart, for all banks."""
        return row_digests(self.views)

    def size(self, kernels: Any) -> dict[str, int]:
        """Return what decides the memory of a fit with these kernels."""
        banks = banks_for(kernels, self.views)
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
        candidates = Candidates(stack.store() if stored else stack, bank_names(banks), self.views, bank, is_shared)
        candidates.__dict__["digests"] = self.digests
        return candidates


@dataclass(frozen=True)
class GivenKernels:
    """Kernels that were handed over."""

    matrices: list[Array]  # as they came
    check: Callable[[list[Array]], Array]  # returns them as a stack, (n_kernels, n, n), each symmetric
    place: Place | None = None

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
        return Candidates(stack, names, self.matrices, None, is_shared)
