"""Kernels over pairs of samples: what they need to know of fitted ones, and of new ones beside these."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from kernelbraid._arrays import (
    beside,
    device,
    in_double,
    in_place,
    is_finite,
    is_foreign,
    is_on_host,
    itemsize,
    namespace,
    power_of_two,
    quiet_overflow,
    row_blocks,
    row_products,
    squared_lengths,
    to_numpy,
)
from kernelbraid._typing import Array, DType, Vector
from kernelbraid.kernels.functions import Custom, Given, Kernel, Pairs
from kernelbraid.kernels.local import LocalKernel
from kernelbraid.kernels.precomputed import as_matrix, check_kernel
from kernelbraid.kernels.stacks import IN_CACHE, LazyStack

#: Samples are far from the origin where the square of their mean is so many times their mean squared distance from it:
#: a quarter of the digits of a distance would be lost.
FAR = 1e4


def pairs_of(views: Sequence[Array], place: Callable[[Array], Array] | None = None) -> list[Pairs]:
    """Return what kernels need to know about the samples of each view, where it shall be kept."""
    if place is None:
        return [pairs_within(view) for view in views]
    return [pairs_within(view if sparse.issparse(view) else place(view)).moved(place) for view in views]


def pairs_within(X: Array) -> Pairs:
    """Return what the kernels need to know about all pairs of the samples `X`."""
    X, scale = _away_from_overflow(X)
    products = row_products(X)
    xp = namespace(products)
    squares = xp.linalg.diagonal(products) + 0.0  # a view would keep all products alive
    pairs = Pairs(products, squares, squares, max_square=float(xp.max(squares)), max_distance=0.0, scale=scale)
    if _is_far(X, squares):
        del products
        pairs = about_mean(replace(pairs, is_far=True), X, X)
    share = IN_CACHE if is_on_host(squares) else 1.0
    blocks = (pairs.below(rows).squared_distances() for rows in row_blocks(X.shape[0], share))
    return replace(pairs, max_distance=max(float(xp.max(block)) for block in blocks))


def about_mean(pairs: Pairs, rows: Array, columns: Array) -> Pairs:
    """Return what is known of samples that are far from the origin, by products about the mean of the columns.

    Parameters
    ----------
    pairs : Pairs
        What is known already; products, squares and sides are replaced.
    rows, columns : array of shape (n_rows, d), (n_columns, d)
        Scaled samples; the columns are the fitted ones.
    """
    xp = namespace(columns)
    mean = xp.mean(columns, axis=0)
    half = xp.sum(mean * mean) / 2
    C = columns - mean
    R = C if rows is columns else rows - mean
    products = row_products(C) if rows is columns else R @ C.T
    squares = [squared_lengths(A) for A in (R, C)]
    sides = [A @ mean + half for A in (R, C)]
    return replace(
        pairs,
        products=products,
        row_squares=squares[0],
        column_squares=squares[1],
        row_sides=sides[0],
        column_sides=sides[1],
    )


def _is_far(X: Array, squares: Array) -> bool:
    """Tell whether samples of these squares are far from the origin; sparse ones have zeros, and are not."""
    if sparse.issparse(X):
        return False
    xp = namespace(X)
    mean = xp.mean(X, axis=0)
    square = float(xp.sum(mean * mean))
    return square > 0 and float(xp.mean(squares)) - square < square / FAR


def _away_from_overflow(X: Array) -> tuple[Array, float]:
    """Return X in float64, divided by a power of two if its inner products might overflow or underflow.

    A power of two changes no digit, and the normalised kernels do not depend on it.
    """
    X = in_double(X)
    values = X.data if sparse.issparse(X) else X
    xp = namespace(values)
    scale = power_of_two(float(xp.max(xp.abs(values))) if values.shape[0] else 0.0)
    return (X, 1.0) if scale == 1.0 else (X / scale, scale)


def stack_pairs(
    views: Sequence[Array],
    banks: Sequence[Sequence[Kernel | Custom]],
    pairs: Sequence[Pairs],
    *,
    dtype: DType = None,
    place: Callable[[Array], Array] | None = None,
) -> LazyStack:
    """Return a bank per view over samples whose inner products are known, so that several banks share them."""
    xp = namespace(*views)
    if dtype is None:
        dtype = xp.float32 if all(view.dtype == xp.float32 for view in views) else xp.float64
    bound = [_bind(bank, view, of) for of, view, bank in zip(pairs, views, banks, strict=True)]
    if place is not None:
        bound = [[_move(kernel, place) for kernel in kernels] for kernels in bound]
        dtype = getattr(namespace(pairs[0].products), "float32" if itemsize(dtype) == 4 else "float64")
    return LazyStack(list(zip(pairs, bound, strict=True)), dtype)


def n_matrices(bank: Sequence[Kernel | Custom]) -> int:
    """Return how many matrices of n x n the kernels of a bank keep for themselves."""
    return sum(
        1 if isinstance(kernel, Custom) else kernel.n_matrices if isinstance(kernel, LocalKernel) else 0
        for kernel in bank
    )


@dataclass(frozen=True)
class FittedBank:
    """Kernels with the samples they were fitted on: what is needed for kernel values of new samples."""

    views: list[Array]  # fitted samples
    banks: list[list[Kernel | Custom]]
    pairs: list[Pairs]  # of the fitted samples, without their inner products

    @classmethod
    def of(cls, views: list[Array], banks: list[list[Kernel | Custom]], stack: LazyStack) -> "FittedBank":
        """Keep the samples, and what the kernels took from them."""
        nothing = np.empty((0, 0))
        bound = [
            [
                asked if isinstance(asked, Custom) else _beside(kernel, view)
                for asked, kernel in zip(bank, kernels, strict=True)
            ]
            for view, bank, (_, kernels) in zip(views, banks, stack.views, strict=True)
        ]
        kept = [replace(pairs, products=nothing, row_sides=None, column_sides=None) for pairs, _ in stack.views]
        return cls(views, bound, kept)

    def within(self, weights: Vector) -> Array:
        """Return sum_i w_i H_i between the fitted samples, formed anew."""
        return stack_pairs(self.views, self.banks, pairs_of(self.views)).combine(weights)

    def distances(self) -> Iterator[Array]:
        """Yield the squared distances of blocks of fitted samples to all, each view in units of its largest, summed."""
        every = pairs_of(self.views)
        for rows in row_blocks(self.views[0].shape[0]):
            with quiet_overflow():
                total = sum(pairs.rows(rows).squared_distances() / (pairs.max_distance or 1.0) for pairs in every)
            yield total

    def cross(self, views: list[Array], weights: Vector) -> Array:
        """Return sum_i w_i H_i between new samples (rows) and fitted ones (columns)."""
        widths, known = [view.shape[1] for view in views], [view.shape[1] for view in self.views]
        if widths != known:
            raise ValueError(f"the views of X have {widths} features; those of the fit had {known}.")
        total: Array = None
        left = iter(weights)
        for view, fitted, bank, of_fitted in zip(views, self.views, self.banks, self.pairs, strict=True):
            new = _like(view, fitted)
            with quiet_overflow():
                pairs = _pairs_between(new, fitted, of_fitted)
                for kernel in bank:
                    values = _custom(kernel, new, fitted) if isinstance(kernel, Custom) else kernel.matrix(pairs)
                    weighted = _like(values, pairs.products) * float(next(left))
                    total = weighted if total is None else in_place("add", total, weighted)
        if not is_finite(total):
            raise ValueError("the kernels overflow on X; give samples in the scale of the fitted ones.")
        return total


def _beside(kernel: Kernel, fitted: Array) -> Kernel:
    """Return a kernel with what it keeps of the fitted samples where these are; a fit may have moved it to a device."""
    return kernel.moved(partial(_like, fitted=fitted)) if isinstance(kernel, LocalKernel) else kernel


def _custom(kernel: Custom, new: Array, fitted: Array) -> Array:
    """Return what a user's function gives for new and fitted samples, or say that its shape is wrong."""
    values = as_matrix(kernel.function(new, fitted), f"the kernel function {kernel.name!r}")
    wanted = (new.shape[0], fitted.shape[0])
    if tuple(values.shape) != wanted:
        raise ValueError(f"the kernel function {kernel.name!r} gave shape {tuple(values.shape)}; {wanted} is needed.")
    return values


def _like(A: Array, fitted: Array) -> Array:
    """Return an array in the library and on the device of another; sparse matrices belong to NumPy."""
    if is_foreign(fitted):
        dense = A.toarray() if sparse.issparse(A) else A
        return namespace(fitted).asarray(dense if is_foreign(dense) else np.asarray(dense), device=device(fitted))
    return to_numpy(A) if is_foreign(A) else A


def _pairs_between(new: Array, fitted: Array, pairs: Pairs) -> Pairs:
    """Return what the kernels need to know about new and fitted samples, in the scale of the fitted ones."""
    new, fitted = (in_double(A) if pairs.scale == 1.0 else in_double(A) / pairs.scale for A in (new, fitted))
    if pairs.is_far:
        return about_mean(replace(pairs, new=True), new, fitted)
    products = new @ fitted.T
    if sparse.issparse(products):
        products = products.toarray()
    return replace(
        pairs, products=products, row_squares=squared_lengths(new), column_squares=squared_lengths(fitted), new=True
    )


def _bind(bank: Sequence[Kernel | Custom], X: Array, pairs: Pairs) -> list[Kernel]:
    """Let local kernels see the samples, and evaluate the user's functions on them; the rest stays lazy."""

    def bound(kernel: Kernel | Custom) -> Kernel:
        if isinstance(kernel, Custom):
            K = check_kernel(kernel.function(X, X), f"the kernel function {kernel.name!r}", X.shape[0])
            return Given(beside(K, X) if not is_foreign(K) else K, kernel.name)
        return kernel.bind(pairs) if isinstance(kernel, LocalKernel) else kernel

    return [bound(kernel) for kernel in bank]


def _move(kernel: Kernel, place: Callable[[Array], Array]) -> Kernel:
    return Given(place(kernel.values), kernel.name) if isinstance(kernel, Given) else kernel
