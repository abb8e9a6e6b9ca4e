"""Kernels with the samples they were fitted on, for new samples."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from kernelbraid._arrays import device, in_place, is_finite, is_foreign, namespace, quiet_overflow, row_blocks, to_numpy
from kernelbraid._typing import Array
from kernelbraid.kernels.banks import stack_pairs
from kernelbraid.kernels.functions import Custom, Kernel, Pairs
from kernelbraid.kernels.local import LocalKernel
from kernelbraid.kernels.pairs import about_mean, pairs_of
from kernelbraid.kernels.precomputed import as_matrix
from kernelbraid.kernels.stacks import LazyStack, Vector


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
            yield _summed_distances([pairs.rows(rows) for pairs in every])

    def cross(self, views: list[Array], weights: Vector) -> Array:
        """Return sum_i w_i H_i between new samples (rows) and fitted ones (columns)."""
        return _combine(self._between(views), weights)

    def cross_and_distances(self, views: list[Array], weights: Vector) -> tuple[Array, Array]:
        """Return the same and, from the same products, the squared distances, each view in units of its largest."""
        between = list(self._between(views))
        return _combine(between, weights), _summed_distances([pairs for *_, pairs in between])

    def _between(self, views: list[Array]) -> Iterator[tuple[list[Kernel | Custom], Array, Array, Pairs]]:
        """Yield for each view its kernels, the new samples, the fitted ones, and what is known of their pairs."""
        widths, known = [view.shape[1] for view in views], [view.shape[1] for view in self.views]
        if widths != known:
            raise ValueError(f"the views of X have {widths} features; those of the fit had {known}.")
        for view, fitted, bank, pairs in zip(views, self.views, self.banks, self.pairs, strict=True):
            new = _like(view, fitted)
            with quiet_overflow():
                between = _pairs_between(new, fitted, pairs)
            yield bank, new, fitted, between


def _combine(between: Iterable[tuple[list[Kernel | Custom], Array, Array, Pairs]], weights: Vector) -> Array:
    """Return the weighted sum of the kernels of all views, which must not overflow."""
    total: Array = None
    left = iter(weights)
    for bank, new, fitted, pairs in between:
        with quiet_overflow():
            for kernel in bank:
                values = _custom(kernel, new, fitted) if isinstance(kernel, Custom) else kernel.matrix(pairs)
                weighted = _like(values, pairs.products) * float(next(left))
                total = weighted if total is None else in_place("add", total, weighted)
    if not is_finite(total):
        raise ValueError("the kernels overflow on X; give samples in the scale of the fitted ones.")
    return total


def _summed_distances(every: Sequence[Pairs]) -> Array:
    """Return the squared distances in all views, each in units of the largest between fitted samples."""
    total: Array = 0.0
    with quiet_overflow():
        for pairs in every:
            total = total + pairs.squared_distances() / (pairs.max_distance or 1.0)
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
    new, fitted = (_double(A) if pairs.scale == 1.0 else _double(A) / pairs.scale for A in (new, fitted))
    if pairs.is_far:
        return about_mean(replace(pairs, new=True), new, fitted)
    products = new @ fitted.T
    if sparse.issparse(products):
        products = products.toarray()
    return replace(pairs, products=products, row_squares=_squares(new), column_squares=_squares(fitted), new=True)


def _double(X: Array) -> Array:
    return X.astype(np.float64) if sparse.issparse(X) else namespace(X).astype(X, namespace(X).float64)


def _squares(X: Array) -> Array:
    """Return the squared lengths of the rows."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
    return namespace(X).sum(X * X, axis=1)
