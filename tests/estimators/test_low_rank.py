import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.learning.settings import PRESETS
from kernelbraid.metrics import evaluate
from kernelbraid.ops.graphs import refine_graph
from kernelbraid.solvers.low_rank import step as low_rank
from problems import blobs, dense, lacking, lkg, paper_data, rings

X, y = blobs(n=45)
L1 = {"preset": "authors", "graph_penalty": "l1"}
LEARNED = {"preset": "recommended", "gamma": 10.0}  # the kernel, too


def fit(data=X, k=3, **parameters):
    return lkg(k, **{"random_state": 0, "n_init": 10, **parameters}).fit(data)


def keep(data=X, k=3, **parameters):
    """A fit with its matrices."""
    return fit(data, k, matrices=True, **parameters)


@pytest.mark.reference
@pytest.mark.parametrize("seed", [0, 1])
def test_yale_reaches_the_published_accuracy(seed):
    faces, persons = paper_data("yale")
    weights = {"alpha": 0.1, "beta": 1, "gamma": 1, "mu": 1}
    model = lkg(15, preset="authors", **weights, graph_penalty="l1", random_state=seed).fit(faces)
    assert model.solution_.status == "converged"
    assert round(evaluate(persons, model.labels_)["acc"] * 165) >= 103  # 62.42 %


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k"), [("yale", 15), ("jaffe", 10)])
@pytest.mark.parametrize("parameters", [{}, {"preset": "authors", "alpha": 0.1, "beta": 1, "gamma": 1}])
def test_single_precision_gives_the_labels_of_double(name, k, parameters):
    faces, _ = paper_data(name)
    double, single = (keep(A, k, n_init=100, **parameters) for A in (faces, faces.astype(np.float32)))
    assert single.solution_.K.dtype == np.float32
    assert adjusted_rand_score(double.labels_, single.labels_) >= 0.95


def test_separated_blobs_are_found():
    for preset in PRESETS:
        for data in [X, X.astype(np.float32), sparse.csr_matrix(X), sparse.csr_array(X)]:
            model = keep(data, preset=preset)
            assert adjusted_rand_score(y, model.labels_) == 1
            assert model.solution_.K.dtype == model.graph_.dtype == model.embedding_.dtype == data.dtype


def test_fitted_attributes_are_what_they_say():
    model = fit(preset="authors", record_objective=True)
    n = len(X)
    for A in (model.graph_, model.solution_.Z, model.solution_.J, model.solution_.K):
        assert A.shape == (n, n)
        assert A.min() >= 0
    np.testing.assert_array_equal(model.graph_, model.graph_.T)
    np.testing.assert_allclose(model.graph_, (model.solution_.J + model.solution_.J.T) / 2)
    assert model.solution_.g.shape == (12,) == (len(model.solution_.names),)
    assert model.solution_.g.sum() == pytest.approx(1)
    assert model.embedding_.shape == (n, 3)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    assert model.solution_.status == "converged"
    steps = {"kernel_change", "graph_residual", "kernel_residual", "mu", "objective"}
    assert set(model.solution_.history) == {*steps, "graph_rank", "kernel_rank", "graph_route", "kernel_route"}
    assert all(column.shape == (model.n_iter_,) for column in model.solution_.history.values())
    assert model.solution_.history["kernel_change"][-1] < 1e-5
    np.testing.assert_allclose(model.solution_.history["mu"], 1.1 ** np.arange(model.n_iter_))
    assert isinstance(model.solution_.status, str)


def test_by_default_the_graph_is_refined_and_few_kernels_are_used():
    model = keep()
    refined = refine_graph(model.solution_.Z, n_neighbors=5, edge_weights="scaled")  # 15 samples a cluster
    assert isinstance(model.graph_, sparse.csr_array)
    np.testing.assert_allclose(dense(model.graph_), dense(refined))
    np.testing.assert_array_equal(np.diag(dense(model.graph_)), 0)
    assert model.solution_.g.shape == (7,) == (len(model.solution_.names),)
    np.testing.assert_array_equal(model.solution_.g, np.full(7, 1 / 7))
    assert (model.solution_.status, model.n_iter_) == ("converged", 1)
    assert set(model.solution_.history["graph_rank"]) == {-1}


def test_matrices_are_those_of_a_solver():
    model = fit()
    with pytest.raises(AttributeError, match=r"^LKG has no solution_ after a fit without a solver; .* solver=ADMM\(\)"):
        _ = model.solution_
    solved = keep()
    assert all(getattr(solved.solution_, name).shape == (45, 45) for name in "ZJK")
    np.testing.assert_array_equal(solved.labels_, model.labels_)
    np.testing.assert_allclose(dense(solved.graph_), dense(model.graph_), atol=1e-12)
    assert not hasattr(solved.set_params(solver=None).fit(X), "solution_")


def test_a_model_that_is_not_fitted_has_no_matrices_and_does_not_speak_of_them():
    for name in ("solution_", "nonsense_"):
        with pytest.raises(AttributeError, match=f"'LKG' object has no attribute '{name}'"):
            getattr(LKG(), name)


def test_the_kernel_that_stays_is_the_average_of_the_candidates_and_the_coefficients_are_its_normal_equations():
    model = keep(alpha=0.7, kernels="rmkkm")
    K = build_bank(X, "rmkkm").mean(axis=0)
    np.testing.assert_allclose(model.solution_.K, K, atol=1e-12)
    exact = np.maximum(np.linalg.solve(K + 0.7 * np.eye(45), K), 0)
    np.testing.assert_allclose(model.solution_.Z, exact, atol=1e-10)


def test_samples_and_kernels_are_not_written_to(xp):
    for parameters in [{}, {"gamma": 10.0, "max_iter": 3, "tol": 0}]:
        for matrices in [True, False]:
            H = build_bank(X, "rmkkm")
            samples, given = xp.asarray(X, copy=True), xp.asarray(H, copy=True)
            fit(samples, matrices=matrices, **parameters)
            for kernels in (given, given[:1, ...], [given[0, ...]]):
                model = fit(kernels, kernels="precomputed", matrices=matrices, **parameters)
                model.predict(kernels)
            np.testing.assert_array_equal(to_numpy(samples), X)
            np.testing.assert_array_equal(to_numpy(given), H)


def test_a_finite_gamma_has_the_kernel_learned():
    model = fit(**LEARNED)
    assert np.ptp(model.solution_.g) > 0.01
    assert model.solution_.g.sum() == pytest.approx(1)
    assert model.solution_.status == "converged"
    assert model.n_iter_ >= 6
    assert model.solution_.history["kernel_change"][-1] < 1e-3
    assert adjusted_rand_score(y, model.labels_) == 1


def test_a_sample_with_fewer_than_ten_others_keeps_them_all():
    for n in [3, 4, 10, 11, 12]:
        model = fit(X[:n], k=2, n_neighbors=10)
        assert np.isfinite(model.embedding_).all()
        assert len(set(model.labels_)) == 2
        if n <= 11:
            everyone = fit(X[:n], k=2, n_neighbors=n - 1)
            np.testing.assert_array_equal(dense(model.graph_), dense(everyone.graph_))


def test_a_kernel_that_stays_has_a_finite_objective():
    for penalty in low_rank.GRAPH_PENALTIES:
        model = fit(graph_penalty=penalty, alpha=0.1, record_objective=True)
        assert np.isfinite(model.solution_.history["objective"]).all()


def test_graph_from_chooses_the_clustered_matrix():
    model = fit(preset="authors", graph_from="Z")
    np.testing.assert_allclose(model.graph_, (model.solution_.Z + model.solution_.Z.T) / 2)


def test_same_seed_same_labels_also_in_another_process():
    model = fit(random_state=7, preset="paper")
    np.testing.assert_array_equal(model.labels_, fit(random_state=7, preset="paper").labels_)
    code = (
        "import sys; sys.path[:0] = [p for p in sys.argv[1].split('|')]\n"
        "from problems import blobs; from kernelbraid import LKG\n"
        "m = LKG(3, preset='paper', n_init=10, random_state=7).fit(blobs(n=45)[0])\n"
        "print(m.labels_.tobytes().hex()); print(m.solution_.K.tobytes().hex())"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, "|".join(sys.path)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert out == [model.labels_.tobytes().hex(), model.solution_.K.tobytes().hex()]


def test_the_global_generator_is_not_touched():
    before = np.random.get_state()[1].copy()
    fit(preset="paper")
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("is_used", [False, True])
def test_a_pickle_of_a_default_fit_is_small_and_predicts(is_used):
    samples, _ = blobs(n=400)
    model = LKG(3, random_state=0).fit(samples[:300])
    if is_used:
        model.predict(samples[300:])
    content = pickle.dumps(model)
    assert len(content) < 300 * 300 * 8 / 4  # no matrix is in it
    np.testing.assert_array_equal(pickle.loads(content).predict(samples), model.predict(samples))


def test_it_works_in_a_pipeline_and_on_data_frames():
    columns = [f"f{i}" for i in range(X.shape[1])]
    frames = [pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)]
    for frame in frames:
        model = fit(frame)
        assert adjusted_rand_score(y, model.labels_) == 1
        assert list(model.feature_names_in_) == columns
        labels = make_pipeline(StandardScaler(), LKG(3, random_state=0)).fit_predict(frame)
        assert adjusted_rand_score(y, labels) == 1


class TestKernels:
    def test_precomputed_equals_built(self):
        H = build_bank(X, "rmkkm")
        built, handed = keep(kernels="rmkkm", **LEARNED), keep(H, kernels="precomputed", **LEARNED)
        np.testing.assert_array_equal(built.solution_.K, handed.solution_.K)
        assert handed.solution_.names[:2] == ["kernel 0", "kernel 1"]
        assert handed.n_features_in_ == len(X)

    @pytest.mark.parametrize("n_neighbors", [20, 30])
    def test_a_graph_of_neighbours_may_be_a_kernel_although_it_has_negative_eigenvalues(self, n_neighbors):
        samples, classes = load_digits(n_class=5, return_X_y=True)
        near = kneighbors_graph(samples[:400], n_neighbors, include_self=True).toarray()
        K = (near + near.T)[:300, :300] / 2
        assert np.linalg.eigvalsh(K)[0] < -1
        model = fit(K, 5, kernels="precomputed")
        assert adjusted_rand_score(classes[:300], model.labels_) > 0.65
        assert adjusted_rand_score(classes[300:400], model.predict(near[300:, :300])) > 0.65

    def test_a_bank_may_mix_kernels_and_functions(self):
        model = keep(kernels=[Gaussian(0.05), laplacian_kernel, Linear("max")])
        assert model.solution_.names == ["gaussian s=0.05", "laplacian_kernel", "linear"]
        assert adjusted_rand_score(y, model.labels_) == 1

    def test_a_narrow_kernel_separates_rings_that_k_means_cannot(self):
        samples, ring = rings()
        model = fit(samples, k=2, kernels=[Gaussian(0.005)], gamma=100.0)
        assert adjusted_rand_score(ring, model.labels_) == 1


class TestViews:
    def test_each_view_brings_its_own_kernels(self):
        model = keep([X[:, :3], sparse.csr_array(X[:, 3:])], kernels="rmkkm", fusion="kernels")
        assert model.solution_.g.shape == (24,)
        assert model.solution_.names[0] == "view 1: gaussian t=0.01"
        assert model.solution_.names[-1] == "view 2: polynomial (1 + x.y)^4"
        assert model.n_features_in_ == 6
        assert adjusted_rand_score(y, model.labels_) == 1

    def test_views_may_be_data_frames_with_banks_of_their_own(self):
        near = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)
        model = keep([pd.DataFrame(X), pl.DataFrame(near)], kernels=["paper", [Linear()]], fusion="kernels")
        assert model.solution_.g.shape == (13,)
        np.testing.assert_allclose([model.solution_.g[:12].sum(), model.solution_.g[12]], [0.5, 0.5])

    def test_two_halves_of_the_truth_are_joined(self):
        # The first view tells cluster 0 from the rest, the second cluster 2 from the rest.
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 15)
        views = [rng.normal(0, 0.3, (45, 2)) + 5 * np.c_[truth == c, truth != c] for c in (0, 2)]
        with pytest.warns(UserWarning, match="no two agree more than chance"):
            model = fit(views, fusion="kernels")  # graphs of the views alone join what either of them does
        assert adjusted_rand_score(truth, model.labels_) == 1

    def test_a_list_of_lists_is_one_matrix(self):
        np.testing.assert_array_equal(fit(X.tolist(), **LEARNED).solution_.g, fit(**LEARNED).solution_.g)


class TestStatus:
    """A fit that does not end well says so, says what to change, and still returns something sound."""

    @pytest.mark.parametrize(
        ("parameters", "status", "sentence"),
        [
            ({"alpha": 1e-5, "beta": 10, "gamma": 1e-3}, "kernel_vanished", r"Lower beta=10 below"),
            ({**L1, "alpha": 1, "beta": 0.01, "gamma": 1}, "graph_empty", "Lower alpha=1 to"),
            ({**L1, "alpha": 0.1, "mu": 20}, "graph_diagonal", "Lower mu=20.* graph_penalty='frobenius'"),
            ({"max_iter": 3}, "max_iter", r"made max_iter=3 steps and the kernel still changed by .* \(tol=1e-05\)"),
            ({**LEARNED, "beta": 200, "gamma": 0.7}, "kernel_vanished", "Lower beta=200 below"),
            ({**LEARNED, "max_iter": 3}, "max_iter", r"made max_iter=3 steps .* \(tol=0.001\)"),
        ],
    )
    def test_every_bad_end_is_named_with_a_remedy(self, parameters, status, sentence):
        with pytest.warns(ConvergenceWarning, match=sentence):
            model = fit(**{"preset": "authors", **parameters})
        assert model.solution_.status == status
        assert len(set(model.labels_)) == 3
        assert np.isfinite(dense(model.graph_)).all()
        assert dense(model.graph_)[~np.eye(len(X), dtype=bool)].any()

    def test_kernels_in_which_no_two_samples_are_alike_ask_for_wider_ones(self):
        with pytest.warns(ConvergenceWarning, match=r"joins no two samples; .* Use wider kernels"):
            model = keep(kernels=[Gaussian(1e-6)])
        assert model.solution_.status == "graph_diagonal"
        assert len(set(model.labels_)) == 3
        assert np.isfinite(model.embedding_).all()

    def test_a_penalty_that_leaves_no_graph_asks_for_a_smaller_one(self):
        with pytest.warns(ConvergenceWarning, match=r"graph Z that is zero; .* clustered\. Lower alpha=1\."):
            model = fit(graph_penalty="l1")
        assert model.solution_.status == "graph_empty"
        assert adjusted_rand_score(y, model.labels_) > 0.9

    def test_a_kernel_that_stays_is_not_said_to_change(self):
        sentence = r"made max_iter=7 steps and the two copies of the graph still differ by .* \(tol=1e-09\)"
        with pytest.warns(ConvergenceWarning, match=sentence):
            model = fit(graph_penalty="nuclear", gamma=np.inf, max_iter=7, tol=1e-9)
        assert model.solution_.status == "max_iter"

    def test_values_that_are_not_finite_fall_back_to_the_average_kernel(self, monkeypatch):
        monkeypatch.setattr(low_rank, "update_weights", lambda problem, g, K: g * np.nan)
        with pytest.warns(ConvergenceWarning, match="left the finite numbers at step 2; no step was sound"):
            model = fit(**LEARNED)
        assert model.solution_.status == "non_finite"
        assert adjusted_rand_score(y, model.labels_) > 0.9

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
    def test_extreme_kernels_end_with_finite_results(self):
        for size in [1e-250, 1e200]:
            for gamma in [10.0, np.inf]:
                model = keep(build_bank(X, "rmkkm") * size, kernels="precomputed", gamma=gamma)
                assert np.isfinite(dense(model.graph_)).all()
                assert np.isfinite(model.solution_.K).all()
                assert len(set(model.labels_)) == 3

    def test_a_fit_that_diverges_and_settles_is_not_passed_over_in_silence(self):
        with pytest.warns(ConvergenceWarning, match=r"diverged on its way: .* Raise mu=0.05 or gamma=3e-05"):
            fit(alpha=3, beta=6e-4, gamma=3e-5, mu=0.05)


class TestOrdinaryData:
    """Odd but legitimate data simply work."""

    @pytest.mark.parametrize(
        ("preset", "penalty"), [("recommended", "frobenius"), ("authors", "nuclear"), ("paper", "l1")]
    )
    @pytest.mark.parametrize(
        ("data", "k", "labels"),
        [
            (np.repeat([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], 5, axis=0), 3, 3),  # copies
            (np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0), 2, 2),
            (np.c_[X, np.ones(len(X))], 3, 3),  # a constant feature
            (sparse.csr_array(np.vstack([np.zeros((3, 6)), X])), 3, 3),  # rows without entries
            (X, 1, 1),
            (X[:3], 3, 3),
            (X[:1], 1, 1),
            (np.array([[1.0], [2.0], [-4.0], [-8.0]]), 4, 4),  # distinct, though alike under the cosine
            (X * 1e200, 3, 3),
            (X * 1e-200, 3, 3),
            (np.eye(6), 4, 4),
        ],
        ids=["copies", "pairs", "constant", "empty rows", "k=1", "k=n", "n=1", "line", "huge", "tiny", "identity"],
    )
    def test_it_fits(self, data, k, labels, penalty, preset):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = keep(data, k=k, graph_penalty=penalty, preset=preset)
            plain = fit(data, k=k, graph_penalty=penalty) if preset == "recommended" else model
        assert len(set(model.labels_)) == labels
        assert set(model.labels_) == set(range(labels))
        assert all(np.isfinite(dense(a)).all() for a in (model.graph_, model.solution_.K, model.embedding_))
        np.testing.assert_array_equal(plain.labels_, model.labels_)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
    def test_copies_of_one_sample_get_one_label(self):
        for row in [np.zeros(2), np.ones(2), np.random.default_rng(0).normal(size=37)]:
            for form in [np.asarray, sparse.csr_array]:
                model = fit(form(np.tile(row, (20, 1))), k=3)
                assert set(model.labels_) == {0}
                assert np.isfinite(dense(model.graph_)).all()

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
    @pytest.mark.parametrize("dtype", [float, np.float32])
    def test_copies_share_a_label_when_there_are_fewer_samples_than_clusters(self, dtype):
        model = fit(np.repeat(X[:4], 8, axis=0).astype(dtype), k=6)
        np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2, 3], 8))

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
    @pytest.mark.parametrize(
        "parameters",
        [
            {"alpha": 1e-323, "mu": 1e3},
            {"beta": 1e-323, "mu": 1e3},
            {"mu": 1e-300},
            {"alpha": 1e300, "beta": 1e300},
            {"mu": 1e300},
            {"gamma": 1e308},
            {"mu_growth": 1e10},
        ],
    )
    def test_extreme_parameters_do_not_raise(self, parameters):
        for gamma in (10.0, np.inf):
            model = fit(**{"gamma": gamma, **parameters})
            assert np.isfinite(dense(model.graph_)).all()
            assert len(set(model.labels_)) == 3

    def test_single_precision_needs_all_views_to_be_single(self):
        near = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)
        single = [X.astype(np.float32), near.astype(np.float32)]
        for views, dtype in (single, np.float32), ([single[0], near], np.float64):
            model = keep(views, fusion="kernels")
            assert {model.solution_.K.dtype, model.graph_.dtype, model.embedding_.dtype} == {np.dtype(dtype)}

    def test_names_of_an_earlier_fit_are_forgotten(self):
        model = fit(pd.DataFrame(X, columns=list("abcdef")))
        assert not hasattr(model.fit([X[:, :3], X[:, 3:]]), "feature_names_in_")


class TestBadInput:
    """One clear sentence each."""

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (np.where(np.arange(270).reshape(45, 6) == 14, np.nan, X), r"X contains NaN \(row 2, column 2\); drop"),
            (np.where(np.arange(270).reshape(45, 6) == 14, np.inf, X), r"X contains infinity \(row 2, column 2\)"),
            (sparse.csr_array(np.where(np.arange(270).reshape(45, 6) == 14, np.nan, X)), r"NaN \(row 2, column 2\)"),
            ([X, np.where(X[3, 1] == X, np.nan, X)], r"view 2 of X contains NaN \(row 3, column 1\)"),
            ([X, X[:, 0]], "view 2 of X is no matrix, but others are"),
            ([X, None], "view 2 of X is no matrix, but others are"),
            ([X, X[:-1]], r"the views of X have \[45, 44\] rows"),
            (X[:2], "n_samples=2 is below n_clusters=3; ask for at most 2"),
            (X[None], r"for a stack of kernels set kernels='precomputed'"),
            (X[:, 0], "Expected 2D array, got 1D array"),
        ],
    )
    def test_samples(self, data, message):
        with pytest.raises(ValueError, match=message):
            fit(data)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"alpha": 0}, "The 'alpha' parameter of LKG must be .* Got 0 instead"),
            ({"gamma": -1.5}, "The 'gamma' parameter of ADMM must be .* Got -1.5 instead"),
            ({"alpha": float("nan")}, "'alpha' parameter"),
            (
                {"k": 0},
                "'n_clusters' parameter of LKG must be an int in the range \\[1, inf\\) or a str among {'auto'}. Got 0",
            ),
            ({"k": 2.5}, "'n_clusters' parameter"),
            ({"mu_growth": 0.9}, "'mu_growth' parameter"),
            ({"preset": "best"}, "'preset' parameter of LKG must be a str among"),
            ({"graph_penalty": "l2"}, "'graph_penalty' parameter"),
            ({"graph_from": "W"}, "'graph_from' parameter"),
            ({"n_init": 0}, "'n_init' parameter"),
            ({"tol": -1}, "'tol' parameter"),
            (
                {"kernels": "nosuch"},
                r"kernels='nosuch' is no bank; use one of \['auto', 'local', 'middle', 'near', 'paper', 'rmkkm'\]",
            ),
            ({"kernels": 3}, "'kernels' parameter"),
            ({"kernels": []}, "kernels is an empty list"),
            ({"kernels": [Linear]}, r"kernels\[0\]=Linear is a class; write Linear"),
        ],
    )
    def test_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            fit(**parameters)


def views_of(truth):
    """Two views of clusters, each in directions of its own, and noise."""
    rng = np.random.default_rng(0)
    first, second = (rng.normal(0, 3, (3, d))[truth] + rng.normal(0, 0.7, (len(truth), d)) for d in (4, 6))
    return first, second, rng.normal(size=(len(truth), 20))


class TestCommunities:
    def test_as_many_as_asked_for_or_as_the_resolution_gives(self):
        given = fit(X, 3, assign_labels="communities")
        assert adjusted_rand_score(y, given.labels_) == 1.0
        assert given.predict(X[::-1]).tolist() == given.labels_[::-1].tolist()
        coarse, fine = (fit(X, "auto", resolution=resolution) for resolution in (0.3, 3.0))
        assert coarse.n_clusters_ == coarse.labels_.max() + 1 == coarse.embedding_.shape[1]
        assert coarse.n_clusters_ < fine.n_clusters_ == fine.embedding_.shape[1]
        assert (coarse.settings_["n_clusters"], coarse.settings_["resolution"]) == ("auto", 0.3)

    def test_one_seed_gives_one_result_on_any_number_of_threads(self):
        noise = np.random.default_rng(0).normal(size=(80, 8))
        one, two = (fit(noise, "auto", resolution=2.0, n_jobs=n_jobs) for n_jobs in (1, 2))
        np.testing.assert_array_equal(one.labels_, two.labels_)

    def test_several_views_and_ready_graphs(self):
        views = fit([X[:, :3], X[:, 3:]], "auto", resolution=0.5)
        assert adjusted_rand_score(y, views.labels_) > 0.9
        again = fit(views.graph_, "auto", resolution=0.5, kernels="graph")
        np.testing.assert_array_equal(again.labels_, views.labels_)

    def test_copies_get_one_label(self):
        model = fit(np.repeat(X, 3, axis=0), "auto", resolution=50.0, gamma=10.0)
        assert (model.labels_.reshape(45, 3) == model.labels_[::3, None]).all()

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"k": 3}, "^resolution=2 decides how many clusters there are, and n_clusters=3 does"),
            ({"assign_labels": "merge"}, "^resolution=2 is for assign_labels='communities', not 'merge'"),
            ({"resolution": 0}, "^The 'resolution' parameter of LKG must be"),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            fit(X, **{"k": "auto", "resolution": 2.0, **parameters})


class TestSeveralViews:
    truth = np.arange(84) % 3
    every = views_of(truth)
    first, second, noise = (A[:75] for A in every)
    new = tuple(A[75:] for A in every)

    def fit_noisy(self, views=None, **parameters):
        """A fit of two views with noise behind them, which is told."""
        with pytest.warns(UserWarning, match="view 3 shares neighbours with no other view and is left out"):
            return fit(list(views or (self.first, self.second, self.noise)), **parameters)

    def test_noise_is_left_out_and_changes_nothing(self):
        for parameters in [{}, {"fusion": "kernels"}, {"gamma": 10.0}]:
            noisy, plain = self.fit_noisy(**parameters), fit([self.first, self.second], **parameters)
            np.testing.assert_array_equal(noisy.labels_, plain.labels_)
            np.testing.assert_array_equal(dense(noisy.graph_), dense(plain.graph_))
            assert adjusted_rand_score(self.truth[:75], noisy.labels_) == 1
            np.testing.assert_array_equal(noisy.views_.weights, [*plain.views_.weights, 0])
            np.testing.assert_allclose(noisy.views_.weights.sum(), 1)
            assert [entry["trusted"] for entry in noisy.views_.entries()] == [True, True, False]
            assert [entry["weight"] for entry in noisy.views_.entries()] == noisy.views_.weights.tolist()

    def test_the_report_says_how_clear_a_view_is_alone(self):
        first, second, noise = (entry["clarity"] for entry in self.fit_noisy().views_.entries())
        assert noise < min(first, second)

    def test_shares_of_samples_are_those_of_the_views(self):
        model = self.fit_noisy()
        assert model.views_.shares.shape == (75, 3)
        np.testing.assert_allclose(model.views_.shares.sum(axis=1), 1)
        np.testing.assert_allclose(model.views_.shares.mean(axis=0), model.views_.weights, atol=0.02)

    def test_a_copy_counts_once(self):
        for copy in [lambda A: A, lambda A: A[:, ::-1], lambda A: np.c_[A, np.zeros(75)]]:
            model = fit([self.first, self.second, copy(self.first)])
            np.testing.assert_allclose(model.views_.weights, [0.5, 0.5, 0])
            np.testing.assert_allclose(dense(model.graph_), dense(fit([self.first, self.second]).graph_), atol=1e-9)
            assert model.views_.entries()[2]["trusted"]
            assert "copy of view 1" in model.views_.entries()[2]["why"]

    def test_weights_may_be_given(self):
        views = [self.first, self.second, self.noise]
        model = fit(views, view_weights=[1, 3, 0])
        np.testing.assert_allclose(model.views_.weights, [0.25, 0.75, 0])
        assert not model.views_.shares[:, 2].any()
        assert fit(views, view_weights=np.ones(3)).views_.shares[:, 2].min() > 0
        joined = keep(views, view_weights=[1, 3, 0], fusion="kernels", kernels=[Gaussian(2.0), Linear()])
        np.testing.assert_allclose(joined.solution_.g, [0.125, 0.125, 0.375, 0.375])
        np.testing.assert_allclose(joined.views_.weights, [0.25, 0.75, 0])

    def test_with_a_finite_gamma_one_weight_per_view_is_learned(self):
        model = fit([self.first, self.second], gamma=10.0, kernels=[[Gaussian(0.5), Gaussian(2.0)], [Linear()]])
        np.testing.assert_allclose(model.solution_.g.sum(), 1)
        np.testing.assert_allclose(model.solution_.g[0], model.solution_.g[1])
        np.testing.assert_allclose(
            model.views_.weights, [model.solution_.g[:2].sum(), model.solution_.g[2]], atol=1e-12
        )

    def test_one_view_has_all_the_weight(self):
        for data in (self.first, [self.first]):
            model = fit(data)
            np.testing.assert_allclose(model.views_.weights, [1.0])
            assert [entry["why"] for entry in model.views_.entries()] == ["is the only one"]

    @pytest.mark.parametrize("preset", ["authors", "paper"])
    def test_presets_of_the_paper_use_views_as_they_come(self, preset):
        model = fit([self.first, self.noise], preset=preset)
        assert len(model.solution_.g) == 24
        weights = [model.solution_.g[:12].sum(), model.solution_.g[12:].sum()]
        np.testing.assert_allclose(model.views_.weights, weights)
        assert "does not weigh views" in model.views_.entries()[0]["why"]

    def test_attributes_without_a_meaning_say_why_they_are_absent(self):
        fused, joined = fit([self.first, self.second]), fit([self.first, self.second], fusion="kernels")
        with pytest.raises(AttributeError, match="LKG has no solution_ after a fit that fuses the graphs of several"):
            _ = fused.solution_
        assert joined.views_.shares is None
        with pytest.raises(AttributeError, match="'LKG' object has no attribute 'views_'"):
            _ = LKG().views_

    def test_a_second_fit_forgets_the_first(self):
        model = keep(self.first)
        model.fit([self.first, self.second])
        assert "solution_" not in vars(model)
        assert model.views_.weights.shape == (2,)
        model.fit(self.first)
        assert model.views_.shares is None
        assert model.views_.weights.shape == (1,)
        assert set(vars(model)) == set(vars(keep(self.first)))
        np.testing.assert_array_equal(model.predict(self.first), model.labels_)

    def test_new_samples_find_their_clusters(self):
        for parameters in [{}, {"fusion": "kernels"}, {"gamma": 10.0}]:
            model = self.fit_noisy(**parameters)
            np.testing.assert_array_equal(model.predict([self.first, self.second, self.noise]), model.labels_)
            np.testing.assert_array_equal(model.predict(list(self.new)), model.labels_[self.truth[75:]])

    def test_kernels_in_a_list_are_views_and_a_stack_is_one_source(self):
        stacks = [build_bank(A, [Gaussian(0.5), Gaussian(2.0)]) for A in (self.first, self.second, self.noise)]
        assert fit(stacks[0], kernels="precomputed").views_.weights.shape == (1,)
        for views in (stacks, [stack[:1] for stack in stacks], [stacks[0], stacks[1][0], stacks[2]]):
            model = self.fit_noisy(views, kernels="precomputed")
            np.testing.assert_allclose(model.views_.weights, [0.5, 0.5, 0])
            np.testing.assert_array_equal(model.predict(list(views)), model.labels_)
            np.testing.assert_array_equal(model.predict([K[..., :4, :] for K in views]), model.labels_[:4])

    def test_tensors_are_taken_where_they_are(self):
        torch = pytest.importorskip("torch")
        views = lacking(self.first, [1]), self.second, self.noise
        plain, model = self.fit_noisy(views), self.fit_noisy([torch.asarray(A) for A in views])
        assert isinstance(model.labels_, torch.Tensor)
        assert adjusted_rand_score(to_numpy(model.labels_), plain.labels_) == 1
        np.testing.assert_allclose(to_numpy(model.views_.shares), plain.views_.shares, atol=1e-9)
        found = model.predict([torch.asarray(A) for A in views])
        np.testing.assert_array_equal(to_numpy(found), to_numpy(model.labels_))

    def test_a_warning_points_at_the_call(self):
        with pytest.warns(UserWarning, match="left out") as told:
            LKG(3, n_init=1, random_state=0).fit([self.first, self.second, self.noise])
        assert told[0].filename == __file__

    def test_camps_are_told_and_weights_choose_the_other(self):
        rng = np.random.default_rng(1)
        order = rng.permutation(75)
        views = [self.first, self.second[order], self.first[order] + 0.1 * rng.normal(size=(75, 4)), self.second]
        with pytest.warns(UserWarning, match="views 1, 4 are followed for the first view, views 2, 3 not"):
            model = fit(views)
        assert adjusted_rand_score(self.truth[:75], model.labels_) == 1
        other = fit(views, view_weights=[0, 1, 1, 0])
        assert adjusted_rand_score(self.truth[:75][order], other.labels_) == 1


class TestMissingSamples:
    truth = np.arange(84) % 3
    every = views_of(truth)
    first, second, noise = (A[:75] for A in every)
    new = tuple(A[75:] for A in every)

    def test_each_view_serves_the_samples_it_has(self):
        rng = np.random.default_rng(2)
        gone = rng.random(75) < 0.3
        views = [lacking(self.first, gone), lacking(self.second, ~gone & (rng.random(75) < 0.4))]
        model = fit(views)
        assert adjusted_rand_score(self.truth[:75], model.labels_) > 0.9
        missing = np.stack([np.isnan(A[:, 0]) for A in views], axis=1)
        np.testing.assert_array_equal(model.views_.shares == 0, missing)
        assert [entry["n_samples"] for entry in model.views_.entries()] == (~missing).sum(axis=0).tolist()
        np.testing.assert_array_equal(model.predict(views), model.labels_)
        np.testing.assert_array_equal(model.transform(views), model.embedding_)

    def test_samples_that_only_a_view_without_weight_has_get_a_label(self):
        views = [lacking(self.first, [4]), lacking(self.second, [4, 5]), self.noise]
        with pytest.warns(UserWarning, match="view 3 shares neighbours with no other view and is left out"):
            model = fit(views)
        assert model.views_.weights.tolist() == [0.5, 0.5, 0]
        assert model.views_.shares[4].tolist() == [0, 0, 1]
        others = np.delete(np.arange(75), 4)
        assert adjusted_rand_score(self.truth[others], model.labels_[others]) == 1
        np.testing.assert_array_equal(model.predict(views), model.labels_)

    def test_new_samples_may_lack_views(self):
        model = fit([lacking(self.first, [4]), self.second])
        new = [lacking(self.new[0], [0, 1, 2]), lacking(self.new[1], [3, 4])]
        np.testing.assert_array_equal(model.predict(new), model.labels_[[0, 1, 2] * 3])
        with pytest.raises(ValueError, match=r"sample 2 of X \(counted from 0\) is missing in every view that the fit"):
            model.predict([new[0], lacking(self.new[1], [2])])

    def test_an_empty_row_of_a_sparse_view_is_a_measurement(self):
        A = self.first.copy()
        A[1] = 0
        model = fit([sparse.csr_array(A), self.second])
        assert model.views_.entries()[0]["n_samples"] == 75
        assert model.views_.shares[1, 0] > 0

    @pytest.mark.parametrize(
        ("change", "parameters", "message"),
        [
            (lambda A, B: [A, B[:-1]], {}, r"the views of X have \[75, 74\] rows; .*align_views"),
            (lambda A, B: [lacking(A, (3, 2)), B], {}, r"view 1 of X contains NaN \(row 3, column 2\) beside numbers"),
            (lambda A, B: [A, np.full_like(B, np.nan)], {}, "view 2 of X has no sample, only NaN; leave it out"),
            (lambda A, B: [np.ones_like(A), B], {}, "view 1 of X is constant: all its samples are alike; leave it out"),
            (lambda A, B: [lacking(A, [7, 9]), lacking(B, [7])], {}, r"sample 7 of X \(counted from 0\) is missing in"),
            (lambda A, B: [lacking(A, [7]), B], {"fusion": "kernels"}, "X lacks samples in some views, and kernels"),
            (lambda A, B: [lacking(A, [7]), B], {"preset": "authors"}, "which preset='authors' cannot have"),
            (lambda A, B: [lacking(A, [7]), B], {"view_weights": [1, 0]}, "missing in every view with a weight"),
            (lambda A, B: [A, B], {"view_weights": [1]}, "view_weights must be 2 numbers, one for each view"),
            (lambda A, B: [A, B], {"view_weights": [1, -1]}, "view_weights must be numbers from 0 on"),
            (lambda A, B: [A, B], {"view_weights": [1, 1], "gamma": 10.0}, "view_weights gives the weights that gamma"),
            (lambda A, B: [A, B], {"fusion": "graphs", "gamma": 10.0}, "fusion='graphs' fuses graphs, and gamma=10"),
            (lambda A, B: [A, B], {"fusion": "views"}, "The 'fusion' parameter of LKG must be"),
            (lambda A, B: [lacking(A, [7])], {}, "view 1 of X contains NaN"),
        ],
    )
    def test_what_cannot_be_gets_a_sentence(self, change, parameters, message):
        with pytest.raises(ValueError, match=message):
            fit(change(self.first, self.second), **parameters)


class TestKernelsOfSeveralSources:
    """Precomputed kernels that come one by one are views."""

    def test_new_samples_come_with_all_of_them_though_some_are_left_out(self):
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 25)
        real = [4 * rng.normal(size=(3, 5))[truth] + rng.normal(size=(75, 5)) for _ in range(2)]
        H = [build_bank(view, "middle").mean(axis=0)[None] for view in [*real, rng.normal(size=(75, 30))]]
        for parameters in ({}, {"fusion": "kernels"}, {"gamma": 10.0}):
            with pytest.warns(UserWarning, match="view 3 shares neighbours with no other view"):
                model = lkg(3, kernels="precomputed", random_state=0, **parameters).fit(H)
            assert adjusted_rand_score(truth, model.labels_) == 1
            assert model.views_.weights[2] == 0
            np.testing.assert_array_equal(model.predict(H), model.labels_)
            np.testing.assert_array_equal(model.predict([K[:, :9] for K in H]), model.labels_[:9])

    def test_a_stack_is_one_source(self):
        model = keep(build_bank(X, "middle"), kernels="precomputed")
        np.testing.assert_array_equal(model.views_.weights, [1.0])
        assert len(model.solution_.g) == 4


def test_weights_of_one_view_are_checked_too():
    np.testing.assert_array_equal(fit(view_weights=[2.0]).views_.weights, [1.0])
    with pytest.raises(ValueError, match="view_weights must be 1 number, one for each view of X; got 2 of them"):
        fit(view_weights=[1, 0])


def test_other_penalties_are_fused_with_their_own_weight():
    views = [X[:, :3], X[:, 3:]]
    found = fit(views, graph_penalty="nuclear")
    assert found.views_.shares.shape == (45, 2)
    assert found.n_iter_ > 1


def test_the_order_of_the_columns_of_decimals_makes_no_difference():
    X = load_iris().data
    expected = LKG(3, random_state=0).fit(X)
    for other in (X[:, [3, 1, 0, 2]], X[:, ::-1], sparse.csr_matrix(X)):
        model = LKG(3, random_state=0).fit(other)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.reliability_ == pytest.approx(expected.reliability_)


def test_a_number_is_not_chosen_above_that_of_distinct_samples():
    with pytest.warns(UserWarning, match="found no clear clusters. Of all samples 1 is distinct, the rest copies"):
        model = LKG("auto", random_state=0).fit(np.ones((30, 3)))
    assert model.n_clusters_ == 1
    assert not any("%" in sentence for sentence in model.why_)


def test_copies_instead_of_clusters_are_not_called_reliable():
    with pytest.warns(ConvergenceWarning, match="LKG found 2 clusters instead of 5"):
        model = fit(np.repeat(X[:2], 10, axis=0), 5)
    assert model.reliability_ == 0
    assert "each cluster is a sample with its copies" in model.why_[-1]
    assert model.membership_.shape == (20, 2)


@pytest.mark.parametrize("k", [3, "auto"])
def test_a_graph_in_far_more_pieces_than_clusters_is_warned_of(k):
    samples = blobs(n=90)[0]
    with pytest.warns(UserWarning, match=r"connected components, more than clusters.*Raise n_neighbors") as told:
        model = LKG(k, n_neighbors=1, random_state=0).fit(samples)
    assert model.n_components_ > 2 * model.n_clusters_
    assert any(str(one.message).startswith(model.why_[-1]) for one in told)
    assert told[0].filename == __file__
