import io
import os
import sys
import threading

import numpy as np
import pytest

from kernelbraid.datasets import column_names, read_samples
from kernelbraid.io.sources import DataError, open_source
from small_files import X

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")


@pytest.fixture
def pipe(tmp_path):
    """Make a named pipe through which something comes once."""

    def make(name, content):
        path = tmp_path / name
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    return make


@pytest.fixture
def unnamed_pipe():
    """Return the path that a shell gives to a pipe without a name, as for <(command)."""
    ends = []

    def make(content):
        out, into = os.pipe()
        ends.append(out)
        os.write(into, content)
        os.close(into)
        return f"/dev/fd/{out}"

    yield make
    for end in ends:
        os.close(end)


def bytes_of(save, *content, **arrays):
    file = io.BytesIO()
    save(file, *content, **arrays)
    return file.getvalue()


def test_what_the_user_says_a_file_holds_comes_before_its_name(tmp_path):
    (tmp_path / "a.tsv").write_text("a,b\n1,2\n")
    np.testing.assert_array_equal(read_samples(open_source(tmp_path / "a.tsv", held=".csv")).X, [[1, 2]])
    (tmp_path / "a.dat").write_bytes(bytes_of(np.save, X))
    np.testing.assert_array_equal(read_samples(open_source(tmp_path / "a.dat", held=".npy")).X, X)


def test_a_pipe_is_opened_once_and_no_sample_is_lost(pipe):
    rows = "".join(f"{i},{i + 0.5}\n" for i in range(3000))
    np.testing.assert_array_equal(read_samples(pipe("a.csv", rows.encode())).X[:, 0], range(3000))


def test_standard_input_that_is_closed_is_empty(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match=r"^standard input: the file is empty; give at least one row\.$"):
        open_source("-")


def test_an_open_pipe_is_read_as_often_as_needed(pipe):
    source = open_source(pipe("a.csv", b"a,b\n1,2\n3,4\n"))
    assert column_names(source) == ["a", "b"]
    for _ in range(2):
        np.testing.assert_array_equal(read_samples(source).X, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "content",
    [
        b"1.5,-2\n3,4e-3\n5,6\n",
        b"a\tb\n1.5\t-2\n3\t4e-3\n5\t6\n",
        bytes_of(np.save, X),
        bytes_of(np.savez, X=X, y=[0, 1, 2]),
        bytes_of(lambda file, content: __import__("scipy.io").io.savemat(file, content), {"X": X}),
    ],
)
def test_what_comes_through_a_pipe_without_a_suffix_is_found_by_its_beginning(unnamed_pipe, content):
    np.testing.assert_array_equal(read_samples(unnamed_pipe(content)).X, X)
