import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import StoredStack, build_bank, stack_given
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.self_weighted import (
    BALANCE,
    ConsensusProblem,
    solve_consensus,
    spectral_norm,
    update_eigenvectors,
    update_graph,
    update_kernel,
)
from problems import blobs, relative_gap, rival, rival_kernels, triangle

BANK = build_bank(blobs(n=30)[0] + np.random.default_rng(0).normal(size=(30, 6)), "rmkkm")[2:9]
rng = np.random.default_rng(0)


def problem(H=BANK, k=3, *, alpha=1e-5, beta=None, gamma=1.0):
    return ConsensusProblem(stack_given(H), k, alpha, beta, gamma)


def test_weights_are_inverse_distances_however_kernels_are_kept():
    K = BANK.mean(axis=0)
    expected = [1 / (2 * np.linalg.norm(H - K)) for H in BANK]
    np.testing.assert_allclose(problem().weights(K), expected)
    stored = ConsensusProblem(StoredStack.of(BANK), 3, 1e-5, None, 1.0)
    np.testing.assert_allclose(stored.weights(K), expected)


def test_a_kernel_at_the_consensus_has_a_finite_weight():
    assert np.isfinite(problem(BANK[:1]).weights(BANK[0])).all()


def test_without_clipping_the_graph_minimises_its_part_of_the_objective(xp):
    posed = problem(alpha=0.1)
    K, F = BANK[3], np.linalg.qr(rng.normal(size=(30, 3)))[0]
    E = np.sqrt(((F[:, None] - F[None]) ** 2).sum(axis=2))  # as the published code has it
    Z = np.linalg.solve(K + np.eye(30), K - 0.1 / 4 * E)
    gradient = -2 * K + 2 * K @ Z + 2 * Z + 0.1 / 2 * E  # of Tr(-2 K Z + Z'K Z) + ||Z||^2 + alpha / 2 Tr(Z'E)
    np.testing.assert_allclose(gradient, 0, atol=1e-10)
    clipped = np.maximum(Z, 0)
    found = to_numpy(update_graph(posed, xp.asarray(K), xp.asarray(F)))
    np.testing.assert_allclose(found, (clipped + clipped.T) / 2, atol=1e-10)


def test_the_kernel_minimises_its_part_of_the_objective_where_it_is_positive():
    posed, Z = problem(beta=20.0), np.abs(rng.normal(size=(30, 30))) / 60
    Z = Z + Z.T
    w = posed.weights(BANK.mean(axis=0))
    K = update_kernel(posed, Z, w)
    off = np.eye(30) - Z
    gradient = off @ off + 2 * 20.0 * sum(weight * (K - H) for weight, H in zip(w, BANK, strict=True))
    np.testing.assert_allclose(gradient[K > 0], 0, atol=1e-9)
    assert (gradient[K == 0] >= -1e-9).all()
    np.testing.assert_array_equal(K, K.T)


def test_eigenvectors_are_those_of_the_laplacian():
    Z = np.abs(rng.normal(size=(30, 30)))
    Z = Z + Z.T
    F = update_eigenvectors(problem(), Z)
    L = np.diag(Z.sum(axis=0)) - Z
    assert np.trace(F.T @ L @ F) == pytest.approx(np.linalg.eigvalsh(L)[:3].sum())


def test_the_norm_is_the_largest_singular_value():
    A = rng.normal(size=(9, 9))
    A = A + A.T
    assert spectral_norm(-A) == pytest.approx(np.linalg.norm(A, 2))


@pytest.mark.parametrize("size", [1.0, 10.0])
def test_beta_is_chosen_so_that_the_candidates_outweigh_the_graph(size):
    posed = problem(size * BANK)
    assert 2 * posed.strength * posed.start().w.sum() == pytest.approx(BALANCE)
    assert problem(beta=3.0).strength == 3.0


def test_candidates_that_are_nearly_equal_hold_the_kernel():
    for gap in [0.0, 1e-12, 1e-6, 1e-2]:
        H = np.stack([BANK[0], (1 - gap) * BANK[0] + gap * BANK[1]])
        solution = solve_consensus(problem(H), max_iter=100, tol=1e-5)
        assert solution.status is Status.CONVERGED
        assert np.linalg.norm(solution.state.K - H[0]) < 0.6 * np.linalg.norm(H[0])


def test_the_iteration_ends_where_another_step_changes_little():
    posed = problem()
    solution = solve_consensus(posed, max_iter=100, tol=1e-5)
    assert solution.status is Status.CONVERGED
    Z, K = solution.state.Z, solution.state.K
    again = update_graph(posed, K, update_eigenvectors(posed, Z))
    assert np.linalg.norm(again - Z, 2) < 1e-4 * np.linalg.norm(Z, 2)
    assert min(Z.min(), K.min()) >= 0
    np.testing.assert_array_equal(Z, Z.T)


def test_every_array_library_takes_the_same_path(foreign):
    expected = solve_consensus(problem(), max_iter=100, tol=1e-5)
    found = solve_consensus(problem(foreign.asarray(BANK)), max_iter=100, tol=1e-5)
    assert found.n_iter == expected.n_iter
    np.testing.assert_allclose(to_numpy(found.state.Z), expected.state.Z, atol=1e-9)
    np.testing.assert_allclose(found.state.w, expected.state.w, atol=1e-9)


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k", "beta"), [("yale", 15, 15.0), ("webkb203", 4, 100.0), ("ngs", 5, 100.0)])
def test_graph_kernel_and_weights_are_those_of_the_authors_code(name, k, beta):
    known, seen = rival("smkl", name), []
    posed = problem(rival_kernels(name), k, beta=beta)
    state = solve_consensus(posed, max_iter=100, tol=1e-5, watch=lambda n, state: seen.append(state) and None).state
    assert len(seen) == known["n_iter"]
    assert relative_gap(np.array([one.w for one in seen]), known["weights"]) < 1e-10
    assert relative_gap(np.array([one.progress.objective for one in seen]), known["objective"]) < 1e-7
    assert relative_gap(triangle(state.Z), known["Z_triu"]) < 1e-10
    sampled = state.K[known["K_sample_i"], known["K_sample_j"]]
    assert relative_gap(sampled, known["K_sample"]) < 1e-10
