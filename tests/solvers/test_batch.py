import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import StoredStack, stack_bank
from kernelbraid.solvers import batch
from kernelbraid.solvers.batch import Setting, solve_many
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES, Stepper, solve, starting_point
from problems import begin, blob_bank, blobs, low_rank_problem, random_settings

H, _ = blob_bank(n=21)
# Settings that settle, among them some that stop early, and three that end badly.
SETTINGS = [
    *[Setting(0.01, 0.1, g, mu, p) for g in (0.5, 1.0, 10.0) for mu in (1.0, 2.0) for p in GRAPH_PENALTIES],
    Setting(1e-5, 10.0, 1e-3, 1.0),
    Setting(1.0, 0.01, 1.0, 1.0, "l1"),
    Setting(0.1, 1.0, 1.0, 20.0, "l1"),
]


def single(setting, **options):
    problem = low_rank_problem(
        H, alpha=setting.alpha, beta=setting.beta, gamma=setting.gamma, penalty=setting.graph_penalty
    )
    return solve(problem, begin(H, setting.mu), **options)


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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_processes_give_the_single_fits_in_order(n_jobs):
    for setting, found in zip(SETTINGS, solve_many(StoredStack.of(H), SETTINGS, n_jobs=n_jobs), strict=True):
        assert_same(found, setting)


@pytest.mark.usefixtures("as_batch")
def test_a_batch_gives_the_single_fits_in_order(xp):
    found = solve_many(StoredStack.of(xp.asarray(H)), SETTINGS)
    for setting, solution in zip(SETTINGS, found, strict=True):
        assert_same(solution, setting)


@pytest.mark.usefixtures("as_batch")
def test_batches_are_cut_to_size(monkeypatch):
    monkeypatch.setattr(batch, "BATCH_SIZE", 2 * 21 * 21)
    for setting, found in zip(SETTINGS, solve_many(StoredStack.of(H), SETTINGS, max_iter=12), strict=True):
        assert_same(found, setting, max_iter=12)


@pytest.mark.usefixtures("as_batch")
def test_a_batch_survives_settings_that_break_down():
    settings = [Setting(**s) for s in random_settings(30, seed=3)]
    found = solve_many(StoredStack.of(H), settings, max_iter=60)
    statuses = [single(setting, max_iter=60).status for setting in settings]
    assert [solution.status for solution in found] == statuses


@pytest.mark.parametrize("penalty", GRAPH_PENALTIES)
def test_a_round_of_a_batch_is_a_round_of_each_of_its_problems(xp, penalty):
    settings = [Setting(0.01, 0.1, g, mu, penalty, 1.0 + g / 10, pull) for g, mu, pull in [(1, 1, 2), (2, 3, 0.5)]]
    kernels = StoredStack.of(xp.asarray(H))
    R = kernels.factor()
    together = Stepper(batch._pose_together(kernels, R, settings))
    states = batch._start_together(kernels, settings)
    singles = [(Stepper(s.problem(kernels, R)), starting_point(kernels, s.mu)) for s in settings]
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
    solution = solve_many(StoredStack.of(xp.asarray(H, dtype=xp.float32)), SETTINGS[:2], max_iter=5)[0]
    assert all(getattr(solution.state, name).dtype == xp.float32 for name in batch.MATRICES)
    assert solution.state.mu == single(SETTINGS[0], max_iter=5).state.mu


def test_what_follows_a_fit_runs_where_the_fit_ran():
    ranks = solve_many(stack_bank(blobs(n=21)[0]), SETTINGS[:3], then=rank_of_graph, n_jobs=2)
    assert all(isinstance(rank, int) for rank in ranks)


def rank_of_graph(solution):
    return int(np.linalg.matrix_rank(solution.state.J))


@pytest.mark.parametrize(
    ("settings", "message"),
    [([{"alpha": 1}], "give objects of the class Setting"), ([3], "give objects of the class Setting")],
)
def test_bad_settings_get_a_clear_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        solve_many(StoredStack.of(H), settings)


def test_an_array_of_kernels_will_do():
    assert_same(solve_many(H, SETTINGS[:1])[0], SETTINGS[0])


@pytest.mark.parametrize(("option", "value"), [("graph", "X"), ("max_iter", 0)])
def test_bad_options_get_a_clear_sentence(option, value):
    with pytest.raises(ValueError, match=f"{option}={value!r}"):
        solve_many(H, SETTINGS[:1], **{option: value})


def test_impossible_settings_are_refused_when_made():
    for values in [
        {"alpha": 0},
        {"mu": -1.0},
        {"beta": np.inf},
        {"gamma": "1"},
        {"growth": 0.5},
        {"graph_penalty": "l2"},
    ]:
        with pytest.raises(ValueError, match=r"must be a|is unknown"):
            Setting(**{"alpha": 1.0, "beta": 1.0, "gamma": 1.0, "mu": 1.0, **values})
