"""AnnData and MuData, with scanpy on the result."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kernelbraid.scverse import cluster

pytestmark = pytest.mark.filterwarnings("ignore:From 0.4 .update():FutureWarning")  # mudata, of its own next version
TRUTH = np.repeat(np.arange(3), 30)


def modality(width, cells=range(90), seed=0):
    """Cells of three kinds by name; imported here, as anndata may be missing."""
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    rng = np.random.default_rng(seed)
    X = 2 * np.eye(3, width)[TRUTH] + 0.3 * rng.normal(size=(90, width))
    made = anndata.AnnData(X[list(cells)])
    made.obs_names = [f"cell {i}" for i in cells]
    made.var_names = [f"{width} of {i}" for i in range(width)]
    return made


def test_cells_of_an_anndata_are_clustered_and_scanpy_goes_on_with_the_graph():
    scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed")
    pytest.importorskip("leidenalg", reason="leidenalg is not installed")
    cells = modality(20)
    cluster(cells, 3)
    assert adjusted_rand_score(TRUTH, cells.obs["kernelbraid"]) == 1
    scanpy.tl.leiden(cells, neighbors_key="kernelbraid", flavor="igraph", n_iterations=2, directed=False)
    assert adjusted_rand_score(TRUTH, cells.obs["leiden"]) == 1


def test_modalities_of_a_mudata_are_views_and_may_lack_cells():
    mudata = pytest.importorskip("mudata", reason="mudata is not installed")
    cells = mudata.MuData({"rna": modality(20), "protein": modality(8, range(0, 90, 2), seed=1)})
    cluster(cells, 3)
    truth = [TRUTH[int(name.split()[1])] for name in cells.obs_names]
    assert adjusted_rand_score(truth, cells.obs["kernelbraid"]) == 1
    assert cells.uns["kernelbraid"]["views"]["trusted"].tolist() == [True, True]
