"""A short round of every target; ``make fuzz`` goes on from there."""

import pytest

from fuzzing.engine import Worker, fuzz
from fuzzing.targets import TARGETS

ATTEMPTS = {"models": 60, "stores": 10, "LKGSearch": 10, "LKGClassifier": 10, "kill-bench": 1, "kill-cluster": 1}
MANY = 30  # attempts of the others
FIRST = {"kill-bench": 16}  # one that is quick: a kill after five records


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_round_finds_no_failure(worker, tmp_path, name):
    said = []
    how_many, first = ATTEMPTS.get(name, MANY), FIRST.get(name, 0)
    fuzz(worker, {name: TARGETS[name]}, seed=first, attempts=how_many, out=tmp_path, say=said.append)
    assert said == []
