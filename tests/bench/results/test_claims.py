from dataclasses import replace

import pytest

from bench.synthetic_records import experiment, keeping, lost, record
from kernelbraid.bench.records.store import Store
from kernelbraid.bench.report.page import report
from kernelbraid.bench.results.claims import (
    PARTS,
    WHOLE,
    ablation_table,
    accuracies_by_level,
    claim_tables,
    robustness_table,
    verdicts,
    weights_table,
)
from kernelbraid.bench.results.figures import all_figures
from kernelbraid.bench.results.published import DATA, RECORD_NAMES
from kernelbraid.bench.results.selection import Conditions, conditions, pools
from kernelbraid.bench.results.tables import all_tables
from kernelbraid.bench.results.writing import write_tables
from kernelbraid.bench.trials.experiment import read_experiment
from kernelbraid.bench.trials.runner import run
from kernelbraid.datasets import available, load

NAMES = [RECORD_NAMES[title] for title in DATA]
PART = "LKGr/no-rank"


def verdict(records, words):
    """The one verdict whose claim has these words."""
    [found] = [each for each in verdicts(records) if words in each.claim]
    return found


def ablation(gap, count=6):
    """Records of the whole and of a part, the whole better by a gap that differs a little from set to set."""
    return [
        record(0.5 + (place / 1e4 + gap if method == WHOLE else 0), data=name, method=method)
        for method in (WHOLE, PART)
        for place, name in enumerate(NAMES[:count])
    ]


def changed(acc, change, level, method="LKGr", data="yale", **more):
    return record(acc, data=data, method=method, changes={change: level}, **more)


def corrupted(weight, level, *, method="LKGr", kernel="linear", name="linear", status="converged", **more):
    made = record(0.5, status, method=method, changes={"shuffled": level, "kernel": kernel}, **more)
    others = {f"other {place}": (1 - weight) / 3 for place in range(3)}
    return replace(made, learned={name: weight, **others})


@pytest.mark.parametrize(
    ("gap", "count", "expected"),
    [
        (0.02, 6, "holds"),
        (-0.02, 6, "fails"),
        (0.004, 6, "no difference"),
        (-0.004, 6, "no difference"),
        (0.02, 5, "holds on average, not significantly"),
        (-0.02, 5, "fails on average, not significantly"),
    ],
)
def test_a_part_is_judged_by_the_mean_difference_and_the_signed_rank_test(gap, count, expected):
    found = verdict(ablation(gap, count), "low-rank term")
    assert found.verdict == expected
    assert f"of {count} data sets (p = {2 / 2**count:.4f})" in found.evidence


def test_what_was_not_run_is_not_tested():
    for found in verdicts([record(0.5, method=WHOLE)]):
        assert found.verdict == "not tested" or found.claim.endswith("(published).")
    assert verdict(ablation(0.1), "plain average").verdict == "not tested"


def test_there_is_no_table_where_no_record_was_made_for_a_claim():
    assert claim_tables([record(0.5)]) == []
    assert [table.name for table in claim_tables(ablation(0.1))] == ["claims", "ablation"]
    noise = [changed(0.5, "noise", 0), changed(0.5, "noise", 1)]
    assert [table.name for table in claim_tables(noise)] == ["claims", "robustness"]
    assert [table.name for table in claim_tables([corrupted(0.1, 1)])] == ["claims", "robustness", "corrupted_kernel"]


def test_whole_and_part_are_compared_over_the_settings_that_both_have():
    records = [
        record(0.9, method=WHOLE, parameters={"alpha": 1}),
        record(0.6, method=WHOLE, parameters={"alpha": 2}),
        record(0.5, method=PART, parameters={"alpha": 2}),
        lost("failed", "boom", method=PART, parameters={"alpha": 1}),
    ]
    assert verdict(records, "low-rank term").evidence.startswith("+10.00 points")
    table = ablation_table(records)
    assert dict(zip(table.header, table.rows[0], strict=True))[PART] == "50.00 [1]"
    assert "[1] without 1 of the 2 settings of LKGr/whole (YALE, LKGr/no-rank)" in table.notes


def test_settings_of_another_bank_are_others():
    records = [record(0.9, method=WHOLE, bank="paper"), record(0.5, method=PART, bank="rmkkm")]
    assert verdict(records, "low-rank term").verdict == "not tested"


def test_the_ablation_table_has_means_over_the_data_sets_that_all_have():
    records = [*ablation(0.1, 3), record(0.1, data=NAMES[3], method=WHOLE)]
    table = ablation_table(records)
    assert table.header == ("Data", WHOLE, *PARTS)
    last = dict(zip(table.header, table.rows[-1], strict=True))
    assert (last["Data"], last[WHOLE], last[PART], last["LKGr/bound"]) == ("mean of 3", "60.01", "50.00", "-")
    assert ablation_table([lost("failed", "boom", method=WHOLE)]).rows[-1][0] == "YALE"
    assert ablation_table([]).rows == ()


def test_the_best_of_single_kernels_stands_for_them():
    single = [record(acc, method="LKGr/one-kernel", kernel=kernel) for acc, kernel in ((0.7, "a"), (0.5, "b"))]
    found = verdict([record(0.6, method=WHOLE), *single], "best single one")
    assert found.evidence.startswith("-10.00 points on average, better on 0 of 1 data set (")


def robust(own, other, method="MKKM", change="noise"):
    """Records of LKGr and another method before and after a change, in per cent."""
    steps = zip((0, 1), own, strict=True), zip((0, 1), other, strict=True)
    found = [changed(acc / 100, change, level) for level, acc in steps[0]]
    return [*found, *(changed(acc / 100, change, level, method) for level, acc in steps[1])]


@pytest.mark.parametrize("change", ["noise", "outliers", "useless_views"])
@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ((90, 85), (60, 50), "holds"),
        ((90, 70), (60, 50), "fails"),
        ((90, 80), (60, 50), "no difference"),
        ((90, 80), (60, 50.4), "no difference"),
        ((90, 91), (60, 60), "holds"),
    ],
)
def test_robustness_is_judged_by_what_bad_data_cost(own, other, expected, change):
    words = {"noise": "noise in", "outliers": "outliers", "useless_views": "views that say nothing"}[change]
    assert verdict(robust(own, other, change=change), words).verdict == expected


def test_every_other_method_must_lose_more():
    records = [*robust((90, 85), (60, 50)), changed(0.5, "noise", 0, "KMeans"), changed(0.49, "noise", 1, "KMeans")]
    found = verdict(records, "noise in")
    assert found.verdict == "fails"
    assert found.evidence.endswith("loses 5.0 points on average over 1 data set; KMeans 1.0, MKKM 10.0")


def test_another_form_of_lkg_is_no_other_method():
    records = [*robust((90, 85), (60, 50)), *robust((90, 85), (60, 60), "LKGs"), *robust((90, 85), (6, 6), WHOLE)]
    assert verdict(records, "noise in").verdict == "holds"
    assert verdict(robust((90, 85), (60, 60), "LKGs"), "noise in").verdict == "not tested"


def test_one_level_tells_nothing_of_robustness():
    records = [changed(0.5, "noise", 1, method) for method in ("LKGr", "MKKM")]
    assert (verdict(records, "noise in").verdict, verdict(records, "noise in").evidence) == (
        "not tested",
        "one level only",
    )


def test_losses_are_compared_on_the_data_sets_that_both_methods_have():
    jaffe = [changed(0.9, "noise", 0, data="jaffe"), changed(0.1, "noise", 1, data="jaffe")]
    assert verdict([*robust((90, 85), (60, 50)), *jaffe], "noise in").verdict == "holds"


def test_levels_are_never_mixed():
    records = [changed(0.9, "noise", 0), changed(0.4, "noise", 1), changed(0.6, "noise", 1, seed=1)]
    table = robustness_table([*records, changed(0.2, "outliers", 1), record(0.99)])
    assert [row[1:] for row in table.rows] == [
        ("noise", "0", "90.00"),
        ("noise", "1", "50.00"),
        ("outliers", "1", "20.00"),
    ]


def test_corrupted_kernels_do_not_replace_one_another():
    kernels = [("linear", 0.8, "2026-01-01"), ("gaussian t=1", 0.4, "2026-01-02")]
    records = [
        replace(record(acc, changes={"shuffled": 1.0, "kernel": kernel}), created=day) for kernel, acc, day in kernels
    ]
    assert robustness_table(records).rows[0][-1] == "60.00"


def test_lines_are_means_over_the_data_sets_that_all_methods_have_at_all_levels():
    records = [*robust((90, 80), (60, 50)), changed(0.1, "noise", 0, data="jaffe"), changed(0.3, "noise", 0, "KMeans")]
    found = accuracies_by_level(records, "noise")
    assert {method: list(line) for method, line in found.items()} == {"LKGr": [0, 1], "MKKM": [0, 1]}
    assert list(found["LKGr"].values()) == pytest.approx([90, 80])
    apart = [changed(0.5, "noise", level, "KMeans", "jaffe") for level in (0, 1)]
    assert accuracies_by_level([*records, *apart], "noise") == {}
    assert accuracies_by_level(records, "outliers") == {}


@pytest.mark.parametrize(("weights", "expected"), [((0.1, 0.2, 0.9), "holds"), ((0.1, 0.3, 0.9), "fails")])
def test_a_corrupted_kernel_is_judged_by_how_often_its_weight_is_below_an_even_one(weights, expected):
    records = [corrupted(weight, 1, seed=seed) for seed, weight in enumerate(weights)]
    found = verdict([*records, corrupted(0.9, 0.5), corrupted(0.4, 0)], "small weight")
    assert found.verdict == expected
    assert found.claim.endswith(": LKGr.")
    assert "at level 1; 0.400 when it is sound" in found.evidence
    assert "of 3 fits" in found.evidence


def test_a_kernel_that_is_sound_tells_nothing_of_corrupted_ones():
    assert verdict([corrupted(0.1, 0)], "small weight").verdict == "not tested"


def test_the_weights_of_fits_that_collapsed_do_not_count():
    records = [corrupted(0.1, 1), corrupted(0.9, 1, status="kernel_vanished", seed=1)]
    assert weights_table(records).rows == (("yale", "LKGr", "1", "0.1000", "0.2500", "1 of 1"),)


def test_of_several_views_the_weight_of_the_first_one_counts():
    made = corrupted(0.1, 1, name="view 1: linear")
    made = replace(made, learned={**made.learned, "view 2: linear": 0.7})
    assert weights_table([made]).rows[0][3:5] == ("0.1000", "0.2000")


def test_scorings_are_never_mixed():
    other = [replace(each, trial=replace(each.trial, scoring="mean20")) for each in [*ablation(0.1), corrupted(0.9, 1)]]
    assert verdict(other, "low-rank term").verdict == "not tested"
    both = [*ablation(0.02), *other, corrupted(0.1, 1)]
    assert verdict(both, "low-rank term").evidence.startswith("+2.02")
    assert weights_table(both).rows[0][-1] == "1 of 1"


def test_our_methods_are_compared_under_the_scorings_of_the_paper():
    accuracies = {
        ("SCMK", "best100"): 0.6,
        ("SCMK", "mean20"): 0.1,
        ("SCSK", "best100"): 0.5,
        ("MKKM", "mean20"): 0.6,
        ("KKM", "best100"): 0.9,
    }
    records = [record(acc, method=method, scoring=scoring) for (method, scoring), acc in accuracies.items()]
    assert verdict(records, "SCMK against SCSK on its best kernel (ours)").evidence.startswith("+10.00")
    assert verdict(records, "MKKM against KKM on its best kernel (ours)").verdict == "not tested"


def test_published_claims_follow_from_the_published_figures():
    found = verdict([], "LKGr is better than SCMK (published)")
    assert found.verdict == "holds on average, not significantly"
    assert found.evidence == "+1.41 points on average, better on 5 of 9 data sets (p = 0.4258)"


ALTERED = [
    *(keeping(changed(0.999, "noise", level, data=data)) for level in (0, 1) for data in ("yale", "wine")),
    *(changed(0.999, "noise", level, "KKM") for level in (0, 1)),
    *(keeping(each) for each in ablation(0.4)),
    *(
        record(0.999, method=WHOLE, parameters={"alpha": 1.0, "beta": beta, "gamma": gamma})
        for beta in (1, 2)
        for gamma in (1, 2)
    ),
]


def test_altered_records_enter_no_other_table_and_no_other_figure():
    plain = [record(0.5), record(0.4, method="KKM"), record(0.4, data="jaffe")]
    assert conditions([*plain, *ALTERED]) == conditions(plain)
    assert pools([*plain, *ALTERED], Conditions("best100")) == pools(plain, Conditions("best100"))
    for alone, together in zip(all_tables(plain), all_tables([*plain, *ALTERED]), strict=True):
        assert together == alone or together.name == "table1_data"  # which counts them
    assert [name for name, _ in all_figures(ALTERED)] == ["robustness"]
    names = [name for name, _ in all_figures(plain)]
    assert [name for name, _ in all_figures([*plain, *ALTERED])] == [*names, "robustness"]


def test_no_record_of_an_experiment_is_altered():
    assert claim_tables(experiment()) == []


SMALL = """
title = "Claims on wine"

[[run]]
data = ["wine"]
methods = ["LKGr/whole", "LKGr/no-rank", "LKGr/bound", "LKGr/average", "LKGr/in-turn", "LKGr/one-kernel"]
scoring = ["best100"]
kernels = ["linear", "gaussian t=1"]
settings = { alpha = 0.01, beta = 0.5, gamma = 6.0, mu = 0.7 }

[[run]]
data = ["wine"]
methods = ["LKGr", "KMeans"]
scoring = ["best100"]
settings = { max_iter = 8 }
changes = { noise = [0, 2], outliers = [0, 0.2], useless_views = [0, 1] }

[[run]]
data = ["wine"]
methods = ["LKGr", "MKKM"]
scoring = ["best100"]
settings = { max_iter = 8 }
changes = { shuffled = [0, 1], kernel = "linear" }
"""


def test_claims_run_from_a_file_to_tables_and_a_report(tmp_path):
    (tmp_path / "claims.toml").write_text(SMALL)
    small = read_experiment(tmp_path / "claims.toml", load, available(), "1.0")
    store = Store(tmp_path / "store.db")
    progress = run(small, store)
    assert (progress.done, progress.failed) == (len(small.trials), 0) == (7 + 2 * 6 + 2 * 2, 0)
    records = store.records()
    judged = {found.claim: found for found in verdicts(records)}
    tested = [claim for claim, found in judged.items() if found.verdict != "not tested" and "published" not in claim]
    assert len(tested) == 5 + 4 + 2
    names = {path.name for path in write_tables(records, tmp_path / "tables", ["md"])}
    assert {"claims.md", "ablation.md", "robustness.md", "corrupted_kernel.md"} <= names
    page, table = report(records), (tmp_path / "tables" / "claims.md").read_text()
    for claim, found in ((claim, judged[claim]) for claim in tested):
        assert f"| {claim} | {found.verdict} | {found.evidence} |" in table
    assert "LKG is robust to a corrupted kernel, more than the others." in page
    assert "Claims of the paper" in page
    assert "Claims of the paper" not in report([record(0.5)])
