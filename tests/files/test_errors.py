import pickle
from pathlib import Path

import pytest

from files.small_files import write
from kernelbraid import datasets
from kernelbraid.files.errors import LONGEST, DataError, reading
from kernelbraid.files.readers import read_samples


def test_the_error_of_the_readers_is_the_one_that_users_import():
    assert datasets.DataError is DataError


def test_whoever_catches_value_errors_catches_it(tmp_path):
    with pytest.raises(ValueError, match="text in row 1"):
        read_samples(write(tmp_path, "a.csv", "1,x\n2,y\n"))


def test_whatever_a_library_raises_is_one_sentence():
    with (
        pytest.raises(DataError, match=r"^a\.npy: the file is damaged \(two lines\); save it again\.$"),
        reading(Path("a.npy"), "save it again"),
    ):
        raise RuntimeError("two\nlines.")
    with pytest.raises(DataError, match=r"\(KeyError\)|\(''\)"), reading(Path("a.npy")):
        raise KeyError("")
    with pytest.raises(DataError) as error, reading(Path("a.npy")):
        raise ValueError("x" * 10_000)
    assert len(str(error.value)) < LONGEST + 100


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
def test_what_a_file_is_not_to_blame_for_stays_what_it_is(kind):
    with pytest.raises(kind), reading(Path("a.npy")):
        raise kind


def test_a_sentence_of_the_readers_is_not_told_twice():
    with pytest.raises(DataError, match=r"^a\.npy: no\.$"), reading(Path("a.npy")):
        raise DataError("a.npy: no.")


def test_an_error_has_one_line_and_travels_between_processes():
    error = pickle.loads(pickle.dumps(DataError("a.csv: the column 'a\nb' is text; drop it.")))
    assert str(error) == "a.csv: the column 'a b' is text; drop it."


def test_what_a_terminal_would_obey_is_spelt_out(tmp_path):
    with pytest.raises(DataError, match=r"'\\t' expected after"):
        read_samples(write(tmp_path, "a.tsv", '"1"x\t2\n'))
