r"""How many clusters: communities of one graph from coarse to fine, and what speaks for each of these partitions.

At resolutions over the whole range that the graph has, from its components to a third as many clusters as samples, the
most modular partition at each is judged by

.. math:: s^2 p^2 \sqrt{\arcsin\sqrt{w} - \arcsin\sqrt{w_0}}\;Q^3

with :math:`s` the agreement of runs from several seeds, :math:`p` that with the partitions at resolutions near by,
:math:`w` the share of the edges within clusters, :math:`Q` the modularity and :math:`w_0` the share of a cloud without
clusters that is cut into as many. A cloud in two or three directions is itself as modular as any clusters, since
everything long can be cut with few edges; there modularity says nothing, :math:`\sqrt{1 - (1-w)/(1-w_0)}` takes the
place of the last two factors. Local maxima are the levels. The one is taken that agrees most with all partitions, as
far as these are plausible, in few directions the finest that is nearly as good as the best; and the coarsest, where
the graph hardly tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kernelbraid._machine import workers
from kernelbraid._typing import Labels
from kernelbraid.learning import effort
from kernelbraid.metrics.partitions import adjusted_rand
from kernelbraid.solvers.communities import FEW_ROUNDS, Network, communities
from kernelbraid.solvers.kmeans import dissolve
from kernelbraid.solvers.low_rank.rows import in_threads

Column = NDArray[np.float64]

#: Samples, up to which a graph is searched with such steps of the logarithm of the resolution, seeds, rounds of the
#: method, and samples for each cluster where the range ends; clouds are searched in twice as large steps, once.
SIZES = (2000, 20_000, np.inf)
SEARCHES = ((0.3, 3, FEW_ROUNDS, 3), (0.3, 2, 1, 6), (0.7, 2, 1, 50))
LOWEST = 1e-4  # resolution at which the range ends in any case
FINEST, ALWAYS = 2.5, 3  # samples for each cluster below which no partition is judged; clusters that are judged always
NEAR = 1.0  # of the logarithm of a resolution: the deviation of the weights of those near by
#: Steps below the range, at which a graph of several components still falls into these; and how far below its upper
#: end, in the logarithm of the resolution, that partition is judged: it has a whole range of its own.
BELOW, DEEP = 11, 1.4
#: Largest modularity of a cloud from which on it lies in two or three directions.
FEW_DIRECTIONS = 0.68
#: Shares of the best score above which the finest maximum is taken there, and above which one is a level at all.
AS_GOOD, PLAUSIBLE = 0.8, 0.5
SAME = 0.95  # adjusted Rand index from which on two levels are one
#: Leaving edges over those of a cloud, and modularity beyond it, where there may be no clusters; where there are none.
DOUBTFUL, NONE = (0.65, 0.12), (0.85, 0.06)
VAGUE = 0.4  # steadiness of a level below which the graph does not tell how many clusters there are
SHARPNESS = 4  # power of the scores that weigh other partitions where it is asked how far they agree
REWEIGHTED = 2  # graphs with random weights, in which a level is found again
SMALLEST = 4  # samples of a cluster, where a tenth of all are no fewer and nobody says how many
UPWARDS, OF_CLOUDS = 0.7, 0.2  # about the parts of a search that fall to larger resolutions, and to clouds
TINY = 1e-6


@dataclass(frozen=True)
class Level:
    """A partition, and what speaks for it."""

    labels: Labels  # of the samples, from 0 on
    resolution: float
    score: float  # as a share of the best one
    stability: float  # agreement of runs from several seeds
    persistence: float  # agreement with the partitions at resolutions near by
    agreement: float  # with all that is plausible
    modularity: float
    background: float | None = None  # edges between clusters over those in a cloud without any; None: not compared
    gain: float | None = None  # modularity beyond that of such a cloud
    is_taken: bool = field(default=False, kw_only=True)

    @property
    def n_clusters(self) -> int:
        """Clusters."""
        return int(self.labels.max()) + 1

    def __repr__(self) -> str:
        taken = ", taken" if self.is_taken else ""
        return f"<Level: {self.n_clusters} clusters at resolution {self.resolution:.3g}, score {self.score:.3f}{taken}>"

    @property
    def steadiness(self) -> float:
        """How far other seeds, resolutions near by and all that is plausible give it again."""
        return self.stability * self.persistence * self.agreement

    def falls_apart(self, background: float, gain: float) -> bool:
        """Tell whether a cloud without clusters does so about as easily."""
        if self.background is None or self.gain is None:
            return False
        return self.background > background and self.gain < gain


@dataclass(frozen=True)
class Partitions:
    """The most modular partition at each of several resolutions, ascending."""

    labels: list[Labels]
    resolution: Column
    inside: Column  # share of the edges within clusters
    modularity: Column
    stability: Column  # mean adjusted Rand index between runs from several seeds, at least 0
    reaches_down: bool  # whether the first of them is that of all lower resolutions, too: the graph has fallen apart

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Numbers of clusters."""
        return np.array([int(labels.max()) + 1 for labels in self.labels])

    def dissolved(self, network: Network, smallest: float, sizes: Column | None) -> "Partitions":
        """Return them without clusters that are too small; where all are, they stay."""
        labels = [dissolve(network.edges, one, smallest, sizes) for one in self.labels]
        inside, expected = np.array([network.sums(one) for one in labels]).T
        return replace(self, labels=labels, inside=inside, modularity=np.maximum(inside - expected, TINY))

    def only(self, kept: NDArray[np.bool_]) -> "Partitions":
        """Return some of them."""
        labels = [labels for labels, is_kept in zip(self.labels, kept, strict=True) if is_kept]
        inside, modularity, stability = self.inside[kept], self.modularity[kept], self.stability[kept]
        return Partitions(labels, self.resolution[kept], inside, modularity, stability, self.reaches_down)


@dataclass(frozen=True)
class Search:
    """How a graph is searched."""

    step: float
    n_seeds: int
    n_rounds: int
    finest: int  # samples for each cluster, where the range ends
    n_jobs: int | None = None

    @classmethod
    def of(cls, n_samples: int, n_jobs: int | None = None) -> "Search":
        """Return the search for so many samples."""
        which = next(number for number, most in enumerate(SIZES) if n_samples <= most)
        return cls(*SEARCHES[which], n_jobs)

    def partitions(self, network: Network, seed: int, span: tuple[float, float] = (0.0, 1.0)) -> Partitions:
        """Return the most modular partitions over the range of resolutions: each may be found at any, from any seed."""
        middle = span[0] + UPWARDS * (span[1] - span[0])
        runs = self._runs(network, seed, 1, (span[0], middle)) | self._runs(network, seed, -1, (middle, span[1]))
        places = sorted(runs)
        resolution = np.exp(self.step * np.array(places))
        every = [labels for place in places for labels in runs[place]]
        inside, expected = np.array(list(in_threads(network.sums, every, workers(self.n_jobs)))).T
        best = np.argmax(inside - resolution[:, None] * expected, axis=1)
        pairs = np.triu_indices(self.n_seeds, 1)
        agree = [float(agreements(runs[place])[pairs].mean()) if self.n_seeds > 1 else 1.0 for place in places]
        modularity = np.maximum(inside - expected, TINY)
        labels, is_apart = [every[i] for i in best], network.n_components > 1
        return Partitions(labels, resolution, inside[best], modularity[best], np.array(agree), is_apart)

    def _runs(self, network: Network, seed: int, way: int, span: tuple[float, float]) -> dict[int, list[Labels]]:
        """Return communities from every seed, by steps of the resolution from 1 upwards or downwards to the end."""
        runs: dict[int, list[Labels]] = {}
        jobs = workers(self.n_jobs)
        at_once, place = -(-jobs // self.n_seeds), 0 if way > 0 else -1

        def run(task: tuple[int, int]) -> Labels:
            resolution = float(np.exp(task[0] * self.step))
            return communities(network, resolution, seed=seed + task[1], n_rounds=self.n_rounds)

        while LOWEST < np.exp(place * self.step) < network.n:
            tasks = [(place + way * i, number) for i in range(at_once) for number in range(self.n_seeds)]
            found = list(in_threads(run, tasks, jobs))
            for (where, _), labels in zip(tasks, found, strict=True):
                runs.setdefault(where, []).append(labels)
            counts = [int(labels.max()) + 1 for labels in found]
            if max(counts) <= network.n_components if way < 0 else min(counts) >= network.n / self.finest:
                break
            place += way * at_once
            gone = min(abs(place) * self.step / np.log(network.n if way > 0 else 1 / LOWEST), 1.0)
            effort.reach(span[0] + gone * (span[1] - span[0]))
        return runs


def agreements(labels: Sequence[Labels]) -> Column:
    """Return the adjusted Rand indices between partitions, at least 0."""
    alike = np.eye(len(labels))
    for i, j in combinations(range(len(labels)), 2):
        alike[i, j] = alike[j, i] = max(adjusted_rand(labels[i], labels[j]), 0.0)
    return alike


def levels_of(
    network: Network,
    clouds: Sequence[Network] = (),
    *,
    smallest: float | None = None,
    sizes: Column | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> list[Level]:
    """Find the levels of a graph, and take one.

    Parameters
    ----------
    network : Network
        Graph of the samples.
    clouds : sequence of Network
        Graphs, made alike, of clouds without clusters that are as large and as wide as the samples; none where no cloud
        can be drawn, where a cloud is taken to hold nothing together.
    smallest : float, default=None
        Samples that a cluster has at least; those of smaller ones go where most of their edges go. By default four, or
        a tenth of all if that is less.
    sizes : ndarray of shape (n,), default=None
        As how many samples each vertex counts; one if None.
    seed : int, default=0
        One seed gives one result.
    n_jobs : int, default=None
        Runs in work at a time.

    Returns
    -------
    list of Level
        From coarse to fine, at least one; one is taken: that of a single cluster, which comes first then, where a cloud
        without clusters falls apart as easily.
    """
    search = Search.of(network.n, n_jobs)
    found = search.partitions(network, seed, (0.0, 1 - OF_CLOUDS))
    found = found.only((found.n_clusters > 1) & (found.n_clusters <= max(network.n / FINEST, ALWAYS)))
    least = min(SMALLEST, network.n / 10) if smallest is None else smallest
    if found.labels:
        found = found.dissolved(network, least, sizes)
        fewest = np.array([np.bincount(labels, sizes).min() for labels in found.labels])
        found = found.only((found.n_clusters > 1) & (fewest >= least))
    if not found.labels:
        return [one_cluster(network.n)]
    ends = np.linspace(1 - OF_CLOUDS, 1.0, len(clouds) + 1)
    spans = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    quick = replace(search, step=2 * search.step, n_seeds=1)
    of_clouds = [
        (quick.partitions(cloud, seed, span), cloud.n / network.n) for cloud, span in zip(clouds, spans, strict=True)
    ]
    alike = agreements(found.labels)
    near = persistence(alike, found.resolution, reaches_down=found.reaches_down)
    within, beyond = _of_clouds(of_clouds, found.n_clusters)
    held, is_finest_taken = _held_together(found, within, beyond)
    score = np.maximum(found.stability**2 * near**2 * held, np.finfo(float).tiny)
    others = (score / score.max()) ** SHARPNESS
    agreement = alike @ others / others.sum()
    columns = [found.resolution, score / score.max(), found.stability, near, agreement, found.modularity]
    if clouds:
        columns += [(1 - found.inside) / np.maximum(1 - within, TINY), found.modularity - beyond]
    levels = [Level(found.labels[i], *(float(column[i]) for column in columns)) for i in _peaks(score, alike)]
    best = int(np.argmax([level.score if is_finest_taken else level.agreement for level in levels]))
    if is_finest_taken:
        is_as_good = [level.score >= AS_GOOD and not level.falls_apart(DOUBTFUL[0], np.inf) for level in levels]
        best = max([best, *np.flatnonzero(is_as_good).tolist()])
    if levels[best].falls_apart(*DOUBTFUL) or levels[best].steadiness < VAGUE:
        best = 0
    taken = levels[best] = replace(levels[best], is_taken=True)
    if not taken.falls_apart(*NONE):
        return levels
    whole = replace(one_cluster(network.n), background=taken.background, gain=taken.gain)
    return [whole, *(replace(level, is_taken=False) for level in levels)]


def one_cluster(n_samples: int) -> Level:
    """Return the level at which all samples are together, which is taken."""
    return Level(np.zeros(n_samples, dtype=np.int64), 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, is_taken=True)


def persistence(alike: Column, resolution: Column, *, reaches_down: bool = False) -> Column:
    """Return how far each partition agrees with those at resolutions near by.

    Parameters
    ----------
    alike : ndarray of shape (m, m)
        Adjusted Rand indices between the partitions.
    resolution : ndarray of shape (m,)
        On a geometric scale, ascending.
    reaches_down : bool, default=False
        Whether the first partition is that of all lower resolutions, too, where it is judged.
    """
    place = np.log(resolution)
    if len(place) == 1:
        return np.ones(1)
    seen_from = place - np.where(reaches_down & (np.arange(len(place)) == 0), DEEP, 0.0)
    weights = np.exp(-0.5 * ((seen_from[:, None] - place) / NEAR) ** 2)
    np.fill_diagonal(weights, 0.0)
    if reaches_down:
        lower = place[0] - (place[1] - place[0]) * np.arange(1, BELOW + 1)
        weights[:, 0] += np.exp(-0.5 * ((seen_from[:, None] - lower) / NEAR) ** 2).sum(axis=1)
    return np.asarray((alike * weights).sum(axis=1) / weights.sum(axis=1))


def _of_clouds(clouds: Sequence[tuple[Partitions, float]], n_clusters: NDArray[np.int64]) -> tuple[Column, Column]:
    """Return the share of the edges within so many clusters of a cloud, and their modularity; zeros without clouds.

    In d directions the share of leaving edges grows as the d-th root of clusters over samples. So a cloud with a part
    of the samples, which is given beside it, tells of one with all.
    """
    held = []
    for found, part in clouds:
        numbers, at = np.unique(found.n_clusters, return_inverse=True)
        times = np.bincount(at)
        columns = [np.bincount(at, column) / times for column in (found.inside, found.modularity)]
        within, beyond = (np.interp(np.log(n_clusters), np.log(numbers), column) for column in columns)
        if part < 1:
            some = (numbers > 1) & (columns[0] > 0.5) & (columns[0] < 1)
            power = np.polyfit(np.log(numbers[some]), np.log(1 - columns[0][some]), 1)[0] if some.sum() > 1 else 0.0
            beyond = beyond + (1 - within) * (1 - part**power)
            within = 1 - (1 - within) * part**power
        held.append([within, beyond])
    within, beyond = np.mean(held, axis=0) if held else np.zeros((2, len(n_clusters)))
    return within, beyond


def _held_together(found: Partitions, within: Column, beyond: Column) -> tuple[Column, bool]:
    """Return how much more clusters hold together than those of a cloud, and whether that lies in few directions."""
    if beyond.max() >= FEW_DIRECTIONS:
        return np.sqrt(np.maximum(1 - (1 - found.inside) / np.maximum(1 - within, TINY), TINY)), True
    angle = np.arcsin(np.sqrt(found.inside)) - np.arcsin(np.sqrt(within))
    return np.asarray(np.sqrt(np.maximum(angle, TINY)) * found.modularity**3), False


def _peaks(score: Column, alike: Column) -> list[int]:
    """Return the local maxima that are plausible, ascending, one of those that are the same partition."""
    around = np.concatenate([[-np.inf], score, [-np.inf]])
    is_peak = (score >= around[:-2]) & (score >= around[2:]) & (score >= PLAUSIBLE * score.max())
    kept: list[int] = []
    for i in map(int, np.flatnonzero(is_peak)):
        if kept and alike[kept[-1], i] >= SAME:
            kept[-1] = max(kept[-1], i, key=lambda at: float(score[at]))
        else:
            kept.append(i)
    return kept


def reliability_of(network: Network, level: Level, seed: int = 0) -> float:
    """Return how far a level can be relied on, between 0 and 1.

    It is the agreement with the communities of the same edges with random weights, times persistence, times the
    agreement with all that is plausible; of one cluster it is one where a cloud falls apart as easily, and falls to
    zero where clusters share half of the edges that they share in a cloud.
    """
    if level.n_clusters == 1:
        return 0.0 if level.background is None else float(np.clip(2 * level.background - 1, 0.0, 1.0))
    random_state = np.random.RandomState(seed)
    search = Search.of(network.n)
    again = [
        communities(network.reweighted(random_state), level.resolution, seed=seed, n_rounds=search.n_rounds)
        for _ in range(REWEIGHTED)
    ]
    found_again = float(np.mean([max(adjusted_rand(level.labels, labels), 0.0) for labels in again]))
    return found_again * level.persistence * level.agreement


def sentences(levels: Sequence[Level]) -> list[str]:
    """Return in words which level is taken, and what else is plausible."""
    taken = next(level for level in levels if level.is_taken)
    if taken.n_clusters == 1:
        return doubts(levels)
    told = [
        f"{taken.n_clusters} clusters are the communities at resolution {taken.resolution:.3g}: other starts find them "
        f"to an adjusted Rand index of {taken.stability:.2f}, and resolutions near by to {taken.persistence:.2f}; "
        f"their modularity is {taken.modularity:.2f}."
    ]
    others = [(str(at), str(level.n_clusters)) for at, level in enumerate(levels) if level is not taken]
    if others:
        numbers, places = (_listed([pair[i] for pair in others]) for i in (1, 0))
        told.append(f"Plausible as well: {numbers} clusters, which at_level reads out as level {places}.")
    if others and taken is levels[0] and max(levels, key=lambda level: level.agreement).steadiness < VAGUE:
        told.append("The graph hardly tells how many there are, so that the coarsest level was taken.")
    return [*told, *doubts(levels)]


def doubts(levels: Sequence[Level]) -> list[str]:
    """Return what speaks against any clusters at all."""
    taken = next(level for level in levels if level.is_taken)
    is_one = taken.n_clusters == 1
    if taken.background is not None and (is_one or taken.falls_apart(*DOUBTFUL)):
        share = f"Clusters share {100 * taken.background:.0f} % of the edges that they share in a cloud without any"
        return [share + (", so that all samples were left in one." if is_one else ": there may be none.")]
    return ["No clusters were found: all samples were left in one."] if is_one else []


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
