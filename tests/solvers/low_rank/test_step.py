from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, Polynomial, build_bank
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.low_rank import step as low_rank
from kernelbraid.solvers.low_rank.step import Stepper, solve
from problems import PENALTIES, begin, blob_bank, blobs, low_rank_problem, paper_data, shared_folder

REFERENCES = ["yale_lkgr_a", "yale_lkgs_a", "jaffe_lkgr_a", "wide3_lkgs_a"]


def combine(g, H):
    return np.tensordot(g, H, 1)


def copied(s):
    """A state of its own arrays: a step reuses those it is given."""
    return replace(s, **{name: getattr(s, name).copy() for name in ("Z", "K", "J", "W", "Y1", "Y2")})


def step(problem, s):
    return Stepper(problem)(copied(s) if isinstance(s.K, np.ndarray) else s)


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.reference
@pytest.mark.parametrize("name", REFERENCES)
def test_fits_agree_with_those_of_the_published_code(name):
    with np.load(shared_folder("reference") / f"{name}.npz", allow_pickle=False) as file:
        expected = {key: file[key] for key in file.files}
    tolerance = 1e-5 if name.startswith("wide3") else 1e-6
    H = build_bank(paper_data(name.split("_")[0])[0], "rmkkm")
    np.testing.assert_allclose(np.linalg.norm(H, axis=(1, 2)), expected["input_kernel_fro"], rtol=1e-7)

    settings = {key: float(expected[key]) for key in ("alpha", "beta", "gamma")}
    problem = low_rank_problem(H, penalty="nuclear" if "lkgr" in name else "l1", **settings)
    history = []
    solution = solve(problem, begin(H, float(expected["mu_start"])), watch=lambda n, s: history.append(s.progress))
    s = solution.state

    assert solution.status is Status.CONVERGED
    assert solution.n_iter == expected["n_iter"]
    assert relative(s.J.sum(axis=1), expected["J_rowsum"]) < tolerance
    assert relative(s.K.sum(axis=1), expected["K_rowsum"]) < tolerance
    assert relative(np.diag(s.J), expected["J_diag"]) < tolerance
    for key in ("J", "K"):
        assert np.linalg.norm(getattr(s, key)) == pytest.approx(expected[f"{key}_fro"], rel=tolerance)
        if key in expected:
            assert relative(getattr(s, key), expected[key]) < tolerance
        else:
            sampled = getattr(s, key)[expected["sample_row"], expected["sample_col"]]
            assert relative(sampled, expected[f"{key}_sample"]) < tolerance
    S = combine(s.g, H)
    assert np.linalg.norm(S) == pytest.approx(expected["gK_fro"], rel=tolerance)
    assert np.linalg.norm(s.K - S) == pytest.approx(expected["K_minus_gK_fro"], rel=tolerance)
    assert history[-1].mu == pytest.approx(expected["mu_last"])
    np.testing.assert_allclose([p.kernel_change for p in history][1:], expected["rel_change"][1:], rtol=1e-3)
    np.testing.assert_allclose([p.graph_residual for p in history], expected["norm_ZJ"], rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose([p.kernel_residual for p in history], expected["norm_WK"], rtol=1e-3, atol=1e-9)


@cache
def exact_fit(name):
    """The kernels and settings of a reference fit, and the fit by decompositions alone."""
    with np.load(shared_folder("reference") / f"{name}.npz", allow_pickle=False) as file:
        settings = {key: float(file[key]) for key in ("alpha", "beta", "gamma")}
        mu, n_iter = float(file["mu_start"]), int(file["n_iter"])
    settings["penalty"] = "nuclear" if "lkgr" in name else "l1"
    H = build_bank(paper_data(name.split("_")[0])[0], "rmkkm")
    found = solve(low_rank_problem(H, **settings), begin(H, mu), route="svd")
    assert found.n_iter == n_iter
    return H, settings, mu, found


@pytest.mark.reference
def test_backends_agree_on_the_reference_fits(xp):
    for name in REFERENCES[:3]:
        H, settings, mu, here = exact_fit(name)
        H = xp.asarray(H, copy=True)
        there = solve(low_rank_problem(H, **settings), begin(H, mu))
        assert there.n_iter == here.n_iter
        for matrix in ("Z", "J", "K"):
            assert relative(to_numpy(getattr(there.state, matrix)), getattr(here.state, matrix)) < 1e-9


def some_state(H, n_steps=4, **kwargs):
    problem = low_rank_problem(H, **kwargs)
    state = begin(H, 1.0)()
    for _ in range(n_steps):
        state = step(problem, state)
    return problem, state


def test_the_first_graph_is_the_identity_and_the_first_kernel_the_average(xp):
    H, _ = blob_bank(bank="paper")  # nonnegative kernels
    H = H.clip(0)
    first = step(low_rank_problem(xp.asarray(H)), begin(xp.asarray(H), 0.7)())
    np.testing.assert_allclose(to_numpy(first.Z), np.eye(H.shape[1]), atol=1e-12)
    np.testing.assert_allclose(to_numpy(first.K), H.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_update_minimises_its_terms_of_the_augmented_lagrangian(penalty):
    # Before clipping, so compare on a state where the clip is inactive: the unclipped minimiser beats its neighbours.
    H, _ = blob_bank()
    p, s = some_state(H, penalty=penalty)
    new = step(p, s)
    rng = np.random.default_rng(0)

    def fit(K, Z):
        return 0.5 * np.trace(K - 2 * K @ Z + Z.T @ K @ Z)

    def coupling(copy, original, Y):
        return s.mu / 2 * np.sum((copy - original + Y / s.mu) ** 2)

    K_symmetric = (s.K + s.K.T) / 2
    symmetric = copied(replace(s, K=K_symmetric))
    problems = {
        "Z": (
            np.linalg.solve(K_symmetric + s.mu * np.eye(len(s.K)), K_symmetric + s.mu * s.J + s.Y1),
            low_rank.update_graph(symmetric.K, symmetric.J, symmetric.Y1, s.mu),
            lambda Z: fit(K_symmetric, Z) + coupling(s.J, Z, s.Y1),
        ),
        "J": (
            p.penalty.operator("svd")(new.Z - s.Y1 / s.mu, p.alpha / s.mu),
            new.J,
            lambda J: p.alpha * p.penalty.value(J) + coupling(J, new.Z, s.Y1),
        ),
        "W": (
            PENALTIES["nuclear"].operator("svd")(new.K - s.Y2 / s.mu, p.beta / s.mu),
            new.W,
            lambda W: p.beta * PENALTIES["nuclear"].value(W) + coupling(W, new.K, s.Y2),
        ),
    }
    for name, (minimiser, update, value) in problems.items():
        np.testing.assert_allclose(update, minimiser.clip(0), atol=1e-9, err_msg=name)
        for size in (1e-4, 1e-2):
            step_aside = size * rng.standard_normal(minimiser.shape)
            assert value(minimiser) <= value(minimiser + step_aside) + 1e-9, name


def test_the_kernel_update_is_stationary():
    H, _ = blob_bank()
    p, s = some_state(H)
    Z = low_rank.update_graph(s.K, s.J.copy(), s.Y1, s.mu)
    K = low_rank.update_kernel(p, s.W.copy(), s.Y2, Z, s.g, s.mu)
    # Gradient of Eq. (5) in K where K is positive; nonnegative where it was clipped.
    eye = np.eye(len(K))
    gradient = 0.5 * (eye - 2 * Z.T + Z @ Z.T) + 2 * p.gamma * (K - combine(s.g, H)) - s.mu * (s.W - K + s.Y2 / s.mu)
    assert np.abs(gradient[K > 0]).max() < 1e-10
    assert gradient[K == 0].min(initial=0) > -1e-10


def test_the_multipliers_follow_algorithm_1():
    H, _ = blob_bank()
    p, s = some_state(H)
    new = step(p, s)
    np.testing.assert_allclose(new.Y1, s.Y1 + s.mu * (new.J - new.Z))
    np.testing.assert_allclose(new.Y2, s.Y2 + s.mu * (new.W - new.K))
    assert new.mu == pytest.approx(1.1 * s.mu)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_constraints_hold_at_the_stop(penalty):
    H, _ = blob_bank(n=30)
    solution = solve(low_rank_problem(H, alpha=0.001, penalty=penalty), begin(H, 1.0), tol=1e-7)
    s = solution.state
    assert solution.status is Status.CONVERGED
    assert s.progress.graph_residual < 1e-3 * np.linalg.norm(s.Z)
    assert s.progress.kernel_residual < 1e-3 * np.linalg.norm(s.K)
    for A in (s.Z, s.J, s.K, s.W, s.g):
        assert A.min() >= 0
    assert s.g.sum() == pytest.approx(1)


def test_the_objective_is_its_formula():
    H, _ = blob_bank()
    p, s = some_state(H, penalty="l1")
    expected = (
        0.5 * np.trace(s.K - 2 * s.K @ s.Z + s.Z.T @ s.K @ s.Z)
        + p.alpha * np.abs(s.Z).sum()
        + p.beta * np.linalg.norm(s.K, "nuc")
        + p.gamma * np.sum((s.K - combine(s.g, H)) ** 2)
    )
    assert low_rank.objective(p, s) == pytest.approx(expected)


# Kernels far from each other, so that the weights are well defined.
DISTINCT = [Gaussian(0.02), Gaussian(0.5), Linear(), Polynomial(1, 2)]


@given(st.permutations(range(18)), st.sampled_from(sorted(PENALTIES)), st.integers(0, 20))
@hypothesis_settings(max_examples=20)
def test_permuted_samples_give_permuted_graph_and_kernel_and_the_same_weights(order, penalty, seed):
    X, _ = blobs(n=18, seed=seed)
    order = np.array(order)

    def fit(samples):
        H = build_bank(samples, DISTINCT)
        problem = low_rank_problem(H, alpha=0.01, beta=0.1, gamma=1.0, penalty=penalty)
        return solve(problem, begin(H, 0.5), max_iter=30).state

    plain, shuffled = fit(X), fit(X[order])
    for name in ("Z", "J", "K"):
        expected = getattr(plain, name)[np.ix_(order, order)]
        np.testing.assert_allclose(getattr(shuffled, name), expected, atol=1e-7, err_msg=name)
    np.testing.assert_allclose(shuffled.g, plain.g, atol=1e-6)


@given(st.permutations(range(4)))
@hypothesis_settings(max_examples=10)
def test_permuted_kernels_give_permuted_weights(order):
    H = build_bank(blobs(n=18)[0], DISTINCT)
    plain, shuffled = (
        solve(low_rank_problem(stack, alpha=0.01, beta=0.1), begin(stack, 1.0), max_iter=20).state
        for stack in (H, H[list(order)])
    )
    np.testing.assert_allclose(shuffled.g, plain.g[list(order)], atol=1e-6)
    np.testing.assert_allclose(shuffled.J, plain.J, atol=1e-7)


def test_every_backend_gives_the_same_fit(foreign):
    for penalty in PENALTIES:
        H, _ = blob_bank()
        here = solve(low_rank_problem(H, penalty=penalty), begin(H, 1.0), max_iter=25)
        there = solve(
            low_rank_problem(foreign.asarray(H), penalty=penalty), begin(foreign.asarray(H), 1.0), max_iter=25
        )
        assert there.n_iter == here.n_iter
        for name in ("Z", "J", "K", "W"):
            np.testing.assert_allclose(to_numpy(getattr(there.state, name)), getattr(here.state, name), atol=1e-9)


def test_single_precision_stays_single(xp):
    H, _ = blob_bank()
    H = xp.asarray(H, dtype=xp.float32)
    state = solve(low_rank_problem(H), begin(H, 1.0), max_iter=5).state
    assert all(A.dtype == xp.float32 for A in (state.Z, state.K, state.J, state.W, state.Y1, state.Y2))


class TestDefects:
    """Every way in which an iterate can be useless is named."""

    def state(self, **arrays):
        H, _ = blob_bank()
        return replace(some_state(H)[1], progress=None, **arrays)

    def test_a_sound_state_has_none(self):
        assert low_rank.defect(self.state(), "J") is None

    def test_not_finite(self):
        state = self.state()
        bad = state.W.copy()
        bad[0, 0] = np.nan
        assert low_rank.defect(replace(state, W=bad), "J") is Status.NON_FINITE

    def test_kernel_zero(self):
        state = self.state()
        assert low_rank.defect(replace(state, K=0 * state.K), "J") is Status.KERNEL_VANISHED

    def test_graph_zero(self):
        state = self.state()
        assert low_rank.defect(replace(state, J=0 * state.J), "J") is Status.GRAPH_EMPTY

    def test_graph_diagonal_matters_only_if_it_is_the_one_to_cluster(self):
        state = self.state()
        state = replace(state, J=np.eye(len(state.J)) + 1e-17)  # what a decomposition leaves of a diagonal
        assert low_rank.defect(state, "J") is Status.GRAPH_DIAGONAL
        assert low_rank.defect(state, "Z") is None


@pytest.mark.parametrize(
    ("settings", "mu", "status"),
    [
        ({"alpha": 1e-5, "beta": 10.0, "gamma": 1e-3}, 1.0, Status.KERNEL_VANISHED),
        ({"alpha": 1.0, "beta": 0.01, "gamma": 1.0, "penalty": "l1"}, 1.0, Status.GRAPH_EMPTY),
        ({"alpha": 0.1, "beta": 1.0, "gamma": 1.0, "penalty": "l1"}, 20.0, Status.GRAPH_DIAGONAL),
    ],
)
def test_a_collapse_is_named_and_leaves_something_sound(settings, mu, status):
    H, _ = blob_bank()
    solution = solve(low_rank_problem(H, **settings), begin(H, mu))
    assert solution.status is status
    assert low_rank.defect(solution.state, "J") is None


def test_without_a_sound_iterate_the_average_kernel_is_its_own_graph():
    H, _ = blob_bank()
    problem = low_rank_problem(H, penalty="l1", alpha=0.1)
    solution = solve(problem, begin(H, 50.0))
    assert solution.sound_iter == 0
    np.testing.assert_allclose(solution.state.K, H.mean(axis=0))
    np.testing.assert_allclose(solution.state.J, H.mean(axis=0).clip(0))
    np.testing.assert_allclose(solution.state.g, 1 / 12)


def test_extreme_kernels_end_with_finite_matrices():
    for size in [1e-200, 1e120, 1e200]:
        H, _ = blob_bank()
        solution = solve(low_rank_problem(H * size), begin(H * size, 1.0))
        assert np.isfinite(solution.state.K).all()
        assert np.isfinite(solution.state.J).all()
        assert low_rank.defect(solution.state, "J") is None


def test_tolerance_zero_makes_every_step():
    H, _ = blob_bank(n=12)
    solution = solve(low_rank_problem(H), begin(H, 1.0), max_iter=70, tol=0)
    assert (solution.status, solution.n_iter) == (Status.MAX_ITER, 70)


def test_it_never_stops_before_the_sixth_step():
    H, _ = blob_bank(n=12)
    assert solve(low_rank_problem(H), begin(H, 1e6), tol=1.0).n_iter == low_rank.MIN_ITER


class TestWeights:
    """Eq. (14) projects K on the convex hull of the kernels."""

    def weights(self, H, K, pull=2.0):
        problem = low_rank_problem(H, pull=pull)
        return low_rank.update_weights(problem, begin(H, 1.0)().g, K)

    def test_identical_kernels_share_their_weight(self):
        H = np.stack([np.eye(3), np.eye(3), np.ones((3, 3))])
        g = self.weights(H, np.eye(3) + 0.1)
        assert g[0] == pytest.approx(g[1])

    def test_a_combination_of_kernels_is_its_own_nearest_combination(self):
        H, _ = blob_bank()
        K = combine(np.r_[0.5, 0.2, np.zeros(5), 0.3, np.zeros(4)], H)
        np.testing.assert_allclose(combine(self.weights(H, K), H), K, atol=1e-7)

    def test_the_printed_problem_projects_a_quarter_of_the_kernel(self):
        H, _ = blob_bank()
        K = H[3] + H[8]
        printed, quarter = self.weights(H, K, pull=0.5), self.weights(H, K / 4)
        np.testing.assert_allclose(combine(printed, H), combine(quarter, H), atol=1e-7)

    def test_nearly_identical_kernels_give_the_nearest_combination(self):
        # The flat Gaussians of the bank make M singular to rounding; the weighted sum is well defined all the same.
        H, _ = blob_bank()
        rng = np.random.default_rng(0)
        K = combine(rng.dirichlet(np.ones(12)), H) + 0.05 * rng.random(H.shape[1:])
        heavy = 1e4 * np.linalg.norm(H)
        A = np.vstack([H.reshape(12, -1).T, heavy * np.ones(12)])
        other, _ = nnls(A, np.r_[K.ravel(), heavy], maxiter=5000)
        g = self.weights(H, K)
        assert np.linalg.norm(K - combine(g, H)) <= np.linalg.norm(K - combine(other / other.sum(), H)) * (1 + 1e-9)
