import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernelbraid.scverse.representations import View, in_names, views_of
from simulated_cells import one_modality, several_modalities

pytestmark = pytest.mark.filterwarnings("ignore:From 0.4 .update():FutureWarning")


def test_principal_components_are_taken_where_they_are():
    cells, _ = one_modality()
    assert [view.path for view in views_of(cells, None)] == ["X"]
    cells.obsm["X_pca"] = cells.X[:, :5].copy()
    (view,) = views_of(cells, None)
    assert (view.name, view.path) == ("X_pca", "obsm/X_pca")
    np.testing.assert_array_equal(view.matrix, cells.X[:, :5])


def test_many_features_without_components_are_told_of():
    from simulated_cells import hidden, modality

    cells = modality(hidden()[0], n_features=51)
    with pytest.warns(UserWarning, match=r"^the AnnData has no X_pca, and X is clustered as it is, with 51 features"):
        views_of(cells, None)
    assert views_of(cells, "X")[0].path == "X"


def test_sentences_call_several_views_by_their_names():
    views = [View(name, "", np.zeros((1, 1))) for name in ("rna", "atac", "protein")]
    told = in_names("view 3 of X is a copy of view 1; views 1, 2 and 12 views are used; view_report_ says more.", views)
    assert told == "'protein' of X is a copy of 'rna'; 'rna' and 'atac' and 12 views are used; view_report_ says more."
    assert in_names("view 1 of X", views[:1]) == "view 1 of X"


def test_names_are_looked_up_in_obsm_and_layers_and_places_can_be_given():
    cells, _ = one_modality()
    cells.obsm["both"] = cells.X[:, :2].copy()
    cells.layers["both"] = 2 * cells.X
    cells.layers["counts"] = sparse.csr_matrix(cells.X)
    assert [view.path for view in views_of(cells, ["both", "counts"])] == ["obsm/both", "layers/counts"]
    assert [view.name for view in views_of(cells, ["obsm/both", "layers/both"])] == ["obsm_both", "layers_both"]
    np.testing.assert_array_equal(views_of(cells, "layers/both")[0].matrix, 2 * cells.X)
    assert sparse.issparse(views_of(cells, "counts")[0].matrix)


def test_a_data_frame_is_a_representation():
    cells, _ = one_modality()
    cells.obsm["scores"] = pd.DataFrame(cells.X[:, :2], index=cells.obs_names, columns=["a", "b"])
    np.testing.assert_array_equal(views_of(cells, "scores")[0].matrix, cells.X[:, :2])


def test_a_representation_that_is_not_there_is_told_with_those_that_are():
    cells, _ = one_modality()
    cells.obsm["X_pca"] = cells.X[:, :5].copy()
    cells.layers["counts"] = cells.X.copy()
    with pytest.raises(
        ValueError,
        match=r"^the AnnData has no representation 'X_scvi'; there are X, obsm/X_pca, layers/counts\.$",
    ):
        views_of(cells, "X_scvi")
    with pytest.raises(ValueError, match="has no representation 'obsm/counts'"):
        views_of(cells, "obsm/counts")


def test_what_is_no_name_is_refused():
    for use_rep in [[], 3, [1], ["X", None]]:
        with pytest.raises(TypeError, match=r"must be the name of a representation, or a list of names; there is X\."):
            views_of(one_modality()[0], use_rep)


def test_an_anndata_has_no_modalities():
    with pytest.raises(TypeError, match=r"^use_rep names representations by modality, and an AnnData has none"):
        views_of(one_modality()[0], {"rna": "X"})


def test_an_anndata_without_x_says_so():
    cells, _ = one_modality()
    cells.X = None
    with pytest.raises(ValueError, match=r"^the AnnData has no X; there are none"):
        views_of(cells, None)


def test_cells_that_a_modality_lacks_are_rows_of_nan():
    cells, _ = several_modalities()
    views = views_of(cells, None)
    assert [view.name for view in views] == ["rna", "protein", "atac"]
    assert [view.path for view in views] == ["rna/X", "protein/X", "atac/X"]
    for view in views:
        part = cells[view.name]
        there = cells.obs_names.isin(part.obs_names)
        assert np.isnan(view.matrix[~there]).all()
        np.testing.assert_array_equal(view.matrix[there], part[cells.obs_names[there]].X)
        assert view.matrix.dtype == np.float32


def test_sparse_modalities_stay_sparse_where_no_cell_is_missing():
    cells, _ = several_modalities(missing=0)
    cells["rna"].X = sparse.csr_matrix(cells["rna"].X)
    assert sparse.issparse(views_of(cells, None)[0].matrix)


def test_a_dict_chooses_modalities_and_their_representations():
    cells, _ = several_modalities()
    cells["rna"].obsm["X_pca"] = cells["rna"].X[:, :4].copy()
    views = views_of(cells, {"rna": ["X", "X_pca"], "atac": None})
    assert [view.name for view in views] == ["rna_X", "rna_X_pca", "atac_X"]
    assert [view.path for view in views] == ["rna/X", "rna/obsm/X_pca", "atac/X"]
    with pytest.raises(ValueError, match=r"^use_rep names the modality 'adt'; there are rna, protein, atac"):
        views_of(cells, {"adt": "X"})
    with pytest.raises(ValueError, match=r"^modality 'protein' has no representation 'X_pca'; there is X"):
        views_of(cells, "X_pca")


def test_a_joint_representation_of_all_modalities_is_one_view():
    cells, _ = several_modalities()
    cells.obsm["X_joint"] = np.arange(2.0 * cells.n_obs).reshape(-1, 2)
    (view,) = views_of(cells, "X_joint")
    np.testing.assert_array_equal(view.matrix, cells.obsm["X_joint"])


def test_modalities_without_a_common_cell_are_refused():
    cells, _ = several_modalities(missing=0, names=("rna", "atac"))
    other = cells["atac"].copy()
    other.obs_names = [f"{name}-1" for name in other.obs_names]
    apart = type(cells)({"rna": cells["rna"], "atac": other})
    with pytest.raises(ValueError, match=r"^modality 'rna' has no cell in common with 'atac'; .* obs_names"):
        views_of(apart, None)
    assert len(views_of(apart, {"rna": "X"})) == 1


def test_modalities_that_share_features_are_refused():
    cells, _ = several_modalities(missing=0, names=("rna", "atac"))
    other = cells["rna"].copy()
    other.obs_names = [f"{name}-1" for name in other.obs_names]
    data = type(cells)({"one": cells["rna"], "two": other}, axis=1)
    with pytest.raises(ValueError, match=r"share features, not cells \(axis=1\)"):
        views_of(data, None)
