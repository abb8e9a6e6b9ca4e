"""Kernels that are handed over, of one source or of several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kernelbraid._arrays import itemsize, namespace, rows_of
from kernelbraid._typing import Array
from kernelbraid.kernels import StoredStack, stack_given
from kernelbraid.learning.sources import Candidates, KernelSamples, Place


@dataclass(frozen=True)
class GivenKernels(KernelSamples):
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
    def like(self) -> Array:
        """An array that lives where the kernels do."""
        return self.matrices[0]

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
