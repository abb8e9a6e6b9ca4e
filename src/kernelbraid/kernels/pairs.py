"""What kernels need to know about the pairs of samples: inner products, lengths, the largest distance."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from kernelbraid._arrays import namespace, power_of_two, row_blocks, row_products
from kernelbraid._typing import Array
from kernelbraid.kernels.functions import Pairs


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
    blocks = (pairs.rows(rows).squared_distances() for rows in row_blocks(X.shape[0]))
    return replace(pairs, max_distance=max(float(xp.max(block)) for block in blocks))


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
