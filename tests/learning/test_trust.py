from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.learning.trust import LEAST, LEVEL, NEIGHBOURS, deviations, judge, neighbour_graph

N = 90
TRUTH = np.arange(N) % 3
OTHER = np.random.default_rng(7).permutation(N) % 3


def near(rng, truth=TRUTH, d=4):
    """A view of clusters, in directions of its own."""
    return rng.normal(0, 3, (3, d))[truth] + rng.normal(0, 0.7, (len(truth), d))


def similarities(X):
    return -np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=2)


def graph(X, n_neighbors=NEIGHBOURS):
    return neighbour_graph(similarities(X), n_neighbors)


def random_graph(rng, n, density=0.5):
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return sparse.csr_array(A + A.T)


def by_all_permutations(A, B):
    """Deviations above chance, by definition."""
    A, B = A.toarray(), B.toarray()
    shared = [np.sum(A * B[np.ix_(order, order)]) for order in map(list, permutations(range(len(A))))]
    return (np.sum(A * B) - np.mean(shared)) / np.std(shared)


def asked(views, *, halves=lambda view: None, measured=None, are_equal=lambda i, j: False):
    """Judge views by their samples."""
    n = len(views[0])
    measured = [np.ones(n, dtype=bool)] * len(views) if measured is None else measured
    graphs = []
    for X, rows in zip(views, measured, strict=True):
        at = np.flatnonzero(rows)
        found = graph(X[at]).tocoo()
        graphs.append(sparse.csr_array((found.data, (at[found.row], at[found.col])), shape=(n, n)))
    return judge(graphs, measured, halves, are_equal, lambda view, rows: graph(views[view][rows]))


class TestDeviations:
    def test_they_are_those_of_all_permutations(self):
        for n in [4, 5, 6]:
            for density in [0.4, 0.9]:
                rng = np.random.default_rng(n)
                compared = 0
                for _ in range(3):
                    A, B = random_graph(rng, n, density), random_graph(rng, n, density)
                    if A.nnz and B.nnz:
                        compared += 1
                        np.testing.assert_allclose(deviations(A, B)[0], by_all_permutations(A, B), rtol=1e-9)
                assert compared

    def test_hubs_are_part_of_chance(self):
        # Two stars share all their edges with probability 1 / n, and one otherwise.
        n = 6
        star = np.zeros((n, n))
        star[0, 1:] = star[1:, 0] = 1
        A = sparse.csr_array(star)
        np.testing.assert_allclose(deviations(A, A)[0], by_all_permutations(A, A))

    def test_neither_graph_is_the_first(self):
        rng = np.random.default_rng(0)
        A, B = random_graph(rng, 12), random_graph(rng, 12, 0.2)
        np.testing.assert_allclose(deviations(A, B), deviations(B, A))

    def test_names_of_samples_and_units_of_edges_do_not_matter(self):
        rng = np.random.default_rng(1)
        A, B = random_graph(rng, 12), random_graph(rng, 12, 0.2)
        order = rng.permutation(12)
        moved = [sparse.csr_array(G.toarray()[np.ix_(order, order)]) for G in (A, B)]
        np.testing.assert_allclose(deviations(*moved), deviations(A, B))
        np.testing.assert_allclose(deviations(1000 * A, B / 7), deviations(A, B))

    def test_the_cosine_tells_the_same_graph(self):
        rng = np.random.default_rng(2)
        A, B = random_graph(rng, 12), random_graph(rng, 12)
        np.testing.assert_allclose(deviations(A, 3 * A)[1], 1)
        flat = A.toarray().ravel(), B.toarray().ravel()
        np.testing.assert_allclose(deviations(A, B)[1], flat[0] @ flat[1] / np.prod(np.linalg.norm(flat, axis=1)))

    def test_independent_views_deviate_as_a_normal_variable_does(self):
        rng = np.random.default_rng(3)
        drawn = [graph(rng.normal(size=(60, 3))) for _ in range(40)]
        z = [deviations(A, B)[0] for i, A in enumerate(drawn) for B in drawn[:i]]
        assert abs(np.mean(z)) < 0.1
        assert 0.85 < np.std(z) < 1.15
        assert np.max(np.abs(z)) < LEVEL

    def test_clusters_that_have_nothing_to_do_with_each_other_agree_by_chance_alone(self):
        rng = np.random.default_rng(4)
        drawn = [graph(near(rng, rng.permutation(N) % 3)) for _ in range(20)]
        z = [deviations(A, B)[0] for i, A in enumerate(drawn) for B in drawn[:i]]
        assert abs(np.mean(z)) < 0.2
        assert 0.8 < np.std(z) < 1.25

    def test_where_there_is_no_chance_there_is_no_deviation(self):
        for n in [1, 3, 8]:
            empty, full = sparse.csr_array((n, n)), sparse.csr_array(np.ones((n, n)) - np.eye(n))
            some = random_graph(np.random.default_rng(5), n)
            assert deviations(empty, some) == (0.0, 0.0)
            assert deviations(some, empty) == (0.0, 0.0)
            assert deviations(full, some)[0] == deviations(full, full)[0] == 0.0


class TestNeighbourGraph:
    def test_it_has_the_nearest_neighbours(self):
        X = np.random.default_rng(0).normal(size=(15, 2))
        S = similarities(X)
        expected = np.zeros((15, 15))
        for k in (2, 4):
            for i in range(15):
                nearest = [j for j in np.argsort(-S[i]) if j != i][:k]
                expected[i, nearest] += 1 / k
        found = neighbour_graph(S, (2, 4)).toarray()
        np.testing.assert_allclose(found, (expected + expected.T) / 2)

    def test_it_is_symmetric_without_a_diagonal_and_every_sample_has_one_per_neighbourhood(self):
        found = graph(np.random.default_rng(1).normal(size=(40, 3))).toarray()
        np.testing.assert_array_equal(found, found.T)
        assert not np.diagonal(found).any()
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(), 40 * len(NEIGHBOURS))

    def test_those_that_tie_for_the_last_place_share_it(self):
        # Of five samples on a line, those inside have a neighbour on either side, and one place for both.
        line = np.arange(5.0)[:, None]
        directed = np.zeros((5, 5))
        directed[0, 1] = directed[4, 3] = 1
        for i in (1, 2, 3):
            directed[i, i - 1] = directed[i, i + 1] = 0.5
        np.testing.assert_allclose(graph(line, (1,)).toarray(), (directed + directed.T) / 2)

    def test_the_order_of_samples_does_not_decide_ties(self):
        rng = np.random.default_rng(2)
        X = rng.integers(0, 3, (50, 2)).astype(float)
        order = rng.permutation(50)
        np.testing.assert_allclose(graph(X[order]).toarray(), graph(X).toarray()[np.ix_(order, order)])

    def test_rounding_breaks_no_tie(self):
        rng = np.random.default_rng(3)
        X = rng.integers(0, 3, (50, 2)).astype(float)
        S = similarities(X)
        np.testing.assert_allclose(
            neighbour_graph(S + 1e-13 * rng.normal(size=S.shape)).toarray(), neighbour_graph(S).toarray(), atol=1e-12
        )

    def test_of_few_samples_all_others_are_neighbours(self):
        np.testing.assert_allclose(graph(np.arange(3.0)[:, None]).toarray(), (np.ones((3, 3)) - np.eye(3)) / 2)
        assert graph(np.zeros((1, 2))).nnz == 0

    def test_nothing_is_written_into_the_similarities(self):
        S = similarities(np.random.default_rng(4).normal(size=(30, 2)))
        before = S.copy()
        neighbour_graph(S)
        np.testing.assert_array_equal(S, before)


class TestJudge:
    def test_views_that_agree_are_trusted_with_nothing_to_tell(self):
        rng = np.random.default_rng(0)
        trust = asked([near(rng) for _ in range(3)])
        assert trust.trusted.all()
        assert trust.counted.all()
        assert trust.warning is None
        assert all("shares neighbours with view " in reason for reason in trust.reasons)
        assert np.isnan(np.diagonal(trust.agreement)).all()
        np.testing.assert_array_equal(trust.agreement, trust.agreement.T)

    def test_what_agrees_with_nobody_is_left_out_and_named(self):
        for false in [
            lambda rng: rng.normal(size=(N, 20)),
            lambda rng: near(rng, OTHER),
            lambda rng: rng.permutation(near(rng)),
        ]:
            for place in [0, 1, 2]:
                rng = np.random.default_rng(1)
                views = [near(rng), near(rng)]
                views.insert(place, false(rng))
                trust = asked(views)
                assert trust.trusted.tolist() == [view != place for view in range(3)]
                assert "shares neighbours with no other view" in trust.reasons[place]
                assert f"view {place + 1} shares neighbours with no other view and is left out" in trust.warning

    def test_several_false_views_are_named_together(self):
        rng = np.random.default_rng(2)
        views = [near(rng), rng.normal(size=(N, 20)), near(rng), near(rng, OTHER)]
        trust = asked(views)
        assert trust.trusted.tolist() == [True, False, True, False]
        assert "views 2, 4 share neighbours with no other view and are left out" in trust.warning

    def test_the_larger_camp_is_followed_wherever_it_stands(self):
        rng = np.random.default_rng(3)
        trust = asked([near(rng, OTHER), near(rng), near(rng, OTHER), near(rng), near(rng)])
        assert trust.trusted.tolist() == [False, True, False, True, True]
        assert "views 2, 4, 5 are followed, being more, views 1, 3 not" in trust.warning
        assert "view_weights" in trust.warning
        assert trust.reasons[0] == "shares neighbours with view 3, but not with the 3 views that are followed"

    def test_of_camps_of_equal_size_that_of_the_first_view_is_followed(self):
        rng = np.random.default_rng(4)
        trust = asked([near(rng, OTHER), near(rng), near(rng), near(rng, OTHER)])
        assert trust.trusted.tolist() == [True, False, False, True]
        assert "views 1, 4 are followed for the first view, views 2, 3 not" in trust.warning

    def test_a_camp_is_no_larger_by_copies(self):
        rng = np.random.default_rng(5)
        other = near(rng, OTHER)
        trust = asked([other, other, other, near(rng, OTHER), near(rng), near(rng), near(rng)])
        assert trust.trusted.tolist() == [False] * 4 + [True] * 3

    def test_views_agree_through_a_third(self):
        # The middle one has the features of both.
        rng = np.random.default_rng(6)
        one, other = near(rng, d=2), near(rng, OTHER, d=2)
        trust = asked([one, np.c_[one, other], other])
        assert abs(trust.agreement[0, 2]) < LEVEL
        assert trust.trusted.all()

    def test_a_copy_counts_once_and_says_of_which_view(self):
        rng = np.random.default_rng(7)
        one, other = near(rng), near(rng)
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        trust = asked([one, other, 5 * one @ turn + 2])
        assert trust.trusted.tolist() == [True, True, True]
        assert trust.counted.tolist() == [True, True, False]
        assert trust.reasons[0].startswith("shares neighbours with view 2 ")  # a copy is no other view
        assert trust.reasons[2] == "is a copy of view 1, and counts once with it"
        assert trust.warning is None

    def test_noise_is_no_truth_by_being_copied(self):
        rng = np.random.default_rng(8)
        noise = rng.normal(size=(N, 20))
        trust = asked([noise, near(rng), noise, near(rng), noise])
        assert trust.trusted.tolist() == [False, True, False, True, False]
        assert "views 1, 3, 5 share neighbours with no other view" in trust.warning

    def test_a_view_and_its_copy_are_one_view(self):
        X = near(np.random.default_rng(9))
        trust = asked([X, X], halves=lambda view: pytest.fail("asked"))
        assert trust.trusted.tolist() == [True, True]
        assert trust.counted.tolist() == [True, False]
        assert "one is left, view 1" in trust.warning
        assert trust.reasons == ["is the only one", "is a copy of view 1, and counts once with it"]

    def test_of_few_samples_neighbours_alone_tell_no_copy(self):
        X = near(np.random.default_rng(10))[:30]
        for equal in (True, False):
            trust = asked([X, 2 * X], are_equal=lambda i, j, equal=equal: equal)
            assert trust.counted.tolist() == [True, not equal]

    def test_a_copy_of_a_view_that_says_nothing_is_none_of_the_view_that_is_left(self):
        rng = np.random.default_rng(13)
        noise = rng.normal(size=(N, 20))
        trust = asked([noise, noise, near(rng)], halves=lambda view: view == 2, are_equal=lambda i, j: (i, j) == (0, 1))
        assert trust.counted.tolist() == [False, False, True]
        assert "view 1 says nothing and is left out; one is left, view 3;" in trust.warning

    def test_two_views_that_disagree_are_both_used_with_a_warning(self):
        rng = np.random.default_rng(11)
        trust = asked([near(rng), near(rng, OTHER)])
        assert trust.trusted.tolist() == trust.counted.tolist() == [True, True]
        assert "no two agree more than chance has it, so that views 1, 2 are all used" in trust.warning
        assert all("nothing speaks for one of them" in reason for reason in trust.reasons)

    @pytest.mark.parametrize("says", [None, False, True])
    def test_features_that_all_say_the_same_decide_nothing(self, says):
        rng = np.random.default_rng(12)
        trust = asked([rng.normal(size=(N, 20)) for _ in range(3)], halves=lambda view: says)
        assert trust.trusted.all()
        assert "views 1, 2, 3 are all used" in trust.warning

    def test_one_view_whose_features_agree_is_kept_among_noise(self):
        rng = np.random.default_rng(13)
        views = [rng.normal(size=(N, 20)), near(rng), rng.normal(size=(N, 20))]
        trust = asked(views, halves=lambda view: view == 1)
        assert trust.trusted.tolist() == trust.counted.tolist() == [False, True, False]
        assert "views 1, 3 say nothing and are left out; one is left, view 2" in trust.warning
        assert "nor do two halves of its features" in trust.reasons[0]
        assert "but two halves of its features do" in trust.reasons[1]

    def test_a_view_without_two_features_is_not_called_empty(self):
        rng = np.random.default_rng(14)
        views = [rng.normal(size=(N, 20)), near(rng), rng.normal(size=(N, 1))]
        trust = asked(views, halves=lambda view: [False, True, None][view])
        assert trust.trusted.tolist() == [False, True, True]

    @pytest.mark.parametrize("n", [LEAST - 1, LEAST])
    def test_too_few_samples_are_not_compared(self, n):
        X = near(np.random.default_rng(15))[:n]
        trust = asked([X, X], are_equal=lambda i, j: True)
        assert trust.counted.tolist() == [True, n < LEAST]
        assert np.isnan(trust.agreement[0, 1]) == (n < LEAST)
        if n < LEAST:
            assert trust.warning is None
            assert trust.reasons == ["is not compared with the others, for which 20 samples are needed"] * 2

    def test_samples_that_a_view_lacks_take_no_part(self):
        rng = np.random.default_rng(16)
        views = [near(rng), near(rng), rng.normal(size=(N, 20))]
        measured = [rng.random(N) > 0.3 for _ in views]
        trust = asked(views, measured=measured)
        assert trust.trusted.tolist() == [True, True, False]
        A, B = (graph(X[measured[0] & measured[1]]) for X in views[:2])
        np.testing.assert_allclose(trust.agreement[0, 1], deviations(A, B)[0])

    def test_views_without_a_common_sample_are_not_said_to_agree(self):
        rng = np.random.default_rng(17)
        X = near(rng)
        first = np.arange(N) < N // 2
        trust = asked([X, X], measured=[first, ~first])
        assert trust.counted.all()
        assert not trust.agreement[0, 1] > LEVEL


class TestTrust:
    def test_weights_that_are_given_decide_and_what_was_measured_stays(self):
        rng = np.random.default_rng(0)
        trust = asked([near(rng), near(rng), rng.normal(size=(N, 20))])
        weighed = trust.weighing(np.array([0.0, 1.0, 2.0]))
        assert weighed.trusted.tolist() == weighed.counted.tolist() == [False, True, True]
        np.testing.assert_array_equal(weighed.agreement, trust.agreement)
        assert weighed.warning is None
        assert set(weighed.reasons) == {"has the weight that was given"}

    def test_all_are_trusted_where_samples_are_too_few_to_measure(self):
        trust = asked([near(np.random.default_rng(0))[: LEAST - 1]] * 3)
        assert trust.trusted.all()
        assert trust.counted.all()
        assert trust.reasons == [f"is not compared with the others, for which {LEAST} samples are needed"] * 3
        assert np.isnan(trust.agreement).all()
