import json
import warnings
from pathlib import Path

import pytest
import typer

from kernelbraid.cli.failure import Failure
from kernelbraid.cli.output import (
    BAR_WIDTH,
    bar,
    check_folder,
    check_target,
    collect_warnings,
    print_json,
    print_table,
    print_warnings,
    write_whole,
)


def test_a_repeated_warning_is_shown_once_and_deprecations_not_at_all():
    with collect_warnings() as lines:
        for _ in range(3):
            warnings.warn("first\nline", UserWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert lines == ["first line"]


def test_a_warning_is_one_line_on_stderr(capsys):
    print_warnings(["first", "second"])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "Warning: first\nWarning: second\n"


def test_a_file_that_cannot_be_written_ends_with_its_name_and_the_reason(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(Failure, match=r"a\.csv could not be written \(No space left on device\)\.$"), write_whole(path):
        raise OSError(28, "No space left on device")
    assert not path.exists()


def test_json_is_printed_as_it_is_read(capsys):
    content = {"a": [1, None, 0.1], "ö": {"b": True}}
    print_json(content)
    printed = capsys.readouterr().out
    assert json.loads(printed) == content
    assert "ö" in printed


def test_a_table_keeps_long_cells_whole_and_numbers_to_the_right(capsys):
    long = "word " * 60 + "[bold]end"
    print_table([["a", "1", long], ["b", "100", ""]], header=["name", "n", "text"], numbers=[1])
    header, first, second = (line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert header.split() == ["name", "n", "text"]
    assert first.endswith(long)
    assert first.index("1") + 1 == second.index("100") + 3


def test_a_bar_grows_with_its_share_and_is_seen_unless_it_is_nothing():
    lengths = [len(bar(share)) for share in (0.0, 1e-9, 0.5, 1.0)]
    assert lengths == [0, 1, BAR_WIDTH // 2, BAR_WIDTH]


def test_targets_that_can_be_written_are_taken(tmp_path):
    for name in ("data.csv", "old.csv"):
        (tmp_path / name).touch()
    check_target(tmp_path / "old.csv", "'--out'", [tmp_path / "data.csv"], [None, tmp_path / "labels.csv"])
    check_target(tmp_path / "new.csv", "'--out'")
    check_folder(tmp_path / "new" / "newer", "'--out'")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "old.csv"]


def test_two_spellings_of_one_file_are_the_same_target(tmp_path):
    data = tmp_path / "data.csv"
    data.touch()
    twice = tmp_path / ".." / tmp_path.name
    with pytest.raises(typer.BadParameter, match="is a data file"):
        check_target(twice / "data.csv", "'--out'", [data])
    with pytest.raises(typer.BadParameter, match="is also the file for the labels"):
        check_target(twice / "a", "'--save'", others=[tmp_path / "a"])


def test_a_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for path in (Path("file"), Path("file") / "folder"):
        with pytest.raises(typer.BadParameter, match="is a file; give a folder"):
            check_folder(tmp_path / path, "'--out'")
