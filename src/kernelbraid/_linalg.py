"""Solutions, products, eigenvalues and eigenvectors in the fastest way of each backend.

NumPy goes to LAPACK and BLAS directly: in place, one triangle of a symmetric matrix only, and no eigenvector that
nobody asked for. Other backends use the functions of the array API standard.

Where eigenvalues are equal, any basis of their space is one of eigenvectors, and which of them a solver returns depends
on rounding, and so on the number of threads. :func:`choose_vectors` takes the basis that follows from the space itself.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array
from scipy import linalg, sparse
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.sparse import csgraph
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh, splu

from kernelbraid._arrays import LinAlgError, asarray_like, linalg_errors, namespace, to_numpy
from kernelbraid._machine import ORDER, blas_threads
from kernelbraid._typing import Array, DType


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
    return getattr(namespace(like), "baddbmm", lambda C, A, B, *, beta, alpha: beta * C + alpha * (A @ B))


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


# Of sparse matrices of this order or larger, up to this share of the eigenvectors come from products, not from a
# decomposition.
SPARSE_ORDER, SPARSE_SHARE = 200, 0.1
# The same of dense ones on the host, whose outer eigenvectors are found without the others.
DENSE_ORDER, DENSE_SHARE = 200, 0.25
# Residuals of such eigenvectors: those wanted, and those that are taken of large matrices where these are not reached
# within so many restarts of Lanczos' iteration.
RESIDUALS, RESTARTS = (1e-10, 1e-6, 1e-3), 300
# Width of a band, in units of the root of the order, up to which a graph is solved with; what keeps that from being
# singular.
BAND, SHIFT = 4, 1e-6
#: Eigenvalues of size one that are closer are equal, in double and in single precision: graphs that differ by the
#: rounding of a whole fit, some 1e-11, have eigenvalues as close.
DOUBLE, SINGLE = 1e-8, 1e-5
TIED = 1e-6  # rows of a basis whose squared lengths differ by less, relative to the longest, are equally long


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
        Symmetric, in double precision, with no eigenvalue beyond 1 and -1.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors of eigenvalue 1 that are left out: products alone do not tell equal eigenvalues apart.
    count : int
        How many to return, at most n - c.

    Returns
    -------
    ndarray of shape (n, count)
        Orthonormal, and orthogonal to the known ones. Those of large matrices are checked by their residuals; what
        they cost is bounded: eigenvalues that are close to each other come of long thin graphs, which have a narrow
        band and are solved with; other graphs need few products, and where they do not, vectors are less exact.
    """
    n = S.shape[0]
    if n >= SPARSE_ORDER and count <= SPARSE_SHARE * n:
        solve = _solver(S)
        for tol in RESIDUALS:
            vectors = _by_lanczos(S, known, count, solve, tol)
            if vectors is not None:
                return vectors
            if n < ORDER:
                break
    away = S.toarray() - 3 * (known @ known.T)  # from eigenvalue 1 to -2, where nobody looks
    vectors = np.empty((n, 0))
    with contextlib.suppress(LinAlgError):
        _, vectors = linalg.eigh(away, subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False)
    if vectors.shape[1] < count:  # most eigenvalues of a complete graph are equal, and LAPACK may not get at some
        vectors = eigh(S.toarray() - 3 * (known @ known.T), overwrite=True)[1][:, n - count :]
    return vectors[:, ::-1]


def _by_lanczos(S: Array, known: Array, count: int, solve: Callable[[Array], Array] | None, tol: float) -> Array | None:
    """Return the same by Lanczos' iteration, with S or the inverse of I - S; None if it does not get there."""
    n = S.shape[0]

    def beside(v: Array) -> Array:
        return v - known @ (known.T @ v)

    def apply(v: Array) -> Array:
        return S @ v - 3 * (known @ (known.T @ v)) if solve is None else beside(solve(beside(v)))

    start = beside(np.random.default_rng(0).standard_normal(n))
    operator, ncv = LinearOperator(S.shape, matvec=apply, dtype=S.dtype), min(n - 1, max(3 * count, 24))
    try:
        _, vectors = eigsh(operator, count, which="LA", v0=start, ncv=ncv, tol=tol, maxiter=RESTARTS)
    except (ArpackError, ArpackNoConvergence):
        return None
    products = S @ vectors
    values = np.sum(vectors * products, axis=0)
    if not np.abs(products - vectors * values).max(initial=0.0) <= 10 * tol:
        return None
    return vectors[:, np.argsort(-values, kind="stable")]


def _solver(S: Array) -> Callable[[Array], Array] | None:
    """Return what solves with (1 + SHIFT) I - S, for a matrix whose band is about as narrow as in the plane."""
    order = csgraph.reverse_cuthill_mckee(S, symmetric_mode=True)
    n, place = S.shape[0], np.argsort(order)
    rows = np.repeat(place, np.diff(S.indptr))
    band = np.zeros(n, dtype=np.int64)
    np.maximum.at(band, rows, rows - place[S.indices])
    if band.sum() > BAND * n**1.5:
        return None
    A = sparse.csc_array((1 + SHIFT) * sparse.eye_array(n) - S)
    solve: Callable[[Array], Array] = splu(A, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True}).solve
    return solve


def _lower_eigh(G: Array) -> tuple[Array, Array]:
    """Decompose a symmetric matrix given by its lower triangle in column-major order, which is destroyed."""
    values, vectors = linalg.eigh(G, lower=True, overwrite_a=True, check_finite=False, driver="evd")
    return values, vectors


def tolerance(dtype: DType, xp: Any = np) -> float:
    """Return the distance of eigenvalues of size one that counts as none.

    Parameters
    ----------
    dtype : dtype
        Of the matrix.
    xp : module, default=numpy
        Its namespace.
    """
    return SINGLE if float(xp.finfo(dtype).eps) > DOUBLE else DOUBLE


def choose_vectors(
    values: np.ndarray,
    vectors: Array,
    count: int,
    *,
    rank: Callable[[np.ndarray], np.ndarray] = np.asarray,
    known: Callable[[float], Array | None] = lambda value: None,
    tol: float | None = None,
) -> Array:
    """Return the eigenvectors of highest rank, with a basis of every space that follows from the space alone.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Eigenvalues in ascending order, of size one.
    vectors : array of shape (n, m)
        Orthonormal eigenvectors.
    count : int
        How many to return.
    rank : callable, default=numpy.asarray
        Turns eigenvalues into what is sorted by, highest first; of a value and its negative that rank alike, the
        positive one comes first.
    known : callable, default=None of any value
        ``known(value)`` is called for eigenvalues that several vectors share; it returns vectors of the space that are
        taken first, orthonormal, or None.
    tol : float or None, default=None
        Distance of eigenvalues that counts as none; that of the type of the vectors if None.

    Returns
    -------
    array of shape (n, count)
        Eigenvectors that stand alone are returned as they are.
    """
    xp = namespace(vectors)
    found: list[Array] = []
    left = count
    for start, stop in _spaces(values, rank, tolerance(vectors.dtype, xp) if tol is None else tol):
        own = vectors[:, start:stop]
        if stop - start > 1:
            own = _basis(own, known(float(values[start:stop].mean())), left)
        found.append(own)
        left -= int(own.shape[1])
        if left <= 0:
            break
    return xp.concat(found, axis=1)[:, :count]


def _spaces(values: np.ndarray, rank: Callable[[np.ndarray], np.ndarray], tol: float) -> list[tuple[int, int]]:
    """Return where eigenvalues that are equal start and stop, those of highest rank first."""
    ends = np.flatnonzero(np.diff(values) > tol) + 1
    bounds = list(zip(np.concatenate([[0], ends]), np.concatenate([ends, [values.shape[0]]]), strict=True))
    middles = np.array([values[start:stop].mean() for start, stop in bounds])
    ranks = np.asarray(rank(middles), dtype=float).copy()
    places = np.searchsorted(middles, -middles)
    for own in np.flatnonzero(middles < 0):
        for other in {max(places[own] - 1, 0), min(places[own], middles.shape[0] - 1)}:
            if abs(middles[other] + middles[own]) <= tol and abs(ranks[other] - ranks[own]) <= tol:
                ranks[own] = ranks[other]
    order = np.lexsort((-middles, -ranks))
    return [(int(bounds[i][0]), int(bounds[i][1])) for i in order]


def _basis(U: Array, known: Array | None, most: int) -> Array:
    """Return at most so many vectors of a basis of a space: those known, then by pivots.

    The row of the orthogonal projector with the largest diagonal entry is the first vector; the others follow in the
    space that is left. Vectors that are no basis, as a decomposition of values that are not finite leaves them, stay.
    """
    xp, given = namespace(U), U
    found: list[Array] = []
    size = min(most, int(U.shape[1]))
    if known is not None:
        found = [known[:, : min(size, int(known.shape[1]))]]
        U = U - known @ (known.T @ U)
    for place in range(0 if known is None else int(found[0].shape[1]), size):
        lengths = to_numpy(xp.sum(U * U, axis=1))
        if not lengths.max() > 0:
            found.append(given[:, place:size])
            break
        at = int(np.argmax(lengths >= (1 - TIED) * lengths.max()))
        q = U[at, :] / asarray_like(float(np.sqrt(lengths[at])), U)
        v = U @ q
        v = v / xp.linalg.vector_norm(v)
        found.append(v[:, None])
        U = U - v[:, None] * (v @ U)[None, :]
    return xp.concat(found, axis=1)
