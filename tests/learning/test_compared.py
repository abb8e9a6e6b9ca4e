import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.learning import compared
from kernelbraid.learning.coefficients import express
from kernelbraid.learning.compared import (
    LEFT_OUT,
    background,
    cloud_of,
    count,
    count_of_kernels,
    kernel_graphs,
    summed_graphs,
    thinned,
)
from kernelbraid.learning.given_kernels import GivenKernels
from kernelbraid.learning.graphs import GivenGraphs, both_ways
from kernelbraid.learning.learn import learn
from kernelbraid.learning.progress import watched_by
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import Views
from kernelbraid.learning.weighing import Weighed, weigh
from kernelbraid.ops.graphs import refine_graph
from problems import blobs, lacking, view_of

module = importlib.import_module("kernelbraid.learning.learn")  # the package has a function of this name
TRUTH = np.arange(72) % 3
rng = np.random.default_rng(0)
FIRST, SECOND, NOISE = view_of(TRUTH, rng), view_of(TRUTH, rng, 6), rng.normal(size=(72, 20))


def settings_of(**parameters):
    return Settings.of({"preset": "recommended", "n_clusters": 3, **parameters})


def samples_of(candidates):
    return [np.asarray(view) for view in candidates.bank.views]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_cloud_has_the_mean_and_the_covariance_of_the_samples(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.1]]) + [5.0, -3.0, 0.0]
    (cloud,) = samples_of(cloud_of(Views([form(X)]).pose([Linear()]), np.random.RandomState(0)))
    assert cloud.shape == X.shape
    np.testing.assert_allclose(cloud.mean(axis=0), X.mean(axis=0), atol=0.2)
    np.testing.assert_allclose(np.cov(cloud.T), np.cov(X.T), atol=0.35)


def test_a_cloud_has_the_kernels_of_the_samples_and_no_clusters():
    X, _ = blobs(n=60)
    candidates = Views([X]).pose([Gaussian(0.5), Linear()])
    cloud = cloud_of(candidates, np.random.RandomState(0))
    assert cloud.names == candidates.names
    np.testing.assert_allclose(
        cloud.average(), build_bank(samples_of(cloud)[0], [Gaussian(0.5), Linear()]).mean(axis=0)
    )


def test_views_of_a_cloud_belong_to_the_same_samples():
    X, _ = blobs(n=80)
    first, second = samples_of(cloud_of(Views([X, 2 * X]).pose([Linear()]), np.random.RandomState(0)))
    np.testing.assert_allclose(second, 2 * first)


def test_there_is_no_cloud_of_kernels_functions_and_very_many_numbers(monkeypatch):
    X, _ = blobs(n=30)
    K = X @ X.T
    assert (
        cloud_of(GivenKernels([K], lambda kernels: np.stack(kernels)).pose("precomputed"), np.random.RandomState(0))
        is None
    )
    assert cloud_of(Views([X]).pose([lambda A, B: A @ B.T]), np.random.RandomState(0)) is None
    monkeypatch.setattr(compared, "MOST_NUMBERS", 10)
    assert cloud_of(Views([X]).pose([Linear()]), np.random.RandomState(0)) is None


def test_clear_clusters_share_far_fewer_edges_than_a_cloud():
    X, _ = blobs(n=90)
    candidates = Views([X]).pose("auto")
    assert background(candidates, 3, np.random.RandomState(0)) < 0.3
    cloud = Views([np.random.default_rng(0).normal(size=(200, 5))]).pose("auto")
    assert background(cloud, 3, np.random.RandomState(0)) > 0.65


def test_penalties_and_numbers_of_edges_get_graphs(monkeypatch):
    X, _ = blobs(n=40)
    candidates = Views([X]).pose("auto")
    graphs = kernel_graphs(candidates)
    assert len(graphs) == 3 * 2
    assert all(sparse.issparse(graph) for graph in graphs)
    monkeypatch.setattr(compared, "LARGE", 30)
    assert len(kernel_graphs(candidates)) == 2


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_graphs_are_those_of_the_normal_equations_and_no_kernel_is_used_up(is_shared):
    X, _ = blobs(n=20)
    candidates = Views([X]).pose([Gaussian(0.1), Gaussian(1.0)], is_shared=is_shared)
    K = candidates.stack.combine(np.array([0.5, 0.5]))
    expected = [
        refine_graph(np.linalg.solve(K + alpha * np.eye(20), K), n_neighbors=few, edge_weights="scaled").toarray()
        for alpha in (0.2, 0.2 / 3, 0.6)  # that of few samples
        for few in (4, 4)
    ]
    np.testing.assert_allclose([graph.toarray() for graph in kernel_graphs(candidates)], expected, atol=1e-10)
    np.testing.assert_array_equal(candidates.average(), K)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_whoever_listens_hears_how_far_the_choice_has_come(n_jobs):
    told = []
    candidates = Views([blobs(n=60)[0]]).pose("auto")
    with watched_by(SimpleNamespace(reach=told.append)):
        counts = count_of_kernels(candidates, random_state=np.random.RandomState(0), n_jobs=n_jobs)
    assert told[0] == 0
    assert max(told) == told[-1] == 1
    assert len(set(told)) > len(counts.n_clusters) + len(compared.PARTS)  # graphs, every number, and clouds


def test_nearly_all_of_the_work_is_announced_and_done(monkeypatch):
    left = []
    real = compared.background
    monkeypatch.setattr(compared, "background", lambda *given: (real(*given), left.append(told[-1]))[0])
    told = []
    candidates = Views([blobs(n=60)[0]]).pose("auto")
    with watched_by(SimpleNamespace(reach=told.append)):
        count_of_kernels(candidates, random_state=np.random.RandomState(0))
    assert left == [pytest.approx(1.0)]


class TestSums:
    def test_there_is_a_graph_for_every_bank_and_penalty(self):
        weighed, settings = weigh(Views([FIRST, SECOND])), settings_of()
        graphs = summed_graphs(weighed, settings, (0.1, 1.0, 10.0))
        assert len(graphs) == 3 * len(settings.fused_banks)
        for graph in graphs:
            A = graph.toarray()
            np.testing.assert_allclose(A, A.T, atol=1e-15)
            assert A.min() >= 0
        assert len({graph.toarray().tobytes() for graph in graphs}) == len(graphs)

    def test_samples_that_only_a_view_without_weight_has_are_in_every_graph(self):
        weighed = weigh(Views([lacking(FIRST, [5]), lacking(SECOND, [5]), NOISE]))
        for graph in summed_graphs(weighed, settings_of(), (1.0,)):
            assert graph.toarray()[5].sum() > 0

    @pytest.mark.parametrize("gaps", [[], [3, 8]])
    def test_graphs_that_chose_the_number_are_not_learned_again(self, gaps, monkeypatch):
        views, settings = Views([lacking(FIRST, gaps), SECOND]), settings_of(n_clusters="auto")
        expected = learn(weigh(views), settings).graph.toarray()
        weighed = weigh(views)
        count(weighed, settings, random_state=np.random.RandomState(0))
        asked = []
        monkeypatch.setattr(module, "express", lambda *given, **more: asked.append(1) or express(*given, **more))
        np.testing.assert_allclose(learn(weighed, settings).graph.toarray(), expected, atol=1e-12)
        assert len(weighed.graphs) + len(asked) == 2 * 2 * len(settings.alphas)
        assert weighed.graphs


def test_a_graph_that_was_handed_over_is_compared_with_parts_of_itself():
    graph = both_ways(sparse.csr_array(np.kron(np.eye(4), np.ones((9, 9)))))
    samples = GivenGraphs([graph], [graph], [None])
    counts = count(Weighed.alike(samples), settings_of(), random_state=np.random.RandomState(0))
    assert (counts.best, counts.compared) == (4, "parts of the graph")


def test_a_thinned_graph_lacks_a_share_of_the_edges_in_both_directions():
    graph = both_ways(sparse.random_array((300, 300), density=0.2, rng=np.random.default_rng(0)))
    less = thinned(graph, np.random.RandomState(0))
    assert (less != less.T).nnz == 0
    assert abs(less.nnz / graph.nnz - (1 - LEFT_OUT)) < 0.02
    kept = less.toarray() > 0
    np.testing.assert_array_equal(less.toarray()[kept], graph.toarray()[kept])
