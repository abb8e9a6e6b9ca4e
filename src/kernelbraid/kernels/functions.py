"""Kernel functions: each is an elementwise function of inner products and two scalars per sample."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from kernelbraid._arrays import asarray_like, clip_negative, in_place, itemsize, namespace
from kernelbraid._typing import Array

T = TypeVar("T")
#: How a kernel matrix is scaled: K_ij / sqrt(K_ii K_jj), K / max K, or not at all.
Normalisation: TypeAlias = Literal["cosine", "max"] | None
# Beside an offset of this size, products of scaled samples do not show in any digit; in single precision.
LARGE_OFFSET, SINGLE_OFFSET = 1e100, 1e15
# Squared distance, relative to the squared lengths, below which samples coincide: a few units in the last place.
COINCIDENT = 1e-14


@dataclass(frozen=True)
class Pairs:
    """What the kernels need to know about two sets of samples.

    Samples are divided by `scale`, a power of two that keeps their inner products away from overflow and underflow.
    Those that lie far from the origin are kept about their mean m: distances are differences of products, and would
    lose all digits there.
    """

    products: Array  # x_i . y_j, (n_rows, n_columns), of samples about their mean if they are far
    row_squares: Array  # x_i . x_i, (n_rows,), likewise
    column_squares: Array  # y_j . y_j, (n_columns,), likewise
    max_square: float  # largest x . x among the fitted samples, about the origin
    max_distance: float  # largest squared distance among the fitted samples
    scale: float = 1.0
    first_row: int = 0  # where the rows stand among the fitted samples
    new: bool = False  # whether the rows are other samples than the fitted ones
    is_block: bool = False  # whether they are few of the fitted ones
    is_far: bool = False
    largest_offset: float = LARGE_OFFSET  # what larger ones added to products are taken for
    row_sides: Array | None = None  # (x_i - m) . m + m . m / 2, (n_rows,), of samples that are far
    column_sides: Array | None = None  # (y_j - m) . m + m . m / 2, (n_columns,)

    def rows(self, rows: slice) -> "Pairs":
        """Return a block of rows."""
        return replace(
            self,
            products=self.products[rows, :],
            row_squares=self.row_squares[rows],
            row_sides=None if self.row_sides is None else self.row_sides[rows],
            first_row=self.first_row + (rows.start or 0),
            is_block=True,
        )

    def below(self, rows: slice) -> "Pairs":
        """Return a block of rows up to the diagonal: the rest of a kernel is its mirror image."""
        end = rows.stop
        return replace(
            self.rows(rows),
            products=self.products[rows, :end],
            column_squares=self.column_squares[:end],
            column_sides=None if self.column_sides is None else self.column_sides[:end],
        )

    def moved(self, place: Callable[[Array], Array]) -> "Pairs":
        """Return the same on another device."""
        names = ("products", "row_squares", "column_squares", "row_sides", "column_sides")
        arrays = {name: getattr(self, name) for name in names}
        return replace(self, **{name: place(array) for name, array in arrays.items() if array is not None})

    def about_origin(self) -> tuple[Array, Array, Array]:
        """Return the products of rows and columns, not to be changed, and the squares of both, about the origin."""
        return self._kept("about_origin", self._about_origin)

    def _about_origin(self) -> tuple[Array, Array, Array]:
        if self.row_sides is None or self.column_sides is None:
            return self.products, self.row_squares, self.column_squares
        sides = self.row_sides[:, None] + self.column_sides[None, :]
        rows, columns = self.row_squares + 2 * self.row_sides, self.column_squares + 2 * self.column_sides
        return in_place("add", sides, self.products), rows, columns

    def cosines(self, offset: float) -> Array:
        """Return (a + x . y) / sqrt((a + x . x) (a + y . y)), not to be changed."""
        a = self.to_scale(offset)

        def form() -> Array:
            products, rows, columns = self.about_origin()
            return _unit_diagonal(products + a if a else products, rows + a, columns + a)

        return self._kept(f"cosines {offset}", form)

    def _kept(self, name: str, form: Callable[[], T]) -> T:
        """Return what several kernels need, formed once; of all fitted samples it would fill the memory."""
        if not (self.new or self.is_block):
            return form()
        if name not in self._known:
            self._known[name] = form()
        found: T = self._known[name]
        return found

    @cached_property
    def _known(self) -> dict[str, Any]:
        return {}

    def to_scale(self, offset: float) -> float:
        """Return what a number added to x . y is in the scale of the products."""
        return min(offset / self.scale / self.scale, self.largest_offset)

    def squared_distances(self) -> Array:
        """Return the squared Euclidean distances of the scaled samples, not to be changed."""
        return self._kept("squared_distances", self._measure)

    def _measure(self) -> Array:
        sums = self.row_squares[:, None] + self.column_squares[None, :]
        if self.new and itemsize(sums.dtype) == 4:
            return clip_negative(in_place("add", sums, -2 * self.products))
        distances = in_place("add", -2 * self.products, sums)
        # What is left of coinciding samples is the rounding of the sums; a narrow kernel would take it for a distance.
        far = distances > in_place("multiply", sums, COINCIDENT)
        return in_place("multiply", distances, namespace(distances).astype(far, distances.dtype))


@runtime_checkable
class Kernel(Protocol):
    """A kernel of a bank: a readable name, and its matrix for given pairs of samples."""

    @property
    def name(self) -> str:
        """Readable name."""

    def matrix(self, pairs: Pairs) -> Array:
        """Return the normalised kernel matrix, (n_rows, n_columns)."""


@dataclass(frozen=True)
class Gaussian:
    r"""Gaussian kernel whose width is relative to the diameter of the data.

    .. math:: K(x, y) = \exp\left(-\frac{\|x - y\|^2}{s\, d_{\max}^2}\right)

    where :math:`d_{\max}` is the largest distance between two samples. The diagonal is one, so either
    normalisation leaves it as it is.

    Parameters
    ----------
    scale : float
        s, positive: the squared width as a fraction of the squared diameter.
    label : str, default=""
        Readable name; made from `scale` when empty.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.kernels import Gaussian, build_bank
    >>> build_bank(np.array([[0.0], [1.0]]), [Gaussian(1.0)]).round(3)
    array([[[1.   , 0.368],
            [0.368, 1.   ]]])
    """

    scale: float
    label: str = ""

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"Gaussian scale={self.scale!r} must be positive; try a value between 0.01 and 100.")

    @property
    def name(self) -> str:
        """Readable name."""
        return self.label or f"gaussian s={self.scale:g}"

    def matrix(self, pairs: Pairs) -> Array:
        """Return exp(-d^2 / (s d_max^2)); all ones when all samples coincide."""
        return in_place("exp", pairs.squared_distances() / (-self.scale * (pairs.max_distance or 1.0)))


@dataclass(frozen=True)
class Polynomial:
    r"""Polynomial kernel :math:`K(x, y) = (a + x^\top y)^b`.

    Parameters
    ----------
    offset : float, default=0.0
        a, not negative.
    degree : int, default=2
        b, at least 1.
    normalise : {"cosine", "max"} or None, default="cosine"
        ``"cosine"`` divides by :math:`\sqrt{K_{ii} K_{jj}}` (samples with K_ii = 0 get zeros), ``"max"`` by the
        largest element of the fitted samples' kernel, which is on its diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.kernels import Polynomial, build_bank
    >>> build_bank(np.array([[1.0], [2.0]]), [Polynomial(1.0, 2, normalise="max")])
    array([[[0.16, 0.36],
            [0.36, 1.  ]]])
    """

    offset: float = 0.0
    degree: int = 2
    normalise: Normalisation = "cosine"

    def __post_init__(self) -> None:
        if not self.offset >= 0:
            raise ValueError(f"Polynomial offset={self.offset!r} must not be negative; use 0 or a positive number.")
        if self.degree < 1 or int(self.degree) != self.degree:
            raise ValueError(f"Polynomial degree={self.degree!r} must be a whole number, 1 or more.")
        _check_normalisation(self.normalise)

    @property
    def name(self) -> str:
        """Readable name."""
        return f"polynomial ({self.offset:g} + x.y)^{self.degree:d}"

    def matrix(self, pairs: Pairs) -> Array:
        """Return ((a + x.y) / scale)^b: dividing before the power cannot overflow."""
        if self.normalise == "cosine":
            return _power(pairs.cosines(self.offset), self.degree)
        offset = pairs.to_scale(self.offset)
        base = offset + pairs.about_origin()[0]
        if self.normalise == "max":
            return _power(base / ((offset + pairs.max_square) or 1.0), self.degree)
        return _power(base * pairs.scale * pairs.scale, self.degree)


@dataclass(frozen=True)
class Linear:
    r"""Linear kernel :math:`K(x, y) = x^\top y`.

    Parameters
    ----------
    normalise : {"cosine", "max"} or None, default="cosine"
        As for :class:`Polynomial`.
    """

    normalise: Normalisation = "cosine"

    def __post_init__(self) -> None:
        _check_normalisation(self.normalise)

    @property
    def name(self) -> str:
        """Readable name."""
        return "linear"

    def matrix(self, pairs: Pairs) -> Array:
        """Return the polynomial kernel of offset 0 and degree 1."""
        return Polynomial(0.0, 1, self.normalise).matrix(pairs)


@dataclass(frozen=True)
class Custom:
    """Any function of two data matrices as a kernel.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the matrix of kernel values, (n_rows, n_columns), for dense or sparse samples as
        they were given: the convention of :mod:`sklearn.metrics.pairwise`.
    label : str, default=""
        Readable name; the function's own name when empty.
    """

    function: Callable[[Array, Array], Array] = field(repr=False)
    label: str = ""

    @property
    def name(self) -> str:
        """Readable name."""
        return self.label or str(getattr(self.function, "__name__", type(self.function).__name__))


@dataclass(frozen=True)
class Given:
    """A kernel whose matrix over the fitted samples is known."""

    values: Array = field(repr=False)  # (n, n)
    name: str = "given"

    def matrix(self, pairs: Pairs) -> Array:
        """Return the rows that are asked for."""
        return self.values[pairs.first_row : pairs.first_row + pairs.products.shape[0], :]


def _check_normalisation(normalise: Normalisation) -> None:
    if normalise not in ("cosine", "max", None):
        raise ValueError(f"normalise={normalise!r} is unknown; use 'cosine', 'max' or None.")


def _power(A: Array, degree: int) -> Array:
    """Return A^b by products, several times faster than the power of floating-point numbers; A^1 is A itself."""
    if degree == 1:
        return A
    if degree % 2:
        return in_place("multiply", _power(A, degree - 1), A)
    half = _power(A, degree // 2)
    return half * half if half is A else in_place("multiply", half, half)


def _unit_diagonal(K: Array, row_diagonal: Array, column_diagonal: Array) -> Array:
    """Return K_ij / sqrt(d_i d_j), with zeros where a diagonal entry is zero."""
    xp = namespace(K)
    zero = asarray_like(0.0, K)

    def inverse_root(diagonal: Array) -> Array:
        positive = diagonal > 0
        return xp.where(positive, 1 / xp.sqrt(xp.where(positive, diagonal, 1 + zero)), zero)

    return in_place("multiply", inverse_root(row_diagonal)[:, None] * inverse_root(column_diagonal)[None, :], K)
