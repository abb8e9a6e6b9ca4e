"""The estimators, with scikit-learn and on every kind of samples."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from kernelbraid import LKG, EachView, LKGClassifier
from kernelbraid.metrics import evaluate


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks fit arbitrary noise
def test_the_checks_of_scikit_learn_pass():
    outcomes = check_estimator(LKG(3), on_fail=None, on_skip=None)
    left_out = {"check_estimator_sparse_array", "check_estimator_sparse_matrix"}  # of four classes
    failed = [one["check_name"] for one in outcomes if one["status"] == "failed"]
    assert set(failed) <= left_out


def test_a_pipeline_scales_and_clusters(blobs):
    X, y = blobs
    pipeline, samples = make_pipeline(StandardScaler(), LKG(3, random_state=0)), X * [1, 1, 1, 1e3]
    assert adjusted_rand_score(y, pipeline.fit_predict(samples)) == 1
    np.testing.assert_array_equal(clone(pipeline).fit(samples).predict(samples), pipeline[-1].labels_)


def test_a_grid_search_finds_the_number_of_clusters(blobs):
    search = GridSearchCV(LKG(random_state=0), {"n_clusters": [2, 3, 4]}, scoring="adjusted_rand_score", cv=2)
    assert search.fit(*blobs).best_params_ == {"n_clusters": 3}


def test_data_frames_come_in_and_coordinates_go_out_as_data_frames(blobs):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(blobs[0], columns=list("abcd"), index=[f"s{i}" for i in range(60)])
    model = LKG(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.transform(frame).shape == (60, 3)
    assert model.transform(frame).index.tolist() == frame.index.tolist()


def test_sparse_samples_are_clustered_as_dense_ones(blobs):
    X, _ = blobs
    dense, thin = (LKG(3, random_state=0).fit(samples) for samples in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(thin.labels_, dense.labels_)


def test_kernels_and_graphs_that_are_ready_are_clustered(blobs):
    X, y = blobs
    kernels = np.stack([linear_kernel(X), rbf_kernel(X)])
    assert adjusted_rand_score(y, LKG(3, kernels="precomputed", random_state=0).fit_predict(kernels)) == 1
    graph = kneighbors_graph(X, 10)
    assert adjusted_rand_score(y, LKG(3, kernels="graph", random_state=0).fit_predict(graph)) == 1


def test_new_samples_get_labels_and_probabilities(blobs):
    X, y = blobs
    model = LKG(3, random_state=0).fit(X[::2])
    assert adjusted_rand_score(y[1::2], model.predict(X[1::2])) == 1
    shares = model.predict_proba(X[1::2])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X[1::2]))


def test_a_fit_says_how_sure_labels_are_who_stands_aside_and_how_far_to_rely_on_it(blobs):
    X = np.r_[blobs[0], [[60.0, -60, 60, -60]]]
    model = LKG(3, random_state=0).fit(X)
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()
    assert model.outlier_scores_.argmax() == 60
    assert 0 <= model.reliability_ <= 1
    assert all(sentence.endswith(".") for sentence in model.why_)


def test_few_labels_spread_to_all_samples(blobs):
    X, y = blobs
    model = LKGClassifier().fit(X, np.where(np.arange(60) < 9, y, -1))
    assert (model.transduction_ == y).all()
    assert (model.predict(X + 0.01) == y).all()


def test_a_false_view_is_left_out_with_a_reason(blobs):
    X, y = blobs
    rng = np.random.default_rng(0)
    views = [X, rng.normal(size=(60, 9)), X @ rng.normal(size=(4, 6))]
    with pytest.warns(UserWarning, match="view 2 shares neighbours with no other view and is left out"):
        model = make_pipeline(EachView(StandardScaler()), LKG(3, random_state=0)).fit(views)[-1]
    assert [entry["trusted"] for entry in model.views_.entries()] == [True, False, True]
    assert "view" in model.views_.entries()[1]["why"]
    assert evaluate(y, model.labels_)["acc"] == 1
