from types import SimpleNamespace

import numpy as np
import pytest

from callbacks import Heard
from kernelbraid import ADMM, LKG
from kernelbraid.learning import progress
from kernelbraid.learning.progress import expect, on_course, stretch, watched_by, within
from problems import blobs

X, _ = blobs(n=40)


@pytest.fixture
def heard():
    """Shares of the work that were told."""
    told = []
    with watched_by(SimpleNamespace(reach=told.append)):
        yield told


def test_work_is_told_from_its_beginning_to_its_end(heard):
    with on_course(4.0):
        with stretch(1.0):
            within(0.5)
        with stretch(3.0):
            pass
    assert heard == [0, 0, 1 / 8, 1 / 4, 1 / 4, 1, 1]


def test_work_that_was_not_announced_is_told_to_nobody(heard):
    with stretch(1.0):
        within(0.5)
    expect(3.0)
    assert heard == []


def test_nobody_needs_to_listen():
    with on_course(1.0) as course, stretch(1.0):
        pass
    assert course.done == 1
    assert not progress.step({})


def test_how_much_there_is_can_be_corrected(heard):
    with on_course(4.0):
        with stretch(2.0):
            pass
        expect(4.0)
        with stretch(2.0):
            pass
        assert heard[-1] == 1 / 2
    with on_course(4.0):
        with stretch(2.0):
            pass
        expect(-9.0)
    assert heard[-1] == 1


def test_an_end_before_its_time_is_no_arrival(heard):
    with pytest.raises(KeyboardInterrupt), on_course(4.0), stretch(2.0):
        raise KeyboardInterrupt
    assert max(heard) == 0
    with stretch(1.0):
        pass
    assert max(heard) == 0


def test_tasks_tell_how_far_they_have_come_as_they_are_taken(heard):
    tasks = progress.counted([3, 1, 4], lambda task: task, 8, (0.5, 1.0))
    assert list(tasks) == [3, 1, 4]
    np.testing.assert_allclose(heard, [0.5 + 3 / 16, 0.75, 1.0])


def test_phases_have_a_hundred_parts_by_their_effort_and_none_has_no_part():
    assert progress.parts_of({"a": 3.0, "b": 1.0, "c": 1e-9}) == {"a": 75, "b": 25, "c": 1}
    assert progress.parts_of({"a": 3.0, "b": 1.0}, 0.5) == {"a": 6, "b": 2}


@pytest.mark.parametrize("n", [40, 2100])
def test_a_fit_tells_its_phases_before_they_begin_and_their_parts_as_they_end(n):
    heard = Heard()
    LKG(3, random_state=0, n_init=2).set_callbacks(heard).fit(blobs(n=n)[0])
    phases = [one for one in heard.begun if one[0] not in ("fit", "part")]
    assert [name for name, _ in phases] == [progress.LEARN, progress.CUT, progress.JUDGE]
    assert 95 <= sum(parts for _, parts in phases) <= 105
    if n > 2000:  # rows are formed in blocks
        assert heard.ended.count(("part", 0)) == dict(phases)[progress.LEARN]


def test_the_choice_of_the_number_is_the_first_phase():
    heard = Heard()
    LKG("auto", random_state=0).set_callbacks(heard).fit(X)
    assert heard.begun[1][0] == progress.CHOOSE
    assert heard.ended.count(("part", 0)) >= heard.begun[1][1]


def test_a_solver_has_callbacks_of_its_own():
    of_fit, of_solver = Heard(), Heard(last_step=4)
    solver = ADMM(tol=0.0, max_iter=9).set_callbacks(of_solver)
    model = LKG(3, solver=solver, random_state=0).set_callbacks(of_fit).fit(X)
    assert model.n_iter_ == 4
    assert model.solution_.status == "stopped"
    assert of_solver.begun[0] == of_solver.ended[-1] == (progress.LEARN, 9)
    assert [told["kernel_change"] for told in of_solver.steps] == model.solution_.history["kernel_change"].tolist()
    assert of_fit.steps == of_solver.steps
    assert of_fit.is_over
    assert of_solver.is_over


def test_a_fit_that_fails_tears_callbacks_down():
    heard = Heard()
    with pytest.raises(ValueError, match="view_weights"):
        LKG(3, view_weights=[1.0, 2.0]).set_callbacks(heard).fit(X)
    assert not heard.begun
    watching = LKG(3, solver=ADMM(), random_state=0).set_callbacks(heard)
    heard.asked = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        watching.fit(X)
    assert heard.is_over


PARTS = {
    "factor": progress.factor_effort,
    "refine": progress.refine_effort,
    "basis": lambda n: progress.basis_effort(n, 50),
    "evidence": lambda n: progress.evidence_effort(n, 10, 6, 3),
    "separation": progress.separation_effort,
    "cloud": progress.cloud_effort,
}


def test_effort_grows_with_the_samples():
    for part in PARTS.values():
        assert 0 < part(10) < part(100) < part(1000)


def test_effort_grows_with_clusters_graphs_and_restarts():
    assert (
        progress.evidence_effort(100, 10, 6, 3)
        < progress.evidence_effort(100, 20, 6, 3)
        < progress.evidence_effort(100, 20, 9, 3)
    )
    assert progress.evidence_effort(100, 10, 6, 1) < progress.evidence_effort(100, 10, 6, 3)
    assert progress.basis_effort(100, 10) < progress.basis_effort(100, 20)
