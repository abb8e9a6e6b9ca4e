import importlib
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG
from kernelbraid import learning as package
from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning.coefficients import Coefficients, express
from kernelbraid.learning.given import GivenGraphs, GivenKernels
from kernelbraid.learning.learn import as_sparse, graph_of, learn, with_joined
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import Views
from kernelbraid.learning.weighing import Weighed, weigh
from kernelbraid.ops.graphs import normalised_graph
from kernelbraid.solvers.iterate import Status
from problems import lacking, view_of

module = importlib.import_module("kernelbraid.learning.learn")  # the package has a function of this name
N = 72
TRUTH = np.arange(N) % 3
BANK = [Gaussian(0.5), Gaussian(2.0), Linear()]


rng = np.random.default_rng(0)
FIRST, SECOND, NOISE = view_of(TRUTH, rng), view_of(TRUTH, rng, 6), rng.normal(size=(N, 20))


def settings_of(**parameters):
    return Settings.of({"preset": "recommended", "n_clusters": 3, **parameters})


def fused(views, weights=None, **parameters):
    return learn(weigh(Views(views), weights), settings_of(**parameters))


def kernels_of(*stacks):
    return GivenKernels([K for stack in stacks for K in stack], stack_kernels, sizes=tuple(map(len, stacks)))


class TestSums:
    def test_it_is_the_weighted_sum_of_graphs_with_their_degrees_divided_out(self):
        settings = settings_of(n_neighbors=7)
        summed = fused([FIRST, SECOND], [1, 3], n_neighbors=7)
        expected = np.zeros((N, N))
        parts = [(bank, alpha) for bank in settings.fused_banks for alpha in settings.alphas]
        for weight, X in ((0.25, FIRST), (0.75, SECOND)):
            for bank, alpha in parts:
                found = express(Views([X]).pose(bank), replace(settings.learning, alpha=alpha))
                graph = graph_of(found, settings.readout)
                expected += weight / len(parts) * normalised_graph(graph).toarray()
        np.testing.assert_allclose(summed.graph.toarray(), expected, atol=1e-12)

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
        found = learn(weigh(kernels_of(*stacks)), settings_of(kernels="precomputed"))
        np.testing.assert_allclose(
            found.graph.toarray(), fused([FIRST, SECOND], kernels=BANK).graph.toarray(), atol=1e-9
        )
        assert found.shares.shape == (N, 2)

    def test_other_array_libraries_have_the_same_graph(self, foreign):
        found = fused([foreign.asarray(X) for X in (FIRST, SECOND)])
        assert sparse.issparse(found.graph)
        np.testing.assert_allclose(found.graph.toarray(), fused([FIRST, SECOND]).graph.toarray(), atol=1e-9)


class TestOne:
    """What is no sum: kernels over all samples, or a graph that was handed over."""

    @pytest.mark.parametrize("gamma", [np.inf, 10.0])
    def test_one_view_has_the_graph_of_its_coefficients_and_one_member(self, gamma):
        settings = settings_of(gamma=gamma, kernels=BANK).sized(N, 3)
        samples = Views([FIRST[[*range(N - 1), 0]]])
        learned = learn(replace(Weighed.alike(samples), joined=samples.pose(BANK)), settings)
        found = express(samples.pose(BANK), settings.learning)
        np.testing.assert_array_equal(learned.Z, found.Z)
        np.testing.assert_array_equal(learned.graph.toarray(), graph_of(found, settings.readout).toarray())
        assert learned.identities.tolist() == [*range(N - 1), 0]
        assert learned.shares is None
        member = learned.members[0].relation
        np.testing.assert_array_equal(member.weights, found.weights)
        assert (member.kernel is None) == (gamma == np.inf)  # the average is formed again

    def test_a_graph_is_taken_as_it_is_and_several_are_summed(self):
        settings = settings_of(kernels="graph")
        graphs = [sparse.csr_array(np.abs(X @ X.T) * (1 - np.eye(N))) for X in (FIRST, SECOND)]
        one, two = (learn(Weighed.alike(GivenGraphs(given)), settings) for given in (graphs[:1], graphs))
        np.testing.assert_array_equal(one.graph.toarray(), graphs[0].toarray())
        expected = sum(normalised_graph(graph).toarray() for graph in graphs) / 2
        np.testing.assert_allclose(two.graph.toarray(), expected, atol=1e-15)
        assert (one.n_iter, one.status, len(two.members)) == (0, Status.CONVERGED, 2)


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


def test_a_sum_tells_the_worst_of_how_its_fits_ended(monkeypatch):
    ends = iter([(Status.CONVERGED, 1), (Status.MAX_ITER, 7), (Status.NON_FINITE, 2), (Status.MAX_ITER, 3)])

    def ending(*_, **__):
        status, n_iter = next(ends)
        return Coefficients(Z=np.ones((N, N)), status=status, n_iter=n_iter, complaint=str(status))

    monkeypatch.setattr(module, "express", ending)
    told = fused([FIRST, SECOND], kernels=BANK)
    assert (told.status, told.n_iter, told.complaint) == (Status.NON_FINITE, 7, str(Status.CONVERGED))


def test_dense_graphs_become_sparse(xp):
    A = np.array([[0, 2.0], [2, 0]])
    np.testing.assert_array_equal(as_sparse(xp.asarray(A)).toarray(), A)
    B = sparse.csr_array(A)
    assert as_sparse(B) is B


def test_the_package_names_the_two_functions():
    assert package.learn is learn
    assert set(package.__all__) <= set(dir(package))


class TestJoining:
    """What all views say together joins the sum of their graphs, or does not."""

    def added(self, views, **parameters):
        weighed, settings = weigh(Views(views)), settings_of(**parameters)
        learned = learn(weighed, settings)
        return learned, with_joined(learned, weighed, settings)

    def test_weak_views_that_are_clear_together_are_joined(self):
        rng = np.random.default_rng(0)
        truth = np.arange(200) % 3
        places = rng.normal(size=(3, 12))[truth]
        views = [places + 2.0 * rng.normal(size=places.shape) for _ in range(6)]
        learned, joined = self.added(views)
        assert len(joined.members) == len(learned.members) + 1
        assert joined.members[-1].views == tuple(range(6))
        np.testing.assert_allclose(joined.shares.sum(axis=1), 1.0)
        edges, again = joined.members[-1].edges([view[:5] for view in views], 1e9), joined.graph.toarray()[:5]
        assert edges.shape == again.shape

    def test_clear_views_stay_as_they_are(self):
        learned, same = self.added([FIRST, SECOND])
        assert len(same.members) == len(learned.members)
        assert same.communities.steadiness() > 0.97

    def test_one_graph_is_read_out_whatever_the_random_state(self):
        rng = np.random.default_rng(1)
        places = rng.normal(0, 2, (3, 6))[np.arange(90) % 3]
        views = [places + rng.normal(size=places.shape) for _ in range(2)]
        one, other = (LKG(3, random_state=seed).fit(views) for seed in (0, 1))
        np.testing.assert_array_equal(one.graph_.toarray(), other.graph_.toarray())

    def test_another_way_to_read_out_leaves_the_sum_alone(self):
        learned, same = self.added([FIRST, SECOND], assign_labels="kmeans")
        assert same is learned
