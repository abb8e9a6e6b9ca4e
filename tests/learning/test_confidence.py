"""How sure labels are."""

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.learning.confidence import from_centres, matched, of_labels, one_hot, votes, walked
from kernelbraid.learning.confidence import memberships as memberships_of
from kernelbraid.ops.graphs import spectral_embedding


@pytest.fixture
def two_blocks():
    """Two cliques of ten samples, joined by a path through sample 20, which has as many edges to either."""
    G = np.zeros((21, 21))
    G[:10, :10] = G[10:20, 10:20] = 1.0
    for neighbour in (0, 1, 10, 11):
        G[20, neighbour] = G[neighbour, 20] = 1.0
    np.fill_diagonal(G, 0.0)
    return sparse.csr_array(G), np.repeat([0, 1, 0], [10, 10, 1])


def memberships(G, labels, k, **options):
    """Return the memberships in the embedding that a fit would have found."""
    spectrum = options.get("spectrum", "largest")
    return memberships_of(G, spectral_embedding(G, k, spectrum=spectrum), labels, k, **options)


def test_rows_sum_to_one_and_clear_samples_are_sure(two_blocks):
    G, labels = two_blocks
    M = memberships(G, labels, 2)
    np.testing.assert_allclose(M.sum(axis=1), 1.0)
    assert M.min() >= 0
    assert (of_labels(M, labels)[:20] > 0.9).all()


def test_a_sample_between_two_clusters_is_the_least_sure(two_blocks):
    G, labels = two_blocks
    sure = of_labels(memberships(G, labels, 2), labels)
    assert np.argmin(sure) == 20
    assert sure[20] < 0.75


def test_a_wrong_label_is_the_least_sure(two_blocks):
    G, labels = two_blocks
    labels = labels.copy()
    labels[5] = 1
    M = memberships(G, labels, 2)
    assert np.argmin(of_labels(M, labels)) == 5
    assert M[5].argmax() == 0


def test_dense_and_sparse_graphs_agree(two_blocks):
    G, labels = two_blocks
    np.testing.assert_allclose(memberships(G.toarray(), labels, 2), memberships(G, labels, 2), atol=1e-6)


def test_labels_walk_two_steps_and_never_stay(two_blocks):
    G, labels = two_blocks
    P = G.toarray() / G.toarray().sum(axis=1, keepdims=True)
    np.testing.assert_allclose(walked(G, one_hot(labels, 2)), P @ P @ one_hot(labels, 2))
    looped = G.toarray() + 5 * np.eye(21)
    np.testing.assert_allclose(walked(looped, one_hot(labels, 2)), P @ P @ one_hot(labels, 2))


def test_a_sample_without_edges_gets_even_shares():
    G = sparse.csr_array(np.diag([0.0, 0.0, 0.0, 0.0]) + np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]))
    np.testing.assert_allclose(walked(G, one_hot(np.array([0, 0, 1, 2]), 3))[2:], 1 / 3)


def test_memberships_follow_the_names_of_the_clusters(two_blocks):
    G, labels = two_blocks
    np.testing.assert_allclose(memberships(G, 1 - labels, 2), memberships(G, labels, 2)[:, ::-1], atol=1e-6)


def test_votes_are_shares_of_the_replicates_and_repeat(two_blocks):
    G, labels = two_blocks
    V = votes(G, labels, 2, "largest")
    np.testing.assert_allclose(V.sum(axis=1), 1.0)
    np.testing.assert_array_equal(V, votes(G, labels, 2, "largest"))


def test_copies_share_their_memberships(two_blocks):
    G, labels = two_blocks
    copies = np.arange(21)
    copies[20] = 0
    M, alone = memberships(G, labels, 2, copies=copies), memberships(G, labels, 2)
    np.testing.assert_allclose(M[20], M[0])
    np.testing.assert_allclose(M[0], (alone[0] + alone[20]) / 2)
    np.testing.assert_allclose(M[1:20], alone[1:20])


def test_memberships_are_the_mean_of_three(two_blocks):
    G, labels = two_blocks
    given, X = one_hot(labels, 2), spectral_embedding(G, 2)
    three = walked(G, given) + from_centres(X, given) + votes(G, labels, 2, "largest")
    np.testing.assert_allclose(memberships_of(G, X, labels, 2), three / 3)


def test_a_cluster_without_samples_has_no_centre():
    shares = from_centres(np.array([[0.0], [1.0], [5.0]]), one_hot(np.array([0, 0, 2]), 3))
    np.testing.assert_array_equal(shares[:, 1], 0.0)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), [0, 0, 2])


def test_one_cluster_has_all():
    np.testing.assert_array_equal(memberships(np.ones((3, 3)), np.zeros(3, dtype=int), 1), np.ones((3, 1)))


def test_matching_renames_labels_one_by_one():
    labels = np.array([0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(matched(labels, np.array([2, 2, 0, 0, 1, 1]), 3), labels)
    np.testing.assert_array_equal(matched(labels, np.array([1, 1, 1, 1, 0, 0]), 3)[4:], [2, 2])


def test_every_embedding_serves(two_blocks):
    for spectrum in ["largest", "magnitude", "unnormalised", "random_walk"]:
        G, labels = two_blocks
        assert (of_labels(memberships(G, labels, 2, spectrum=spectrum), labels)[:20] > 0.5).all()
