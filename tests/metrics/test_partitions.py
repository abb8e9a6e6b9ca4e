import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, silhouette_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from kernelbraid.metrics import agreement, ami, balance, cut_share, kernel_silhouette, kernel_silhouettes, modularity
from kernelbraid.metrics.partitions import adjusted_rand, contingency, joined_pairs, number_labels
from problems import blobs


def test_the_silhouette_of_the_linear_kernel_is_that_of_the_samples():
    X, _ = blobs(n=50, k=4)
    labels = np.random.default_rng(0).integers(4, size=50)
    assert kernel_silhouette(X @ X.T, labels) == pytest.approx(silhouette_score(X, labels))


def test_the_silhouette_does_not_depend_on_names_or_order():
    X, y = blobs(n=30)
    order = np.random.default_rng(0).permutation(30)
    K = X @ X.T
    value = kernel_silhouette(K, y)
    assert kernel_silhouette(K[np.ix_(order, order)], 10 - 3 * y[order]) == pytest.approx(value)
    assert kernel_silhouette(5 * K, y) == pytest.approx(value)


def test_clusters_of_one_sample_count_nothing():
    X, _ = blobs(n=12)
    labels = np.array([0] * 5 + [1] * 6 + [2])
    assert kernel_silhouette(X @ X.T, labels) == pytest.approx(silhouette_score(X, labels))


@pytest.mark.parametrize("labels", [np.zeros(6), np.arange(6)])
def test_one_cluster_or_one_for_each_sample_has_no_silhouette(labels):
    assert kernel_silhouette(np.eye(6), labels) == 0


def test_coinciding_samples_are_defined():
    assert kernel_silhouette(np.ones((4, 4)), [0, 0, 1, 1]) == 0


def test_silhouettes_of_several_clusterings_are_those_of_each():
    X, y = blobs(n=40, k=4)
    K = X @ X.T
    labellings = [y, y % 2, np.zeros(40), np.arange(40), ["a"] * 20 + ["b"] * 20]
    expected = [kernel_silhouette(K, labels) for labels in labellings]
    np.testing.assert_array_equal(kernel_silhouettes(K, labellings), expected)
    assert kernel_silhouettes(K, []).shape == (0,)
    with pytest.raises(ValueError, match="for 39 labels"):
        kernel_silhouettes(K, [y, y[1:]])


def test_modularity_of_separate_cliques_is_one_less_their_share():
    graph = np.kron(np.eye(4), np.ones((5, 5)))
    labels = np.repeat(np.arange(4), 5)
    assert modularity(graph, labels) == pytest.approx(1 - 1 / 4)
    assert modularity(sparse.csr_matrix(graph), labels) == pytest.approx(1 - 1 / 4)
    assert modularity(graph, np.zeros(20)) == pytest.approx(0)
    assert modularity(np.zeros((20, 20)), labels) == 0


def test_modularity_is_its_definition():
    rng = np.random.default_rng(0)
    S = rng.random((12, 12))
    S = S + S.T
    labels = rng.integers(3, size=12)
    degrees, total = S.sum(axis=1), S.sum()
    same = labels[:, None] == labels[None, :]
    expected = ((S - np.outer(degrees, degrees) / total) * same).sum() / total
    assert modularity(S, labels) == pytest.approx(expected)


def test_balance_is_one_for_equal_sizes_and_falls_with_unequal_ones():
    assert balance([0, 0, 1, 1, 2, 2]) == pytest.approx(1)
    assert balance([5, 5, 5, 9]) == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)) / np.log(2))
    assert balance([1, 1, 1]) == 0


def test_agreement_is_highest_for_what_most_find():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    noisy = [np.where(rng.random(60) < 0.1, rng.integers(3, size=60), y) for _ in range(5)]
    found = agreement([*noisy, rng.permutation(y)])
    assert found.argmin() == 5
    expected = np.mean([adjusted_rand_score(noisy[0], other) for other in noisy[1:]])
    assert agreement(noisy)[0] == pytest.approx(expected)
    assert agreement([y, y, (y + 1) % 3]) == pytest.approx(np.ones(3))
    assert agreement([y]) == pytest.approx([0])


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 1000))
def test_agreement_is_the_mean_of_the_indices_of_all_pairs(n, k, seed):
    rng = np.random.default_rng(seed)
    labellings = [rng.integers(k, size=n) for _ in range(3)] + [
        np.arange(n),
        np.zeros(n),
        [f"{i % 3}" for i in range(n)],
    ]
    table = np.array([[adjusted_rand_score(a, b) for b in labellings] for a in labellings])
    expected = (table.sum(axis=1) - 1) / 5
    np.testing.assert_allclose(agreement(labellings), expected, atol=1e-12)


def test_agreement_needs_labels_of_the_same_samples():
    with pytest.raises(ValueError, match="3 labels and y_pred has 2"):
        agreement([[0, 0, 1], [0, 1]])


def test_labels_of_other_samples_are_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 3\) for 4 labels"):
        modularity(np.eye(3), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="give one for each sample"):
        balance([[0, 1]])


@given(st.integers(2, 40), st.integers(1, 8), st.integers(1, 8), st.integers(0, 1000))
def test_ami_is_that_of_scikit_learn(n, k, m, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(k, size=n), rng.integers(m, size=n)
    np.testing.assert_allclose(ami(a, b), adjusted_mutual_info_score(a, b), atol=1e-9)


def test_ami_of_many_small_clusters_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = rng.integers(300, size=500), rng.integers(400, size=500)
    np.testing.assert_allclose(ami(a, b), adjusted_mutual_info_score(a, b), atol=1e-9)
    assert ami(np.arange(500), 499 - np.arange(500)) == 1.0


def test_ami_knows_names_from_clusters_and_chance_from_agreement():
    rng = np.random.default_rng(0)
    a = rng.integers(12, size=600)
    assert ami(a, 11 - a) == pytest.approx(1.0, abs=1e-12)
    assert abs(ami(a, rng.integers(12, size=600))) < 0.05
    with pytest.raises(ValueError, match="600 labels and y_pred has 599"):
        ami(a, a[1:])


def test_the_share_that_is_cut_is_the_normalised_cut_over_the_number_of_clusters():
    rng = np.random.default_rng(0)
    A = rng.random((20, 20))
    A = A + A.T
    labels = np.arange(20) % 3
    expected = np.mean([A[np.ix_(labels == c, labels != c)].sum() / A[labels == c].sum() for c in range(3)])
    assert cut_share(A, labels) == pytest.approx(expected)
    assert cut_share(sparse.csr_array(A), 5 * labels) == pytest.approx(expected)


def test_nothing_is_cut_of_one_cluster_and_of_components():
    A = np.kron(np.eye(2), np.ones((3, 3)))
    assert cut_share(A, np.zeros(6)) == 0.0
    assert cut_share(A, [0, 0, 0, 1, 1, 1]) == pytest.approx(0.0)
    assert cut_share(np.zeros((4, 4)), [0, 0, 1, 1]) == 1.0  # clusters without edges hold nothing


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
