"""How far samples belong to the centres of clusters."""

import numpy as np

from kernelbraid.solvers.landmark_centres import Centres

rng = np.random.default_rng(0)


def test_memberships_are_shares_that_fall_with_the_distance():
    centres = Centres(np.eye(3))
    placed = rng.standard_normal((50, 3)).astype(np.float32)
    M = centres.memberships(placed)
    np.testing.assert_allclose(M.sum(axis=1), 1.0, rtol=1e-5)
    distances = ((placed[:, None, :] - np.eye(3)[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(np.argsort(-M, axis=1, kind="stable"), np.argsort(distances, axis=1, kind="stable"))
    np.testing.assert_array_equal(centres.confidences(placed), M.max(axis=1))


def test_the_unit_of_the_embedding_does_not_matter():
    placed = rng.standard_normal((20, 3))
    np.testing.assert_allclose(
        Centres(1000 * np.eye(3)).memberships(1000 * placed), Centres(np.eye(3)).memberships(placed), rtol=1e-4
    )


def test_the_largest_membership_is_that_of_the_label_also_between_centres():
    centres = Centres(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]))
    placed = np.array([[0.5, 0.5], [1.0, 0.0]], dtype=np.float32)
    np.testing.assert_array_equal(centres.memberships(placed).argmax(axis=1), centres.nearest(placed))


def test_one_centre_and_centres_that_coincide_have_memberships():
    np.testing.assert_array_equal(Centres(np.ones((1, 2))).memberships(np.zeros((3, 2))), np.ones((3, 1)))
    np.testing.assert_allclose(Centres(np.ones((2, 2))).memberships(np.ones((1, 2))), [[0.5, 0.5]])
