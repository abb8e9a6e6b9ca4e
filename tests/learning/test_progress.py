import pytest

from kernelbraid.learning import progress
from kernelbraid.learning.progress import expect, heard_by, on_course, stretch, within


@pytest.fixture
def heard():
    """What was told: places, and how much there was."""
    told = []
    with heard_by(lambda course: told.append((course.done, course.total))):
        yield told


def test_work_is_told_from_its_beginning_to_its_end(heard):
    with on_course("names", 4.0):
        with stretch(1.0):
            within(0.5)
        with stretch(3.0):
            pass
    assert heard == [(0, 4), (0, 4), (0.5, 4), (1, 4), (1, 4), (4, 4), (4, 4)]


def test_work_that_was_not_announced_is_told_to_nobody(heard):
    with stretch(1.0):
        within(0.5)
    expect(3.0)
    assert heard == []


def test_nobody_needs_to_listen():
    with on_course("names", 1.0) as course, stretch(1.0):
        pass
    assert course.done == 1


def test_how_much_there_is_can_be_corrected(heard):
    with on_course("names", 4.0):
        with stretch(2.0):
            pass
        expect(4.0)
        with stretch(6.0):
            pass
    assert heard[-1] == (8, 8)
    with on_course("names", 4.0):
        with stretch(2.0):
            pass
        expect(-9.0)
    assert heard[-1] == (2, 2)


def test_an_end_before_its_time_is_no_arrival(heard):
    with pytest.raises(KeyboardInterrupt), on_course("names", 4.0), stretch(2.0):
        raise KeyboardInterrupt
    assert max(heard) == (0, 4)
    with stretch(1.0):
        pass
    assert max(heard) == (0, 4)


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
