import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, LKGClassifier
from kernelbraid.kernels import Gaussian, build_bank
from kernelbraid.ops.graphs import normalised_graph
from problems import blobs

X, y = blobs(n=60)
KNOWN = np.where(np.arange(60) % 6 == 0, y, -1)


def test_labels_spread_along_the_graph():
    model = LKGClassifier(spread=0.8).fit(X, KNOWN)
    S = normalised_graph(model.clusterer_.graph_)
    given = np.eye(3)[y] * (KNOWN >= 0)[:, None]
    F, total = given, given
    for _ in range(200):  # the sum over walks of every length
        F = 0.8 * S @ F
        total = total + F
    expected = np.where((KNOWN >= 0)[:, None], given, total / total.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-9)
    assert np.mean(model.transduction_ == y) > 0.95


def test_known_labels_stay_even_if_the_neighbours_disagree():
    wrong = KNOWN.copy()
    wrong[0] = (y[0] + 1) % 3
    assert LKGClassifier().fit(X, wrong).transduction_[0] == wrong[0]


def test_two_labels_are_enough_for_two_moons():
    samples, classes = make_moons(300, noise=0.05, random_state=0)
    known = np.full(300, -1)
    for label in (0, 1):
        known[np.flatnonzero(classes == label)[:2]] = label
    model = LKGClassifier(spread=0.99).fit(samples[:200], known[:200])
    assert np.mean(model.transduction_ == classes[:200]) > 0.95
    assert model.score(samples[200:], classes[200:]) > 0.95


def test_a_label_at_the_end_of_a_moon_reaches_its_other_end():
    for spread in [0.5, 0.8, 0.9]:
        samples, classes = make_moons(400, noise=0.03, random_state=0)
        known = np.full(400, -1)
        for label in (0, 1):
            inside = np.flatnonzero(classes == label)
            known[inside[np.argmin(samples[inside, 0])]] = label
        model = LKGClassifier(spread=spread).fit(samples, known)
        np.testing.assert_array_equal(model.transduction_, classes)


def test_new_samples_are_classified_and_fitted_ones_keep_their_class():
    samples, classes = load_wine(return_X_y=True)
    samples = StandardScaler().fit_transform(samples)
    known = np.where(np.arange(178) % 5 == 0, classes, -1)
    even = np.arange(178) % 2 == 0
    model = LKGClassifier().fit(samples[even], known[even])
    assert np.array_equal(model.predict(samples[even]), model.transduction_)
    assert model.score(samples[~even], classes[~even]) > 0.9
    shares = model.predict_proba(samples)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares.min() >= 0


def test_names_views_sparse_samples_and_kernels_are_taken():
    names = np.array(["a", "b", "c"])
    assert set(LKGClassifier().fit(X, names[y]).predict(X + 0.01)) <= set(names)
    views = [X, X + 0.1 * np.random.default_rng(0).normal(size=X.shape)]
    assert np.mean(LKGClassifier().fit(views, KNOWN).predict([view + 0.01 for view in views]) == y) > 0.9
    thin = sparse.csr_array(np.maximum(X, 0))
    assert LKGClassifier().fit(thin, KNOWN).predict(thin).shape == (60,)
    H = np.array(build_bank(X, [Gaussian(2.0), Gaussian(0.5)]))
    given = LKGClassifier(LKG(kernels="precomputed")).fit(H[:, :40, :40], KNOWN[:40])
    assert np.mean(given.predict(H[:, 40:, :40]) == y[40:]) > 0.9


def test_a_sample_that_no_label_reaches_gets_even_shares():
    far = np.vstack([X[:30], X[:12] + 1e3])
    known = np.concatenate([y[:30], np.full(12, -1)])
    model = LKGClassifier(LKG(kernels=[Gaussian(0.001)])).fit(far, known)
    np.testing.assert_allclose(model.label_distributions_[-12:], 1 / 3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(60, -1), "y holds no known label, only -1"),
        (y[:59], "X holds 60 samples and y 59 labels"),
        (np.stack([y, y], axis=1), "y has shape"),
        (None, "requires y to be passed"),
        (y + 0.5, "Unknown label type"),
    ],
)
def test_bad_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        LKGClassifier().fit(X, labels)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_a_spread_out_of_range_is_refused(spread):
    with pytest.raises(ValueError, match="'spread' parameter"):
        LKGClassifier(spread=spread).fit(X, KNOWN)


def views_of(truth):
    """Two views of clusters, each in directions of its own, and noise between them."""
    rng = np.random.default_rng(0)
    first, second = (rng.normal(0, 3, (3, d))[truth] + rng.normal(0, 0.7, (len(truth), d)) for d in (4, 6))
    return first, rng.normal(size=(len(truth), 20)), second


class TestSeveralViews:
    truth = np.arange(84) % 3
    known = np.where(np.arange(75) % 7 == 0, truth[:75], -1)
    every = views_of(truth)

    def fit(self, views=None, **parameters):
        with pytest.warns(UserWarning, match="view 2 shares neighbours with no other view and is left out"):
            return LKGClassifier(**parameters).fit(views or [X[:75] for X in self.every], self.known)

    def test_samples_may_be_missing_in_the_fit_and_among_new_ones(self):
        views = [X.copy() for X in self.every]
        views[0][[1, 2, 76]], views[2][[3, 77]] = np.nan, np.nan
        model = self.fit([X[:75] for X in views])
        np.testing.assert_array_equal(model.predict([X[:75] for X in views]), model.transduction_)
        new = [X[75:] for X in views]
        np.testing.assert_array_equal(model.predict(new), self.truth[75:])
        np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1)

    def test_weights_of_the_user_are_taken(self):
        views = [X[:75] for X in self.every]
        model = LKGClassifier(LKG(view_weights=[1, 0, 3])).fit(views, self.known)
        np.testing.assert_allclose(model.clusterer_.views_.weights, [0.25, 0, 0.75])
        with pytest.raises(ValueError, match="view_weights must be 3 numbers"):
            LKGClassifier(LKG(view_weights=[1, 3])).fit(views, self.known)
