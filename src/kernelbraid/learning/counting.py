"""The number of clusters: a graph is learned for about as many as there may be, and again for those that it shows.

Clouds without clusters, as large and as wide as the samples, say what any data would show. They are normal, with the
mean and the covariances of the samples, and their graphs are made alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import beside, to_numpy
from kernelbraid._machine import calm
from kernelbraid._typing import Array
from kernelbraid.learning import effort
from kernelbraid.learning.learn import LearnedGraph, learn
from kernelbraid.learning.levels import Level, doubts, levels_of, one_cluster, sentences
from kernelbraid.learning.readout import seed_from
from kernelbraid.learning.settings import FEW_PER_CLUSTER, GUESS, Settings
from kernelbraid.learning.sources import Views
from kernelbraid.learning.weighing import Weighed
from kernelbraid.ops.graphs import refine_graph
from kernelbraid.solvers.communities import Network

SMALLEST_PROBLEM = 6  # samples, so that there is a range at all
#: Samples above which a graph is learned again for as many clusters as were found, where these have fewer edges.
LOOK_AGAIN = 300
#: Samples of a cloud at most; and, where there are more features than samples, numbers of all its views together.
MOST_SAMPLES, MOST_NUMBERS = 20_000, 100_000_000
CLOUDS, FEW_SAMPLES = 2, 700  # that are drawn of so few samples; one of more, which tells enough
DISTINCT = 0.9  # share of the samples that are, from which on a cloud, where all are, is like them
KEPT_EDGES = 20  # of each sample in a dense graph


@dataclass(frozen=True)
class Counted:
    """A graph, what it was learned with, and its levels."""

    learned: LearnedGraph
    settings: Settings
    levels: list[Level]
    n_distinct: int  # samples, copies counted once

    @property
    def taken(self) -> Level:
        """The level that is taken."""
        return next(level for level in self.levels if level.is_taken)

    def doubts(self) -> list[str]:
        """Return what speaks against the choice."""
        if self.n_distinct >= SMALLEST_PROBLEM:
            return doubts(self.levels)
        few = f"{self.n_distinct} {'is' if self.n_distinct == 1 else 'are'} distinct"
        return [f"Of all samples {few}, the rest copies."]

    def sentences(self) -> list[str]:
        """Return the choice in words."""
        return self.doubts() if self.n_distinct < SMALLEST_PROBLEM else sentences(self.levels)

    @property
    def warning(self) -> str | None:
        """What a user must know before using the labels."""
        told = self.doubts()
        return f"n_clusters='auto' found no clear clusters. {told[0]}" if told else None


def count(
    weighed: Weighed,
    settings: Settings,
    *,
    random_state: np.random.RandomState,
    n_counted: float | None = None,
    sizes: NDArray[np.float64] | None = None,
) -> Counted:
    """Learn a graph, and choose the number of its clusters.

    Parameters
    ----------
    weighed : Weighed
        Samples, and what each of their views counts.
    settings : Settings
        How the graph is learned, in which the number of clusters and what follows it are left open.
    random_state : RandomState
        Draws clouds to compare with, and the order in which communities form.
    n_counted : float, default=None
        As how many samples they count.
    sizes : ndarray of shape (n_samples,), default=None
        As how many each counts.
    """
    n, every = weighed.n_samples, n_counted or weighed.n_samples
    seed, n_distinct = seed_from(random_state), int(weighed.identities.max()) + 1
    smallest, n_jobs = settings.readout.min_cluster_size, settings.readout.n_jobs
    several = weighed.trust is not None
    settings = replace(settings, readout=replace(settings.readout, assign_labels="communities"))

    def sized_for(n_clusters: int) -> Settings:
        sized = settings.sized(n, n_clusters, several=several, n_counted=n_counted)
        return replace(sized, readout=replace(sized.readout, n_clusters="auto", assign_labels="communities"))

    def searched(learned: LearnedGraph, sized: Settings, n_clusters: int) -> Counted:
        with effort.unheard():
            is_alike = not settings.is_solved and n >= DISTINCT * every
            clouds = clouds_of(weighed, settings, n_clusters, seed) if is_alike else []
        with calm(n_jobs):
            network = network_of(learned.graph)
            levels = levels_of(network, clouds, smallest=smallest, sizes=sizes, seed=seed, n_jobs=n_jobs)
        effort.reach(1.0)
        return Counted(learned, sized, levels, n_distinct)

    guess = int(min(max((every - 1) // FEW_PER_CLUSTER, 2), GUESS))
    with effort.phase(effort.LEARN):
        sized = sized_for(guess)
        learned = learn(weighed, sized, random_state=random_state)
    with effort.phase(effort.CHOOSE):
        if n_distinct < SMALLEST_PROBLEM:
            return Counted(learned, sized, [replace(one_cluster(n), labels=weighed.identities)], n_distinct)
        counted = searched(learned, sized, guess)
        found = max(level.n_clusters for level in counted.levels if level.is_taken or level.score == 1.0)
        again = sized_for(found)
        is_settled = again.readout.n_neighbors == sized.readout.n_neighbors or counted.taken.n_clusters == 1
        if is_settled or n <= LOOK_AGAIN or not weighed.samples.has_kernels:
            return counted
        with effort.unheard():
            return searched(learn(weighed, again, random_state=random_state), again, found)


def network_of(graph: Array) -> Network:
    """Return a graph to be searched; of a dense one the strongest edges of each sample."""
    return Network.of(graph if sparse.issparse(graph) else refine_graph(to_numpy(graph), n_neighbors=KEPT_EDGES))


def clouds_of(weighed: Weighed, settings: Settings, n_clusters: int, seed: int) -> list[Network]:
    """Return graphs of clouds without clusters as large and as wide as the samples; none where none can be drawn.

    Parameters
    ----------
    weighed : Weighed
        Samples, and what each of their views counts.
    settings : Settings
        How their graph is learned.
    n_clusters : int
        For how many clusters.
    seed : int
        Draws the cloud.
    """
    samples: Any = weighed.samples
    if not (settings.learning.is_closed_form and samples.has_rows(settings.fused_banks)):
        return []
    networks, random_state = [], np.random.RandomState(seed)
    for _ in range(CLOUDS if samples.n_samples <= FEW_SAMPLES else 1):
        drawn = cloud_of(samples.views, samples.measured, random_state)
        if drawn is None:
            break
        there = samples.there
        cloud = replace(weighed, samples=Views([beside(view, there) for view in drawn]), counts=None, joined=None)
        if weighed.joined is not None and weighed.trust is not None:
            cloud = cloud.joining(settings.kernels, learned=False)
        elif weighed.joined is not None:
            cloud = replace(cloud, joined=cloud.samples.pose(settings.kernels))
        sized = settings.sized(cloud.n_samples, n_clusters, several=weighed.trust is not None)
        networks.append(network_of(learn(cloud, sized).graph))
    return networks


def cloud_of(
    views: Sequence[Array], measured: Sequence[NDArray[np.bool_]], random_state: np.random.RandomState
) -> list[np.ndarray] | None:
    """Return normal samples that have the mean and the covariances of those of all views; None if they are too many.

    Parameters
    ----------
    views : sequence of matrices
        Samples, a row of NaN where a view lacks one; the cloud lacks the same.
    measured : sequence of ndarray of shape (n,)
        Which samples each view has.
    random_state : RandomState
        Draws the cloud.
    """
    n, widths = int(views[0].shape[0]), [int(view.shape[1]) for view in views]
    width, m = sum(widths), min(n, MOST_SAMPLES)
    is_narrow = width < n and not any(sparse.issparse(view) for view in views)
    if not is_narrow and n * max(n, width) > MOST_NUMBERS:
        return None
    centred, means = [], []
    for view, rows in zip(views, measured, strict=True):
        X = view if sparse.issparse(view) else to_numpy(view).astype(np.float64)
        means.append(np.asarray(X[rows].mean(axis=0)).ravel())
        centred.append(X if sparse.issparse(X) else np.where(rows[:, None], X - means[-1], 0.0))
    if is_narrow:
        joined = np.concatenate(centred, axis=1)
        values, vectors = np.linalg.eigh(joined.T @ joined / n)
        drawn = random_state.normal(size=(m, width)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        mixed = np.split(drawn, np.cumsum(widths)[:-1], axis=1)
    else:
        draws = random_state.normal(size=(m, n)) / np.sqrt(n)
        mixed = [
            np.asarray(draws @ X) - (draws.sum(axis=1)[:, None] * mean if sparse.issparse(X) else 0.0)
            for X, mean in zip(centred, means, strict=True)
        ]
    cloud = [values + mean for values, mean in zip(mixed, means, strict=True)]
    for view, rows in zip(cloud, measured, strict=True):
        view[~rows[:m]] = np.nan
    return cloud
