"""k-means with many restarts at once: Lloyd's iteration as matrix products over a batch of starts."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kernelbraid._arrays import asarray_like, device, namespace, to_numpy
from kernelbraid._typing import Array

Labels: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

# Restarts run together while their distances, (restarts, n, k), stay below this many numbers.
BATCH_SIZE = 4_000_000
# Squared distance, in units of the type's precision and the largest squared length, at which a point leaves its centre.
COINCIDENT = 1e4


@dataclass(frozen=True)
class Clustering:
    """The best of several runs of k-means."""

    labels: Labels  # (n,), values 0 .. k - 1
    inertia: float  # sum of squared distances to the centres
    n_iter: int  # Lloyd steps of the best run


def kmeans(
    X: Array, n_clusters: int, *, n_init: int, random_state: np.random.RandomState, max_iter: int = 100
) -> Clustering:
    """Cluster rows: the run of lowest inertia among `n_init` runs from random samples as centres.

    Parameters
    ----------
    X : array of shape (n, d)
        Points.
    n_clusters : int
        k, at most n.
    n_init : int
        Number of starts.
    random_state : numpy.random.RandomState
        Draws the starting samples, always on the host, so that every backend starts alike.
    max_iter : int, default=100
        Largest number of Lloyd steps in a run.

    Returns
    -------
    Clustering
        A cluster that runs empty is refilled with the point that fits its centre worst; fewer than k labels mean
        that the points (nearly) coincide with fewer than k centres.
    """
    n = X.shape[0]
    starts = np.argsort(random_state.random_sample((n_init, n)), axis=1, kind="stable")[:, :n_clusters]
    size = max(1, BATCH_SIZE // (n * n_clusters))
    runs = [_lloyd(X, starts[i : i + size], max_iter) for i in range(0, n_init, size)]
    return min(runs, key=lambda run: run.inertia)


def _lloyd(X: Array, starts: Labels, max_iter: int) -> Clustering:
    """Run Lloyd's iteration from a batch of starts, (restarts, k) sample indices, and return the best run."""
    xp = namespace(X)
    n_starts, k = starts.shape
    where = device(X)
    squares = xp.sum(X * X, axis=1)
    unit = (float(xp.max(squares)) or 1.0) * (COINCIDENT * float(xp.finfo(X.dtype).eps))
    centres = xp.reshape(xp.take(X, xp.asarray(starts.reshape(-1), device=where), axis=0), (n_starts, k, X.shape[1]))
    labels = np.full((n_starts, X.shape[0]), -1, dtype=np.int64)
    inertia = np.full(n_starts, np.inf)
    n_iter = np.zeros(n_starts, dtype=int)
    active = np.arange(n_starts)
    for _ in range(max_iter):
        batch = centres if active.shape[0] == n_starts else xp.take(centres, xp.asarray(active, device=where), axis=0)
        distances = squares[None, :, None] + _relative_distances(X, batch)
        new = to_numpy(xp.argmin(distances, axis=2)).astype(np.int64)
        nearest = to_numpy(xp.min(distances, axis=2))
        new = np.stack([refill(run, misfit / unit, k) for run, misfit in zip(new, nearest, strict=True)])
        inertia[active] = np.maximum(nearest, 0).sum(axis=1)
        n_iter[active] += 1
        moving = (new != labels[active]).any(axis=1)
        labels[active] = new
        active = active[moving]
        if active.shape[0] == 0:
            break
        means = _means(X, new[moving], k)
        for position, run in enumerate(active):
            centres[int(run), ...] = means[position, ...]
    best = int(np.argmin(inertia))
    return Clustering(labels[best], float(inertia[best]), int(n_iter[best]))


def _relative_distances(X: Array, centres: Array) -> Array:
    """Return ||c||^2 - 2 x.c for a batch of centres, (restarts, n, k): squared distances less ||x||^2."""
    xp = namespace(X)
    n_starts, k, d = centres.shape
    products = xp.reshape(X @ xp.reshape(centres, (n_starts * k, d)).T, (X.shape[0], n_starts, k))
    return xp.sum(centres * centres, axis=2)[:, None, :] - 2 * xp.permute_dims(products, (1, 0, 2))


def _means(X: Array, labels: Labels, k: int) -> Array:
    """Return the means of the clusters, (restarts, k, d); the origin for an empty one."""
    xp = namespace(X)
    member = labels[:, None, :] == np.arange(k)[None, :, None]  # (restarts, k, n)
    member_of = asarray_like(member, X)
    counts = asarray_like(np.maximum(member.sum(axis=2, keepdims=True), 1), X)
    n_starts, _, n = member.shape
    return xp.reshape(xp.reshape(member_of, (n_starts * k, n)) @ X, (n_starts, k, X.shape[1])) / counts


def refill(labels: Labels, misfit: np.ndarray[Any, Any], k: int) -> Labels:
    """Give every empty cluster the point of largest misfit whose own cluster keeps another point.

    Points with a misfit up to 1 sit on their centre and stay: splitting copies of one point would make up a cluster.
    """
    counts = np.bincount(labels, minlength=k)
    if counts.all():
        return labels
    labels = labels.copy()
    worst_first = iter(np.argsort(-misfit, kind="stable")[: np.count_nonzero(misfit > 1)])
    for empty in np.flatnonzero(counts == 0):
        for point in worst_first:
            if counts[labels[point]] > 1:
                counts[labels[point]] -= 1
                labels[point] = empty
                break
    return labels


def separate(labels: Labels, n_clusters: int, same: Labels) -> Labels:
    """Number the clusters in order of appearance, splitting off distinct samples until there are `n_clusters` of them.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels; some clusters may hold copies of one point only.
    n_clusters : int
        Number of clusters wanted.
    same : ndarray of shape (n,)
        Identities of the samples: equal numbers for equal samples.

    Returns
    -------
    ndarray of shape (n,)
        Exactly `n_clusters` labels, fewer only if there are fewer distinct samples.
    """
    labels = _in_order_of_appearance(labels)
    found = int(labels.max()) + 1
    while found < n_clusters:
        kinds = [np.unique(same[labels == cluster]) for cluster in range(found)]
        largest = max(range(found), key=lambda cluster: kinds[cluster].shape[0])
        if kinds[largest].shape[0] == 1:
            break
        labels[(labels == largest) & (same == kinds[largest][-1])] = found
        found += 1
    return _in_order_of_appearance(labels)


def _in_order_of_appearance(labels: Labels) -> Labels:
    """Number labels so that equal partitions get equal labels."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int64)[inverse]
