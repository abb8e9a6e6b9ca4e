import pytest

from kernelbraid.cli.app import COMMANDS


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["datasets", "fetch"], ["datasets", "import"]])
def test_help_shows_no_types_of_python(read_help, command):
    shown = read_help(*command, "--help")
    assert "--help" in shown
    for word in ("bool", "list[", "Path", "BOOLEAN"):
        assert word not in shown


def test_the_kernels_of_auto_are_described_as_they_are(read_help):
    shown = " ".join(read_help("cluster", "--help").replace("│", " ").split())
    assert "number of features" not in shown
