import numpy as np
import pytest

from kernelbraid.ops.refinement import average_graphs, refine_graph
from kernelbraid.ops.spectral import normalised_graph


@pytest.fixture
def coefficients():
    return np.random.default_rng(0).normal(size=(30, 30))


def test_without_a_number_of_neighbours_only_negative_entries_go(coefficients):
    positive = np.maximum(coefficients, 0)
    np.testing.assert_allclose(refine_graph(coefficients), (positive + positive.T) / 2)


def test_every_sample_keeps_its_strongest_neighbours(coefficients):
    graph = refine_graph(coefficients, n_neighbors=4)
    assert np.array_equal(graph, graph.T)
    assert not graph.diagonal().any()
    outside = np.where(np.eye(30, dtype=bool), -np.inf, coefficients)
    for column in range(30):
        strongest = set(np.argsort(-outside[:, column])[:4])
        chosen_by = {row for row in range(30) if column in np.argsort(-outside[:, row])[:4]}
        assert set(np.flatnonzero(graph[:, column])) == strongest | chosen_by


def test_a_column_with_fewer_positive_entries_keeps_those():
    A = np.zeros((5, 5))
    A[1, 0] = A[0, 1] = 2.0
    assert refine_graph(A, n_neighbors=3).sum() == 4.0


def test_as_many_neighbours_as_samples_are_all(coefficients):
    all_but_self = refine_graph(coefficients, n_neighbors=29)
    assert np.count_nonzero(all_but_self.diagonal()) == 0
    np.testing.assert_allclose(all_but_self, refine_graph(coefficients, n_neighbors=100))


def test_scaled_columns_have_a_strongest_edge_of_one(coefficients):
    graph = refine_graph(coefficients, n_neighbors=4, edge_weights="scaled")
    assert graph.max() <= 1
    assert (graph.max(axis=0) >= 0.5).all()  # its own strongest edge counts one half at least


def test_the_scale_of_a_column_does_not_matter_when_it_is_divided_out(coefficients):
    factors = np.random.default_rng(1).uniform(0.1, 10, size=30)
    for weights in ("scaled", "binary"):
        once = refine_graph(coefficients, n_neighbors=4, edge_weights=weights)
        np.testing.assert_allclose(refine_graph(coefficients * factors, n_neighbors=4, edge_weights=weights), once)


def test_binary_edges_count_one_or_one_half(coefficients):
    graph = refine_graph(coefficients, n_neighbors=4, edge_weights="binary")
    assert set(np.unique(graph)) == {0.0, 0.5, 1.0}


def test_the_average_of_equal_graphs_is_that_graph_without_its_degrees(coefficients):
    graph = refine_graph(coefficients, n_neighbors=6)
    np.testing.assert_allclose(average_graphs([graph, 3 * graph]), normalised_graph(graph))
