"""Factorisations and products in the fastest way that each backend offers.

NumPy goes to LAPACK and BLAS directly: in place, and one triangle of a symmetric matrix only. Other backends use
the functions of the array API standard.
"""

from collections.abc import Callable

import numpy as np
from array_api_compat import is_numpy_array
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from kernelbraid._arrays import (
    LinAlgError,
    add_to_diagonal,
    asarray_like,
    linalg_errors,
    namespace,
    power_of_two,
)
from kernelbraid._eigen import eigh
from kernelbraid._threads import blas_threads
from kernelbraid._typing import Array

SWALLOWED = 8  # units of rounding of a kernel, times its order, below which a weight on its diagonal is lost in it
# Entries on the diagonal of alpha (K + alpha I)^-1 are at most 1 for a kernel without negative eigenvalues; above this,
# one is below -alpha / 2, where coefficients of norm above 1 begin.
PROOF = 2.0
TILE = 256  # rows and columns of a block that is turned over in the cache


def solve_in_place(A: Array, B: Array) -> Array:
    """Return A^-1 B by an LU factorisation; `A` and `B` are used up."""
    if not is_numpy_array(A) or A.ndim > 2:
        return namespace(A).linalg.solve(A, B)
    getrf, trsm = get_lapack_funcs("getrf", (A, B)), get_blas_funcs("trsm", (A, B))
    # A row-major array is the transpose of the column-major one that LAPACK wants. With A' = P L U the equation
    # A X = B reads X' P L U = B': two triangular solves from the right, then the columns of X' go back to their places.
    factors, pivots, info = getrf(A.T, overwrite_a=True)
    if info != 0:
        raise LinAlgError("the matrix K + mu I is singular")
    solved = trsm(1.0, factors, B.T, side=1, lower=False, overwrite_b=True)
    solved = trsm(1.0, factors, solved, side=1, lower=True, diag=1, overwrite_b=True)
    X = solved.T
    for row, pivot in reversed(list(enumerate(pivots))):
        if row != pivot:
            X[[row, pivot]] = X[[pivot, row]]
    return X


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

    I - alpha (K + alpha I)^-1 costs least: one Cholesky factor, inverted where it stands. A weight that the kernel
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
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (K,))
    # A row-major symmetric matrix is itself in the column-major order that LAPACK wants.
    A = (K if overwrite and K.flags.c_contiguous else np.array(K, order="C")).T
    diagonal = A.diagonal().copy()
    with blas_threads(A.shape[0]):
        _, info = potrf(add_to_diagonal(A, alpha), lower=True, clean=False, overwrite_a=True)
        if info == 0:
            _, info = potri(A, lower=True, overwrite_c=True)
    if info != 0 or alpha * A.diagonal().max() > PROOF:  # the other triangle is untouched
        mirror(A.T)
        np.einsum("ii->i", A)[:] = diagonal
        return _of_spectrum(A, lambda values: values / (values + alpha))
    A *= -alpha
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


def fused_multiply_add(like: Array) -> Callable[..., Array]:
    """Return a function of C, A, B, beta and alpha: beta C + alpha A B for batches, in one call if the backend can."""
    return getattr(namespace(like), "baddbmm", _multiply_add)


def _multiply_add(C: Array, A: Array, B: Array, *, beta: float, alpha: float) -> Array:
    return beta * C + alpha * (A @ B)


def spectral_product(A: Array, V: Array, f: Array) -> Array:
    """Return A V diag(f) V' for f >= 0, in the order of multiplication that costs least; `V` may be used up."""
    xp = namespace(A)
    n, r = V.shape
    if r <= n // 4:
        V = xp.astype(V, A.dtype, copy=False)
        return (A @ (V * asarray_like(f, V))) @ V.T
    if is_numpy_array(A) and A.dtype == V.dtype:
        syrk, symm = get_blas_funcs(("syrk", "symm"), (A, V))
        V *= np.sqrt(f)
        P = syrk(1.0, V, lower=True)
        del V
        return symm(1.0, P, A.T, side=0, lower=True).T
    return A @ xp.astype((V * f) @ V.T, A.dtype, copy=False)
