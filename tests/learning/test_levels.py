import numpy as np
import pytest
from scipy import sparse

from kernelbraid.learning.levels import Level, Search, doubts, levels_of, persistence, reliability_of, sentences
from kernelbraid.metrics import ari
from kernelbraid.solvers.communities import Network
from kernelbraid.solvers.kmeans import dissolve


def block_graph(sizes, within=0.6, between=0.01, seed=0):
    """A graph with dense blocks and a few edges between them."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(y[:, None] == y, within, between)
    upper = np.triu(rng.random(chance.shape) < chance, 1).astype(float)
    return Network.of(sparse.csr_array(upper + upper.T)), y


def nested_graph():
    """A graph of three groups, each of which is made of three blocks."""
    rng = np.random.default_rng(0)
    fine, coarse = np.repeat(np.arange(9), 30), np.repeat(np.arange(3), 90)
    chance = np.where(fine[:, None] == fine, 0.5, np.where(coarse[:, None] == coarse, 0.05, 0.001))
    upper = np.triu(rng.random(chance.shape) < chance, 1).astype(float)
    return Network.of(sparse.csr_array(upper + upper.T)), coarse, fine


def chance_graph(n, n_edges, seed=0):
    """A graph without any structure."""
    upper = sparse.random_array((n, n), density=n_edges / n, rng=np.random.default_rng(seed))
    return Network.of(sparse.csr_array(upper + upper.T))


def taken(levels):
    (found,) = [level for level in levels if level.is_taken]
    return found


@pytest.mark.parametrize("sizes", [[20, 20, 20], [12, 15, 20, 25, 30, 18, 14], [40, 12], [25] * 30])
def test_blocks_are_counted(sizes):
    network, y = block_graph(sizes, between=0.2 / len(sizes) ** 2)
    found = taken(levels_of(network))
    assert found.n_clusters == len(sizes)
    assert ari(y, found.labels) == 1.0


def test_levels_go_from_coarse_to_fine_with_what_speaks_for_each():
    network, coarse, fine = nested_graph()
    levels = levels_of(network)
    numbers = [level.n_clusters for level in levels]
    assert numbers == sorted(numbers)
    assert {3, 9} <= set(numbers)
    for level, y in ((levels[numbers.index(3)], coarse), (levels[numbers.index(9)], fine)):
        assert ari(y, level.labels) > 0.97
        assert level.stability > 0.9
        assert 0 < level.agreement < 1
        inside, expected = network.sums(level.labels)
        assert level.modularity == pytest.approx(inside - expected)
    told = " ".join(sentences(levels))
    assert "Plausible as well" in told


def test_one_seed_gives_one_result_on_any_number_of_threads():
    network, _ = block_graph([15] * 6, between=0.1)
    one, two = (levels_of(network, seed=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    for mine, theirs in zip(one, two, strict=True):
        np.testing.assert_array_equal(mine.labels, theirs.labels)
        assert mine.score == theirs.score


def test_a_cloud_that_falls_apart_as_easily_leaves_one_cluster():
    levels = levels_of(chance_graph(300, 6), [chance_graph(300, 6, seed=1)])
    assert taken(levels) is levels[0]
    assert levels[0].n_clusters == 1
    assert "so that all samples were left in one" in doubts(levels)[0]
    assert reliability_of(chance_graph(300, 6), levels[0]) > 0.6


def test_a_cloud_with_fewer_samples_tells_as_much():
    levels = levels_of(chance_graph(600, 6), [chance_graph(300, 6, seed=1)])
    assert taken(levels).n_clusters == 1
    network, _ = block_graph([40, 50, 60])
    assert taken(levels_of(network, [chance_graph(75, 9)])).n_clusters == 3


def test_clear_clusters_are_not_doubted_for_a_cloud():
    network, _ = block_graph([40, 50, 60])
    levels = levels_of(network, [chance_graph(150, 9)])
    assert taken(levels).n_clusters == 3
    assert taken(levels).background < 0.3
    assert taken(levels).gain > 0.2
    assert doubts(levels) == []


def test_what_nearly_falls_apart_as_easily_is_doubted():
    level = Level(np.array([0, 0, 1, 1]), 1.0, 0.1, 1.0, 1.0, 1.0, 0.3, background=0.7, gain=0.05, is_taken=True)
    assert "may be none" in doubts([level])[0]


def test_where_a_graph_hardly_tells_the_coarsest_level_is_taken():
    levels = levels_of(chance_graph(600, 6, seed=1))
    assert len(levels) > 1
    assert levels[0].is_taken
    assert levels[0].score < 1.0
    assert "hardly tells" in sentences(levels)[-1]
    assert not any("hardly tells" in sentence for sentence in sentences(levels_of(nested_graph()[0])))


def test_the_components_of_a_graph_persist_at_all_lower_resolutions():
    alike = np.array([[1.0, 0.2, 0.2], [0.2, 1.0, 0.9], [0.2, 0.9, 1.0]])
    resolution = np.exp([0.0, 0.5, 1.0])
    low, down = persistence(alike, resolution), persistence(alike, resolution, reaches_down=True)
    assert low[0] == pytest.approx(0.2)
    assert down[0] > 0.9
    assert down[1] < low[1]
    np.testing.assert_array_equal(persistence(np.ones((1, 1)), np.ones(1)), 1.0)


def test_clusters_are_at_least_as_large_as_asked_for():
    network, y = block_graph([40, 40, 40, 3], between=0.02)
    assert np.bincount(taken(levels_of(network)).labels).min() >= 4
    large = taken(levels_of(network, smallest=30)).labels
    assert np.bincount(large).min() >= 30
    assert ari(y[:120], large[:120]) == 1.0


def test_samples_of_small_clusters_go_where_most_of_their_edges_go():
    graph = np.zeros((9, 9))
    for i, j, weight in [(0, 1, 1), (1, 2, 1), (3, 4, 1), (4, 5, 1), (6, 7, 5), (6, 2, 1), (7, 3, 2), (8, 8, 1)]:
        graph[i, j] = graph[j, i] = weight
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4])
    np.testing.assert_array_equal(dissolve(graph, labels, 2), [0, 0, 0, 1, 1, 1, 0, 1, 0])  # the last has no edges
    np.testing.assert_array_equal(dissolve(graph, labels, 1), labels)
    np.testing.assert_array_equal(dissolve(graph, labels, 9), labels)  # none is large enough
    np.testing.assert_array_equal(
        dissolve(graph, labels, 3, np.array([1, 1, 1, 1, 1, 1, 3, 2, 3.0])), [0, 0, 0, 1, 1, 1, 2, 2, 3]
    )
    chain = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3])
    line = np.diag(np.ones(8), 1)
    np.testing.assert_array_equal(dissolve(line + line.T, chain, 3), np.zeros(9))


def test_reliability_falls_where_the_edges_could_be_others():
    clear, vague = block_graph([30] * 4)[0], block_graph([30] * 4, within=0.25, between=0.1)[0]
    high, low = (reliability_of(network, taken(levels_of(network))) for network in (clear, vague))
    assert high > 0.8
    assert low < 0.5


def test_many_samples_are_searched_with_fewer_runs():
    efforts = [search.n_seeds * search.n_rounds / search.step for search in map(Search.of, (500, 5000, 50_000))]
    assert efforts == sorted(efforts, reverse=True)
