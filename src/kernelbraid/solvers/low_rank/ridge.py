"""LKG with a fixed kernel and the squared penalty: one linear system gives the graph, and the edges of new samples.

min  1/2 Tr(K - 2KZ + Z'KZ) + alpha/2 ||Z||_F^2   over Z,   negative entries set to zero afterwards
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from array_api_compat import is_numpy_array
from scipy.linalg import get_lapack_funcs

from kernelbraid._arrays import (
    add_to_diagonal,
    asarray_like,
    clip_negative,
    linalg_errors,
    namespace,
    power_of_two,
    quiet_overflow,
    row_blocks,
)
from kernelbraid._linalg import eigh
from kernelbraid._machine import blas_threads, calm
from kernelbraid._typing import Array
from kernelbraid.ops.closed_forms import nonnegative
from kernelbraid.ops.graphs import EdgeWeights, refine_columns
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.low_rank.step import ROUNDING

SWALLOWED = 8  # units of rounding of a kernel, times its order, below which a weight on its diagonal is lost in it
# Entries on the diagonal of alpha (K + alpha I)^-1 are at most 1 for a kernel without negative eigenvalues; above this,
# one is below -alpha / 2, where coefficients of norm above 1 begin.
PROOF = 2.0
# From this order on a kernel whose eigenvalues are at most so many times alpha is inverted in single precision, as rows
# are for more samples: what is wanted are the largest coefficients of each sample.
LARGE, EASY = 500, 1e4
TILE = 128  # rows and columns of a block that is turned over in the cache
# Coefficients below may be the rounding of those of a kernel that is zero.
NOTHING = 1e-12


def ridge_coefficients(K: Array, alpha: float, *, counts: np.ndarray | None = None, overwrite: bool = False) -> Array:
    """Return the minimiser, with negative entries set to zero; in the memory of K if it may be used up.

    Samples that count as m_i of them have the coefficients (K M + alpha I)^-1 K, M the diagonal of m: those of
    M^1/2 K M^1/2 between M^-1/2.
    """
    if counts is None:
        return clip_negative(ridge_smoother(K, alpha, overwrite=overwrite))
    roots = asarray_like(np.sqrt(counts), K)
    scaled = ridge_smoother(roots[:, None] * K * roots[None, :], alpha, overwrite=True)
    return clip_negative(scaled / roots[:, None] / roots[None, :])


def solve_ridge(
    average: Callable[[], Array],
    alpha: float,
    *,
    keep_kernel: bool,
    counts: np.ndarray | None = None,
    threads: int | None = None,
) -> tuple[Array, Array | None, Status]:
    """Learn the graph of a kernel; return it, the kernel where it is kept, and how that ended.

    The graph is coefficients that are not negative; the kernel itself, without what is negative, if they are not sound.

    Parameters
    ----------
    average : callable
        Returns the kernel; asked again if the coefficients are not sound.
    alpha : float
        Weight of the penalty.
    keep_kernel : bool
        Whether the kernel must stay as it is; otherwise its memory becomes that of the graph.
    counts : ndarray of shape (n,), default=None
        How often each sample counts; once if None.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the problem if None.
    """
    K = average()
    with quiet_overflow(), calm(threads):
        try:
            Z = ridge_coefficients(K, alpha, counts=counts, overwrite=not keep_kernel)
            wrong = _defect(Z, average)
        except linalg_errors():
            wrong = Status.NON_FINITE
    if wrong is None:
        return Z, K if keep_kernel else None, Status.CONVERGED
    K = average()
    return nonnegative(K), K if keep_kernel else None, wrong


def _defect(Z: Array, average: Callable[[], Array]) -> Status | None:
    """Say what is wrong with a graph; None if it joins two samples at least."""
    xp = namespace(Z)
    largest = float(xp.max(Z))
    if largest < NOTHING and not bool(xp.any(average() != 0)):
        return Status.KERNEL_VANISHED
    if largest == 0.0:
        return Status.GRAPH_EMPTY
    if not largest < float("inf"):
        return Status.NON_FINITE
    above = ROUNDING * largest
    for rows in row_blocks(Z.shape[0]):
        heavy, on_diagonal = Z[rows, :] > above, xp.linalg.diagonal(Z[rows, rows]) > above
        if int(xp.count_nonzero(heavy)) > int(xp.count_nonzero(on_diagonal)):
            return None
    return None if Z.shape[0] == 1 else Status.GRAPH_DIAGONAL


@dataclass(frozen=True)
class Expression:
    """How new samples are expressed by fitted ones."""

    inverse: Array  # (K + alpha I)^-1 of the fitted samples
    n_neighbors: int | None  # strongest edges that a new sample keeps; None for all
    edge_weights: EdgeWeights
    counts: Array | None = None  # how often fitted samples count; None: once

    @classmethod
    def of(
        cls,
        K: Array,
        alpha: float,
        n_neighbors: int | None,
        edge_weights: EdgeWeights,
        counts: np.ndarray | None = None,
    ) -> "Expression":
        """Prepare the expression by samples with this kernel, with half the squares of the coefficients times alpha."""
        if counts is None:
            return cls(ridge_inverse(K, alpha), n_neighbors, edge_weights)
        counts = asarray_like(counts, K)
        roots = namespace(K).sqrt(counts)
        inverse = ridge_inverse(roots[:, None] * K * roots[None, :], alpha)
        return cls(inverse * roots[:, None] / roots[None, :], n_neighbors, edge_weights, counts)

    def edges(self, cross: Array) -> Array:
        """Return the edges from new samples (rows) to fitted ones, from kernel values between them."""
        coefficients = clip_negative(cross @ self.inverse)
        coefficients = coefficients if self.counts is None else coefficients * self.counts[None, :]
        # Kernel values that are all zero or negative leave nothing: the most similar sample is the best guess then.
        xp = namespace(cross)
        lost = xp.sum(coefficients, axis=1) == 0
        if bool(xp.any(lost)):
            best = asarray_like(xp.max(cross, axis=1, keepdims=True) == cross, cross)
            coefficients = xp.where(lost[:, None], best, coefficients)
        return refine_columns(coefficients.T, n_neighbors=self.n_neighbors, edge_weights=self.edge_weights).T


def resolved_ridge(K: Array, alpha: float) -> float:
    """Return a weight that can be told from zero beside the kernel: what is less is lost when it is added.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric.
    alpha : float
        Weight that is wanted.
    """
    xp = namespace(K)
    largest = float(xp.max(xp.abs(xp.linalg.diagonal(K)))) if K.shape[0] else 0.0
    return float(max(alpha, SWALLOWED * K.shape[0] * float(xp.finfo(K.dtype).eps) * largest))


def ridge_inverse(K: Array, alpha: float) -> Array:
    """Return (K + alpha I)^-1 for a symmetric matrix, or for the nearest one whose eigenvalues are not negative.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric; one that is proved to have an eigenvalue below -alpha / 2 is replaced.
    alpha : float
        Weight; one that the kernel would swallow is raised.
    """
    xp, ridge = namespace(K), resolved_ridge(K, alpha)
    A = add_to_diagonal(K + 0.0, ridge)
    try:
        with blas_threads(A.shape[0]):
            xp.linalg.cholesky(A)
            inverse = xp.linalg.inv(A)
    except linalg_errors():
        inverse = None
    if inverse is not None and ridge * float(xp.max(xp.linalg.diagonal(inverse))) <= PROOF:
        return inverse
    return _of_spectrum(K + 0.0, lambda values: 1 / (values + ridge))


def ridge_smoother(K: Array, alpha: float, *, overwrite: bool = False) -> Array:
    """Return (K + alpha I)^-1 K for a symmetric matrix, in its own memory if it may be used up and the backend can.

    I - alpha (K + alpha I)^-1 costs least: one Cholesky factor, inverted where it stands, in single precision where
    little of it is lost. A weight that the kernel
    would swallow is raised. Behind the equations is a minimum if no eigenvalue of K is below -alpha; one that is, or
    comes near, outweighs all others. A kernel that is proved to have one below -alpha / 2 is therefore replaced by the
    nearest whose eigenvalues are not negative.
    """
    alpha = resolved_ridge(K, alpha)
    unit = power_of_two(alpha) if alpha > 1 else 1.0  # the ridge of a huge kernel: the result does not depend on it
    if unit != 1.0:
        K, alpha, overwrite = K / unit, alpha / unit, True
    if not is_numpy_array(K):
        return add_to_diagonal(-alpha * ridge_inverse(K, alpha), 1.0)
    # A row-major symmetric matrix is itself in the column-major order that LAPACK wants.
    A = (K if overwrite and K.flags.c_contiguous else np.array(K, order="C")).T
    diagonal = A.diagonal().copy()
    is_easy = len(A) >= LARGE and len(A) * diagonal.max() <= EASY * alpha
    inverse = A.astype(np.float32, order="F") if is_easy else A
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (inverse,))
    with blas_threads(len(A)):
        _, info = potrf(add_to_diagonal(inverse, alpha), lower=True, clean=False, overwrite_a=True)
        if info == 0:
            _, info = potri(inverse, lower=True, overwrite_c=True)
    if info != 0 or alpha * inverse.diagonal().max() > PROOF:
        if not is_easy:  # the other triangle is untouched
            mirror(A.T)
            np.einsum("ii->i", A)[:] = diagonal
        return _of_spectrum(A, lambda values: values / (values + alpha))
    np.multiply(inverse, -alpha, out=A)
    return mirror(add_to_diagonal(A, 1.0)).T


def _of_spectrum(K: Array, function: Callable[[Array], Array]) -> Array:
    """Return a nonnegative function of a symmetric matrix, which is used up, with negative eigenvalues set to zero."""
    values, vectors = eigh(K, overwrite=True)
    xp = namespace(values)
    root = vectors * xp.sqrt(function(xp.where(values > 0, values, asarray_like(0.0, values))))[None, :]
    return root @ root.T


def mirror(A: Array) -> Array:
    """Copy the lower triangle of an array to the upper one, in place, tile by tile."""
    n = A.shape[0]
    for first in range(0, n, TILE):
        rows = slice(first, min(first + TILE, n))
        corner = A[rows, rows]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        for left in range(0, first, TILE):
            columns = slice(left, left + TILE)
            A[columns, rows] = A[rows, columns].T
    return A
