"""Threads of linear algebra, and memory."""

import sys
import threading

import numpy as np
import pytest
from joblib import cpu_count
from threadpoolctl import threadpool_info, threadpool_limits

from callbacks import Heard
from kernelbraid import ADMM, LKG, _machine
from kernelbraid._machine import available_bytes, blas_threads, calm, n_workers


def counts():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two():
    """Two threads before, and after."""
    with threadpool_limits(2, user_api="blas"):
        if counts() != {2}:
            pytest.skip("this BLAS has one thread")
        yield
        assert counts() == {2}


def test_there_is_one_unless_more_are_asked_for():
    with calm():
        assert counts() == {1}
        with calm(2):
            assert counts() == {2}
        assert counts() == {1}


def test_small_matrices_have_one():
    with blas_threads(_machine.ORDER - 1):
        assert counts() == {1}


def test_large_matrices_have_those_that_there_were():
    with blas_threads(_machine.ORDER):
        assert counts() == {2}
    with calm(), blas_threads(_machine.ORDER):
        assert counts() == {2}


@pytest.mark.parametrize("asked", [1, 2])
def test_what_is_asked_for_is_given(asked):
    with blas_threads(1, asked):
        assert counts() == {asked}
    with calm(asked), blas_threads(10**6):
        assert counts() == {asked}


def test_one_thread_before_is_one_thread_for_all():
    with threadpool_limits(1, user_api="blas"), blas_threads(10**6):
        assert counts() == {1}


def test_what_was_there_is_restored_by_the_last_of_several_fits():
    entered, leave = threading.Barrier(2), threading.Event()

    def work():
        with calm():
            entered.wait()
            leave.wait()

    other = threading.Thread(target=work)
    other.start()
    with calm():
        entered.wait()
    leave.set()
    other.join()
    assert counts() == {2}


def test_an_error_restores_them_too():
    with pytest.raises(ZeroDivisionError), calm():
        raise ZeroDivisionError
    assert counts() == {2}


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, {1}), (1, {1}), (2, {2})])
def test_a_fit_has_its_threads(n_jobs, expected):
    heard, X = Heard(asked=counts), np.random.default_rng(0).normal(size=(30, 3))
    LKG(2, n_jobs=n_jobs, solver=ADMM()).set_callbacks(heard).fit(X)
    assert heard.answers
    assert all(one == expected for one in heard.answers)


def test_negative_numbers_count_down_from_all_cores():
    for n_jobs, expected in [
        (None, None),
        (1, 1),
        (3, 3),
        (-1, cpu_count()),
        (-2, max(cpu_count() - 1, 1)),
        (-1000, 1),
    ]:
        assert n_workers(n_jobs) == expected


def test_a_fit_with_all_cores_has_so_many_threads(monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", {-1: 2, -2: 1}.__getitem__)
    for n_jobs, expected in ((-1, {2}), (-2, {1})):
        heard, X = Heard(asked=counts), np.random.default_rng(0).normal(size=(30, 3))
        LKG(2, n_jobs=n_jobs, solver=ADMM()).set_callbacks(heard).fit(X)
        assert heard.answers
        assert all(one == expected for one in heard.answers)


def test_this_machine_tells_how_much_is_free():
    free = available_bytes()
    assert free is None or free > 0


def test_a_container_may_have_less(monkeypatch, tmp_path):
    monkeypatch.setattr(_machine, "Path", lambda path: tmp_path if "cgroup" in path else tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 5000 kB\n")
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("2000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 500000\n")
    assert available_bytes() == 1_500_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() == 5000 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what a process uses")
def test_a_limit_of_the_address_space_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (2**50, resource.RLIM_INFINITY))
    left = _machine._address_space()
    assert 0 < left < 2**50
    monkeypatch.setattr(_machine, "_meminfo", lambda: 2**60)
    monkeypatch.setattr(_machine, "_cgroup", lambda: None)
    assert 0 < available_bytes() < 2**50
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1, resource.RLIM_INFINITY))
    assert available_bytes() == 0
