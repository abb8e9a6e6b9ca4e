import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from kernelbraid import ADMM, LKG
from kernelbraid.kernels import Linear
from kernelbraid.learning import counting
from kernelbraid.learning import effort as progress
from kernelbraid.learning.counting import cloud_of, clouds_of, count
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import Views
from kernelbraid.learning.weighing import Weighed
from kernelbraid.metrics import ari
from problems import blobs

X, y = blobs(n=60)


def settings_of(**parameters):
    return Settings.of(LKG("auto", **parameters).get_params(deep=False))


def counted(samples, **parameters):
    settings = settings_of(**parameters)
    weighed, _ = LKG("auto")._pose(samples, settings)
    return count(weighed, settings, random_state=np.random.RandomState(0))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X[:15]])
def test_a_cloud_has_the_mean_and_the_covariance_of_the_samples(form):
    rng = np.random.default_rng(0)
    given = form(rng.normal(size=(400, 20)) @ rng.normal(size=(20, 20)) + 3)  # fewer or more features than samples
    dense = given.toarray() if sparse.issparse(given) else given
    everybody = [np.ones(len(dense), dtype=bool)]
    drawn = np.concatenate([cloud_of([given], everybody, np.random.RandomState(seed))[0] for seed in range(60)])
    np.testing.assert_allclose(drawn.mean(axis=0), dense.mean(axis=0), atol=1.0)
    expected = np.cov(dense.T, bias=True)
    assert np.linalg.norm(np.cov(drawn.T) - expected) < 0.15 * np.linalg.norm(expected)


def test_views_of_a_cloud_belong_to_the_same_samples_and_lack_the_same():
    gaps = X.copy()
    gaps[::5] = np.nan
    measured = [~np.isnan(gaps[:, 0]), np.ones(60, dtype=bool)]
    first, second = cloud_of([gaps, 2 * X + 1], measured, np.random.RandomState(0))
    np.testing.assert_array_equal(np.isnan(first[:, 0]), ~measured[0])
    there = measured[0]
    assert abs(np.corrcoef(first[there, 0], second[there, 0])[0, 1]) > 0.8


def test_there_is_no_cloud_of_kernels_functions_solvers_and_very_many_numbers(monkeypatch):
    weighed = Weighed.alike(Views([X]))
    assert len(clouds_of(weighed, settings_of(), 3, 0)) == 2
    assert clouds_of(weighed, settings_of(kernels=[Linear(), lambda A, B: A @ B.T]), 3, 0) == []
    assert clouds_of(weighed, settings_of(solver=ADMM(gamma=1.0)), 3, 0) == []
    monkeypatch.setattr(counting, "MOST_NUMBERS", 10)
    assert clouds_of(Weighed.alike(Views([sparse.csr_array(X)])), settings_of(), 3, 0) == []


def test_the_graph_that_is_counted_in_is_the_one_of_the_fit():
    found = counted(Views([X]))
    assert found.taken.n_clusters == len(set(y))
    values = {name: found.settings.flat()[name] for name in ("alpha", "n_neighbors")}
    again = LKG(3, random_state=0, **values).fit(X)
    assert abs(again.graph_ - found.learned.graph).max() < 1e-12


def test_many_small_clusters_are_looked_at_again_in_a_graph_for_as_many():
    few, true = make_blobs(400, 12, centers=40, cluster_std=0.8, random_state=0)
    found = counted(Views([few]))
    assert found.settings.readout.n_neighbors == 5
    assert ari(true, found.taken.labels) > 0.95
    fixed = counted(Views([few]), alpha=0.5, n_neighbors=10)
    assert fixed.settings.readout.n_neighbors == 10


def test_whoever_watches_hears_how_far_the_choice_has_come():
    class Watching:
        def __init__(self):
            self.phases, self.shares = [], []

        def plan(self, phases):
            """Not needed."""

        def enter(self, phase):
            self.phases.append(phase)

        def leave(self):
            """Not needed."""

        def step(self, told):
            return False

        def reach(self, share):
            if self.phases[-1] == progress.CHOOSE:
                self.shares.append(share)

    watching = Watching()
    with progress.watched_by(watching):
        counted(Views([X]))
    assert watching.phases == [progress.LEARN, progress.CHOOSE]
    assert watching.shares == sorted(watching.shares)
    assert len(set(watching.shares)) > 10
    assert max(watching.shares) <= 1.0


def test_lkg_chooses_and_reports(xp):
    model = LKG("auto", random_state=0).fit(X)
    assert model.n_clusters_ == len(set(y)) == len(set(model.labels_))
    (taken,) = [level for level in model.levels_ if level.is_taken]
    np.testing.assert_array_equal(taken.labels, model.labels_)
    assert model.settings_["n_clusters"] == "auto"
    again = LKG("auto", random_state=0).fit(xp.asarray(X))
    assert again.n_clusters_ == model.n_clusters_


def test_copies_and_weights_give_the_same_levels():
    twice = LKG("auto", random_state=0).fit(np.repeat(X, 2, axis=0))
    weighed = LKG("auto", random_state=0).fit(X, sample_weight=np.full(60, 2))
    np.testing.assert_array_equal(twice.labels_[::2], weighed.labels_)
    assert len(twice.levels_[0].labels) == 120


def test_other_ways_to_find_so_many_clusters_may_be_asked_for():
    model = LKG("auto", assign_labels="kmeans", random_state=0).fit(X)
    assert (model.n_clusters_, model.settings_["assign_labels"]) == (3, "kmeans")
    assert ari(y, model.labels_) == 1.0


@pytest.mark.parametrize("draw", [lambda rng: rng.normal(size=(150, 2)), lambda rng: rng.normal(size=(120, 30))])
def test_noise_is_one_cluster_or_doubted(draw):
    noise = draw(np.random.default_rng(0))
    with pytest.warns(UserWarning, match="no clear clusters"):
        model = LKG("auto", random_state=0).fit(noise)
    assert "a cloud without any" in " ".join(model.why_)
    if model.n_clusters_ == 1:
        assert set(model.labels_) == {0}


@pytest.fixture(scope="module")
def model():
    """A fit to three groups of three blobs each."""
    near = np.tile([[0.0, 0.0], [3.6, 0.0], [1.8, 3.1]], (3, 1))
    far = np.repeat([[0.0, 0.0], [14.0, 0.0], [7.0, 12.0]], 3, axis=0)
    return LKG("auto", random_state=0).fit(make_blobs(270, centers=far + near, cluster_std=0.55, random_state=0)[0])


class TestLevels:
    def test_both_numbers_are_told(self, model):
        assert [level.n_clusters for level in model.levels_] == [3, 9]
        assert f"Plausible as well: {3 if model.n_clusters_ == 9 else 9} clusters" in " ".join(model.why_)

    def test_a_level_is_a_fitted_copy_with_labels_confidence_and_predict(self, model):
        before = model.labels_.copy()
        for place, level in enumerate(model.levels_):
            other = model.at_level(place)
            np.testing.assert_array_equal(other.labels_, level.labels)
            assert other.n_clusters_ == level.n_clusters == other.embedding_.shape[1]
            assert other.graph_ is model.graph_
            assert other.levels_[place].is_taken
            assert other.membership_.shape == (270, level.n_clusters)
            fitted = model._fitted.members[0].relation.samples()[0]
            np.testing.assert_array_equal(other.predict(fitted), other.labels_)
            assert (other.predict(fitted + 1e-3) == other.labels_).mean() > 0.99
            assert 0 <= other.reliability_ <= 1
            assert f"{level.n_clusters} clusters are" in other.why_[0]
        np.testing.assert_array_equal(model.labels_, before)

    def test_the_level_that_was_taken_is_the_fit_itself(self, model):
        (place,) = [at for at, level in enumerate(model.levels_) if level.is_taken]
        same = model.at_level(place)
        np.testing.assert_array_equal(same.labels_, model.labels_)
        assert (same.reliability_, same.why_) == (model.reliability_, model.why_)

    def test_samples_of_weight_zero_have_a_level_too(self):
        weights = np.r_[0.0, np.ones(59)]
        model = LKG("auto", random_state=0).fit(X, sample_weight=weights)
        assert all(len(level.labels) == 60 for level in model.levels_)
        for place in range(len(model.levels_)):
            assert model.at_level(place).labels_.shape == (60,)

    @pytest.mark.parametrize("level", [2, -1, "fine"])
    def test_a_level_that_is_not_there_is_refused(self, model, level):
        with pytest.raises(ValueError, match=rf"^there is no level {level!r}: levels_ has 2, counted from 0"):
            model.at_level(level)

    def test_a_given_number_has_no_levels(self):
        model = LKG(4, random_state=0).fit(X)
        assert (model.n_clusters_, model.levels_) == (4, None)
        with pytest.raises(ValueError, match=r"^n_clusters=4 was given, so that there are no levels"):
            model.at_level(0)


class TestMinClusterSize:
    def test_given_and_found_numbers_alike(self):
        rng = np.random.default_rng(0)
        far = np.r_[X, X.max() + 5 + 0.1 * rng.normal(size=(3, X.shape[1]))]
        for k in (3, "auto"):
            model = LKG(k, min_cluster_size=10, random_state=0).fit(far)
            assert model.n_clusters_ == 3
            assert np.bincount(model.labels_).min() >= 10

    def test_fewer_clusters_than_asked_for_come_with_a_warning(self):
        with pytest.warns(UserWarning, match="LKG found 3 clusters instead of 4 that have min_cluster_size=15"):
            model = LKG(4, min_cluster_size=15, random_state=0).fit(X)
        assert np.bincount(model.labels_).tolist() == [20, 20, 20]

    @pytest.mark.parametrize(("k", "most"), [("auto", 30), (3, 20)])
    def test_one_that_leaves_none_is_refused(self, k, most):
        with pytest.raises(ValueError, match=rf"^min_cluster_size=31 leaves no room for . clusters .* at most {most}"):
            LKG(k, min_cluster_size=31).fit(X)
