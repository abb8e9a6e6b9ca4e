"""Which samples stand aside."""

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.learning.outliers import (
    NEAREST,
    PENALTY,
    Unexplained,
    left_by_all,
    left_by_nearest,
    outlier_scores,
    score_of,
)


def gaussian(X):
    return np.exp(-squared_distances(X))


def squared_distances(X):
    return ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)


@pytest.fixture
def samples():
    """Thirty samples near the origin, and two far away that are each other's neighbours."""
    X = np.random.default_rng(0).normal(scale=0.3, size=(32, 2))
    X[30:] = [[3.0, 3.0], [-3.0, 3.0]]
    return X


def test_what_is_left_is_the_error_of_the_others(samples):
    K = gaussian(samples)
    found = left_by_all(K)
    for i in (0, 7, 31):
        others = np.delete(np.arange(32), i)
        k = K[others, i]
        expressed = k @ np.linalg.solve(K[np.ix_(others, others)] + PENALTY * np.eye(31), k)
        assert found[i] == pytest.approx(K[i, i] - expressed)


def test_the_nearest_are_others_and_blocks_of_rows_do_not_matter(samples):
    D = squared_distances(samples)
    wanted = [np.sort(np.delete(D[i], i))[:NEAREST].mean() for i in range(32)]
    np.testing.assert_allclose(left_by_nearest([D]), wanted)
    np.testing.assert_allclose(left_by_nearest([D[:5], D[5:6], D[6:]]), wanted)


def test_both_ways_to_stand_in_count_the_same_and_the_kernel_has_distances_of_its_own(samples):
    K, D = gaussian(samples), squared_distances(samples)
    left = Unexplained.of(K, distances=[D]).left
    np.testing.assert_allclose(left**2, left_by_all(K) * left_by_nearest([D]))
    np.testing.assert_allclose(Unexplained.of(K).left ** 2, left_by_all(K) * left_by_nearest([2 - 2 * K]))


def test_a_sample_between_clusters_is_found_by_its_distances():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 5)), rng.normal(size=(40, 5)) + 8, np.full((1, 5), 4.0)])
    K = np.exp(-squared_distances(X) / 1000)  # flat: the middle of both clusters is the sample
    G = np.exp(-squared_distances(X) / 40)
    scores = outlier_scores(G, [Unexplained.of(K, distances=[squared_distances(X)])])
    assert np.argmax(scores) == 80
    assert np.argmax(score_of(left_by_all(K) / np.median(left_by_all(K)))) != 80


def test_copies_and_lone_samples_are_told_nothing():
    assert np.isfinite(left_by_nearest([np.zeros((4, 4))])).all()
    assert left_by_nearest([np.zeros((1, 1))]).shape == (1,)
    D = np.zeros((30, 30))
    D[29, :29] = D[:29, 29] = 1.0
    assert np.argmax(left_by_nearest([D])) == 29


def test_the_unit_of_a_kernel_does_not_matter(samples):
    K, G = gaussian(samples), sparse.csr_array(gaussian(samples) > 0.5).astype(float)
    scores = outlier_scores(G, [Unexplained.of(K)])
    np.testing.assert_allclose(outlier_scores(G, [Unexplained.of(1000 * K)]), scores)


def test_samples_that_stand_aside_have_the_highest_scores_also_as_neighbours_of_each_other(samples):
    K = gaussian(samples)
    G = np.where(K > 0.5, 1.0, 0.0)
    G[30, 31] = G[31, 30] = 1.0
    scores = outlier_scores(G, [Unexplained.of(K)])
    assert set(np.argsort(scores)[-2:]) == {30, 31}
    assert scores[30:].min() > 0.5
    assert np.median(scores) < 0.5
    assert ((scores >= 0) & (scores < 1)).all()


def test_views_count_for_the_samples_that_they_have(samples):
    K = gaussian(samples)
    G = sparse.csr_array(K > 0.5).astype(float)
    rows = np.arange(2, 32)
    whole = Unexplained.of(K)
    part = Unexplained.of(K[np.ix_(rows, rows)], rows, 3.0)
    both, alone = outlier_scores(G, [whole, part]), outlier_scores(G, [whole])
    np.testing.assert_allclose(both[:2], alone[:2])
    assert not np.allclose(both[2:], alone[2:])


def test_half_as_well_expressed_is_a_score_of_one_half():
    np.testing.assert_allclose(score_of(np.array([0.3, 1.0, 2.0, 4.0])), [0.0, 0.0, 0.5, 0.75])


def test_a_kernel_that_is_not_positive_gives_scores():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.isfinite(outlier_scores(sparse.csr_array(K), [Unexplained.of(K)])).all()
