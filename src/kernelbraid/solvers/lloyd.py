"""Lloyd's iteration with many restarts at once, as matrix products over a batch of starts.

One iteration serves all variants. They differ in the space, which knows the distances to weighted means of samples
(coordinates here, kernels in `kernel_kmeans`); in the weights of the samples, which are equal or robust; and in the
weights of the kernels, which are fixed or learned. Everything that assigns samples to centres, in memory or in blocks,
in coordinates or under kernels, uses the same pieces.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernelbraid._arrays import (
    as_dense,
    asarray_like,
    device,
    in_place,
    is_foreign,
    namespace,
    squared_lengths,
    to_numpy,
)
from kernelbraid._typing import Array, Host, Labels, Matrix
from kernelbraid.ops.closed_forms import power_weights

# Squared distance, relative to the squared lengths, below which a sample is a copy of another one: rounding.
COPY = 1e-14
# Restarts run together while their distances, (kernels, restarts, n, k), stay below this many numbers.
BATCH_SIZE = 4_000_000
# Squared distance, in units of the type's precision and the largest squared length, at which a point leaves its centre.
COINCIDENT = 1e4
# Squared distance, relative to the largest squared length, below which robust distances count by their squares
# (Huber's function): the weight of a sample on its centre would have no bounds.
ON_CENTRE = 1e-14
# Relative difference of the results of runs that found the same clusters.
TIED = 1e-9


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
        distances: Matrix = sums - 2 * as_dense(self.X[rows] @ self.X.T)
        distances *= distances > COPY * sums
        return distances[None, ...]


@dataclass(frozen=True)
class Rule:
    """What is minimised, and when to stop."""

    robust: bool = False  # sum of distances instead of squared ones
    exponent: float | None = None  # gamma of learned kernel weights, sum_k a_k^gamma = 1; None: the sum of all kernels
    unused: NDArray[np.bool_] | None = None  # kernels that must not be used, (m,)
    by_distance: bool = False  # choose among runs by the sum of distances, which forgives a few far samples
    max_iter: int = 100
    tol: float = 0.0  # relative decrease of the objective, beside unchanged labels, at which a robust run ends

    def cost(self, squared: Matrix, scale: Matrix) -> Matrix:
        """Return what samples at these squared distances add to the objective, (runs, n)."""
        squared = np.maximum(squared, 0.0)
        if not self.robust:
            return squared
        least = np.sqrt(ON_CENTRE * scale[:, None])
        distances = np.sqrt(squared)
        return np.where(distances > least, distances - least / 2, squared / (2 * np.where(least > 0, least, 1.0)))

    def sample_weights(self, squared: Matrix, scale: Matrix) -> Matrix:
        """Return the weights of the samples in the means, (runs, n): 1 / (2 distance) if robust."""
        if not self.robust:
            return np.ones_like(squared)
        least = np.where(scale > 0, ON_CENTRE * scale, 1.0)[:, None]
        return np.asarray(0.5 / np.sqrt(np.maximum(squared, least)))

    def kernel_weights(self, costs: Matrix) -> Matrix:
        """Return the weights of the kernels, (..., m), from their costs."""
        if self.exponent is None:
            return np.ones_like(costs)
        return power_weights(costs if self.unused is None else np.where(self.unused, np.inf, costs), self.exponent)


@dataclass(frozen=True)
class Clustering:
    """The best of several runs of k-means."""

    labels: Labels  # (n,), values 0 .. k - 1
    inertia: float  # the objective at the end: sum of squared distances, or of distances if robust
    merit: float  # what runs are compared by
    n_iter: int  # Lloyd steps of the best run
    clusters: Clusters  # to whose means the labels belong
    kernel_weights: Matrix  # a, (m,)
    objective: Matrix  # value after every step
    converged: bool
    centres: Array = None  # V, (k, n): these means as weights of the samples; of the best run alone


def best_of(space: Space, starts: Labels, k: int, rule: Rule) -> Clustering:
    """Return the best of the runs from all starts; for the arguments see :func:`descend`."""
    runs = descend(space, starts, k, rule)
    best = runs[_lowest([run.merit for run in runs])]
    V = best.clusters.weights(space.squares)
    return replace(best, centres=asarray_like(V.toarray(), space.squares) if sparse.issparse(V) else V)


def descend(space: Space, starts: Labels, k: int, rule: Rule) -> list[Clustering]:
    """Return where Lloyd's iteration ends from all starts, in batches that bound the memory.

    Parameters
    ----------
    space : Space
        The samples.
    starts : ndarray of shape (n_init, k) or (n_init, n)
        Samples as centres, or labels of all samples.
    k : int
        Number of clusters.
    rule : Rule
        Objective and end.
    """
    m, n = space.squares.shape
    size = max(1, BATCH_SIZE // (m * n * k))
    batches = (Clusters.of(starts[i : i + size], k, n) for i in range(0, len(starts), size))
    return [run for batch in batches for run in _descend(space, batch, rule)]


def _descend(space: Space, clusters: Clusters, rule: Rule) -> list[Clustering]:
    """Run Lloyd's iteration from the means of a batch of clusters.

    A step takes the distances to the centres under every kernel, weighs the kernels by what the clusters cost under
    them, assigns the samples, and forms the centres anew. Each of the four lowers the objective.
    """
    lengths = np.maximum(to_numpy(space.squares), 0.0).astype(float)
    xp, (m, n) = namespace(space.squares), lengths.shape
    precision = COINCIDENT * float(xp.finfo(space.squares.dtype).eps)
    active = np.arange(len(clusters.labels))
    weights = np.tile(rule.kernel_weights(np.ones(m)), (len(active), 1))
    trace = np.full((len(active), rule.max_iter), np.inf)
    ends: dict[int, Clustering] = {}
    for step in range(rule.max_iter):
        D = xp.reshape(space.distances(clusters.weights(space.squares)), (m, len(active), clusters.k, n))
        if rule.exponent is not None:
            weights = rule.kernel_weights(_costs(D, clusters)) if step > 0 else weights
            D = D * asarray_like(weights.T[:, :, None, None], D)
        scale = (weights @ lengths).max(axis=1)
        labels, nearest = _smallest(over_kernels(D))
        misfits = nearest / np.where(scale > 0, scale, 1.0)[:, None] / precision
        labels = np.stack([refill(own, misfit, clusters.k) for own, misfit in zip(labels, misfits, strict=True)])
        inertia = trace[active, step] = rule.cost(nearest, scale).sum(axis=1)
        merit = np.sqrt(np.maximum(nearest, 0)).sum(axis=1) if rule.by_distance else inertia
        moving = (labels != clusters.labels).any(axis=1) | (step == 0)
        if rule.robust:  # the first weights show in the third step
            moving |= (step < 2) | (trace[active, step - 1] - inertia > rule.tol * inertia)
        last = step == rule.max_iter - 1
        for i in np.flatnonzero(~moving | last):
            mine = labels[i].copy(), float(inertia[i]), float(merit[i]), step + 1, clusters.only([i]), weights[i]
            ends[int(active[i])] = Clustering(*mine, trace[active[i], : step + 1], not moving[i])
        if last or not moving.any():
            break
        # At first, samples are centres: robust weights would keep them there.
        shares = rule.sample_weights(nearest, scale) if rule.robust and step > 0 else None
        clusters = Clusters(labels, clusters.k, shares).only(moving)
        active, weights = active[moving], weights[moving]
    return [ends[run] for run in range(len(ends))]


def over_kernels(D: Array) -> Array:
    """Return the sum over the kernels; of a single one, no copy."""
    return D[0, ...] if D.shape[0] == 1 else namespace(D).sum(D, axis=0)


def _smallest(D: Array) -> tuple[Labels, Matrix]:
    """Return the first of the smallest elements along the second of three axes, and their values, (runs, n) each."""
    if is_foreign(D):
        xp = namespace(D)
        return to_numpy(xp.argmin(D, axis=1)).astype(np.int64), to_numpy(xp.min(D, axis=1)).astype(float)
    # NumPy's argmin would copy the whole array to have the axis last. Numbers that fall along it, in as few bytes as
    # they need, find the first of the smallest; where nothing can be compared they are 0.
    values, k = D.min(axis=1), D.shape[1]
    falling = np.arange(k, 0, -1, dtype=np.min_scalar_type(k))
    first = ((values[:, None, :] == D) * falling[:, None]).max(axis=1)
    return (k - first.astype(np.int64)) % k, values.astype(float, copy=False)


def _lowest(merits: ArrayLike) -> int:
    """Return the first of the lowest values; runs that differ by rounding found the same clusters."""
    values = np.asarray(merits)
    return int(np.argmax(values <= values.min() * (1 + TIED)))


def _costs(D: Array, clusters: Clusters) -> Matrix:
    """Return what the clusters cost under every kernel: weighted squared distances to their centres, (runs, m)."""
    xp = namespace(D)
    m, n_runs, _, n = D.shape
    index = np.ascontiguousarray(np.broadcast_to(clusters.labels[None, :, None, :], (m, n_runs, 1, n)))
    own = xp.take_along_axis(D, xp.asarray(index, device=device(D)), axis=2)[:, :, 0, :]
    own = np.ascontiguousarray(to_numpy(xp.permute_dims(own, (1, 0, 2))), dtype=float)
    own = own if clusters.shares is None else own * clusters.shares[:, None, :]
    return np.asarray(np.maximum(own.sum(axis=2), 0.0))


def refill(labels: Labels, misfit: Host, k: int) -> Labels:
    """Give every empty cluster the point of largest misfit whose own cluster keeps another point.

    Points with a misfit up to 1 sit on their centre and stay: splitting copies of one point would make up a cluster.
    Of points of one cluster with the same misfit, which may be copies, the first goes; the others see a centre next.
    """
    counts = np.bincount(labels, minlength=k)
    if counts.all():
        return labels
    labels = labels.copy()
    alike = np.round(misfit / misfit.max(initial=1.0) / TIED)  # rounding must not decide which one goes
    worst_first = iter(np.argsort(-alike, kind="stable")[: np.count_nonzero(misfit > 1)])
    gone: set[tuple[int, float]] = set()
    for empty in np.flatnonzero(counts == 0):
        for point in worst_first:
            kind = int(labels[point]), float(alike[point])
            if counts[labels[point]] > 1 and kind not in gone:
                gone.add(kind)
                counts[labels[point]] -= 1
                labels[point] = empty
                break
    return labels
