"""Simulated and real cells through ``kernelbraid.scverse.cluster``: ``python -m benchmarks.cells`` writes the tables.

Simulated cells lie around centres in twelve hidden directions; every modality mixes them into its own features, bends
and blurs them. First 5,000 cells in three modalities, a fifth of which lack one, exactly and through 500 landmarks,
then scanpy's leiden and umap on the graph; 100,000 cells with 50 features through landmarks; one modality beside views
of noise; at last scanpy's ``pbmc68k_reduced`` beside leiden. Every line is a process of its own, on all cores.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine, timed

OUT = Path(__file__).parent / "results"
DIRECTIONS = 12


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


def several_modalities(n_cells: int, missing: float) -> tuple[Any, np.ndarray]:
    """Return a MuData in which a share of the cells lacks one of three modalities, and the types of its cells."""
    import anndata
    import mudata

    hidden, truth = places(n_cells, 8, 0)
    rng = np.random.default_rng(1)
    lacks = np.where(rng.random(n_cells) < missing, rng.integers(0, 3, n_cells), -1)
    names = np.array([f"cell{i}" for i in range(n_cells)])
    parts = {}
    for number, (name, n_features) in enumerate({"rna": 50, "protein": 30, "atac": 40}.items()):
        X = modality(hidden, n_features, number)
        parts[name] = anndata.AnnData(X[lacks != number])
        parts[name].obs_names = names[lacks != number]
    with mudata.set_options(pull_on_update=False):
        data = mudata.MuData(parts)
    return data, truth[[int(name.removeprefix("cell")) for name in data.obs_names]]


def modalities(n_cells: int, n_clusters: int | str, n_landmarks: int | None) -> dict[str, Any]:
    """Cluster cells in three modalities, then run leiden and umap on the graph."""
    import scanpy

    from kernelbraid.metrics import ari
    from kernelbraid.scverse import cluster

    data, truth = several_modalities(n_cells, 0.2)
    seconds, _ = timed(cluster, data, n_clusters, n_landmarks=n_landmarks)
    start = time.perf_counter()
    scanpy.tl.leiden(data, neighbors_key="kernelbraid", flavor="igraph", n_iterations=2, random_state=0)
    leiden = time.perf_counter() - start
    start = time.perf_counter()
    scanpy.tl.umap(data, neighbors_key="kernelbraid")
    umap = time.perf_counter() - start
    labels = data.obs["kernelbraid"].cat.codes.to_numpy()
    return {
        "solver": data.uns["kernelbraid"]["solver"],
        "seconds": seconds,
        "found": int(labels.max()) + 1,
        "ari": ari(truth, labels),
        "leiden_seconds": leiden,
        "leiden_ari": ari(truth, data.obs["leiden"].cat.codes.to_numpy()),
        "umap_seconds": umap,
    }


def many(n_cells: int, n_clusters: int | str) -> dict[str, Any]:
    """Cluster many cells of one modality through landmarks."""
    import anndata

    from kernelbraid.metrics import ari
    from kernelbraid.scverse import cluster

    hidden, truth = places(n_cells, 10, 2)
    data = anndata.AnnData(modality(hidden, 50, 3))
    seconds, _ = timed(cluster, data, n_clusters, n_landmarks=500)
    labels = data.obs["kernelbraid"].cat.codes.to_numpy()
    return {"seconds": seconds, "found": int(labels.max()) + 1, "ari": ari(truth, labels)}


def noise(n_views: int) -> dict[str, Any]:
    """Cluster 600 cells by one modality and so many views of noise of the same norm."""
    import anndata

    from kernelbraid.metrics import ari
    from kernelbraid.scverse import cluster

    hidden, truth = places(600, 6, 4)
    X = modality(hidden, 50, 5)
    data = anndata.AnnData(X, obsm={"rna": X / np.linalg.norm(X)})
    rng = np.random.default_rng(6)
    names = [f"noise{number}" for number in range(n_views)]
    for name in names:
        values = rng.normal(size=X.shape)
        data.obsm[name] = values / np.linalg.norm(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which views are left out is the point
        cluster(data, 6, use_rep=["rna", *names])
    weights = data.uns["kernelbraid"]["views"]["weight"]
    return {"ari": ari(truth, data.obs["kernelbraid"].cat.codes.to_numpy()), "weights": weights.round(3).tolist()}


def pbmc() -> dict[str, Any]:
    """Compare with the ``bulk_labels`` of pbmc68k_reduced, beside leiden with the same number of clusters."""
    import scanpy

    from kernelbraid.metrics import ari, nmi
    from kernelbraid.scverse import cluster

    data = scanpy.datasets.pbmc68k_reduced()
    truth = data.obs["bulk_labels"].cat.codes.to_numpy()
    found: dict[str, Any] = {}
    for asked in (int(truth.max()) + 1, "auto"):
        cluster(data, asked)
        labels = data.obs["kernelbraid"].cat.codes.to_numpy()
        theirs = leiden_with(data, int(labels.max()) + 1)
        found[str(asked)] = {
            "clusters": int(labels.max()) + 1,
            "ari": ari(truth, labels),
            "nmi": nmi(truth, labels),
            "leiden_clusters": int(theirs.max()) + 1,
            "leiden_ari": ari(truth, theirs),
            "leiden_nmi": nmi(truth, theirs),
        }
    return found


def leiden_with(data: Any, n_clusters: int) -> np.ndarray:
    """Return leiden's clusters on scanpy's own graph, at the resolution whose number is nearest to the asked one."""
    import scanpy

    best: np.ndarray | None = None
    low, high = 0.05, 5.0
    for _ in range(12):
        middle = (low * high) ** 0.5
        scanpy.tl.leiden(data, resolution=middle, flavor="igraph", n_iterations=-1, random_state=0)
        labels = data.obs["leiden"].cat.codes.to_numpy()
        count = int(labels.max()) + 1
        if best is None or abs(count - n_clusters) < abs(int(best.max()) + 1 - n_clusters):
            best = labels
        if count == n_clusters:
            break
        low, high = (middle, high) if count < n_clusters else (low, middle)
    assert best is not None
    return best


JOBS = {"modalities": modalities, "many": many, "noise": noise, "pbmc": pbmc}
PLAN: list[list[Any]] = [
    ["modalities", 5000, 8, None],
    ["modalities", 5000, "auto", None],
    ["modalities", 5000, 8, 500],
    ["modalities", 5000, "auto", 500],
    ["many", 100_000, 10],
    ["many", 100_000, "auto"],
    ["noise", 1],
    ["noise", 2],
    ["noise", 3],
    ["pbmc"],
]
QUICK: list[list[Any]] = [["modalities", 400, 8, None], ["modalities", 400, 8, 100], ["many", 2000, 10], ["noise", 1]]


def run_job(name: str, *arguments: Any) -> dict[str, Any]:
    """Run a job in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.cells", "--job", json.dumps([name, *arguments])]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} {arguments} failed: {done.stderr.strip()}")
    return {"job": name, "arguments": arguments, **json.loads(done.stdout.splitlines()[-1])}


def write(found: list[dict[str, Any]]) -> None:
    """Write the tables for people and for programs."""
    told = {"machine": describe_machine(), "jobs": found}
    (OUT / "cells.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    rows = {name: [row for row in found if row["job"] == name] for name in JOBS}
    lines = ["# Cells", "", "<!-- tables -->", ""]
    lines += ["Simulated cells of eight types in three modalities, a fifth of which lack one:", ""]
    lines += ["| Cells | n_clusters | Solver | Seconds | Found | ARI | leiden, seconds | its ARI | umap, seconds |"]
    lines += ["| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for row in rows["modalities"]:
        cells, asked, _ = row["arguments"]
        theirs = f"{row['leiden_seconds']:.1f} | {row['leiden_ari']:.3f} | {row['umap_seconds']:.1f}"
        mine = f"{row['solver']} | {row['seconds']:.1f} | {row['found']} | {row['ari']:.3f}"
        lines.append(f"| {cells} | {asked} | {mine} | {theirs} |")
    lines += ["", "Cells of ten types with 50 features, 500 landmarks:", ""]
    lines += ["| Cells | n_clusters | Seconds | Found | ARI |", "| ---: | --- | ---: | ---: | ---: |"]
    for row in rows["many"]:
        cells, asked = row["arguments"]
        lines.append(f"| {cells} | {asked} | {row['seconds']:.1f} | {row['found']} | {row['ari']:.3f} |")
    lines += ["", "600 cells of six types, one modality beside views of noise:", ""]
    lines += ["| Views of noise | ARI | Weights |", "| ---: | ---: | --- |"]
    lines += [f"| {row['arguments'][0]} | {row['ari']:.3f} | {row['weights']} |" for row in rows["noise"]]
    for row in rows["pbmc"]:
        lines += ["", "`pbmc68k_reduced`, agreement with `bulk_labels`; leiden on scanpy's own graph:", ""]
        lines += ["| n_clusters | Found | ARI | NMI | leiden, found | ARI | NMI |"]
        lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
        for asked in [name for name in row if name not in ("job", "arguments")]:
            cell = row[asked]
            mine = f"{cell['clusters']} | {cell['ari']:.3f} | {cell['nmi']:.3f}"
            theirs = f"{cell['leiden_clusters']} | {cell['leiden_ari']:.3f} | {cell['leiden_nmi']:.3f}"
            lines.append(f"| {asked} | {mine} | {theirs} |")
    (OUT / "cells.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Run everything, or do one job and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few cells, nothing written")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job is not None:
        name, *arguments = json.loads(asked.job)
        print(json.dumps(JOBS[name](*arguments)))
        return
    found = []
    for job in QUICK if asked.quick else PLAN:
        found.append(run_job(*job))
        print(found[-1], flush=True)
    if not asked.quick:
        write(found)


if __name__ == "__main__":
    main()
