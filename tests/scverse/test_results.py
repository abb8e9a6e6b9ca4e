import numpy as np

from kernelbraid.scverse.results import by_size, embedded_graph


def test_cells_far_from_their_neighbours_are_tied_to_them_as_well():
    embedding = np.concatenate([np.random.default_rng(0).normal(0, 1e-6, (40, 2)), [[5.0, 5.0], [-3.0, 1.0]]])
    graph, distances = embedded_graph(embedding, None)
    assert np.asarray(graph.sum(axis=1)).min() > 15 / 2 * np.exp(-1)
    assert (graph != graph.T).nnz == 0
    assert graph.max() <= 1
    np.testing.assert_allclose(distances[40].max(), np.hypot(5, 5), rtol=1e-5)


def test_cells_in_one_place_have_edges_of_one():
    graph, distances = embedded_graph(np.zeros((30, 2)), None)
    assert (graph.data == 1).all()
    assert distances.max() == 0


def test_clusters_are_numbered_by_their_sizes():
    np.testing.assert_array_equal(by_size(np.array([0, 2, 2, 1, 1, 1])), [2, 1, 1, 0, 0, 0])
