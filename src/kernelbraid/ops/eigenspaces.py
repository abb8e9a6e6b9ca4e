"""Eigenvectors that rounding does not choose.

Where eigenvalues are equal, any basis of their space is one of eigenvectors, and which of them a solver returns depends
on rounding, and so on the number of threads. Here the basis follows from the space itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelbraid._arrays import asarray_like, namespace, to_numpy
from kernelbraid._typing import Array, DType

#: Eigenvalues of size one that are closer are equal, in double and in single precision: graphs that differ by the
#: rounding of a whole fit, some 1e-11, have eigenvalues as close.
DOUBLE, SINGLE = 1e-8, 1e-5
TIED = 1e-6  # rows of a basis whose squared lengths differ by less, relative to the longest, are equally long


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
        found = [known[:, :size]]
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
