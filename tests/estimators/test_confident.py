"""How sure labels of fitted clusterers are."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid import LKG, load_model, save_model


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(90, n_features=4, centers=3, cluster_std=2.0, random_state=0)[0]


@pytest.fixture(scope="module")
def model(blobs):
    return LKG(3, random_state=0).fit(blobs)


def test_memberships_are_shares_and_confidence_is_that_of_the_label(model, blobs):
    M = model.membership_
    assert M.shape == (90, 3)
    np.testing.assert_allclose(M.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.confidence_, M[np.arange(90), model.labels_])
    assert ((model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1)).all()
    assert np.mean(M.argmax(axis=1) == model.labels_) > 0.9


def test_nothing_is_found_before_it_is_asked_for_and_a_new_fit_forgets(blobs):
    model = LKG(3, random_state=0)
    assert not hasattr(model, "membership_")
    assert not hasattr(model, "outlier_scores_")
    model.fit(blobs)
    assert model._certainty == {}
    first = model.confidence_
    assert len(model.fit(blobs[:60]).confidence_) == 60
    np.testing.assert_array_equal(model.fit(blobs).confidence_, first)


def test_fitted_samples_have_their_memberships_and_new_ones_those_of_their_neighbours(model, blobs):
    np.testing.assert_array_equal(model.predict_proba(blobs[10:20]), model.membership_[10:20])
    near = blobs[:20] + 1e-3
    proba = model.predict_proba(near)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (proba.argmax(axis=1) == model.labels_[:20]).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(near[7:8])[0], proba[7])


def test_copies_of_a_sample_are_equally_sure(blobs):
    X = np.concatenate([blobs, blobs[:5]])
    model = LKG(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.membership_[90:], model.membership_[:5])
    np.testing.assert_array_equal(model.predict_proba(X), model.membership_)


def test_a_sample_far_away_stands_aside(blobs):
    X = np.concatenate([blobs, [[40.0, -40.0, 40.0, -40.0]]])
    scores = LKG(3, random_state=0).fit(X).outlier_scores_
    assert np.argmax(scores) == 90
    assert scores[90] > 0.5


def test_views_that_lack_samples_have_memberships_and_scores(blobs):
    views = [blobs[:, :2].copy(), blobs[:, 2:].copy(), blobs @ np.arange(12.0).reshape(4, 3)]
    views[0][3] = np.nan
    model = LKG(3, random_state=0).fit(views)
    assert model.membership_.shape == (90, 3)
    assert np.isfinite(model.outlier_scores_).all()
    np.testing.assert_array_equal(model.predict_proba(views), model.membership_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("params", [{"preset": "authors", "max_iter": 20, "tol": 0}, {"kernels": "precomputed"}])
def test_other_graphs_have_memberships_too(blobs, params):
    X = blobs if "preset" in params else np.stack([blobs @ blobs.T, np.exp(-((blobs[:, :1] - blobs[:, :1].T) ** 2))])
    model = LKG(3, random_state=0, **params).fit(X)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)
    assert np.isfinite(model.outlier_scores_).all()


@pytest.mark.parametrize("asked", [True, False])
def test_files_and_pickles_keep_what_was_asked_for(blobs, tmp_path, asked):
    model = LKG(3, random_state=0).fit(blobs)
    wanted = [model.membership_, model.outlier_scores_]
    if not asked:
        model.fit(blobs)
    save_model(model, tmp_path / "model.kb")
    for again in (load_model(tmp_path / "model.kb"), pickle.loads(pickle.dumps(model))):
        assert bool(again._certainty) == asked
        np.testing.assert_allclose(again.membership_, wanted[0])
        np.testing.assert_allclose(again.outlier_scores_, wanted[1])
