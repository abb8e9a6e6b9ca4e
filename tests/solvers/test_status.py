import pickle

from kernelbraid.solvers.status import Status


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
