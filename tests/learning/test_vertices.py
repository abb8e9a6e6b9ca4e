import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG
from kernelbraid.learning.sources import Views
from kernelbraid.learning.vertices import Vertices

X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0], [1.0, 2.0]])


def vertices(weights=None, **options):
    return Vertices.of(Views([X]), weights, **options)


def test_equal_rows_are_one_vertex_that_counts_as_often_as_they_occur():
    found = vertices()
    assert sorted(found.first.tolist()) == [0, 1, 3]
    np.testing.assert_array_equal(X[found.first][found.index], X)
    np.testing.assert_allclose(found.spread(found.counts), np.array([3, 1, 3, 1, 3]) * 3 / 5)


def test_weights_are_summed_and_a_sample_without_weight_is_no_vertex():
    found = vertices([1, 2, 1, 0, 0])
    assert found.index.tolist() == [0, 1, 0, -1, 0]
    assert found.counts is None  # two and two
    assert found.silent.tolist() == [3]


def test_all_rows_twice_count_as_all_rows_once():
    once, twice = (Vertices.of(Views([A])) for A in (X[[0, 1, 3]], X[[0, 1, 3, 0, 1, 3]]))
    assert once.counts is None
    assert twice.counts is None
    assert once.n_counted == twice.n_counted == 3


def test_samples_stay_apart_where_they_are_to_be_taken_as_they_come():
    found = vertices(are_joined=False)
    assert not found.are_others
    assert found.counts is None


def test_vertices_do_not_hang_on_the_order_of_the_samples():
    other = np.array([3, 0, 4, 2, 1])
    one, two = vertices(), Vertices.of(Views([X[other]]))
    np.testing.assert_array_equal(X[one.first], X[other][two.first])


def test_samples_are_copies_where_they_are_equal_in_the_views_that_count():
    rng = np.random.default_rng(0)
    rows = np.r_[np.arange(60), np.arange(30)]
    places = rng.normal(0, 2, (3, 4))[np.arange(60) % 3]
    views = [(places + rng.normal(size=places.shape))[rows] for _ in range(2)]
    alone = LKG(3, random_state=0).fit(views)
    with pytest.warns(UserWarning, match="view 3 shares neighbours with no other view"):
        beside = LKG(3, random_state=0).fit([*views, rng.normal(size=(90, 5))])
    np.testing.assert_array_equal(beside.labels_, alone.labels_)
    np.testing.assert_allclose(beside.graph_.toarray(), alone.graph_.toarray())


def test_edges_between_two_vertices_are_shared_out_among_their_copies():
    known = vertices()
    order = known.index[[0, 1, 3]]
    edges = np.zeros((3, 3))
    edges[np.ix_(order, order)] = [[0.0, 6.0, 3.0], [6.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
    found = known.graph(sparse.csr_array(edges)).toarray()
    np.testing.assert_array_equal(found, found.T)
    copies = np.array([0, 2, 4])
    np.testing.assert_allclose(found[copies, 1], [2.0, 2.0, 2.0])
    np.testing.assert_allclose(found[copies, 3], [1.0, 1.0, 1.0])
    assert found[1, 3] == 1.0


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([1, 2, 3], r"sample_weight has shape \(3,\); give one number for each of 5 samples"),
        ([1, 1, -1, 1, 1], "numbers from 0 on; sample 2 .* has -1"),
        ([1, np.nan, 1, 1, 1], "sample 1 .* has nan"),
        (np.zeros(5), "zero for every sample"),
    ],
)
def test_weights_that_are_none_are_refused(weights, told):
    with pytest.raises(ValueError, match=told):
        vertices(weights)


def test_weights_where_samples_are_taken_as_they_come_are_refused():
    with pytest.raises(ValueError, match="one linear system"):
        vertices([1, 2, 1, 1, 1], are_joined=False)
