import numpy as np
import pytest
from scipy import sparse

from kernelbraid.metrics import ari
from kernelbraid.solvers.kmeans import kmeans
from kernelbraid.solvers.pieces import cut, join, settle


def blocks(sizes, weak=0.01, seed=0):
    """Return a dense graph with strong edges in blocks and weak ones between them, and the blocks."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    A = np.where(y[:, None] == y, 1.0, weak) * rng.uniform(0.5, 1.5, (y.size, y.size))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 0.0)
    return A, y


def halves(y):
    """Return a piece for each half of every class."""
    return 2 * y + np.arange(y.size) % 2


@pytest.mark.parametrize("sizes", [(20, 20), (60, 12, 9), (5, 30, 5, 30)])
def test_halves_of_blocks_are_joined(sizes):
    for form in [np.asarray, sparse.csr_array]:
        A, y = blocks(sizes)
        assert ari(y, join(form(A), halves(y), len(sizes))) == 1.0


def test_joining_maximises_the_edges_between_over_the_power_of_the_volumes_at_every_step():
    rng = np.random.default_rng(3)
    A = rng.random((30, 30))
    A = A + A.T
    pieces = rng.permutation(np.arange(30) % 6)
    for power in (0.5, 0.85, 1.0):
        groups = [set(np.flatnonzero(pieces == piece)) for piece in range(6)]
        for left in (5, 4, 3, 2, 1):

            def close(a, b, power=power):
                a, b = sorted(a), sorted(b)
                volumes = A[a].sum() * A[b].sum()
                return A[np.ix_(a, b)].sum() / volumes**power

            pairs = [(close(a, b), i, j) for i, a in enumerate(groups) for j, b in enumerate(groups) if i < j]
            _, i, j = max(pairs)
            groups = [group for at, group in enumerate(groups) if at not in (i, j)] + [groups[i] | groups[j]]
            expected = np.empty(30, dtype=int)
            for label, group in enumerate(groups):
                expected[sorted(group)] = label
            assert ari(expected, join(A, pieces, left, closeness=power)) == pytest.approx(1.0)


def test_joining_does_not_depend_on_the_scale_of_the_edges_nor_on_the_numbers_of_the_pieces():
    A, y = blocks((15, 8, 25), weak=0.2)
    pieces = halves(y)
    found = join(A, pieces, 3)
    np.testing.assert_array_equal(join(1e-30 * A, pieces, 3), found)
    assert ari(join(A, 7 - pieces, 3), found) == 1.0
    assert ari(join(A, 10 * pieces, 3), found) == 1.0  # numbers with gaps


def test_pieces_without_edges_between_them_join_from_the_smallest_on():
    A, _ = blocks((4, 6, 9, 12), weak=0.0)
    y = np.repeat(np.arange(4), (4, 6, 9, 12))
    joined = join(A, y, 3)
    assert len(set(joined)) == 3
    assert joined[0] == joined[5]
    assert len(set(join(np.zeros((6, 6)), np.arange(6), 2))) == 2  # no edges at all


def test_fewer_pieces_than_clusters_stay():
    A, y = blocks((5, 5))
    np.testing.assert_array_equal(join(A, y, 4), y)


def test_negative_edges_count_as_none():
    A, y = blocks((10, 10))
    without = np.where(A < 0.1, 0, A)
    np.testing.assert_array_equal(join(np.where(A < 0.1, -A, A), halves(y), 2), join(without, halves(y), 2))


def test_every_vertex_settles_where_most_of_its_edges_go():
    A, y = blocks((10, 12))
    wrong = y.copy()
    wrong[[0, 15]] = 1 - wrong[[0, 15]]
    np.testing.assert_array_equal(settle(A, wrong), y)
    np.testing.assert_array_equal(settle(sparse.csr_array(A), wrong), y)
    np.testing.assert_array_equal(settle(A + 100 * np.eye(22), wrong), y)  # edges to oneself say nothing


def test_no_cluster_is_lost_when_vertices_settle_and_those_without_edges_stay():
    A, y = blocks((10, 1), weak=0.5)
    np.testing.assert_array_equal(settle(A, y), y)
    np.testing.assert_array_equal(settle(np.zeros((4, 4)), np.array([0, 1, 1, 0])), [0, 1, 1, 0])


@pytest.mark.parametrize("spread", [True, False])
def test_cuts_are_local_minima_of_k_means_each_from_starts_of_its_own(spread):
    X = np.random.default_rng(0).normal(size=(80, 3))
    cuts = cut(X, 6, n_cuts=4, n_init=3, random_state=np.random.RandomState(0), spread=spread)
    assert cuts.shape == (4, 80)
    for pieces in cuts:
        assert set(pieces) == set(range(6))
        centres = np.stack([X[pieces == piece].mean(axis=0) for piece in range(6)])
        np.testing.assert_array_equal(((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1), pieces)
    assert min(ari(cuts[0], other) for other in cuts[1:]) < 1


def test_one_cut_is_k_means_from_spread_starts():
    X = np.random.default_rng(1).normal(size=(60, 4))
    options = {"n_init": 5, "random_state": np.random.RandomState(7)}
    found = cut(X, 5, n_cuts=1, **options)[0]
    expected = kmeans(X, 5, n_init=5, random_state=np.random.RandomState(7), spread=True).labels
    np.testing.assert_array_equal(found, expected)
