"""What kernels need to know about the pairs of samples: inner products, lengths, the largest distance."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from kernelbraid._arrays import namespace, power_of_two, row_blocks, row_products
from kernelbraid._typing import Array
from kernelbraid.kernels.functions import Pairs

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
    blocks = (pairs.rows(rows).squared_distances() for rows in row_blocks(X.shape[0]))
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
    squares = [xp.sum(A * A, axis=1) for A in (R, C)]
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
    if sparse.issparse(X):
        X = X.astype(np.float64)
        largest = float(abs(X.data).max()) if X.nnz else 0.0
    else:
        xp = namespace(X)
        X = xp.astype(X, xp.float64)
        largest = float(xp.max(xp.abs(X)))
    scale = power_of_two(largest)
    return (X, 1.0) if scale == 1.0 else (X / scale, scale)
