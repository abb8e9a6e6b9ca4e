"""Cells.

Simulated and real cells through ``kernelbraid.scverse.cluster``, beside scanpy's leiden. Simulated cells lie around
centres in twelve hidden directions; every modality mixes them into its own features, bends and blurs them.
`modalities`: cells of eight types in three modalities, a fifth of which lack one; `pbmc`: agreement of
`pbmc68k_reduced` with `bulk_labels`. The words after it: cells, clusters. leiden: on our graph at its default
resolution.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelbraid.metrics import ari
from lab.judging.jobs import Row, table, timed

JOBS = ("modalities 5000 8", "modalities 5000 auto", "pbmc 10", "pbmc auto")
THREADS = None  # as many as there are
DIRECTIONS = 12
FEATURES = {"rna": 50, "protein": 30, "atac": 40}


def places(n_cells: int, n_types: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return hidden places of cells, and their types, of which the rarest has a tenth of the share of the largest."""
    rng = np.random.default_rng(seed)
    share = np.linspace(1.0, 0.1, n_types)
    truth = rng.choice(n_types, n_cells, p=share / share.sum())
    return 3 * rng.normal(size=(n_types, DIRECTIONS))[truth] + rng.normal(size=(n_cells, DIRECTIONS)), truth


def modality(hidden: np.ndarray, n_features: int, seed: int) -> np.ndarray:
    """Return features that mix hidden places, bent and blurred."""
    rng = np.random.default_rng(seed)
    mixed = hidden @ rng.normal(size=(hidden.shape[1], n_features)) / np.sqrt(hidden.shape[1])
    return (np.tanh(mixed / 3) + 0.3 * rng.normal(size=mixed.shape)).astype(np.float32)


def in_modalities(n_cells: int) -> tuple[Any, np.ndarray]:
    """Return a MuData in which some cells lack one of three modalities, and the types of its cells."""
    import anndata
    import mudata

    hidden, truth = places(n_cells, 8, 0)
    rng = np.random.default_rng(1)
    lacks = np.where(rng.random(n_cells) < 0.2, rng.integers(0, 3, n_cells), -1)
    names = np.array([f"cell{i}" for i in range(n_cells)])
    parts = {}
    for number, (name, n_features) in enumerate(FEATURES.items()):
        parts[name] = anndata.AnnData(modality(hidden, n_features, number)[lacks != number])
        parts[name].obs_names = names[lacks != number]
    with mudata.set_options(pull_on_update=False):
        cells = mudata.MuData(parts)
    return cells, truth[[int(name.removeprefix("cell")) for name in cells.obs_names]]


def measure(job: str) -> list[Row]:
    """Cluster cells, and run scanpy's leiden on the graph."""
    import scanpy

    from kernelbraid.scverse import cluster

    kind, *words = job.split()
    asked = int(words[-1]) if words[-1].isdigit() else words[-1]
    if kind == "modalities":
        cells, truth = in_modalities(int(words[0]))
    else:
        cells = scanpy.datasets.pbmc68k_reduced()
        truth = cells.obs["bulk_labels"].cat.codes.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which views are left out is the point
        seconds, _ = timed(cluster, cells, asked)
    scanpy.tl.leiden(cells, flavor="igraph", random_state=0, neighbors_key="kernelbraid", n_iterations=2)
    row: Row = {"seconds": seconds}
    for name, column in (("", "kernelbraid"), ("leiden_", "leiden")):
        labels = cells.obs[column].cat.codes.to_numpy()
        row |= {f"{name}found": int(labels.max()) + 1, f"{name}ari": float(ari(truth, labels))}
    return [row]


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    names = ("found", "ari", "leiden_found", "leiden_ari")
    lines = [[row["job"], row["seconds"], *(f"{row[name]:.3g}" for name in names)] for row in rows]
    return table(["cells", "seconds", "found", "ARI", "leiden found", "ARI"], lines)
