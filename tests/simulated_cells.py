"""Simulated cells: clusters in a few hidden directions, of which every modality sees something."""

import numpy as np
import pytest

anndata = pytest.importorskip("anndata", reason="anndata is not installed")


def hidden(n_cells=120, n_clusters=3, seed=0):
    """Return places of cells in four directions, and their clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_cells) % n_clusters
    return 6 * np.eye(n_clusters, 4)[truth] + rng.normal(size=(n_cells, 4)), truth


def modality(places, n_features=20, seed=0, prefix="gene"):
    """Return an AnnData whose features mix the places of the cells."""
    rng = np.random.default_rng(seed)
    X = np.tanh(places @ rng.normal(size=(places.shape[1], n_features)) / 4)
    cells = anndata.AnnData((X + 0.2 * rng.normal(size=X.shape)).astype(np.float32))
    cells.obs_names = [f"cell{i}" for i in range(len(places))]
    cells.var_names = [f"{prefix}{i}" for i in range(n_features)]
    return cells


def one_modality(**options):
    """Return an AnnData, and the clusters of its cells."""
    places, truth = hidden(**options)
    return modality(places), truth


def several_modalities(missing=0.2, names=("rna", "protein", "atac"), **options):
    """Return a MuData in which so many cells lack one modality, and the clusters of its cells."""
    mudata = pytest.importorskip("mudata", reason="mudata is not installed")
    places, truth = hidden(**options)
    rng = np.random.default_rng(7)
    lacks = np.where(rng.random(len(places)) < missing, rng.integers(0, len(names), len(places)), -1)
    parts = {
        name: modality(places, 12 + 4 * number, number, name)[lacks != number].copy()
        for number, name in enumerate(names)
    }
    with mudata.set_options(pull_on_update=False):
        whole = mudata.MuData(parts)
    order = [int(name.removeprefix("cell")) for name in whole.obs_names]
    return whole, truth[order]
