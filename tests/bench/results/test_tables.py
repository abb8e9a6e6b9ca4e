import csv
import io
import re

import pytest

from bench.synthetic_records import experiment, lost, record
from kernelbraid.bench.results.published import DATA
from kernelbraid.bench.results.selection import Conditions, pools
from kernelbraid.bench.results.table import Table
from kernelbraid.bench.results.tables import (
    all_tables,
    data_table,
    failures_table,
    multi_view_table,
    results_table,
    wilcoxon_table,
)

BEST = Conditions("best100")
ODD = Table(
    "odd", "50 % of $5", ("a_b", "c&d"), (("x|y", "-1.5"), ("{~^\\}", "#<>"), ("two\nlines", '"q"')), ("1 & 2",)
)


@pytest.fixture(scope="module")
def tables():
    return {table.name: table for table in all_tables(experiment())}


def made(build, *records, **more):
    return build(pools(records, BEST), BEST, **more)


def rows(table, *start):
    return [dict(zip(table.header, row, strict=True)) for row in table.rows if row[: len(start)] == start]


def test_there_is_every_table_of_the_paper_for_every_scoring(tables):
    each = {"table2_acc", "table2_nmi", "table3_wilcoxon", "table4_cora", "table5_nuswide", "details"}
    expected = {f"{name}_{scoring}" for name in each for scoring in ("as-published", "best100", "mean20")}
    assert set(tables) == expected | {"table1_data", "failures"}


def test_rows_are_as_long_as_headers_and_names_are_unique(tables):
    for table in tables.values():
        assert {len(row) for row in table.rows} == {len(table.header)}
        assert len(set(table.header)) == len(table.header)


def test_without_records_the_tables_show_what_is_published():
    table = made(results_table, measure="acc")
    assert rows(table, "YALE", "published")[0]["LKGr"] == "66.06"
    assert rows(table, "YALE", "ours")[0]["LKGr"] == "not run"
    assert rows(table, "mean", "published")[0]["LKGr"] == "68.46"
    assert all(all_tables([]))


def test_ours_stands_next_to_published_with_the_difference():
    table = made(results_table, record(0.7), measure="acc")
    assert rows(table, "YALE", "ours")[0]["LKGr"] == "70.00"
    assert rows(table, "YALE", "difference")[0]["LKGr"] == "+3.94"
    assert {row[0] for row in table.rows} == {"YALE"}
    assert table.header == ("Data", "Source", "LKGr")


def test_a_missing_cell_gives_the_reason_of_its_record():
    table = made(results_table, lost("skipped", "31 hours", data="tdt2", method="SCMK"), measure="acc")
    assert rows(table, "TDT2", "ours")[0]["SCMK"] == "skipped [1]"
    assert table.notes[1] == "[1] 31 hours (TDT2, SCMK)"


def test_rivals_and_other_data_get_columns_and_rows_of_their_own():
    table = made(results_table, record(0.7, data="wine", method="SC-knn"), record(0.6), measure="acc")
    assert table.header == ("Data", "Source", "LKGr", "SC-knn")
    assert rows(table, "wine", "ours")[0]["SC-knn"] == "70.00"
    assert rows(table, "wine", "published") == []
    assert rows(table, "YALE", "difference")[0] == {
        "Data": "YALE",
        "Source": "difference",
        "LKGr": "-6.06",
        "SC-knn": "-",
    }


def test_without_data_of_the_paper_there_is_nothing_published():
    records = [record(0.7, data="wine", method="Mine"), record(0.5, data="digits", method="Mine", seed=1)]
    tables = {table.name: table for table in all_tables(records)}
    assert list(tables) == ["data", "results_acc_best100", "results_nmi_best100", "details_best100"]
    table = tables["results_acc_best100"]
    assert (table.title, table.header) == ("Accuracy in per cent (best100, all banks)", ("Data", "Mine"))
    assert table.rows == (("digits", "50.00"), ("wine", "70.00"), ("mean of 2", "60.00"))
    assert tables["data"].header == ("Data", "Checksum", "Records")
    assert not [name for name in tables["details_best100"].header if "published" in name or name == "difference"]


def test_a_mean_is_over_what_was_run_and_tells_what_is_missing():
    records = [
        record(0.7),
        record(0.5, data="jaffe"),
        record(0.5, data="jaffe", method="KKM"),
        record(0.1, data="wine"),
    ]
    table = made(results_table, *records, measure="acc")
    [ours, published, _] = rows(table, "mean of 2")
    assert (ours["LKGr"], ours["KKM"]) == ("60.00", "1 of 2")
    assert published["LKGr"] == f"{(66.06 + 98.60) / 2:.2f}"


def test_the_mean_is_given_when_all_nine_are_there():
    table = made(results_table, *(record(0.5, data=name.lower()) for name in DATA), measure="acc")
    assert rows(table, "mean", "ours")[0]["LKGr"] == "50.00"
    assert rows(table, "mean", "difference")[0]["LKGr"] == "-18.46"


def test_the_wilcoxon_table_has_three_sources_and_names_the_misprint():
    ours = [record(0.5, data=name.lower()) for name in DATA]
    theirs = [record(0.4 - 0.01 * i, data=name.lower(), method="KKM") for i, name in enumerate(DATA)]
    table = made(wilcoxon_table, *ours, *theirs, record(0.4, method="SCMK"), lost("failed", "boom", method="SC"))
    assert not rows(table, "LKGs")
    published, recomputed, own = rows(table, "LKGr", "Acc")
    assert published["SCMK"] == "0.4268 [1]"
    assert recomputed["SCMK"] == "0.4258"
    assert (own["KKM"], own["SC"]) == ("0.0039 (9 of 9)", "not run")
    assert "109/256" in table.notes[-1]


def test_the_wilcoxon_table_is_over_all_nine_sets_and_says_where_it_is_not():
    every = [record(0.5, data=name.lower(), method=method) for name in DATA for method in ("LKGr", "LKGs", "SCMK")]
    whole = made(wilcoxon_table, *every)
    assert [row["SCMK"] for row in rows(whole, "LKGs", "Acc")][-1].endswith("of 9)")
    assert not any("Not on all" in note for note in whole.notes)
    part = made(wilcoxon_table, *(made for made in every if (made.trial.data, made.trial.method) != ("ar", "SCMK")))
    assert [row["SCMK"] for row in rows(part, "LKGs", "Acc")][-1].endswith("of 8)")
    assert "Not on all data sets: SCMK (AR)." in part.notes


def test_multi_view_tables_name_their_misprints_and_show_no_difference():
    table = made(multi_view_table, data="NUS-WIDE")
    assert rows(table, "KKM", "published, 1st view")[0]["Entropy"] == "1.898 (1.558) [1]"
    assert rows(table, "LKGs", "published, 1st view")[0]["NMI"] == "0.303 (0.580) [2]"
    assert [note[:3] for note in table.notes[-2:]] == ["[1]", "[2]"]


def test_multi_view_tables_show_ours_tuned_in_both_ways():
    low = record(0.3, data="cora", others={"nmi": 0.9}, parameters={"alpha": 1})
    high = record(0.6, data="cora", others={"nmi": 0.2}, parameters={"alpha": 2})
    table = made(multi_view_table, low, high, data="Cora")
    assert rows(table, "LKGr", "ours, cora, best of each")[0]["NMI"] == "0.900"
    assert rows(table, "LKGr", "ours, cora, at best Acc")[0]["NMI"] == "0.200"
    assert [row["Source"] for row in rows(table, "KKM")] == ["published, 1st view", "published, 2nd view"]


def test_the_data_table_tells_which_data_were_used():
    table = data_table([record(0.5), record(0.5, seed=1), record(0.5, data="cora")])
    assert rows(table, "YALE")[0]["Records"] == "2"
    assert (rows(table, "YALE")[0]["Features"], rows(table, "TDT2")) == ("1024", [])
    assert rows(table, "cora")[0]["Checksum"] != "-"
    assert rows(data_table([]), "TDT2")[0]["Features"] == "36771"


def test_failures_are_listed_with_counts():
    table = failures_table([lost("failed", "boom"), lost("failed", "boom", seed=1), record(0.5)])
    assert table.rows == (("yale", "LKGr", "2", "failed", "boom"),)
    skipped_once = [lost("skipped", "too dear", seed=1), record(0.5)]
    assert failures_table(skipped_once).rows == ()
    assert failures_table(skipped_once[:1]).rows[0][3:] == ("skipped", "too dear")
    assert failures_table([]).notes == ("Nothing failed and nothing was skipped.",)


def test_details_count_every_record(tables):
    records = experiment()
    found = [row for row in tables["details_best100"].rows if row[2] == "acc"]
    counted = sum(int(count) for row in found for count in row[12:17])
    assert counted == sum(record.trial.scoring == "best100" for record in records)


def test_csv_comes_back_as_it_was(tables):
    for table in (ODD, *tables.values()):
        assert [tuple(row) for row in csv.reader(io.StringIO(table.to_csv()))] == [table.header, *table.rows]


def test_latex_is_balanced(tables):
    for table in (ODD, *tables.values()):
        text = table.to_latex()
        bare = re.sub(r"\\[\\&%$#_{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0
        assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]
        assert not re.search(r"(?<!\\)[#_^~]", bare.replace(f"tab:{table.name}", ""))
        body = [line for line in text.splitlines() if line.endswith(r" \\")]
        assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {len(table.header) - 1}
        assert len(body) == len(table.rows) + 1
