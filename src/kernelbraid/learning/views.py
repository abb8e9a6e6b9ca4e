"""Several views of the same samples: measured against each other, and weighed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import as_dense, namespace, to_numpy
from kernelbraid._system import counted
from kernelbraid._threads import calm
from kernelbraid._typing import Array
from kernelbraid.kernels import FittedBank, KernelStack, banks_for, stack_given
from kernelbraid.kernels.stacks import StoredStack
from kernelbraid.learning.candidates import Candidates, GivenKernels, Views
from kernelbraid.learning.graphs import GivenGraphs
from kernelbraid.learning.identity import identities, row_digests
from kernelbraid.learning.trust import LEVEL, TELLING, Trust, deviations, judge, neighbour_graph
from kernelbraid.metrics.label_free import modularity
from kernelbraid.ops.spectral import spectral_embedding
from kernelbraid.solvers.kmeans import kmeans

#: The kernels by which neighbours are found.
TELLING_BANK = "middle"
FEW_RESTARTS = 3
#: What kernels are posed over; and what can be weighed.
Samples: TypeAlias = Views | GivenKernels
Sources: TypeAlias = Views | GivenKernels | GivenGraphs


@dataclass(frozen=True)
class WeighedViews:
    """Views with what they say of each other, and what each counts."""

    samples: Sources
    trust: Trust
    weights: NDArray[np.float64]  # (n_views,): not negative, sum 1, zero for views that are left out
    neighbours: list[Array]  # graphs of nearest neighbours, of some of the samples
    has_learned_weights: bool = False  # whether the weights were a start only
    has_given_weights: bool = False  # whether they are those of the user
    spare: tuple[int, ...] = ()  # views without a weight that are to place samples to come
    # Refined graphs that were needed before: by view, number of the bank, weight of the penalty.
    graphs: dict[tuple[int, int, float], Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.samples.n_samples

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
        others = (view for view in range(self.samples.n_views) if self.weights[view] == 0)
        return [view for view in others if view in self.spare or (self.samples.measured[view] & orphans).any()]

    @property
    def needed(self) -> list[int]:
        """Views from which all samples are known."""
        return sorted([*self.used, *self.reserve])

    @property
    def like(self) -> Array:
        """An array that lives where the samples are computed with."""
        like = self.samples.like
        return like if self.samples.place is None else self.samples.place(np.zeros(1))

    @property
    def kept(self) -> list[Array]:
        """What is kept of the samples: the views that are needed, or kernels of theirs."""
        if isinstance(self.samples, Views):
            return [self.samples.views[view] for view in self.needed]
        if isinstance(self.samples, GivenGraphs):
            return [self.samples.given[view] for view in self.needed]
        return [matrix for view in self.needed for matrix in self.samples.given(view)]

    @property
    def posed(self) -> Samples:
        """The samples, over which kernels are posed."""
        assert not isinstance(self.samples, GivenGraphs)  # which have none
        return self.samples

    @property
    def digests(self) -> list[bytes]:
        """What tells the samples apart."""
        return row_digests(self.kept, dense=isinstance(self.samples, GivenKernels))

    @property
    def identities(self) -> np.ndarray:
        """Numbers of the distinct samples: equal ones for copies; who has the same neighbours need not be one."""
        return np.arange(self.n_samples) if isinstance(self.samples, GivenGraphs) else identities(self.digests)

    def average(self) -> Array:
        """Return the weighted mean of a kernel per view; zero between samples that a view does not have."""
        n, samples = self.samples.n_samples, self.posed
        total = np.zeros((n, n))
        for view in self.used:
            rows = np.flatnonzero(samples.measured[view])
            K = to_numpy(samples.only(view).pose(TELLING_BANK).average())
            total[np.ix_(rows, rows)] += float(self.weights[view]) * K
        return total

    def clarity(self, n_clusters: int, random_state: np.random.RandomState) -> list[float]:
        """Return the modularity of the clusters that each view has alone, in the graph of its nearest neighbours."""
        found = []
        for graph in self.neighbours:
            rows = np.flatnonzero(np.diff(graph.indptr))
            k = min(n_clusters, len(rows))
            own = sparse.csr_array(graph[rows][:, rows])
            if k < 2:
                found.append(0.0)
                continue
            placed = spectral_embedding(own, k)
            labels = kmeans(placed, k, n_init=FEW_RESTARTS, random_state=random_state, spread=True).labels
            found.append(float(modularity(own, labels)))
        return found

    def report(self, clarity: Sequence[float] | None = None) -> list[dict[str, Any]]:
        """Return an entry per view: its name, agreement with the others, whether it is trusted and why, its weight."""
        return [
            {
                "name": f"view {view + 1}",
                "trusted": bool(self.trust.trusted[view]),
                "weight": float(self.weights[view]),
                "reason": self.trust.reasons[view],
                "agreement": {
                    f"view {other + 1}": float(z)
                    for other, z in enumerate(self.trust.agreement[view])
                    if other != view and np.isfinite(z)
                },
                "n_samples": int(self.samples.measured[view].sum()),
                "clarity": None if clarity is None else float(clarity[view]),
            }
            for view in range(self.samples.n_views)
        ]

    def one_kernel_each(self, kernels: Any, *, learned: bool) -> Candidates:
        """Return candidates of which every view has one, the average of its own kernels.

        Parameters
        ----------
        kernels : str or list
            A bank for all views, a bank per view, or ``"precomputed"``.
        learned : bool
            Whether weights are learned: one candidate per view. Otherwise one candidate, their weighted sum.
        """
        if self.samples.has_gaps:
            raise ValueError(
                "X lacks samples in some views, and kernels cannot be joined then; leave out fusion and gamma, "
                "with which graphs are."
            )
        posed = [self.posed.only(view).pose(self.bank_of(view, kernels)) for view in self.used]
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
        names = [
            f"view {view + 1}: {name}"
            for view, candidates in zip(self.used, posed, strict=True)
            for name in candidates.names
        ]
        bank = _joined([candidates.bank for candidates in posed])
        return Candidates(stack, names, self.kept, bank, mixing, replace(self, has_learned_weights=learned))

    def spread(self, weights: np.ndarray | None) -> NDArray[np.float64]:
        """Return weights of the views that are used as weights of all."""
        spread = np.zeros(self.samples.n_views)
        spread[self.used] = weights
        return spread

    def bank_of(self, view: int, kernels: Any) -> Any:
        """Return the bank of a view."""
        if not isinstance(self.samples, Views):
            return "precomputed"
        return banks_for(kernels, self.samples.views)[view] if is_bank_per_view(kernels) else kernels


def is_bank_per_view(kernels: Any) -> bool:
    """Tell a list of banks from a bank."""
    return (
        not isinstance(kernels, str) and bool(kernels) and all(isinstance(bank, str | list | tuple) for bank in kernels)
    )


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


def unweighed_report(weights: np.ndarray, n_samples: int | None) -> list[dict[str, Any]]:
    """Return an entry per view for views that were not measured against each other."""
    reason = "is the only one" if len(weights) == 1 else "is used as it comes: the preset does not weigh views"
    return [
        {
            "name": f"view {view + 1}",
            "trusted": True,
            "weight": float(weight),
            "reason": reason,
            "agreement": {},
            "n_samples": n_samples,
            "clarity": None,
        }
        for view, weight in enumerate(weights)
    ]


def weigh(samples: Sources, view_weights: Any = None, *, threads: int | None = None) -> WeighedViews:
    """Measure the views against each other, and give each its weight.

    Parameters
    ----------
    samples : Views, GivenKernels or GivenGraphs
        Several views, or kernels or graphs of several sources.
    view_weights : array-like of shape (n_views,), default=None
        Weights of the user, with which nothing is left out but what they say; views that agree count alike if None.
    threads : int, default=None
        Threads of BLAS.
    """
    check_views(samples)
    given = None if view_weights is None else check_weights(view_weights, samples.n_views)
    some: Sources = samples
    if not isinstance(samples, GivenGraphs) and samples.n_samples > TELLING:
        some = samples.some(_spaced(samples.n_samples))
    with calm(threads):
        graphs = [_neighbours(some, view) for view in range(some.n_views)]
        asked = (partial(_halves_agree, some), partial(_are_equal, some), partial(_graph_among, some))
        trust = judge(graphs, some.measured, *asked)
    if given is not None:
        trust = trust.weighing(given)
    weights = trust.counted.astype(float) if given is None else given
    weighed = WeighedViews(samples, trust, weights / weights.sum(), graphs, has_given_weights=given is not None)
    if given is not None:
        _check_samples(weighed)
    return weighed


def take_all(samples: Sources) -> WeighedViews:
    """Return views that count alike, without measuring them: a single one has nothing to be measured against."""
    n_views = samples.n_views
    return WeighedViews(samples, Trust.of_all(n_views, "is the only one"), np.full(n_views, 1 / n_views), [])


def _spaced(n: int) -> np.ndarray:
    """Return evenly spaced samples that tell."""
    return np.linspace(0, n - 1, TELLING).round().astype(np.int64)


def _neighbours(samples: Sources, view: int) -> Array:
    """Return the graph of nearest neighbours in a view, over all samples."""
    if isinstance(samples, GivenGraphs):
        return samples.neighbours(view)
    graph = neighbour_graph(_similarities(samples.only(view)))
    rows = np.flatnonzero(samples.measured[view])
    if len(rows) == samples.n_samples:
        return graph
    edges = graph.tocoo()
    return sparse.csr_array((edges.data, (rows[edges.row], rows[edges.col])), shape=(samples.n_samples,) * 2)


def _graph_among(samples: Sources, view: int, rows: NDArray[np.int64]) -> Array:
    """Return the graph of nearest neighbours in a view among some of the samples that it has."""
    if isinstance(samples, GivenGraphs):
        return samples.neighbours(view, rows)
    places = np.searchsorted(np.flatnonzero(samples.measured[view]), rows)
    return neighbour_graph(_similarities(samples.only(view))[np.ix_(places, places)])


def _similarities(samples: Samples) -> np.ndarray:
    """Return half the negative squared distances in the feature space of the average kernel."""
    K = to_numpy(samples.pose(TELLING_BANK).average()).astype(np.float64)
    squares = np.diagonal(K) / 2
    return np.asarray(K - squares[:, None] - squares[None, :])


def _halves_agree(samples: Sources, view: int) -> bool | None:
    """Tell whether two halves of the features of a view share neighbours."""
    halves = None if isinstance(samples, GivenGraphs) else samples.halves(view)
    if halves is None:
        return None
    A, B = (neighbour_graph(_similarities(halves.only(half))) for half in (0, 1))
    return deviations(A, B)[0] > LEVEL


def _are_equal(samples: Sources, one: int, other: int) -> bool:
    """Tell whether two views hold the same numbers."""
    if isinstance(samples, GivenGraphs):
        return samples.are_equal(one, other)
    mine, theirs = (_numbers(samples.only(view)) for view in (one, other))
    return len(mine) == len(theirs) and all(
        A.shape == B.shape and np.array_equal(A, B) for A, B in zip(mine, theirs, strict=True)
    )


def _numbers(samples: Samples) -> list[np.ndarray]:
    arrays = samples.views if isinstance(samples, Views) else samples.matrices
    return [to_numpy(as_dense(A)) for A in arrays]


def check_views(samples: Sources) -> None:
    """Refuse a view without samples, or whose samples are all alike."""
    for view, rows in enumerate(samples.measured):
        name = f"view {view + 1}"
        if not rows.any():
            raise ValueError(f"{name} of X has no sample, only NaN; leave it out.")
        if isinstance(samples, Views) and rows.sum() > 1 and _is_constant(samples.only(view).views[0]):
            raise ValueError(f"{name} of X is constant: all its samples are alike; leave it out.")
    bare = np.flatnonzero(~np.logical_or.reduce(samples.measured))
    if len(bare):
        more = "" if len(bare) == 1 else f", and {len(bare) - 1} more"
        raise ValueError(f"sample {int(bare[0])} of X (counted from 0) is missing in every view; leave it out{more}.")


def _is_constant(X: Array) -> bool:
    if sparse.issparse(X):
        return bool((X.max(axis=0) - X.min(axis=0)).nnz == 0)
    return bool(namespace(X).all(X[:1, :] == X))


def has_several(posed: Candidates | WeighedViews) -> bool:
    """Tell whether samples have several views that were weighed."""
    return posed.samples.n_views > 1 if isinstance(posed, WeighedViews) else posed.weighed is not None


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


def _check_samples(weighed: WeighedViews) -> None:
    """Refuse samples that only views without a weight have."""
    orphans = np.flatnonzero(weighed.orphans)
    if len(orphans):
        raise ValueError(
            f"sample {int(orphans[0])} of X (counted from 0) is missing in every view with a weight; leave it out, "
            "or give a view that has it a weight in view_weights."
        )
