"""Solutions and products in the fastest way that each backend offers.

NumPy goes to LAPACK and BLAS directly, in place. Other backends use the functions of the array API standard.
"""

from collections.abc import Callable

import numpy as np
from array_api_compat import is_numpy_array
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from kernelbraid._arrays import (
    LinAlgError,
    asarray_like,
    namespace,
)
from kernelbraid._typing import Array


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
