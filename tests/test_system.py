import os
import sys

import pytest

from kernelbraid._machine import ABANDONED, format_bytes, peak_bytes, remove_drafts, write_whole


@pytest.mark.parametrize(("mode", "content"), [("w", "a\r\nb\n"), ("wb", b"\x00\xff")])
def test_a_file_replaces_an_older_one_when_it_is_complete(tmp_path, mode, content):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    with write_whole(path, mode) as file:
        file.write(content)
        assert path.read_text() == "old"
    assert path.read_bytes() == (content.encode() if mode == "w" else content)
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with write_whole(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_is_not_complete_leaves_no_trace(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")

    def interrupted():
        with write_whole(path) as file:
            file.write("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_that_a_killed_process_left_are_removed_after_a_day_and_other_files_stay(tmp_path):
    drafts = [tmp_path / ".kernelbraid-ff.tmp", tmp_path / ".kernelbraid-0123.tmp"]
    others = [tmp_path / name for name in (".kernelbraid", ".kernelbraid-notes.txt.bak", "kernelbraid-ff.tmp")]
    for path in drafts + others:
        path.touch()
    for path in drafts[1:] + others:
        os.utime(path, (0, path.stat().st_mtime - ABANDONED - 60))
    with write_whole(tmp_path / "file"):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([drafts[0], *others, tmp_path / "file"])
    remove_drafts(tmp_path / "none")


def test_the_peak_of_memory_is_known_or_zero(monkeypatch):
    assert peak_bytes() > 0
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    assert peak_bytes() == 0


def test_numbers_of_bytes_are_readable():
    for count, text in [(999, "999 B"), (1.5e3, "1.5 KB"), (9.6e7, "96 MB"), (2e13, "20 TB")]:
        assert format_bytes(count) == text
