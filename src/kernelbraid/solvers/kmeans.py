"""k-means with many restarts at once: Lloyd's iteration as matrix products over a batch of starts.

One iteration serves all variants. They differ in the space, which knows the distances to weighted means of samples
(coordinates here, kernels in `kernel_kmeans`); in the weights of the samples, which are equal or robust; and in the
weights of the kernels, which are fixed or learned.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernelbraid._arrays import asarray_like, device, is_foreign, namespace, to_numpy
from kernelbraid._typing import Array, Host
from kernelbraid.ops.closed_forms import power_weights
from kernelbraid.solvers.centres import Clusters, FeatureSpace, Labels, Matrix, MeanSpace, Space

# Restarts run together while their distances, (kernels, restarts, n, k), stay below this many numbers.
BATCH_SIZE = 4_000_000
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
    clusters: Clusters  # to whose means the labels belong
    kernel_weights: Matrix  # a, (m,)
    objective: Matrix  # value after every step
    converged: bool
    centres: Array = None  # V, (k, n): these means as weights of the samples; of the best run alone


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
        starts = spread_samples(X, n_init, n_clusters, random_state)
    else:
        starts = random_samples(n_init, X.shape[0], n_clusters, random_state)
    return best_of(FeatureSpace(X), starts, n_clusters, Rule(max_iter=max_iter, by_distance=by_distance))


def random_samples(n_init: int, n: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw k different samples as the centres of each start, (n_init, k)."""
    return np.argsort(random_state.random_sample((n_init, n)), axis=1, kind="stable")[:, :k]


def plus_plus(
    space: Space,
    n_init: int,
    k: int,
    random_state: np.random.RandomState,
    *,
    n_trials: int = 1,
    first: int | None = None,
) -> Labels:
    """Draw the samples of each start one after the other, far ones with higher probability (k-means++), (n_init, k).

    Not scikit-learn's `kmeans_plusplus`: solvers import no scikit-learn, and these samples may be rows of a kernel or
    lack some of several views, with all starts drawn at once.

    Parameters
    ----------
    space : Space
        The samples.
    n_init, k : int
        Number of starts, and of samples in each, which are different ones.
    random_state : numpy.random.RandomState
        Draws them.
    n_trials : int, default=1
        How many are drawn each time; that one stays which leaves the smallest sum of squared distances (Arthur and
        Vassilvitskii's greedy variant).
    first : int, default=None
        Sample with which every start begins; drawn if None.
    """
    n, runs = space.squares.shape[1], np.arange(n_init)
    starts, left = np.empty((n_init, k), dtype=np.int64), np.ones((n_init, n), dtype=bool)
    drawn = random_state.randint(n, size=(n_init, 1)) if first is None else np.full((n_init, 1), first)
    nearest = np.full((n_init, n), np.inf)
    for c in range(k):
        if c > 0:
            odds = np.where(left, nearest, 0.0)
            odds = np.where(odds.any(axis=1, keepdims=True), odds, left)  # all others coincide with a centre
            totals = np.cumsum(odds, axis=1)
            draws = random_state.random_sample((n_init, n_trials)) * totals[:, -1:]
            found = [np.searchsorted(total, draw, side="right") for total, draw in zip(totals, draws, strict=True)]
            drawn = np.minimum(np.stack(found), n - 1)
            again = ~left[runs[:, None], drawn]  # odds too small to be told apart
            drawn = np.where(again, left.argmax(axis=1)[:, None], drawn)
        distances = to_numpy(_sum(space.from_samples(drawn.ravel()))).astype(float, copy=False).reshape(n_init, -1, n)
        np.minimum(distances, nearest[:, None, :], out=distances)
        best = distances.sum(axis=2).argmin(axis=1)
        starts[:, c], nearest = drawn[runs, best], distances[runs, best]
        left[runs, starts[:, c]] = False
    return starts


def spread_samples(X: Array, n_init: int, k: int, random_state: np.random.RandomState) -> Labels:
    """Draw the samples of each start far from each other, (n_init, k): the best of 2 + log k draws each time."""
    space = FeatureSpace(to_numpy(X).astype(np.float64))
    return plus_plus(space, n_init, k, random_state, n_trials=2 + int(np.log(k)))


def best_of(space: MeanSpace, starts: Labels, k: int, rule: Rule) -> Clustering:
    """Return the best of the runs from all starts; for the arguments see :func:`descend`."""
    runs = descend(space, starts, k, rule)
    best = runs[_lowest([run.merit for run in runs])]
    V = best.clusters.weights(space.squares)
    return replace(best, centres=asarray_like(V.toarray(), space.squares) if sparse.issparse(V) else V)


def descend(space: MeanSpace, starts: Labels, k: int, rule: Rule) -> list[Clustering]:
    """Return where Lloyd's iteration ends from all starts, in batches that bound the memory.

    Parameters
    ----------
    space : MeanSpace
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


def _descend(space: MeanSpace, clusters: Clusters, rule: Rule) -> list[Clustering]:
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
        labels, nearest = _smallest(_sum(D))
        labels = _refilled(labels, clusters.k, nearest / np.where(scale > 0, scale, 1.0)[:, None] / precision)
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


def _sum(D: Array) -> Array:
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


def _refilled(labels: Labels, k: int, misfits: Matrix) -> Labels:
    """Refill the empty clusters of every run that has one; the misfit is the squared distance in the run's unit."""
    numbers = labels + k * np.arange(len(labels))[:, None]
    sizes = np.bincount(numbers.ravel(), minlength=len(labels) * k).reshape(-1, k)
    for run in np.flatnonzero(~sizes.all(axis=1)):
        labels[run] = refill(labels[run], misfits[run], k)
    return labels


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
