import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from kernelbraid.metrics.counts import adjusted_rand, contingency, joined_pairs, number_labels, shared_sizes


@st.composite
def partitions(draw):
    n, seed = draw(st.integers(1, 60)), draw(st.integers(0, 9999))
    rng = np.random.default_rng(seed)
    return tuple(number_labels(rng.integers(draw(st.integers(1, 60)), size=n)) for _ in range(2))


@given(partitions())
def test_counts_are_those_of_scikit_learn(labels):
    np.testing.assert_array_equal(contingency(*labels), contingency_matrix(*labels))
    (_, by_clusters), (by_classes, both) = pair_confusion_matrix(*labels).tolist()
    assert joined_pairs(*labels) == (both, by_clusters, by_classes)
    assert adjusted_rand(*labels) == adjusted_rand_score(*labels)


@given(partitions())
def test_shared_sizes_are_the_filled_places_of_the_table(labels):
    table = contingency(*labels)
    rows, columns, sizes = shared_sizes(*labels)
    np.testing.assert_array_equal(np.argwhere(table), np.stack([rows, columns], axis=1))
    np.testing.assert_array_equal(table[rows, columns], sizes)


def test_pairs_of_very_many_small_groups_need_no_table():
    y = np.arange(300_000)  # a table of all pairs of groups would not fit
    assert joined_pairs(y, y[::-1]) == (0, 0, 0)
    assert adjusted_rand(y, y) == 1.0


def test_labels_are_numbered_in_their_order_without_gaps():
    for dtype in [np.int8, np.uint64, np.int64, np.float64, str, object]:
        for values in ([2, 0, 2, 5], [0, 1, 2, 0], [7, 7], [90, 3]):
            values = np.array(values).astype(dtype)
            np.testing.assert_array_equal(number_labels(values), np.unique(values, return_inverse=True)[1])
        assert number_labels(np.array([-1, 3, -1])).tolist() == [0, 1, 0]
        assert number_labels(np.array([10**15, 0])).tolist() == [1, 0]
