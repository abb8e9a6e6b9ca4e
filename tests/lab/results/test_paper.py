import re

from lab.results.paper import failures, paper_results
from lab.results.published import DATA, MEASURES, NINE, TABLE_2
from lab.results.reproduction import reproduction
from lab.results.table import Table
from made_up_records import by_name, lost, record, row

OTHER = record(0.1, data="wine", method="SSR", scoring="mean20")  # so that both scorings are there


def made(*records):
    return by_name(paper_results(records))


def cell(records, data, method):
    return row(by_name(reproduction([*records, OTHER]))["reproduction_acc"], data, method)


def summary(*records):
    return dict(by_name(reproduction([*records, OTHER]))["reproduction_summary"].rows)


def near(gap, data="YALE", method="LKGr", **more):
    """A record whose figures are the published ones and some points."""
    figures = {measure: (grid[data][method].value + gap) / 100 for measure, grid in TABLE_2.items()}
    return record(figures["acc"], others=figures, data=NINE[data], method=method, **more)


def test_markdown_cells_are_escaped():
    odd = Table("odd", "a|b", ("a_b", "c|d"), (("x|y", "-1.5"), ("two\nlines", '"q"')), ("1 | 2",))
    lines = odd.content().decode().splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")} == {3}
    assert "- 1 \\| 2" in lines


def test_ours_stands_next_to_published_with_the_difference():
    table = made(record(0.7))["table2_acc_best100"]
    assert table.header == ("Data", "Source", "LKGr")
    assert table.rows == (("YALE", "ours", "70.00"), ("YALE", "published", "66.06"), ("YALE", "difference", "+3.94"))


def test_other_methods_and_data_get_columns_and_rows_of_their_own():
    table = made(record(0.7, data="wine", method="SC-knn"), record(0.6))["table2_acc_best100"]
    assert row(table, "wine") == {"Data": "wine", "Source": "ours", "LKGr": "not run", "SC-knn": "70.00"}
    assert row(table, "YALE", "difference")["SC-knn"] == "-"


def test_without_data_of_the_paper_no_table_is_called_after_it():
    tables = made(record(0.7, data="wine", method="Mine"), record(0.5, data="digits", method="Mine"))
    assert list(tables) == ["results_acc_best100", "results_nmi_best100"]
    table = tables["results_acc_best100"]
    assert table.title == "Accuracy in per cent (best100, all banks)"
    assert [line[2] for line in table.rows] == ["50.00", "70.00", "60.00"]


def test_a_table_of_one_setting_is_not_called_tuned():
    one, two = (record(acc, data="flowers", parameters={"alpha": alpha}) for acc, alpha in ((0.5, 1), (0.9, 2)))
    for records, is_tuned in (([one], False), ([one, two], True)):
        notes = " ".join(made(*records)["results_acc_best100"].notes)
        assert ("Label-tuned" in notes, "in one setting" in notes) == (is_tuned, not is_tuned)


def test_a_mean_is_over_what_was_run_and_tells_what_is_missing():
    records = [record(0.7), record(0.5, data="jaffe"), record(0.5, data="jaffe", method="KKM")]
    table = made(*records, record(0.1, data="wine"))["table2_acc_best100"]
    assert row(table, "mean of 2", "ours")["LKGr"] == "60.00"
    assert row(table, "mean of 2", "ours")["KKM"] == "1 of 2"
    assert row(table, "mean of 2", "published")["LKGr"] == f"{(66.06 + 98.60) / 2:.2f}"
    every = made(*(record(0.5, data=name) for name in NINE.values()))["table2_acc_best100"]
    assert row(every, "mean", "difference")["LKGr"] == "-18.46"


def test_the_wilcoxon_table_has_three_sources_and_says_where_it_is_not_over_all_nine():
    methods = {"LKGr": 0.5, "KKM": 0.4, "SCMK": 0.45}
    every = [
        record(acc - 0.01 * i, data=d, method=m) for m, acc in methods.items() for i, d in enumerate(NINE.values())
    ]
    part = [made for made in every if (made.trial.data, made.trial.method) != ("ar", "SCMK")]
    table = made(*part, lost("failed", "boom", method="SC"))["table3_wilcoxon_best100"]
    assert {line[0] for line in table.rows} == {"LKGr"}
    assert row(table, "LKGr", "Acc", "published")["SCMK"] == "0.4268 [1]"
    assert row(table, "LKGr", "Acc", "recomputed")["SCMK"] == "0.4258"
    ours = row(table, "LKGr", "Acc", "ours")
    assert (ours["KKM"], ours["SC"], ours["SCMK"]) == ("0.0039 (9 of 9)", "not run", "0.0078 (8 of 8)")
    assert "Not on all data sets: SCMK (AR)." in table.notes
    assert "109/256" in table.notes[-1]


def test_multi_view_tables_show_ours_tuned_in_both_ways_beside_what_is_printed():
    all_eight = dict.fromkeys(MEASURES, 0.5)
    low, high = (
        record(acc, data="nuswide_view3", others={**all_eight, "acc": acc, "nmi": nmi}, parameters={"alpha": acc})
        for acc, nmi in ((0.3, 0.9), (0.6, 0.2))
    )
    table = made(low, high)["table5_nuswide_best100"]
    assert row(table, "LKGr", "ours, nuswide_view3, best of each")["NMI"] == "0.900"
    assert row(table, "LKGr", "ours, nuswide_view3, at best Acc")["NMI"] == "0.200"
    assert row(table, "KKM", "published, 1st view")["Entropy"] == "1.898 (1.558) [1]"
    assert [line[1] for line in table.rows if line[0] == "KKM"] == ["published, 1st view", "published, 2nd view"]


def test_the_data_table_tells_which_data_were_used():
    table = made(record(0.5), record(0.5, seed=1), record(0.5, data="cora"))["table1_data"]
    assert (row(table, "YALE")["Records"], row(table, "YALE")["Features"]) == ("2", "1024")
    assert [line[0] for line in table.rows] == ["YALE", "cora"]


def test_failures_are_listed_with_counts_unless_they_were_run_in_another_way():
    [table] = failures([lost("failed", "boom"), lost("failed", "boom", seed=1), record(0.5)])
    assert table.rows == (("yale", "LKGr", "2", "failed", "boom"),)
    skipped = lost("skipped", "too dear", seed=1)
    assert list(failures([skipped, record(0.5)])) == []
    assert [line[3:] for table in failures([skipped]) for line in table.rows] == [("skipped", "too dear")]


def test_a_cell_is_above_reached_near_or_below():
    for gap, verdict in [
        (28.0, "above"),
        (3.1, "above"),
        (2.9, "reached"),
        (-0.9, "reached"),
        (-2.9, "near"),
        (-3.1, "below"),
    ]:
        found = cell([near(gap)], "YALE", "LKGr")
        assert (found["Published"], found["Difference"], found["Verdict"]) == ("66.06", f"{gap:+.2f}", verdict)


def test_a_cell_tells_kernels_setting_and_how_many_were_tried_or_why_not():
    best = near(1.0, bank="rmkkm", parameters={"alpha": 0.1, "graph_from": "J"})
    found = cell([best, near(-9.0, bank="rmkkm", parameters={"alpha": 0.2})], "YALE", "LKGr")
    assert (found["Kernels"], found["Setting"], found["Tried"]) == ("rmkkm", "alpha 0.1, graph_from J", "2")
    kernels = [record(acc, method="KKM", scoring="mean20", kernel=kernel) for kernel, acc in (("a", 0.5), ("b", 0.3))]
    found = cell([*kernels, record(0.9, data="wine")], "YALE", "KKM")
    assert (found["Ours"], found["Kernels"], found["Tried"]) == ("50.00 (40.00)", "a", "1 x 2 kernels")
    assert cell([lost("skipped", "31 hours")], "YALE", "LKGr")["Verdict"] == "skipped: 31 hours"
    assert cell([near(0.0)], "JAFFE", "LKGr")["Verdict"] == "not run"


def test_the_summary_counts_cells_of_the_proposed_methods_and_means_over_kernels():
    printed = TABLE_2["acc"]["YALE"]["KKM"]
    both = [
        record(acc / 100, method="KKM", scoring="mean20", bank="rmkkm", kernel=kernel)
        for kernel, acc in (("a", printed.value), ("b", 2 * printed.bracket - printed.value + 2))
    ]
    far = near(50.0, "TDT2", "MKKM", scoring="mean20")  # not among the smaller sets
    found = summary(near(0.5), near(-2.0, "JAFFE"), near(-4.0, "ORL", "LKGs"), *both, far)
    assert list(found.values()) == ["36", "6", "2", "0", "2", "0.50 points over 2 figures, at most 1.00"]
    assert len(DATA) == 9


def test_there_is_nothing_to_reproduce_without_figures_scored_as_published():
    assert list(reproduction([record(0.5, data="wine"), OTHER])) == []
    assert list(reproduction([record(0.5, scoring="once")])) == []
