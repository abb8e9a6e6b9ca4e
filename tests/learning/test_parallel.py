import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from kernelbraid.learning.parallel import each


def square(number):
    return number * number


def process(number):
    return os.getpid()


def blas_threads(number):
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def total(A, number):
    return float(A.sum()) + number


def fail(number):
    raise ValueError(f"task {number}")


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    assert list(each(square, ((i,) for i in range(12)), n_jobs)) == [i * i for i in range(12)]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_tasks_have_no_results(n_jobs):
    assert list(each(square, (), n_jobs)) == []


def test_one_process_is_this_one_and_several_are_others():
    for n_jobs in (None, 1):
        assert set(each(process, ((i,) for i in range(3)), n_jobs)) == {os.getpid()}
    assert os.getpid() not in set(each(process, ((i,) for i in range(4)), 2))


def test_tasks_are_made_as_they_are_needed():
    made = []

    def tasks():
        for i in range(100):
            made.append(i)
            yield (i,)

    alone = each(square, tasks())
    assert made == []
    assert [next(alone), next(alone)] == [0, 1]
    assert made == [0, 1]


def test_processes_have_one_thread_of_linear_algebra():
    for threads in each(blas_threads, ((i,) for i in range(2)), 2):
        assert set(threads) <= {1}


def test_large_arrays_are_shared():
    A = np.ones((400, 400))
    assert list(each(total, ((A, i) for i in range(3)), 2)) == [160000.0, 160001.0, 160002.0]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_errors_come_back(n_jobs):
    with pytest.raises(ValueError, match=r"task [01]"):  # of two processes either may be first
        list(each(fail, ((i,) for i in range(2)), n_jobs))


def test_nobody_is_warned_when_the_rest_is_not_wanted():
    results = each(square, ((i,) for i in range(50)), 2)
    assert next(results) == 0
    results.close()  # warnings are errors here
