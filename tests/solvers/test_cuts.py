import numpy as np
import pytest
from scipy import sparse

from kernelbraid.metrics import ari
from kernelbraid.solvers.communities import Network
from kernelbraid.solvers.cuts import Known, cut_again, support

SIZES = (120, 40, 30, 30)


def planted(seed=0, inside=16.0, between=0.6):
    """Random edges: about so many of a vertex within its block, and to others."""
    rng, of = np.random.default_rng(seed), np.repeat(np.arange(len(SIZES)), SIZES)
    odds = np.where(of[:, None] == of, (inside / np.array(SIZES))[of][:, None], between / len(of))
    half = np.triu(rng.random(odds.shape) < odds, 1).astype(float)
    return sparse.csr_array(half + half.T), of


def test_nothing_supports_a_cut_that_no_graph_makes_and_all_supports_one_that_each_makes():
    whole, sizes = np.array([0.9, 0.6, 0.8]), (np.array([10.0, 5.0, 30.0]), np.array([30.0, 5.0, 10.0]))
    shares = [size / (sizes[0] + sizes[1]) for size in sizes]
    np.testing.assert_allclose(support(whole * shares[0], whole * shares[1], whole, sizes), 0, atol=1e-12)
    np.testing.assert_allclose(support(whole, whole, whole, sizes), 1)
    one, other = np.array([0.5, 0.4, 0.7]), np.array([0.8, 0.5, 0.3])
    np.testing.assert_allclose(support(one, other, whole, sizes), support(other, one, whole, sizes[::-1]))


def test_steadiness_is_the_mean_of_the_largest_jaccard_indices():
    graph, of = planted(between=3.0)
    known, sizes = Known(Network.of(graph), 1.0, 0), np.bincount(of).astype(float)
    found = known.steadiness(known.shared(of), sizes)
    for block, value in enumerate(found):
        mine, best = of == block, []
        for communities in known.others:
            sets = communities.toarray().astype(bool).T
            best.append(max((mine & other).sum() / (mine | other).sum() for other in sets))
        assert value == pytest.approx(np.mean(best))
    assert found.max() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_a_block_that_was_cut_is_whole_again_and_two_that_were_one_are_two(seed):
    graph, of = planted(seed)
    wrong = np.where((of == 0) & (np.arange(len(of)) % 2 == 0), 4, of)
    wrong = np.unique(np.where(of == 3, 2, wrong), return_inverse=True)[1]
    found = cut_again(graph, wrong, 1.0, seed=seed)
    assert found.max() == wrong.max()
    assert ari(of, found) > 0.95 > ari(of, wrong)


def test_what_is_supported_stays_and_so_do_two_clusters_and_those_of_noise():
    graph, of = planted()
    halves = (np.arange(len(of)) % 2).astype(np.int64)
    noise, _ = planted(inside=0.0, between=10.0)
    for given, labels in ((graph, of), (graph, halves), (noise, of)):
        np.testing.assert_array_equal(cut_again(given, labels, 1.0), labels)


def test_a_part_that_is_cut_off_is_large_enough():
    graph, of = planted()
    wrong = np.where((of == 0) & (np.arange(len(of)) % 2 == 0), 3, np.where(of == 3, 2, of))
    assert ari(wrong, cut_again(graph, wrong, 1.0, smallest=100.0)) == 1.0
