import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import StoredStack
from kernelbraid.solvers import batch
from kernelbraid.solvers.batch import solve_many
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES, LowRankProblem, Stepper, solve, starting_point
from problems import begin, blob_bank, low_rank_problem, random_settings

H, _ = blob_bank(n=21)


def setting(gamma, mu, penalty="nuclear", alpha=0.01, beta=0.1):
    return {"alpha": alpha, "beta": beta, "gamma": gamma, "mu": mu, "penalty": penalty}


# Settings that settle, among them some that stop early, and three that end badly.
SETTINGS = [
    *[setting(g, mu, p) for g in (0.5, 1.0, 10.0) for mu in (1.0, 2.0) for p in GRAPH_PENALTIES],
    setting(1e-3, 1.0, alpha=1e-5, beta=10.0),
    setting(1.0, 1.0, "l1", alpha=1.0, beta=0.01),
    setting(1.0, 20.0, "l1", alpha=0.1, beta=1.0),
]


def fits(H, settings):
    """Problems over the same kernels, each with its first mu."""
    kernels = StoredStack.of(H)
    R = kernels.factor()

    def pose(alpha, beta, gamma, mu, penalty, growth=1.1, pull=2.0):
        return LowRankProblem(kernels, R, alpha, beta, gamma, GRAPH_PENALTIES[penalty], growth, pull), mu

    return [pose(**each) for each in settings]


def single(setting, **options):
    weights = {name: value for name, value in setting.items() if name != "mu"}
    return solve(low_rank_problem(H, **weights), begin(H, setting["mu"]), **options)


def assert_same(found, setting, **options):
    expected = single(setting, **options)
    assert (found.status, found.n_iter, found.sound_iter) == (expected.status, expected.n_iter, expected.sound_iter)
    for name in ("Z", "K", "J"):
        np.testing.assert_allclose(
            to_numpy(getattr(found.state, name)), getattr(expected.state, name), atol=1e-8, err_msg=str(setting)
        )


@pytest.fixture
def as_batch(monkeypatch):
    """Treat arrays on the host as if they were on an accelerator."""
    monkeypatch.setattr(batch, "is_on_host", lambda array: False)


def test_processes_give_the_single_fits_in_order():
    for setting, found in zip(SETTINGS, solve_many(fits(H, SETTINGS)), strict=True):
        assert_same(found, setting)


@pytest.mark.usefixtures("as_batch")
def test_a_batch_gives_the_single_fits_in_order(xp):
    found = solve_many(fits(xp.asarray(H), SETTINGS))
    for setting, solution in zip(SETTINGS, found, strict=True):
        assert_same(solution, setting)


@pytest.mark.usefixtures("as_batch")
def test_batches_are_cut_to_size(monkeypatch):
    monkeypatch.setattr(batch, "BATCH_SIZE", 2 * 21 * 21)
    for setting, found in zip(SETTINGS, solve_many(fits(H, SETTINGS), max_iter=12), strict=True):
        assert_same(found, setting, max_iter=12)


@pytest.mark.usefixtures("as_batch")
def test_a_batch_survives_settings_that_break_down():
    settings = [{"penalty": s.pop("graph_penalty"), **s} for s in random_settings(30, seed=3)]
    found = solve_many(fits(H, settings), max_iter=60)
    statuses = [single(setting, max_iter=60).status for setting in settings]
    assert [solution.status for solution in found] == statuses


@pytest.mark.parametrize("penalty", GRAPH_PENALTIES)
def test_a_round_of_a_batch_is_a_round_of_each_of_its_problems(xp, penalty):
    settings = [
        {**setting(g, mu, penalty), "growth": 1.0 + g / 10, "pull": pull} for g, mu, pull in [(1, 1, 2), (2, 3, 0.5)]
    ]
    posed = fits(xp.asarray(H), settings)
    kernels = posed[0][0].kernels
    together = Stepper(batch._pose_together([problem for problem, _ in posed]))
    states = batch._start_together(kernels, [mu for _, mu in posed])
    singles = [(Stepper(problem), starting_point(kernels, mu)) for problem, mu in posed]
    for _ in range(5):
        states = together(states)
        singles = [(step, step(state)) for step, state in singles]
    for at, (_, state) in enumerate(singles):
        for name in (*batch.MATRICES, "g"):
            np.testing.assert_allclose(to_numpy(getattr(states, name))[at], to_numpy(getattr(state, name)), atol=1e-8)
        assert states.mu[at].item() == state.mu
        for name in ("kernel_change", "graph_residual", "kernel_residual"):
            found = float(getattr(states.progress, name)[at])
            assert found == pytest.approx(getattr(state.progress, name), rel=1e-6, abs=1e-8)


@pytest.mark.usefixtures("as_batch")
def test_single_precision_stays_single_in_a_batch(xp):
    solution = solve_many(fits(xp.asarray(H, dtype=xp.float32), SETTINGS[:2]), max_iter=5)[0]
    assert all(getattr(solution.state, name).dtype == xp.float32 for name in batch.MATRICES)
    assert solution.state.mu == single(SETTINGS[0], max_iter=5).state.mu
