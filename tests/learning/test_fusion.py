from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning.candidates import Candidates, GivenKernels, Views
from kernelbraid.learning.fusion import (
    FusedGraph,
    Told,
    as_sparse,
    count_fused,
    fuse,
    fused_graphs,
    learn_graph,
    spread_out,
)
from kernelbraid.learning.learn import LearnedGraph, learn
from kernelbraid.learning.readout import graph_of
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.views import weigh
from kernelbraid.ops.spectral import normalised_graph
from kernelbraid.solvers.status import Status

N, NEW = 72, 9
TRUTH = np.arange(N + NEW) % 3
BANK = [Gaussian(0.5), Gaussian(2.0), Linear()]


def near(rng, d=4):
    """A view of clusters, in directions of its own."""
    return rng.normal(0, 3, (3, d))[TRUTH] + rng.normal(0, 0.7, (N + NEW, d))


rng = np.random.default_rng(0)
ALL = [near(rng), near(rng, 6), rng.normal(size=(N + NEW, 20))]
FIRST, SECOND, NOISE = (X[:N] for X in ALL)


def lacking(X, rows):
    found = X.copy()
    found[rows] = np.nan
    return found


def settings_of(**parameters):
    return Settings.of({"preset": "recommended", "n_clusters": 3, **parameters})


def fused(views, weights=None, **parameters):
    return fuse(weigh(Views(views), weights), settings_of(**parameters))


def kernels_of(*stacks):
    return GivenKernels([K for stack in stacks for K in stack], stack_kernels, sizes=tuple(map(len, stacks)))


class TestFuse:
    def test_it_is_the_weighted_sum_of_graphs_with_their_degrees_divided_out(self):
        settings = settings_of(n_neighbors=7)
        found = fused([FIRST, SECOND], [1, 3], n_neighbors=7)
        expected = np.zeros((N, N))
        parts = [(bank, alpha) for bank in settings.fused_banks for alpha in settings.alphas]
        for weight, X in ((0.25, FIRST), (0.75, SECOND)):
            for bank, alpha in parts:
                learned = learn(Views([X]).pose(bank), replace(settings.learning, alpha=alpha))
                graph = graph_of(learned, settings.readout)
                expected += weight / len(parts) * normalised_graph(graph).toarray()
        np.testing.assert_allclose(found.graph.toarray(), expected, atol=1e-12)

    def test_it_is_symmetric_and_not_negative_and_shares_sum_to_one(self):
        found = fused([FIRST, SECOND])
        A = found.graph.toarray()
        np.testing.assert_allclose(A, A.T, atol=1e-15)
        assert A.min() >= 0
        assert not np.diagonal(A).any()
        assert found.shares.shape == (N, 2)
        assert found.shares.min() >= 0
        np.testing.assert_allclose(found.shares.sum(axis=1), 1)

    def test_shares_are_those_of_the_edges_that_a_view_carries(self):
        found = fused([FIRST, SECOND], [1, 3])
        alone = fused([FIRST, SECOND], [1, 0]).graph.sum(axis=1)
        np.testing.assert_allclose(found.shares[:, 0], alone / 4 / found.graph.sum(axis=1))

    @pytest.mark.parametrize("weights", [[1, 1], [1, 3]])
    def test_a_view_has_the_say_that_its_weight_gives(self, weights):
        mean = fused([FIRST, SECOND], weights).shares.mean(axis=0)
        np.testing.assert_allclose(mean, np.array(weights) / sum(weights), atol=0.02)

    def test_more_kernels_give_no_more_say(self):
        few = fused([FIRST, SECOND], kernels=[[Gaussian(2.0)], BANK])
        many = fused([FIRST, SECOND], kernels=[[Gaussian(2.0)] * 9, BANK])
        np.testing.assert_allclose(many.graph.toarray(), few.graph.toarray(), atol=1e-12)
        np.testing.assert_allclose(many.shares, few.shares, atol=1e-12)
        np.testing.assert_allclose(few.shares.mean(axis=0), 0.5, atol=0.02)

    def test_a_view_may_be_turned(self):
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
        plain, turned = fused([FIRST, SECOND]), fused([FIRST @ turn, SECOND])
        np.testing.assert_allclose(turned.graph.toarray(), plain.graph.toarray(), atol=1e-9)

    def test_where_kernels_know_no_scale_views_may_have_any(self):
        plain, scaled = (fused(views, kernels=BANK) for views in ([FIRST, SECOND], [1e5 * FIRST, 1e-5 * SECOND]))
        np.testing.assert_allclose(scaled.graph.toarray(), plain.graph.toarray(), atol=1e-9)

    def test_the_order_of_views_does_not_matter(self):
        one, other = fused([FIRST, SECOND, NOISE]), fused([NOISE, SECOND, FIRST])
        np.testing.assert_allclose(other.graph.toarray(), one.graph.toarray(), atol=1e-15)
        np.testing.assert_allclose(other.shares[:, ::-1], one.shares, atol=1e-14)

    def test_what_is_left_out_and_copies_are_as_if_they_were_not_there(self):
        plain, more = fused([FIRST, SECOND]), fused([NOISE, FIRST, SECOND, FIRST])
        np.testing.assert_array_equal(more.graph.toarray(), plain.graph.toarray())
        np.testing.assert_array_equal(more.shares[:, [1, 2]], plain.shares)
        assert not more.shares[:, [0, 3]].any()

    def test_an_alpha_that_is_given_is_the_only_one(self):
        both, first, second = (fused([FIRST, SECOND], **given).graph for given in ({}, {"alpha": 1.0}, {"alpha": 30.0}))
        assert settings_of().alphas == (1.0, 30.0)
        np.testing.assert_allclose(both.toarray(), (first + second).toarray() / 2, atol=1e-14)

    def test_given_kernels_are_views_of_their_own(self):
        stacks = [build_bank(X, BANK) for X in (FIRST, SECOND)]
        found = fuse(weigh(kernels_of(*stacks)), settings_of(kernels="precomputed"))
        np.testing.assert_allclose(
            found.graph.toarray(), fused([FIRST, SECOND], kernels=BANK).graph.toarray(), atol=1e-9
        )
        assert found.shares.shape == (N, 2)

    def test_other_array_libraries_have_the_same_graph(self, foreign):
        found = fused([foreign.asarray(X) for X in (FIRST, SECOND)])
        assert sparse.issparse(found.graph)
        np.testing.assert_allclose(found.graph.toarray(), fused([FIRST, SECOND]).graph.toarray(), atol=1e-9)

    def test_a_graph_is_learned_from_candidates_or_fused_from_views(self):
        weighed, settings = weigh(Views([FIRST, SECOND])), settings_of()
        fusing = learn_graph(weighed, settings)
        np.testing.assert_array_equal(fusing.graph.toarray(), fuse(weighed, settings).graph.toarray())
        candidates = Views([FIRST]).pose(BANK)
        assert isinstance(candidates, Candidates)
        single = learn_graph(candidates, settings)
        np.testing.assert_array_equal(single.Z, learn(Views([FIRST]).pose(BANK), settings.learning).Z)
        assert not isinstance(single, FusedGraph)

    def test_it_is_read_out_with_the_edges_that_it_has(self):
        found = fused([FIRST, SECOND])
        readout = settings_of().readout
        assert found.suits(readout)
        assert found.suits(replace(readout, n_clusters=5, n_init=1))
        assert not found.suits(replace(readout, n_neighbors=3))
        assert not found.suits(replace(readout, edge_weights="binary"))


class TestGaps:
    def test_samples_that_a_view_lacks_have_no_share_in_it(self):
        found = fused([lacking(FIRST, [1, 2]), lacking(SECOND, [3])])
        np.testing.assert_array_equal(found.shares[[1, 2, 3]], [[0, 1], [0, 1], [1, 0]])
        np.testing.assert_allclose(found.shares.sum(axis=1), 1)
        assert (found.shares[4:] > 0).all()

    def test_the_graph_of_a_view_is_that_of_the_samples_it_has(self):
        gone = [0, 7, 8]
        there = np.delete(np.arange(N), gone)
        found = fused([lacking(FIRST, gone), SECOND]).graph.toarray()
        second = fused([FIRST, SECOND], [0, 1]).graph.toarray()
        alone = fused([FIRST[there], SECOND[there]], [1, 0]).graph.toarray()
        np.testing.assert_allclose((found - second / 2)[np.ix_(there, there)], alone / 2, atol=1e-12)
        bridges = (found - second / 2)[gone]  # edges by way of the other view, to samples that this one has
        assert (bridges > -1e-12).all()
        np.testing.assert_allclose(bridges[:, gone], 0, atol=1e-12)

    def test_a_view_that_is_left_out_places_those_that_only_it_has(self):
        views = [lacking(FIRST, [5, 6]), lacking(SECOND, [5]), NOISE]
        found = fused(views)
        without = [lacking(FIRST, [5, 6]), lacking(SECOND, [5])]
        assert found.shares[5].tolist() == [0, 0, 1]
        assert found.shares[6].tolist() == [0, 1, 0] or found.graph[[5], [6]].sum() > 0
        others = np.delete(np.arange(N), 5)
        alone = fused([X[others] for X in without]).graph.toarray()
        A = found.graph.toarray()
        np.testing.assert_allclose(A[np.ix_(others, others)], alone, atol=1e-12)
        np.testing.assert_array_equal(np.flatnonzero(found.shares[:, 2]), sorted([5, *np.flatnonzero(A[5])]))
        np.testing.assert_allclose(A, A.T, atol=1e-15)

    def test_rows_at_either_end_may_be_missing_in_all_but_one_view(self):
        rows = range(N // 2)
        found = fused([FIRST, lacking(SECOND, rows)])
        assert found.graph.shape == (N, N)
        np.testing.assert_array_equal(found.shares[list(rows)], [[1, 0]] * (N // 2))


class TestCounting:
    def test_there_is_a_graph_for_every_bank_and_penalty(self):
        weighed, settings = weigh(Views([FIRST, SECOND])), settings_of()
        graphs = fused_graphs(weighed, settings, (0.1, 1.0, 10.0), 5)
        assert len(graphs) == 3 * len(settings.fused_banks)
        for graph in graphs:
            A = graph.toarray()
            np.testing.assert_allclose(A, A.T, atol=1e-15)
            assert A.min() >= 0
        assert len({graph.toarray().tobytes() for graph in graphs}) == len(graphs)

    def test_samples_that_only_a_view_without_weight_has_are_in_every_graph(self):
        weighed = weigh(Views([lacking(FIRST, [5]), lacking(SECOND, [5]), NOISE]))
        for graph in fused_graphs(weighed, settings_of(), (1.0,), 5):
            assert graph.toarray()[5].sum() > 0

    @pytest.mark.parametrize("gaps", [[], [3, 8]])
    def test_graphs_that_chose_the_number_are_not_learned_again(self, gaps, monkeypatch):
        views, settings = Views([lacking(FIRST, gaps), SECOND]), settings_of(n_clusters="auto")
        expected = fuse(weigh(views), settings).graph.toarray()
        weighed = weigh(views)
        count_fused(weighed, settings, random_state=np.random.RandomState(0))
        asked = []
        monkeypatch.setattr(
            "kernelbraid.learning.fusion.learn", lambda *args, **rest: asked.append(1) or learn(*args, **rest)
        )
        np.testing.assert_allclose(fuse(weighed, settings).graph.toarray(), expected, atol=1e-12)
        assert len(weighed.graphs) + len(asked) == 2 * 2 * len(settings.alphas)
        assert weighed.graphs


class TestTold:
    def test_the_worst_is_kept(self):
        told = Told()
        ends = [(Status.CONVERGED, 1), (Status.MAX_ITER, 7), (Status.NON_FINITE, 2), (Status.MAX_ITER, 3)]
        for status, n_iter in ends:
            told.hear(LearnedGraph(None, np.arange(2), status=status, n_iter=n_iter, complaint=str(status)))
        assert (told.status, told.n_iter) == (Status.NON_FINITE, 7)
        assert told.complaint == str(Status.CONVERGED)

    def test_nothing_to_complain_of_is_nothing(self):
        told = Told()
        told.hear(LearnedGraph(None, np.arange(2)))
        assert (told.status, told.complaint) == (Status.CONVERGED, None)


def test_a_graph_over_some_samples_is_spread_over_all():
    graph = sparse.csr_array(np.array([[0, 2.0], [2, 0]]))
    found = spread_out(graph, np.array([3, 1]), 4).toarray()
    assert found[1, 3] == found[3, 1] == 2
    assert found.sum() == 4
    assert spread_out(graph, None, 2) is graph


def test_dense_graphs_become_sparse(xp):
    A = np.array([[0, 2.0], [2, 0]])
    np.testing.assert_array_equal(as_sparse(xp.asarray(A)).toarray(), A)
    B = sparse.csr_array(A)
    assert as_sparse(B) is B
