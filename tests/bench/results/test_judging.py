import pytest

from kernelbraid.bench.results.judging import NOT_TESTED, count_data, judge, mean_gap

FIRST = {name: 60.0 + place for place, name in enumerate("abcdef")}


@pytest.mark.parametrize(
    ("gap", "expected"), [(0.6, "holds"), (-0.6, "fails"), (0.5, "no difference"), (-0.5, "no difference")]
)
def test_a_claim_is_judged_by_the_mean_difference(gap, expected):
    found = judge("a claim", FIRST, {name: value - gap for name, value in FIRST.items()})
    assert (found.claim, found.verdict) == ("a claim", expected)
    assert found.evidence.startswith(f"{gap:+.2f} points on average, better on {6 if gap > 0 else 0} of 6 data sets")


def test_a_difference_that_is_not_significant_is_called_so():
    second = {**FIRST, "a": 0.0}  # one large difference, five of nothing
    assert judge("a claim", FIRST, second).verdict == "holds on average, not significantly"


def test_without_a_data_set_in_common_nothing_is_tested():
    assert judge("a claim", {"a": 1.0}, {"b": 1.0}).verdict == NOT_TESTED


def test_the_gap_is_over_the_data_sets_that_both_have():
    assert mean_gap({"a": 1.0, "b": 5.0, "c": 9.0}, {"b": 4.0, "a": 4.0, "d": 0.0}) == -1.0


def test_one_data_set_is_no_plural():
    assert [count_data("x" * count) for count in (1, 2)] == ["1 data set", "2 data sets"]
