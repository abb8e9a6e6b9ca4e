"""Graphs that are handed over."""

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.learning.given import (
    SEVENTH,
    GivenGraphs,
    as_affinities,
    both_ways,
    check_edges,
    nearest_in,
    scales_of,
)
from kernelbraid.learning.trust import neighbour_graph

RNG = np.random.default_rng(0)


def dense_graph(n=40, seed=0):
    A = np.random.default_rng(seed).random((n, n))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 0)
    return A


def given(*graphs):
    graphs = [sparse.csr_array(graph) for graph in graphs]
    return GivenGraphs(graphs)


class TestNeighbours:
    def test_of_a_full_graph_they_are_those_of_the_dense_rule(self):
        A = dense_graph()
        np.testing.assert_allclose(nearest_in(sparse.csr_array(A)).toarray(), neighbour_graph(A).toarray(), atol=1e-12)

    def test_ties_share_the_last_place(self):
        A = np.round(dense_graph() * 4)  # many equal weights
        np.fill_diagonal(A, 0)
        A += 1e-3 * (A == 0)  # the dense rule takes pairs without an edge, too
        np.fill_diagonal(A, 0)
        np.testing.assert_allclose(nearest_in(sparse.csr_array(A)).toarray(), neighbour_graph(A).toarray(), atol=1e-12)

    def test_samples_with_few_edges_have_those_and_sums_are_those_of_all_others(self):
        A = sparse.csr_array(np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0.0]]))
        W = nearest_in(A, (1, 3)).toarray()
        np.testing.assert_allclose(W, W.T)
        expected = np.array([[0, 2, 0, 0], [1.5, 0, 0.5, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
        np.testing.assert_allclose(W, (expected + expected.T) / 2)


class TestDistances:
    def test_affinities_follow_their_formula_and_do_not_depend_on_units(self):
        D = sparse.csr_array(dense_graph(12))
        own = scales_of(D)
        np.testing.assert_allclose(own, np.sort(D.toarray(), axis=1)[:, SEVENTH])  # after the zero of the diagonal
        W = as_affinities(D, own, own).toarray()
        rows, columns = D.nonzero()
        expected = np.exp(-(D.toarray() ** 2) / own[:, None] / own[None, :])
        np.testing.assert_allclose(W[rows, columns], expected[rows, columns])
        np.testing.assert_allclose(as_affinities(7 * D, scales_of(7 * D), scales_of(7 * D)).toarray(), W)

    def test_a_stored_zero_is_the_distance_of_copies(self):
        D = sparse.csr_array(
            (np.array([0.0, 2.0, 0.0, 2.0]), np.array([1, 2, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3)
        )
        W = as_affinities(D, scales_of(D), scales_of(D)).toarray()
        assert W[0, 1] == W[1, 0] == 1
        assert 0 < W[0, 2] < 1
        assert np.isfinite(W).all()


def test_both_ways_is_the_symmetric_part_without_loops():
    A = RNG.random((9, 9)) * (RNG.random((9, 9)) < 0.4)
    expected = (A + A.T) / 2
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(both_ways(sparse.csr_array(A)).toarray(), expected)


class TestSamples:
    def test_those_without_edges_are_missing_in_a_view(self):
        A, B = dense_graph(), dense_graph(seed=1)
        B[3] = B[:, 3] = 0
        samples = given(A, B)
        assert samples.has_gaps
        assert samples.measured[0].all()
        assert np.flatnonzero(~samples.measured[1]).tolist() == [3]
        check_edges(samples)

    def test_graphs_are_compared_by_their_edges(self):
        A, B = dense_graph(), dense_graph(seed=1)
        samples = given(A, B, A)
        assert samples.are_equal(0, 2)
        assert not samples.are_equal(0, 1)

    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            (np.zeros((9, 9)), "has no edges"),
            (np.kron(np.eye(4), np.ones((1, 1))) * 0 + np.diag([0, 0, 0, 0.0]), "has no edges"),
            (
                sparse.block_diag([np.zeros((5, 5)), np.ones((3, 3))]).toarray(),
                "falls into 6 parts of 8 samples in all",
            ),
            (
                sparse.block_diag([np.ones((9, 9)), [[0.0]]]).toarray(),
                "sample 9 of X .* has no edge.*give it neighbours",
            ),
            (sparse.block_diag([[[0.0]], np.ones((9, 9)), [[0.0]]]).toarray(), "sample 0 of X .* as 1 more"),
        ],
    )
    def test_graphs_that_join_too_little_are_refused(self, graph, message):
        np.fill_diagonal(graph, 0)
        with pytest.raises(ValueError, match=message):
            check_edges(given(graph))
