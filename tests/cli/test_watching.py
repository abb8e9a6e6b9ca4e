import time

import numpy as np
import pytest

from kernelbraid import __version__
from kernelbraid.cli.watching import PATIENCE, TimeLeft, watching
from kernelbraid.learning.effort import phase, plan, reach, step
from kernelbraid.methods import METHODS


def work(watch):
    """Tell of everything that may happen."""
    watch.tell("told")
    watch.tell("reading samples", 64, 200)
    plan({"choosing": 30, "learning": 10})
    with phase("choosing"):
        for done in range(30):
            time.sleep(0.01)
            reach((done + 1) / 30)
    with phase("learning"):
        step({"kernel_change": 3e-4})


@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_is_shown_where_nobody_looks(look_like_a_terminal, capsys, is_terminal):
    if is_terminal:
        look_like_a_terminal()
    with watching("LKG", hidden=is_terminal) as watch:
        work(watch)
        assert watch.show is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("told", [{"kernel_change": 3e-4}, {"objective": 7, "change": 3e-4}])
def test_a_terminal_shows_the_last_step(look_like_a_terminal, capsys, told):
    look_like_a_terminal()
    with watching("LKGr"):
        plan({"learning": 10})
        with phase("learning"):
            step(told)
            time.sleep(0.2)
    shown = capsys.readouterr().err
    assert "LKGr, learning, step 1: change 3.0e-04" in shown
    assert " left" in shown


def test_lines_tell_of_every_step_and_of_tenths_of_all_work(capsys):
    with watching("LKG", verbose=True) as watch:
        work(watch)
    first, *lines = [line.split("s  ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    assert first.startswith(f"kernelbraid {__version__}, Python ")
    tenths = [f"choosing: {share} %" for share in range(0, 80, 10)]
    steps = ["learning: 70 %", "learning, step 1: change 3.0e-04: 70 %", "learning: 100 %"]
    assert lines == ["told", "reading samples: 30 %", *tenths, *steps]


def test_the_time_that_is_left_goes_down_with_the_clock_and_never_jumps():
    """Work whose pace changes threefold: what is shown follows, by steps that nobody sees as one."""
    left, shown, share = TimeLeft(), [], 0.0
    now = np.arange(0.1, 40, 0.1)
    for t in now:
        share = min(share + (0.001 if t < 10 else 0.003), 1.0)
        shown.append(left.tell(t, share))
    shown = np.array(shown)
    jumps = np.abs(np.diff(shown) + 0.1)
    assert jumps.max() <= 0.1 / PATIENCE * (0.1 / 0.001)
    assert shown[now < 10] == pytest.approx(100 - now[now < 10], abs=0.2)
    assert shown[-1] < PATIENCE / 2
    assert TimeLeft().tell(3.0, 0.0) is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], ["read blobs.csv: 30 x 4, float64", "choosing the number of clusters: ", "s  judging the clusters\n"]),
        (
            ["-k", 3, "--confidence"],
            ["how sure labels are: ", "samples that stand aside: 100 %"],
        ),
        (["-k", 3, "--set", "solver__gamma=10"], ["step 2: change", "n_clusters 3", "solver ADMM(beta=0.01,"]),
        *[(["-k", 3, "--method", name], ["settings: "]) for name in METHODS],
    ],
)
def test_what_is_done_and_decided_is_written(run, blobs_csv, options, says):
    result = run("cluster", blobs_csv, "--verbose", *options)
    assert result.exit_code == 0, result.stderr
    for fragment in says:
        assert fragment in result.stderr
