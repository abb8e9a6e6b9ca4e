import os
import signal

import pytest
import typer

from kernelbraid import LKG
from kernelbraid.cli import app
from kernelbraid.cli.ending import (
    BAD_USAGE,
    FAILED,
    INTERRUPTED,
    TERMINATED,
    Failure,
    SentenceGroup,
    Terminated,
    clean_up_when_terminated,
)
from kernelbraid.datasets import DataError


def test_ctrl_c_ends_with_code_130_and_one_sentence(refuse, monkeypatch, blobs_csv, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LKG, "fit", interrupt)
    refuse("cluster", blobs_csv, "-k", 3, "--out", tmp_path / "labels.csv", code=130, says="interrupted")


def test_a_defect_of_the_program_is_not_hidden(monkeypatch, run, blobs_csv):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(LKG, "fit", fail)
    with pytest.raises(ZeroDivisionError):
        run("cluster", blobs_csv, "-k", 3)


def test_other_programs_may_call_a_command(blobs_csv, capsys):
    app(["cluster", str(blobs_csv), "-k", "3", "--set", "n_init=1", "--json"], standalone_mode=False)
    assert '"n_clusters": 3' in capsys.readouterr().out


@pytest.fixture
def end(capsys):
    """Run a program whose only command raises an error; return its exit code and what it printed."""

    def invoke(error):
        program = typer.Typer(cls=SentenceGroup)
        program.callback()(lambda: None)

        @program.command()
        def work():
            if error is not None:
                raise error

        with pytest.raises(SystemExit) as ended:
            program(["work"], prog_name="program")
        captured = capsys.readouterr()
        assert captured.out == ""
        return ended.value.code, captured.err

    return invoke


@pytest.mark.parametrize(
    ("error", "code", "printed"),
    [
        (None, 0, ""),
        (typer.Exit(7), 7, ""),
        (Failure("no\nroom."), FAILED, "Error: no room.\n"),
        (Failure("odd.", BAD_USAGE), BAD_USAGE, "Error: odd.\n"),
        (DataError("a.csv:\nempty."), FAILED, "Error: a.csv: empty.\n"),
        (typer.BadParameter("give\na file."), BAD_USAGE, "Error: Invalid value: give a file.\n"),
        (MemoryError(), FAILED, "Error: the work does not fit into memory; give fewer samples or columns.\n"),
        (BrokenPipeError(), FAILED, ""),
        (ImportError("Pictures need paint."), FAILED, "Error: Pictures need paint.\n"),
        (KeyboardInterrupt(), INTERRUPTED, "Error: interrupted before the work was done.\n"),
        (
            Terminated(),
            TERMINATED,
            "Error: ended by SIGTERM before the work was done; nothing half-written is left.\n",
        ),
    ],
)
def test_every_end_has_its_exit_code_and_at_most_one_line(end, error, code, printed):
    assert end(error) == (code, printed)


@pytest.fixture
def sigterm():
    """What SIGTERM did before comes back."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("option", ["--out", "--save"])
def test_sigterm_ends_with_code_143_and_leaves_nothing(refuse, monkeypatch, blobs_csv, tmp_path, sigterm, option):
    def terminate(*_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)  # the second changes nothing

    clean_up_when_terminated()
    monkeypatch.setattr("os.fsync", terminate)  # the file is written, and has not got its name
    refuse("cluster", blobs_csv, "-k", 3, "--set", "n_init=1", option, tmp_path / "written", code=143, says="SIGTERM")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_that_is_terminated_ends_without_a_word(sigterm, capfd):
    clean_up_when_terminated()
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == TERMINATED
    assert capfd.readouterr() == ("", "")


def test_a_calling_program_gets_the_error_itself(blobs_csv):
    with pytest.raises(typer.BadParameter, match="'mine' is unknown"):
        app(["cluster", str(blobs_csv), "--preset", "mine"], standalone_mode=False)
