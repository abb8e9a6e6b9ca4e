"""Clustering with several kernels or several views of the data."""

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

__version__ = "0.1.0"

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
