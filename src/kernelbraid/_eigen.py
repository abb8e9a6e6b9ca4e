"""Eigenvalues and eigenvectors in the fastest way that each backend offers.

NumPy goes to LAPACK directly: in place, one triangle of a symmetric matrix only, and no eigenvector that nobody asked
for. Other backends use the functions of the array API standard.
"""

import contextlib
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array
from scipy import linalg
from scipy.linalg import get_blas_funcs
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from kernelbraid._arrays import LinAlgError, asarray_like, linalg_errors, namespace, to_numpy
from kernelbraid._threads import blas_threads
from kernelbraid._typing import Array

# Of sparse matrices of this order or larger, up to this share of the eigenvectors come from products, not from a
# decomposition.
SPARSE_ORDER, SPARSE_SHARE = 200, 0.1
# The same of dense ones on the host, whose outer eigenvectors are found without the others.
DENSE_ORDER, DENSE_SHARE = 200, 0.25
# Largest residual of such an eigenvector, relative to the largest eigenvalue, before the decomposition is asked: in
# double precision, and of a matrix whose known eigenvectors are in single precision.
RESIDUAL, SINGLE_RESIDUAL = 1e-9, 1e-6
ESTIMATE = 1e-3  # accuracy of an eigenvalue that is only compared with another


def gram_eigh(A: Array) -> tuple[Array, Array]:
    """Return eigenvalues (ascending) and eigenvectors of A'A in float64.

    Parameters
    ----------
    A : array of shape (n, n)
        Any square matrix. float32 is promoted: its Gram matrix would lose the small singular values.
    """
    xp = namespace(A)
    A = xp.astype(A, xp.float64, copy=False)
    if not is_numpy_array(A):
        return tuple(xp.linalg.eigh(A.T @ A))
    G = get_blas_funcs("syrk", (A,))(1.0, A.T, lower=True)
    if not np.isfinite(np.trace(G)):
        raise LinAlgError("the squares of the matrix overflow")  # LAPACK may never return from infinite values
    return _lower_eigh(G)


def eigh(S: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Return eigenvalues (ascending) and eigenvectors of a symmetric matrix, which may be used up."""
    if is_numpy_array(S):
        with blas_threads(S.shape[0]):
            return _lower_eigh(S.T if overwrite else S.copy().T)
    try:
        return tuple(namespace(S).linalg.eigh(S))
    except linalg_errors():  # happens on GPUs; LAPACK on the host is more patient
        values, vectors = _lower_eigh(np.asfortranarray(to_numpy(S)))
        return asarray_like(values, S), asarray_like(vectors, S)


def outer_eigh(S: Array, count: int, *, largest: bool) -> tuple[Array, Array] | None:
    """Return the smallest or the largest eigenvalues of a symmetric matrix, ascending, and their eigenvectors.

    Parameters
    ----------
    S : array of shape (n, n)
        Symmetric; used up.
    count : int
        How many, at most n.
    largest : bool
        Whether those at the upper end.

    Returns
    -------
    tuple of array, or None
        None where :func:`eigh` is to be asked: for many of them, small matrices, other backends, and where LAPACK does
        not get at some.
    """
    n = S.shape[0]
    if not is_numpy_array(S) or n < DENSE_ORDER or count > DENSE_SHARE * n or not np.isfinite(S).all():
        return None
    first = n - count if largest else 0
    options: dict[str, Any] = {"lower": True, "overwrite_a": True, "check_finite": False}
    with blas_threads(n), contextlib.suppress(LinAlgError):
        values, vectors = linalg.eigh(S.T, subset_by_index=(first, first + count - 1), **options)
        if vectors.shape[1] == count:
            return values, vectors
    return None


def eigvalsh(S: Array) -> Array:
    """Return the eigenvalues (ascending) of a symmetric matrix, which may be used up: far cheaper than vectors."""
    if is_numpy_array(S):
        with blas_threads(S.shape[0]):
            return linalg.eigvalsh(S.T, lower=True, overwrite_a=True, check_finite=False, driver="evd")
    return namespace(S).linalg.eigvalsh(S)


def leading_eigenvectors(S: Array, known: Array, count: int) -> Array:
    """Return eigenvectors of largest eigenvalue of a sparse symmetric matrix, largest first.

    Parameters
    ----------
    S : sparse matrix of shape (n, n)
        Symmetric, with no eigenvalue beyond 1 and -1.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors of eigenvalue 1 that are left out: products alone do not tell equal eigenvalues apart.
    count : int
        How many to return, at most n - c.

    Returns
    -------
    ndarray of shape (n, count)
        Orthonormal, orthogonal to the known ones, and in the precision of the matrix. Those that products give, in
        double precision, are checked by their residuals, and the decomposition of the whole matrix is the way out.
    """
    n = S.shape[0]
    if n >= SPARSE_ORDER and count <= SPARSE_SHARE * n:
        limit = RESIDUAL if S.dtype == np.float64 else SINGLE_RESIDUAL
        found = _by_products(S.astype(np.float64), known.astype(np.float64), count, limit)
        if found is not None:
            return found.astype(S.dtype)
    away = S.toarray() - 3 * (known @ known.T)  # from eigenvalue 1 to -2, where nobody looks
    vectors = np.empty((n, 0))
    with contextlib.suppress(LinAlgError):
        _, vectors = linalg.eigh(away, subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False)
    if vectors.shape[1] < count:  # most eigenvalues of a complete graph are equal, and LAPACK may not get at some
        vectors = eigh(S.toarray() - 3 * (known @ known.T), overwrite=True)[1][:, n - count :]
    return vectors[:, ::-1]


def _by_products(S: Array, known: Array, count: int, limit: float) -> Array | None:
    """Return the same by Lanczos' iteration; None if it does not converge to eigenvectors."""
    n = S.shape[0]
    operator, start = _beside(S, known)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, ncv=min(n - 1, max(3 * count, 24)))
    except (ArpackError, ArpackNoConvergence):
        return None
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    residual = S @ vectors - vectors * values
    return vectors if float(np.abs(residual).max(initial=0.0)) <= limit else None


def estimate_eigenvalue(S: Array, known: Array) -> float:
    """Return the largest eigenvalue of a sparse symmetric matrix beside those of known eigenvectors, to two digits.

    Parameters
    ----------
    S, known
        As for :func:`leading_eigenvectors`, but the known ones may have any eigenvalues.
    """
    operator, start = _beside(S.astype(np.float64), known.astype(np.float64))
    try:
        values = eigsh(operator, 1, which="LA", v0=start, tol=ESTIMATE, return_eigenvectors=False)
    except (ArpackError, ArpackNoConvergence):
        return 1.0
    return float(values[0])


def _beside(S: Array, known: Array) -> tuple[LinearOperator, Array]:
    """Return a matrix whose known eigenvectors have eigenvalues where nobody looks, and a start without them."""
    operator = LinearOperator(S.shape, matvec=lambda v: S @ v - 3 * (known @ (known.T @ v)), dtype=S.dtype)
    start = np.random.default_rng(0).standard_normal(S.shape[0])
    return operator, start - known @ (known.T @ start)


def _lower_eigh(G: Array) -> tuple[Array, Array]:
    """Decompose a symmetric matrix given by its lower triangle in column-major order, which is destroyed."""
    values, vectors = linalg.eigh(G, lower=True, overwrite_a=True, check_finite=False, driver="evd")
    return values, vectors
