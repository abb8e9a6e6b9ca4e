"""scikit-learn estimators."""

from kernelbraid.estimators.classifier import LKGClassifier
from kernelbraid.estimators.diffusion import CrossViewDiffusion
from kernelbraid.estimators.graph_fusion import MultiViewGraphFusion
from kernelbraid.estimators.kernel_kmeans import KernelKMeans, MultipleKernelKMeans
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.min_max_kmeans import SimpleMultipleKernelKMeans
from kernelbraid.estimators.self_weighted import SelfWeightedMultipleKernel
from kernelbraid.estimators.similarity import MultipleKernelTwinGraph, SimplexGraph, TwinGraph
from kernelbraid.estimators.solver import ADMM
from kernelbraid.estimators.spectral import AffinityAggregation, KernelSpectralClustering

__all__ = [
    "LKG",
    "ADMM",
    "LKGClassifier",
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
]
