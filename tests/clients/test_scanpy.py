"""scanpy's own functions on what `kernelbraid.scverse.cluster` writes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_score

from kernelbraid.scverse import cluster
from simulated_cells import anndata, one_modality, several_modalities

KEY = {"neighbors_key": "kernelbraid"}
LEIDEN = {"flavor": "igraph", "n_iterations": -1, "directed": False, "random_state": 0}

pytestmark = [
    pytest.mark.filterwarnings("ignore:From 0.4 .update():FutureWarning"),  # mudata, of its own next version
    pytest.mark.filterwarnings("ignore:The set_bad function will be deprecated:PendingDeprecationWarning"),  # its plots
    pytest.mark.filterwarnings("ignore:The method obs_vector is deprecated:FutureWarning"),  # mudata under its plots
    pytest.mark.filterwarnings("ignore:invalid value encountered in log2:RuntimeWarning"),  # it expects counts
]


@pytest.fixture(scope="module")
def sc():
    return pytest.importorskip("scanpy", reason="scanpy is not installed")


@pytest.fixture
def pictures():
    """Pictures without a screen, closed when they were looked at."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(params=[one_modality, several_modalities], ids=["AnnData", "MuData"])
def clustered(request):
    """Cells with six clusters, of three that there are, and these."""
    cells, truth = request.param(n_cells=150)
    cluster(cells, 6)
    return cells, truth


def true_cluster_of_groups(cells, truth):
    """Return which of the true clusters holds most cells of each group."""
    return pd.crosstab(cells.obs["kernelbraid"].to_numpy(), truth).to_numpy().argmax(axis=1)


def is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def draw(sc, cells, path, **options):
    sc.pl.umap(cells, color="kernelbraid", show=False, return_fig=True, **options).savefig(path)
    return is_picture(path)


def test_leiden_finds_the_clusters_in_the_graph(sc, clustered):
    cells, truth = clustered
    sc.tl.leiden(cells, resolution=0.05, **LEIDEN, **KEY)
    assert adjusted_rand_score(truth, cells.obs["leiden"]) > 0.95
    assert cells.uns["leiden"]["params"]["resolution"] == 0.05


def test_umap_places_cells_of_a_cluster_together(sc, clustered):
    cells, truth = clustered
    sc.tl.umap(cells, random_state=0, **KEY)
    assert silhouette_score(cells.obsm["X_umap"], truth) > 0.5


def test_diffusion_maps_tell_the_clusters_apart(sc, clustered):
    cells, truth = clustered
    sc.tl.diffmap(cells, n_comps=5, **KEY)
    values = cells.uns["diffmap_evals"]
    assert values[0] == pytest.approx(1, abs=1e-4)
    assert values[2] > 0.9
    assert silhouette_score(cells.obsm["X_diffmap"][:, :3], truth) > 0.5


def test_paga_connects_groups_of_one_cluster(sc, clustered):
    cells, truth = clustered
    sc.tl.paga(cells, groups="kernelbraid", **KEY)
    strength = cells.uns["paga"]["connectivities"].toarray()
    of = true_cluster_of_groups(cells, truth)
    # A group that is a whole cluster has no other group of it.
    joined = (strength.max(axis=1) > 0) & (np.bincount(of)[of] > 1)
    assert joined.any()
    np.testing.assert_array_equal(of[strength.argmax(axis=1)][joined], of[joined])


def one_modality_of(cells):
    """Return cells as scanpy compares genes of them, with their labels: those of one modality."""
    if isinstance(cells, anndata.AnnData):
        return cells
    part = cells["rna"].copy()
    part.obs["kernelbraid"] = cells.obs["kernelbraid"][part.obs_names]
    return part


def test_pictures_show_clusters_and_edges(sc, clustered, pictures, tmp_path):
    cells, _ = clustered
    sc.tl.umap(cells, **KEY)
    assert draw(sc, cells, tmp_path / "umap.png", edges=True, **KEY)
    figure = sc.pl.embedding(cells, "X_kernelbraid", color="kernelbraid", show=False, return_fig=True)
    figure.savefig(tmp_path / "embedding.png")
    assert is_picture(tmp_path / "embedding.png")
    assert len(cells.uns["kernelbraid_colors"]) == 6


def test_a_subset_goes_on_with_its_part_of_the_graph(sc, clustered, pictures, tmp_path):
    cells, truth = clustered
    some = np.arange(cells.n_obs) % 3 > 0
    part = cells[some].copy()
    sc.tl.leiden(part, resolution=0.05, **LEIDEN, **KEY)
    assert adjusted_rand_score(truth[some], part.obs["leiden"]) > 0.9
    sc.tl.umap(part, **KEY)
    assert draw(sc, part, tmp_path / "umap.png")


def test_cells_that_come_from_a_file_go_on_as_before(sc, clustered, pictures, tmp_path):
    cells, _ = clustered
    sc.tl.leiden(cells, **LEIDEN, **KEY)
    before = cells.obs["leiden"].tolist()
    again = written_and_read(cells, tmp_path)
    sc.tl.leiden(again, **LEIDEN, **KEY)
    assert again.obs["leiden"].tolist() == before
    sc.tl.umap(again, **KEY)
    assert draw(sc, again, tmp_path / "umap.png")


def written_and_read(cells, folder):
    if isinstance(cells, anndata.AnnData):
        cells.write_h5ad(folder / "cells.h5ad")
        return anndata.read_h5ad(folder / "cells.h5ad")
    import mudata

    cells.write_h5mu(folder / "cells.h5mu")
    return mudata.read_h5mu(folder / "cells.h5mu")


@pytest.fixture(scope="module")
def blood(sc):
    """700 blood cells that come with scanpy, with types by comparison with cells that were sorted."""
    return sc.datasets.pbmc68k_reduced()


def leiden_with(sc, cells, n_clusters):
    """Return the clusters of leiden with the lowest resolution that gives so many, by bisection."""
    low, high = 0.05, 4.0
    for _ in range(30):
        resolution = (low + high) / 2
        sc.tl.leiden(cells, resolution=resolution, key_added="compared", **LEIDEN)
        found = cells.obs["compared"].nunique()
        if found == n_clusters:
            return cells.obs["compared"]
        low, high = (resolution, high) if found < n_clusters else (low, resolution)
    raise AssertionError(f"no resolution gives {n_clusters} clusters")


@pytest.mark.parametrize("n_clusters", [7, 8, 9, 10, 11])
def test_clusters_of_blood_cells_are_as_near_to_their_types_as_those_of_leiden(sc, blood, n_clusters):
    cells = blood.copy()
    cluster(cells, n_clusters)
    ours = adjusted_rand_score(cells.obs["bulk_labels"], cells.obs["kernelbraid"])
    theirs = adjusted_rand_score(cells.obs["bulk_labels"], leiden_with(sc, cells, n_clusters))
    assert ours > theirs - 0.03
