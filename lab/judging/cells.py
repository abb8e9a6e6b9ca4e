"""Cells.

Simulated and real cells through ``kernelbraid.scverse.cluster``, beside scanpy's leiden. Simulated cells lie around
centres in twelve hidden directions; every modality mixes them into its own features, bends and blurs them.
`modalities`: cells of eight types in three modalities, a fifth of which lack one; `many`: of ten types with 50
features; `pbmc`: agreement of `pbmc68k_reduced` with `bulk_labels`. The words after it: cells, clusters. leiden: on our
graph at its default resolution, for `pbmc` on scanpy's own with the resolution that finds as many clusters.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelbraid.metrics import ari, nmi
from lab.judging.jobs import Row, table, timed

JOBS = (
    *("modalities 5000 8", "modalities 5000 auto"),
    *("many 100000 10", "many 100000 auto", "pbmc 10", "pbmc auto"),
)
THREADS = None  # as many as there are
DIRECTIONS = 12
FEATURES = {"rna": 50, "protein": 30, "atac": 40}
SHARE = 0.2  # of the cells that lack a modality


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
    lacks = np.where(rng.random(n_cells) < SHARE, rng.integers(0, 3, n_cells), -1)
    names = np.array([f"cell{i}" for i in range(n_cells)])
    parts = {}
    for number, (name, n_features) in enumerate(FEATURES.items()):
        parts[name] = anndata.AnnData(modality(hidden, n_features, number)[lacks != number])
        parts[name].obs_names = names[lacks != number]
    with mudata.set_options(pull_on_update=False):
        cells = mudata.MuData(parts)
    return cells, truth[[int(name.removeprefix("cell")) for name in cells.obs_names]]


def measure(job: str) -> list[Row]:
    """Cluster cells, and run leiden on the graph or, for real cells, on scanpy's own."""
    import anndata
    import scanpy

    from kernelbraid.scverse import cluster

    kind, *words = job.split()
    numbers: list[Any] = [int(word) if word.isdigit() else word for word in words]
    if kind == "modalities":
        (cells, truth), asked = in_modalities(numbers[0]), numbers[1]
    elif kind == "many":
        hidden, truth = places(numbers[0], 10, 2)
        cells, asked = anndata.AnnData(modality(hidden, 50, 3)), numbers[1]
    else:
        cells, asked = scanpy.datasets.pbmc68k_reduced(), numbers[0]
        truth = cells.obs["bulk_labels"].cat.codes.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which views are left out is the point
        seconds, _ = timed(cluster, cells, asked)
    labels = cells.obs["kernelbraid"].cat.codes.to_numpy()
    row = {"seconds": seconds, **scored(truth, labels)}
    theirs = None
    if kind == "modalities":
        theirs = leiden(cells, neighbors_key="kernelbraid", n_iterations=2)
    elif kind == "pbmc":
        theirs = leiden_with(cells, row["found"])
    beside = {} if theirs is None else {f"leiden_{name}": value for name, value in scored(truth, theirs).items()}
    return [row | beside]


def scored(truth: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """Return the number of clusters, adjusted Rand index and normalised mutual information."""
    return {"found": int(labels.max()) + 1, "ari": float(ari(truth, labels)), "nmi": float(nmi(truth, labels))}


def leiden(cells: Any, **options: Any) -> np.ndarray:
    """Return the labels of scanpy's leiden."""
    import scanpy

    scanpy.tl.leiden(cells, flavor="igraph", random_state=0, **options)
    return cells.obs["leiden"].cat.codes.to_numpy()


def leiden_with(cells: Any, n_clusters: int) -> np.ndarray:
    """Return leiden's clusters on scanpy's own graph, at the resolution whose number is nearest to the asked one."""
    tried, low, high = [], 0.05, 5.0
    for _ in range(12):
        middle = (low * high) ** 0.5
        tried.append(leiden(cells, resolution=middle, n_iterations=-1))
        count = int(tried[-1].max()) + 1
        if count == n_clusters:
            break
        low, high = (middle, high) if count < n_clusters else (low, middle)
    return min(tried, key=lambda labels: abs(int(labels.max()) + 1 - n_clusters))


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    header = ["cells", "seconds", "found", "ARI", "NMI", "leiden found", "ARI", "NMI"]
    figures = ("found", "ari", "nmi", "leiden_found", "leiden_ari", "leiden_nmi")
    lines = [
        [row["job"], row["seconds"]]
        + [f"{value:.3f}" if isinstance(value := row.get(name), float) else value for name in figures]
        for row in rows
    ]
    return table(header, lines)
