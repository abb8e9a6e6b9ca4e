import os
import subprocess
import sys

import pytest

from kernelbraid import __version__
from kernelbraid.methods import METHODS


def test_version_is_printed(run):
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"kernelbraid {__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_the_commands_and_the_exit_codes(read_help, option):
    shown = read_help(option)
    for word in ("cluster", "predict", "methods", "score", "demo", "--version", "Exit codes", "130"):
        assert word in shown


def test_the_commands_stand_in_their_order_with_a_first_sentence_each(read_help):
    for group, names in (
        ((), "cluster predict methods score demo datasets"),
        (("datasets",), "list fetch import show"),
    ):
        lines = [
            line.strip("│ ").split(None, 1) for line in read_help(*group, "--help").split(" Commands ")[1].splitlines()
        ]
        told = [line for line in lines if len(line) == 2 and line[0].isalpha() and line[0].islower()]
        assert [name for name, _ in told if name in names.split()] == names.split()
        assert all(text.strip()[0].isupper() for name, text in told if name in names.split())


def test_without_a_command_the_help_is_shown_as_bad_usage(run):
    result = run()
    assert result.exit_code == 2
    assert "cluster" in result.stdout


def run_process(*args, module="kernelbraid", **environment):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    command = [sys.executable, "-W", "error", "-m", module, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("kernelbraid clu", ["cluster"]),
        ("kernelbraid cluster --kern", ["--kernels"]),
        ("kernelbraid cluster a.csv --kernels m", ["middle"]),
        ("kernelbraid cluster a.csv --method LKG", ["LKG", "LKGs", "LKGr"]),
        ("kernelbraid datasets fe", ["fetch"]),
    ],
)
def test_a_shell_completes_commands_options_and_words(words, offered):
    position = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    result = run_process(module="kernelbraid", _KERNELBRAID_COMPLETE="complete_bash", **position)
    assert result.stdout.split() == offered


def test_what_a_shell_needs_for_completion_is_shown():
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # or it would be the one that runs the tests
    for shell in ("bash", "zsh", "fish"):
        result = run_process("--show-completion", shell, **named)
        assert result.returncode == 0
        assert "_KERNELBRAID_COMPLETE" in result.stdout


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


@pytest.mark.parametrize(
    ("args", "code"), [(["--help"], 0), (["cluster", "--help"], 0), (["--version"], 0), ([], 2), (["clutser"], 2)]
)
def test_the_list_of_commands_needs_no_scientific_package(args, code):
    exit_code, modules = modules_after(*args)
    assert exit_code == code
    assert modules.isdisjoint(("sklearn", "scipy", "numpy", "kernelbraid.estimators"))


def test_the_help_counts_the_methods_that_there_are(read_help):
    others = [name for name in METHODS if not name.startswith("LKG")]
    assert len(others) == 13
    assert "Thirteen more methods are here, too: nine" in " ".join(read_help("--help").split())
