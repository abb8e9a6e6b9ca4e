import inspect
import os
import re
import subprocess
import sys

import pytest

from kernelbraid import LKG, __version__
from kernelbraid.cli import app as package_app
from kernelbraid.cli.app import COMMANDS, load_command
from kernelbraid.cli.arguments import cluster as cluster_command
from kernelbraid.methods import METHODS


def test_version_is_printed(run):
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"kernelbraid {__version__}\n"


def plain(text):
    """Return text without the colours that some environments force on."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_the_commands_and_the_exit_codes(run, option):
    result = run(option)
    assert result.exit_code == 0
    for word in ("cluster", "predict", "methods", "score", "demo", "--version", "Exit codes", "130"):
        assert word in plain(result.stdout)


def test_without_a_command_the_help_is_shown_as_bad_usage(run):
    result = run()
    assert result.exit_code == 2
    assert "cluster" in result.stdout


OPTIONS = {
    "cluster": "--clusters -k --out -o --search --budget --method --preset --penalty --kernels --kernel --alpha --beta "
    "--gamma --mu --graph-from --neighbors --edge-weights --embedding --n-init --storage --device --jobs "
    "--max-iter --tol --seed --key --id --drop --json --quiet --save --landmarks --dask",
    "predict": "--out -o --json --quiet -q --key --id --drop",
    "methods": "--json",
    "score": "--json --nmi-average --key",
    "demo": "--out --json",
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_of_a_command_mentions_every_option(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    for option in OPTIONS[command].split():
        assert re.search(rf"(?<!\S){option}\b", plain(result.stdout)), option
    assert "[bold]" not in result.stdout


def test_the_list_of_options_above_is_complete():
    names = {name.replace("_", "-") for name in inspect.signature(cluster_command).parameters}
    renamed = {"as-json": "json", "id-column": "id"}
    assert {f"--{renamed.get(name, name)}" for name in names - {"data"}} <= set(OPTIONS["cluster"].split())


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
            for name in ("alpha", "beta", "gamma", "mu")
            for value in ("0", "-1", "nan", "much")
        ],
        *[
            (["cluster", "{data}", "-k", "3", f"--{name}", "inf"], [f"--{name}", "'inf'", "a positive number"])
            for name in ("alpha", "beta", "mu", "tol")
        ],
        *[
            (["cluster", "{data}", "-k", "3", "--neighbors", value], ["--neighbors", f"'{value}'", "or all"])
            for value in ("0", "-1", "2.5", "some")
        ],
        *[
            (["cluster", "{data}", "--search", "--budget", value], ["--budget", f"'{value}'", "such as 60s"])
            for value in ("0", "-1", "2.5", "0s", "nans", "infs", "s", "2m", "long")
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
    package_app(["cluster", str(blobs_csv), "-k", "3", "--n-init", "1", "--json"], standalone_mode=False)
    assert '"n_clusters": 3' in capsys.readouterr().out


def run_process(*args, **environment):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    command = [sys.executable, "-W", "error", "-m", "kernelbraid.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, encoding="utf-8")


def test_the_program_runs_as_a_process_and_repeats_itself(blobs_csv, tmp_path):
    contents = []
    for name in ("first.csv", "second.csv"):
        result = run_process("cluster", blobs_csv, "-k", 3, "-o", tmp_path / name, "--n-init", 5)
        assert result.returncode == 0
        assert result.stderr == ""
        assert "converged" in result.stdout
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_a_failing_process_prints_one_line_even_in_ascii(tmp_path):
    path = tmp_path / "zahlen-ö.csv"
    path.write_text("a,b\n1,zwölf\n")
    result = run_process("cluster", path, "-k", 1, PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def modules_after(*args):
    """Return the exit code of a new process of the program, and the modules that it has loaded."""
    code = (
        "import sys\nfrom kernelbraid.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n"
        "    print(end.code, *sys.modules, file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120)
    last = result.stderr.splitlines()[-1]  # after what the program itself has said
    exit_code, *modules = last.split()
    return int(exit_code), set(modules)


@pytest.mark.parametrize(("args", "code"), [(["--help"], 0), (["--version"], 0), ([], 2), (["clutser"], 2)])
def test_the_list_of_commands_needs_no_scientific_package(args, code):
    exit_code, modules = modules_after(*args)
    assert exit_code == code
    assert modules.isdisjoint(("sklearn", "scipy", "numpy", "kernelbraid.estimators"))


@pytest.mark.parametrize("args", [*([name, "--help"] for name in OPTIONS), ["methods"]])
def test_no_command_of_a_user_loads_the_bench(args):
    exit_code, modules = modules_after(*args)
    assert exit_code == 0
    assert [name for name in modules if name.startswith("kernelbraid.bench")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_shows_the_first_sentence_of_a_command(run, name):
    command = load_command(name)
    assert command.help.split("\n\n")[0].replace("\n", " ") == COMMANDS[name].line
    assert command.name == name
    assert COMMANDS[name].line in " ".join(plain(run(name, "--help").stdout).split())


def test_commands_stand_in_the_help_in_their_order(run):
    commands = plain(run("--help").stdout).split("Commands", 1)[1]
    listed = [words[1] for words in map(str.split, commands.splitlines()) if len(words) > 2 and words[1] in COMMANDS]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize(("wrong", "right"), [("clutser", "cluster"), ("benc", "bench")])
def test_a_misspelt_command_is_answered_with_the_nearest(refuse, wrong, right):
    refuse(wrong, code=2, says=[f"No such command '{wrong}'. Did you mean '{right}'?", "kernelbraid --help"])
