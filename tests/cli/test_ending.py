import subprocess
import sys

import pytest
import typer

from kernelbraid.cli import app
from kernelbraid.cli.ending import (
    BAD_USAGE,
    FAILED,
    INTERRUPTED,
    TERMINATED,
    Failure,
    SentenceGroup,
    Terminated,
)
from kernelbraid.datasets import DataError


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


INTERRUPTED_WHILE = """
import hashlib, os, signal, sys, threading
from kernelbraid.cli.ending import SentenceGroup, beside, run_to_its_end
import typer
program = typer.Typer(cls=SentenceGroup)
@program.command()
def work():
    threading.Timer(0.5, os.kill, (os.getpid(), {number})).start()
    try:
        beside(lambda: hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1))  # minutes, and looks at no signal
    finally:
        os.kill(os.getpid(), {again})  # a second one changes nothing
        print("cleaned up")
program.callback()(lambda: None)
run_to_its_end(program)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for a child alone")
@pytest.mark.parametrize(
    ("number", "again", "code", "says"),
    [("signal.SIGINT", "0", INTERRUPTED, "interrupted"), ("signal.SIGTERM", "signal.SIGTERM", TERMINATED, "SIGTERM")],
)
def test_a_signal_ends_a_computation_that_looks_at_none(number, again, code, says):
    program = INTERRUPTED_WHILE.format(number=number, again=again)
    ended = subprocess.run([sys.executable, "-c", program, "work"], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (code, "cleaned up\n"), ended.stderr
    assert ended.stderr.startswith("Error: ")
    assert says in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_what_is_interrupted_while_it_is_written_leaves_nothing(refuse, monkeypatch, blobs_csv, tmp_path):
    def terminate(*_):
        raise Terminated

    monkeypatch.setattr("os.fsync", terminate)  # the file is written, and has not got its name
    for option in ("--out", "--save"):
        refuse("cluster", blobs_csv, "-k", 3, option, tmp_path / "written", code=143, says="SIGTERM")


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("kernelbraid.LKG.fit", ZeroDivisionError()),
        ("kernelbraid.cli.cluster.report", ValueError("a defect")),
        ("kernelbraid.cli.cluster.report", ImportError("no module", name="inner")),
    ],
)
def test_a_defect_of_the_program_is_not_hidden(monkeypatch, run, blobs_csv, place, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(place, fail)
    with pytest.raises(type(error)):
        run("cluster", blobs_csv, "-k", 3)


def test_a_calling_program_gets_the_error_itself(blobs_csv):
    with pytest.raises(typer.BadParameter, match="'mine' is not one of"):
        app(["cluster", str(blobs_csv), "--preset", "mine"], standalone_mode=False)
