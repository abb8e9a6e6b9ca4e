"""k-means with many restarts at once: Lloyd's iteration as matrix products over a batch of starts.

One iteration serves all variants. They differ in the space, which knows the distances to weighted means of samples
(coordinates here, kernels in `kernel_kmeans`); in the weights of the samples, which are equal or robust; and in the
weights of the kernels, which are fixed or learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbraid._arrays import asarray_like, device, namespace, to_numpy
from kernelbraid._typing import Array, Host
from kernelbraid.ops.weights import power_weights
from kernelbraid.solvers.centres import (
    Clusters,
    Distances,
    FeatureSpace,
    FeatureSpaces,
    Labels,
    Matrix,
    Space,
    smallest,
)

# Restarts run together while their distances, (kernels, restarts, n, k), stay below this many numbers.
BATCH_SIZE = 4_000_000
# The same for several spaces, whose distances shall stay in the cache.
TOGETHER = 500_000
# Squared distance, in units of the type's precision and the largest squared length, at which a point leaves its centre.
COINCIDENT = 1e4
# Squared distance, relative to the largest squared length, below which robust distances count by their squares
# (Huber's function): the weight of a sample on its centre would have no bounds.
ON_CENTRE = 1e-14

# Relative difference of the results of runs that found the same clusters.
TIED = 1e-9


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
    centres: Array  # V, (k, n): the centres as weighted means of the samples, to which the labels belong
    kernel_weights: Matrix  # a, (m,)
    objective: Matrix  # value after every step
    converged: bool


def kmeans(
    X: Array,
    n_clusters: int,
    *,
    n_init: int,
    random_state: np.random.RandomState,
    max_iter: int = 100,
    by_distance: bool = False,
    spread: bool = False,
) -> Clustering:
    """Cluster rows: the best among `n_init` runs from random samples as centres.

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
    by_distance : bool, default=False
        The best run is that of lowest inertia; if True, that of the lowest sum of distances, not squared.
    spread : bool, default=False
        Start from samples that are far from each other (k-means++), which finds many small clusters; they are drawn in
        NumPy whatever the backend, as the others are.

    Returns
    -------
    Clustering
        A cluster that runs empty is refilled with the point that fits its centre worst; fewer than k labels mean
        that the points (nearly) coincide with fewer than k centres.
    """
    if spread:
        starts = spread_samples(to_numpy(X).astype(np.float64), n_init, n_clusters, random_state)
    else:
        starts = random_samples(n_init, X.shape[0], n_clusters, random_state)
    return best_of(FeatureSpace(X), starts, n_clusters, Rule(max_iter=max_iter, by_distance=by_distance))


def kmeans_each(
    spaces: Sequence[Array], n_clusters: int, *, n_init: int, random_state: np.random.RandomState
) -> list[Labels]:
    """Cluster the same samples in each of several spaces, as :func:`kmeans` with spread starts does one by one.

    Parameters
    ----------
    spaces : sequence of ndarrays of shape (n, d)
        Coordinates. Small problems run together: a step of one costs more in calls than in arithmetic.
    n_clusters, n_init, random_state
        As for :func:`kmeans`.

    Returns
    -------
    list of ndarray of shape (n,)
        Labels in each space.
    """
    n, rule, found = spaces[0].shape[0], Rule(), []
    size = max(1, TOGETHER // (n_init * n * n_clusters))
    for first in range(0, len(spaces), size):
        some = [FeatureSpace(X) for X in spaces[first : first + size]]
        mine = (np.asarray(X, dtype=np.float64) for X in spaces[first : first + size])
        starts = np.concatenate([spread_samples(X, n_init, n_clusters, random_state) for X in mine])
        clusters = replace(Clusters.of(starts, n_clusters, n), spaces=np.full(len(some), n_init))
        ends = [ended for ended, _ in descend(FeatureSpaces(some), clusters, rule)]
        for at in range(0, len(ends), n_init):
            runs = ends[at : at + n_init]
            found.append(runs[_lowest([ended.merit for ended in runs])].labels)
    return found


def random_samples(n_init: int, n: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw k different samples as the centres of each start, (n_init, k)."""
    return np.argsort(random_state.random_sample((n_init, n)), axis=1, kind="stable")[:, :k]


def spread_samples(X: Host, n_init: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw the samples of each start far from each other, (n_init, k): the best of a few draws of k-means++ each time.

    Of the 2 + log k samples that are drawn in proportion to their squared distance from the centres, the one stays that
    leaves the smallest sum of squared distances (Arthur and Vassilvitskii's greedy variant).
    """
    n, trials = X.shape[0], 2 + int(np.log(k))
    squares = np.sum(X * X, axis=1)
    runs = np.arange(n_init)
    starts = np.empty((n_init, k), dtype=np.int64)
    starts[:, 0] = random_state.randint(n, size=n_init)
    nearest = _squared_distances(X, squares, starts[:, 0])
    for c in range(1, k):
        totals = np.cumsum(nearest, axis=1)
        draws = random_state.random_sample((n_init, trials)) * totals[:, -1:]
        drawn = np.stack(
            [np.searchsorted(total, draw, side="right") for total, draw in zip(totals, draws, strict=True)]
        )
        drawn = np.minimum(drawn, n - 1)
        distances = _squared_distances(X, squares, drawn.ravel()).reshape(n_init, trials, n)
        np.minimum(distances, nearest[:, None, :], out=distances)
        best = np.argmin(distances.sum(axis=2), axis=1)
        starts[:, c], nearest = drawn[runs, best], distances[runs, best]
    return starts


def _squared_distances(X: Host, squares: Matrix, centres: Labels) -> Matrix:
    """Return the squared distances of all samples (columns) from some of them (rows)."""
    distances = squares[centres][:, None] + squares[None, :] - 2 * (X[centres] @ X.T)
    return np.asarray(np.where(distances > 1e-14 * (squares[centres][:, None] + squares[None, :]), distances, 0.0))


def best_of(space: Space, starts: Labels, k: int, rule: Rule) -> Clustering:
    """Return the best of the runs from all starts, in batches that bound the memory.

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
    runs = [lloyd(space, Clusters.of(starts[i : i + size], k, n), rule) for i in range(0, len(starts), size)]
    return runs[_lowest([run.merit for run in runs])]


def lloyd(space: Space, clusters: Clusters, rule: Rule) -> Clustering:
    """Run Lloyd's iteration from the means of a batch of clusters, and return the best run."""
    ends = descend(space, clusters, rule)
    best, used = ends[_lowest([ended.merit for ended, _ in ends])]
    return replace(best, centres=used.weights_like(space.squares))  # dense, and of one run only


def descend(space: Space, clusters: Clusters, rule: Rule) -> list[tuple[Clustering, Clusters]]:
    """Run Lloyd's iteration from the means of a batch of clusters; return where each run ends, without its centres.

    With it come the clusters to whose means its labels belong.

    A step takes the distances to the centres under every kernel, weighs the kernels by what the clusters cost under
    them, assigns the samples, and forms the centres anew. Each of the four lowers the objective.
    """
    lengths = np.maximum(to_numpy(space.squares), 0.0).astype(float)
    xp = namespace(space.squares)
    precision = COINCIDENT * float(xp.finfo(space.squares.dtype).eps)
    distances, active = Distances(space), np.arange(clusters.n_runs)
    weights = np.tile(rule.kernel_weights(np.ones(lengths.shape[0])), (clusters.n_runs, 1))
    trace = np.full((clusters.n_runs, rule.max_iter), np.inf)
    ends: dict[int, tuple[Clustering, Clusters]] = {}
    for step in range(rule.max_iter):
        D = distances.to(clusters)
        if rule.exponent is not None:
            weights = rule.kernel_weights(_costs(D, clusters)) if step > 0 else weights
            D = D * asarray_like(weights.T[:, :, None, None], D)
        scale = (weights @ lengths).max(axis=1)
        labels, nearest = smallest(D[0, ...] if D.shape[0] == 1 else xp.sum(D, axis=0))
        found = _refilled(clusters.with_labels(labels), nearest, np.where(scale > 0, scale, 1.0) * precision)
        inertia = trace[active, step] = rule.cost(nearest, scale).sum(axis=1)
        merit = np.sqrt(np.maximum(nearest, 0)).sum(axis=1) if rule.by_distance else inertia
        moving = (found.labels != clusters.labels).any(axis=1) | (step == 0)
        if rule.robust:  # the first weights show in the third step
            moving |= (step < 2) | (trace[active, step - 1] - inertia > rule.tol * inertia)
        last = step == rule.max_iter - 1
        for i in np.flatnonzero(~moving | last):
            mine = found.labels[i].copy(), float(inertia[i]), float(merit[i]), step + 1, None, weights[i]
            ended = Clustering(*mine, trace[active[i], : step + 1], not moving[i])
            ends[int(active[i])] = ended, clusters.only([i])
        if last or not moving.any():
            break
        if rule.robust and step > 0:  # at first, samples are centres: robust weights would keep them there
            found = found.with_labels(found.labels, rule.sample_weights(nearest, scale))
        clusters = found if moving.all() else found.only(moving)
        active, weights = active[moving], weights[moving]
        distances.keep(moving)
    return [ends[run] for run in range(len(ends))]


def _refilled(clusters: Clusters, nearest: Matrix, unit: Matrix) -> Clusters:
    """Refill the empty clusters of every run that has one; the misfit is the squared distance in the run's unit."""
    lacking = np.flatnonzero(~clusters.sizes.all(axis=1))
    if lacking.shape[0] == 0:
        return clusters
    labels = clusters.labels.copy()
    for run in lacking:
        labels[run] = refill(labels[run], nearest[run] / unit[run], clusters.k)
    return clusters.with_labels(labels)


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


def plus_plus(space: Space, n_init: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw the samples of each start one after the other, far ones with higher probability (k-means++), (n_init, k).

    Not scikit-learn's `kmeans_plusplus`: solvers import no scikit-learn, and these samples may be rows of a kernel, on
    any device, with all starts drawn at once.
    """
    xp = namespace(space.squares)
    n = space.squares.shape[1]
    starts = np.empty((n_init, k), dtype=np.int64)
    starts[:, 0] = random_state.randint(n, size=n_init)
    nearest = np.full((n_init, n), np.inf)
    for c in range(1, k):
        last = Clusters.around(starts[:, c - 1 : c], n)
        distances = to_numpy(xp.sum(Distances(space).to(last), axis=0))[:, 0, :].astype(float)
        nearest = np.minimum(nearest, np.maximum(distances, 0.0))
        taken = np.zeros((n_init, n), dtype=bool)
        np.put_along_axis(taken, starts[:, :c], True, axis=1)
        odds = np.where(taken, 0.0, nearest)
        odds = np.where(odds.sum(axis=1, keepdims=True) > 0, odds, ~taken)  # all others coincide with a centre
        totals = np.cumsum(odds, axis=1)
        draws = random_state.random_sample((n_init, 1)) * totals[:, -1:]
        chosen = np.minimum((totals <= draws).sum(axis=1), n - 1)  # the first sample whose total passes the draw
        again = taken[np.arange(n_init), chosen]  # odds too small to be told apart
        starts[:, c] = np.where(again, np.argmin(taken, axis=1), chosen)
    return starts


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
