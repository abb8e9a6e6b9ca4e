import pytest

from lab.results.claims import PARTS, WHOLE, claims
from lab.results.comparison import LATER
from lab.results.published import NINE
from lab.results.robustness import accuracies_by_level, collect_steps
from made_up_records import by_name, compared, lost, record, row

NAMES = list(NINE.values())
PART = "LKGr/no-rank"


def made(records):
    return by_name(claims(records))


def verdict(records, words):
    """The one verdict whose claim has these words, and its evidence."""
    altered = lost("failed", "boom", method=WHOLE, data="wine")  # there are claims where parts were taken out
    [found] = [line for line in made([*records, altered])["claims"].rows if words in line[0]]
    return found[1:]


def ablation(gap, count=6):
    """Records of the whole and of a part, the whole better by a gap that differs a little from set to set."""
    return [
        record(0.5 + (place / 1e4 + gap if method == WHOLE else 0), data=name, method=method)
        for method in (WHOLE, PART)
        for place, name in enumerate(NAMES[:count])
    ]


def changed(acc, change, level, method="LKGr", data="yale", **more):
    return record(acc, data=data, method=method, changes={change: level}, **more)


def robust(own, other, method="MKKM", change="noise"):
    """Records of LKGr and another method before and after a change, in per cent."""
    figures = [("LKGr", own), (method, other)]
    return [changed(acc / 100, change, level, name) for name, line in figures for level, acc in enumerate(line)]


def corrupted(weight, level, *, status="converged", name="linear", **more):
    learned = {name: weight, **{f"other {place}": (1 - weight) / 3 for place in range(3)}}
    return record(0.5, status, learned=learned, changes={"shuffled": level, "kernel": "linear"}, **more)


def test_a_part_is_judged_by_the_mean_difference_and_the_signed_rank_test():
    for gap, count, expected in [
        (0.02, 6, "holds"),
        (-0.02, 6, "fails"),
        (0.004, 6, "no difference"),
        (0.02, 5, "holds on average, not significantly"),
    ]:
        found, evidence = verdict(ablation(gap, count), "low-rank term")
        assert found == expected
        assert f"of {count} data sets (p = {2 / 2**count:.4f})" in evidence


def test_there_is_no_table_where_no_record_was_made_for_a_claim():
    assert list(claims([record(0.5), compared(0.5)])) == []
    assert list(made(ablation(0.1))) == ["claims", "ablation"]
    assert list(made([corrupted(0.1, 1)])) == ["claims", "robustness", "corrupted_kernel"]
    mine = [record(accuracy, method=method, data="mine") for accuracy, method in ((0.5, WHOLE), (0.4, PART))]
    assert list(made(mine[1:])) == ["ablation"]  # of other data nothing is said that was not tested there
    assert [row[0] for row in made(mine)["claims"].rows] == ["The low-rank term on the kernel helps."]
    assert verdict(ablation(0.1), "plain average")[0] == "not tested"


def test_whole_and_part_are_compared_over_the_settings_that_both_have():
    records = [
        record(0.9, method=WHOLE, parameters={"alpha": 1}),
        record(0.6, method=WHOLE, parameters={"alpha": 2}),
        record(0.5, method=PART, parameters={"alpha": 2}),
        lost("failed", "boom", method=PART, parameters={"alpha": 1}),
    ]
    assert verdict(records, "low-rank term")[1].startswith("+10.00 points")
    table = made(records)["ablation"]
    assert row(table, "YALE")[PART] == "50.00 [1]"
    assert "[1] without 1 of the 2 settings of LKGr/whole (YALE, LKGr/no-rank)" in table.notes


def test_the_ablation_table_has_means_over_the_data_sets_that_all_have():
    table = made([*ablation(0.1, 3), record(0.1, data=NAMES[3], method=WHOLE)])["ablation"]
    assert table.header == ("Data", WHOLE, *PARTS)
    last = row(table, "mean of 3")
    assert (last[WHOLE], last[PART], last["LKGr/bound"]) == ("60.01", "50.00", "-")


def test_the_best_of_single_kernels_stands_for_them():
    single = [record(acc, method="LKGr/one-kernel", kernel=kernel) for acc, kernel in ((0.7, "a"), (0.5, "b"))]
    found = verdict([record(0.6, method=WHOLE), *single], "best single one")
    assert found[1].startswith("-10.00 points on average, better on 0 of 1 data set (")


def test_robustness_is_judged_by_what_bad_data_cost():
    for own, other, expected in [
        ((90, 85), (60, 50), "holds"),
        ((90, 70), (60, 50), "fails"),
        ((90, 80), (60, 50.4), "no difference"),
    ]:
        assert verdict(robust(own, other), "noise in")[0] == expected


def test_every_other_method_but_forms_of_lkg_must_lose_more():
    records = [*robust((90, 85), (60, 50)), *robust((90, 85), (60, 59), "KMeans"), *robust((90, 85), (60, 60), "LKGs")]
    found = verdict(records, "noise in")
    assert found == (
        "fails",
        "from level 0 to 1 LKGr loses 5.0 points on average over 1 data set; KMeans 1.0, MKKM 10.0",
    )
    assert verdict(robust((90, 85), (60, 60), "LKGs"), "noise in")[0] == "not tested"


def test_one_level_tells_nothing_of_robustness():
    records = [changed(0.5, "noise", 1, method) for method in ("LKGr", "MKKM")]
    assert verdict(records, "noise in") == ("not tested", "one level only")


def test_levels_and_scorings_are_never_mixed():
    records = [changed(0.9, "noise", 0), changed(0.4, "noise", 1), changed(0.6, "noise", 1, seed=1)]
    more = [changed(0.2, "outliers", 1), record(0.99), changed(0.99, "noise", 1, scoring="mean20")]
    rows = made([*records, *more])["robustness"].rows
    assert [line[1:] for line in rows] == [("noise", "0", "90.00"), ("noise", "1", "50.00"), ("outliers", "1", "20.00")]


def test_lines_are_means_over_the_data_sets_that_all_methods_have_at_all_levels():
    records = [*robust((90, 80), (60, 50)), changed(0.1, "noise", 0, data="jaffe"), changed(0.3, "noise", 0, "KMeans")]
    found = accuracies_by_level(collect_steps(records), "noise")
    assert found == {"LKGr": pytest.approx({0.0: 90, 1.0: 80}), "MKKM": pytest.approx({0.0: 60, 1.0: 50})}
    apart = [changed(0.5, "noise", level, "KMeans", "jaffe") for level in (0, 1)]
    assert accuracies_by_level(collect_steps([*records, *apart]), "noise") == {}
    assert accuracies_by_level(collect_steps(records), "outliers") == {}


@pytest.mark.parametrize(("weights", "expected"), [((0.1, 0.2, 0.9), "holds"), ((0.1, 0.3, 0.9), "fails")])
def test_a_corrupted_kernel_is_judged_by_how_often_its_weight_is_below_an_even_one(weights, expected):
    records = [corrupted(weight, 1, seed=seed) for seed, weight in enumerate(weights)]
    found, evidence = verdict([*records, corrupted(0.9, 0.5), corrupted(0.4, 0)], "small weight")
    assert found == expected
    assert "at level 1; 0.400 when it is sound" in evidence
    assert "of 3 fits" in evidence
    assert verdict([corrupted(0.1, 0)], "small weight")[0] == "not tested"


def test_weights_are_those_of_sound_fits_and_of_the_first_view():
    records = [corrupted(0.1, 1), corrupted(0.9, 1, status="kernel_vanished", seed=1)]
    assert made(records)["corrupted_kernel"].rows == (("yale", "LKGr", "1", "0.1000", "0.2500", "1 of 1"),)
    [line] = made([corrupted(0.1, 1, name="view 1: linear")])["corrupted_kernel"].rows
    assert line[3] == "0.1000"


def test_our_methods_are_compared_under_the_scorings_of_the_paper():
    figures = {
        ("SCMK", "best100"): 0.6,
        ("SCMK", "mean20"): 0.1,
        ("SCSK", "best100"): 0.5,
        ("MKKM", "mean20"): 0.6,
        ("KKM", "best100"): 0.9,
    }
    records = [record(acc, method=method, scoring=scoring) for (method, scoring), acc in figures.items()]
    assert verdict(records, "SCMK against SCSK on its best kernel (ours)")[1].startswith("+10.00")
    assert verdict(records, "MKKM against KKM on its best kernel (ours)")[0] == "not tested"
    found = verdict(records, "LKGr is better than SCMK (published)")
    assert found[1] == "+1.41 points on average, better on 5 of 9 data sets (p = 0.4258)"


def test_lkgr_is_compared_with_what_came_later_on_data_as_they_are():
    for rival in LATER:
        records = [compared(0.6 + place / 1e4, name) for place, name in enumerate((*NAMES, "ngs"))]
        records += [compared(0.5, name, rival) for name in (*NAMES, "ngs")]
        records += [compared(acc, "ngs", m, changes={"decoys": 1}) for m, acc in (("LKGr", 0.1), (rival, 0.9))]
        found, evidence = verdict(records, f"than {rival}, both as they come")
        assert found == "holds"
        assert "better on 10 of 10 data sets" in evidence
