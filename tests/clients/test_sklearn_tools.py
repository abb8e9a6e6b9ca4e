"""Tools of scikit-learn and joblib that are given an estimator: searches, outputs, back ends."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import silhouette_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kernelbraid import LKG, LKGClassifier
from kernelbraid.kernels import Linear
from kernelbraid.methods import MultipleKernelTwinGraph
from kernelbraid.metrics import held_out_agreement
from problems import blobs

X, y = blobs(n=90)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
NUMBERS = {"n_clusters": [2, 3, 5]}


def name_of(estimator):
    return type(estimator).__name__


def silhouette_of_fitted(estimator, X, y=None):
    return silhouette_score(X, estimator.labels_)


def test_a_grid_search_without_folds_scores_estimators_that_know_no_new_samples():
    samples, everything = X[:45], np.arange(45)
    options = {"scoring": silhouette_of_fitted, "cv": [(everything, everything)], "error_score": "raise"}
    search = GridSearchCV(MultipleKernelTwinGraph(random_state=0), NUMBERS, **options).fit(samples)
    assert search.best_params_ == {"n_clusters": 3}
    assert len(search.best_estimator_.labels_) == 45


def test_a_search_without_labels_finds_what_holds_on_other_samples():
    pipeline = make_pipeline(StandardScaler(), LKG(random_state=0))
    samples = make_blobs(300, n_features=6, centers=7, random_state=1)[0]
    grid = {"lkg__n_clusters": [4, 7, 10]}
    halves = KFold(2, shuffle=True, random_state=0)
    options = {"scoring": held_out_agreement, "cv": halves, "error_score": "raise"}
    search = GridSearchCV(pipeline, grid, **options).fit(samples)
    assert search.best_params_ == {"lkg__n_clusters": 7}
    assert search.best_score_ > 0.95
    noise = np.random.default_rng(0).normal(size=(200, 10))
    assert cross_val_score(LKG(8, random_state=0), noise, scoring=held_out_agreement, cv=halves).max() < 0.3


def test_folds_of_a_kernel_are_rows_and_columns():
    model = LKG(kernels="precomputed", random_state=0)
    options = {"scoring": "adjusted_rand_score", "cv": FOLDS, "error_score": "raise"}
    search = GridSearchCV(model, NUMBERS, **options).fit(X @ X.T, y)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ > 0.9


def test_what_belongs_to_a_solver_is_searched_by_its_nested_name():
    grid = {"solver__gamma": [5.0, 10.0], "kernels": ["middle", [Linear()]]}
    options = {"scoring": "adjusted_rand_score", "cv": FOLDS, "error_score": "raise"}
    search = GridSearchCV(LKG(3, random_state=0), grid, **options).fit(X, y)
    assert search.best_score_ > 0.9
    assert {found["solver__gamma"] for found in search.cv_results_["params"]} == {5.0, 10.0}
    assert search.best_estimator_.solution_.K.shape == (90, 90)
    nested = GridSearchCV(LKGClassifier(), {"clusterer__solver__gamma": [5.0, 10.0]}, cv=FOLDS, error_score="raise")
    assert nested.fit(X, y).best_score_ == 1


def as_views(A):
    return [A[:, :3], A[:, 3:]]


def test_views_are_searched_as_columns_of_one_matrix():
    pipeline = make_pipeline(FunctionTransformer(as_views), LKG(random_state=0))
    grid = {"lkg__n_clusters": [2, 3], "lkg__fusion": ["graphs", "kernels"]}
    options = {"scoring": "adjusted_rand_score", "cv": FOLDS, "error_score": "raise"}
    search = GridSearchCV(pipeline, grid, **options).fit(X, y)
    assert search.best_params_["lkg__n_clusters"] == 3
    assert search.best_estimator_[-1].views_.weights.shape == (2,)


def test_a_classifier_is_searched_and_asked_for_probabilities():
    search = GridSearchCV(LKGClassifier(), {"spread": [0.1, 0.9]}, cv=FOLDS, error_score="raise").fit(X, y)
    assert search.best_score_ == 1
    shares = cross_val_predict(LKGClassifier(), X, y, cv=FOLDS, method="predict_proba")
    np.testing.assert_array_equal(shares.argmax(axis=1), y)


@pytest.mark.parametrize("estimator", [LKG(3, random_state=0)], ids=name_of)
def test_coordinates_are_features_of_a_classifier(estimator):
    pipeline = make_pipeline(StandardScaler(), clone(estimator), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=FOLDS, error_score="raise").min() == 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", [LKG(3, random_state=0)], ids=name_of)
def test_coordinates_come_as_tables_on_request(estimator, library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    table = frames.DataFrame(dict(zip("abcdef", X.T, strict=True)))
    if library == "pandas":
        table.index = [f"sample {i}" for i in range(len(X))]
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform=library)
    placed = pipeline.fit_transform(table)
    assert isinstance(placed, frames.DataFrame)
    assert list(placed.columns) == [f"{name_of(estimator).lower()}{i}" for i in range(3)]
    np.testing.assert_array_equal(placed.to_numpy(), pipeline[-1].embedding_)
    if library == "pandas":
        assert placed.index.equals(table.index)


@pytest.fixture(params=["loky", "threading", "dask"])
def backend(request):
    """Two workers of joblib: processes, threads, or those of a Dask cluster in this process."""
    if request.param != "dask":
        with joblib.parallel_config(request.param, n_jobs=2):
            yield
        return
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        yield


def test_a_search_is_the_same_on_every_back_end(backend):
    options = {"scoring": "adjusted_rand_score", "cv": FOLDS, "error_score": "raise"}
    search = GridSearchCV(LKG(random_state=0), NUMBERS, **options).fit(X, y)
    with joblib.parallel_config("sequential"):
        alone = GridSearchCV(LKG(random_state=0), NUMBERS, **options).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_a_number_is_chosen_alike_on_every_back_end(backend):
    several, one = (LKG("auto", random_state=0, n_jobs=n_jobs).fit(X[:45]) for n_jobs in (2, 1))
    np.testing.assert_array_equal(several.labels_, one.labels_)
