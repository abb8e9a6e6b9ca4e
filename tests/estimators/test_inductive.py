import gc
import pickle
import warnings
import weakref
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from kernelbraid import LKG, load_model, save_model
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, build_bank
from kernelbraid.learning.extend import NewSamples
from kernelbraid.learning.outliers import Reach
from kernelbraid.ops.graphs import spectral_vectors
from problems import blobs, lkg

X, y = blobs(n=60)
WIDE = make_blobs(90, n_features=4, centers=3, cluster_std=2.0, random_state=0)[0]  # that touch each other


def test_fitted_samples_keep_their_labels_and_places(xp):
    for preset in ["recommended", "authors", "paper"]:
        model = LKG(3, preset=preset, n_init=5, random_state=0).fit(xp.asarray(X))
        assert np.array_equal(to_numpy(model.predict(xp.asarray(X))), to_numpy(model.labels_))
        np.testing.assert_allclose(to_numpy(model.transform(xp.asarray(X))), to_numpy(model.embedding_))
        order = np.random.default_rng(0).permutation(60)[:7]
        assert np.array_equal(to_numpy(model.predict(xp.asarray(X[order]))), to_numpy(model.labels_)[order])


def test_coordinates_are_worked_out_when_they_are_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "kernelbraid.learning.extend.spectral_vectors", lambda *a, **o: asked.append(1) or spectral_vectors(*a, **o)
    )
    model = LKG(3, random_state=0).fit(X)
    assert not asked  # communities of clear blobs are steady, and need none
    again = pickle.loads(pickle.dumps(model))
    assert len(asked) == 1
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert len(asked) == 1
    model.embedding_[:] = 0.0  # a copy of what new samples are placed by
    assert model.transform(X).any()


def test_new_samples_go_to_the_cluster_of_their_neighbours():
    for embedding in ["largest", "random_walk", "magnitude", "unnormalised"]:
        model = LKG(3, embedding=embedding, random_state=0).fit(X[:45])
        assert np.array_equal(model.predict(X[:45] + 1e-7), model.labels_)
        places = {label: set(model.labels_[y[:45] == label]) for label in set(y)}
        assert all(found in places[label] for found, label in zip(model.predict(X[45:]), y[45:], strict=True))


def test_shapes_that_kmeans_does_not_know():
    samples, classes = make_moons(300, noise=0.05, random_state=0)
    model = LKG(2, random_state=0).fit(samples[:200])
    found = model.predict(samples[200:])
    accuracy = np.mean(found == classes[200:])
    assert max(accuracy, 1 - accuracy) > 0.97


def test_digits_are_told_apart_as_well_as_the_fitted_ones():
    pixels, digits = load_digits(return_X_y=True)
    less = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(digits))  # pages of one writer lie together
        X, y = pixels[order], digits[order]
        model = LKG(10, random_state=0).fit(X[:400])
        names = np.array([np.bincount(y[:400][model.labels_ == label]).argmax() for label in range(10)])
        new = np.mean(names[model.predict(X[400:600])] == y[400:600])
        less.append(np.mean(names[model.labels_] == y[:400]) - new)
    assert np.mean(less) < 0.05


def test_a_sample_does_not_depend_on_its_company():
    model = LKG(3, random_state=0).fit(X[:45])
    together = model.transform(X[45:])
    apart = np.concatenate([model.transform(X[i : i + 1]) for i in range(45, 60)])
    np.testing.assert_allclose(together, apart, atol=1e-10)


def test_views_sparse_samples_and_kernels_are_taken():
    other = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    views = LKG(3, random_state=0).fit([X[:45], other[:45]])
    assert np.array_equal(views.predict([X[:45], other[:45]]), views.labels_)
    assert views.predict([X[45:], other[45:]]).shape == (15,)
    thin = sparse.csr_array(np.maximum(X, 0))
    model = LKG(3, random_state=0).fit(thin[:45])
    assert np.array_equal(model.predict(thin[:45]), model.labels_)
    bank = [Gaussian(2.0), Gaussian(0.5)]
    H = np.array(build_bank(X, bank))
    given = LKG(3, kernels="precomputed", random_state=0).fit(H[:, :45, :45])
    assert np.array_equal(given.predict(H[:, :45, :45]), given.labels_)
    assert given.predict(H[:, 45:, :45]).shape == (15,)


def test_fitted_samples_are_known_by_kernels_of_different_precision():
    for parameters in [
        {"fusion": "kernels", "graph_penalty": "nuclear", "max_iter": 5},
        {"fusion": "graphs"},
        {"preset": "authors", "max_iter": 1},
    ]:
        factors = np.random.default_rng(0).normal(size=(2, 9, 4))
        H = [(A @ A.T).astype(kind) for A, kind in zip(factors, (np.float32, np.float64), strict=True)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise has no clusters
            model = lkg(8, kernels="precomputed", random_state=0, **parameters).fit(H)
        assert np.array_equal(model.predict(H), model.labels_)


@pytest.mark.parametrize("weights", [None, np.r_[0.0, np.ones(46)], np.r_[np.ones(40), np.full(7, 3.0)]])
def test_kernels_place_new_samples_where_fitted_ones_are_copies_or_weighed(weights):
    rows = np.r_[np.arange(45), 0, 1]
    K = rbf_kernel(X, gamma=0.1)
    model = LKG(3, kernels="precomputed", random_state=0).fit(K[rows][:, rows], sample_weight=weights)
    np.testing.assert_array_equal(model.predict(K[rows][:, rows]), model.labels_)
    alike = LKG(3, kernels=[partial(rbf_kernel, gamma=0.1)], random_state=0).fit(X[rows], sample_weight=weights)
    np.testing.assert_allclose(model.transform(K[45:][:, rows]), alike.transform(X[45:]), atol=1e-8)


def test_bad_input_is_refused():
    model = LKG(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 1 features, but LKG is expecting"):
        model.predict(X[:, :1])
    given = LKG(3, kernels="precomputed", random_state=0).fit(build_bank(X, [Gaussian(1.0)]))
    with pytest.raises(ValueError, match="new samples need"):
        given.predict(np.ones((1, 4, 59)))


@pytest.mark.parametrize("kernels", ["local", "auto"])
def test_kernels_that_were_bound_on_a_device_are_there_for_new_samples(kernels):
    pytest.importorskip("torch", reason="torch is not installed")
    model = LKG(3, kernels=kernels, device="cpu", random_state=0).fit(X[:45])
    expected = LKG(3, kernels=kernels, random_state=0).fit(X[:45])
    np.testing.assert_array_equal(np.asarray(model.predict(X)), expected.predict(X))


@pytest.mark.filterwarnings("ignore:X is a list of 2 kernels")
def test_fitted_samples_are_known_by_kernels_that_are_symmetric_but_for_rounding():
    for form in [np.asarray, sparse.csr_array]:
        for n_kernels in [1, 2]:
            rng = np.random.default_rng(0)
            views = [X + 0.5 * rng.normal(size=X.shape) for _ in range(n_kernels)]
            K = [build_bank(view, [Gaussian(1.0)])[0] for view in views]
            K = [form(A * (1 + 1e-15 * np.triu(np.ones_like(A)))) for A in K]
            model = LKG(3, kernels="precomputed", random_state=0).fit(K)
            np.testing.assert_array_equal(model.predict(K), model.labels_)
            np.testing.assert_array_equal(model.transform(K), model.embedding_)


@pytest.fixture(scope="module")
def model():
    return LKG(3, random_state=0).fit(WIDE)


def test_memberships_are_shares_and_confidence_is_that_of_the_label(model):
    M = model.membership_
    assert M.shape == (90, 3)
    np.testing.assert_allclose(M.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.confidence_, M[np.arange(90), model.labels_])
    assert ((model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1)).all()
    assert np.mean(M.argmax(axis=1) == model.labels_) > 0.9


def test_nothing_is_found_before_it_is_asked_for_and_a_new_fit_forgets():
    model = LKG(3, random_state=0)
    assert not hasattr(model, "membership_")
    assert not hasattr(model, "outlier_scores_")
    model.fit(WIDE)
    assert model._certainty == {}
    first = model.confidence_
    assert len(model.fit(WIDE[:60]).confidence_) == 60
    np.testing.assert_array_equal(model.fit(WIDE).confidence_, first)


def test_fitted_samples_have_their_memberships_and_new_ones_those_of_their_neighbours(model):
    np.testing.assert_array_equal(model.predict_proba(WIDE[10:20]), model.membership_[10:20])
    near = WIDE[:20] + 1e-3
    proba = model.predict_proba(near)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (proba.argmax(axis=1) == model.labels_[:20]).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(near[7:8])[0], proba[7])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("n", [90, 2100])
def test_far_from_everything_nobody_is_sure(n, form):
    samples = make_blobs(n + 50, n_features=4, centers=3, cluster_std=2.0, random_state=0)[0]
    model = LKG(3, random_state=0, n_init=2).fit(form(samples[:n]))
    direction, new = samples[n:], model.predict_proba(form(samples[n:]))
    asked = NewSamples([[form(samples[n:])]], [np.ones(50, dtype=bool)])
    edges = model._fitted.edges(asked)
    holds = Reach.of(model._fitted.samples(), model.graph_).holds(asked, edges)
    assert (holds == 1).mean() > 0.8  # new samples like those of the fit are left as they are
    plain = edges @ model.membership_
    np.testing.assert_allclose(new[holds == 1], (plain / plain.sum(axis=1, keepdims=True))[holds == 1])
    sure = [model.predict_proba(form(direction * factor)).max(axis=1).max() for factor in (3, 30, 1e9)]
    assert sure[0] > sure[1] > sure[2]
    assert sure[2] == pytest.approx(1 / 3, abs=1e-6)


def test_far_from_all_views_nobody_is_sure_and_a_kernel_says_nothing_of_it():
    views = [WIDE[:, :2].copy(), WIDE[:, 2:].copy()]
    views[1][3] = np.nan
    model = LKG(3, random_state=0).fit(views)
    far = [1e9 * view for view in views]
    far[0][0] = np.nan
    np.testing.assert_allclose(model.predict_proba(far), 1 / 3, atol=1e-6)
    near = [views[0] + 1e-3, 1e9 * views[1]]
    assert model.predict_proba(near)[3].max() > 0.4  # it is there in the first view alone
    kernel = LKG(3, kernels="precomputed", random_state=0).fit(WIDE @ WIDE.T)
    assert kernel.predict_proba(1e9 * (WIDE[:2] @ WIDE.T)).max() > 0.5


def test_copies_of_a_sample_are_equally_sure():
    X = np.concatenate([WIDE, WIDE[:5]])
    model = LKG(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.membership_[90:], model.membership_[:5])
    np.testing.assert_array_equal(model.predict_proba(X), model.membership_)


def test_a_sample_far_away_stands_aside():
    X = np.concatenate([WIDE, [[40.0, -40.0, 40.0, -40.0]]])
    scores = LKG(3, random_state=0).fit(X).outlier_scores_
    assert np.argmax(scores) == 90
    assert scores[90] > 0.5


def test_views_that_lack_samples_have_memberships_and_scores():
    views = [WIDE[:, :2].copy(), WIDE[:, 2:].copy(), WIDE @ np.arange(12.0).reshape(4, 3)]
    views[0][3] = np.nan
    model = LKG(3, random_state=0).fit(views)
    assert model.membership_.shape == (90, 3)
    assert np.isfinite(model.outlier_scores_).all()
    np.testing.assert_array_equal(model.predict_proba(views), model.membership_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("params", [{"preset": "authors", "max_iter": 20, "tol": 0}, {"kernels": "precomputed"}])
def test_other_graphs_have_memberships_too(params):
    X = WIDE if "preset" in params else np.stack([WIDE @ WIDE.T, np.exp(-((WIDE[:, :1] - WIDE[:, :1].T) ** 2))])
    model = lkg(3, random_state=0, **params).fit(X)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)
    assert np.isfinite(model.outlier_scores_).all()


@pytest.mark.parametrize("asked", [True, False])
def test_files_and_pickles_keep_what_was_asked_for(tmp_path, asked):
    model = LKG(3, random_state=0).fit(WIDE)
    wanted = [model.membership_, model.outlier_scores_]
    if not asked:
        model.fit(WIDE)
    save_model(model, tmp_path / "model.kb")
    for again in (load_model(tmp_path / "model.kb"), pickle.loads(pickle.dumps(model))):
        assert ("membership" in again._certainty) == asked
        np.testing.assert_allclose(again.membership_, wanted[0])
        np.testing.assert_allclose(again.outlier_scores_, wanted[1])


@pytest.mark.parametrize("k", [3, 5, "auto"])
def test_labels_and_places_that_are_changed_do_not_change_what_is_told_later(k):
    expected, model = (LKG(k, random_state=0).fit(WIDE) for _ in range(2))
    model.labels_[::2] = 7
    model.embedding_[:] = np.random.default_rng(0).normal(size=model.embedding_.shape)
    assert (model.reliability_, model.why_) == (expected.reliability_, expected.why_)


def test_judging_that_is_interrupted_can_be_asked_for_again(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    expected, model = (LKG(3, random_state=0).fit(WIDE) for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr("kernelbraid.learning.readout.judge", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _ = model.reliability_
    assert model.reliability_ == expected.reliability_


@pytest.mark.parametrize("read", [lambda model: model, lambda model: model.at_level(0)])
def test_memory_of_a_fit_is_free_when_nobody_holds_it(read):
    model = read(LKG("auto", random_state=0).fit(WIDE))
    held = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert held() is None
    finally:
        gc.enable()
