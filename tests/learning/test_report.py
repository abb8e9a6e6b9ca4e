import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid.kernels import Gaussian, StoredStack, build_bank, stack_bank
from kernelbraid.learning.effort import watched_by
from kernelbraid.learning.report import (
    OVERSIZE,
    History,
    StepHistory,
    complaint,
    oversize,
)
from kernelbraid.learning.settings import Settings
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Status
from kernelbraid.solvers.low_rank.step import Progress
from problems import blobs

LAST = {"kernel_change": 0.5, "graph_residual": 0.25}
SPOKEN = [status for status in Status if status not in (Status.CONVERGED, Status.STOPPED)]


def solution(status, n_iter=9, sound_iter=9):
    return Solution(None, status, n_iter, sound_iter)


def state(mu=1.0):
    return SimpleNamespace(progress=Progress(mu, 0.5, 0.25, 0.125, 3, 4, "svd", "gram"))


class TestHistory:
    def test_every_step_is_recorded_by_quantity(self):
        history = History()
        for n, mu in enumerate((1.0, 1.1, 1.21), 1):
            assert history(n, state(mu)) is False
        columns = history.columns()
        assert set(columns) == set(Progress.__dataclass_fields__)
        np.testing.assert_array_equal(columns["mu"], [1.0, 1.1, 1.21])
        assert columns["graph_route"].tolist() == ["svd"] * 3
        assert history.last["mu"] == 1.21

    def test_the_objective_is_recorded_when_it_is_asked_for(self):
        history = History(lambda s: 10 * s.progress.mu)
        history(1, state(2.0))
        assert history.columns()["objective"].tolist() == [20.0]
        assert "objective" not in History().columns()

    def test_who_watches_hears_of_steps_and_the_answer_is_passed_on(self):
        seen = []
        history = History()
        with watched_by(SimpleNamespace(step=lambda told: seen.append(told["mu"]) or len(seen) == 2)):
            assert not history(1, state())
            assert history(2, state(3.0))
        assert seen == [1.0, 3.0]

    def test_a_start_is_no_step(self):
        history = History()
        with watched_by(SimpleNamespace(step=lambda told: pytest.fail("called"))):
            assert history(0, SimpleNamespace(progress=None)) is False
        assert history.last == {}
        assert all(len(column) == 0 for column in history.columns().values())


def asked(gamma=3.0, **settings):
    learning = Settings.of({"preset": "authors", "gamma": gamma}).learning
    return replace(learning, alpha=1.0, beta=2.0, mu=4.0, mu_growth=1.1, max_iter=9, tol=1e-5, **settings)


class TestComplaint:
    def test_an_end_as_asked_is_none(self):
        for gamma in [3.0, math.inf]:
            for status in [Status.CONVERGED, Status.STOPPED]:
                assert complaint(solution(status), asked(gamma), LAST, 1.0) is None

    def test_every_other_end_says_what_happened_what_came_back_and_what_to_do(self):
        for status in SPOKEN:
            told = {
                gamma: complaint(solution(status, sound_iter=4), asked(gamma), LAST, 1.0) for gamma in (3.0, math.inf)
            }
            for sentences in told.values():
                assert re.fullmatch(r"LKG [a-z][^A-Z]*( [JZ] [^A-Z]*)?\. [A-Z].*\.", sentences)
                assert ("the result is that of step 4, the last sound one" in sentences) is not status.is_sound
            assert told[3.0] != told[math.inf]
            assert not re.search(r"\bmu=|beta|gamma|kernel still changed", told[math.inf])

    def test_steps_that_were_all_asked_for_are_none(self):
        assert complaint(solution(Status.MAX_ITER), replace(asked(), tol=0.0), LAST, 1.0) is None

    def test_the_last_step_is_told_with_what_was_aimed_at(self):
        assert complaint(solution(Status.MAX_ITER), asked(), LAST, 1.0) == (
            "LKG made max_iter=9 steps and the kernel still changed by 5.0e-01 (tol=1e-05). Raise max_iter, or "
            "mu_growth=1.1 if the residuals in its history are flat."
        )

    def test_without_a_sound_step_the_average_is_said_to_be_clustered(self):
        told = complaint(solution(Status.GRAPH_EMPTY, sound_iter=0), asked(), LAST, 1.0)
        assert "; no step was sound, so the average kernel was clustered. Lower alpha=1" in told

    @pytest.mark.parametrize("status", [Status.CONVERGED, Status.MAX_ITER])
    def test_a_kernel_that_left_all_bounds_is_told_before_anything_else(self, status):
        told = complaint(solution(status), asked(), LAST, 2 * OVERSIZE)
        assert re.match(r"LKG diverged on its way: .* 2e\+03 times .*\. Raise mu=4 or gamma=3\.$", told)
        assert complaint(solution(Status.CONVERGED), asked(), LAST, OVERSIZE) is None


class TestOversize:
    H = build_bank(blobs(n=12)[0], [Gaussian(0.1), Gaussian(1.0)])

    def test_a_candidate_has_at_most_size_one_and_the_unit_is_the_largest(self):
        stack = StoredStack.of(self.H)
        sizes = [oversize(stack, K) for K in self.H]
        assert max(sizes) == pytest.approx(1.0)
        assert oversize(stack, 7 * self.H[int(np.argmax(sizes))]) == pytest.approx(7.0)

    def test_lazy_kernels_have_the_same_unit(self):
        X, _ = blobs(n=12)
        lazy = stack_bank(X, [Gaussian(0.1), Gaussian(1.0)])
        assert oversize(lazy, self.H[0]) == pytest.approx(oversize(StoredStack.of(self.H), self.H[0]))


class TestAlternations:
    def history(self, changes=(0.5, 0.25)):
        history = StepHistory()
        for n, change in enumerate(changes, 1):
            history(n, SimpleNamespace(progress=AlternationProgress(10.0 - n, change)))
        return history

    def test_objectives_are_recorded_and_who_watches_can_stop(self):
        np.testing.assert_array_equal(self.history().columns()["objective"], [9.0, 8.0])
        with watched_by(SimpleNamespace(step=lambda told: told["objective"] < 5)):
            assert StepHistory()(1, SimpleNamespace(progress=AlternationProgress(4.0, 0.1)))

    def test_the_last_change_is_told_with_what_was_aimed_at(self):
        asked = {"max_iter": 2, "tol": 1e-3}
        told = self.history().complaint("TwinGraph", solution(Status.MAX_ITER, 2), **asked)
        assert told == "TwinGraph made max_iter=2 steps and still changes by 2.5e-01 (tol=0.001). Raise max_iter."
        without = self.history().complaint("SimplexGraph", solution(Status.MAX_ITER, 2), max_iter=2, tol=None)
        assert without == "SimplexGraph made max_iter=2 steps and still changes by 2.5e-01. Raise max_iter."

    def test_numbers_that_are_not_finite_are_told(self):
        told = self.history().complaint("KernelKMeans", solution(Status.NON_FINITE, 3), max_iter=9)
        assert told.startswith("KernelKMeans left the finite numbers at step 3; the result is the last one before. ")
        at_once = self.history(()).complaint("A", solution(Status.NON_FINITE, 1), max_iter=2, tol=1e-3)
        assert at_once.startswith("A left the finite numbers at step 1")
