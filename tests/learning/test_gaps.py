import numpy as np
import pytest
from scipy import sparse

from kernelbraid.learning.learn import LESS, MORE, bridged
from kernelbraid.ops.graphs import normalised_graph

N = 30


def ring(rows):
    """Neighbours on a ring, among some of the samples."""
    graph = np.zeros((N, N))
    for i in rows:
        for j in rows:
            if min((i - j) % N, (j - i) % N) in (1, 2):
                graph[i, j] = 1.0
    return normalised_graph(sparse.csr_array(graph))


def has(*lacking):
    there = np.ones(N, dtype=bool)
    there[list(lacking)] = False
    return there


EVERYBODY, LACKING = has(), has(4, 5, 20)
GRAPHS = {0: ring(range(N)), 1: ring(np.flatnonzero(LACKING))}


def test_views_that_have_all_samples_get_no_further_edge():
    assert bridged({0: GRAPHS[0]}, [EVERYBODY], 4) == []
    assert len(bridged(GRAPHS, [EVERYBODY, LACKING], 4)) == 1


def test_edges_are_symmetric_and_belong_to_samples_that_are_lacking():
    (found,) = bridged(GRAPHS, [EVERYBODY, LACKING], 4)
    edges = found.toarray()
    np.testing.assert_array_equal(edges, edges.T)
    assert (edges >= 0).all()
    assert not edges[np.ix_(LACKING, LACKING)].any()
    assert not edges[np.ix_(~LACKING, ~LACKING)].any()  # nobody who lacks the view is anybody's neighbour there


def test_a_sample_is_near_the_neighbours_there_of_its_neighbours_elsewhere():
    (found,) = bridged(GRAPHS, [EVERYBODY, LACKING], None)
    np.testing.assert_array_equal(np.flatnonzero(found.toarray()[20]), [16, 17, 18, 19, 21, 22, 23, 24])


def test_what_it_weighs_is_a_share_of_what_is_usual_in_the_view():
    (found,) = bridged(GRAPHS, [EVERYBODY, LACKING], 4)
    usual = GRAPHS[1].sum(axis=1)[LACKING].mean()
    np.testing.assert_allclose(found.sum(axis=1)[~LACKING], LESS * usual)


@pytest.mark.parametrize("n_neighbors", [1, 2])
def test_the_strongest_edges_stay(n_neighbors):
    (every,) = bridged(GRAPHS, [EVERYBODY, LACKING], None)
    (few,) = bridged(GRAPHS, [EVERYBODY, LACKING], n_neighbors)
    for sample in np.flatnonzero(~LACKING):
        row, kept = every.toarray()[sample], np.flatnonzero(few.toarray()[sample])
        assert len(kept) == MORE * n_neighbors
        assert row[kept].min() >= np.delete(row, kept).max()


def test_a_sample_without_a_neighbour_who_has_the_view_gets_nothing():
    alone = sparse.csr_array((np.ones(2), ([0, 1], [1, 0])), shape=(N, N))  # both lack the view
    lacking = has(0, 1)
    (found,) = bridged({0: alone, 1: ring(np.flatnonzero(lacking))}, [EVERYBODY, lacking], 4)
    assert found.nnz == 0


def test_each_view_is_bridged_by_all_others():
    gaps = [has(1), has(2), EVERYBODY]
    graphs = {view: ring(np.flatnonzero(there)) for view, there in enumerate(gaps)}
    first, second = bridged(graphs, gaps, 4)
    assert first.toarray()[1].any()
    assert not first.toarray()[2, has(1)].any()
    assert second.toarray()[2].any()
