import pickle

import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning.candidates import GivenKernels, Views
from kernelbraid.learning.fused_extension import FusedExtension
from kernelbraid.learning.fusion import (
    fuse,
)
from kernelbraid.learning.readout import place
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.views import weigh
from kernelbraid.solvers.extension import Placement

N, NEW = 72, 9
TRUTH = np.arange(N + NEW) % 3
BANK = [Gaussian(0.5), Gaussian(2.0), Linear()]


def near(rng, d=4):
    """A view of clusters, in directions of its own."""
    return rng.normal(0, 3, (3, d))[TRUTH] + rng.normal(0, 0.7, (N + NEW, d))


rng = np.random.default_rng(0)
ALL = [near(rng), near(rng, 6), rng.normal(size=(N + NEW, 20))]
FIRST, SECOND, NOISE = (X[:N] for X in ALL)


def lacking(X, rows):
    found = X.copy()
    found[rows] = np.nan
    return found


def settings_of(**parameters):
    return Settings.of({"preset": "recommended", "n_clusters": 3, **parameters})


def fused(views, weights=None, **parameters):
    return fuse(weigh(Views(views), weights), settings_of(**parameters))


def kernels_of(*stacks):
    return GivenKernels([K for stack in stacks for K in stack], stack_kernels, sizes=tuple(map(len, stacks)))


def extend(samples, weights=None, **parameters):
    """What places new samples, and the graph."""
    settings = settings_of(**parameters)
    weighed = weigh(samples, weights)
    learned = fuse(weighed, settings)
    placed = place(learned, settings.readout)
    placement = Placement.of(placed.graph, placed.vectors, settings.readout.embedding)
    return FusedExtension.of(weighed, learned.members, placement), learned, placed


class TestExtension:
    def test_edges_of_new_samples_are_summed_over_views_with_degrees_divided_out(self):
        extension, learned, _ = extend(Views([FIRST, SECOND]), kernels=BANK, alpha=1.0, n_neighbors="all")
        expected = np.zeros((NEW, N))
        for member, X in zip(learned.members, ALL[:2], strict=True):
            H = Views([X[:N]]).pose(BANK)
            K, cross = H.average(), H.bank.cross([X[N:]], np.full(3, 1 / 3))
            Z = np.maximum(cross @ np.linalg.inv(K + np.eye(N)), 0)
            edges = Z / Z.max(axis=1, keepdims=True)
            expected += 0.5 * edges / np.sqrt(edges.sum(axis=1)[:, None] * member.degrees[0][None, :])
        np.testing.assert_allclose(extension.edges([X[N:] for X in ALL[:2]]), expected, atol=1e-9)

    def test_a_view_that_is_missing_adds_nothing(self):
        extension, _, _ = extend(Views([FIRST, SECOND]))
        new = [X[N:] for X in ALL[:2]]
        whole = extension.edges(new)
        gap = np.full_like(new[0], np.nan), np.full_like(new[1], np.nan)
        first, second = extension.edges([new[0], gap[1]]), extension.edges([gap[0], new[1]])
        np.testing.assert_allclose(first + second, whole, atol=1e-12)
        assert (first.sum(axis=1) > 0).all()
        mixed = [new[0].copy(), new[1].copy()]
        mixed[0][:4], mixed[1][4:] = np.nan, np.nan
        np.testing.assert_allclose(extension.edges(mixed), np.r_[second[:4], first[4:]], atol=1e-12)

    def test_samples_that_a_fitted_view_lacks_get_no_edge_from_it(self):
        extension, _, _ = extend(Views([lacking(FIRST, [3]), SECOND]))
        new = [ALL[0][N:], np.full((NEW, 6), np.nan)]
        edges = extension.edges(new)
        assert not edges[:, 3].any()
        assert edges.any()

    def test_new_samples_have_the_coordinates_of_their_cluster(self):
        extension, _, placed = extend(Views([lacking(FIRST, [0, 1]), SECOND, NOISE]))
        new = [X[N:] for X in ALL]
        new[0] = lacking(new[0], [0, 1, 2])
        edges, places = extension.edges(new), extension.known(new)
        assert (places == -1).all()
        found = extension.place(edges, places, placed.embedding)
        nearest = np.argmax(found @ placed.embedding.T, axis=1)
        np.testing.assert_array_equal(TRUTH[nearest], TRUTH[N:])

    def test_fitted_samples_are_known_by_the_views_that_count(self):
        extension, _, placed = extend(Views([lacking(FIRST, [2]), SECOND, NOISE]))
        given = [lacking(FIRST, [2]), SECOND, np.zeros_like(NOISE)]
        places = extension.known(given)
        np.testing.assert_array_equal(places, np.arange(N))
        np.testing.assert_array_equal(
            extension.place(extension.edges(given), places, placed.embedding), placed.embedding
        )
        assert extension.known([X[2:3] for X in (FIRST, SECOND, NOISE)]).tolist() == [-1]

    def test_a_sample_in_no_view_that_counts_is_refused(self):
        extension, _, _ = extend(Views([FIRST, SECOND, NOISE]))
        new = [lacking(X[N:], [6]) for X in ALL[:2]]
        match = r"sample 6 of X \(counted from 0\) is missing in every view that the fit uses \(views 1, 2\)"
        with pytest.raises(ValueError, match=match):
            extension.edges([*new, ALL[2][N:]])

    def test_a_view_in_reserve_places_only_what_no_other_has(self):
        views = [lacking(FIRST, [5]), lacking(SECOND, [5]), NOISE]
        extension, learned, _ = extend(Views(views))
        assert [member.is_reserve for member in learned.members] == [False] * 4 + [True] * 2
        new = [X[N:] for X in ALL]
        known = extension.edges([new[0], new[1], np.zeros_like(new[2])])
        np.testing.assert_array_equal(extension.edges(new), known)
        lonely = [lacking(new[0], [1]), lacking(new[1], [1]), new[2]]
        edges = extension.edges(lonely)
        # Products with a row less may round otherwise.
        np.testing.assert_allclose(np.delete(edges, 1, axis=0), np.delete(known, 1, axis=0), rtol=1e-12, atol=1e-12)
        assert edges[1].sum() > 0

    def test_other_widths_are_refused(self):
        extension, _, _ = extend(Views([FIRST, SECOND]))
        with pytest.raises(ValueError, match=r"the views of X have \[6, 4\] features; those of the fit had \[4, 6\]"):
            extension.edges([ALL[1][N:], ALL[0][N:]])

    def test_kernels_between_new_samples_and_fitted_ones_do_as_well(self):
        stacks = [build_bank(X[:N], BANK) for X in ALL[:2]]
        extension, _, _ = extend(kernels_of(*stacks), kernels="precomputed")
        posed = [Views([X[:N]]).pose(BANK).bank for X in ALL[:2]]
        cross = [bank.cross([X[N:]], np.eye(3)[i]) for bank, X in zip(posed, ALL, strict=False) for i in range(3)]
        plain, _, _ = extend(Views([FIRST, SECOND]), kernels=BANK)
        np.testing.assert_allclose(extension.edges(cross), plain.edges([X[N:] for X in ALL[:2]]), atol=1e-9)

    def test_inverses_are_kept_for_the_next_samples_but_not_stored(self, monkeypatch):
        extension, learned, _ = extend(Views([FIRST, SECOND]))
        new = [X[N:] for X in ALL[:2]]
        edges = extension.edges(new)
        extension.known(new)
        copy = pickle.loads(pickle.dumps(extension))
        assert all(not member._inverses for member in copy.members)
        assert copy._places is None
        np.testing.assert_array_equal(copy.edges(new), edges)
        monkeypatch.setattr(type(learned.members[0]), "consensus", lambda _: pytest.fail("formed again"))
        np.testing.assert_array_equal(extension.edges(new), edges)

    def test_without_room_inverses_are_formed_anew(self, monkeypatch):
        extension, learned, _ = extend(Views([FIRST, SECOND]))
        monkeypatch.setattr("kernelbraid.learning.fused_extension.KEPT_BYTES", 0)
        new = [X[N:] for X in ALL[:2]]
        np.testing.assert_array_equal(extension.edges(new), extension.edges(new))
        assert all(not member._inverses for member in learned.members)

    def test_other_array_libraries_are_extended_alike(self, foreign):
        plain, _, _ = extend(Views([FIRST, SECOND]))
        extension, _, _ = extend(Views([foreign.asarray(X) for X in (FIRST, SECOND)]))
        new = [lacking(ALL[0][N:], [1]), ALL[1][N:]]
        found = extension.edges([foreign.asarray(X) for X in new])
        np.testing.assert_allclose(to_numpy(found), plain.edges(new), atol=1e-9)
