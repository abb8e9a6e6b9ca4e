import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kernelbraid import _arrays
from kernelbraid._arrays import to_numpy
from kernelbraid.ops.refinement import refine_columns, refine_graph, strongest_edges
from problems import dense

WEIGHTS = ["learned", "scaled", "binary"]


@pytest.fixture
def coefficients():
    return np.random.default_rng(0).normal(size=(30, 30))


def slow_refinement(A, n_neighbors, edge_weights):
    """The definition, entry by entry."""
    n = len(A)
    kept = np.zeros((n, n))
    for j in range(n):
        column = np.where(np.arange(n) == j, 0.0, np.maximum(A[:, j], 0.0))
        last = np.sort(column)[-min(n_neighbors, n)]
        chosen = (column > 0) & (column >= last)
        if edge_weights == "scaled" and chosen.any():
            column = column / column.max()
        kept[chosen, j] = 1.0 if edge_weights == "binary" else column[chosen]
    return (kept + kept.T) / 2


def test_without_a_number_of_neighbours_only_negative_entries_go(coefficients):
    positive = np.maximum(coefficients, 0)
    np.testing.assert_allclose(refine_graph(coefficients), (positive + positive.T) / 2)


@pytest.mark.parametrize("edge_weights", WEIGHTS)
def test_a_number_of_neighbours_makes_the_same_sparse_graph_of_every_kind_of_array(xp, coefficients, edge_weights):
    for n_neighbors in [1, 4, 29, 30, 100]:
        graph = refine_graph(xp.asarray(coefficients), n_neighbors=n_neighbors, edge_weights=edge_weights)
        assert isinstance(graph, sparse.csr_array)
        assert graph.data.min() > 0
        expected = slow_refinement(coefficients, n_neighbors, edge_weights)
        np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-14)
        assert (graph != graph.T).nnz == 0


@pytest.mark.parametrize("edge_weights", WEIGHTS)
def test_without_a_number_the_graph_stays_in_its_library(xp, coefficients, edge_weights):
    A = xp.asarray(coefficients)
    graph = refine_graph(A, edge_weights=edge_weights)
    assert type(graph) is type(A)
    columns = refine_columns(np.maximum(coefficients, 0), n_neighbors=None, edge_weights=edge_weights)
    np.testing.assert_allclose(to_numpy(graph), (columns + columns.T) / 2)


@given(st.integers(1, 12), st.integers(1, 14), st.sampled_from(WEIGHTS), st.integers(0, 100))
def test_entries_that_are_equal_or_zero_are_kept_as_the_definition_says(n, n_neighbors, edge_weights, seed):
    A = np.random.default_rng(seed).integers(-1, 3, size=(n, n)).astype(float)
    graph = refine_graph(A, n_neighbors=n_neighbors, edge_weights=edge_weights)
    np.testing.assert_allclose(graph.toarray(), slow_refinement(A, n_neighbors, edge_weights))


@pytest.mark.parametrize("size", [1, 70, 30 * 7, 30 * 30])
def test_blocks_of_columns_make_no_difference(monkeypatch, xp, coefficients, size):
    expected = refine_graph(coefficients, n_neighbors=4)
    monkeypatch.setattr(_arrays, "BLOCK_SIZE", size)
    graph = refine_graph(xp.asarray(coefficients), n_neighbors=4)
    np.testing.assert_array_equal(graph.toarray(), expected.toarray())


def test_the_coefficients_stay_as_they_are_and_give_the_graph_their_precision(xp, coefficients):
    A = xp.asarray(coefficients.astype(np.float32))
    graph = refine_graph(A, n_neighbors=4, edge_weights="scaled")
    assert graph.dtype == np.float32
    np.testing.assert_array_equal(to_numpy(A), coefficients.astype(np.float32))


def test_every_sample_keeps_its_strongest_neighbours(coefficients):
    graph = dense(refine_graph(coefficients, n_neighbors=4))
    assert np.array_equal(graph, graph.T)
    assert not graph.diagonal().any()
    outside = np.where(np.eye(30, dtype=bool), -np.inf, coefficients)
    for column in range(30):
        strongest = set(np.argsort(-outside[:, column])[:4])
        chosen_by = {row for row in range(30) if column in np.argsort(-outside[:, row])[:4]}
        assert set(np.flatnonzero(graph[:, column])) == strongest | chosen_by


def test_the_strongest_edges_of_a_column_are_a_row(coefficients):
    edges = strongest_edges(coefficients, 3).toarray()
    off = np.where(np.eye(30, dtype=bool), 0.0, coefficients)
    assert (np.count_nonzero(edges, axis=1) <= 3).all()
    np.testing.assert_array_equal(edges[edges > 0], off.T[edges > 0])
    np.testing.assert_array_equal(edges.max(axis=1), off.max(axis=0))


def test_a_column_with_fewer_positive_entries_keeps_those():
    A = np.zeros((5, 5))
    A[1, 0] = A[0, 1] = 2.0
    assert refine_graph(A, n_neighbors=3).sum() == 4.0


def test_no_positive_entry_leaves_an_empty_graph():
    for weights in WEIGHTS:
        assert refine_graph(-np.ones((4, 4)), n_neighbors=2, edge_weights=weights).nnz == 0


def test_as_many_neighbours_as_samples_are_all(coefficients):
    all_but_self = dense(refine_graph(coefficients, n_neighbors=29))
    assert np.count_nonzero(all_but_self.diagonal()) == 0
    np.testing.assert_allclose(all_but_self, dense(refine_graph(coefficients, n_neighbors=100)))


def test_scaled_columns_have_a_strongest_edge_of_one(coefficients):
    graph = dense(refine_graph(coefficients, n_neighbors=4, edge_weights="scaled"))
    assert graph.max() <= 1
    assert (graph.max(axis=0) >= 0.5).all()  # its own strongest edge counts one half at least


def test_the_scale_of_a_column_does_not_matter_when_it_is_divided_out(coefficients):
    factors = np.random.default_rng(1).uniform(0.1, 10, size=30)
    for weights in ("scaled", "binary"):
        once = dense(refine_graph(coefficients, n_neighbors=4, edge_weights=weights))
        again = refine_graph(coefficients * factors, n_neighbors=4, edge_weights=weights)
        np.testing.assert_allclose(dense(again), once)


def test_binary_edges_count_one_or_one_half(coefficients):
    graph = dense(refine_graph(coefficients, n_neighbors=4, edge_weights="binary"))
    assert set(np.unique(graph)) == {0.0, 0.5, 1.0}
