import re
import time
from functools import partial
from types import SimpleNamespace

import pytest

from kernelbraid.cli import progress as module
from kernelbraid.cli.progress import show_blocks, show_progress
from kernelbraid.learning.progress import on_course, stretch


@pytest.mark.parametrize(
    "show",
    [
        partial(show_progress, "LKGr", 10),
        partial(show_progress, "KKM", None),
        partial(show_blocks, "LandmarkLKG", 200),
    ],
)
def test_what_is_hidden_shows_nothing_even_on_a_terminal(look_like_a_terminal, capsys, show):
    look_like_a_terminal()
    with show(hidden=True) as callback:
        assert callback is None
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_the_bar_is_hidden_where_nobody_looks():
    with show_progress("LKGr", 10, hidden=True) as callback:
        assert callback is None
    with show_progress("LKGr", 10, hidden=False) as callback:
        assert callback is None  # stderr is no terminal here


@pytest.mark.parametrize("state", [SimpleNamespace(kernel_change=3e-4), SimpleNamespace(objective=7, change=3e-4)])
def test_the_bar_follows_the_steps_on_a_terminal(look_like_a_terminal, capsys, state):
    look_like_a_terminal()
    with show_progress("LKGr", 10, hidden=False) as callback:
        assert callback(4, state) is None
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "LKGr, change 3.0e-04" in captured.err
    assert "4/10" in captured.err.replace(" ", "")


def test_a_fit_that_does_not_tell_its_steps_has_a_spinner(look_like_a_terminal, capsys):
    look_like_a_terminal()
    with show_progress("KKM", None, hidden=False):
        pass
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "KKM" in captured.err
    assert "/" not in captured.err


def test_the_bar_of_blocks_adds_up_the_samples_that_were_read(look_like_a_terminal, capsys):
    look_like_a_terminal()
    with show_blocks("LandmarkLKG", 200, hidden=False) as told:
        for rows in (64, 64, 8):
            told(rows)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "LandmarkLKG, samples read" in captured.err
    assert "136/200" in captured.err.replace(" ", "")


def test_an_error_under_a_bar_is_not_kept_by_it(look_like_a_terminal, capsys):
    look_like_a_terminal()
    with pytest.raises(ZeroDivisionError), show_progress("LKGr", 10, hidden=False):
        raise ZeroDivisionError
    assert "Traceback" not in capsys.readouterr().err


SHOWS = {
    "spinner": partial(show_progress, "LKG", None),
    "steps": partial(show_progress, "LKG", 10),
    "blocks": partial(show_blocks, "LKG", 200),
}


@pytest.mark.parametrize("show", SHOWS.values(), ids=SHOWS)
def test_the_choice_of_a_number_has_the_bar_with_the_time_left(look_like_a_terminal, capsys, monkeypatch, show):
    monkeypatch.setattr(module, "TELLING", 0.0)
    look_like_a_terminal()
    with show(hidden=False), on_course("the number of clusters", 4.0):
        for _ in range(3):
            with stretch(1.0):
                time.sleep(0.15)  # in which the bar is drawn
    shown = capsys.readouterr().err
    assert "LKG, choosing the number of clusters" in shown
    shares = [int(share) for share in re.findall(r"(\d+) %", shown)]
    assert shares == sorted(shares)
    assert len(set(shares)) > 3  # it moves between the parts, too
    assert re.search(r"0:00:0\d left", shown)


def test_a_part_that_tells_nothing_is_not_shown_as_done(look_like_a_terminal, capsys):
    look_like_a_terminal()
    with show_progress("LKG", None, hidden=False), on_course("names", 100.0):
        with stretch(40.0):
            time.sleep(0.2)
        with stretch(40.0):
            time.sleep(0.8)  # longer than its like
            shares = [int(share) for share in re.findall(r"(\d+) %", capsys.readouterr().err)]
    assert 40 < max(shares) < 80


def test_a_choice_that_is_made_leaves_the_bar_to_the_fit(look_like_a_terminal, capsys):
    look_like_a_terminal()
    with show_progress("LKGr", 10, hidden=False) as callback:
        with on_course("names", 1.0), stretch(1.0):
            pass
        capsys.readouterr()
        callback(4, SimpleNamespace(kernel_change=3e-4))
    shown = capsys.readouterr().err
    assert "choosing" not in shown
    assert "4/10" in shown.replace(" ", "")
