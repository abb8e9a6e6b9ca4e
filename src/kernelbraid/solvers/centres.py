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
Flags: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = NDArray[np.float64]

# Share of changed centres above which all distances are formed anew: to pick single ones costs time as well.
MOST = 0.6


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


def moved_centres(sums: Array, counts: Labels, before: Array) -> Array:
    """Return the means of clusters from their sums and sizes, (k, d); an empty one keeps the centre it had."""
    shares = sparse.diags_array(1.0 / np.maximum(counts, 1))
    empty = sparse.diags_array((counts == 0).astype(float))
    return shares @ sums + empty @ before


def smallest(D: Array) -> tuple[Labels, Matrix]:
    """Return the first of the smallest elements along the second of three axes, and their values, (runs, n) each."""
    if is_foreign(D):
        xp = namespace(D)
        return to_numpy(xp.argmin(D, axis=1)).astype(np.int64), to_numpy(xp.min(D, axis=1)).astype(float)
    values = D.min(axis=1)
    # NumPy's argmin would copy the whole array to have the axis last. Numbers that fall along it, in as few bytes as
    # they need, find the first of the smallest; where nothing can be compared they are 0.
    k = D.shape[1]
    falling = np.arange(k, 0, -1, dtype=np.min_scalar_type(k))
    first = ((values[:, None, :] == D) * falling[:, None]).max(axis=1)
    return (k - first.astype(np.int64)) % k, values.astype(float, copy=False)


@dataclass(frozen=True)
class Clusters:
    """The clusters of a batch of runs; their weighted means are the centres, numbered run after run."""

    labels: Labels  # (runs, n), -1 for a sample that belongs to no cluster
    k: int  # clusters in each run
    shares: Matrix | None = None  # weights of the samples in the means, (runs, n); None if all count alike
    spaces: Labels | None = None  # how many of the runs, in their order, are in each of several spaces; None for one

    @classmethod
    def of(cls, starts: Labels, k: int, n: int) -> "Clusters":
        """Return the clusters of partitions, (runs, n), or around samples as centres, (runs, k)."""
        return cls(starts, k) if starts.shape[1] == n and n != k else cls.around(starts, n)

    @classmethod
    def around(cls, starts: Labels, n: int) -> "Clusters":
        """Return clusters of one sample each, (runs, k): samples as centres."""
        n_runs, k = starts.shape
        labels = np.full((n_runs, n), -1, dtype=np.int64)
        np.put_along_axis(labels, starts, np.arange(k)[None, :], axis=1)
        return cls(labels, k)

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.labels.shape[0])

    @cached_property
    def sizes(self) -> Labels:
        """Numbers of members, (runs, k), where every sample is in a cluster."""
        return np.bincount(self._numbers.ravel(), minlength=self.n_runs * self.k).reshape(-1, self.k)

    def only(self, runs: Host | list[np.int64]) -> "Clusters":
        """Return the clusters of some of the runs."""
        shares = None if self.shares is None else self.shares[runs]
        return Clusters(self.labels[runs], self.k, shares, self._spaces_of(runs))

    def with_labels(self, labels: Labels, shares: Matrix | None = None) -> "Clusters":
        """Return other clusters of the same runs."""
        return Clusters(labels, self.k, shares, self.spaces)

    def by_space(self, chosen: Flags | None = None) -> Labels:
        """Return how many of the chosen centres, all by default, are in each of several spaces."""
        assert self.spaces is not None  # asked by those alone who have several
        owners = np.repeat(np.arange(self.spaces.shape[0]), self.spaces * self.k)
        return np.bincount(owners if chosen is None else owners[chosen], minlength=self.spaces.shape[0])

    def changed_since(self, before: "Clusters") -> Flags:
        """Return which clusters have other members, or other weights of them, than before, (runs k,)."""
        if before.shares is not self.shares:  # a sample's weight depends on its place, which hardly ever stays
            return np.ones(self.n_runs * self.k, dtype=bool)
        changed = np.zeros(self.n_runs * self.k, dtype=bool)
        moved = self.labels != before.labels
        for side in (self, before):
            changed[side._numbers[moved & (side.labels >= 0)]] = True
        return changed

    def weights(self, chosen: Flags | None = None) -> sparse.csc_array:
        """Return V, (chosen, n): the chosen centres, all by default, as weighted means of samples, a sparse matrix.

        An empty cluster has a row of zeros. In several spaces the samples of each have columns of their own.
        """
        numbers, member = self._numbers, self.labels >= 0
        if chosen is not None:
            member &= chosen[numbers]
        places = np.flatnonzero(self._columns(member))  # column after column, as the sparse matrix wants them
        rows = self._columns(numbers)[places]
        counts = np.concatenate([member[runs].sum(axis=0) for runs in self._runs_by_space()])
        starts = np.concatenate([[0], np.cumsum(counts)])
        if self.shares is None:
            values = (1 / np.maximum(np.bincount(rows), 1))[rows]
        else:
            shares = self._columns(self.shares)[places]
            values = shares / np.bincount(rows, shares)[rows]
        count = self.n_runs * self.k
        if chosen is not None:  # their places among the chosen
            count, rows = int(np.count_nonzero(chosen)), (np.cumsum(chosen) - 1)[rows]
        shape = (count, counts.shape[0])
        return sparse.csc_array((values, rows.astype(np.int32), starts.astype(np.int32)), shape=shape)

    def _runs_by_space(self) -> list[slice]:
        """Return the runs of each space."""
        if self.spaces is None:
            return [slice(None)]
        ends = np.cumsum(self.spaces).tolist()
        return [slice(end - count, end) for end, count in zip(ends, self.spaces.tolist(), strict=True)]

    def _columns(self, A: Host) -> Host:
        """Return an array of the runs, (runs, n), sample after sample, space after space."""
        parts = [A[runs].T.ravel() for runs in self._runs_by_space()]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _spaces_of(self, runs: Host | list[np.int64]) -> Labels | None:
        """Return how many of some of the runs are in each space."""
        if self.spaces is None:
            return None
        count = self.spaces.shape[0]
        return np.bincount(np.repeat(np.arange(count), self.spaces)[runs], minlength=count)

    def weights_like(self, like: Array) -> Array:
        """Return V, (runs k, n), of all centres as a dense array like another, formed where that one is."""
        xp, where = namespace(like), device(like)
        numbers = xp.arange(self.k, dtype=xp.int64, device=where)
        labels = xp.asarray(np.ascontiguousarray(self.labels), device=where)
        V = xp.astype(labels[:, None, :] == numbers[None, :, None], like.dtype)
        if self.shares is not None:
            V = V * asarray_like(self.shares, like)[:, None, :]
        totals = xp.sum(V, axis=2, keepdims=True)
        V /= xp.where(totals > 0, totals, asarray_like(1.0, like))
        return xp.reshape(V, (-1, self.labels.shape[1]))

    @cached_property
    def _numbers(self) -> Labels:
        """The cluster of each sample among those of all runs, (runs, n); meaningless where there is none."""
        return self.labels + self.k * np.arange(self.n_runs)[:, None]


class Space(Protocol):
    """Samples in one or several feature spaces at once."""

    @property
    def squares(self) -> Array:
        """Squared lengths of the samples, (m, n)."""

    def distances(self, V: sparse.csc_array, by_space: Labels | None = None) -> Array:
        """Return squared distances to the centres sum_j V_cj x_j, (m, c, n) for V (c, n).

        Where the samples are NumPy arrays, V may be a sparse matrix. `by_space` has the numbers of centres in each of
        several spaces, where there are several.
        """


@dataclass(frozen=True)
class FeatureSpace:
    """Samples given by their coordinates."""

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

    def distances(self, V: sparse.csc_array, by_space: Labels | None = None) -> Array:
        """Return squared distances, (1, c, n)."""
        return self.to(V @ self.X)[None, ...]

    def to(self, centres: Array) -> Array:
        """Return squared distances to centres given by their coordinates, (c, n), in the precision of the samples."""
        xp = namespace(self.X)
        centres = xp.astype(centres, self.X.dtype, copy=False)
        lengths = xp.sum(centres * centres, axis=1, keepdims=True)
        return xp.concat([-2 * centres, lengths, xp.ones_like(lengths)], axis=1) @ self._wide.T


@dataclass(frozen=True)
class FeatureSpaces:
    """The same samples in several spaces of equal dimension, each with runs of its own; NumPy arrays."""

    spaces: list[FeatureSpace]

    @cached_property
    def squares(self) -> Array:
        """Squared lengths of the samples, the largest in any space, (1, n)."""
        return np.max([space.squares for space in self.spaces], axis=0)

    @cached_property
    def _stacked(self) -> Array:
        return np.concatenate([space.X for space in self.spaces])

    def distances(self, V: sparse.csc_array, by_space: Labels | None = None) -> Array:
        """Return squared distances, (1, c, n), of every centre in its own space."""
        assert by_space is not None  # the runs know their spaces
        centres = V @ self._stacked
        D = np.empty((1, V.shape[0], self.squares.shape[1]), dtype=self.squares.dtype)
        ends = np.cumsum(by_space).tolist()
        for space, end, count in zip(self.spaces, ends, by_space.tolist(), strict=True):
            if count:
                D[0, end - count : end, :] = space.to(centres[end - count : end, :])
        return D


class Distances:
    """Squared distances to the centres of a batch of runs while these move.

    In the memory of the CPU, distances to centres that stay are kept: after the first steps most of them do.

    Parameters
    ----------
    space : Space
        The samples.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._clusters: Clusters | None = None  # of the last call
        self._kept: Array = None  # (m, runs k, n)

    def to(self, clusters: Clusters) -> Array:
        """Return the distances to the centres, (m, runs, k, n); the next call may change them."""
        m, n = self._space.squares.shape
        shape = (m, clusters.n_runs, clusters.k, n)
        if is_foreign(self._space.squares):
            D = self._space.distances(clusters.weights_like(self._space.squares))
            return namespace(D).reshape(D, shape)
        self._move(clusters)
        return self._kept.reshape(shape)

    def keep(self, runs: Flags) -> None:
        """Forget the other runs, which have ended."""
        if self._clusters is None or runs.all():
            return
        self._kept = self._kept[:, np.repeat(runs, self._clusters.k), :]
        self._clusters = self._clusters.only(runs)

    def _move(self, clusters: Clusters) -> None:
        """Form the distances to centres that were elsewhere before."""
        changed = None if self._clusters is None else clusters.changed_since(self._clusters)
        if changed is None or np.count_nonzero(changed) > MOST * changed.size:
            self._kept = self._distances(clusters, None)
        elif changed.any():
            self._kept[:, changed, :] = self._distances(clusters, changed)
        self._clusters = clusters

    def _distances(self, clusters: Clusters, chosen: Flags | None) -> Array:
        by_space = None if clusters.spaces is None else clusters.by_space(chosen)
        return self._space.distances(clusters.weights(chosen), by_space)
