import numpy as np
import polars as pl
import pytest
from sklearn.preprocessing import StandardScaler

import kernelbraid
from kernelbraid import LKG, EachView, LandmarkLKG, LKGClassifier
from simulated_cells import one_modality, several_modalities

ESTIMATORS = [
    name
    for name in kernelbraid.__all__
    if hasattr(getattr(kernelbraid, name), "fit") and name not in ("LKGClassifier", "EachView")
]


def test_every_estimator_says_what_to_call_for_an_anndata():
    for name in ESTIMATORS:
        cells, _ = one_modality()
        model = getattr(kernelbraid, name)(n_clusters=3)
        wanted = rf"^X is an AnnData; call kernelbraid\.scverse\.cluster\(data, n_clusters=3\), or {name} with a matrix"
        with pytest.raises(TypeError, match=wanted):
            model.fit(cells)
        with pytest.raises(TypeError, match=r"^X holds an AnnData"):
            model.fit([cells, cells])


@pytest.mark.filterwarnings("ignore:From 0.4 .update():FutureWarning")
def test_every_estimator_says_what_to_call_for_a_mudata():
    for name in ESTIMATORS:
        cells, _ = several_modalities()
        with pytest.raises(
            TypeError, match=r"^X is a MuData; call kernelbraid\.scverse\.cluster\(data, n_clusters=3\)"
        ):
            getattr(kernelbraid, name)(n_clusters=3).fit(cells)


def test_the_classifier_and_precomputed_kernels_say_so_too():
    cells, truth = one_modality()
    with pytest.raises(TypeError, match=r"call kernelbraid\.scverse\.cluster\(data\), or LKGClassifier with a matrix"):
        LKGClassifier().fit(cells, truth)
    with pytest.raises(TypeError, match=r"call kernelbraid\.scverse\.cluster\(data\), or EachView with a matrix"):
        EachView(StandardScaler()).fit(cells)
    with pytest.raises(TypeError, match=r"^X is an AnnData"):
        LKG(3, kernels="precomputed").fit(cells)


def test_new_samples_must_be_matrices_too():
    cells, _ = one_modality()
    for model in (LKG(3), LandmarkLKG(3, n_landmarks=20), LKG(3, kernels="precomputed")):
        precomputed = model.kernels == "precomputed"
        model.fit(np.asarray(cells.X @ cells.X.T if precomputed else cells.X))
        with pytest.raises(TypeError, match=r"^X is an AnnData"):
            model.predict(cells)


def test_views_in_a_dictionary_and_tables_that_are_not_read_yet_are_named():
    for name in ESTIMATORS:
        X = np.random.default_rng(0).normal(size=(20, 3))
        model = getattr(kernelbraid, name)(n_clusters=2)
        with pytest.raises(TypeError, match=r"^X is a dict of views; give them as a list of matrices\.$"):
            model.fit({"a": X, "b": X})
        table = pl.DataFrame(X).lazy()
        with pytest.raises(TypeError, match=r"^X is a LazyFrame; call its collect\(\) first\.$"):
            model.fit(table)
        with pytest.raises(TypeError, match=r"^X holds a LazyFrame"):
            model.fit([table, X])
