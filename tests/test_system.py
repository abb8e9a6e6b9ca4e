import pytest

from kernelbraid._system import write_whole


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
