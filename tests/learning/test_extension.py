import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import BANKS, Gaussian, Linear, build_bank
from kernelbraid.learning.candidates import Views
from kernelbraid.learning.extension import Extension
from kernelbraid.learning.learn import learn
from kernelbraid.learning.readout import place
from kernelbraid.learning.settings import PRESETS
from kernelbraid.solvers.extension import Placement
from problems import blobs

X, y = blobs(n=50)
FITTED, NEW = X[:40], X[40:]
RECOMMENDED = PRESETS["recommended"]


def extend(samples=FITTED, kernels="auto", gamma=math.inf, **more):
    """An extension of what was learned about samples, the candidates, and the kernel."""
    learning = replace(RECOMMENDED.learning, gamma=gamma)
    readout = replace(RECOMMENDED.readout, n_clusters=3, **more)
    settings = replace(RECOMMENDED, learning=learning, readout=readout)
    candidates = Views(samples if isinstance(samples, list) else [samples]).pose(kernels)
    learned = learn(candidates, learning, keep_kernel=True)
    placed = place(learned, readout)
    placement = Placement.of(placed.graph, placed.vectors, readout.embedding)
    return Extension.of(candidates, settings, learned, placement, learned.K), candidates, learned


@pytest.mark.parametrize("bank", ["auto", *BANKS])
def test_the_kernel_that_is_formed_again_is_that_of_the_fit(bank):
    extension, _, learned = extend(kernels=bank)
    assert extension.kernel is None
    np.testing.assert_allclose(extension.consensus(), learned.K, atol=1e-12)


@pytest.mark.parametrize(
    "samples",
    [sparse.csr_array(np.maximum(FITTED, 0)), [FITTED, FITTED[:, :2]], FITTED.astype(np.float32), 1e150 * FITTED],
    ids=["sparse", "views", "single", "huge"],
)
def test_it_is_so_for_samples_of_every_kind(samples):
    extension, _, learned = extend(samples)
    found = extension.consensus()
    assert found.dtype == learned.K.dtype
    np.testing.assert_allclose(found, learned.K, atol=1e-6 if found.dtype == np.float32 else 1e-12)


def test_it_is_so_for_arrays_of_every_library(xp):
    extension, _, learned = extend(xp.asarray(FITTED))
    found = extension.consensus()
    assert type(found) is type(learned.K)
    np.testing.assert_allclose(to_numpy(found), to_numpy(learned.K), atol=1e-12)


def test_a_learned_kernel_is_kept():
    extension, _, learned = extend(gamma=10.0)
    assert extension.kernel is learned.K
    assert extension.consensus() is learned.K


def test_edges_solve_the_ridge_regression_with_the_kernel_of_the_fit():
    for gamma in (math.inf, 10.0):
        extension, candidates, learned = extend(gamma=gamma, n_neighbors="all", edge_weights="learned")
        cross = candidates.bank.cross([NEW], learned.weights)
        expected = np.maximum(np.linalg.solve(learned.K.T + np.eye(40), cross.T).T, 0)
        np.testing.assert_allclose(extension.edges(cross), expected, atol=1e-9)


def test_a_kernel_that_is_at_hand_is_not_formed_again(monkeypatch):
    extension, candidates, learned = extend()
    cross = candidates.bank.cross([NEW], learned.weights)
    expected = extend()[0].edges(cross)
    monkeypatch.setattr(type(candidates.bank), "within", lambda *_: pytest.fail("formed again"))
    np.testing.assert_allclose(extension.edges(cross, learned.K), expected, atol=1e-10)


def test_what_is_needed_is_formed_once(monkeypatch):
    extension, candidates, learned = extend()
    formed, within = [], type(candidates.bank).within
    monkeypatch.setattr(type(candidates.bank), "within", lambda *given: formed.append(1) or within(*given))
    cross = candidates.bank.cross([NEW], learned.weights)
    first = extension.edges(cross)
    np.testing.assert_array_equal(extension.edges(cross), first)
    assert formed == [1]


def test_edges_are_as_many_as_in_the_fit():
    extension, candidates, learned = extend(n_neighbors=4)
    edges = extension.edges(candidates.bank.cross([NEW], learned.weights))
    assert ((edges > 0).sum(axis=1) <= 4).all()
    np.testing.assert_allclose(edges.max(axis=1), 1.0)


def test_fitted_samples_are_known_and_copies_are_the_first_of_them():
    samples = FITTED[[0, 1, 0, 2]]
    extension = extend(samples, kernels=[Gaussian(1.0)], n_neighbors=2)[0]
    assert extension.known([FITTED[[2, 0, 3, 1]]]).tolist() == [3, 0, -1, 1]


def test_known_samples_keep_their_place_and_new_ones_get_one():
    extension, candidates, learned = extend()
    embedding = np.random.default_rng(0).normal(size=(40, 3))
    both = np.vstack([FITTED[:2], NEW])
    edges = extension.edges(candidates.bank.cross([both], learned.weights))
    placed = extension.place(edges, extension.known([both]), embedding)
    np.testing.assert_array_equal(placed[:2], embedding[:2])
    np.testing.assert_allclose(placed[2:], extension.placement.embed(edges[2:]))
    np.testing.assert_allclose(np.linalg.norm(placed[2:], axis=1), 1.0)


@pytest.mark.parametrize("gamma", [math.inf, 10.0])
def test_caches_are_not_pickled(gamma):
    extension, candidates, learned = extend(gamma=gamma)
    before = len(pickle.dumps(extension))
    cross = candidates.bank.cross([NEW], learned.weights)
    edges, places = extension.edges(cross), extension.known([FITTED])
    content = pickle.dumps(extension)
    assert len(content) == before
    again = pickle.loads(content)
    assert again._expression is None
    assert again._places is None
    np.testing.assert_allclose(again.edges(cross), edges, atol=1e-12)
    np.testing.assert_array_equal(again.known([FITTED]), places)
    assert extension._expression is not None  # what is pickled keeps what it has


def test_samples_of_precomputed_kernels_are_known_by_their_digests():
    H = build_bank(X, [Gaussian(0.5), Linear()])
    model = LKG(3, kernels="precomputed", random_state=0).fit(H[:, :40, :40])
    extension = model._fitted
    assert extension.bank is None
    assert extension.digests.shape == (40, 16)
    np.testing.assert_allclose(extension.consensus(), H[:, :40, :40].mean(axis=0), atol=1e-12)
    assert extension.known(list(H[:, 38:42, :40])).tolist() == [38, 39, -1, -1]
