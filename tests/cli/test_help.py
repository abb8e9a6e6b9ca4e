from kernelbraid.cli.app import COMMANDS
from kernelbraid.methods import METHODS


def test_help_shows_no_types_of_python(read_help):
    for command in [[], *([name] for name in COMMANDS), ["datasets", "fetch"], ["datasets", "import"]]:
        shown = read_help(*command, "--help")
        assert "--help" in shown
        for word in ("bool", "list[", "Path", "BOOLEAN"):
            assert word not in shown


def test_the_kernels_of_auto_are_described_as_they_are(read_help):
    shown = " ".join(read_help("cluster", "--help").replace("│", " ").split())
    assert "number of features" not in shown


def test_the_help_counts_the_methods_that_there_are(read_help):
    others = [name for name in METHODS if not name.startswith("LKG")]
    assert len(others) == 13
    assert "Thirteen more methods are here, too: nine" in " ".join(read_help("--help").split())
