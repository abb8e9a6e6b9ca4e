"""Closed forms: proximal operators, projection onto the simplex, spectral embedding, weights from costs."""

from kernelbraid.ops.projection import project_to_simplex
from kernelbraid.ops.proximal import nonnegative, soft_threshold
from kernelbraid.ops.spectral import (
    laplacian,
    normalised_graph,
    spectral_embedding,
    spectral_vectors,
    symmetrise,
    unit_rows,
)
from kernelbraid.ops.weights import power_weights

__all__ = [
    "nonnegative",
    "soft_threshold",
    "project_to_simplex",
    "laplacian",
    "normalised_graph",
    "spectral_embedding",
    "spectral_vectors",
    "symmetrise",
    "unit_rows",
    "power_weights",
]
