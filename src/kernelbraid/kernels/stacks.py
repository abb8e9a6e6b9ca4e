"""Candidate kernels as a solver sees them: stored as matrices, or formed block by block when they are asked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import (
    asarray_like,
    device,
    in_double,
    in_place,
    is_finite,
    is_on_host,
    namespace,
    power_of_two,
    quiet_overflow,
    row_blocks,
    to_numpy,
)
from kernelbraid._typing import Array, DType, Matrix, Vector
from kernelbraid.kernels.functions import Gaussian, Kernel, Linear, Pairs, Polynomial
from kernelbraid.kernels.precomputed import SMALL

# What is left of a kernel outside the span of the earlier ones is rounding below this many units in the last place.
DEPENDENT = 8
# Total squared distance from the mean that is rounding, in units of the precision, the number of samples and the trace.
SPREAD = 4
# Blocks of rows that several passes find in the cache, as a share of the usual ones.
IN_CACHE = 0.125
ON_DEVICE = 64.0  # so much larger on an accelerator, which waits between blocks


def without_spread(kernels: "KernelStack") -> NDArray[np.bool_]:
    """Return which kernels give all samples the same place, (m,): whatever rewards small distances would choose them.

    If all do, none is reported.
    """
    xp, n = namespace(kernels.like), kernels.n_samples
    ones = xp.ones((n, 1), dtype=kernels.like.dtype, device=device(kernels.like))
    diagonals = kernels.diagonals()
    total = xp.sum(diagonals, axis=1)
    spread = to_numpy(total - xp.sum(kernels.apply(ones)[:, :, 0], axis=1) / n)
    empty = spread <= SPREAD * n * float(xp.finfo(diagonals.dtype).eps) * to_numpy(xp.abs(total))
    return np.asarray(empty & ~empty.all())


class KernelStack(Protocol):
    """m candidate kernels over n samples, as a least-squares problem: ||K - sum_i g_i H_i||_F = ||R g - b|| + const."""

    @property
    def n_kernels(self) -> int:
        """M."""

    @property
    def n_samples(self) -> int:
        """N."""

    @property
    def like(self) -> Array:
        """An array that lives where the kernels do."""

    def combine(self, g: Vector) -> Array:
        """Return sum_i g_i H_i as a new array."""

    def factor(self) -> Matrix:
        """Return R with R'R = M, M_ij = Tr(H_i H_j); it may not be finite, which the solver notices."""

    def coordinates(self, K: Array) -> Vector:
        """Return b for a matrix K, which need not be symmetric, in one pass over the kernels."""

    def traces(self, A: Array) -> Vector:
        """Return Tr(A H_i) for every kernel and any matrix A, in one pass over the kernels."""

    def apply(self, V: Array) -> Array:
        """Return H_i V for every kernel, (m, n, r) for V (n, r)."""

    def diagonals(self) -> Array:
        """Return the diagonal of every kernel, (m, n)."""


def one_by_one(kernels: KernelStack) -> Iterator[Array]:
    """Yield each kernel as a new array."""
    yield from map(kernels.combine, np.eye(kernels.n_kernels))


@dataclass(frozen=True)
class StoredStack:
    """All kernels in memory, as an orthonormal basis and the coordinates of the kernels in it.

    Several kernels of a bank are nearly the same matrix. Their inner products with K agree in all but the last digits,
    those with an orthonormal basis do not.
    """

    basis: Array  # Q_k, (m, n, n), orthonormal in the Frobenius inner product; zero where kernels are dependent
    R: Matrix  # H_i = sum_k R_ki Q_k, (m, m), upper triangular

    @classmethod
    def of(cls, H: Array, *, overwrite: bool = False) -> "StoredStack":
        """Orthogonalise kernels (m, n, n), each symmetric, in their own memory if they may be overwritten."""
        H = H if overwrite else H + 0.0
        xp = namespace(H)
        m = H.shape[0]
        flat = xp.reshape(H, (m, -1))
        largest = max(float(xp.max(flat)), -float(xp.min(flat)))
        unit = power_of_two(largest, single=H.dtype == xp.float32)
        flat *= 1 / unit
        R = np.zeros((m, m))
        for i in range(m):
            size = _length(flat[i, :])
            for _ in range(2):  # the second time removes what rounding left of the first
                if i > 0:
                    along = flat[:i, :] @ flat[i, :]
                    flat[i, :] -= along @ flat[:i, :]
                    R[:i, i] += to_numpy(along)
            left = _length(flat[i, :])
            R[i, i] = left if left > DEPENDENT * float(xp.finfo(H.dtype).eps) * size else 0.0
            flat[i, :] *= 1 / left if R[i, i] > 0 else 0.0
        return cls(xp.reshape(flat, H.shape), R * unit)

    @classmethod
    def filled(cls, kernels: KernelStack, made: Iterable[Array]) -> "StoredStack":
        """Return matrices, each made of one of the kernels when it is asked for, as a stack of as many."""
        H = None
        for i, K in enumerate(made):
            if H is None:
                shape = (kernels.n_kernels, *K.shape)
                H = namespace(K).empty(shape, dtype=K.dtype, device=device(K))
            H[i, ...] = K
        return cls.of(H, overwrite=True)

    @property
    def n_kernels(self) -> int:
        """M."""
        return int(self.basis.shape[0])

    @property
    def n_samples(self) -> int:
        """N."""
        return int(self.basis.shape[-1])

    @property
    def like(self) -> Array:
        """An array that lives where the kernels do."""
        return self.basis

    def combine(self, g: Vector) -> Array:
        """Return sum_i g_i H_i as a new array, (b, n, n) for a batch of weights (b, m)."""
        combined = asarray_like((self.R @ g.T).T, self.basis) @ self.flat()
        return namespace(self.basis).reshape(combined, (*g.shape[:-1], *self.basis.shape[1:]))

    def factor(self) -> Matrix:
        """Return R with R'R = M, M_ij = Tr(H_i H_j)."""
        return self.R

    def coordinates(self, K: Array) -> Vector:
        """Return the inner products of K with the basis, (b, m) for a batch (b, n, n)."""
        rows = namespace(K).reshape(K, (*K.shape[:-2], -1))
        return to_numpy(self.flat() @ rows if K.ndim == 2 else rows @ self.flat().T).astype(float)

    def traces(self, A: Array) -> Vector:
        """Return Tr(A H_i) for every kernel."""
        return np.asarray(self.R.T @ self.coordinates(A))

    def apply(self, V: Array) -> Array:
        """Return H_i V for every kernel, (m, n, r)."""
        return self._of_kernels(self.basis @ V)

    def diagonals(self) -> Array:
        """Return the diagonal of every kernel, (m, n)."""
        return self._of_kernels(namespace(self.basis).linalg.diagonal(self.basis))

    def _of_kernels(self, A: Array) -> Array:
        """Return for the kernels what is linear and given for the basis, (m, ...)."""
        xp = namespace(A)
        return xp.reshape(asarray_like(self.R.T, A) @ xp.reshape(A, (self.n_kernels, -1)), A.shape)

    def flat(self) -> Array:
        """Return the basis as rows, (m, n n)."""
        return namespace(self.basis).reshape(self.basis, (self.n_kernels, -1))


def _length(row: Array) -> float:
    return float(namespace(row).linalg.vector_norm(row))


@dataclass(frozen=True)
class LazyStack:
    """Kernels formed from inner products in blocks of rows: memory does not grow with their number."""

    views: Sequence[tuple[Pairs, Sequence[Kernel]]]  # inner products of each view, and the kernels on it
    dtype: DType  # type of the results; kernels are formed in float64

    @property
    def n_kernels(self) -> int:
        """M."""
        return sum(len(kernels) for _, kernels in self.views)

    @property
    def n_samples(self) -> int:
        """N."""
        return int(self.views[0][0].products.shape[0])

    @property
    def like(self) -> Array:
        """An array that lives where the kernels do."""
        return self.views[0][0].products

    def combine(self, g: Vector) -> Array:
        """Return sum_i g_i H_i as a new array; kernels of weight zero are not formed."""
        total = self._empty(self.n_samples, self.n_samples)
        xp = namespace(total)
        kernels = [kernel for _, own in self.views for kernel in own]
        # Functions of a pair are formed up to the diagonal; local and given kernels need whole rows.
        is_half = is_on_host(total) and all(isinstance(kernel, Gaussian | Linear | Polynomial) for kernel in kernels)
        for rows, block in self._blocks(IN_CACHE, is_half=is_half):
            parts = (float(weight) * kernel() for weight, kernel in zip(g, block, strict=True) if weight != 0)
            found = xp.astype(reduce(partial(in_place, "add"), parts), self.dtype, copy=False)
            total[rows, : found.shape[1]] = found
            if is_half:
                total[: rows.start, rows] = found[:, : rows.start].T
        return self._in_range(total)

    def factor(self) -> Matrix:
        """Return R with R'R = M, M_ij = Tr(H_i H_j)."""
        roots, vectors = self._roots
        return roots[:, None] * vectors.T

    def coordinates(self, K: Array) -> Vector:
        """Return R'^-1 t with t_i = Tr(K H_i)."""
        roots, vectors = self._roots
        return np.asarray((vectors.T @ self.traces(K)) / roots)

    def traces(self, A: Array) -> Vector:
        """Return Tr(A H_i) for every kernel."""
        xp = namespace(A)
        t = np.zeros(self.n_kernels)
        for rows, block in self._blocks():
            part = in_double(A[rows, :])
            t += [float(xp.sum(part * kernel())) for kernel in block]
        return t

    def apply(self, V: Array) -> Array:
        """Return H_i V for every kernel, (m, n, r)."""
        wide = in_double(V)
        return self._of_kernels(V.shape[1:], lambda K, rows: in_double(K) @ wide)

    def diagonals(self) -> Array:
        """Return the diagonal of every kernel, (m, n)."""
        return self._of_kernels((), lambda K, rows: namespace(K).linalg.diagonal(K, offset=rows.start))

    @cached_property
    def _roots(self) -> tuple[Vector, Matrix]:
        """Square roots of the eigenvalues of M that are no rounding, and their eigenvectors; computed once."""
        xp = namespace(self.like)
        M = np.zeros((self.n_kernels, self.n_kernels))
        for _, block in self._blocks(1 / self.n_kernels):  # all kernels of a block at once
            flat = xp.stack([xp.reshape(in_double(kernel()), (-1,)) for kernel in block])
            with quiet_overflow():  # the solver notices
                M += to_numpy(flat @ flat.T)
        values, vectors = np.linalg.eigh(M)
        kept = values > np.finfo(float).eps * self.n_kernels * values[-1]
        return np.sqrt(values[kept]), vectors[:, kept]

    def evaluate(self) -> Array:
        """Return all kernels, (m, n, n)."""
        return self._in_range(self._of_kernels((self.n_samples,), lambda K, rows: K))

    def store(self) -> StoredStack:
        """Evaluate all kernels once and keep them."""
        return StoredStack.of(self.evaluate(), overwrite=True)

    def _empty(self, *shape: int) -> Array:
        return namespace(self.like).empty(shape, dtype=self.dtype, device=device(self.like))

    def _of_kernels(self, shape: tuple[int, ...], part: Callable[[Array, slice], Array]) -> Array:
        """Return for every kernel what parts of its rows give, each sample an array of a shape: (m, n, ...)."""
        filled = self._empty(self.n_kernels, self.n_samples, *shape)
        for rows, block in self._blocks():
            for i, kernel in enumerate(block):
                filled[i, rows, ...] = namespace(filled).astype(part(kernel(), rows), self.dtype)
        return filled

    def _blocks(
        self, share: float = 1.0, *, is_half: bool = False
    ) -> Iterator[tuple[slice, list[Callable[[], Array]]]]:
        """Yield blocks of rows, or of their half, each with one function per kernel that forms it there."""
        share = share if is_on_host(self.like) else ON_DEVICE * share
        for rows in row_blocks(self.n_samples, share):
            parts = [(pairs.below(rows) if is_half else pairs.rows(rows), kernels) for pairs, kernels in self.views]
            limit = self._single_limit
            yield rows, [partial(_formed, kernel, pairs, limit) for pairs, kernels in parts for kernel in kernels]

    def _in_range(self, K: Array) -> Array:
        """Return kernels, or say that single precision leaves nothing of them."""
        xp = namespace(K)
        is_lost = self._single_limit is not None and max(float(xp.max(K)), -float(xp.min(K))) < SMALL
        if is_lost and any(pairs.max_square > 0 for pairs, _ in self.views):
            raise ValueError(
                "the kernels are too small for single precision on X; rescale X, normalise the kernels, or give "
                "numbers of double precision."
            )
        return K

    @property
    def _single_limit(self) -> float | None:
        """Largest value of a kernel whose squares have a sum in single precision; None in double precision."""
        xp = namespace(self.like)
        return None if self.dtype == xp.float64 else float(xp.finfo(self.dtype).max) ** 0.5 / self.n_samples


def _formed(kernel: Kernel, pairs: Pairs, limit: float | None) -> Array:
    """Return a kernel whose values are below a limit, or finite if there is none."""
    with quiet_overflow():
        K = kernel.matrix(pairs)
    xp = namespace(K)
    if limit is not None and not float(xp.max(xp.abs(K))) < limit:
        raise ValueError(
            f"the kernel {kernel.name!r} overflows in single precision on X; rescale X, normalise the kernel, or give "
            "numbers of double precision."
        )
    if not is_finite(K):
        raise ValueError(f"the kernel {kernel.name!r} overflows on X; rescale X, or normalise the kernel.")
    return K
