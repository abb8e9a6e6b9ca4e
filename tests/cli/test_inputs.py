import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import typer

from kernelbraid.cli.inputs import STANDARD, files_among, form_of, open_inputs
from kernelbraid.datasets import DataError, read_samples


@pytest.fixture
def standard_input(monkeypatch):
    def fill(content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    return fill


def saved(save, *content, **arrays):
    file = io.BytesIO()
    save(file, *content, **arrays)
    return file.getvalue()


X = np.array([[1.5, 2.0], [3.0, 4.5]])
CONTENTS = {
    "csv": b"a,b\n1.5,2\n3,4.5\n",
    "tsv": b"a\tb\n1.5\t2\n3\t4.5\n",
    "semicolons": b"1,5;2\n3;4,5\n",
    "npy": saved(np.save, X),
    "npz": saved(np.savez, X=X),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_standard_input_is_known_by_its_content(standard_input, kind):
    standard_input(CONTENTS[kind])
    (source,) = open_inputs([STANDARD])
    np.testing.assert_array_equal(read_samples(source).X, X)


def test_a_format_holds_for_what_does_not_tell_its_own(standard_input, tmp_path):
    (tmp_path / "a.txt").write_text("1.5\t2\n3\t4.5\n")
    np.save(tmp_path / "b.npy", X)
    standard_input(b"1.5\t2\n3\t4.5\n")
    paths = [tmp_path / "a.txt", tmp_path / "b.npy", STANDARD]
    for source in open_inputs(paths, form_of(paths, suffix=".tsv")):
        np.testing.assert_array_equal(read_samples(source).X, X)
    assert files_among(paths) == paths[:2]


@pytest.mark.parametrize("content", [b"", b"\x7f\0ELF", b"a,b\n\xff,1\n"])
def test_standard_input_that_cannot_be_read_gets_a_sentence(standard_input, content):
    standard_input(content)
    with pytest.raises(DataError, match=r"^standard input: "):
        read_samples(open_inputs([STANDARD])[0])


def test_standard_input_that_is_closed_gets_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match=r"^standard input: it is closed"):
        open_inputs([STANDARD])


def test_standard_input_is_given_once(tmp_path):
    with pytest.raises(typer.BadParameter, match="can be read once"):
        form_of([STANDARD, STANDARD])


def test_a_format_that_nothing_needs_is_refused(tmp_path):
    with pytest.raises(typer.BadParameter, match="leave it out, or rename the file"):
        form_of([tmp_path / "a.csv", tmp_path / "b.csv.gz"], suffix=".npy")
