from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG
from kernelbraid.bench.records.record import Trial
from kernelbraid.bench.trials.compared import COMPARED
from kernelbraid.bench.trials.corruption import OUTLIER
from kernelbraid.bench.trials.runner import share_fits
from kernelbraid.bench.trials.trial import data_for, fit_key, join_rows, kernels_for, make, record_of, run_trials
from kernelbraid.datasets import Dataset
from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.metrics import evaluate
from problems import blobs

LEVELS = {"noise": 0.5, "outliers": 0.2, "useless_views": 1}
SHUFFLED = {"shuffled": 1, "kernel": "linear"}


@pytest.fixture(scope="module")
def dataset():
    X, y = blobs(n=30, d=4)
    return Dataset("blobs", "Blobs", [X - X.min()], y, "sum")


@pytest.fixture(scope="module")
def views(dataset):
    return Dataset("views", "Views", [dataset.X[:, :2], sparse.csr_array(dataset.X)], dataset.y, "sum")


def trial(method="LKGr", **more):
    bank = "" if COMPARED[method].policy == "features" else "rmkkm"
    return Trial("blobs", "sum", method, "best100", bank, **more)


def scores(dataset, **more):
    [record] = run_trials([trial(**more)], dataset)
    assert record.reason == ""
    return dict(record.scores)


@pytest.mark.parametrize("changes", [{"noise": 0}, {"outliers": 0}, {"useless_views": 0}, {**SHUFFLED, "shuffled": 0}])
@pytest.mark.parametrize("method", ["LKGr", "MKKM"])
def test_level_0_of_a_change_gives_what_the_data_give_as_they_are(dataset, method, changes):
    [before], [after] = (run_trials([trial(method, changes=level)], dataset) for level in ({}, changes))
    assert after.reason == ""
    assert (after.status, after.n_iter) == (before.status, before.n_iter)
    assert dict(after.scores) == pytest.approx(dict(before.scores))
    assert dict(after.learned) == pytest.approx(dict(before.learned), abs=1e-6)
    assert len(after.learned) == 12


@pytest.mark.parametrize("change", LEVELS)
@pytest.mark.parametrize("method", ["LKGr", "KMeans", "SSR", "MKKM", "LKGr/average"])
def test_every_change_goes_with_sparse_data_and_several_views(views, method, change):
    found = scores(views, method=method, changes={change: LEVELS[change]})
    assert np.isfinite(list(found.values())).all()


def test_a_method_on_one_kernel_sees_the_useless_view_that_its_kernel_names(dataset):
    changes = {"useless_views": 1}
    first, second = (scores(dataset, method="KKM", kernel=f"view {view}: linear", changes=changes) for view in (1, 2))
    assert first == scores(dataset, method="KKM", kernel="linear")
    assert second["acc"] < first["acc"]


def test_outliers_are_not_scored(dataset):
    y = dataset.y.copy()
    y[:10] = OUTLIER
    labels = dataset.y.copy()
    labels[:10] = 2 - labels[:10]
    changed = Dataset("blobs", "Blobs", dataset.views, y, "sum")
    made = record_of(trial(), changed, SimpleNamespace(), [labels], 0.0)
    assert made.scores["acc"] == made.scores["nmi"] == 1
    assert record_of(trial(), dataset, SimpleNamespace(), [labels], 0.0).scores["acc"] < 1


def test_outliers_do_not_change_the_number_of_clusters(dataset):
    [record] = run_trials([trial(changes={"outliers": 0.5}, keep=("kernel",))], dataset)
    assert len(record.kept["kernel"]["sizes"]) == 3
    assert sum(record.kept["kernel"]["sizes"]) == 30


def test_weights_of_kernels_with_a_shuffled_one_have_their_names(dataset, views):
    clean, worse = (run_trials([trial(changes=changes)], dataset)[0].learned for changes in ({}, SHUFFLED))
    assert list(worse) == list(clean)
    assert worse["linear"] < 1 / 12
    assert sum(worse.values()) == pytest.approx(1)
    [record] = run_trials([trial(changes=SHUFFLED)], views)
    assert list(record.learned)[::12] == ["view 1: gaussian t=0.01", "view 2: gaussian t=0.01"]


def test_a_kernel_made_of_many_is_made_of_the_shuffled_ones(dataset):
    asked = trial("LKGr/average", changes=SHUFFLED)
    [found] = kernels_for(asked, dataset)
    everyone = kernels_for(trial(changes=SHUFFLED), dataset)
    np.testing.assert_allclose(found, everyone.mean(axis=0))
    assert np.abs(found - build_bank(dataset.X, "rmkkm").mean(axis=0)).max() > 0.01


def test_trials_on_data_changed_in_another_way_share_no_fit():
    kinds = [{}, {"noise": 0}, {"noise": 1}, {"outliers": 0}, SHUFFLED, {**SHUFFLED, "kernel": "gaussian t=1"}]
    assert len({fit_key(trial(changes=changes)) for changes in kinds}) == len(kinds)
    other = Trial("blobs", "sum", "LKGr", "mean20", "rmkkm", changes=SHUFFLED)
    assert fit_key(other) == fit_key(trial(changes=SHUFFLED))


def test_a_change_that_fails_is_a_record_with_its_reason(dataset):
    [record] = run_trials([trial(changes={**SHUFFLED, "kernel": "no such kernel"})], dataset)
    assert record.status == "failed"
    assert "no such kernel" in record.reason


def of_seeds(method="LKGr", **more):
    return [trial(method, seed=seed, **more) for seed in range(3)]


def blank(record):
    return replace(record, seconds=0.0, peak_bytes=0, created="")


def count_graphs(monkeypatch, estimator):
    """A list that gets an entry for every graph that is learned."""
    learn, learned = estimator._learn, []
    monkeypatch.setattr(estimator, "_learn", lambda model, *given: learned.append(model) or learn(model, *given))
    return learned


@pytest.mark.parametrize("scoring", ["best100", "mean20"])
def test_three_seeds_of_lkg_cost_one_fit_and_equal_three_runs(dataset, monkeypatch, scoring):
    trials = [
        replace(asked, scoring=scoring, parameters={"embedding": embedding})
        for asked in of_seeds("LKG")
        for embedding in ("largest", "random_walk")
    ]
    alone = [run_trials([asked], dataset)[0] for asked in trials]
    fits = count_graphs(monkeypatch, LKG)
    [group] = share_fits(trials)
    together = run_trials(group, dataset)
    assert len(fits) == 1
    assert list(map(blank, together)) == list(map(blank, alone))


@pytest.mark.parametrize("scoring", ["best100", "mean20"])
@pytest.mark.parametrize("method", ["SSR", "SC", "SCSK", "AASC", "SCMK"])
def test_three_seeds_of_a_graph_method_cost_one_fit_and_equal_three_runs(dataset, monkeypatch, method, scoring):
    kernel = "linear" if COMPARED[method].policy == "each" else ""
    readouts = [{}, {"n_neighbors": 5}, {"n_neighbors": 5, "edge_weights": "scaled"}]
    asked = [replace(asked, scoring=scoring, kernel=kernel) for asked in of_seeds(method)]
    trials = [replace(one, parameters=readout) for one in asked for readout in readouts]
    alone = [run_trials([one], dataset)[0] for one in trials]
    assert [record.reason for record in alone] == [""] * len(trials)
    graphs = count_graphs(monkeypatch, COMPARED[method].estimator)
    [group] = share_fits(trials)
    together = run_trials(group, dataset)
    assert len(graphs) == 1
    assert list(map(blank, together)) == list(map(blank, alone))


@pytest.mark.parametrize("method", ["SSR", "SC", "SCSK", "AASC", "SCMK", "LKG", "LKGr"])
def test_a_record_of_a_graph_method_has_the_labels_of_its_estimator(dataset, method):
    asked = trial(method, kernel="linear" if COMPARED[method].policy == "each" else "", parameters={"n_neighbors": 5})
    [record] = run_trials([asked], dataset)
    model = make(asked, 3).fit(dataset.X)
    expected = record_of(asked, dataset, model, [model.labels_], 0.0)
    assert dict(record.scores) == dict(expected.scores)
    n_iter = 0 if method == "SC" else expected.n_iter  # a graph that is a kernel is not iterated for
    assert (record.status, record.n_iter) == (expected.status, n_iter)
    assert dict(record.learned) == dict(expected.learned)


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("LKGr", {"parameters": {"preset": "paper"}}),
        ("LKG", {"parameters": {"graph_start": "random"}}),
        ("LKG", {"parameters": {"preset": "no such preset"}}),
        ("LKG", {"changes": {"noise": 0.5}}),
        ("LKGSearch", {}),
        ("SSR", {"changes": {"noise": 0.5}}),
        ("KKM", {"kernel": "linear"}),
        ("KMeans", {}),
    ],
)
def test_a_fit_that_may_draw_random_numbers_is_not_shared_by_seeds(method, more):
    assert len(share_fits(of_seeds(method, **more))) == 3


def test_a_preset_that_starts_at_random_is_shared_with_an_explicit_identity():
    assert len(share_fits(of_seeds(parameters={"preset": "paper", "graph_start": "identity"}))) == 1


def test_noise_of_a_density_based_rival_counts_as_one_more_cluster(dataset):
    X = np.concatenate([dataset.X, dataset.X[:1] + 1e3])
    alone = Dataset("blobs", "Blobs", [X], np.append(dataset.y, 3), "sum")
    [record] = run_trials([trial("HDBSCAN")], alone)
    assert (record.reason, record.status) == ("", "done")
    assert record.scores["acc"] == 1


def test_a_search_says_what_labels_would_have_chosen_of_its_candidates(dataset):
    worst, best = np.zeros(30, dtype=int), dataset.y
    model = SimpleNamespace(
        candidate_labels_=np.stack([worst, best]), best_params_={"kernels": [Gaussian(2.0), Linear()], "alpha": 0.5}
    )
    made = record_of(trial("LKGSearch"), dataset, model, [worst], 0.0)
    assert (
        record_of(trial("LKGSearch"), dataset, SimpleNamespace(candidate_labels_=worst[None]), [best], 0.0).tuned["acc"]
        == made.tuned["acc"]
    )
    assert made.scores["acc"] < 1
    assert dict(made.tuned) == {"acc": 1, "nmi": 1}
    assert made.chosen == f"kernels {Gaussian(2.0).name} + linear, alpha 0.5"


def test_a_search_is_run_with_the_restarts_of_the_scoring_and_records_its_choice(dataset, views):
    for data in (dataset, views):
        [record] = run_trials([trial("LKGSearch", parameters={"budget": 2})], data)
        assert record.reason == ""
        assert record.chosen
        assert record.tuned["acc"] >= record.scores["acc"]
    assert make(trial("LKGSearch"), 3).n_init == make(trial("LKG"), 3).n_init == 100
    assert make(trial("LKGSearch", seed=2), 3).random_state == 40


def test_other_methods_have_no_candidates(dataset):
    [record] = run_trials([trial("LKG")], dataset)
    assert (dict(record.tuned), record.chosen) == ({}, "")


def once(method, data, **more):
    bank = "" if COMPARED[method].policy == "features" else COMPARED[method].bank
    [record] = run_trials([Trial("blobs", "sum", method, "once", bank, **more)], data)
    assert record.reason == ""
    return record


def test_once_is_the_fit_of_a_user_with_the_seed_as_random_state(views, monkeypatch):
    given = []
    fit = COMPARED["KMeans"].estimator.fit
    monkeypatch.setattr(COMPARED["KMeans"].estimator, "fit", lambda model, X: given.append(model) or fit(model, X))
    once("KMeans", views, seed=3)
    [model] = given
    assert (model.random_state, model.n_init) == (3, 10)
    labels = LKG(3, random_state=2).fit(views.views).labels_
    assert once("LKG", views, seed=2).scores["acc"] == evaluate(views.y, labels)["acc"]


def test_joined_rows_have_unit_length_in_every_view(views):
    joined = data_for(Trial("blobs", "sum", "KMeans-joined", "once"), views)
    assert joined.shape == (30, 6)
    for part in (joined[:, :2], joined[:, 2:]):
        np.testing.assert_allclose(np.sqrt((part.toarray() ** 2).sum(axis=1)), 1)
    assert once("KMeans-joined", views).scores["acc"] > 0.5


@pytest.mark.parametrize("name", ["KKM", "RKKM", "SC", "SC-normalised", "SCSK", "SSR"])
def test_methods_on_one_matrix_take_joined_rows_in_the_place_of_each_view(views, name):
    bank, kernel = ("", "") if name == "SSR" else ("paper", "gaussian t=1")
    trial = Trial("blobs", "sum", f"{name}-joined", "once", bank, kernel)
    assert data_for(trial, views).shape == (30, 6)
    [found] = run_trials([trial], views)
    by_hand = COMPARED[name].make(views.n_clusters, random_state=0).fit(join_rows(views.views)).labels_
    assert found.scores["acc"] == evaluate(views.y, by_hand)["acc"]


def test_a_row_of_zeros_stays_one_when_views_are_joined():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(join_rows([X, X]), [[0.6, 0.8, 0.6, 0.8], [0, 0, 0, 0]])


def test_a_record_of_weighed_views_has_their_weights(views):
    changed = once("LKG", views, changes={"noise_views": 1})
    assert list(changed.learned) == ["view 1", "view 2", "view 3"]
    assert sum(changed.learned.values()) == pytest.approx(1)
    assert changed.learned["view 3"] == 0
    kernels = once("LKG", views, parameters={"fusion": "kernels"})
    assert dict(kernels.learned) == pytest.approx({"view 1": 0.5, "view 2": 0.5})


def test_a_view_with_missing_samples_is_scored(views):
    found = once("LKG", views, changes={"missing": 0.2})
    assert np.isfinite(found.label_free["silhouette"])
