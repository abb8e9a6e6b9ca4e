import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG
from kernelbraid.kernels import Gaussian, Linear
from kernelbraid.scverse import cluster
from simulated_cells import anndata, one_modality, several_modalities

pytestmark = pytest.mark.filterwarnings("ignore:From 0.4 .update():FutureWarning")


def written(data):
    """Return the names of everything that the data hold."""
    return {room: sorted(getattr(data, room)) for room in ("obs", "obsm", "obsp", "uns")}


def test_the_graph_is_the_learned_one_and_distances_are_those_of_the_embedding():
    cells, _ = one_modality()
    cluster(cells, 3)
    model = LKG(3, random_state=0).fit(cells.X)
    graph, distances = cells.obsp["kernelbraid_connectivities"], cells.obsp["kernelbraid_distances"]
    assert isinstance(graph, sparse.csr_matrix)
    assert isinstance(distances, sparse.csr_matrix)
    np.testing.assert_allclose(graph.toarray(), (model.graph_ / model.graph_.max()).toarray(), atol=1e-6)
    assert (graph != graph.T).nnz == 0
    assert graph.max() == 1
    np.testing.assert_array_equal(graph.indices, distances.indices)
    placed = cells.obsm["X_kernelbraid"]
    row, column = graph.nonzero()
    apart = np.linalg.norm(placed[row] - placed[column], axis=1)
    np.testing.assert_allclose(np.asarray(distances[row, column]).ravel(), apart, atol=1e-6)


def test_the_report_says_what_was_done():
    cells, _ = one_modality()
    cells.obsm["X_pca"] = cells.X[:, :8].copy()
    cluster(cells, 3, alpha=2.0, kernels=[Linear(), Gaussian(1.0)])
    report = cells.uns["kernelbraid"]
    assert report["parameters"]["alpha"] == 2.0
    assert report["parameters"]["random_state"] == 0
    assert report["views"].loc["X_pca", "representation"] == "obsm/X_pca"
    assert report["views"].loc["X_pca", "n_obs"] == cells.n_obs
    assert 0 <= report["reliability"] <= 1
    assert report["n_clusters"] == 3
    assert report["params"]["use_rep"] in cells.obsm


def test_several_representations_are_views():
    cells, truth = one_modality()
    rng = np.random.default_rng(1)
    cells.obsm["X_pca"] = cells.X[:, :10].copy()
    cells.layers["noise"] = rng.normal(size=cells.shape)
    with pytest.warns(UserWarning, match="of the views of X, 'noise' shares neighbours with no other view"):
        cluster(cells, 3, use_rep=["X_pca", "X", "noise"])
    assert adjusted_rand_score(cells.obs["kernelbraid"], truth) == 1
    report = cells.uns["kernelbraid"]
    assert report["views"]["trusted"].tolist() == [True, True, False]
    assert "'X_pca'" in report["views"].loc["X", "reason"]
    shares = cells.obs[[f"kernelbraid_weight_{name}" for name in ("X_pca", "X", "noise")]]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares["kernelbraid_weight_noise"] == 0).all()


def test_modalities_are_views_and_may_lack_cells():
    cells, truth = several_modalities()
    cluster(cells, 3)
    assert adjusted_rand_score(cells.obs["kernelbraid"], truth) > 0.95
    for name, part in cells.mod.items():
        shares = cells.obs[f"kernelbraid_weight_{name}"]
        assert (shares[~cells.obs_names.isin(part.obs_names)] == 0).all()
        assert (shares[part.obs_names] > 0).mean() > 0.9
        assert cells.uns["kernelbraid"]["views"].loc[name, "n_obs"] == part.n_obs


def test_a_copy_leaves_the_input_untouched():
    for data in (one_modality()[0], several_modalities()[0]):
        before = written(data)
        copy = cluster(data, 3, copy=True)
        assert written(data) == before
        assert "kernelbraid" in copy.obs
        assert isinstance(copy, type(data))


def test_results_of_an_earlier_call_are_replaced_whole():
    cells, _ = one_modality()
    cells.obsm["X_pca"] = cells.X[:, :10].copy()
    cluster(cells, 3, use_rep=["X_pca", "X"])
    cluster(cells, 2)
    assert "kernelbraid_weight_X_pca" not in cells.obs
    assert cells.obs["kernelbraid"].nunique() == 2
    cluster(cells, 3, key_added="other")
    assert cells.obs["kernelbraid"].nunique() == 2
    assert cells.obs["other"].nunique() == 3


def test_what_somebody_else_has_written_is_not_overwritten():
    for room, key in [("obs", "mine"), ("obsm", "X_mine"), ("uns", "mine")]:
        cells, _ = one_modality()
        getattr(cells, room)[key] = {"a": 1} if room == "uns" else np.zeros((cells.n_obs, 2))[:, : 1 + (room == "obsm")]
        before = written(cells)
        with pytest.raises(ValueError, match=rf"^{room}\['{key}'\] is there already, .*; give another key_added"):
            cluster(cells, 3, key_added="mine")
        assert written(cells) == before


def test_a_fit_that_fails_writes_nothing():
    cells, _ = one_modality()
    cells.X[5, 3] = np.nan
    before = written(cells)
    with pytest.raises(ValueError, match=r"^X contains NaN .*row 5, column 3"):
        cluster(cells, 3)
    assert written(cells) == before


def test_missing_values_of_a_modality_are_named():
    cells, _ = several_modalities()
    cells["protein"].X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"^'protein' of X contains NaN \(row \d+, column 1\)"):
        cluster(cells, 3)


def test_a_kernel_that_takes_no_negative_values_says_so():
    from sklearn.metrics.pairwise import chi2_kernel

    cells, _ = one_modality()
    with pytest.raises(ValueError, match="negative values"):
        cluster(cells, 3, kernels=[chi2_kernel])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_cluster": 3}, "there is no parameter n_cluster"),
        ({"alhpa": 3.0}, "there is no parameter alhpa; did you mean alpha?"),
        ({"n_landmarks": 20}, "there is no parameter n_landmarks"),
        ({"beta": 0.1}, r"LKG has no parameter 'beta'; it belongs to the solver: LKG\(solver=ADMM\(beta=0.1\)\)$"),
    ],
)
def test_a_parameter_that_there_is_not_is_named(options, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        cluster(one_modality()[0], 3, **options)


def test_a_key_that_files_cannot_hold_is_refused():
    for key in ["", "a/b", 3]:
        with pytest.raises(ValueError, match=r"^key_added=.* must be a name without slashes"):
            cluster(one_modality()[0], 3, key_added=key)


def test_other_data_get_a_sentence():
    with pytest.raises(TypeError, match=r"^data is a ndarray, and must be an AnnData or a MuData"):
        cluster(np.eye(4), 2)


def test_a_subset_is_made_a_copy_of_its_own_by_writing_to_it():
    cells, _ = one_modality()
    some = cells[:90]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", anndata.ImplicitModificationWarning)
        cluster(some, 3)
    assert "kernelbraid" in some.obs
    assert "kernelbraid" not in cells.obs
    assert some.obsp["kernelbraid_connectivities"].shape == (90, 90)


def test_results_belong_to_the_cells_of_a_subset():
    cells, _ = one_modality()
    cluster(cells, 3)
    some = cells[10:50].copy()
    whole = cells.obsp["kernelbraid_connectivities"]
    assert (some.obsp["kernelbraid_connectivities"] != whole[10:50, 10:50]).nnz == 0
    assert some.obs["kernelbraid"].tolist() == cells.obs["kernelbraid"].tolist()[10:50]


def test_data_survive_a_file(tmp_path):
    cells, _ = one_modality()
    cells.obsm["X_pca"] = cells.X[:, :10].copy()
    cluster(cells, 3, use_rep=["X_pca", "X"], view_weights=[1, 2], kernels=[Linear()])
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert_same_report(again.uns["kernelbraid"], cells.uns["kernelbraid"])
    assert again.obs["kernelbraid"].tolist() == cells.obs["kernelbraid"].tolist()
    cluster(again, 2)
    assert again.obs["kernelbraid"].nunique() == 2


def test_several_modalities_survive_a_file(tmp_path):
    import mudata

    cells, _ = several_modalities()
    cluster(cells, 3)
    cells.write_h5mu(tmp_path / "cells.h5mu")
    again = mudata.read_h5mu(tmp_path / "cells.h5mu")
    assert_same_report(again.uns["kernelbraid"], cells.uns["kernelbraid"])
    assert again.obs["kernelbraid"].tolist() == cells.obs["kernelbraid"].tolist()
    assert (again.obsp["kernelbraid_distances"] != cells.obsp["kernelbraid_distances"]).nnz == 0


def test_cells_that_are_backed_by_a_file_are_clustered(tmp_path):
    cells, truth = one_modality()
    for name, X in {"dense": cells.X, "sparse": sparse.csr_matrix(np.maximum(cells.X, 0))}.items():
        anndata.AnnData(X, obs=cells.obs).write_h5ad(tmp_path / f"{name}.h5ad")
        backed = anndata.read_h5ad(tmp_path / f"{name}.h5ad", backed="r")
        copy = cluster(backed, 3, copy=True)
        assert not copy.isbacked
        assert "kernelbraid" not in backed.obs
        cluster(backed, 3)
        assert backed.isbacked
        assert adjusted_rand_score(backed.obs["kernelbraid"], truth) > 0.95
        backed.file.close()


def assert_same_report(found, expected):
    assert set(found) == set(expected)
    for name, value in expected.items():
        if isinstance(value, dict):
            assert_same_report(found[name], value)
        elif isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(found[name], value, check_dtype=False)
        else:
            np.testing.assert_array_equal(found[name], value)


def test_many_cells_are_told_how_far_to_rely_on_the_clusters_too():
    rng = np.random.default_rng(0)
    cells = anndata.AnnData(np.repeat(5 * np.eye(3), 701, axis=0) + rng.normal(size=(2103, 3)))
    cluster(cells, 3)
    told = cells.uns["kernelbraid"]
    assert 0 <= told["reliability"] <= 1
    assert len(told["why"]) >= 2
