"""A short round of every target; ``make fuzz`` goes on from there."""

import pytest

from fuzzing.engine import Worker, fuzz
from fuzzing.targets import TARGETS

ATTEMPTS = {"models": 60}  # 30 of the others


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_round_finds_no_failure(worker, tmp_path, name):
    said = []
    fuzz(worker, {name: TARGETS[name]}, attempts=ATTEMPTS.get(name, 30), out=tmp_path, say=said.append)
    assert said == []
