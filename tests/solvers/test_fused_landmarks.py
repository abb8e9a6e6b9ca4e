"""Samples of several views over landmarks."""

import numpy as np
import pytest

from kernelbraid import LandmarkLKG
from kernelbraid.solvers.landmarks import split_views

RNG = np.random.default_rng(0)
TRUTH = np.repeat(np.arange(3), 50)
VIEWS = [4 * np.eye(3)[TRUTH] + RNG.normal(size=(150, 3)) for _ in range(3)]


@pytest.fixture(scope="module")
def gapped():
    views = [view.copy() for view in VIEWS]
    for number, view in enumerate(views):
        view[number::9] = np.nan
    return views, LandmarkLKG(3, n_landmarks=30, random_state=0).fit(views)


def parts_by_definition(expression, samples):
    """Return the weighted edges of every view, one sample and one member at a time."""
    views = split_views(samples, expression.widths)
    parts = np.zeros((len(views), len(samples), expression.n_landmarks))
    for number, (member, weight) in enumerate(zip(expression.members, expression.weights, strict=True)):
        (view,) = member.views
        columns = np.arange(expression.n_landmarks)
        if expression.rows is not None and expression.rows[number] is not None:
            columns = expression.rows[number]
        for row, sample in enumerate(views[view]):
            if not np.isnan(sample).any():
                cross = member.bank.cross([sample[None]], member.kernel_weights)
                parts[view, row, columns] += weight * member.edges_from(cross).dense()[0]
    return parts


def test_edges_are_the_strongest_of_the_sum_over_the_views_that_a_sample_has_scaled_to_sum_one(gapped):
    views, model = gapped
    expression, samples = model._expression, np.hstack(views)[:20]
    parts = parts_by_definition(expression, samples)
    found = expression.edges(samples)
    total = parts.sum(axis=0)
    kept = np.sort(total, axis=1)[:, ::-1][:, : expression.n_neighbors]
    kept /= kept.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.sort(found.dense(), axis=1)[:, ::-1][:, : kept.shape[1]], kept, atol=1e-6)


def test_shares_are_those_of_the_edges_that_stay(gapped):
    views, model = gapped
    lacking = np.stack([np.isnan(view).any(axis=1) for view in views], axis=1)
    np.testing.assert_allclose(model.views_.shares.sum(axis=1), 1)
    assert (model.views_.shares[lacking] == 0).all()
    assert (model.views_.shares[~lacking] > 0).mean() > 0.95
