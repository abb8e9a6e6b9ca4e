from dataclasses import replace

import pytest

from bench.synthetic_records import experiment, lost, record
from kernelbraid.bench.records.store import Store
from kernelbraid.bench.results.study import study_tables
from kernelbraid.bench.results.views import BEST_VIEW, KERNELS, MEAN_VIEW, SEVEN, views_tables
from kernelbraid.bench.results.writing import write_tables
from kernelbraid.datasets.view_sets import VIEW_SETS


def run(acc, data="ngs", method="LKG", weights=(), **more):
    made = record(acc, data=data, method=method, scoring="once", study="views", **more)
    return replace(made, learned={f"view {i}": weight for i, weight in enumerate(weights, 1)})


def made(*records):
    return {table.name: table for table in views_tables(records)}


def row(table, *first):
    [found] = [row for row in table.rows if row[: len(first)] == first]
    return dict(zip(table.header, found, strict=True))


def clean(acc=0.8, method="LKG", **more):
    return [run(acc, name, method, **more) for name in SEVEN]


def test_the_seven_sets_are_those_of_the_catalogue():
    assert [entry.name for entry in VIEW_SETS] == list(SEVEN)


def test_without_records_of_views_there_are_no_tables():
    assert views_tables(experiment()) == []


def test_records_of_views_enter_no_other_table(tmp_path):
    assert study_tables(clean()) == []
    assert {path.stem for path in write_tables(clean(), tmp_path, ["md"])} == {"views_methods"}


def test_a_figure_is_the_mean_over_the_seeds_and_the_mean_is_over_the_seven_sets():
    table = made(*clean(0.8), run(0.6, seed=1), run(0.5, "cora"))["views_methods"]
    assert row(table, "LKG")["ngs"] == "**70.0**"
    assert row(table, "LKG")["cora"] == "**50.0**"
    assert row(table, "LKG")["mean of 7"] == f"{(6 * 80 + 70) / 7:.1f}"


def test_of_two_records_of_a_trial_the_newer_counts():
    old, new = run(0.9, version="0.1.0"), replace(run(0.4), created="2027-01-01T00:00:00Z")
    assert row(made(new, old)["views_methods"], "LKG")["ngs"] == "**40.0**"


def test_an_incomplete_mean_says_how_much_there_is():
    assert row(made(*clean()[:3])["views_methods"], "LKG")["mean of 7"] == "3 of 7"


def test_kernels_averaged_and_joined_rows_stand_beside_it_and_the_best_is_bold():
    others = [run(0.9, parameters={"fusion": "kernels"}), run(0.7, method="SC-knn-joined")]
    table = made(*clean(), *others)["views_methods"]
    assert row(table, KERNELS)["ngs"] == "**90.0**"
    assert row(table, "LKG")["ngs"] == "80.0"
    assert row(table, "SC-knn-joined")["ngs"] == "70.0"


def test_what_was_not_run_has_its_reason_below():
    skipped = lost("skipped", "too slow", data="ngs", method="MKKM", scoring="once", study="views")
    table = made(*clean(), skipped, run(0.5, "bbc", "MKKM"))["views_methods"]
    assert row(table, "MKKM")["ngs"] == "skipped [1]"
    assert table.notes[-1] == "[1] too slow (ngs, MKKM)"


def test_single_views_give_their_mean_and_the_best_one_by_label():
    single = [run(acc, changes={"view": i}) for i, acc in ((1, 0.6), (2, 0.9))]
    tables = made(*clean(), *single)
    assert row(tables["views_methods"], MEAN_VIEW)["ngs"] == "75.0"
    assert row(tables["views_methods"], BEST_VIEW)["ngs"] == "90.0"
    assert row(tables["views_single"], "ngs") == {"Data": "ngs", "view 1": "60.0", "view 2": "90.0", "all": "80.0"}


def test_the_notes_say_where_fusing_loses():
    single = [run(acc, changes={"view": i}) for i, acc in ((1, 0.6), (2, 0.9))]
    joined = [run(0.81, method="SC-knn-joined"), run(0.4, "bbc", "SC-knn-joined")]
    notes = made(*clean(), *single, *joined)["views_methods"].notes
    assert "LKG is below the best single view on 1 of 1, by more than 3 points on 1: ngs (10.0)." in notes
    assert "LKG is below SC-knn-joined on 1 of 2, by more than 3 points on 0: ngs (1.0)." in notes


def test_nothing_is_told_where_fusing_does_not_lose():
    notes = made(*clean(), *clean(0.5, "SC-knn-joined"))["views_methods"].notes
    assert "LKG is below SC-knn-joined on 0 of 7, by more than 3 points on 0." in notes


def false(acc, weights=(0.5, 0.5, 0.0), changes=None, **more):
    return run(acc, weights=weights, changes=changes or {"decoys": 1}, **more)


def test_false_views_cost_the_clean_figure_less_what_is_left():
    kinds = ({"decoys": 1}, {"decoys": 2}, {"noise_views": 3}, {"decoys": 2, "noise_views": 3}, {"copies": 1})
    records = [false(0.8 - 0.01 * i, changes=changes) for i, changes in enumerate(kinds, 1)]
    found = row(made(*clean(), *records)["views_false"], "ngs, LKG")
    assert found == {
        "Data": "ngs, LKG",
        "clean": "80.0",
        "noise": "77.0",
        "one decoy": "79.0",
        "two decoys": "78.0",
        "noise and decoys": "76.0",
        "copy": "75.0",
        "most lost": "4.0",  # a copy is no false view
    }


def test_means_over_the_seven_sets_stand_below_for_joined_rows_too():
    decoys = [false(0.2, method="SC-knn-joined", data=name) for name in SEVEN]
    table = made(*clean(), *clean(0.6, "SC-knn-joined"), *decoys, *(false(0.7, data=name) for name in SEVEN))
    assert row(table["views_false"], "mean, LKG")["most lost"] == "10.0"
    assert row(table["views_false"], "mean, SC-knn-joined")["most lost"] == "40.0"


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ((0.5, 0.5, 0.0), ("1 of 1", "0 of 2")),
        ((0.4, 0.3, 0.3), ("0 of 1", "0 of 2")),
        ((0.0, 0.5, 0.5), ("0 of 1", "1 of 2")),
    ],
)
def test_views_that_are_left_out_are_counted_apart_by_being_false_or_real(weights, says):
    table = made(*clean(weights=(0.5, 0.5)), false(0.8, weights))["views_named"]
    assert tuple(row(table, "one decoy").values())[1:] == says
    assert tuple(row(table, "clean").values())[1:] == ("-", "0 of 14")


def test_more_than_nine_views_keep_their_order_in_a_store(tmp_path):
    store = Store(tmp_path / "store.db")
    store.add(*clean(), false(0.8, [1 / 11] * 11 + [0.0]))
    table = made(*store.records())["views_named"]
    assert tuple(row(table, "one decoy").values())[1:] == ("1 of 1", "0 of 11")


def test_missing_samples_cost_points_on_the_mean():
    some = [run(0.8 - share, name, changes={"missing": share}) for name in SEVEN for share in (0.1, 0.3)]
    table = made(*clean(), *some)["views_missing"]
    assert table.header == ("Data", "none", "10 %", "30 %")
    assert row(table, "mean of 7") == {"Data": "mean of 7", "none": "80.0", "10 %": "70.0", "30 %": "50.0"}
    assert row(table, "lost") == {"Data": "lost", "none": "0.0", "10 %": "10.0", "30 %": "30.0"}


def test_a_poor_view_costs_what_is_gained_without_it():
    digits = [run(acc, "digits", changes={"row_sums": level}) for level, acc in ((0, 0.9), (1, 0.85))]
    leaves = run(0.7, "leaves100", changes={"without": 2})
    table = made(*clean(), leaves, *digits)["views_poor"]
    assert row(table, "leaves100: its second view")["lost"] == "-10.0"
    assert row(table, "digits: a view of their row sums")["lost"] == "5.0"


def test_methods_of_the_paper_stand_with_and_without_noise():
    records = [run(0.5, method="MKKM"), run(0.3, method="MKKM", changes={"noise_views": 3})]
    table = made(*clean(), *records, run(0.78, changes={"noise_views": 3}))["views_noise"]
    assert row(table, "ngs", "noise")["MKKM"] == "30.0"
    assert row(table, "ngs", "noise")["LKG"] == "78.0"
    assert row(table, "ngs", "clean")["MKKM"] == "50.0"
