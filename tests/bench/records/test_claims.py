import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from kernelbraid._system import this_process
from kernelbraid.bench.records import claims as module
from kernelbraid.bench.records.claims import LEASE, Claims, Taken
from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.records.store import Store

TRIALS = [Trial("wine", "abc", "KKM", "mean20", seed=seed) for seed in range(3)]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store.db")


@pytest.fixture
def change(store):
    """Change what the store says of runners and claims."""

    def execute(statement, *values):
        with closing(sqlite3.connect(store.path)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    return execute


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test moves."""
    moved = SimpleNamespace(now=0.0, monotonic=lambda: moved.now)
    monkeypatch.setattr(module, "time", moved)
    return moved


def claim_for(change, process):
    """Let a runner in a process claim the first trial."""
    change("INSERT INTO runners VALUES ('other', ?, 0)", process)
    change("INSERT INTO claims VALUES (?, 'other')", TRIALS[0].key)


def test_a_trial_is_given_to_one_runner_until_that_gives_it_back(store, change):
    with Claims(store) as first, Claims(store) as second:
        assert first.take(TRIALS[:2]) == Taken(TRIALS[:2], [], [])
        assert second.take(TRIALS) == Taken(TRIALS[2:], [], TRIALS[:2])
        store.add(Record(TRIALS[0], "failed"))
        assert second.take(TRIALS) == Taken(TRIALS[2:], TRIALS[:1], TRIALS[1:2])
        assert change("SELECT count(*) FROM claims") == [(2,)]
    with Claims(store) as third:
        assert third.take(TRIALS) == Taken(TRIALS[1:], TRIALS[:1], [])


def test_an_interruption_gives_everything_back(store, change):
    def interrupted():
        with Claims(store) as claims:
            claims.take(TRIALS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert change("SELECT * FROM claims") == change("SELECT * FROM runners") == []


def test_claims_of_a_process_that_has_ended_are_void_at_once(store, change):
    if this_process().startswith("-"):
        pytest.skip("this system does not tell of its processes")
    script = "from kernelbraid._system import this_process; print(this_process())"
    ended = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.strip()
    claim_for(change, ended)
    with Claims(store) as claims:
        assert claims.take(TRIALS).theirs == []


@pytest.mark.parametrize("process", ["0123456789abcdef-1-1", "-1-", "", "nonsense"])
def test_claims_of_another_machine_are_void_when_it_has_been_silent_for_long(store, change, clock, process):
    claim_for(change, process)
    with Claims(store) as claims:
        assert claims.take(TRIALS).theirs == TRIALS[:1]
        clock.now = LEASE
        assert claims.take(TRIALS).theirs == TRIALS[:1]
        change("UPDATE runners SET beat = beat + 1 WHERE name = 'other'")
        clock.now = 2 * LEASE
        assert claims.take(TRIALS).theirs == TRIALS[:1]
        clock.now = 3 * LEASE + 1
        assert claims.take(TRIALS).theirs == []


def test_a_claim_of_nobody_is_void(store, change):
    change("INSERT INTO claims VALUES (?, 'other')", TRIALS[0].key)
    with Claims(store) as claims:
        assert claims.take(TRIALS).mine == TRIALS


def test_a_runner_shows_that_it_lives_even_after_it_was_forgotten(store, change, monkeypatch):
    monkeypatch.setattr(module, "BEAT", 0.005)
    with Claims(store) as claims:
        change("DELETE FROM runners")
        while not change("SELECT * FROM runners WHERE name = ? AND beat > 0", claims.name):
            time.sleep(0.005)
    assert change("SELECT * FROM runners") == []
