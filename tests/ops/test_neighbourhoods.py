import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.ops.closed_forms import Neighbourhoods, kernel_distances, nearest_graph

X = np.random.default_rng(0).normal(size=(12, 3))
D = ((X[:, None] - X[None]) ** 2).sum(axis=2)


def test_distances_are_those_of_the_samples(xp):
    found = to_numpy(kernel_distances(xp.asarray(X @ X.T)))
    np.testing.assert_allclose(found, D, atol=1e-8)
    assert (np.diagonal(found) == 0).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_distances_that_differ_by_rounding_are_equal(kind):
    K = (np.eye(40) * 0.3).astype(kind)
    noise = np.random.default_rng(0).normal(size=(40, 40)).astype(kind) * np.finfo(kind).eps / 8
    found = kernel_distances(K + noise + noise.T)
    assert len(np.unique(found)) == 2  # of a sample from itself, and from any other


def test_samples_in_one_place_have_no_distance():
    np.testing.assert_array_equal(kernel_distances(np.ones((4, 4))), 0)


def test_the_nearest_are_those_of_smallest_distance(xp):
    for by_order in [False, True]:
        found = Neighbourhoods.of(xp.asarray(D), 4, by_order=by_order)
        order = np.argsort(D, axis=1)
        for i in range(12):
            assert set(np.flatnonzero(to_numpy(found.near)[i])) == set(order[i, 1:5])
            assert set(np.flatnonzero(to_numpy(found.next)[i])) == {order[i, 5]}


def test_the_order_of_the_samples_chooses_among_equal_distances_only_where_asked():
    ties = np.ones((6, 6)) - np.eye(6)
    ties[0, 3] = ties[3, 0] = 0.5
    by_order, strict = (Neighbourhoods.of(ties, 2, by_order=choice) for choice in (True, False))
    assert np.flatnonzero(by_order.near[0]).tolist() == [1, 3]
    assert np.flatnonzero(by_order.next[0]).tolist() == [2]
    assert np.flatnonzero(strict.near[0]).tolist() == [3]
    assert np.flatnonzero(strict.next[0]).tolist() == [1, 2, 4, 5]
    assert not strict.near[1].any()


def test_copies_of_a_sample_are_near_to_it_and_it_is_not_near_to_itself():
    copies = np.repeat(np.repeat(D[:4, :4], 3, axis=0), 3, axis=1)
    near = Neighbourhoods.of(copies, 4, by_order=False).near
    assert not np.diagonal(near).any()
    assert near[4, 3]
    assert near[4, 5]
    assert near[3, 4]


def test_rows_lie_on_the_simplex_and_minimise_their_cost(xp):
    S = to_numpy(nearest_graph(xp.asarray(D), Neighbourhoods.of(xp.asarray(D), 4, by_order=True)))
    assert (np.count_nonzero(S, axis=1) == 4).all()
    np.testing.assert_allclose(S.sum(axis=1), 1)
    order = np.argsort(D, axis=1)
    for i, row in enumerate(S):
        last = D[i, order[i, 5]]
        weight = (4 * last - D[i, order[i, 1:5]].sum()) / 2
        price = D[i] + 2 * weight * row  # the derivative of sum_j d_ij s_j + a s_j^2
        np.testing.assert_allclose(price[row > 0], last)
        others = (row == 0) & (np.arange(12) != i)
        assert (price[others] >= last - 1e-12).all()


def test_edges_that_cost_more_than_the_next_one_are_left_out():
    near = Neighbourhoods.of(D, 4, by_order=True)
    i, j = 0, int(np.flatnonzero(near.near[0])[0])
    costs = D.copy()
    costs[i, j] = D[i][near.next[i]][0] + 1e-6
    assert nearest_graph(costs, near)[i, j] == 0
