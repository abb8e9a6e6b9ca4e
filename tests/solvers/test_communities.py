from itertools import product

import numpy as np
import pytest
from scipy import sparse

from kernelbraid._machine import calm
from kernelbraid.solvers.communities import Network, communities, communities_of_number, steady_communities


def blocks(sizes, inside=1.0, between=0.02):
    """A dense graph of blocks that are joined weakly."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(of[:, None] == of, inside, between)
    np.fill_diagonal(graph, 0.0)
    return graph, of


def quality(graph, labels, resolution):
    """What communities maximise, term by term."""
    total = graph.sum()
    groups = [labels == label for label in np.unique(labels)]
    return sum(graph[np.ix_(g, g)].sum() / total - resolution * (graph[g].sum() / total) ** 2 for g in groups)


@pytest.mark.parametrize("resolution", [0.3, 1.0, 2.5])
def test_no_vertex_is_better_elsewhere(resolution):
    rng = np.random.default_rng(0)
    for seed in range(5):
        half = np.triu(rng.random((20, 20)) ** 4, 1)
        graph = half + half.T
        labels = communities(graph, resolution, seed=seed, n_rounds=10)
        best = quality(graph, labels, resolution)
        for vertex, other in product(range(20), range(labels.max() + 2)):
            moved = labels.copy()
            moved[vertex] = other
            assert quality(graph, moved, resolution) <= best + 1e-12


def test_blocks_are_found_dense_or_sparse_in_order_of_appearance():
    graph, of = blocks([8, 5, 3])
    for given in (graph, sparse.csr_array(graph), Network.of(graph)):
        np.testing.assert_array_equal(communities(given), of)


def test_one_seed_gives_one_result():
    rng = np.random.default_rng(0)
    graph = sparse.random_array((200, 200), density=0.05, rng=rng)
    graph = graph + graph.T
    first = communities(graph, 2.0, seed=3)
    np.testing.assert_array_equal(first, communities(graph * 7, 2.0, seed=3))  # whatever the unit of edges
    assert any((communities(graph, 2.0, seed=seed) != first).any() for seed in range(4, 9))


def test_a_vertex_without_edges_stands_alone():
    graph, of = blocks([6, 6])
    lonely = np.zeros((14, 14))
    lonely[1:13, 1:13] = graph
    np.testing.assert_array_equal(communities(lonely), [0, *(of + 1), 3])


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 9, 23, 60])
def test_there_are_exactly_as_many_as_asked_for(n_clusters):
    graph, _ = blocks([15] * 4, between=0.1)
    rng = np.random.default_rng(0)
    noisy = graph * rng.random(graph.shape) ** 3
    labels = communities_of_number(noisy + noisy.T, n_clusters)
    assert sorted(set(labels.tolist())) == list(range(n_clusters))


def test_resolutions_that_are_tried_at_a_time_give_what_they_give_one_after_the_other(monkeypatch):
    monkeypatch.setattr("kernelbraid.solvers.communities.ORDER", 100)
    noise = np.random.default_rng(1).random((150, 150)) ** 6
    for n_clusters in (2, 5, 9, 40):
        found = []
        for threads in (1, 2, 8):
            with calm(threads):
                found.append(steady_communities(noise + noise.T, n_clusters))
        assert len({(one.resolution, one.certainty, tuple(one.labels)) for one in found}) == 1


def test_the_number_of_blocks_gives_the_blocks_also_where_more_of_them_fall_apart():
    graph, of = blocks([12, 9, 6])
    np.testing.assert_array_equal(communities_of_number(graph, 3), of)
    apart, of = blocks([9, 8, 7, 6], between=0.0)
    joined = communities_of_number(apart, 2)
    assert {int(max(joined[of == block])) for block in range(4)} == {0, 1}
    assert all(len(set(joined[of == block])) == 1 for block in range(4))  # whole components


def test_blocks_are_steady_and_noise_is_not():
    graph, of = blocks([30, 30, 20], between=0.05)
    found = steady_communities(graph, 3)
    np.testing.assert_array_equal(found.labels, of)
    assert found.steadiness() == pytest.approx(1.0)
    np.testing.assert_array_equal(communities(graph, found.resolution), of)
    noise = np.random.default_rng(0).random((80, 80)) ** 8
    assert steady_communities(noise + noise.T, 3).steadiness() < 0.5


def test_of_several_runs_the_most_modular_is_taken():
    noise = np.random.default_rng(1).random((90, 90)) ** 6
    graph = noise + noise.T
    np.fill_diagonal(graph, 0.0)
    found = steady_communities(graph, 5, seed=7, n_same=6)
    assert len(set(found.labels.tolist())) == 5
    first = communities_of_number(graph, 5, seed=7)
    assert quality(graph, found.labels, found.resolution) >= quality(graph, first, found.resolution) - 1e-12


def test_a_graph_without_edges_or_with_negative_ones_has_no_communities():
    with pytest.raises(ValueError, match=r"^The graph joins no two samples, and without edges"):
        communities(np.eye(4))
    with pytest.raises(ValueError, match=r"^The graph has negative edges \(the least is -0\.5\)"):
        communities(sparse.csr_array([[0, -0.5], [-0.5, 0]]))
