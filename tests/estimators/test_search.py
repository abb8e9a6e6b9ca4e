import math
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, LKGSearch
from kernelbraid.estimators import reading
from kernelbraid.estimators import tryouts as members
from kernelbraid.estimators.search import default_candidates
from kernelbraid.kernels import Gaussian, LazyStack, build_bank, pairs
from problems import blobs

X, y = blobs(n=60)


@pytest.fixture(scope="module")
def search():
    return LKGSearch(3, random_state=0).fit(X)


def test_it_finds_separate_clusters_and_says_why(search):
    assert adjusted_rand_score(y, search.labels_) > 0.9
    assert search.why_[0].startswith(f"{len(default_candidates(60, 3))} settings were fitted in ")
    assert any(sentence.startswith("Chosen: ") for sentence in search.why_)
    assert search.why_[-1].startswith("The graph has ")


def test_the_default_is_in_the_middle_of_what_is_tried(search):
    model = LKG(3, random_state=0)
    settings = model._settings().sized(60, 3)
    tried = default_candidates(60, 3)
    assert tried[0] == {}
    assert {"alpha": settings.learning.alpha, "n_neighbors": settings.readout.n_neighbors} not in tried
    assert len({entry["alpha"] for entry in tried[1:]}) == 3
    assert {entry["n_neighbors"] for entry in default_candidates(8, 2)[1:]} == {3, 5, 7}  # fewer than samples


def test_it_is_relied_on_as_far_as_its_setting_and_the_others_agree(search):
    agreement = search.results_["agreement"][search.best_index_]
    assert search.reliability_ == pytest.approx(search.best_estimator_.reliability_ * agreement)
    assert set(search.best_estimator_.why_) <= set(search.why_)
    alone = LKGSearch(3, budget=1, random_state=0).fit(X)
    assert alone.reliability_ == alone.best_estimator_.reliability_


def test_the_best_estimator_is_the_chosen_setting_fitted(search):
    assert isinstance(search.best_estimator_, LKG)
    assert np.array_equal(search.best_estimator_.labels_, search.labels_)
    assert search.best_params_ == default_candidates(60, 3)[search.best_index_]
    again = LKG(**search.best_estimator_.get_params()).fit(X)
    assert np.array_equal(again.labels_, search.labels_)


def test_results_hold_a_row_a_setting_with_its_scores(search):
    results = search.results_
    assert len(results) == len(default_candidates(60, 3))
    assert {"alpha", "silhouette", "agreement", "modularity", "balance", "components", "status", "seconds"} <= set(
        results
    )
    assert results["score"].max() <= max(1.3 * results["score"][0], results["score"][search.best_index_])
    assert results["agreement"].between(-1, 1).all()
    np.testing.assert_allclose(results["score"], results["agreement"] * results["stability"])
    assert search.candidate_labels_.shape == (len(results), 60)
    assert (search.n_clusters_, search.n_clusters_evidence_) == (3, None)


def test_a_budget_of_fits_is_kept_and_the_result_is_the_same_every_time():
    first, second = (LKGSearch(3, budget=7, random_state=1).fit(X) for _ in range(2))
    assert len(first.results_) == 7
    assert "5 more were left" in first.why_[0]
    assert np.array_equal(first.labels_, second.labels_)
    assert first.best_params_ == second.best_params_


def test_a_budget_in_seconds_allows_at_least_one_fit():
    search = LKGSearch(3, budget=1e-6, random_state=0).fit(X)
    assert len(search.results_) == 1
    assert len(search.labels_) == 60
    assert "That was one fit only, so nothing was compared; a larger budget compares settings." in search.why_


def test_the_number_of_clusters_is_chosen_first():
    search = LKGSearch("auto", budget=3, random_state=0).fit(X)
    assert search.n_clusters_ == 3
    assert search.best_estimator_.n_clusters == 3
    assert 3 in search.n_clusters_evidence_["n_clusters"]


def test_a_consensus_clusters_the_average_graph_of_the_better_half():
    search = LKGSearch(3, budget=9, result="consensus", random_state=0).fit(X)
    assert adjusted_rand_score(y, search.labels_) > 0.9
    assert search.why_[-1] == "The labels are those of a consensus: the average of the graphs of 5 settings."
    alone = LKGSearch(3, budget=1, result="consensus", random_state=0).fit(X)
    assert np.array_equal(alone.labels_, alone.best_estimator_.labels_)


def test_more_restarts_serve_the_chosen_setting_alone():
    search = LKGSearch(3, budget=2, n_init=7, random_state=0).fit(X)
    assert search.best_estimator_.n_init == 7


def test_kernels_that_are_all_alike_are_named():
    K = build_bank(X, [Gaussian(2.0)])[0]
    candidates = [{"kernels": [lambda A, B: K]}, {"kernels": [lambda A, B: K.copy()], "alpha": 3.0}]
    candidates[1]["kernels"][0].__name__ = "other"
    search = LKGSearch(3, candidates=candidates, random_state=0).fit(X)
    assert any(sentence.startswith("All kernels are the same matrix") for sentence in search.why_)


def test_a_callback_watches_and_ends_the_search():
    seen = []

    def watch(progress):
        seen.append((progress.done, progress.total))
        return progress.done == 3

    assert len(LKGSearch(3, callback=watch, random_state=0).fit(X).results_) == 3
    assert seen == [(1, 12), (2, 12), (3, 12)]


def count_calls(monkeypatch, module, name, fail_at=None):
    """A list that gets the arguments of every call of a function; one of the calls may be interrupted."""
    function, calls = getattr(module, name), []

    def counted(*given, **more):
        calls.append(given)
        if len(calls) == fail_at:
            raise KeyboardInterrupt
        return function(*given, **more)

    monkeypatch.setattr(module, name, counted)
    return calls


def test_an_interrupted_search_keeps_what_it_has(monkeypatch):
    count_calls(monkeypatch, members, "learn_graph", fail_at=4)
    search = LKGSearch(3, random_state=0).fit(X)
    assert len(search.results_) == 3
    assert "9 more were left" in search.why_[0]


def test_a_search_that_is_interrupted_at_once_has_nothing(monkeypatch):
    count_calls(monkeypatch, members, "learn_graph", fail_at=1)
    with pytest.raises(KeyboardInterrupt):
        LKGSearch(3, random_state=0).fit(X)


@pytest.mark.parametrize("parameters", [{}, {"n_init": 7}, {"result": "consensus"}])
def test_every_setting_is_learned_once_and_the_chosen_one_is_not_fitted_again(monkeypatch, parameters):
    monkeypatch.setattr(LKG, "fit", lambda *_: pytest.fail("fitted"))
    learned = count_calls(monkeypatch, members, "learn_graph")
    search = LKGSearch(3, budget=6, random_state=0, **parameters).fit(X)
    assert len(learned) == len(search.results_) == 6
    assert search.best_estimator_.predict(X).shape == (60,)


def test_samples_are_read_once_and_their_products_formed_once(monkeypatch):
    read = count_calls(monkeypatch, reading, "read_views")
    formed = count_calls(monkeypatch, pairs, "pairs_within")
    for data, views in ((X, 1), ([X, X[:, :3]], 2)):
        read.clear()
        formed.clear()
        LKGSearch(3, budget=12, random_state=0).fit(data)
        assert len(read) == 1
        assert len(formed) == views


def test_kernels_are_checked_once(monkeypatch):
    checked = count_calls(monkeypatch, reading, "read_kernels")
    LKGSearch(3, kernels="precomputed", random_state=0).fit(build_bank(X, [Gaussian(2.0), Gaussian(0.5)]))
    assert len(checked) == 1


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_the_setting_of_lkg_as_it_comes_finds_what_lkg_finds(n_clusters):
    samples = np.random.default_rng(0).normal(size=(60, 4)) + 3 * (np.arange(60) % 3)[:, None]
    search = LKGSearch(n_clusters, budget=1, random_state=5).fit(samples)
    np.testing.assert_array_equal(search.labels_, LKG(n_clusters, random_state=5).fit_predict(samples))


def test_the_average_of_a_bank_is_summed_once_if_there_is_room(monkeypatch):
    candidates = [{"alpha": alpha, "kernels": [Gaussian(0.5), Gaussian(2.0)]} for alpha in (0.3, 1.0, 3.0)]
    sums = count_calls(monkeypatch, LazyStack, "combine")
    rich = LKGSearch(3, candidates=candidates, random_state=0).fit(X)
    assert len(sums) == 1
    sums.clear()
    poor = LKGSearch(3, candidates=candidates, memory_budget=3.6e5, random_state=0).fit(X)
    assert len(sums) > 3
    np.testing.assert_array_equal(poor.candidate_labels_, rich.candidate_labels_)
    with pytest.raises(MemoryError, match="needs about"):
        LKGSearch(3, candidates=candidates, memory_budget=1e4, random_state=0).fit(X)


@pytest.mark.parametrize("parameters", [{}, {"result": "consensus"}, {"n_clusters": "auto"}, {"n_init": 7}])
def test_results_do_not_depend_on_the_number_of_processes(parameters):
    mixed = [{"alpha": 0.3}, {"gamma": 10.0, "beta": 0.1}, {"kernels": [Gaussian(0.5)]}, {"graph_penalty": "nuclear"}]
    asked = {"n_clusters": 3, "candidates": mixed, "random_state": 0, **parameters}
    alone, together = (LKGSearch(n_jobs=n_jobs, **asked).fit(X) for n_jobs in (None, 2))
    np.testing.assert_array_equal(together.labels_, alone.labels_)
    np.testing.assert_array_equal(together.candidate_labels_, alone.candidate_labels_)
    assert together.best_params_ == alone.best_params_
    found, expected = (search.results_.drop(columns="seconds") for search in (together, alone))
    for column in expected.select_dtypes("number"):
        np.testing.assert_allclose(found[column], expected[column], atol=1e-9)
    assert found["status"].equals(expected["status"])
    told = [[line for line in search.why_ if "were fitted in" not in line] for search in (together, alone)]
    assert told[0] == told[1]
    np.testing.assert_array_equal(together.best_estimator_.predict(X + 0.1), alone.best_estimator_.predict(X + 0.1))


def test_a_callback_ends_a_search_in_processes_too():
    search = LKGSearch(3, n_jobs=2, callback=lambda progress: progress.done == 3, random_state=0).fit(X)
    assert len(search.results_) == 3
    expected = LKGSearch(3, budget=3, random_state=0).fit(X)
    np.testing.assert_array_equal(search.candidate_labels_, expected.candidate_labels_)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_best_estimator_of_kernels_and_of_a_learned_kernel_predicts(n_jobs):
    H = build_bank(X, [Gaussian(2.0), Gaussian(0.5)])
    given = LKGSearch(3, kernels="precomputed", n_jobs=n_jobs, random_state=0).fit(H[:, :45, :45]).best_estimator_
    np.testing.assert_array_equal(given.predict(H[:, :45, :45]), given.labels_)
    assert given.predict(H[:, 45:, :45]).shape == (15,)
    assert given.n_features_in_ == 45
    learned = LKGSearch(3, candidates=[{"gamma": 10.0}], n_jobs=n_jobs, random_state=0).fit(X[:45]).best_estimator_
    expected = LKG(**learned.get_params()).fit(X[:45])
    np.testing.assert_array_equal(learned.predict(X), expected.predict(X))


def test_matrices_are_kept_if_a_setting_asks_for_them():
    search = LKGSearch(3, candidates=[{"keep_matrices": True, "alpha": 0.5}], random_state=0).fit(X)
    again = LKG(**search.best_estimator_.get_params()).fit(X)
    np.testing.assert_allclose(search.best_estimator_.kernel_, again.kernel_, atol=1e-12)
    np.testing.assert_allclose(search.best_estimator_.coefficients_, again.coefficients_, atol=1e-12)
    assert not hasattr(LKGSearch(3, budget=1, random_state=0).fit(X).best_estimator_, "kernel_")


def test_a_setting_may_have_a_preset_of_its_own():
    candidates = [{"preset": "authors", "max_iter": 20, "tol": 0.0}, {}]
    search = LKGSearch(3, candidates=candidates, random_state=0).fit(X)
    for params, labels in zip(candidates, search.candidate_labels_, strict=True):
        alone = LKGSearch(3, candidates=[params], random_state=0).fit(X)
        np.testing.assert_array_equal(labels, alone.labels_)
        np.testing.assert_array_equal(LKG(**alone.best_estimator_.get_params()).fit(X).labels_, alone.labels_)


def test_candidates_of_the_user_are_tried():
    candidates = [{"alpha": 0.5}, {"graph_penalty": "nuclear", "gamma": 1.0, "beta": 0.1, "alpha": 0.01}]
    search = LKGSearch(3, candidates=candidates, random_state=0).fit(X)
    assert search.best_params_ in candidates
    assert len(search.results_) == 2


def test_views_sparse_samples_and_kernels_are_taken():
    near = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    views = LKGSearch(3, budget=5, random_state=0).fit([X, near])
    assert adjusted_rand_score(y, views.labels_) > 0.9
    assert views.n_features_in_ == 2 * X.shape[1]
    thin = LKGSearch(3, budget=5, random_state=0).fit(sparse.csr_array(np.maximum(X, 0)))
    assert len(set(thin.labels_)) == 3
    given = LKGSearch(3, kernels="precomputed", random_state=0).fit(build_bank(X, [Gaussian(2.0), Gaussian(0.5)]))
    assert adjusted_rand_score(y, given.labels_) > 0.9
    assert len(given.results_) == 12


def test_settings_that_find_nothing_are_left_out():
    broken = {"graph_penalty": "l1", "gamma": 1.0, "beta": 0.01, "alpha": 100.0, "mu": 1.0, "graph_from": "J"}
    search = LKGSearch(3, candidates=[broken, {"alpha": 1.0}], random_state=0).fit(X)
    assert search.best_index_ == 1
    assert any(sentence.startswith("Left out: the fit ended with graph_empty") for sentence in search.why_)
    with pytest.warns(ConvergenceWarning, match="No setting is sound"):
        LKGSearch(3, candidates=[broken], random_state=0).fit(X)


@pytest.mark.parametrize("shape", [make_moons, partial(make_circles, factor=0.4)])
def test_clusters_of_any_shape_are_found(shape):
    samples, classes = shape(200, noise=0.04, random_state=0)
    assert adjusted_rand_score(classes, LKGSearch(2, random_state=0).fit(samples).labels_) > 0.95


def test_no_labels_are_looked_at():
    shuffled = np.random.default_rng(0).permutation(y)
    found = [LKGSearch(3, budget=5, random_state=0).fit(X, labels).labels_ for labels in (y, shuffled, None)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_the_choice_on_wine_is_near_the_best_candidate():
    samples, classes = load_wine(return_X_y=True)
    samples = StandardScaler().fit_transform(samples)
    found = [LKGSearch(3, random_state=seed).fit_predict(samples) for seed in range(3)]
    assert np.mean([adjusted_rand_score(classes, labels) for labels in found]) > 0.85


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"candidates": []}, "candidates is an empty list; give at least one dict of parameters"),
        ({"budget": 0}, "'budget' parameter"),
        ({"budget": -1.0}, "'budget' parameter"),
        ({"n_clusters": 61}, "n_samples=60 is below n_clusters=61"),
        ({"candidates": [{}, {"alpha": -1.0}]}, r"^candidates\[1\]: The 'alpha' parameter"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_computed(parameters, message, monkeypatch):
    monkeypatch.setattr(pairs, "pairs_within", lambda *_: pytest.fail("computed"))
    monkeypatch.setattr(members, "learn_graph", lambda *_, **__: pytest.fail("learned"))
    with pytest.raises(ValueError, match=message):
        LKGSearch(**{"n_clusters": 3, **parameters}).fit(X)


def test_an_infinite_gamma_is_among_the_common_settings(search):
    assert search.best_estimator_.gamma == math.inf


def views_of(truth):
    """Two views of clusters, each in directions of its own, and noise between them."""
    rng = np.random.default_rng(0)
    first, second = (rng.normal(0, 3, (3, d))[truth] + rng.normal(0, 0.7, (len(truth), d)) for d in (4, 6))
    return first, rng.normal(size=(len(truth), 20)), second


class TestSeveralViews:
    truth = np.arange(75) % 3
    views = views_of(truth)

    def fit(self, views=None, **parameters):
        with pytest.warns(UserWarning, match="view 2 shares neighbours with no other view and is left out"):
            return LKGSearch(3, **{"budget": 2, "random_state": 0, **parameters}).fit(list(views or self.views))

    def test_noise_is_left_out_of_every_setting(self):
        tried = [{}, {"fusion": "kernels"}, {"gamma": 10.0}, {"kernels": [Gaussian(2.0)]}]
        plain = LKGSearch(3, candidates=tried, random_state=0).fit(list(self.views[::2]))
        noisy = self.fit(candidates=tried, budget=None)
        np.testing.assert_array_equal(noisy.candidate_labels_, plain.candidate_labels_)
        assert adjusted_rand_score(self.truth, noisy.labels_) == 1

    def test_weights_and_report_are_those_of_the_chosen_setting(self):
        search = self.fit()
        np.testing.assert_allclose(search.view_weights_, [0.5, 0, 0.5])
        assert search.view_report_ == search.best_estimator_.view_report_
        assert [entry["trusted"] for entry in search.view_report_] == [True, False, True]
        alone = LKGSearch(3, budget=1, random_state=0).fit(X)
        np.testing.assert_allclose(alone.view_weights_, [1.0])
        assert [entry["name"] for entry in alone.view_report_] == ["view 1"]

    def test_views_are_measured_once_for_all_settings(self, monkeypatch):
        calls = []
        weigh = members.weigh
        monkeypatch.setattr(members, "weigh", lambda *given: calls.append(given) or weigh(*given))
        self.fit(candidates=[{}, {"alpha": 3.0}, {"fusion": "kernels"}], budget=None)
        assert len(calls) == 1

    def test_lkg_as_it_comes_is_the_first_of_the_defaults(self):
        search = self.fit(budget=1)
        assert search.best_params_ == default_candidates(60, 3, several=True)[0] == {}
        assert "Chosen: the setting of LKG as it comes." in search.why_
        with pytest.warns(UserWarning, match="left out"):
            again = LKG(**search.best_estimator_.get_params()).fit(list(self.views))
        np.testing.assert_array_equal(again.labels_, search.labels_)

    def test_weights_that_are_given_leave_out_what_they_say(self):
        tried = [{"view_weights": [1, 0, 3]}]
        search = LKGSearch(3, candidates=tried, random_state=0).fit(list(self.views))
        np.testing.assert_allclose(search.view_weights_, [0.25, 0, 0.75])

    @pytest.mark.parametrize(
        ("tried", "message"),
        [
            ({"view_weights": [1, 2]}, "view_weights must be 3 numbers"),
            ({"gamma": 10.0, "fusion": "graphs"}, r"candidates\[0\]: fusion='graphs' fuses graphs, and gamma=10 has"),
            ({"gamma": 10.0, "view_weights": [1, 2, 3]}, r"candidates\[0\]: view_weights gives the weights that gamma"),
        ],
    )
    def test_settings_that_contradict_themselves_are_refused(self, tried, message):
        with pytest.raises(ValueError, match=message):
            LKGSearch(3, candidates=[tried]).fit(list(self.views))

    def test_samples_may_be_missing_and_the_chosen_setting_places_new_ones(self):
        views = [X.copy() for X in self.views]
        views[0][[1, 2]], views[2][3] = np.nan, np.nan
        search = self.fit(views)
        assert adjusted_rand_score(self.truth, search.labels_) == 1
        np.testing.assert_array_equal(search.best_estimator_.predict(views), search.labels_)

    def test_a_consensus_and_a_chosen_number_are_taken_over_the_views_that_agree(self):
        assert adjusted_rand_score(self.truth, self.fit(budget=3, result="consensus").labels_) == 1
        with pytest.warns(UserWarning, match="view 2 shares"):
            assert LKGSearch("auto", budget=1, random_state=0).fit(list(self.views)).n_clusters_ == 3

    def test_kernels_in_a_list_are_views_and_a_stack_is_one(self):
        stacks = [build_bank(X, [Gaussian(0.5), Gaussian(2.0)]) for X in self.views]
        search = self.fit(stacks, kernels="precomputed")
        np.testing.assert_allclose(search.view_weights_, [0.5, 0, 0.5])
        stack = LKGSearch(3, kernels="precomputed", budget=1, random_state=0).fit(np.asarray(stacks[0]))
        np.testing.assert_allclose(stack.view_weights_, [1.0])
