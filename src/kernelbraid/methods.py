"""The methods of the paper, four later ones, and what is compared: a name, an estimator, a grid, a use of kernels."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering

from kernelbraid._typing import Parameters
from kernelbraid.estimators import (
    LKG,
    AffinityAggregation,
    CrossViewDiffusion,
    KernelKMeans,
    KernelSpectralClustering,
    LKGSearch,
    MultipleKernelKMeans,
    MultipleKernelTwinGraph,
    MultiViewGraphFusion,
    SelfWeightedMultipleKernel,
    SimpleMultipleKernelKMeans,
    SimplexGraph,
    TwinGraph,
)
from kernelbraid.kernels import AUTO

T = TypeVar("T")

#: ``"each"``: one kernel at a time, reported by the best and the mean; ``"all"``: all kernels of a bank at once;
#: ``"features"``: no kernel.
Policy: TypeAlias = Literal["each", "all", "features"]


@dataclass(frozen=True)
class Method:
    """A method under its name in the paper."""

    title: str  # what it is, in words
    estimator: type[BaseEstimator]
    policy: Policy
    settings: Parameters = field(default_factory=dict)  # as behind the published figures
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # tuned with labels
    fixed: Parameters = field(default_factory=dict)  # what no tuning changes
    reduce: Callable[..., NDArray[np.float64]] | None = None  # from all kernels of a bank to the one that it is given
    bank: str = "rmkkm"  # where an experiment names none
    joins: bool = False  # whether it takes one matrix, and so several views side by side

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters of the estimator."""
        starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        known = inspect.signature(self.estimator).parameters
        return [name for name, parameter in known.items() if parameter.kind not in starred]

    def make(self, n_clusters: int, **parameters: Any) -> BaseEstimator:
        """Return an unfitted estimator; parameters win over the settings of the method, not over fixed ones.

        An estimator that chooses the number of clusters itself, or draws nothing, is not told what it cannot use.
        """
        given = {"n_clusters": n_clusters, **self.settings, **parameters, **self.fixed}
        unused = [name for name in ("n_clusters", "random_state") if name not in self.parameters]
        return self.estimator(**{name: value for name, value in given.items() if name not in unused})

    def tunings(self) -> Iterator[dict[str, float]]:
        """Yield every combination of the grid, one empty one if there is nothing to tune."""
        return combinations(self.grid)


def combinations(grid: Mapping[str, Sequence[T]]) -> Iterator[dict[str, T]]:
    """Yield every point of a grid, one empty one if the grid is."""
    return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))


# One run from random centres; the k-means of the graph methods keeps the best of ten, by the sum of distances.
ONE_RUN = {"init": "random", "n_init": 1}
TEN_RUNS = {"init": "random", "n_init": 10}
TEN_RESTARTS = {"n_init": 10, "restart_score": "distance"}
TWIN_GRID = {"alpha": (1e-4, 1e-3, 1e-2, 1e-1), "beta": (1e-5, 1e-4, 1e-3, 1e-2)}
LKG_GRID = {
    "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
    "beta": (1e-2, 1e-1, 1.0),
    "gamma": (1e-2, 1e-1, 1.0, 10.0),
    "mu": (0.1, 0.3, 1.0, 3.0),
}
SMKL_GRID = {"alpha": (1e-5, 1e-3, 1e-1), "beta": (5.0, 15.0, 50.0, 150.0, 500.0), "gamma": (0.1, 1.0, 10.0)}
# The published algorithm; the defaults of LKG are others.
SPARSE = {"preset": "authors", "graph_penalty": "l1"}
LOW_RANK = {"preset": "authors", "graph_penalty": "nuclear"}

METHODS: dict[str, Method] = {
    "KKM": Method("kernel k-means", KernelKMeans, "each", ONE_RUN),
    "SC": Method(
        "spectral clustering, unnormalised Laplacian",
        KernelSpectralClustering,
        "each",
        {"embedding": "unnormalised", **TEN_RESTARTS},
    ),
    "RKKM": Method("robust kernel k-means", KernelKMeans, "each", {"robust": True, **ONE_RUN}),
    "SSR": Method("simplex sparse representation", SimplexGraph, "features"),
    "SCSK": Method("twin learning, one kernel", TwinGraph, "each", grid=TWIN_GRID),
    "MKKM": Method("multiple kernel k-means", MultipleKernelKMeans, "all", ONE_RUN),
    "AASC": Method("affinity aggregation", AffinityAggregation, "all", TEN_RESTARTS),
    "RMKKM": Method(
        "robust multiple kernel k-means",
        MultipleKernelKMeans,
        "all",
        {"robust": True, **TEN_RUNS},
        {"gamma": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)},
    ),
    "SCMK": Method("twin learning, several kernels", MultipleKernelTwinGraph, "all", grid=TWIN_GRID),
    "LKGs": Method("low-rank kernel, sparse graph", LKG, "all", SPARSE, LKG_GRID),
    "LKGr": Method("low-rank kernel, low-rank graph", LKG, "all", LOW_RANK, LKG_GRID),
    # What came after the paper.
    "SimpleMKKM": Method("min-max multiple kernel k-means", SimpleMultipleKernelKMeans, "all", TEN_RESTARTS),
    "SMKL": Method("self-weighted multiple kernel learning", SelfWeightedMultipleKernel, "all", grid=SMKL_GRID),
    "GMC": Method("graph-based multi-view clustering", MultiViewGraphFusion, "all"),
    "CGD": Method("cross-view graph diffusion", CrossViewDiffusion, "all"),
}

#: Other forms of the methods above that every table shows beside them.
VARIANTS: dict[str, Method] = {
    "SC-normalised": Method(
        "spectral clustering, normalised", KernelSpectralClustering, "each", {"embedding": "largest", **TEN_RESTARTS}
    ),
}

#: What a user of scikit-learn would use otherwise, untuned.
RIVALS: dict[str, Method] = {
    "KMeans": Method("scikit-learn's k-means", KMeans, "features", {"n_init": 10}, joins=True),
    "SC-rbf": Method("scikit-learn's spectral clustering, rbf", SpectralClustering, "features", joins=True),
    "SC-knn": Method(
        "scikit-learn's spectral clustering, 10 neighbours",
        SpectralClustering,
        "features",
        {"affinity": "nearest_neighbors", "n_neighbors": 10},
        joins=True,
    ),
    "HDBSCAN": Method(
        "scikit-learn's HDBSCAN, clusters of 5 samples or more; it chooses their number, and noise counts as one more",
        HDBSCAN,
        "features",
        {"min_cluster_size": 5, "copy": True},
        joins=True,
    ),
}

#: Ours for somebody without labels, as they come; the study alone shows them.
LABEL_FREE: dict[str, Method] = {
    "LKG": Method("LKG with its defaults", LKG, "all", bank=AUTO),
    "LKGSearch": Method("LKG with a setting chosen without labels", LKGSearch, "features"),
}
