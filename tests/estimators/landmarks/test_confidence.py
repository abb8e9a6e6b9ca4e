"""How sure the labels of many samples are."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid import LandmarkLKG, load_model, save_model


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(600, n_features=4, centers=3, cluster_std=2.5, random_state=0)[0]


@pytest.fixture(scope="module")
def model(blobs):
    return LandmarkLKG(3, n_landmarks=60, random_state=0).fit(blobs)


def test_memberships_sum_to_one_and_are_largest_for_the_label(model):
    M = model.membership_
    assert M.shape == (600, 3)
    np.testing.assert_allclose(M.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(M.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(model.confidence_, M.max(axis=1))


def test_new_samples_have_memberships_as_fitted_ones_have(model, blobs):
    np.testing.assert_allclose(model.predict_proba(blobs), model.membership_, atol=1e-5)
    new = blobs[:50] + 0.5
    np.testing.assert_array_equal(model.predict_proba(new).argmax(axis=1), model.predict(new))


def test_samples_between_centres_are_the_least_sure(model):
    distances = np.sqrt(((model.embedding_[:, None, :] - model.cluster_centers_[None]) ** 2).sum(axis=2))
    nearest = np.sort(distances, axis=1)
    margin = nearest[:, 1] - nearest[:, 0]
    sure = model.confidence_
    assert sure[np.argsort(margin)[:60]].max() < sure[np.argsort(margin)[-60:]].min()


def test_nothing_is_there_before_a_fit():
    assert not hasattr(LandmarkLKG(3), "confidence_")
    assert not hasattr(LandmarkLKG(3), "outlier_scores_")


def test_samples_far_away_stand_aside_also_if_they_are_landmarks(blobs):
    for landmarks in ["k-means", "k-means++"]:
        for landmark_neighbors in [5, "all"]:
            X = np.concatenate([blobs, [[40.0, -40.0, 40.0, -40.0], [-40.0, -40.0, -40.0, 40.0]]])
            options = {"n_landmarks": 60, "landmarks": landmarks, "landmark_neighbors": landmark_neighbors}
            scores = LandmarkLKG(3, random_state=0, **options).fit(X).outlier_scores_
            assert scores[600:].min() > np.quantile(scores[:600], 0.98)
            assert ((scores >= 0) & (scores <= 1)).all()


def test_several_views_have_memberships_and_scores(blobs):
    views = [blobs[:, :2], blobs[:, 2:], blobs @ np.arange(12.0).reshape(4, 3)]
    model = LandmarkLKG(3, n_landmarks=60, random_state=0).fit(views)
    np.testing.assert_allclose(model.predict_proba(views), model.membership_, atol=1e-5)
    assert model.outlier_scores_.shape == (600,)
    assert np.median(model.outlier_scores_) < 0.5


def test_a_file_keeps_them(model, tmp_path):
    save_model(model, tmp_path / "model.kb")
    again = load_model(tmp_path / "model.kb")
    np.testing.assert_array_equal(again.membership_, model.membership_)
    np.testing.assert_array_equal(again.outlier_scores_, model.outlier_scores_)


def test_views_that_lack_samples_count_where_they_have_them(blobs):
    views = [blobs[:, :2].copy(), blobs[:, 2:].copy(), blobs @ np.arange(12.0).reshape(4, 3)]
    views[0][:50] = np.nan
    model = LandmarkLKG(3, n_landmarks=60, random_state=0).fit(views)
    assert ((model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1)).all()
    assert abs(np.median(model.outlier_scores_[:50]) - np.median(model.outlier_scores_[50:])) < 0.2
    np.testing.assert_allclose(model.predict_proba(views), model.membership_, atol=1e-5)
