"""Closed forms: proximal operators and spectral embedding."""

from kernelbraid.ops.proximal import L1, NUCLEAR, Penalty, nonnegative, singular_value_threshold, soft_threshold
from kernelbraid.ops.spectral import normalised_graph, spectral_embedding, symmetrise, unit_rows

__all__ = [
    "L1",
    "NUCLEAR",
    "Penalty",
    "nonnegative",
    "singular_value_threshold",
    "soft_threshold",
    "normalised_graph",
    "spectral_embedding",
    "symmetrise",
    "unit_rows",
]
