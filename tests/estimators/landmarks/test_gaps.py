"""LandmarkLKG with samples that some views lack."""

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG, LandmarkLKG, load_model, save_model
from kernelbraid.metrics import ari

RNG = np.random.default_rng(3)
TRUTH = np.tile(np.arange(4), 100)
CENTRES = [5 * RNG.normal(size=(4, d)) for d in (4, 6, 5)]


def draw_views(truth, seed):
    rng = np.random.default_rng(seed)
    return [centre[truth] + rng.normal(size=(len(truth), centre.shape[1])) for centre in CENTRES]


def lacking(views, share=0.4, seed=1):
    """Return views of which each sample may lack one."""
    rng = np.random.default_rng(seed)
    n = len(views[0])
    lacks = np.where(rng.random(n) < share, rng.integers(0, len(views), n), -1)
    return [np.where((lacks == number)[:, None], np.nan, view) for number, view in enumerate(views)]


WHOLE = draw_views(TRUTH, 0)
GAPPED = lacking(WHOLE)
FULL, NEW = draw_views(TRUTH[:40], 9), lacking(draw_views(TRUTH[:40], 9), seed=2)


@pytest.fixture(scope="module")
def fitted():
    return LandmarkLKG(4, n_landmarks=60, random_state=0).fit(GAPPED)


def test_clusters_are_found_whatever_the_landmarks():
    for landmarks in ["k-means", "k-means++", "leverage", "random"]:
        model = LandmarkLKG(4, n_landmarks=60, landmarks=landmarks, random_state=0).fit(GAPPED)
        assert ari(TRUTH, model.labels_) == 1.0
    assert ari(TRUTH, LKG(4, random_state=0).fit_predict(GAPPED)) == 1.0


def test_new_samples_may_lack_views_too(fitted):
    assert ari(TRUTH[:40], fitted.predict(NEW)) == 1.0
    np.testing.assert_array_equal(fitted.predict(FULL), fitted.predict(NEW))
    np.testing.assert_array_equal(fitted.predict(GAPPED), fitted.labels_)


def test_a_saved_model_places_them_alike(fitted, tmp_path):
    save_model(fitted, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(NEW), fitted.predict(NEW))
    np.testing.assert_array_equal(loaded.views_.shares, fitted.views_.shares)


def test_samples_that_only_a_view_of_noise_has_are_placed_by_it():
    noise = np.random.default_rng(4).normal(size=(400, 5))
    views = [WHOLE[0].copy(), WHOLE[1].copy(), noise]
    for view in views[:2]:
        view[:10] = np.nan
    with pytest.warns(UserWarning, match="shares neighbours with no other"):
        model = LandmarkLKG(4, n_landmarks=60, random_state=0).fit(views)
    np.testing.assert_allclose(model.views_.shares[:10], [[0, 0, 1]] * 10)
    assert (model.views_.shares[10:, 2] == 0).all()
    assert ari(TRUTH[10:], model.labels_[10:]) == 1.0


def test_without_gaps_nothing_changes():
    with_rows = LandmarkLKG(4, n_landmarks=60, random_state=0).fit(WHOLE)
    assert not np.isnan(with_rows.landmarks_).any()
    assert ari(TRUTH, with_rows.labels_) == 1.0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"fusion": "kernels"}, "lacks samples in some views, and kernels cannot be joined then"),
        (
            {"preset": "paper"},
            "which preset='paper' cannot have; preset='recommended' can",
        ),
        ({"view_weights": [0, 1, 0]}, r"sample \d+ of X .* is missing in every view with a weight; leave it out, or"),
    ],
)
def test_settings_that_need_every_view_say_so(options, match):
    with pytest.raises(ValueError, match=match):
        LandmarkLKG(4, n_landmarks=60, random_state=0, **options).fit(GAPPED)


def test_a_sample_in_no_view_of_the_fit_is_refused(fitted):
    new = [np.where(np.arange(40)[:, None] == 7, np.nan, view) for view in FULL]
    with pytest.raises(ValueError, match=r"sample 7 of X .* is missing in every view"):
        fitted.predict(new)


def test_an_empty_row_of_a_sparse_view_is_a_measurement():
    views = [sparse.csr_array(np.where(np.arange(400)[:, None] < 5, 0.0, view)) for view in WHOLE]
    model = LandmarkLKG(4, n_landmarks=60, random_state=0).fit(views)
    np.testing.assert_allclose(model.views_.shares.sum(axis=1), 1)
    assert (model.views_.shares > 0).all(axis=1).mean() > 0.95
