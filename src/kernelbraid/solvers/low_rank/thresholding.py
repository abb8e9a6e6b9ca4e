"""Singular value thresholding: argmin_J t ||J||_* + 1/2 ||J - A||_F^2.

The eigenvectors of A'A give it at less than the cost of a singular value decomposition, which is the way out where
squaring loses too many digits. Batches go through products alone.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from kernelbraid._arrays import (
    LinAlgError,
    asarray_like,
    frobenius_norm,
    is_finite,
    linalg_errors,
    namespace,
)
from kernelbraid._eigen import gram_eigh
from kernelbraid._linalg import spectral_product
from kernelbraid._typing import Array
from kernelbraid.solvers.low_rank.polar import shrink_batch

#: How to threshold: through A'A where that is exact enough, or always by the singular value decomposition.
Route: TypeAlias = Literal["auto", "svd"]
ROUTES: tuple[str, ...] = get_args(Route)

# Largest error of a result through A'A, relative to the largest singular value.
ACCURACY = 1e-10


@dataclass
class SingularValueThreshold:
    """The proximal operator of the nuclear norm, with what its last call did.

    Parameters
    ----------
    route : {"auto", "svd"}, default="auto"
        ``"svd"`` never squares the matrix.
    """

    route: Route = "auto"
    used: str = field(default="", init=False)  # what the last call took
    rank: int = field(default=-1, init=False)  # values that passed in the last call; -1 before it and for a batch

    def __call__(self, A: Array, t: float | Array) -> Array:
        """Return A with every singular value lowered by t, those below t to zero.

        A batch of matrices (b, n, n) with thresholds (b, 1, 1) goes through products, whatever the route: they need no
        decision for a single matrix. One that is not finite is not refused, so that the others have their results.
        """
        if A.ndim > 2:
            self.used, self.rank = "products", -1
            return shrink_batch(A, t)
        size = frobenius_norm(A)
        if not math.isfinite(size) and not is_finite(A):
            raise LinAlgError("a matrix to be thresholded is not finite")
        if t == 0.0 or t >= size:  # nothing or everything is taken away
            self.used, self.rank = "none", A.shape[-1] if t == 0.0 else 0
            return A + 0.0 if t == 0.0 else 0.0 * A
        outcome = None if self.route == "svd" else by_gram(A, t)
        self.used = "svd" if outcome is None else "gram"
        shrunk, self.rank = by_svd(A, t) if outcome is None else outcome
        return shrunk


def by_svd(A: Array, t: float) -> tuple[Array, int]:
    """Threshold through the singular value decomposition; return how many values passed, too."""
    xp = namespace(A)
    U, s, Vt = xp.linalg.svd(A, full_matrices=False)
    rank = int(xp.count_nonzero(s > t))
    return (U[:, :rank] * (s[:rank] - t)) @ Vt[:rank, :], rank


def by_gram(A: Array, t: float) -> tuple[Array, int] | None:
    """Threshold as A f(A'A) through the eigenvectors of A'A; None if squaring lost too much of the small values."""
    xp = namespace(A)
    try:
        values, vectors = gram_eigh(A)
    except linalg_errors():
        return None
    s = xp.sqrt(xp.maximum(values, asarray_like(0.0, values)))
    rank = int(xp.count_nonzero(s > t))
    if rank == 0:
        return 0 * A, 0
    first = s.shape[0] - rank
    s, vectors = s[first:], vectors[:, first:]
    # An eigenvalue of A'A is off by eps s_max^2, so a singular value is off by eps s_max^2 / (2 s).
    eps = float(xp.finfo(s.dtype).eps)
    if eps * float(s[-1]) / (2 * float(s[0])) > ACCURACY:
        return None
    return spectral_product(A, vectors, 1 - t / s), rank
