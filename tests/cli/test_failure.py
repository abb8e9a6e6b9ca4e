import os
import re
import signal
import tomllib
from pathlib import Path

import pytest
import typer

from kernelbraid import LKG
from kernelbraid.cli import app
from kernelbraid.cli.failure import (
    BAD_USAGE,
    EXTRAS,
    FAILED,
    INTERRUPTED,
    TERMINATED,
    Failure,
    SentenceGroup,
    Terminated,
    clean_up_when_terminated,
    missing_extra,
    one_line,
)
from kernelbraid.files.errors import DataError
from kernelbraid.methods import METHODS


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["bogus"], "bogus"),
        (["--bogus"], "--bogus"),
        (["cluster"], "DATA"),
        (["cluster", "{data}", "--method", "RMKKM"], ["RMKKM does not choose", "give --clusters"]),
        (["cluster", "{data}", "--method", "LKGs"], ["LKGs does not choose", "give --clusters"]),
        (["cluster", "{data}", "-k"], "-k"),
        (["cluster", "{data}", "-k", "3", "--bogus"], "--bogus"),
        (["cluster", "{data}", "-k", "0"], ["--clusters", "0", "at least 1"]),
        (["cluster", "{data}", "-k", "-3"], ["--clusters", "-3"]),
        (["cluster", "{data}", "-k", "three"], ["--clusters", "'three'", "whole number"]),
        (["cluster", "{data}", "-k", "2.5"], ["--clusters", "'2.5'"]),
        *[
            (["cluster", "{data}", "-k", "3", f"--{name}", value], [f"--{name}", f"'{value}'", "a positive number"])
            for name, value in zip(("alpha", "beta", "gamma", "mu"), ("0", "-1", "nan", "much"), strict=True)
        ],
        *[
            (["cluster", "{data}", "-k", "3", f"--{name}", "inf"], [f"--{name}", "'inf'", "a positive number"])
            for name in ("alpha", "beta", "mu", "tol")
        ],
        *[
            (["cluster", "{data}", "-k", "3", "--neighbors", value], ["--neighbors", f"'{value}'", "or all"])
            for value in ("0", "-1", "2.5", "some")
        ],
        (["cluster", "{data}", "-k", "3", "--tol", "-1"], ["--tol", "'-1'", "0 or a positive number"]),
        (["cluster", "{data}", "-k", "3", "--n-init", "0"], ["--n-init", "at least 1"]),
        (["cluster", "{data}", "-k", "3", "--max-iter", "0"], ["--max-iter", "at least 1"]),
        (["cluster", "{data}", "-k", "3", "--seed", "-1"], ["--seed", "from 0 to"]),
        (
            ["cluster", "{data}", "-k", "3", "--preset", "mine"],
            ["--preset", "'mine'", "recommended or authors or paper"],
        ),
        (["cluster", "{data}", "-k", "3", "--penalty", "l2"], ["--penalty", "'l2'", "frobenius or nuclear or l1"]),
        (
            ["cluster", "{data}", "-k", "3", "--edge-weights", "x"],
            ["--edge-weights", "'x'", "learned or scaled or binary"],
        ),
        (["cluster", "{data}", "-k", "3", "--kernels", "x"], ["--kernels", "'x'", "precomputed"]),
        (["cluster", "{data}", "-k", "3", "--kernel", "x"], ["--kernel", "'x'", "gaussian or linear or polynomial"]),
        (["cluster", "{data}", "-k", "3", "--embedding", "x"], ["--embedding", "'x'", "largest or magnitude"]),
        (["cluster", "{data}", "-k", "3", "--method", "rmkkm"], ["--method", "'rmkkm'", "choose RMKKM or "]),
        (["cluster", "{data}", "-k", "3", "--method", "LKG"], ["--method", "'LKG'", "choose LKGs or LKGr"]),
        (["cluster", "{data}", "-k", "3", "--method", "?"], ["--method", "'?'", *METHODS, "kernelbraid methods"]),
        (["cluster", "{data}", "-k", "3", "--graph-from", "K"], ["--graph-from", "'K'", "J or Z"]),
        (["cluster", "{missing}", "-k", "3"], ["DATA", "missing.csv", "check the path"]),
        (["cluster", "{data}", "{missing}", "-k", "3"], ["DATA", "missing.csv"]),
        (["cluster", "{folder}", "-k", "3"], ["DATA", "is a folder"]),
        (["cluster", "{data}", "--save", "{folder}"], ["--save", "is a folder"]),
        (["cluster", "{data}", "--save", "{missing}/a.model"], ["--save", "there is no folder"]),
        (["cluster", "{data}", "--save", "{data}"], ["--save", "is a data file"]),
        (["cluster", "{data}", "--out", "{missing}", "--save", "{missing}"], ["--save", "file for the labels"]),
        (["cluster", "{data}", "-k", "3", "--method", "SC", "--save", "{missing}"], ["SC cannot", "choose KKM, RKKM"]),
        (["predict"], "MODEL"),
        (["predict", "{data}"], "DATA"),
        (["predict", "{missing}", "{data}"], ["MODEL", "missing.csv", "check the path"]),
        (["predict", "{data}", "{missing}"], ["DATA", "missing.csv", "check the path"]),
        (["predict", "{data}", "{data}", "--out", "{data}"], ["--out", "is a data file"]),
        (["methods", "extra"], "extra"),
        (["score", "{data}"], "LABELS"),
        (["score", "{data}", "{missing}"], ["LABELS", "missing.csv"]),
        (["score", "{missing}", "{data}"], ["TRUTH", "missing.csv"]),
        (["score", "{data}", "{data}", "--nmi-average", "min"], ["--nmi-average", "'min'", "max or arithmetic"]),
        (["demo", "extra"], "extra"),
        (["demo", "--out", "{data}"], ["--out", "is a file"]),
    ],
)
def test_bad_usage_ends_with_code_2_and_one_sentence(refuse, no_fit, blobs_csv, tmp_path, args, says):
    places = {"data": blobs_csv, "missing": tmp_path / "missing.csv", "folder": tmp_path}
    refuse(*[arg.format(**places) for arg in args], code=2, says=says)


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
    app(["cluster", str(blobs_csv), "-k", "3", "--n-init", "1", "--json"], standalone_mode=False)
    assert '"n_clusters": 3' in capsys.readouterr().out


def test_a_message_of_several_lines_becomes_one():
    assert one_line(ValueError("first,\n\tsecond\r\n  third. ")) == "first, second third."


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
        (
            ModuleNotFoundError("No module named 'pandas.io'", name="pandas.io"),
            FAILED,
            'Error: this needs pandas, which is not installed; install it with pip install "kernelbraid[io]", or '
            'pip install ".[io]" in a checkout.\n',
        ),
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
    refuse("cluster", blobs_csv, "-k", 3, "--n-init", 1, option, tmp_path / "written", code=143, says="SIGTERM")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_that_is_terminated_ends_without_a_word(sigterm, capfd):
    clean_up_when_terminated()
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == TERMINATED
    assert capfd.readouterr() == ("", "")


def test_the_extras_that_are_named_bring_the_packages():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        brought = {re.split(r"[^\w-]", requirement)[0] for requirement in extras[extra]}
        assert package in brought or (package, extra) == ("dask", "dask")  # which distributed brings


def test_a_module_of_the_program_that_is_missing_is_a_defect():
    assert missing_extra(ModuleNotFoundError("No module named 'kernelbraid.x'", name="kernelbraid.x")) is None


def test_a_calling_program_gets_the_error_itself(blobs_csv):
    with pytest.raises(typer.BadParameter, match="'three' is no whole number"):
        app(["cluster", str(blobs_csv), "-k", "three"], standalone_mode=False)
