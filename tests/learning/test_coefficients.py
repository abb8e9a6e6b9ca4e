import math
import re
from dataclasses import replace

import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, build_bank
from kernelbraid.learning import coefficients as module
from kernelbraid.learning.coefficients import Coefficients, express, learn_many
from kernelbraid.learning.settings import PRESETS
from kernelbraid.learning.sources import Views
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.low_rank import step as low_rank
from problems import blobs, run_unguarded

X, y = blobs(n=24)
BANK = [Gaussian(0.1), Gaussian(1.0), Linear()]
AVERAGE = build_bank(X, BANK).mean(axis=0)
CLOSED, AUTHORS = PRESETS["recommended"].learning, PRESETS["authors"].learning


def pose(kernels=BANK, samples=X, **more):
    return Views([samples]).pose(kernels, **more)


class TestClosedForm:
    def test_it_solves_the_normal_equations(self, xp):
        learned = express(pose(samples=xp.asarray(X)), replace(CLOSED, alpha=0.6))
        exact = np.maximum(np.linalg.solve(AVERAGE + 0.6 * np.eye(24), AVERAGE), 0)
        np.testing.assert_allclose(to_numpy(learned.Z), exact, atol=1e-10)
        np.testing.assert_array_equal(learned.weights, np.full(3, 1 / 3))
        assert (learned.status, learned.n_iter, learned.complaint) == (Status.CONVERGED, 1, None)
        assert learned.J is learned.Z

    @pytest.mark.parametrize(
        ("keep_kernel", "is_shared", "record_objective"),
        [(False, False, False), (True, False, False), (False, True, False), (False, False, True)],
    )
    def test_it_uses_the_memory_of_the_kernel_unless_that_is_kept(
        self, monkeypatch, keep_kernel, is_shared, record_objective
    ):
        candidates = pose(is_shared=is_shared)
        averages, average = [], type(candidates).average
        monkeypatch.setattr(type(candidates), "average", lambda self: averages.append(average(self)) or averages[-1])
        learning = replace(CLOSED, record_objective=record_objective)
        learned = express(candidates, learning, keep_kernel=keep_kernel)
        [K] = averages
        if keep_kernel or is_shared or record_objective:
            assert learned.K is K
            np.testing.assert_allclose(K, AVERAGE, atol=1e-12)
            assert not np.shares_memory(learned.Z, K)
        else:
            assert learned.K is None
            assert np.shares_memory(learned.Z, K)

    def test_kernels_that_were_handed_over_are_not_used_up(self):
        stored = pose([Gaussian(1.0)], stored=True)
        before = stored.stack.combine(np.ones(1)).copy()
        express(stored, CLOSED)
        np.testing.assert_array_equal(stored.stack.combine(np.ones(1)), before)

    def test_settings_of_a_shared_average_do_not_disturb_each_other(self):
        shared = pose(is_shared=True)
        for alpha in (0.1, 1.0, 10.0):
            expected = express(pose(), replace(CLOSED, alpha=alpha))
            found = express(shared, replace(CLOSED, alpha=alpha))
            np.testing.assert_allclose(found.Z, expected.Z, atol=1e-12)

    def test_the_objective_is_the_value_at_the_graph(self):
        learned = express(pose(), replace(CLOSED, alpha=0.6, record_objective=True))
        K, Z = AVERAGE, learned.Z
        fit = 0.5 * np.trace(K - 2 * K @ Z + Z.T @ K @ Z) + 0.3 * np.sum(Z**2)
        [found] = learned.history["objective"]
        assert found == pytest.approx(fit + CLOSED.beta * np.linalg.norm(K, "nuc"))


class TestSolvers:
    @pytest.mark.parametrize(
        ("change", "solver"),
        [
            ({"gamma": math.inf, "graph_penalty": "frobenius"}, "solve_ridge"),
            ({"gamma": math.inf, "graph_penalty": "nuclear"}, "solve"),
            ({"gamma": math.inf, "graph_penalty": "l1"}, "solve"),
            ({"gamma": 1.0, "graph_penalty": "frobenius"}, "solve"),
            ({"gamma": 1.0, "graph_penalty": "nuclear"}, "solve"),
        ],
    )
    def test_the_cheapest_solver_is_taken(self, monkeypatch, change, solver):
        class TakenError(Exception):
            pass

        def taken(name):
            def solve(*_, **__):
                raise TakenError(name)

            return solve

        monkeypatch.setattr(module, "solve_ridge", taken("solve_ridge"))
        monkeypatch.setattr(low_rank, "solve", taken("solve"))
        with pytest.raises(TakenError, match=f"^{solver}$"):
            express(pose(), replace(AUTHORS, **change))

    def test_options_reach_the_solver(self, monkeypatch):
        seen = {}
        solve = low_rank.solve
        monkeypatch.setattr(low_rank, "solve", lambda *given, **more: seen.update(more) or solve(*given, **more))
        learning = replace(AUTHORS, graph_from="Z", max_iter=7, tol=0.0, thresholding="svd")
        assert express(pose(), learning).n_iter == 7
        asked = {"graph": "Z", "max_iter": 7, "tol": 0.0, "route": "svd"}
        assert {name: seen[name] for name in asked} == asked

    @pytest.mark.parametrize("penalty", ["nuclear", "l1"])
    def test_the_published_algorithm_is_what_it_was(self, penalty):
        H = build_bank(X, "rmkkm")
        learning = replace(AUTHORS, graph_penalty=penalty, alpha=0.1, beta=1.0, gamma=1.0, mu=1.0, max_iter=15)
        learned = express(pose("rmkkm", stored=True), learning)
        settings = {"alpha": 0.1, "beta": 1.0, "gamma": 1.0, "mu": 1.0, "graph_penalty": penalty}
        Z, K, J, _ = run_unguarded(H, settings, max_iter=15)
        np.testing.assert_allclose(learned.Z, Z, atol=1e-8)
        np.testing.assert_allclose(learned.K, K, atol=1e-8)
        np.testing.assert_allclose(learned.J, J, atol=1e-8)

    def test_libraries_agree(self, foreign):
        for penalty in low_rank.GRAPH_PENALTIES:
            for gamma in [10.0, math.inf]:
                learning = replace(CLOSED, graph_penalty=penalty, gamma=gamma, alpha=0.1, max_iter=12, tol=0.0)
                here, there = (express(pose(samples=A), learning, keep_kernel=True) for A in (X, foreign.asarray(X)))
                assert (here.status, here.n_iter) == (there.status, there.n_iter)
                for name in ("Z", "J", "K"):
                    assert type(getattr(there, name)) is type(foreign.asarray(X))
                    np.testing.assert_allclose(to_numpy(getattr(there, name)), getattr(here, name), atol=1e-9)

    def test_a_random_start_is_that_of_the_generator(self):
        learning = replace(PRESETS["paper"].learning, max_iter=3, tol=0.0)

        def run(seed):
            state = None if seed is None else np.random.RandomState(seed)
            return express(pose(), learning, random_state=state).Z

        np.testing.assert_array_equal(run(1), run(1))
        np.testing.assert_array_equal(run(None), run(0))
        assert not np.allclose(run(1), run(2))

    def test_a_fit_that_draws_nothing_leaves_the_generator_alone(self):
        state = np.random.RandomState(0)
        express(pose(), CLOSED, random_state=state)
        express(pose(), replace(AUTHORS, max_iter=3, tol=0.0), random_state=state)
        assert state.randint(10**6) == np.random.RandomState(0).randint(10**6)


class TestEnds:
    @pytest.mark.parametrize(
        ("learning", "kernels", "status", "told"),
        [
            (CLOSED, [Gaussian(1e-6)], Status.GRAPH_DIAGONAL, r"joins no two samples; .* Use wider kernels"),
            (replace(CLOSED, graph_penalty="l1"), "rmkkm", Status.GRAPH_EMPTY, "graph Z that is zero; .* Lower alpha"),
            (replace(AUTHORS, beta=10.0, gamma=1e-3), "rmkkm", Status.KERNEL_VANISHED, "Lower beta=10 below"),
            (replace(AUTHORS, max_iter=3), "rmkkm", Status.MAX_ITER, r"made max_iter=3 steps and the kernel still"),
            (
                replace(CLOSED, graph_penalty="nuclear", alpha=0.1, max_iter=7, tol=1e-9),
                "rmkkm",
                Status.MAX_ITER,
                "made max_iter=7 steps and the two copies of the graph still differ by",
            ),
        ],
        ids=["diagonal", "empty", "vanished", "max_iter", "fixed"],
    )
    def test_bad_ends_are_told_and_leave_a_sound_graph(self, learning, kernels, status, told):
        learned = express(pose(kernels), learning)
        assert learned.status is status
        assert np.all(np.isfinite(learned.Z))
        assert re.match(f"LKG .*{told}", learned.complaint)


class TestMany:
    LEARNINGS = tuple(
        replace(AUTHORS, alpha=alpha, graph_penalty=penalty, max_iter=12, tol=0.0)
        for penalty in ("nuclear", "l1")
        for alpha in (0.01, 0.1)
    )

    def test_many_are_what_each_is(self, xp):
        for graph in ["J", "Z"]:
            learnings = [replace(learning, graph_from=graph) for learning in self.LEARNINGS]
            candidates = pose("rmkkm", xp.asarray(X), stored=True)
            found = learn_many(candidates, learnings)
            assert len(found) == len(learnings)
            for learned, learning in zip(found, learnings, strict=True):
                expected = express(pose("rmkkm", stored=True), learning)
                assert (learned.status, learned.n_iter) == (expected.status, expected.n_iter)
                for name in ("Z", "J", "K", "weights"):
                    np.testing.assert_allclose(to_numpy(getattr(learned, name)), getattr(expected, name), atol=1e-7)
                assert (learned.history, learned.complaint) == ({}, None)

    def test_none_are_none(self):
        assert learn_many(pose(stored=True), []) == []

    def test_settings_that_stop_otherwise_are_no_batch(self):
        with pytest.raises(ValueError, match="unpack"):
            learn_many(pose(stored=True), [AUTHORS, replace(AUTHORS, max_iter=3)])
        with pytest.raises(ValueError, match="use express for the others"):
            learn_many(pose(stored=True), [replace(AUTHORS, gamma=math.inf)])


class TestGraphs:
    Z, J = np.eye(2), np.ones((2, 2))

    def test_the_graph_is_the_matrix_that_is_asked_for(self):
        found = Coefficients(Z=self.Z, J=self.J)
        assert found.named("Z") is self.Z
        assert found.named("J") is self.J
        assert Coefficients(Z=self.Z).named("J") is self.Z

    def test_an_unsound_graph_serves_only_those_who_asked_for_it(self):
        for status in Status:
            for judged_by, other in (("Z", "J"), ("J", "Z")):
                found = Coefficients(Z=self.Z, J=self.J, status=status, judged_by=judged_by)
                assert found.serves(judged_by)
                assert found.serves(other) is status.is_sound
