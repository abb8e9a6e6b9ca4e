"""Kernel k-means (KKM), its robust form (RKKM), and both with learned kernel weights (MKKM, RMKKM)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import asarray_like, device, namespace
from kernelbraid._typing import Array
from kernelbraid.kernels import KernelStack, without_spread
from kernelbraid.solvers.kmeans import plus_plus, random_samples
from kernelbraid.solvers.lloyd import Clustering, Labels, Rule, best_of, nearest_centres

Vector: TypeAlias = NDArray[np.float64]
#: How a run starts: far samples as centres, random samples as centres, or random labels.
Start: TypeAlias = Literal["k-means++", "random", "partition"]


@dataclass(frozen=True)
class KernelSpace:
    """Samples given by kernels: distances to weighted means need kernel values alone."""

    kernels: KernelStack

    @cached_property
    def squares(self) -> Array:
        """Self-similarities, (m, n)."""
        return self.kernels.diagonals()

    def distances(self, V: Array) -> Array:
        """Return H_xx - 2 (H V')_xc + (V H V')_cc for every kernel, (m, c, n)."""
        V = asarray_like(V.toarray(), self.squares) if sparse.issparse(V) else V
        xp = namespace(V)
        products = xp.permute_dims(self.kernels.apply(V.T), (0, 2, 1))
        lengths = xp.sum(products * V[None, :, :], axis=2)
        return self.squares[:, None, :] + (lengths[:, :, None] - 2 * products)

    def from_samples(self, rows: Labels) -> Array:
        """Return squared distances to some of the samples, (m, c, n)."""
        distances = self.distances(asarray_like(rows[:, None] == np.arange(self.kernels.n_samples), self.squares))
        return namespace(distances).clip(distances, min=0.0)


def kernel_kmeans(
    kernels: KernelStack, n_clusters: int, *, rule: Rule, start: Start, n_init: int, random_state: np.random.RandomState
) -> Clustering:
    """Cluster samples in the feature space of kernels.

    Parameters
    ----------
    kernels : KernelStack
        Candidate kernels: their sum is used, or a weighted sum that is learned.
    n_clusters : int
        k, at most n.
    rule : Rule
        Squared distances or distances, fixed or learned kernel weights, and when to stop.
    start : {"k-means++", "random", "partition"}
        How a run starts.
    n_init : int
        Number of runs, of which the one of lowest objective is returned.
    random_state : numpy.random.RandomState
        Draws the starts, always on the host.

    Returns
    -------
    Clustering
        Labels, centres as weights of the samples, kernel weights, objective of every step.
    """
    space, n = KernelSpace(kernels), kernels.n_samples
    if start == "k-means++":
        starts = plus_plus(space, n_init, n_clusters, random_state)
    elif start == "random":
        starts = random_samples(n_init, n, n_clusters, random_state)
    else:
        starts = random_state.randint(n_clusters, size=(n_init, n))
    if rule.exponent is not None:
        rule = replace(rule, unused=without_spread(kernels))
    return best_of(space, starts, n_clusters, rule)


@dataclass(frozen=True)
class KernelCentres:
    """Centres in feature space, and what it takes to find the nearest one."""

    V: Array  # centres as weighted means of the samples, (k, n)
    weights: Vector  # shares of the kernels, (m,), of sum one
    squares: Array  # squared lengths of the centres in the combined space, (k,)

    @classmethod
    def of(cls, kernels: KernelStack, found: Clustering, labels: Labels) -> "KernelCentres":
        """Return the centres of a clustering, numbered as the final labels are.

        Where those are another partition (copies of a sample brought together, clusters split off), the centres are
        their plain means.
        """
        k = int(labels.max()) + 1
        pairs = np.unique(np.stack([labels, found.labels]), axis=1)
        if pairs.shape[1] == k and np.unique(pairs[1]).shape[0] == k:
            V = namespace(found.centres).take(
                found.centres, namespace(found.centres).asarray(pairs[1], device=device(found.centres)), axis=0
            )
        else:
            member = labels[None, :] == np.arange(k)[:, None]
            V = asarray_like(member / member.sum(axis=1, keepdims=True), found.centres)
        xp, a = namespace(V), np.asarray(found.kernel_weights / found.kernel_weights.sum())
        lengths = xp.sum(kernels.apply(V.T) * V.T[None, :, :], axis=1)  # (m, k)
        return cls(V, a, xp.sum(lengths * asarray_like(a[:, None], lengths), axis=0))

    def nearest(self, cross: Array) -> Labels:
        """Return the nearest centres of new samples by their combined kernel values with the fitted ones."""
        xp = namespace(self.V)
        V, squares = (xp.astype(part, xp.float64) for part in (self.V, self.squares))  # new values may be large
        return nearest_centres(asarray_like(cross, V) @ V.T, squares)
