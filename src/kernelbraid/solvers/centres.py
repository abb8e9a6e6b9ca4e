"""Centres of clusters: weighted means of samples, the distances to them, and the nearest of them.

Everything that assigns samples to centres, in memory or in blocks, in coordinates or under kernels, uses these pieces.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import asarray_like, device, in_place, is_foreign, namespace, to_numpy
from kernelbraid._typing import Array, Host

Labels: TypeAlias = NDArray[np.int64]
Matrix: TypeAlias = NDArray[np.float64]

# Squared distance, relative to the squared lengths, below which a sample is a copy of another one: rounding.
COPY = 1e-14


def nearest_centres(products: Array, lengths: Array) -> Labels:
    """Return the number of each sample's nearest centre, the first of several.

    Parameters
    ----------
    products : array of shape (n, k)
        Inner products of samples and centres; with NumPy, their memory is used.
    lengths : array of shape (k,)
        Squared lengths of the centres.

    Returns
    -------
    ndarray of shape (n,)
        Numbers from 0 to k - 1, in the memory of the CPU.
    """
    apart = in_place("add", in_place("multiply", products, -2.0), lengths)  # less the samples' own squared lengths
    return to_numpy(namespace(apart).argmin(apart, axis=1)).astype(np.int64, copy=False)


def inner_products(X: Array, Y: Array) -> Array:
    """Return X Y' as a dense matrix for dense or sparse X and Y."""
    products = X @ Y.T
    return products.toarray() if sparse.issparse(products) else products


def squared_lengths(X: Array) -> Array:
    """Return the squared lengths of the rows of a dense or sparse matrix."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).sum(X * X, axis=1)


def cluster_sums(X: Array, labels: Labels, k: int) -> Array:
    """Return the sums of the samples of each cluster, (k, d), sparse for sparse X."""
    n = X.shape[0]
    return sparse.csc_array((np.ones(n), labels, np.arange(n + 1)), shape=(k, n)) @ X


@dataclass(frozen=True)
class Clusters:
    """The clusters of a batch of runs; their weighted means are the centres, numbered run after run."""

    labels: Labels  # (runs, n), -1 for a sample that belongs to no cluster
    k: int  # clusters in each run
    shares: Matrix | None = None  # weights of the samples in the means, (runs, n); None if all count alike

    @classmethod
    def of(cls, starts: Labels, k: int, n: int) -> "Clusters":
        """Return the clusters of partitions, (runs, n), or of one sample each: samples as centres, (runs, k)."""
        if starts.shape[1] == n and n != k:
            return cls(starts, k)
        labels = np.full((starts.shape[0], n), -1, dtype=np.int64)
        np.put_along_axis(labels, starts, np.arange(k)[None, :], axis=1)
        return cls(labels, k)

    def only(self, runs: Host | list[np.int64]) -> "Clusters":
        """Return the clusters of some of the runs."""
        return Clusters(self.labels[runs], self.k, None if self.shares is None else self.shares[runs])

    def weights(self, like: Array) -> Array:
        """Return V, (runs k, n): the centres as weighted means of samples; an empty cluster has a row of zeros.

        A sparse matrix where samples are NumPy arrays, otherwise a dense array formed where they are.
        """
        if is_foreign(like):
            return self._dense_weights(like)
        member = self.labels.T >= 0  # column after column, as the sparse matrix wants them
        rows = (self.labels + self.k * np.arange(len(self.labels))[:, None]).T[member]
        shares = np.ones(rows.shape) if self.shares is None else self.shares.T[member]
        values = shares / np.bincount(rows, shares)[rows]
        starts = np.concatenate([[0], np.cumsum(member.sum(axis=1))])
        shape = (len(self.labels) * self.k, self.labels.shape[1])
        return sparse.csc_array((values, rows.astype(np.int32), starts.astype(np.int32)), shape=shape)

    def _dense_weights(self, like: Array) -> Array:
        xp, where = namespace(like), device(like)
        labels = xp.asarray(np.ascontiguousarray(self.labels), device=where)
        numbers = xp.arange(self.k, dtype=xp.int64, device=where)
        V = xp.astype(labels[:, None, :] == numbers[None, :, None], like.dtype)
        V = V if self.shares is None else V * asarray_like(self.shares, like)[:, None, :]
        totals = xp.sum(V, axis=2, keepdims=True)
        V /= xp.where(totals > 0, totals, asarray_like(1.0, like))
        return xp.reshape(V, (-1, self.labels.shape[1]))


class Space(Protocol):
    """Samples in one or several feature spaces at once."""

    @property
    def squares(self) -> Array:
        """Squared lengths of the samples, (m, n)."""

    def from_samples(self, rows: Labels) -> Array:
        """Return squared distances to some of the samples, (m, c, n), not negative."""


class MeanSpace(Space, Protocol):
    """The same with means of samples."""

    def distances(self, V: Array) -> Array:
        """Return squared distances to the centres sum_j V_cj x_j, (m, c, n) for V (c, n), which may be sparse."""


@dataclass(frozen=True)
class FeatureSpace:
    """Samples given by their coordinates, which may be sparse."""

    X: Array  # (n, d)

    @cached_property
    def squares(self) -> Array:
        """Squared lengths of the samples, (1, n)."""
        return squared_lengths(self.X)[None, :]

    @cached_property
    def _wide(self) -> Array:
        """Rows (x, 1, |x|^2): their products with (-2 c, |c|^2, 1) are squared distances, (n, d + 2)."""
        xp, squares = namespace(self.X), self.squares[0, :][:, None]
        return xp.concat([self.X, xp.ones_like(squares), squares], axis=1)

    def distances(self, V: Array) -> Array:
        """Return squared distances to means of samples, (1, c, n), in the precision of the samples."""
        xp = namespace(self.X)
        centres = xp.astype(V @ self.X, self.X.dtype, copy=False)
        lengths = xp.sum(centres * centres, axis=1, keepdims=True)
        return (xp.concat([-2 * centres, lengths, xp.ones_like(lengths)], axis=1) @ self._wide.T)[None, ...]

    def from_samples(self, rows: Labels) -> Matrix:
        """Return squared distances to some of the samples, (1, c, n), zero to copies; NumPy or sparse arrays."""
        sums: Matrix = self.squares[0, rows][:, None] + self.squares
        distances: Matrix = sums - 2 * inner_products(self.X[rows], self.X)
        distances *= distances > COPY * sums
        return distances[None, ...]
