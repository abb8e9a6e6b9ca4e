import math

import pytest
import typer

from kernelbraid.cli.values import (
    LARGEST_SEED,
    choice,
    existing_file,
    known_method,
    number_of_jobs,
    real_number,
    several,
    weights_of_views,
    whole_number,
    whole_number_or,
)
from kernelbraid.methods import METHODS


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (choice("J", "Z"), "Z", "Z"),
        (several("a", "b", "c"), "c", "c"),
        (several("a", "b", "c"), "c, a,c", "c,a"),
        (whole_number(1), "1", 1),
        (number_of_jobs, "2", 2),
        (number_of_jobs, "-1", -1),
        (whole_number(0, LARGEST_SEED), "4294967295", 2**32 - 1),
        (whole_number_or("all"), "all", "all"),
        (whole_number_or("all"), "7", 7),
        (real_number(), "1e-3", 1e-3),
        (real_number(zero=True), "0", 0.0),
        (real_number(infinite=True), "inf", math.inf),
        (known_method, "RMKKM", "RMKKM"),
    ],
)
def test_what_is_right_becomes_a_value_of_its_type(parse, text, value):
    found = parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (choice("J", "Z"), "z", "'z' is unknown; choose J or Z."),
        (choice("J", "Z"), "", "'' is unknown; choose J or Z."),
        (several("a", "b"), "a,x", "'x' is unknown; choose from a, b."),
        (several("a", "b"), "a,", "'' is unknown; choose from a, b."),
        (whole_number(1), "2.5", "'2.5' is no whole number; give a whole number of at least 1."),
        (whole_number(1), "0", "0 is out of range; give a whole number of at least 1."),
        (number_of_jobs, "0", "'0' is no number of jobs; give 1 or more, or -1 for all cores."),
        (number_of_jobs, "all", "'all' is no number of jobs; give 1 or more, or -1 for all cores."),
        (whole_number(0, 9), "10", "10 is out of range; give a whole number from 0 to 9."),
        (whole_number_or("all"), "0", "'0' is out of range; give a whole number of at least 1, or all."),
        (whole_number_or("all"), "ALL", "'ALL' is out of range; give a whole number of at least 1, or all."),
        (real_number(), "0", "'0' is out of range; give a positive number."),
        (real_number(), "nan", "'nan' is out of range; give a positive number."),
        (real_number(zero=True), "-1", "'-1' is out of range; give 0 or a positive number."),
        (real_number(zero=True), "inf", "'inf' is out of range; give 0 or a positive number."),
        (real_number(infinite=True), "-inf", "'-inf' is out of range; give a positive number, or inf."),
        *(
            (weights_of_views, text, f"{text!r} are no weights; give a number from 0 on for each file, not all 0")
            for text in ("", "1,", "1;1", "1,-1", "0,0", "1,nan", "1,inf")
        ),
    ],
)
def test_what_is_wrong_is_refused_with_what_it_must_be(parse, text, says):
    with pytest.raises(typer.BadParameter) as refused:
        parse(text)
    assert str(refused.value).startswith(says)


@pytest.mark.parametrize("parse", [whole_number(0, 9), whole_number_or("all"), real_number(zero=True, infinite=True)])
def test_a_value_may_go_through_its_parser_again(parse):
    """Defaults are parsed too."""
    assert parse(parse("7")) == 7


def test_weights_of_views_are_numbers_between_commas():
    weights = weights_of_views("1, 0.5,0")
    assert weights == (1.0, 0.5, 0.0)
    assert weights_of_views(weights) == weights


def test_a_misspelt_method_is_answered_with_those_like_it():
    with pytest.raises(typer.BadParameter, match=r"'lkgS' is unknown; choose LKGs or LKGr \(see kernelbraid methods\)"):
        known_method("lkgS")
    with pytest.raises(typer.BadParameter, match=f"choose one of {', '.join(METHODS)}"):
        known_method("?")


def test_a_file_must_be_there_and_be_no_folder(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(typer.BadParameter, match=r"there is no file .*a\.csv'; check the path"):
        existing_file(str(path))
    with pytest.raises(typer.BadParameter, match="is a folder; give a file"):
        existing_file(str(tmp_path))
    path.touch()
    assert existing_file(str(path)) == path
