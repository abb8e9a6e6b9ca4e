import time
from types import SimpleNamespace

import pytest

from kernelbraid import __version__
from kernelbraid.cli.watching import watching
from kernelbraid.learning.progress import on_course, stretch
from kernelbraid.methods import METHODS


def work(watch):
    """Tell of everything that may happen."""
    watch.tell("told")
    watch.step(4, SimpleNamespace(kernel_change=3e-4))
    watch.tell("reading samples", 64, 200)
    with on_course("the number of clusters", 40.0):
        for _ in range(40):
            with stretch(1.0):
                time.sleep(0.01)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_is_shown_where_nobody_looks(look_like_a_terminal, capsys, is_terminal):
    if is_terminal:
        look_like_a_terminal()
    with watching("LKG", hidden=is_terminal) as watch:
        work(watch)
        assert watch.show is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("state", [SimpleNamespace(kernel_change=3e-4), SimpleNamespace(objective=7, change=3e-4)])
def test_a_terminal_shows_the_last_step(look_like_a_terminal, capsys, state):
    look_like_a_terminal()
    with watching("LKGr") as watch:
        watch.step(4, state)
    assert "LKGr, step 4: change 3.0e-04" in capsys.readouterr().err


def test_lines_tell_of_every_step_and_of_tenths(capsys):
    with watching("LKG", verbose=True) as watch:
        work(watch)
    first, *lines = [line.split("s  ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    assert first.startswith(f"kernelbraid {__version__}, Python ")
    tenths = [f"choosing the number of clusters: {share} %" for share in range(0, 101, 10)]
    assert lines == ["told", "step 4: change 3.0e-04", "reading samples: 30 %", *tenths]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], ["read blobs.csv: 30 x 4, float64", "choosing the number of clusters: 100 %"]),
        (["-k", 3, "--set", "solver__gamma=10"], ["step 2: change", "n_clusters 3", "solver ADMM(beta=0.01,"]),
        *[(["-k", 3, "--method", name], ["settings: "]) for name in METHODS],
    ],
)
def test_what_is_done_and_decided_is_written(run, blobs_csv, options, says):
    result = run("cluster", blobs_csv, "--verbose", *options)
    assert result.exit_code == 0, result.stderr
    for fragment in says:
        assert fragment in result.stderr
