"""k-means of samples that lack some views."""

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.solvers.gapped_kmeans import STRANGERS, GappedViews
from kernelbraid.solvers.kmeans import plus_plus

RNG = np.random.default_rng(0)
N = 60
VIEWS = [RNG.normal(size=(N, 3)), RNG.normal(size=(N, 5))]
ALL = [np.ones(N, dtype=bool)] * 2


def lacking():
    has = [np.arange(N) % 4 != 0, np.arange(N) % 4 != 1]
    return has, [np.where(rows[:, None], view, np.nan) for view, rows in zip(VIEWS, has, strict=True)]


def expected_distance(has, i, j):
    """Return the mean over common views of squared distances, by its definition."""
    parts = [np.sum((view[i] - view[j]) ** 2) for view, rows in zip(VIEWS, has, strict=True) if rows[i] and rows[j]]
    return np.mean(parts) if parts else STRANGERS


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distances_are_means_over_common_views(form):
    has, views = lacking()
    samples = GappedViews.of([form(view) for view in views], has)
    found = samples.apart(samples.some(np.arange(5)), STRANGERS)
    expected = [[expected_distance(has, i, j) for j in range(5)] for i in range(N)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_without_gaps_distances_are_those_of_joined_views():
    samples = GappedViews.of(VIEWS, ALL)
    X = np.hstack(VIEWS)
    expected = ((X[:, None] - X[None, :7]) ** 2).sum(axis=2) / 2
    np.testing.assert_allclose(samples.apart(samples.some(np.arange(7)), STRANGERS), expected, atol=1e-12)


def test_drawn_rows_differ_even_where_samples_repeat():
    views = [np.repeat(view[:5], 12, axis=0) for view in VIEWS]
    rows = plus_plus(GappedViews.of(views, ALL), 1, 20, np.random.RandomState(0))[0]
    assert len(set(rows.tolist())) == 20
    distinct = {tuple(views[0][row]) for row in rows[:5]}
    assert len(distinct) == 5  # far ones first


def test_settled_centres_are_means_of_what_is_nearest_view_by_view():
    has, views = lacking()
    samples = GappedViews.of(views, has)
    centres = samples.settle(np.arange(6), 200)
    nearest = centres.nearest(samples)
    for view, rows, found, there in zip(VIEWS, has, centres.views, centres.has.T, strict=True):
        for label in range(6):
            mine = rows & (nearest == label)
            assert mine.any() <= there[label]
            if mine.any():
                np.testing.assert_allclose(found[label], view[mine].mean(axis=0), atol=1e-12)


def test_a_centre_keeps_what_none_of_its_samples_has():
    views = [np.array([[0.0], [0.1], [9.0], [9.1]]), np.array([[5.0], [np.nan], [np.nan], [7.0]])]
    samples = GappedViews.of(views, [np.ones(4, dtype=bool), np.array([True, False, False, True])])
    centres = samples.settle(np.array([0, 2]), 10)
    np.testing.assert_array_equal(centres.has, [[1, 1], [1, 1]])
    np.testing.assert_allclose(centres.views[1], [[5.0], [7.0]])
