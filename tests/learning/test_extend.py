"""Samples that a fit has not seen."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid._arrays import measured_rows, to_numpy
from kernelbraid.kernels import BANKS, FittedBank, Gaussian, Linear, build_bank
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning.coefficients import PairKernels
from kernelbraid.learning.extend import Extension, NewSamples, Placement
from kernelbraid.learning.given import GivenKernels
from kernelbraid.learning.learn import learn
from kernelbraid.learning.readout import place
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import Views
from kernelbraid.learning.weighing import Weighed, weigh
from kernelbraid.ops.graphs import refine_graph, spectral_embedding
from problems import blobs, lacking, view_of

X, y = blobs(n=50)


FITTED, OTHERS = X[:40], X[40:]


N, NEW = 72, 9


TRUTH = np.arange(N + NEW) % 3


BANK = [Gaussian(0.5), Gaussian(2.0), Linear()]


rng = np.random.default_rng(0)


ALL = [view_of(TRUTH, rng), view_of(TRUTH, rng, 6), rng.normal(size=(N + NEW, 20))]


FIRST, SECOND, NOISE = (view[:N] for view in ALL)


UNSEEN = [view[N:] for view in ALL]


def new(*views):
    return NewSamples([[view] for view in views], [measured_rows(view) for view in views])


def edges_of(extension, given):
    return extension.edges(given).toarray()


def extend(weighed, **parameters):
    """What places new samples, what was learned, and where the fitted ones are."""
    settings = replace(Settings.of({"preset": "recommended", "n_clusters": 3, **parameters}), is_solved=True)
    learned = learn(weighed, settings)
    placed = place(learned, settings.readout)
    return Extension.of(weighed.samples, learned.members, placed.placement, "matrices"), learned, placed


def extend_one(samples=FITTED, kernels="auto", **parameters):
    """The same where one graph is learned of all views."""
    views = Views(samples if isinstance(samples, list) else [samples])
    return extend(replace(Weighed.alike(views), joined=views.pose(kernels)), **parameters)


def extend_sum(*views, **parameters):
    """The same where graphs of views are summed."""
    return extend(weigh(Views(list(views))), **parameters)


class TestOneKernel:
    def test_the_kernel_that_is_formed_again_is_that_of_the_fit(self):
        for samples in [
            FITTED,
            sparse.csr_array(np.maximum(FITTED, 0)),
            [FITTED, FITTED[:, :2]],
            FITTED.astype(np.float32),
            1e150 * FITTED,
        ]:
            for bank in ["auto", *BANKS]:
                _, learned, _ = extend_one(samples, bank)
                member = learned.members[0].relation
                assert member.kernel is None
                found = member.consensus()
                assert found.dtype == learned.K.dtype
                np.testing.assert_allclose(found, learned.K, atol=1e-6 if found.dtype == np.float32 else 1e-12)

    def test_it_is_so_for_arrays_of_every_library(self, xp):
        _, learned, _ = extend_one(xp.asarray(FITTED))
        found = learned.members[0].relation.consensus()
        assert type(found) is type(learned.K)
        np.testing.assert_allclose(to_numpy(found), to_numpy(learned.K), atol=1e-12)

    def test_a_learned_kernel_is_kept(self):
        _, learned, _ = extend_one(gamma=10.0)
        assert learned.members[0].relation.consensus() is learned.K

    @pytest.mark.parametrize("gamma", [math.inf, 10.0])
    def test_edges_solve_the_ridge_regression_with_the_kernel_of_the_fit(self, gamma):
        extension, learned, _ = extend_one(gamma=gamma, n_neighbors="all", edge_weights="learned")
        cross = learned.members[0].relation.bank.cross([OTHERS], learned.weights)
        expected = np.maximum(np.linalg.solve(learned.K.T + np.eye(40), cross.T).T, 0)
        np.testing.assert_allclose(edges_of(extension, new(OTHERS)), expected, atol=1e-9)

    def test_what_is_needed_is_formed_once(self, monkeypatch):
        extension, _, _ = extend_one()
        formed, within = [], FittedBank.within
        monkeypatch.setattr(FittedBank, "within", lambda *given: formed.append(1) or within(*given))
        first = edges_of(extension, new(OTHERS))
        np.testing.assert_array_equal(edges_of(extension, new(OTHERS)), first)
        assert formed == [1]

    def test_edges_are_as_many_as_in_the_fit(self):
        edges = edges_of(extend_one(n_neighbors=4)[0], new(OTHERS))
        assert ((edges > 0).sum(axis=1) <= 4).all()
        np.testing.assert_allclose(edges.max(axis=1), 1.0)

    def test_fitted_samples_are_known_and_copies_are_the_first_of_them(self):
        extension, _, _ = extend_one(FITTED[[0, 1, 0, 2]], [Gaussian(1.0)], n_neighbors=2)
        assert extension.copies.tolist() == [0, 1, 0, 3]
        for form in (np.asarray, sparse.csr_array):
            assert extension.known(new(form(FITTED[[2, 0, 3, 1]]))).tolist() == [3, 0, -1, 1]

    def test_known_samples_keep_their_place_and_new_ones_get_one(self):
        extension, _, _ = extend_one()
        both = new(np.vstack([FITTED[:2], OTHERS]))
        edges = edges_of(extension, both)
        placed = extension.place(edges, extension.known(both))
        np.testing.assert_array_equal(placed[:2], extension.placement.embedding[:2])
        assert (placed[:2] != extension.placement.embed(edges[:2])).any()
        np.testing.assert_allclose(placed[2:], extension.placement.embed(edges[2:]))
        np.testing.assert_allclose(np.linalg.norm(placed[2:], axis=1), 1.0)

    def test_samples_of_precomputed_kernels_are_known_by_their_digests(self):
        H = build_bank(X, [Gaussian(0.5), Linear()])
        kernels = GivenKernels(list(H[:, :40, :40]), stack_kernels)
        extension, learned, _ = extend(replace(Weighed.alike(kernels), joined=kernels.pose(None)))
        assert learned.members[0].relation.bank is None
        assert extension.digests.shape == (40,)
        np.testing.assert_allclose(learned.members[0].relation.consensus(), H[:, :40, :40].mean(axis=0), atol=1e-12)
        rows = NewSamples([list(H[:, 38:42, :40])], [np.ones(4, dtype=bool)])
        assert extension.known(rows).tolist() == [38, 39, -1, -1]


class TestSums:
    def test_edges_of_new_samples_are_summed_over_views_with_degrees_divided_out(self):
        extension, learned, _ = extend_sum(FIRST, SECOND, kernels=BANK, alpha=1.0, n_neighbors="all")
        expected = np.zeros((NEW, N))
        for member, view in zip(learned.members, ALL, strict=False):
            H = Views([view[:N]]).pose(BANK)
            K, cross = H.average(), H.bank.cross([view[N:]], np.full(3, 1 / 3))
            Z = np.maximum(cross @ np.linalg.inv(K + np.eye(N)), 0)
            edges = Z / Z.max(axis=1, keepdims=True)
            expected += 0.5 * edges / np.sqrt(edges.sum(axis=1)[:, None] * member.degrees[0][None, :])
        np.testing.assert_allclose(edges_of(extension, new(*UNSEEN[:2])), expected, atol=1e-9)

    def test_a_view_that_is_missing_adds_nothing(self):
        extension, _, _ = extend_sum(FIRST, SECOND)
        one, other = UNSEEN[:2]
        whole = edges_of(extension, new(one, other))
        first, second = (
            edges_of(extension, new(*views))
            for views in ((one, lacking(other, slice(None))), (lacking(one, slice(None)), other))
        )
        np.testing.assert_allclose(first + second, whole, atol=1e-12)
        assert (first.sum(axis=1) > 0).all()
        mixed = edges_of(extension, new(lacking(one, slice(4)), lacking(other, slice(4, None))))
        np.testing.assert_allclose(mixed, np.r_[second[:4], first[4:]], atol=1e-12)

    def test_samples_that_a_fitted_view_lacks_get_no_edge_from_it(self):
        extension, _, _ = extend_sum(lacking(FIRST, [3]), SECOND)
        edges = edges_of(extension, new(UNSEEN[0], lacking(UNSEEN[1], slice(None))))
        assert not edges[:, 3].any()
        assert edges.any()

    def test_new_samples_have_the_coordinates_of_their_cluster(self):
        extension, _, placed = extend_sum(lacking(FIRST, [0, 1]), SECOND, NOISE)
        given = new(lacking(UNSEEN[0], [0, 1, 2]), *UNSEEN[1:])
        edges, places = edges_of(extension, given), extension.known(given)
        assert (places == -1).all()
        found = extension.place(edges, places)
        nearest = np.argmax(found @ placed.embedding.T, axis=1)
        np.testing.assert_array_equal(TRUTH[nearest], TRUTH[N:])

    def test_fitted_samples_are_known_by_the_views_that_count(self):
        extension, _, placed = extend_sum(lacking(FIRST, [2]), SECOND, NOISE)
        given = new(lacking(FIRST, [2]), SECOND, np.zeros_like(NOISE))
        places = extension.known(given)
        np.testing.assert_array_equal(places, np.arange(N))
        found = extension.place(edges_of(extension, given), places)
        np.testing.assert_array_equal(found, placed.embedding)
        assert extension.known(new(*(view[2:3] for view in (FIRST, SECOND, NOISE)))).tolist() == [-1]

    def test_a_sample_in_no_view_that_counts_is_refused(self):
        extension, _, _ = extend_sum(FIRST, SECOND, NOISE)
        match = r"sample 6 of X \(counted from 0\) is missing in every view that the fit uses \(views 1, 2\)"
        with pytest.raises(ValueError, match=match):
            edges_of(extension, new(*(lacking(view, [6]) for view in UNSEEN[:2]), UNSEEN[2]))

    def test_a_view_in_reserve_places_only_what_no_other_has(self):
        extension, learned, _ = extend_sum(lacking(FIRST, [5]), lacking(SECOND, [5]), NOISE)
        assert [member.is_reserve for member in learned.members] == [False] * 4 + [True] * 2
        known = edges_of(extension, new(*UNSEEN[:2], np.zeros_like(UNSEEN[2])))
        np.testing.assert_array_equal(edges_of(extension, new(*UNSEEN)), known)
        edges = edges_of(extension, new(*(lacking(view, [1]) for view in UNSEEN[:2]), UNSEEN[2]))
        # Products with a row less may round otherwise.
        np.testing.assert_allclose(np.delete(edges, 1, axis=0), np.delete(known, 1, axis=0), rtol=1e-12, atol=1e-12)
        assert edges[1].sum() > 0

    def test_kernels_between_new_samples_and_fitted_ones_do_as_well(self):
        kernels = GivenKernels(
            [K for view in (FIRST, SECOND) for K in build_bank(view, BANK)], stack_kernels, None, (3, 3)
        )
        extension, _, _ = extend(weigh(kernels), kernels="precomputed")
        banks = [Views([view]).pose(BANK).bank for view in (FIRST, SECOND)]
        cross = [[bank.cross([view], g) for g in np.eye(3)] for bank, view in zip(banks, UNSEEN, strict=False)]
        plain, _, _ = extend_sum(FIRST, SECOND, kernels=BANK)
        found = edges_of(extension, NewSamples(cross, [np.ones(NEW, dtype=bool)] * 2))
        np.testing.assert_allclose(found, edges_of(plain, new(*UNSEEN[:2])), atol=1e-9)

    def test_without_room_inverses_are_formed_anew(self, monkeypatch):
        extension, learned, _ = extend_sum(FIRST, SECOND)
        monkeypatch.setattr("kernelbraid.learning.extend.KEPT_BYTES", 0)
        given = new(*UNSEEN[:2])
        np.testing.assert_array_equal(edges_of(extension, given), edges_of(extension, given))
        assert all(not member.relation._inverses for member in learned.members)

    def test_other_array_libraries_are_extended_alike(self, foreign):
        plain, _, _ = extend_sum(FIRST, SECOND)
        extension, _, _ = extend_sum(*(foreign.asarray(view) for view in (FIRST, SECOND)))
        given = lacking(UNSEEN[0], [1]), UNSEEN[1]
        found = edges_of(extension, new(*map(foreign.asarray, given)))
        np.testing.assert_allclose(to_numpy(found), edges_of(plain, new(*given)), atol=1e-9)


@pytest.mark.parametrize(
    ("extended", "fitted", "unseen"),
    [
        (lambda: extend_one()[0], [FITTED], [OTHERS]),
        (lambda: extend_one(gamma=10.0)[0], [FITTED], [OTHERS]),
        (lambda: extend_sum(FIRST, SECOND)[0], [FIRST, SECOND], UNSEEN[:2]),
    ],
    ids=["average", "learned", "sum"],
)
def test_what_was_found_is_kept_for_the_next_samples_but_not_stored(extended, fitted, unseen, monkeypatch):
    extension = extended()
    before = len(pickle.dumps(extension))
    edges, places = edges_of(extension, new(*unseen)), extension.known(new(*fitted))
    content = pickle.dumps(extension)
    assert len(content) == before
    again = pickle.loads(content)
    np.testing.assert_allclose(edges_of(again, new(*unseen)), edges, atol=1e-12)
    np.testing.assert_array_equal(again.known(new(*fitted)), places)
    monkeypatch.setattr(PairKernels, "consensus", lambda _: pytest.fail("formed again"))
    np.testing.assert_array_equal(edges_of(extension, new(*unseen)), edges)


SPECTRA = ["largest", "magnitude", "unnormalised", "random_walk"]


def gaussian(X, Y):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2) / 4)


@pytest.fixture(scope="module")
def graph():
    X, _ = blobs(n=40)
    return refine_graph(gaussian(X, X), n_neighbors=12)


def test_a_vertex_is_placed_where_it_is(xp, graph):
    for spectrum in SPECTRA:
        S = xp.asarray(graph.toarray())
        placement = Placement(S, 3, spectrum)
        expected = to_numpy(spectral_embedding(S, 3, spectrum=spectrum))
        found = to_numpy(placement.embed(S))
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_sparse_graph_places_its_vertices_where_they_are(graph):
    for spectrum in SPECTRA:
        placement = Placement(graph, 3, spectrum)
        expected = spectral_embedding(graph, 3, spectrum=spectrum)
        np.testing.assert_allclose(placement.embed(graph.toarray()), expected, atol=1e-7)
        dense = Placement(graph.toarray(), 3, spectrum)
        vars(dense)["vectors"] = placement.vectors
        np.testing.assert_allclose(placement.embed(graph), dense.embed(graph), atol=1e-12)
        assert isinstance(placement.embed(graph), np.ndarray)
