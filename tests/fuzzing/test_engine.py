import json

import pytest

from fuzzing.engine import FAILURE, Worker, fuzz, replay, table
from fuzzing.planted import TARGETS
from fuzzing.target import MEGABYTE


@pytest.fixture(scope="module")
def worker():
    with Worker("fuzzing.planted") as worker:
        yield worker


def run(worker, folder, *names, **more):
    return fuzz(worker, {name: TARGETS[name] for name in names}, out=folder, **{"attempts": 1, **more})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("error", "KeyError"),
        ("mumble", "cannot be printed"),
        ("crash", "the interpreter died (SIGSEGV)"),
        ("hog", "may take 100 MB"),
        ("warn", "RuntimeWarning"),
    ],
)
def test_a_planted_failure_is_noticed_and_its_input_is_kept(worker, tmp_path, name, why):
    assert run(worker, tmp_path, name)[name].counts == {"failed": 1}
    told = json.loads((tmp_path / f"{name}-0" / FAILURE).read_text(encoding="utf-8"))
    assert why in told["why"]
    assert (tmp_path / f"{name}-0" / "input" / "number.txt").exists()
    assert replay(worker, TARGETS, tmp_path / f"{name}-0" / FAILURE)["result"] == "failed"


def test_a_hang_is_noticed_and_ended(worker, tmp_path):
    run(worker, tmp_path, "sound")  # the process is there: its start does not count
    assert run(worker, tmp_path, "hang")["hang"].counts == {"failed": 1}
    assert "it hung" in json.loads((tmp_path / "hang-0" / FAILURE).read_text(encoding="utf-8"))["why"]


def test_after_a_crash_the_others_go_on(worker, tmp_path):
    tallies = run(worker, tmp_path, "crash", "sound", "refuse", attempts=2)
    assert tallies["crash"].counts == {"failed": 2}
    assert tallies["sound"].counts == {"accepted": 2}
    assert tallies["refuse"].counts == {"refused": 2}


def test_a_seed_makes_the_same_input_again(worker, tmp_path):
    for folder in ("one", "two"):
        run(worker, tmp_path / folder, "error", seed=7, attempts=2)
    inputs = [(tmp_path / folder / "error-8" / "input" / "number.txt").read_text() for folder in ("one", "two")]
    assert inputs[0] == inputs[1]


def test_few_inputs_of_one_kind_of_failure_are_kept_and_all_are_counted(worker, tmp_path):
    tallies = run(worker, tmp_path, "mumble", attempts=5)
    assert tallies["mumble"].counts == {"failed": 5}
    assert len(list(tmp_path.iterdir())) == 3


def test_the_time_is_shared(worker, tmp_path):
    tallies = run(worker, tmp_path, "sound", "refuse", attempts=None, seconds=0.3)
    assert all(tally.attempts > 0 for tally in tallies.values())
    assert table(tallies, 5).splitlines()[1].split()[:2] == ["sound", f"5-{4 + tallies['sound'].attempts}"]


def test_the_limits_are_those_that_are_promised():
    from fuzzing.targets import TARGETS as REAL

    assert max(target.limit for name, target in REAL.items() if "kill" not in name) == 20
    assert max(target.room for target in REAL.values()) == 500 * MEGABYTE  # 300 beside what the readers may take
