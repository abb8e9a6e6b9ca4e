r"""Cuts between clusters: how far a graph supports them, and where it is cut instead.

A set of samples is steady, as far as graphs of the same edges with random weights have communities alike, at any
resolution: by the mean of the largest Jaccard indices. Of a set of n samples with steadiness s that is cut into a and
b each is found again as far as the whole is, by its share of it, even if no graph has ever cut there. So

.. math:: \frac12 \sum_{c \in \{a, b\}} \frac{s_c - s\, n_c / n}{s - s\, n_c / n}

is what supports the cut: nothing at 0; at 1 both are as steady as the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from kernelbraid._machine import ORDER, workers
from kernelbraid._typing import Array, Labels, Vector
from kernelbraid.solvers.communities import REWEIGHTED, Network, communities
from kernelbraid.solvers.kmeans import in_order
from kernelbraid.solvers.low_rank.rows import in_threads

#: Resolutions at which communities are looked for, in units of the one that gives as many as there are clusters: small
#: ones are told at high resolutions, large ones at low ones.
TRIED = (30.0, 5.0, 1.0, 0.5, 0.25, 0.125, 0.0625)
#: Support below which a cut is given up, and from which on another one is made instead.
WEAK = 0.3
#: Support of all cuts, in units of this, from which on the first of the graphs with random weights says enough.
CLEAR = 2.0
#: Steadiness of two clusters together from which on they may be one.
WHOLE = 0.5
#: Part of the weight of its edges that each of two clusters keeps where they stand apart, and no cut is given up.
APART = 0.95
#: Part that each keeps at least where one cluster holds most samples: else that is nearly all of a graph.
KEPT = 0.7
NEAREST = 3  # clusters, with which each may be one


@dataclass(frozen=True)
class Known:
    """Communities of a graph, and of the same edges with random weights, at several resolutions."""

    network: Network
    resolution: float
    seed: int
    count: int = REWEIGHTED  # graphs with random weights
    told: Sequence[sparse.csr_array] = ()  # what is known of the first of them

    @cached_property
    def own(self) -> list[Labels]:
        """Those of the graph."""
        return self._of(self.network)

    @cached_property
    def others(self) -> list[sparse.csr_array]:
        """For each graph with other weights which samples are in which communities, (n, m)."""
        random_state = np.random.RandomState(self.seed)
        networks = [self.network.reweighted(random_state) for _ in range(self.count)][len(self.told) :]
        runs = in_threads(self._of, networks, min(len(networks), workers(None if self.network.n >= ORDER else 1)))
        return [*self.told, *(sparse.csr_array(sparse.vstack([members(own) for own in run]).T) for run in runs)]

    def _of(self, network: Network) -> list[Labels]:
        """Return communities from one resolution downwards, until nothing is cut."""
        found: list[Labels] = []
        for factor in TRIED:
            found.append(communities(network, factor * self.resolution, seed=self.seed, n_rounds=1))
            if found[-1].max() < network.n_components:
                break
        return found

    def shared(self, labels: Labels) -> list[sparse.csr_array]:
        """Return how many samples sets have in common with the communities of each graph with other weights."""
        return [sparse.csr_array(members(labels) @ other) for other in self.others]

    def steadiness(self, shared: Sequence[sparse.csr_array], sizes: Vector) -> Vector:
        """Return how steady sets of such sizes are."""
        found = np.zeros((len(shared), len(sizes)))
        for best, common, other in zip(found, shared, self.others, strict=True):
            rows = np.repeat(np.arange(len(sizes)), np.diff(common.indptr))
            either = sizes[rows] + other.sum(axis=0)[common.indices] - common.data
            np.maximum.at(best, rows, common.data / either)
        return np.asarray(found.mean(axis=0))


def members(labels: Labels) -> sparse.csr_array:
    """Return which samples are in which sets, (m, n)."""
    return sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))


def support(one: Vector, other: Vector, whole: Vector, sizes: tuple[Vector, Vector]) -> Vector:
    """Return what supports cuts into two sets, from how steady these and the whole are."""
    part = sizes[0] / (sizes[0] + sizes[1])
    beyond = (one - whole * part) / (1 - part) + (other - whole * (1 - part)) / part
    return np.asarray(beyond / np.maximum(2 * whole, np.finfo(float).tiny))


def cut_again(
    graph: Array | Network, labels: Labels, resolution: float, *, smallest: float = 1, weak: float = WEAK, seed: int = 0
) -> Labels:
    """Join two clusters if nothing supports the cut between them, and cut where more does.

    That is done once, and only where all other cuts are supported: where several are not, nothing tells where to cut.

    Parameters
    ----------
    graph : array or csr array of shape (n, n), or Network
        Symmetric, not negative, with edges.
    labels : ndarray of shape (n,)
        Clusters from 0 on; two of them stay, since joined they leave nothing to compare with.
    resolution : float
        At which the graph has as many communities, or nearly.
    smallest : float, default=1
        Samples of a cluster that is cut off, at least.
    weak : float, default=0.3
        Support below which a cut is given up, and from which on another one is made.
    seed : int, default=0
        As for :func:`communities`; draws the weights, too.

    Returns
    -------
    ndarray of shape (n,)
        As many clusters.
    """
    known = Known(Network.of(graph), resolution, seed, 1)
    if labels.max() < 2 or _weakest(known, labels, CLEAR * weak) is None:
        return labels
    known = replace(known, count=REWEIGHTED, told=known.others)
    pair = _weakest(known, labels, weak)
    if pair is None:
        return labels
    joined = np.where(labels == pair[1], pair[0], labels)
    part = _strongest(known, joined, max(smallest, 1.0), weak)
    if part is None:
        return labels
    better = in_order(np.where(part, pair[1], joined))
    between = known.network.edges.between(better, int(better.max()) + 1)
    holds_most = np.bincount(better).max() > len(better) / 2 and (np.diag(between) < KEPT * between.sum(axis=1)).any()
    return labels if holds_most or _weakest(known, better, weak) else better


def _weakest(known: Known, labels: Labels, weak: float) -> tuple[int, int] | None:
    """Return the two clusters for whose cut least speaks; None where all cuts are supported."""
    k, sizes, shared = int(labels.max()) + 1, np.bincount(labels).astype(float), known.shared(labels)
    between = known.network.edges.between(labels, k)
    volumes = np.maximum(between.sum(axis=1), np.finfo(float).tiny)
    is_apart = np.diag(between) >= APART * volumes
    np.fill_diagonal(between, 0.0)
    near = np.argsort(-between / np.sqrt(volumes), axis=1)[:, :NEAREST]
    one, other = np.repeat(np.arange(k), near.shape[1]), near.ravel()
    kept = (between[one, other] > 0) & ~(is_apart[one] & is_apart[other])
    one, other = one[kept], other[kept]
    alone = known.steadiness(shared, sizes)
    whole = known.steadiness([common[one] + common[other] for common in shared], sizes[one] + sizes[other])
    found = support(alone[one], alone[other], whole, (sizes[one], sizes[other]))
    least = int(np.argmin([*np.where(whole >= WHOLE, found, np.inf), weak]))
    return (int(one[least]), int(other[least])) if least < len(found) else None


def _strongest(known: Known, labels: Labels, smallest: float, least: float) -> np.ndarray | None:
    """Return the part of a cluster, of those that communities tell, for which most speaks; None where little does."""
    sizes, shared = np.bincount(labels).astype(float), known.shared(labels)
    steady, best, taken = known.steadiness(shared, sizes), least, None
    for own in known.own:
        number = int(own.max()) + 1
        pairs, part = np.unique(labels * number + own, return_inverse=True)
        size = np.bincount(part).astype(float)
        kept = np.flatnonzero(np.minimum(size, sizes[pairs // number] - size) >= smallest)
        if len(kept):
            cluster, size = pairs[kept] // number, size[kept]
            inside = [common[kept] for common in known.shared(part)]
            outside = [common[cluster] - cut for common, cut in zip(shared, inside, strict=True)]
            sides = size, sizes[cluster] - size
            one, other = known.steadiness(inside, sides[0]), known.steadiness(outside, sides[1])
            found = support(one, other, steady[cluster], sides)
            most = int(np.argmax(found))
            if found[most] >= best:
                best, taken = float(found[most]), part == kept[most]
    return taken
