from itertools import pairwise

import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, Neighbours, StoredStack, build_bank, stack_bank
from kernelbraid.ops.closed_forms import power_weights
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.spectral import affinities, aggregate, costs, update_eigenvectors
from problems import blobs, rings

NOISE = np.random.default_rng(0).standard_normal((30, 5))
DATA = {"blobs": blobs(n=36)[0], "rings": rings(40)[0], "noise": NOISE, "copies": np.repeat(NOISE[:6], 5, axis=0)}


def explicit_affinity(K):
    W = np.maximum(K, 0) * (1 - np.eye(len(K)))
    degrees = W.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
    return W * np.outer(scale, scale)


def kernels_with_values(graphs):
    return [graphs.combine(row) for row in np.eye(graphs.n_kernels)]


def test_affinities_are_normalised_and_have_no_self_similarities(xp):
    H = build_bank(NOISE, "paper")[2:]  # the linear kernel has negative values
    graphs = kernels_with_values(affinities(StoredStack.of(xp.asarray(H))))
    for S, K in zip(graphs, H, strict=True):
        S = to_numpy(S)
        np.testing.assert_allclose(S, explicit_affinity(K), atol=1e-9)
        assert np.linalg.eigvalsh(S)[-1] <= 1 + 1e-9


def test_the_identity_is_no_affinity_and_the_scale_of_a_kernel_does_not_matter():
    K = build_bank(NOISE, [Gaussian(0.3)])[0]
    nothing, once, often = kernels_with_values(affinities(StoredStack.of(np.stack([np.eye(30), K, 1e9 * K]))))
    np.testing.assert_allclose(nothing, 0, atol=1e-12)
    np.testing.assert_allclose(often, once, atol=1e-9)


def test_a_sample_that_a_narrow_kernel_joins_to_none_stays_isolated():
    graph = kernels_with_values(affinities(stack_bank(np.array([[0.0], [0.1], [1.0]]), [Gaussian(1e-3)]).store()))[0]
    np.testing.assert_allclose(graph, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], atol=1e-9)  # exp(-810) beside exp(-10)


def test_lazy_kernels_have_the_affinities_of_stored_ones():
    stack = stack_bank(NOISE, "paper")
    for lazy, stored in zip(
        kernels_with_values(affinities(stack)), kernels_with_values(affinities(stack.store())), strict=True
    ):
        np.testing.assert_allclose(lazy, stored, atol=1e-9)


def test_costs_are_what_their_formula_says(xp):
    H = build_bank(NOISE, [Gaussian(1.0), Gaussian(0.1), Gaussian(0.01)])
    F = np.linalg.qr(np.random.default_rng(1).standard_normal((30, 4)))[0]
    expected = [np.trace(F.T @ (np.eye(30) - explicit_affinity(K)) @ F) for K in H]
    np.testing.assert_allclose(costs(affinities(StoredStack.of(xp.asarray(H))), xp.asarray(F)), expected, rtol=1e-10)


def test_an_affinity_of_separate_blocks_costs_nothing():
    blocks = np.kron(np.eye(3), np.ones((5, 5)))
    graphs = affinities(StoredStack.of(blocks[None]))
    F = update_eigenvectors(graphs.combine(np.ones(1)), 3)
    np.testing.assert_array_equal(costs(graphs, F), 0)


def test_eigenvectors_minimise_the_cost_of_the_sum():
    graphs = affinities(StoredStack.of(build_bank(NOISE, "paper")))
    a = np.random.default_rng(2).random(12)
    F = update_eigenvectors(graphs.combine(a), 4)
    np.testing.assert_allclose(F.T @ F, np.eye(4), atol=1e-10)
    other = np.linalg.qr(F + 0.1 * np.random.default_rng(3).standard_normal(F.shape))[0]
    assert a @ costs(graphs, F) < a @ costs(graphs, other)


def test_the_objective_descends_and_the_weights_are_its_closed_form():
    for bank in ["paper", "rmkkm"]:
        for name in DATA:
            for k in [1, 2, 5]:
                states = []
                graphs = affinities(stack_bank(DATA[name], bank).store())
                solution = aggregate(
                    graphs, k, max_iter=200, tol=1e-8, watch=lambda n, state, seen=states: seen.append(state)
                )
                assert solution.status is Status.CONVERGED
                values = np.array([state.progress.objective for state in states])
                assert np.diff(values).max(initial=-np.inf) <= 1e-9 * max(values.max(), 1e-3)
                for before, after in pairwise(states):
                    h = costs(graphs, update_eigenvectors(before.S, k))
                    np.testing.assert_allclose(after.a, power_weights(h), rtol=1e-7, atol=1e-9)
                    assert after.progress.objective == pytest.approx(after.a @ h)
                assert np.sum(np.sqrt(solution.state.a)) == pytest.approx(1)


def test_a_noise_kernel_gets_less_weight_than_a_block_kernel():
    rng = np.random.default_rng(4)
    blocks = np.kron(np.eye(3), np.ones((8, 8))) + 0.05
    A = rng.random((24, 24))
    noise = A @ A.T
    found = aggregate(affinities(StoredStack.of(np.stack([noise, blocks]))), 3, max_iter=100, tol=1e-8).state
    assert found.a[1] > 4 * found.a[0]


def test_permuted_kernels_have_permuted_weights():
    H = build_bank(DATA["blobs"], "paper")
    order = np.random.default_rng(5).permutation(12)
    a, b = (aggregate(affinities(StoredStack.of(A)), 3, max_iter=200, tol=1e-10).state.a for A in (H, H[order]))
    np.testing.assert_allclose(b, a[order], rtol=1e-5, atol=1e-9)


def test_every_backend_gives_the_same_weights(foreign):
    H = build_bank(NOISE, "rmkkm")
    here, there = (
        aggregate(affinities(StoredStack.of(A)), 3, max_iter=100, tol=1e-8).state for A in (H, foreign.asarray(H))
    )
    np.testing.assert_allclose(there.a, here.a, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(to_numpy(there.S), here.S, atol=1e-6)


def test_one_kernel_needs_no_iteration():
    graphs = affinities(stack_bank(NOISE, [Gaussian(1.0)]).store())
    solution = aggregate(graphs, 3, max_iter=10, tol=1e-8)
    assert (solution.status, solution.n_iter) == (Status.CONVERGED, 1)
    np.testing.assert_array_equal(solution.state.a, [1.0])


def test_it_stops_when_it_is_told_to():
    graphs = affinities(stack_bank(NOISE, "paper").store())
    assert aggregate(graphs, 3, max_iter=1, tol=0.0).status is Status.MAX_ITER
    assert aggregate(graphs, 3, max_iter=9, tol=0.0, watch=lambda n, state: n == 2).n_iter == 2


def test_rounding_leaves_no_negative_affinities():
    kernels = [Linear(), Neighbours(2), Gaussian(1e-5), Linear(None)]
    X = np.random.default_rng(2).normal(size=(5, 3))
    graphs = affinities(StoredStack.of(build_bank(X, kernels)))
    assert aggregate(graphs, 2, max_iter=30, tol=1e-6).state.S.min() >= 0
