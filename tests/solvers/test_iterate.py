import pickle

import numpy as np
import pytest

from kernelbraid.solvers.iterate import Status, iterate


def run(step, start, *, defect=lambda s: None, converged=lambda n, s: False, max_iter=10, watch=None):
    return iterate(
        lambda: (step, start),
        converged=converged,
        defect=defect,
        fallback=lambda: "fallback",
        max_iter=max_iter,
        watch=watch,
    )


def test_it_stops_when_converged():
    solution = run(lambda s: s / 2, 1.0, converged=lambda n, s: s < 0.1)
    assert (solution.state, solution.status, solution.n_iter) == (0.0625, Status.CONVERGED, 4)


def test_it_stops_at_the_limit():
    solution = run(lambda s: s + 1, 0)
    assert (solution.state, solution.status, solution.n_iter, solution.sound_iter) == (10, Status.MAX_ITER, 10, 10)


def test_a_watcher_sees_every_step_and_can_stop():
    seen = []
    solution = run(lambda s: s + 1, 0, watch=lambda n, s: seen.append((n, s)) or n == 3)
    assert seen == [(1, 1), (2, 2), (3, 3)]
    assert solution.status is Status.STOPPED
    assert solution.state == 3


def test_a_state_that_is_not_finite_ends_it_with_the_last_sound_one():
    solution = run(lambda s: s * 10, 1.0, defect=lambda s: Status.NON_FINITE if s > 1e3 else None)
    assert (solution.state, solution.status, solution.n_iter, solution.sound_iter) == (1e3, Status.NON_FINITE, 4, 3)


def test_a_failing_decomposition_counts_as_not_finite():
    def step(s):
        if s == 2:
            raise np.linalg.LinAlgError
        return s + 1

    solution = run(step, 0)
    assert (solution.state, solution.status, solution.n_iter) == (2, Status.NON_FINITE, 3)


def test_an_unsound_state_may_recover():
    solution = run(lambda s: s + 1, 0, defect=lambda s: Status.GRAPH_EMPTY if s in (1, 5) else None)
    assert (solution.state, solution.status) == (10, Status.MAX_ITER)


def test_an_unsound_end_returns_the_last_sound_state():
    solution = run(
        lambda s: s + 1,
        0,
        defect=lambda s: Status.GRAPH_EMPTY if s > 4 else None,
        converged=lambda n, s: n == 7,
    )
    assert (solution.state, solution.status, solution.n_iter) == (4, Status.GRAPH_EMPTY, 7)


def test_without_a_sound_state_the_fallback_is_returned():
    solution = run(lambda s: s + 1, 0, defect=lambda s: Status.KERNEL_VANISHED)
    assert (solution.state, solution.sound_iter) == ("fallback", 0)


def test_errors_of_a_watcher_are_not_swallowed():
    def watch(n, s):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run(lambda s: s, 0, watch=watch)


def test_a_status_is_its_word():
    assert str(Status.CONVERGED) == "converged" == Status.CONVERGED
    assert Status("graph_empty") is Status.GRAPH_EMPTY
    assert {str(status) for status in Status} == {
        *("converged", "max_iter", "stopped", "non_finite", "kernel_vanished", "graph_empty", "graph_diagonal")
    }


def test_the_last_iterate_comes_back_where_nothing_is_wrong_with_it():
    assert {status for status in Status if status.is_sound} == {Status.CONVERGED, Status.MAX_ITER, Status.STOPPED}


def test_a_status_travels_between_processes():
    for status in Status:
        assert pickle.loads(pickle.dumps(status)) is status
