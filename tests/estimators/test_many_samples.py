"""LKG above the number of samples up to which the closed form is exact, and with samples that occur several times."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG, LKGClassifier
from kernelbraid.learning import in_rows
from problems import lkg

X, y = make_blobs(400, 12, centers=4, cluster_std=2.5, random_state=0)


def fit(X=X, **parameters):
    return lkg(4, random_state=0, **parameters).fit(X)


@pytest.fixture
def few(monkeypatch):
    """Rows from 100 samples on."""
    monkeypatch.setattr("kernelbraid.estimators.low_rank.EXACT", 100)


@pytest.mark.usefixtures("few")
class TestRows:
    """No matrix of all pairs."""

    @pytest.mark.parametrize("samples", [X, sparse.csr_array(X), X.astype(np.float32), X + 500])
    def test_clusters_are_those_of_the_exact_closed_form(self, samples):
        exact, rows = fit(samples, approximation="exact"), fit(samples)
        assert adjusted_rand_score(exact.labels_, rows.labels_) > 0.97
        shared = ((exact.graph_ > 0).multiply(rows.graph_ > 0)).sum() / exact.graph_.nnz
        assert shared > 0.95
        assert rows.settings_ == {**exact.settings_, "approximation": "auto"}

    def test_cells_find_the_same_clusters(self, monkeypatch):
        monkeypatch.setattr(in_rows, "CELLS_FROM", 200)
        for samples in (X, sparse.csr_array(X)):
            assert adjusted_rand_score(fit(samples, approximation="exact").labels_, fit(samples).labels_) > 0.97

    def test_new_samples_are_placed_and_fitted_ones_are_known(self):
        model = fit()
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        new = X + np.random.default_rng(0).normal(size=X.shape) * 0.01
        assert adjusted_rand_score(model.predict(new), model.labels_) > 0.97
        np.testing.assert_allclose(model.transform(X), model.embedding_)
        np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)

    def test_views_are_fused_in_rows_and_may_lack_samples(self):
        views = [X[:, :6].copy(), X[:, 6:].copy()]
        views[0][:50] = np.nan
        exact, rows = fit(views, approximation="exact"), fit(views)
        assert adjusted_rand_score(exact.labels_, rows.labels_) > 0.95
        np.testing.assert_array_equal(rows.predict(views), rows.labels_)
        assert adjusted_rand_score(fit([X[:, :6], X[:, 6:]], fusion="kernels").labels_, y) > 0.9

    def test_the_number_of_clusters_is_chosen(self):
        assert LKG("auto", random_state=0).fit(X).n_clusters_ == 4

    def test_what_is_told_on_request_is_near_to_what_all_pairs_tell(self):
        exact, rows = fit(approximation="exact"), fit()
        assert np.corrcoef(exact.confidence_, rows.confidence_)[0, 1] > 0.8
        assert np.corrcoef(exact.outlier_scores_, rows.outlier_scores_)[0, 1] > 0.8

    def test_known_labels_spread(self):
        known = np.where(np.arange(len(y)) % 20 == 0, y, -1)
        assert np.mean(LKGClassifier().fit(X, known).transduction_ == y) > 0.95

    def test_functions_of_users_and_learned_kernels_are_exact(self):
        fit(kernels=[lambda A, B: A @ B.T])
        assert len(fit(gamma=10.0).solution_.history["mu"]) > 1

    def test_a_fit_that_does_not_fit_is_refused_before_memory_is_taken(self, monkeypatch):
        monkeypatch.setattr("kernelbraid.learning.effort.available_bytes", lambda: 1_000_000)
        with pytest.raises(MemoryError, match=r"a fit of 400 samples in rows needs about .* give at most about"):
            fit()


def test_narrow_kernels_in_rows_tell_shapes_apart(monkeypatch):
    from sklearn.datasets import make_circles

    monkeypatch.setattr("kernelbraid.estimators.low_rank.EXACT", 100)
    rings, truth = make_circles(600, noise=0.04, factor=0.4, random_state=0)
    assert adjusted_rand_score(truth, LKG(2, random_state=0).fit_predict(rings)) == 1.0


class TestCopies:
    """Equal samples are one vertex."""

    def test_every_row_twice_is_every_row_once(self):
        once, twice = fit(), fit(np.concatenate([X, X]))
        np.testing.assert_array_equal(twice.labels_, np.tile(once.labels_, 2))
        assert twice.graph_.shape == (800, 800)
        assert twice.graph_.nnz <= 4 * once.graph_.nnz

    def test_weights_are_as_good_as_copies(self):
        weights = np.random.default_rng(0).integers(1, 4, len(X))
        copies = fit(np.repeat(X, weights, axis=0))
        weighed = LKG(4, random_state=0).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(np.repeat(weighed.labels_, weights), copies.labels_)
        np.testing.assert_array_equal(weighed.predict(X), weighed.labels_)

    def test_a_sample_without_weight_is_labelled_as_a_new_one(self):
        weights = np.where(np.arange(len(X)) < 300, 1.0, 0.0)
        weighed, alone = LKG(4, random_state=0).fit(X, sample_weight=weights), fit(X[:300])
        np.testing.assert_array_equal(weighed.labels_[:300], alone.labels_)
        np.testing.assert_array_equal(weighed.labels_[300:], alone.predict(X[300:]))
        np.testing.assert_allclose(weighed.membership_.sum(axis=1), 1.0)

    def test_answers_to_few_questions_have_clusters(self):
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 3, 1000)
        profiles = np.stack([rng.permutation([1.5, 3.0, 4.5]) for _ in range(6)], axis=1)
        answers = np.clip(np.round(profiles[truth] + rng.normal(0, 0.7, (1000, 6))), 1, 5)
        model = LKG(3, random_state=0).fit(answers)
        assert adjusted_rand_score(truth, model.labels_) > 0.9
        assert model.confidence_.shape == (1000,)
        np.testing.assert_array_equal(model.predict(answers), model.labels_)

    def test_copies_of_one_sample_are_no_cluster(self):
        some = np.concatenate([X, np.repeat(X[:1], 40, axis=0)])
        model = fit(some)
        assert adjusted_rand_score(np.append(y, np.repeat(y[:1], 40)), model.labels_) > 0.95
        assert len(set(model.labels_[400:])) == 1

    def test_known_labels_of_copies_count_together(self):
        twice, labels = np.concatenate([X, X]), np.tile(y, 2)
        known = np.where(np.arange(800) % 40 == 0, labels, -1)
        model = LKGClassifier().fit(twice, known)
        assert np.mean(model.transduction_ == labels) > 0.95
        np.testing.assert_array_equal(model.predict(twice), model.transduction_)
