from types import SimpleNamespace

import numpy as np
import pytest

from callbacks import Heard
from kernelbraid import ADMM, LKG
from kernelbraid.learning import effort as progress
from kernelbraid.learning.effort import watched_by
from problems import blobs

X, _ = blobs(n=40)


@pytest.fixture
def heard():
    """Shares of the work that were told."""
    told = []
    with watched_by(SimpleNamespace(reach=told.append)):
        yield told


def test_nobody_needs_to_listen():
    progress.reach(0.5)
    assert not progress.step({})


def test_a_part_that_has_nothing_of_its_own_to_tell_is_not_heard(heard):
    with progress.unheard():
        progress.reach(1.0)
    progress.reach(0.5)
    assert heard == [0.5]


def test_tasks_tell_how_far_they_have_come_as_they_are_taken(heard):
    tasks = progress.reported([3, 1, 4], lambda task: task, 8, (0.5, 1.0))
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
    assert [name for name, _ in phases] == [progress.LEARN, progress.CUT]
    assert 95 <= sum(parts for _, parts in phases) <= 105
    if n > 2000:  # rows are formed in blocks
        assert heard.ended.count(("part", 0)) == dict(phases)[progress.LEARN]


def test_the_choice_of_the_number_is_a_phase_of_its_own():
    heard = Heard()
    LKG("auto", random_state=0).set_callbacks(heard).fit(X)
    phases = dict(one for one in heard.begun if one[0] not in ("fit", "part"))
    assert list(phases) == [progress.LEARN, progress.CHOOSE, progress.CUT]
    of_choice = heard.begun[: heard.begun.index((progress.CUT, phases[progress.CUT]))].count(("part", 0))
    assert 0.9 * phases[progress.CHOOSE] <= of_choice <= phases[progress.LEARN] + phases[progress.CHOOSE]


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


def test_effort_grows_with_the_samples_and_the_clusters():
    for effort in (progress.factor_effort, progress.refine_effort):
        assert 0 < effort(10) < effort(100) < effort(1000)
    few, many, chosen = (progress.efforts_of_fit(n, k) for n, k in ((100, 5), (100, 10), (1000, None)))
    assert few[progress.CUT] < many[progress.CUT]
    assert many[progress.CHOOSE] < chosen[progress.CHOOSE]
