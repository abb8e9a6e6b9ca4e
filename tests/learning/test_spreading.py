import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kernelbraid.learning.confidence import reached_by, shares_of, spread_labels
from kernelbraid.ops.graphs import normalised_graph, refine_graph


def graph_of(n, seed=0, n_neighbors=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return refine_graph(np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), n_neighbors=n_neighbors)


def known(n, *labels):
    """Ones for labels, given as pairs of a sample and its class."""
    Y = np.zeros((n, 1 + max(label for _, label in labels)))
    for sample, label in labels:
        Y[sample, label] = 1.0
    return Y


def path(n):
    return sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], format="csr")


@given(st.integers(5, 40), st.sampled_from([0.1, 0.5, 0.8, 0.99]), st.integers(0, 50))
def test_conjugate_gradients_give_what_a_dense_solve_gives(n, spread, seed):
    graph = graph_of(n, seed)
    Y = known(n, (0, 0), (n // 2, 1), (n - 1, 2))
    exact = np.linalg.solve(np.eye(n) - spread * normalised_graph(graph.toarray()), Y)
    np.testing.assert_allclose(spread_labels(graph, Y, spread), exact, atol=1e-10)
    np.testing.assert_allclose(spread_labels(graph.toarray(), Y, spread), exact, atol=1e-12)


def test_spread_labels_are_the_sum_over_walks_of_every_length():
    graph, Y = graph_of(30), known(30, (3, 0), (17, 1))
    S = normalised_graph(graph)
    walk = total = Y
    for _ in range(400):
        walk = 0.8 * (S @ walk)
        total = total + walk
    np.testing.assert_allclose(spread_labels(graph, Y, 0.8), total, atol=1e-10)


def test_no_label_is_negative_and_none_comes_where_no_edge_leads():
    blocks = sparse.block_diag([graph_of(12), graph_of(9)], format="csr")
    F = spread_labels(blocks, known(21, (0, 0), (5, 1)), 0.9)
    assert F.min() >= 0
    assert not F[12:].any()
    np.testing.assert_array_equal(shares_of(F)[12:], 0.5)


@pytest.mark.parametrize("form", [lambda A: A.toarray(), sparse.csr_array], ids=["dense", "sparse"])
def test_labels_reach_the_far_end_of_a_long_path(form):
    for spread in [0.1, 0.5, 0.8]:
        n = 201
        F = spread_labels(form(path(n)), known(n, (0, 0), (n - 1, 1)), spread)
        winners = shares_of(F).argmax(axis=1)
        assert not winners[:100].any()  # nearer to the first label
        assert winners[101:].all()
        assert F[:100, 0].all()


def test_single_precision_graphs_are_solved_in_double():
    graph, Y = graph_of(30), known(30, (3, 0), (17, 1))
    single = spread_labels(graph.astype(np.float32), Y, 0.9)
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, spread_labels(graph, Y, 0.9), atol=1e-5)


def test_dense_graphs_of_any_library_are_taken(xp):
    graph, Y = graph_of(20), known(20, (3, 0), (17, 1))
    found = spread_labels(xp.asarray(graph.toarray()), Y, 0.9)
    np.testing.assert_allclose(found, spread_labels(graph, Y, 0.9), atol=1e-10)


def test_shares_sum_to_one():
    shares = shares_of(np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 1e-300]]))
    np.testing.assert_allclose(shares, [[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize("form", [lambda A: A.toarray(), sparse.csr_array], ids=["dense", "sparse"])
def test_a_new_sample_gets_what_comes_along_its_edges(form):
    graph = form(path(4))
    spread = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [0.0, 1.0]])
    edges = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    D = np.array([1.0, 2.0, 2.0, 1.0])
    expected = edges @ (spread / np.sqrt(D)[:, None])
    expected[2] = 1.0
    np.testing.assert_allclose(reached_by(edges, graph, spread), expected / expected.sum(axis=1, keepdims=True))
