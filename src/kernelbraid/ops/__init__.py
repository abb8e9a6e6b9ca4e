"""Closed forms: proximal operators, projection onto the simplex, spectral embedding, weights from costs."""

from kernelbraid.ops.closed_forms import nonnegative, power_weights, project_to_simplex, soft_threshold
from kernelbraid.ops.graphs import (
    laplacian,
    normalised_graph,
    spectral_embedding,
    spectral_vectors,
    symmetrise,
    unit_rows,
)

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
