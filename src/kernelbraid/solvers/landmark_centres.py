"""Centres of the clusters of many samples, which come in blocks, and how far samples belong to each of them."""

from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Array
from kernelbraid.blocks.parts import Parts
from kernelbraid.solvers.kmeans import plus_plus
from kernelbraid.solvers.lloyd import (
    FeatureSpace,
    Labels,
    Rule,
    best_of,
    cluster_sums,
    inner_products,
    nearest_centres,
    squared_lengths,
)

Single: TypeAlias = NDArray[np.float32]
# How fast memberships fall with the distance to a centre, in units of the distance between centres.
SHARPNESS = 4.0


@dataclass(frozen=True)
class Sums:
    """Sums of the samples of each cluster, and their numbers."""

    points: Array  # (k, d), sparse if the samples are
    counts: Array  # (k,), or (k, n_views) where samples lack some of several views

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.points + other.points, self.counts + other.counts)


@dataclass(frozen=True)
class Appearance:
    """Clusters in the order in which they appear among samples."""

    order: tuple[int, ...]

    def __add__(self, other: "Appearance") -> "Appearance":
        return Appearance(tuple(dict.fromkeys(self.order + other.order)))


@dataclass(frozen=True)
class Centres:
    """Centres of clusters in the embedding, or among the samples themselves."""

    points: Array  # (k, d), sparse if the samples are

    def nearest(self, placed: Array) -> Labels:
        """Return the nearest centre of each sample."""
        products = inner_products(placed.astype(np.float64, copy=False), self.points)
        return nearest_centres(products, squared_lengths(self.points))

    def memberships(self, placed: Array) -> Single:
        r"""Return how far each sample belongs to each cluster, :math:`e^{-4 d_c / s}` over the sum of all.

        d are the distances to the centres, and s is the mean distance of a centre from the nearest other one. The rows
        sum to one, and the largest entry is that of the nearest centre.
        """
        placed = placed.astype(np.float64, copy=False)
        lengths = squared_lengths(self.points)
        between = lengths[:, None] + lengths[None, :] - 2 * inner_products(self.points, self.points)
        np.fill_diagonal(between, np.inf)
        apart = float(np.sqrt(np.maximum(between.min(axis=1), 0.0)).mean()) if len(lengths) > 1 else 1.0
        products = inner_products(placed, self.points)
        squares = squared_lengths(placed)[:, None] + lengths[None, :] - 2 * products
        distances = np.sqrt(np.maximum(squares, 0.0)) * (SHARPNESS / (apart or 1.0))
        odds = np.exp(distances.min(axis=1, keepdims=True) - distances)
        shares = odds / odds.sum(axis=1, keepdims=True)
        # Equal distances are no reason to contradict the label: rounding decides there.
        first = nearest_centres(products, lengths)
        rows = np.arange(len(first))
        best = shares.argmax(axis=1)
        shares[rows, first], shares[rows, best] = shares[rows, best], shares[rows, first]
        return np.asarray(shares, dtype=np.float32)

    def confidences(self, placed: Array) -> Single:
        """Return how sure the nearest centre of each sample is."""
        return np.asarray(self.memberships(placed).max(axis=1))

    def sums(self, placed: Array) -> Sums:
        """Sum the samples that are nearest to each centre."""
        k, mine = self.points.shape[0], self.nearest(placed)
        return Sums(cluster_sums(placed.astype(np.float64, copy=False), mine, k), np.bincount(mine, minlength=k))

    def appearance(self, placed: Single) -> Appearance:
        """Return the clusters in the order in which samples of theirs appear."""
        return Appearance(tuple(dict.fromkeys(self.nearest(placed).tolist())))

    def moved(self, sums: Sums) -> Self:
        """Return the means of the clusters; one that is empty keeps its centre."""
        return replace(self, points=means(sums.points, sums.counts, self.points))

    def settle(self, placed: Parts[Array], max_iter: int) -> Self:
        """Make Lloyd's steps over all samples, so many or until the centres stay.

        `descend` has all samples in memory and follows many runs that refill their clusters; here there is one run, and
        the blocks of samples, which may be on other machines, give nothing but their sums.
        """
        centres = self
        for _ in range(max_iter):
            before, centres = centres, centres.moved(placed.map(centres.sums).total())
            if not abs(centres.points - before.points).max() > 0:
                break
        return centres

    def improve(self, placed: Parts[Single], max_iter: int) -> Self:
        """Make Lloyd's steps over all samples, and number the clusters in the order in which they appear.

        Centres that are nearest to no sample are left out: they stand where others do.
        """
        centres = self.settle(placed, max_iter)
        return replace(self, points=centres.points[list(placed.map(centres.appearance).total().order)])


def means(sums: Array, counts: Array, before: Array) -> Array:
    """Return the means of clusters from their sums and sizes, (k, d); an empty one keeps the centre it had."""
    shares = sparse.diags_array(1.0 / np.maximum(counts, 1.0))
    empty = sparse.diags_array((counts == 0).astype(float))
    return shares @ sums + empty @ before


def find_centres(
    points: Array, n_clusters: int, *, n_init: int, by_distance: bool, random_state: np.random.RandomState
) -> Centres:
    """Return the centres of the best among `n_init` runs of k-means, each started by k-means++."""
    points = np.asarray(points, dtype=np.float64)
    space = FeatureSpace(points)
    starts = plus_plus(space, n_init, n_clusters, random_state)
    return Centres(np.asarray(best_of(space, starts, n_clusters, Rule(by_distance=by_distance)).centres @ points))
