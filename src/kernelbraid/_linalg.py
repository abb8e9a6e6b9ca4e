"""Factorisations and products in the fastest way that each backend offers.

NumPy goes to LAPACK and BLAS directly: in place, and one triangle of a symmetric matrix only. Other backends use
the functions of the array API standard.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array
from scipy import linalg, sparse
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from threadpoolctl import ThreadpoolController

from kernelbraid._arrays import LinAlgError, add_to_diagonal, asarray_like, linalg_errors, namespace, to_numpy
from kernelbraid._typing import Array

# Below this order one thread of BLAS is as fast as two, on an idle machine too.
THREADED_ORDER = 1000
# From this order on, matrices with at most this share of entries are multiplied by, not decomposed.
SPARSE_ORDER, SPARSE_SHARE = 2000, 0.05


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def blas_threads(n: int, asked: int | None = None) -> Iterator[None]:
    """Set the threads of BLAS for matrices of order n: those asked for; one for small matrices; otherwise as they are.

    Threads that wait for each other on a busy machine make small factorisations slower, up to tens of times.
    """
    if asked is None and n >= THREADED_ORDER:
        yield
        return
    with _blas().limit(limits=asked or 1, user_api="blas"):
        yield


def solve_in_place(A: Array, B: Array) -> Array:
    """Return A^-1 B by an LU factorisation; `A` and `B` are used up."""
    if not is_numpy_array(A):
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


def ridge_smoother(K: Array, alpha: float) -> Array:
    """Return (K + alpha I)^-1 K for a symmetric matrix; I - alpha (K + alpha I)^-1 costs least where it can be had."""
    if not is_numpy_array(K):
        return namespace(K).linalg.solve(add_to_diagonal(K + 0.0, alpha), K)
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (K,))
    factor, info = potrf(add_to_diagonal(np.array(K, order="F"), alpha), lower=True, overwrite_a=True)
    if info == 0:
        inverse, info = potri(factor, lower=True, overwrite_c=True)
    if info != 0:  # the kernel is not positive semidefinite
        return solve_in_place(add_to_diagonal(K + 0.0, alpha), K + 0.0)
    below = np.tril(inverse, -1)
    below *= -alpha
    smoother = below + below.T
    return add_to_diagonal(smoother, 1 - alpha * inverse.diagonal())


def gram(A: Array) -> Array:
    """Return A'A, exactly symmetric on the host."""
    return A.T @ A  # NumPy recognises the product of a matrix with its own transpose


def outer_gram(A: Array, factor: float) -> Array:
    """Return factor A A'."""
    P = A @ A.T
    P *= factor
    return P


def fused_multiply_add(like: Array) -> Callable[..., Array]:
    """Return a function of C, A, B, beta and alpha: beta C + alpha A B for batches, in one call if the backend can."""
    return getattr(namespace(like), "baddbmm", _multiply_add)


def _multiply_add(C: Array, A: Array, B: Array, *, beta: float, alpha: float) -> Array:
    return beta * C + alpha * (A @ B)


def gram_eigh(A: Array, above: float | None = None) -> tuple[Array, Array]:
    """Return eigenvalues (ascending) and eigenvectors of A'A in float64.

    Parameters
    ----------
    A : array of shape (n, n)
        Any square matrix. float32 is promoted: its Gram matrix would lose the small singular values.
    above : float, default=None
        Return the eigenvalues above this only, by LAPACK's range selection; NumPy only, others return all.
    """
    xp = namespace(A)
    A = xp.astype(A, xp.float64, copy=False)
    if not is_numpy_array(A):
        return tuple(xp.linalg.eigh(A.T @ A))
    G = get_blas_funcs("syrk", (A,))(1.0, A.T, lower=True)
    if not np.isfinite(np.trace(G)):
        raise LinAlgError("the squares of the matrix overflow")  # LAPACK may never return from infinite values
    return _lower_eigh(G, above)


def eigh(S: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Return eigenvalues (ascending) and eigenvectors of a symmetric matrix, which may be used up."""
    if is_numpy_array(S):
        return _lower_eigh(S.T if overwrite else S.copy().T, None)
    try:
        return tuple(namespace(S).linalg.eigh(S))
    except linalg_errors():  # happens on GPUs; LAPACK on the host is more patient
        values, vectors = _lower_eigh(np.asfortranarray(to_numpy(S)), None)
        return asarray_like(values, S), asarray_like(vectors, S)


def is_thin(S: Array, n_vectors: int) -> bool:
    """Tell whether a few eigenvectors of a matrix come faster from products with its few entries."""
    n = S.shape[0]
    large = is_numpy_array(S) and n >= SPARSE_ORDER and n_vectors * 10 <= n
    return bool(large and np.count_nonzero(S) <= SPARSE_SHARE * n * n)


def leading_eigenvectors(S: Any, known: Any, count: int) -> Any:
    """Return eigenvectors of largest eigenvalue of a thin symmetric matrix, largest first.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Symmetric, with few entries, and with no eigenvalue below -1.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors that are left out: products alone do not tell equal eigenvalues apart.
    count : int
        How many to return.

    Returns
    -------
    ndarray of shape (n, count)
        Orthonormal, and orthogonal to the known ones.
    """
    A = sparse.csr_array(S)

    def product(v: Any) -> Any:
        return A @ v - 3 * (known @ (known.T @ v))  # from eigenvalue 1 to -2, where nobody looks

    operator = LinearOperator(A.shape, matvec=product, dtype=A.dtype)
    start = np.random.default_rng(0).standard_normal(A.shape[0])
    start -= known @ (known.T @ start)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, ncv=min(A.shape[0] - 1, max(4 * count, 60)))
    except ArpackNoConvergence:
        values, vectors = _lower_eigh((S - 3 * (known @ known.T)).T, None)
        return vectors[:, ::-1][:, :count]
    return vectors[:, np.argsort(-values)]


def _lower_eigh(G: Any, above: float | None) -> tuple[Any, Any]:
    """Decompose a symmetric matrix given by its lower triangle in column-major order, which is destroyed."""
    options: dict[str, Any] = {"driver": "evd"} if above is None else {"subset_by_value": (above, np.inf)}
    values, vectors = linalg.eigh(G, lower=True, overwrite_a=True, check_finite=False, **options)
    return values, vectors


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
