"""The values that a fit had, under the names of the parameters: given, of the preset, or chosen by the samples."""

from dataclasses import fields
from typing import Any

from kernelbraid.kernels.banks import resolve_bank
from kernelbraid.learning.candidates import Candidates, GivenKernels
from kernelbraid.learning.graphs import GivenGraphs
from kernelbraid.learning.settings import Learning, Settings
from kernelbraid.learning.views import WeighedViews

# How something is computed, and not what comes out.
COMPUTING = ("n_jobs", "thresholding", "record_objective")
# What a ready graph has no use for, since nothing is learned from it and its edges stay.
OF_LEARNING = ("fusion", "n_neighbors", "edge_weights", "keep_matrices", *(field.name for field in fields(Learning)))


def used_values(settings: Settings, posed: Candidates | WeighedViews) -> dict[str, Any]:
    """Return the value of every parameter that decides the clusters.

    Parameters
    ----------
    settings : Settings
        For these samples: nothing is left open.
    posed : Candidates or WeighedViews
        Kernels over the samples, or views whose graphs are fused, or ready graphs.

    Returns
    -------
    dict
        By the names of the parameters. Where graphs of views are fused, `alpha` and `kernels` are lists: every view has
        a graph for each pair of them. Of a ready graph, what has no part in it is None.
    """
    values = {name: value for name, value in settings.flat().items() if name not in COMPUTING}
    if isinstance(posed, Candidates):
        return values | {"kernels": _banks_of(settings.kernels, posed)}
    if isinstance(posed.samples, GivenGraphs):
        return values | {name: None for name in OF_LEARNING if name in values}
    has_samples = not isinstance(posed.samples, GivenKernels)
    return values | {
        "alpha": list(settings.alphas),
        "kernels": settings.fused_banks if has_samples else settings.kernels,
        "n_neighbors": settings.fused_readout(posed.n_samples).n_neighbors,
    }


def _banks_of(kernels: Any, posed: Candidates) -> Any:
    """Return kernels as they were given, or what ``"auto"`` has chosen: a bank, or a bank for each view."""
    if not (isinstance(kernels, str) and kernels == "auto") or posed.bank is None:
        return kernels
    all_of_them = [*resolve_bank("middle"), *resolve_bank("near")]
    banks = [all_of_them[: len(bank)] for bank in posed.bank.banks]
    return banks[0] if len(banks) == 1 else banks
