import pytest

from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.words import TABLE, Words, is_list_of, is_table_of_lists


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"a = ", "see experiments/smoke.toml"), (b"\xff", "is no text"), (None, "could not be read")],
)
def test_a_file_that_is_no_toml_is_named(tmp_path, content, says):
    if content is not None:
        (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(ProtocolError, match=says):
        Words.of(tmp_path / "a.toml")


def test_a_wrong_word_is_found_in_its_line(tmp_path):
    (tmp_path / "a.toml").write_text("one = 1\ntow = 2\n")
    words = Words.of(tmp_path / "a.toml")
    with pytest.raises(ProtocolError, match=r"a\.toml, line 2: 'tow' is no number; the nearest: two\.$"):
        words.check_names(words.content, ["one", "two"], "number")


def test_a_value_of_another_kind_is_told_what_it_must_be(tmp_path):
    (tmp_path / "a.toml").write_text("settings = 7\n")
    words = Words.of(tmp_path / "a.toml")
    with pytest.raises(ProtocolError, match=r"settings = 7 is not what it must be: a table of parameters"):
        words.check_table(words.content, {"settings": TABLE})


def test_kinds_are_told_apart():
    assert is_list_of(int)([1, 2])
    assert not any(map(is_list_of(int), ([], [True], ["1"], 1)))
    assert is_table_of_lists({"a": [1]})
    assert not any(map(is_table_of_lists, ({"a": []}, {"a": 1}, [1])))
