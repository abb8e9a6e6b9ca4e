"""What each view counts, measured against the others, given by the user, or all alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import namespace
from kernelbraid._machine import calm, counted
from kernelbraid._typing import Array
from kernelbraid.kernels import FittedBank, KernelStack, StoredStack, name_in_view, stack_given
from kernelbraid.kernels.banks import resolve_bank
from kernelbraid.learning.settings import Learning, Settings
from kernelbraid.learning.sources import Candidates, Samples
from kernelbraid.learning.trust import LEVEL, TELLING, Trust, deviations, judge, names_of
from kernelbraid.metrics.partitions import modularity
from kernelbraid.ops.graphs import spectral_embedding
from kernelbraid.solvers.kmeans import kmeans

RESTARTS = 3  # of k-means in the graph of one view
# How something is computed, and not what comes out.
COMPUTING = ("n_jobs", "thresholding", "record_objective", "restart_score")
# What a ready graph has no use for, since nothing is learned from it and its edges stay.
OF_LEARNING = ("fusion", "n_neighbors", "edge_weights", *(field.name for field in fields(Learning)))


@dataclass
class Weighed:
    """Samples, with what each of their views counts."""

    samples: Samples
    weights: NDArray[np.float64]  # (n_views,): not negative, sum 1, zero for views that are left out
    trust: Trust | None = None  # what views say of each other; None if they were not measured
    neighbours: Sequence[Array] = ()  # graphs of nearest neighbours, of some of the samples, where they were measured
    spare: tuple[int, ...] = ()  # views without a weight that are to place samples to come
    in_rows: bool = False  # whether kernels are never posed over all pairs of samples
    counts: NDArray[np.float64] | None = None  # how often each sample counts, relative to their mean; None: once
    joined: Candidates | None = None  # kernels of all that count, where one graph is learned of them all

    @classmethod
    def alike(cls, samples: Samples) -> "Weighed":
        """Return views that count alike, without measuring them."""
        return cls(samples, np.full(samples.n_views, 1 / samples.n_views))

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.samples.n_samples

    @property
    def n_views(self) -> int:
        """Number of views."""
        return self.samples.n_views

    @property
    def used(self) -> list[int]:
        """Views with a weight."""
        return np.flatnonzero(self.weights).tolist()

    @property
    def orphans(self) -> NDArray[np.bool_]:
        """Samples that no view with a weight has: those that are left out must place them."""
        return np.asarray(~np.logical_or.reduce([self.samples.measured[view] for view in self.used]))

    @property
    def reserve(self) -> list[int]:
        """Views without a weight that have such samples, or may."""
        orphans = self.orphans
        others = (view for view in range(self.n_views) if self.weights[view] == 0)
        return [view for view in others if view in self.spare or (self.samples.measured[view] & orphans).any()]

    @property
    def needed(self) -> list[int]:
        """Views from which all samples are known."""
        return sorted([*self.used, *self.reserve])

    @property
    def identities(self) -> np.ndarray:
        """Numbers of the distinct samples: equal ones for copies."""
        return self.samples.identities(self.needed)

    def weight_of(self, view: int) -> float:
        """Return what a view counts; where it is the only one that has a sample, as much as others do on average."""
        weight = float(self.weights[view])
        return weight if weight > 0 else float(self.weights[self.used].mean())

    def rows_of(self, view: int) -> np.ndarray | None:
        """Return the samples that a view has; None for all."""
        rows = self.samples.measured[view]
        return None if rows.all() else np.flatnonzero(rows)

    def posed(self, banks: Sequence[Any]) -> Iterator[tuple[int, Candidates]]:
        """Yield the views that are needed, with the candidates of each bank, posed one at a time."""
        for view in self.needed:
            one = self.samples.only(view)
            for bank in self.samples.banks_of(view, banks):
                rows = self.rows_of(view)
                counts = self.counts if self.counts is None or rows is None else self.counts[rows]
                yield view, replace(one.pose(bank, is_shared=True), counts=counts)

    def joining(self, kernels: Any, *, learned: bool) -> "Weighed":
        """Return the same views, of which one graph is learned: each has one kernel, the average of its own.

        Parameters
        ----------
        kernels : str or list
            A bank for all views, a bank per view, or ``"precomputed"``.
        learned : bool
            Whether weights are learned: one candidate per view. Otherwise one candidate, their weighted sum.
        """
        if self.samples.has_gaps:
            raise ValueError(
                "X lacks samples in some views, and kernels cannot be joined then; leave out fusion and the solver, "
                "and graphs are."
            )
        posed = [
            self.samples.only(view).pose(bank) for view in self.used for bank in self.samples.banks_of(view, [kernels])
        ]
        averages = [candidates.average() for candidates in posed]
        xp = namespace(averages[0])
        stack: KernelStack
        if learned:
            stack = StoredStack.of(xp.stack(averages), overwrite=True)
            shares = np.eye(len(posed))
        else:
            shares = self.weights[self.used][:, None]
            total: Array = sum(float(weight) * K for weight, K in zip(shares.ravel(), averages, strict=True))
            stack = stack_given(total[None, ...])
        sizes = [len(candidates.names) for candidates in posed]
        mixing = np.repeat(shares / np.array(sizes)[:, None], sizes, axis=0)
        named = zip(self.used, posed, strict=True)
        names = [name_in_view(name, view + 1) for view, candidates in named for name in candidates.names]
        bank = _joined([candidates.bank for candidates in posed])
        views = tuple(self.used)
        return replace(self, joined=Candidates(stack, names, self.samples, bank, views, mixing, self.counts))

    def values_used(self, settings: Settings) -> dict[str, Any]:
        """Return the value of every parameter that decides the clusters, for settings in which nothing is left open.

        Where graphs of views are summed, `alpha` and `kernels` are lists: every view has a graph for each pair of them.
        Of a ready graph, what has no part in it is None.
        """
        values = {name: value for name, value in settings.flat().items() if name not in COMPUTING}
        if self.joined is not None:
            return values | {"kernels": _chosen(settings.kernels, self.joined.bank)}
        if self.in_rows and (self.n_views == 1 or settings.fusion == "kernels"):
            samples: Any = self.samples
            banks = [bank for view in self.used for bank in samples.row_banks(view, [settings.kernels])]
            chosen = banks[0] if len(banks) == 1 else banks
            return values | {"kernels": chosen if settings.kernels == "auto" else settings.kernels}
        if not self.samples.has_kernels:
            return values | {name: None for name in OF_LEARNING if name in values}
        return values | {
            "alpha": list(settings.alphas),
            "kernels": settings.kernels if settings.kernels == "precomputed" else settings.fused_banks,
            "n_neighbors": settings.fused_readout(self.n_samples).n_neighbors,
        }

    def learned_weights(self, weights: np.ndarray) -> NDArray[np.float64]:
        """Return what each view counts after weights of joined kernels were learned."""
        assert self.joined is not None
        if self.trust is None:
            return self.joined.weights_of_views(weights)
        if self.joined.stack.n_kernels == 1:  # their weighted sum
            return self.weights
        spread = np.zeros(self.n_views)
        spread[self.used] = weights
        return spread

    def report(self, weights: NDArray[np.float64], n_clusters: int) -> dict[str, Any]:
        """Return what is known of the views, in columns: whether they are trusted and why, and how far they agree."""
        trust, n = self.trust, len(weights)
        alone = self.n_views == 1 or n == 1
        why = "is the only one" if alone else "is used as it comes: the preset does not weigh views"
        return {
            "names": [f"view {view + 1}" for view in range(n)],
            "trusted": np.ones(n, dtype=bool) if trust is None else np.array(trust.trusted, dtype=bool),
            "weights": np.asarray(weights, dtype=np.float64),
            "why": [why] * n if trust is None else list(trust.reasons),
            "agreement": np.full((n, n), np.nan) if trust is None else _off_diagonal(trust.agreement),
            "n_samples": np.array([self.samples.measured[view].sum() for view in range(n)], dtype=np.float64),
            "clarity": np.array(self._clarity(n_clusters) if self.neighbours else [np.nan] * n),
        }

    def _clarity(self, n_clusters: int) -> list[float]:
        """Return the modularity of the clusters that each view has alone, in the graph of its nearest neighbours."""
        random_state = np.random.RandomState(0)
        found = []
        for graph in self.neighbours:
            rows = np.flatnonzero(np.diff(graph.indptr))
            k = min(n_clusters, len(rows))
            own = sparse.csr_array(graph[rows][:, rows])
            if k < 2:
                found.append(0.0)
                continue
            placed = spectral_embedding(own, k)
            labels = kmeans(placed, k, n_init=RESTARTS, random_state=random_state, spread=True).labels
            found.append(float(modularity(own, labels)))
        return found


def _off_diagonal(agreement: Any) -> NDArray[np.float64]:
    """Return how far views agree with others; NaN for themselves and where that was not measured."""
    found = np.array(agreement, dtype=np.float64)
    np.fill_diagonal(found, np.nan)
    return np.where(np.isfinite(found), found, np.nan)


def weigh(samples: Samples, view_weights: Any = None, *, threads: int | None = None) -> Weighed:
    """Measure the views against each other, and give each its weight.

    Parameters
    ----------
    samples : Samples
        Several views.
    view_weights : array-like of shape (n_views,), default=None
        Weights of the user, with which nothing is left out but what they say; views that agree count alike if None.
    threads : int, default=None
        Threads of BLAS.
    """
    check_views(samples)
    given = None if view_weights is None else check_weights(view_weights, samples.n_views)
    n = samples.n_samples
    is_small = n <= TELLING or not samples.has_kernels  # comparing sparse graphs costs little
    some = samples if is_small else samples.some(np.linspace(0, n - 1, TELLING).round().astype(np.int64))
    with calm(threads):
        graphs = [some.neighbours(view) for view in range(some.n_views)]
        trust = judge(graphs, some.measured, partial(_halves_agree, some), some.are_equal, some.neighbours)
    if given is None:
        weights = trust.counted.astype(float)
        return Weighed(samples, weights / weights.sum(), trust, graphs)
    weighed = Weighed(samples, given / given.sum(), trust.weighing(given), graphs)
    orphans = np.flatnonzero(weighed.orphans)
    if len(orphans):
        raise ValueError(
            f"sample {int(orphans[0])} of X (counted from 0) is missing in every view with a weight; leave it out, "
            "or give a view that has it a weight in view_weights."
        )
    return weighed


def _halves_agree(samples: Samples, view: int) -> bool | None:
    """Tell whether two halves of the features of a view share neighbours."""
    halves = samples.halves(view)
    return None if halves is None else deviations(halves.neighbours(0), halves.neighbours(1))[0] > LEVEL


def check_views(samples: Samples) -> None:
    """Refuse a view without samples, or whose samples are all alike, and samples that no view has."""
    for view, rows in enumerate(samples.measured):
        if not rows.any():
            raise ValueError(f"{names_of([view])} of X has no sample, only NaN; leave it out.")
        if samples.is_constant(view):
            raise ValueError(f"{names_of([view])} of X is constant: all its samples are alike; leave it out.")
    bare = np.flatnonzero(~np.logical_or.reduce(samples.measured))
    if len(bare):
        more = "" if len(bare) == 1 else f", and {len(bare) - 1} more"
        raise ValueError(f"sample {int(bare[0])} of X (counted from 0) is missing in every view; leave it out{more}.")


def check_weights(view_weights: Any, n_views: int) -> NDArray[np.float64]:
    """Return weights of views as numbers, or say what is wrong with them."""
    try:
        weights = np.asarray(view_weights, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty((0, 0))
    if weights.shape != (n_views,):
        given = f"{len(weights)} of them" if weights.ndim == 1 else repr(view_weights)
        raise ValueError(f"view_weights must be {counted(n_views, 'number')}, one for each view of X; got {given}.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(f"view_weights must be numbers from 0 on, and not all 0; got {weights.tolist()}.")
    return weights


def _chosen(kernels: Any, bank: FittedBank | None) -> Any:
    """Return kernels as they were given, or what ``"auto"`` has chosen: a bank, or a bank for each view."""
    if not (isinstance(kernels, str) and kernels == "auto") or bank is None:
        return kernels
    all_of_them = [*resolve_bank("middle"), *resolve_bank("near")]
    banks = [all_of_them[: len(one)] for one in bank.banks]
    return banks[0] if len(banks) == 1 else banks


def _joined(banks: Sequence[FittedBank | None]) -> FittedBank | None:
    """Return the banks of single views as one."""
    known = [bank for bank in banks if bank is not None]
    if len(known) < len(banks):
        return None
    return FittedBank(
        [view for bank in known for view in bank.views],
        [kernels for bank in known for kernels in bank.banks],
        [pairs for bank in known for pairs in bank.pairs],
    )
