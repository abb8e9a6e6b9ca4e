"""Penalties: each is one object with its value and its proximal operator, for one matrix and for a batch.

That of the nuclear norm thresholds singular values. The eigenvectors of A'A give it at less than the cost of a singular
value decomposition, which is the way out where squaring loses too many digits. Batches go through products alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from kernelbraid._arrays import (
    LinAlgError,
    asarray_like,
    frobenius_norm,
    identity_like,
    is_finite,
    linalg_errors,
    namespace,
    to_numpy,
)
from kernelbraid._linalg import fused_multiply_add, gram_eigh, spectral_product
from kernelbraid._typing import Array
from kernelbraid.ops.closed_forms import half_square, l1_norm, nuclear_norm, scale_down, soft_threshold

# Singular values closer to zero or to the threshold than this share of the largest are not resolved: an error of that
# size is all it can make.
SMALLEST = 1e-9
# Orders that are multiples of this multiply faster: rows then start at aligned addresses.
ALIGNMENT = 8


def shrink_batch(A: Array, t: Array) -> Array:
    """Threshold the singular values of every matrix of a batch, by products alone.

    With the polar decomposition A = U H the result is U (H - t I)_+, and the positive part of a symmetric matrix D is
    (D + |D|) / 2 with |D| = D sign(D). An accelerator decomposes small matrices one by one, but multiplies a batch of
    them in no time.

    Parameters
    ----------
    A : array of shape (b, n, n)
        Matrices.
    t : array of shape (b, 1, 1)
        Thresholds, positive.
    """
    xp = namespace(A)
    n = A.shape[-1]
    A = _pad(A, -n % ALIGNMENT)  # with zeros, which stay zeros
    size = xp.sqrt(_largest_sum(A, axis=1) * _largest_sum(A, axis=2))  # at least the largest singular value
    size = xp.where(size > 0, size, asarray_like(1.0, size))  # of a matrix with NaN too: it must not reach the others
    A, t = A / size, t / size
    eye = identity_like(A[0, ...])
    relevant = to_numpy(xp.min(t))  # smaller values do not pass
    U = _polar_batch(A, min(max(float(relevant), SMALLEST), 0.5))
    H = U.mT @ A
    D = (H + H.mT) / 2 - t * eye
    sign = _polar_batch(D / (1 + t), SMALLEST)
    product = D @ sign
    return (size * (U @ (D + (product + product.mT) / 2)) / 2)[:, :n, :n]


def _polar_batch(X: Array, smallest: float) -> Array:
    """Return the polar factors of matrices with singular values up to 1; those below `smallest` end below 1.

    A step X <- X (3/2 c I - 1/2 c^3 X'X) with c^2 = 3 / (1 + l + l^2) lifts the singular values of [l, 1] as much as a
    cubic polynomial can without leaving [0, 1].
    """
    multiply_add = fused_multiply_add(X)
    low = smallest
    while low < 1:
        c = math.sqrt(3 / (1 + low + low * low))
        X = multiply_add(X, X, X.mT @ X, beta=1.5 * c, alpha=-0.5 * c**3)
        lifted = 0.5 * c * low * (3 - c * c * low * low)
        if lifted <= low or low > 1 - 1e-9:  # the last step has squared an error of 1e-9 away
            break
        low = lifted
    return X


def _pad(A: Array, extra: int) -> Array:
    """Append rows and columns of zeros to every matrix."""
    if extra == 0:
        return A
    xp = namespace(A)
    b, n, _ = A.shape
    padded = xp.zeros((b, n + extra, n + extra), dtype=A.dtype, device=A.device)
    padded[:, :n, :n] = A
    return padded


def _largest_sum(A: Array, axis: int) -> Array:
    """Return the largest sum of absolute values along an axis of every matrix: the 1-norm or the infinity norm."""
    xp = namespace(A)
    return xp.max(xp.sum(xp.abs(A), axis=axis, keepdims=True), axis=3 - axis, keepdims=True)


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


@dataclass(frozen=True)
class Elementwise:
    """An operator on every element by itself: a batch is one array more, and no call has anything to tell the next."""

    function: Callable[[Array, float | Array], Array]
    used: str
    rank: int = field(default=-1, init=False)

    def __call__(self, A: Array, t: float | Array) -> Array:
        """Return the function of A and t."""
        return self.function(A, t)


#: A proximal operator: of a matrix A and a number t, or of a batch (b, n, n) and thresholds (b, 1, 1), it returns
#: argmin_J t value(J) + 1/2 ||J - A||_F^2 as a new array; `rank` and `used` are those of its last call.
Prox: TypeAlias = SingularValueThreshold | Elementwise


@dataclass(frozen=True)
class Penalty:
    """A convex penalty."""

    name: str
    value: Callable[[Array], float]  # of one matrix
    operator: Callable[[Route], Prox]  # makes a fresh operator; only the one with singular values has several routes


NUCLEAR = Penalty("nuclear", nuclear_norm, SingularValueThreshold)  # a low-rank graph or kernel: LKGr
L1 = Penalty("l1", l1_norm, lambda _: Elementwise(soft_threshold, "soft"))  # a sparse graph: LKGs
# A dense graph: similar samples get similar columns.
FROBENIUS = Penalty("frobenius", half_square, lambda _: Elementwise(scale_down, "scale"))
