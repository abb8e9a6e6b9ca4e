"""The eleven methods of the paper and four later ones, by the names that papers give them."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from sklearn.base import BaseEstimator, clone

from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.solver import ADMM
from kernelbraid.methods.graph_fusion import CrossViewDiffusion, MultiViewGraphFusion
from kernelbraid.methods.kernel_kmeans import KernelKMeans, MultipleKernelKMeans
from kernelbraid.methods.min_max_kmeans import SimpleMultipleKernelKMeans
from kernelbraid.methods.self_weighted import SelfWeightedMultipleKernel
from kernelbraid.methods.similarity import MultipleKernelTwinGraph, SimplexGraph, TwinGraph
from kernelbraid.methods.spectral import AffinityAggregation, KernelSpectralClustering

__all__ = [
    "KernelKMeans",
    "MultipleKernelKMeans",
    "KernelSpectralClustering",
    "AffinityAggregation",
    "SimplexGraph",
    "TwinGraph",
    "MultipleKernelTwinGraph",
    "SimpleMultipleKernelKMeans",
    "SelfWeightedMultipleKernel",
    "MultiViewGraphFusion",
    "CrossViewDiffusion",
    "METHODS",
    "TITLES",
    "kernels_taken",
    "settings_of",
]


class Methods(Mapping[str, BaseEstimator]):
    """Unfitted estimators by name, a new one at every look-up."""

    def __init__(self, estimators: Mapping[str, BaseEstimator]) -> None:
        self._estimators = estimators

    def __getitem__(self, name: str) -> BaseEstimator:
        """Return an estimator that nobody else has."""
        return clone(self._estimators[name])

    def __iter__(self) -> Iterator[str]:
        """Yield the names, those of the paper first and in its order."""
        return iter(self._estimators)

    def __len__(self) -> int:
        """Return the number of methods."""
        return len(self._estimators)


# One run from random centres; the k-means of the graph methods keeps the best of ten, by the sum of distances.
ONE_RUN: dict[str, Any] = {"init": "random", "n_init": 1}
TEN_RUNS: dict[str, Any] = {"init": "random", "n_init": 10}
TEN_RESTARTS: dict[str, Any] = {"n_init": 10, "restart_score": "distance"}

#: Every method as behind the published figures; what was tuned with labels there is left at its default.
METHODS = Methods(
    {
        "KKM": KernelKMeans(**ONE_RUN),
        "SC": KernelSpectralClustering(embedding="unnormalised", **TEN_RESTARTS),
        "RKKM": KernelKMeans(robust=True, **ONE_RUN),
        "SSR": SimplexGraph(),
        "SCSK": TwinGraph(),
        "MKKM": MultipleKernelKMeans(**ONE_RUN),
        "AASC": AffinityAggregation(**TEN_RESTARTS),
        "RMKKM": MultipleKernelKMeans(robust=True, **TEN_RUNS),
        "SCMK": MultipleKernelTwinGraph(),
        "LKGs": LKG(preset="authors", solver=ADMM(graph_penalty="l1")),
        "LKGr": LKG(preset="authors", solver=ADMM(graph_penalty="nuclear")),
        # What came after the paper.
        "SimpleMKKM": SimpleMultipleKernelKMeans(**TEN_RESTARTS),
        "SMKL": SelfWeightedMultipleKernel(),
        "GMC": MultiViewGraphFusion(),
        "CGD": CrossViewDiffusion(),
    }
)

#: What each of them is, in words.
TITLES = {
    "KKM": "kernel k-means",
    "SC": "spectral clustering, unnormalised Laplacian",
    "RKKM": "robust kernel k-means",
    "SSR": "simplex sparse representation",
    "SCSK": "twin learning, one kernel",
    "MKKM": "multiple kernel k-means",
    "AASC": "affinity aggregation",
    "RMKKM": "robust multiple kernel k-means",
    "SCMK": "twin learning, several kernels",
    "LKGs": "low-rank kernel, sparse graph",
    "LKGr": "low-rank kernel, low-rank graph",
    "SimpleMKKM": "min-max multiple kernel k-means",
    "SMKL": "self-weighted multiple kernel learning",
    "GMC": "graph-based multi-view clustering",
    "CGD": "cross-view graph diffusion",
}


def kernels_taken(model: BaseEstimator) -> Literal["one", "several", "none"]:
    """Return how many kernels a method takes at once: ``"one"``, ``"several"`` or ``"none"``, as one of samples."""
    names = model.get_params(deep=False)
    return "one" if "kernel" in names else "several" if "kernels" in names else "none"


def settings_of(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters of an estimator that are not the defaults of its class; ``solver__gamma`` of its solver."""
    found: dict[str, Any] = {}
    defaults = type(model)().get_params(deep=False)
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            found |= {f"{name}__{inner}": of_inner for inner, of_inner in settings_of(value).items()}
        elif value != defaults[name]:
            found[name] = value
    return found
