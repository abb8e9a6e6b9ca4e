"""Clustering with several kernels or several views of the data."""

from kernelbraid._version import __version__
from kernelbraid.estimators import (
    LKG,
    AffinityAggregation,
    KernelKMeans,
    KernelSpectralClustering,
    LandmarkLKG,
    LKGClassifier,
    LKGSearch,
    MultipleKernelKMeans,
    MultipleKernelTwinGraph,
    SimplexGraph,
    TwinGraph,
    load_model,
    save_model,
)

__all__ = [
    "LKG",
    "LKGSearch",
    "LandmarkLKG",
    "LKGClassifier",
    "KernelKMeans",
    "MultipleKernelKMeans",
    "KernelSpectralClustering",
    "AffinityAggregation",
    "SimplexGraph",
    "TwinGraph",
    "MultipleKernelTwinGraph",
    "save_model",
    "load_model",
    "__version__",
]
