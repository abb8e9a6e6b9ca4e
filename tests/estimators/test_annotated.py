import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

import kernelbraid
from kernelbraid import LKG, EachView, LKGClassifier, methods
from simulated_cells import one_modality, several_modalities

ESTIMATORS = {
    name: getattr(room, name)
    for room in (kernelbraid, methods)
    for name in room.__all__
    if hasattr(getattr(room, name), "fit") and name not in ("LKGClassifier", "EachView")
}


def test_every_estimator_says_what_to_call_for_an_anndata():
    for name, kind in ESTIMATORS.items():
        cells, _ = one_modality()
        model = kind(n_clusters=3)
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
            ESTIMATORS[name](n_clusters=3).fit(cells)


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
    for model in (LKG(3), LKG(3, kernels="precomputed")):
        precomputed = model.kernels == "precomputed"
        model.fit(np.asarray(cells.X @ cells.X.T if precomputed else cells.X))
        with pytest.raises(TypeError, match=r"^X is an AnnData"):
            model.predict(cells)


def test_views_in_a_dictionary_and_tables_that_are_not_read_yet_are_named():
    for name in ESTIMATORS:
        X = np.random.default_rng(0).normal(size=(20, 3))
        model = ESTIMATORS[name](n_clusters=2)
        with pytest.raises(TypeError, match=r"^X is a dict of views; give them as a list of matrices\.$"):
            model.fit({"a": X, "b": X})
        table = pl.DataFrame(X).lazy()
        with pytest.raises(TypeError, match=r"^X is a LazyFrame; call its collect\(\) first\.$"):
            model.fit(table)
        with pytest.raises(TypeError, match=r"^X holds a LazyFrame"):
            model.fit([table, X])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda X: None, ValueError, "^X is None; give samples as the rows of a matrix"),
        (lambda X: [], ValueError, r"^X is \[\]; give samples as the rows of a matrix"),
        (lambda X: np.ma.masked_array(X, X > 1), ValueError, "^X is a masked array, whose mask would be lost; fill in"),
        (lambda X: [X, np.ma.masked_array(X, X > 1)], ValueError, "^X holds a masked array"),
    ],
)
def test_what_holds_no_samples_or_hides_some_gets_a_sentence(given, error, message):
    X = np.random.default_rng(0).normal(size=(20, 3))
    for name in ESTIMATORS:
        with pytest.raises(error, match=message):
            ESTIMATORS[name](n_clusters=2).fit(given(X))


def test_a_dask_array_is_for_lkg():
    dask = pytest.importorskip("dask.array")
    X = dask.from_array(np.random.default_rng(0).normal(size=(20, 3)))
    with pytest.raises(TypeError, match=r"^X is a Dask Array, and KernelKMeans needs its samples here; call its"):
        methods.KernelKMeans(2).fit(X)
    assert len(LKG(2, random_state=0).fit(X).labels_) == 20


def test_distances_are_not_taken_for_kernels():
    X = np.random.default_rng(0).normal(size=(20, 3))
    D = euclidean_distances(X)
    for given, name in ((D, "kernel 0"), (D**2, "kernel 0"), (np.stack([X @ X.T, D]), "kernel 1")):
        with pytest.raises(ValueError, match=f"^{name} of X holds distances, .*; set kernels='distances', or turn"):
            LKG(2, kernels="precomputed").fit(given)


def test_a_list_of_kernels_is_views_with_a_warning():
    X = np.random.default_rng(0).normal(size=(20, 3)) + np.repeat([[0], [6]], 10, axis=0)
    K = np.exp(-euclidean_distances(X, squared=True) / 9)
    with pytest.warns(UserWarning, match=r"^X is a list of 2 kernels, each of which is taken for a view of its own"):
        LKG(2, kernels="precomputed", random_state=0).fit([K, K**2])
    LKG(2, kernels="precomputed", random_state=0).fit(np.stack([K, K**2]))
    LKG(2, kernels="precomputed", random_state=0).fit([K[None], K[None] ** 2])


@pytest.mark.parametrize("model", [LKG(2, random_state=0)])
def test_a_fit_that_fails_leaves_the_estimator_unfitted(model):
    X = np.random.default_rng(0).normal(size=(20, 3))
    model.fit(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X[0, 0] == X, np.nan, X))
    for ask in (lambda: model.predict(X), lambda: model.membership_, lambda: model.outlier_scores_):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask()
