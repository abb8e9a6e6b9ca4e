import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from kernelbraid import ADMM, LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, SelfTuning, build_bank
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning import weighing as module
from kernelbraid.learning.given import GivenKernels
from kernelbraid.learning.settings import PRESETS
from kernelbraid.learning.sources import Views
from kernelbraid.learning.weighing import Weighed, check_weights, weigh
from problems import lacking, view_of

N = 90
TRUTH = np.arange(N) % 3


rng = np.random.default_rng(0)
ONE, TWO = view_of(TRUTH, rng), view_of(TRUTH, rng)
NOISE, MORE_NOISE = rng.normal(size=(N, 20)), rng.normal(size=(N, 20))
BANK = [Gaussian(0.5), Gaussian(2.0), Linear()]
X = make_blobs(60, 12, centers=3, random_state=0)[0]

COMPUTING = {"device", "n_jobs"}
BESIDE = {"preset", "view_weights", "random_state"}  # published elsewhere, or nothing that a fit could choose
LEARNED = {"alpha", "n_neighbors", "edge_weights", "fusion", "solver"}


def given(*stacks):
    """Kernels of several sources."""
    sizes = tuple(map(len, stacks))
    return GivenKernels([K for stack in stacks for K in stack], stack_kernels, sizes=sizes)


class TestWeigh:
    def test_views_that_agree_count_alike_and_noise_nothing(self):
        weighed = weigh(Views([ONE, NOISE, TWO]))
        np.testing.assert_allclose(weighed.weights, [0.5, 0, 0.5])
        assert weighed.used == weighed.needed == [0, 2]
        assert weighed.reserve == []
        assert weighed.n_samples == N

    def test_a_copy_has_no_weight_though_it_is_trusted(self):
        weighed = weigh(Views([ONE, ONE, TWO]))
        np.testing.assert_allclose(weighed.weights, [0.5, 0, 0.5])
        report = weighed.report(weighed.weights, 3)
        assert (report["trusted"][1], report["weights"][1]) == (True, 0.0)
        assert report["why"][1].startswith("is a copy of view 1")

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_halves_of_its_features_save_the_only_view_that_says_something(self, form):
        wide = np.c_[ONE, TWO]
        weighed = weigh(Views([form(NOISE), form(wide), form(MORE_NOISE)]))
        np.testing.assert_allclose(weighed.weights, [0, 1, 0])
        assert "one is left, view 2" in weighed.trust.warning

    def test_halves_of_a_view_with_gaps_are_those_of_the_samples_it_has(self):
        wide = lacking(np.c_[ONE, TWO], slice(0, 20))
        weighed = weigh(Views([NOISE, wide]))
        np.testing.assert_allclose(weighed.weights, [0, 1])
        assert weighed.reserve == [0]

    def test_sparse_views_and_single_precision_are_measured_as_dense_ones(self):
        plain = weigh(Views([ONE, TWO])).trust.agreement[0, 1]
        mixed = weigh(Views([sparse.csr_array(ONE), TWO.astype(np.float32)])).trust.agreement[0, 1]
        np.testing.assert_allclose(mixed, plain, rtol=1e-3)

    def test_kernels_of_several_sources_are_weighed_as_views(self):
        stacks = [build_bank(X, BANK) for X in (ONE, NOISE, TWO)]
        np.testing.assert_allclose(weigh(given(*stacks)).weights, [0.5, 0, 0.5])
        one_by_one = weigh(given(*[[stack[0]] for stack in stacks]))
        np.testing.assert_allclose(one_by_one.weights, [0.5, 0, 0.5])

    def test_other_array_libraries_are_measured_alike(self, foreign):
        plain = weigh(Views([ONE, NOISE, TWO]))
        found = weigh(Views([foreign.asarray(X) for X in (ONE, NOISE, TWO)]))
        np.testing.assert_allclose(found.trust.agreement, plain.trust.agreement, rtol=1e-6)
        np.testing.assert_array_equal(found.weights, plain.weights)

    def test_many_samples_are_told_by_some_of_them(self, monkeypatch):
        monkeypatch.setattr(module, "TELLING", 40)
        weighed = weigh(Views([ONE, NOISE, TWO]))
        assert all(graph.shape == (40, 40) for graph in weighed.neighbours)
        assert weighed.n_samples == N
        np.testing.assert_allclose(weighed.weights, [0.5, 0, 0.5])
        kernels = weigh(given(*[build_bank(X, BANK) for X in (ONE, NOISE, TWO)]))
        assert all(graph.shape == (40, 40) for graph in kernels.neighbours)
        np.testing.assert_allclose(kernels.weights, [0.5, 0, 0.5])

    def test_samples_of_which_some_tell_are_spread_evenly(self, monkeypatch):
        told, some = [], Views.some
        monkeypatch.setattr(module, "TELLING", 40)
        monkeypatch.setattr(Views, "some", lambda views, rows: told.append(rows) or some(views, rows))
        weigh(Views([ONE, TWO]))
        [rows] = told
        assert len(set(rows.tolist())) == 40
        assert (rows[0], rows[-1]) == (0, N - 1)
        assert np.ptp(np.diff(rows)) <= 1


class TestGivenWeights:
    def test_they_are_scaled_to_one_and_nothing_else_is_left_out(self):
        weighed = weigh(Views([ONE, NOISE, TWO]), [1, 3, 0])
        np.testing.assert_allclose(weighed.weights, [0.25, 0.75, 0])
        assert weighed.used == [0, 1]
        assert weighed.trust.warning is None

    def test_what_was_measured_is_reported_all_the_same(self):
        free, fixed = weigh(Views([ONE, NOISE, TWO])), weigh(Views([ONE, NOISE, TWO]), [1, 3, 0])
        np.testing.assert_array_equal(fixed.trust.agreement, free.trust.agreement)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1.0], "view_weights must be 2 numbers, one for each view of X; got 1 of them"),
            ([1, 2, 3], "view_weights must be 2 numbers, one for each view of X; got 3 of them"),
            ([[1, 2]], "view_weights must be 2 numbers, one for each view of X"),
            (3.0, "view_weights must be 2 numbers, one for each view of X; got 3.0"),
            (["much", "little"], "view_weights must be 2 numbers, one for each view of X"),
            ([1, -1], r"view_weights must be numbers from 0 on, and not all 0; got \[1.0, -1.0\]"),
            ([0, 0], r"view_weights must be numbers from 0 on, and not all 0; got \[0.0, 0.0\]"),
            ([1, np.nan], "view_weights must be numbers from 0 on"),
            ([1, np.inf], "view_weights must be numbers from 0 on"),
        ],
    )
    def test_bad_ones_get_a_sentence(self, weights, message):
        with pytest.raises(ValueError, match=message):
            check_weights(weights, 2)
        with pytest.raises(ValueError, match=message):
            weigh(Views([ONE, TWO]), weights)

    def test_a_sample_in_no_view_with_a_weight_is_refused(self):
        views = Views([lacking(ONE, [4, 9]), TWO])
        weigh(views, [1, 1])
        with pytest.raises(
            ValueError, match=r"sample 4 of X \(counted from 0\) is missing in every view with a weight"
        ):
            weigh(views, [1, 0])


class TestBadViews:
    def test_a_view_may_have_constant_features_and_be_constant_where_it_is_known_only(self):
        weigh(Views([ONE, np.c_[np.ones(N), TWO]]))
        flat = np.ones((N, 2))
        with pytest.raises(ValueError, match="view 2 of X is constant"):
            weigh(Views([ONE, lacking(flat, slice(0, 5))]))


class TestGaps:
    def test_a_view_that_is_left_out_is_needed_for_samples_that_no_other_has(self):
        weighed = weigh(Views([lacking(ONE, [3, 4]), NOISE, lacking(TWO, [3, 5])]))
        np.testing.assert_allclose(weighed.weights, [0.5, 0, 0.5])
        assert np.flatnonzero(weighed.orphans).tolist() == [3]
        assert weighed.reserve == [1]
        assert weighed.needed == [0, 1, 2]

    def test_it_is_not_needed_for_others(self):
        weighed = weigh(Views([lacking(ONE, [3, 4]), NOISE, lacking(TWO, [5])]))
        assert not weighed.orphans.any()
        assert weighed.needed == [0, 2]

    def test_a_copy_that_knows_more_places_what_the_first_lacks(self):
        weighed = weigh(Views([lacking(ONE, [3, 4]), ONE, lacking(TWO, [3])]))
        np.testing.assert_allclose(weighed.weights, [0.5, 0, 0.5])
        assert weighed.reserve == [1]

    def test_gaps_in_some_views_change_no_verdict(self):
        draws = np.random.default_rng(1)
        views = [lacking(X, draws.random(N) < 0.2) for X in (ONE, TWO, view_of(TRUTH, draws))]
        weighed = weigh(Views([*views, NOISE]))
        np.testing.assert_allclose(weighed.weights, [1 / 3, 1 / 3, 1 / 3, 0])

    def test_samples_that_a_view_lacks_have_no_neighbours_in_it(self):
        weighed = weigh(Views([lacking(ONE, [3, 4]), TWO]))
        first, second = weighed.neighbours
        assert np.flatnonzero(np.diff(first.indptr) == 0).tolist() == [3, 4]
        assert np.diff(second.indptr).all()


class TestReport:
    def test_it_has_an_entry_per_view(self):
        weighed = weigh(Views([lacking(ONE, [3]), NOISE, TWO]))
        report = weighed.report(weighed.weights, 3)
        assert report["names"] == ["view 1", "view 2", "view 3"]
        assert report["trusted"].tolist() == [True, False, True]
        assert report["weights"].tolist() == [0.5, 0.0, 0.5]
        assert report["n_samples"].tolist() == [N - 1, N, N]
        assert all(report["why"])
        others = ~np.eye(3, dtype=bool)
        np.testing.assert_array_equal(report["agreement"][others], weighed.trust.agreement[others])
        assert np.isnan(report["agreement"][~others]).all()

    def test_too_few_samples_have_no_agreement(self):
        weighed = weigh(Views([ONE[:15], TWO[:15]]))
        assert np.isnan(weighed.report(weighed.weights, 3)["agreement"]).all()

    def test_clusters_are_clearer_than_noise(self):
        weighed = weigh(Views([lacking(ONE, [3]), NOISE, TWO]))
        clear, dim, also = weighed.report(weighed.weights, 3)["clarity"]
        assert -0.5 <= dim < min(clear, also)
        assert max(clear, also) < 1
        assert weighed.report(weighed.weights, 1)["clarity"].tolist() == [0.0, 0.0, 0.0]

    def test_views_that_were_not_weighed_are_all_trusted(self):
        alone = Weighed.alike(Views([ONE])).report(np.array([1.0]), 3)
        pair = Weighed.alike(Views([ONE, TWO])).report(np.array([0.25, 0.75]), 3)
        assert alone["why"] == ["is the only one"]
        assert pair["weights"].tolist() == [0.25, 0.75]
        assert all(report["trusted"].all() and np.isnan(report["clarity"]).all() for report in (alone, pair))


class TestOneKernelEach:
    def test_fixed_ones_are_summed_by_the_weights_of_the_views(self):
        weighed = weigh(Views([ONE, NOISE, TWO]), [1, 0, 3])
        candidates = weighed.joining([BANK, BANK, BANK[:1]], learned=False).joined
        first, second = build_bank(ONE, BANK).mean(axis=0), build_bank(TWO, BANK[:1])[0]
        np.testing.assert_allclose(candidates.average(), first / 4 + 3 * second / 4, atol=1e-12)
        weights = candidates.of_bank(np.ones(1))
        np.testing.assert_allclose(weights, [1 / 12, 1 / 12, 1 / 12, 3 / 4])
        assert candidates.names == [*[f"view 1: {kernel.name}" for kernel in BANK], f"view 3: {BANK[0].name}"]
        np.testing.assert_allclose(candidates.bank.within(weights), candidates.average(), atol=1e-12)

    def test_those_with_weights_to_learn_are_one_candidate_per_view_that_is_used(self):
        joining = weigh(Views([ONE, NOISE, TWO])).joining(BANK, learned=True)
        candidates = joining.joined
        assert candidates.stack.n_kernels == 2
        for i, X in enumerate((ONE, TWO)):
            np.testing.assert_allclose(
                candidates.stack.combine(np.eye(2)[i]), build_bank(X, BANK).mean(axis=0), atol=1e-12
            )
        np.testing.assert_allclose(candidates.of_bank(np.array([0.3, 0.7])), np.repeat([0.1, 0.7 / 3], 3))
        np.testing.assert_allclose(joining.learned_weights(np.array([0.3, 0.7])), [0.3, 0, 0.7])

    def test_given_kernels_have_no_bank(self):
        stacks = [build_bank(X, BANK) for X in (ONE, TWO)]
        candidates = weigh(given(*stacks), [1, 3]).joining("precomputed", learned=False).joined
        assert candidates.bank is None
        expected = stacks[0].mean(axis=0) / 4 + 3 * stacks[1].mean(axis=0) / 4
        np.testing.assert_allclose(to_numpy(candidates.average()), expected, atol=1e-12)
        np.testing.assert_allclose(candidates.of_bank(np.ones(1)).sum(), 1)

    def test_views_with_gaps_have_no_kernel_in_common(self):
        with pytest.raises(ValueError, match="X lacks samples in some views, and kernels cannot be joined then"):
            weigh(Views([lacking(ONE, [3]), TWO])).joining(BANK, learned=False)


class TestWhatIsKept:
    def test_only_what_is_needed_tells_samples_apart(self):
        same = ONE.copy(), TWO.copy()
        for X in same:
            X[1] = X[0]
        weighed = weigh(Views([same[0], NOISE, same[1]]))
        assert weighed.needed == [0, 2]
        assert weighed.identities[0] == weighed.identities[1]
        assert len(set(weighed.identities.tolist())) == N - 1

    def test_samples_that_only_a_view_without_weight_has_are_told_apart_by_it(self):
        gone = [3, 4]
        weighed = weigh(Views([lacking(ONE, gone), NOISE, lacking(TWO, gone)]))
        assert len(set(weighed.identities.tolist())) == N


def test_copies_are_told_where_samples_are_missing():
    rng = np.random.default_rng(0)
    X, other = (4 * rng.normal(size=(4, 5))[np.arange(120) % 4] + rng.normal(size=(120, 5)) for _ in range(2))
    gaps = X.copy()
    gaps[::10] = np.nan
    weighed = weigh(Views([gaps, X, other]))
    np.testing.assert_allclose(weighed.weights, [0.5, 0.0, 0.5])
    assert "is a copy of view 1" in weighed.trust.reasons[1]


def test_every_parameter_that_decides_has_a_value():
    for preset in PRESETS:
        model = LKG(3, preset=preset, n_init=2, solver=ADMM(max_iter=8, tol=0.0), random_state=0).fit(X[:20])
        assert set(model.settings_) == set(LKG().get_params()) - COMPUTING - BESIDE - {"resolution", "min_cluster_size"}
        of_solver = model.settings_["solver"].get_params()
        assert None not in of_solver.values()
        assert None not in model.settings_.values()


def test_the_values_fit_the_same_again():
    for width in [4, 12]:
        for given in [
            {},
            {"solver": ADMM()},
            {"n_clusters": "auto"},
            {"n_clusters": "auto", "resolution": 2.0},
            {"kernels": [Gaussian(0.5)]},
        ]:
            first = LKG(**{"n_clusters": 3, "random_state": 0, **given}).fit(X[:, :width])
            again = LKG(**first.settings_, random_state=0).fit(X[:, :width])
            assert str(again.settings_) == str(first.settings_)  # with the parameters of the solver
            np.testing.assert_array_equal((again.graph_ - first.graph_).data, 0.0)
            if "n_clusters" not in given:  # choosing a number takes random numbers, too
                np.testing.assert_array_equal(again.labels_, first.labels_)


def test_what_samples_decide_follows_them():
    few, many = (LKG(3, n_init=2, random_state=0).fit(x).settings_ for x in (X, np.vstack([X, X + 0.01, X - 0.01])))
    assert (few["n_neighbors"], many["n_neighbors"]) == (5, 10)
    assert many["alpha"] > few["alpha"] == pytest.approx(0.2)


def test_fused_views_list_penalties_and_banks():
    settings = LKG(3, n_init=2, random_state=0).fit([X[:, :6], X[:, 6:]]).settings_
    assert settings["alpha"] == [1.0, 30.0]
    assert settings["kernels"] == ["middle", [SelfTuning(7)]]
    assert (settings["fusion"], settings["assign_labels"], settings["n_neighbors"]) == ("graphs", "best", 10)
    given = LKG(3, alpha=2.0, n_neighbors=7, n_init=2, random_state=0).fit([X[:, :6], X[:, 6:]]).settings_
    assert (given["alpha"], given["n_neighbors"]) == ([2.0], 7)


def test_joined_kernels_of_views_have_a_bank_each():
    settings = LKG(3, fusion="kernels", n_init=2, random_state=0).fit([X[:, :2], X]).settings_
    assert [len(bank) for bank in settings["kernels"]] == [7, 4]


def test_given_kernels_and_graphs_are_named_and_nothing_is_said_of_what_a_graph_does_not_need():
    kernels = LKG(3, kernels="precomputed", n_init=2, random_state=0).fit(build_bank(X, "middle"))
    assert kernels.settings_["kernels"] == "precomputed"
    graph = LKG(3, kernels="graph", n_init=2, random_state=0).fit(kernels.graph_)
    assert graph.settings_["kernels"] == "graph"
    assert {graph.settings_[name] for name in LEARNED} == {None}
    assert graph.settings_["assign_labels"] == "best"
