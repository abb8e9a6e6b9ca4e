import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.estimators.landmarks.pick import check_landmarks, draw_pool, pick_landmarks
from kernelbraid.estimators.landmarks.sources import open_source
from kernelbraid.learning.settings import PRESETS

X = np.random.default_rng(0).random((90, 4))
SETTINGS = PRESETS["recommended"]


def state():
    return np.random.RandomState(0)


def test_the_pool_has_twenty_samples_a_landmark_or_all():
    for asked, rows, count in ((3, 60, 3), (50, 90, 50), ("auto", 90, 90)):
        pool, found = draw_pool(open_source(LKG(), X, 20), asked, 2, state())
        assert (pool.shape[0], found) == (rows, count)
        assert len(np.unique(np.vstack([pool, X]), axis=0)) == 90


def test_landmarks_are_different_samples():
    for how in ["k-means++", "leverage", "random"]:
        for widths in [(4,), (1, 3)]:
            found = pick_landmarks(X, 12, how, widths, SETTINGS, state())
            assert len(np.unique(found, axis=0)) == 12
            assert len(np.unique(np.vstack([found, X]), axis=0)) == 90
            np.testing.assert_array_equal(found, pick_landmarks(X, 12, how, widths, SETTINGS, state()))


def test_means_are_nearer_to_the_samples_than_samples_are():
    def distance(landmarks):
        return ((X[:, None] - landmarks) ** 2).sum(axis=2).min(axis=1).sum()

    rows, means = (pick_landmarks(X, 12, how, (4,), SETTINGS, state()) for how in ("k-means++", "k-means"))
    assert distance(means) < distance(rows)


def test_all_samples_are_landmarks_if_asked():
    for how in ["k-means++", "leverage", "random"]:
        found = pick_landmarks(X, 90, how, (4,), SETTINGS, state())
        assert len(np.unique(found, axis=0)) == 90


def test_given_landmarks_are_copied_and_checked():
    given = X[:9].copy()
    found = check_landmarks(given, 4, 3)
    given[:] = 0
    np.testing.assert_array_equal(found, X[:9])
    with pytest.raises(ValueError, match="landmarks has 4 features, and X has 5"):
        check_landmarks(X, 5, 3)
    with pytest.raises(ValueError, match="n_landmarks=2 is below n_clusters=3"):
        check_landmarks(X[:2], 4, 3)
    with pytest.raises(ValueError, match="n_landmarks=5 is too small to choose"):
        check_landmarks(X[:5], 4, "auto")
