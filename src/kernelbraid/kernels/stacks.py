"""Candidate kernels as a solver sees them: stored as matrices, or formed block by block when they are asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from kernelbraid._arrays import (
    BLOCK_SIZE,
    asarray_like,
    device,
    is_finite,
    itemsize,
    namespace,
    quiet_overflow,
    row_blocks,
    to_numpy,
)
from kernelbraid._typing import Array
from kernelbraid.kernels.functions import Kernel, Pairs

Vector: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class KernelStack(Protocol):
    """m candidate kernels over n samples."""

    @property
    def n_kernels(self) -> int:
        """M."""

    @property
    def n_samples(self) -> int:
        """N."""

    def combine(self, g: Vector) -> Array:
        """Return sum_i g_i H_i as a new array."""

    def traces(self, K: Array) -> Vector:
        """Return Tr(K H_i) for all kernels in one pass; K need not be symmetric."""

    def inner_products(self) -> Matrix:
        """Return M_ij = Tr(H_i H_j); the solver notices if it overflows."""


@dataclass(frozen=True)
class StoredStack:
    """All kernels in memory."""

    H: Array  # (m, n, n), each kernel symmetric

    @property
    def n_kernels(self) -> int:
        """M."""
        return int(self.H.shape[0])

    @property
    def n_samples(self) -> int:
        """N."""
        return int(self.H.shape[-1])

    def combine(self, g: Vector) -> Array:
        """Return sum_i g_i H_i as a new array."""
        xp = namespace(self.H)
        return xp.reshape(asarray_like(g, self.H) @ self._flat(), self.H.shape[1:])

    def traces(self, K: Array) -> Vector:
        """Return Tr(K H_i) for all kernels in one pass; K need not be symmetric."""
        vector = namespace(K).reshape(K, (-1,))
        return np.sum([to_numpy(flat @ _double(vector[columns])) for columns, flat in self._flat_blocks()], axis=0)

    def inner_products(self) -> Matrix:
        """Return M_ij = Tr(H_i H_j); the solver notices if it overflows."""
        with quiet_overflow():
            return np.sum([to_numpy(flat @ flat.T) for _, flat in self._flat_blocks()], axis=0)

    def _flat_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield the kernels as rows of numbers in float64: at once if they are, otherwise in blocks.

        Nearly equal kernels differ in digits that sums in float32 do not have.
        """
        flat = self._flat()
        size = flat.shape[1]
        step = size if itemsize(flat.dtype) == 8 else BLOCK_SIZE
        for first in range(0, size, step):
            columns = slice(first, min(first + step, size))
            yield columns, _double(flat[:, columns])

    def _flat(self) -> Array:
        return namespace(self.H).reshape(self.H, (self.n_kernels, -1))


@dataclass(frozen=True)
class LazyStack:
    """Kernels formed from inner products in blocks of rows: memory does not grow with their number."""

    views: Sequence[tuple[Pairs, Sequence[Kernel]]]  # inner products of each view, and the kernels on it
    dtype: Any  # type of the results; kernels are formed in float64

    @property
    def n_kernels(self) -> int:
        """M."""
        return sum(len(kernels) for _, kernels in self.views)

    @property
    def n_samples(self) -> int:
        """N."""
        return int(self.views[0][0].products.shape[0])

    def combine(self, g: Vector) -> Array:
        """Return sum_i g_i H_i as a new array; kernels of weight zero are not formed."""
        total = self._empty(self.n_samples, self.n_samples)
        for rows, block in self._blocks():
            part: Array = 0.0
            for weight, kernel in zip(g, block, strict=True):
                if weight != 0:
                    part = part + float(weight) * kernel()
            total[rows, :] = namespace(total).astype(part, self.dtype)
        return total

    def traces(self, K: Array) -> Vector:
        """Return Tr(K H_i) for all kernels in one pass; K need not be symmetric."""
        xp = namespace(K)
        total = np.zeros(self.n_kernels)
        for rows, block in self._blocks():
            part = _double(K[rows, :])
            total += [float(xp.sum(part * kernel())) for kernel in block]
        return total

    def inner_products(self) -> Matrix:
        """Return M_ij = Tr(H_i H_j)."""
        xp = namespace(self.views[0][0].products)
        total = np.zeros((self.n_kernels, self.n_kernels))
        for _, block in self._blocks():
            flat = xp.stack([xp.reshape(_double(kernel()), (-1,)) for kernel in block])
            total += to_numpy(flat @ flat.T)
        return total

    def store(self) -> StoredStack:
        """Evaluate all kernels once and keep them."""
        H = self._empty(self.n_kernels, self.n_samples, self.n_samples)
        for rows, block in self._blocks():
            for i, kernel in enumerate(block):
                H[i, rows, :] = namespace(H).astype(kernel(), self.dtype)
        return StoredStack(H)

    def _empty(self, *shape: int) -> Array:
        like = self.views[0][0].products
        return namespace(like).empty(shape, dtype=self.dtype, device=device(like))

    def _blocks(self) -> Iterator[tuple[slice, list["_Block"]]]:
        """Yield blocks of rows, each with one function a kernel that forms it there."""
        for rows in row_blocks(self.n_samples):
            parts = [(pairs.rows(rows), kernels) for pairs, kernels in self.views]
            yield rows, [_Block(kernel, pairs) for pairs, kernels in parts for kernel in kernels]


def _double(array: Array) -> Array:
    xp = namespace(array)
    return xp.astype(array, xp.float64, copy=False)


@dataclass(frozen=True)
class _Block:
    kernel: Kernel
    pairs: Pairs

    def __call__(self) -> Array:
        with quiet_overflow():
            K = self.kernel.matrix(self.pairs)
        if not is_finite(K):
            raise ValueError(f"the kernel {self.kernel.name!r} overflows on X; rescale X, or normalise the kernel.")
        return K
