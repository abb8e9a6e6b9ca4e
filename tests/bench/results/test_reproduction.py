import pytest

from bench.synthetic_records import experiment, lost, record
from kernelbraid.bench.results.published import DATA, METHODS, RECORD_NAMES, TABLE_2
from kernelbraid.bench.results.reproduction import SMALLER, STORED, reproduction_tables


def made(*records):
    return {table.name: table for table in reproduction_tables(records)}


def cell(tables, data, method, measure="acc"):
    table = tables[f"reproduction_{measure}"]
    [row] = [row for row in table.rows if row[:2] == (data, method)]
    return dict(zip(table.header, row, strict=True))


def summary(tables):
    return dict(tables["reproduction_summary"].rows)


def near(gap, data="YALE", method="LKGr", **more):
    """A record whose figures are the published ones and some points."""
    figures = {measure: (grid[data][method].value + gap) / 100 for measure, grid in TABLE_2.items()}
    return record(figures["acc"], others=figures, data=RECORD_NAMES[data], method=method, **more)


def test_there_is_a_row_a_cell_of_table_2():
    tables = made(*experiment())
    assert list(tables) == ["reproduction_summary", "reproduction_acc", "reproduction_nmi"]
    for measure in TABLE_2:
        rows = tables[f"reproduction_{measure}"].rows
        assert [row[:2] for row in rows] == [(data, method) for data in DATA for method in METHODS]
        assert {len(row) for row in rows} == {len(tables[f"reproduction_{measure}"].header)}


@pytest.mark.parametrize(
    ("gap", "verdict"),
    [
        (28.0, "above"),
        (3.1, "above"),
        (2.9, "reached"),
        (0.0, "reached"),
        (-0.9, "reached"),
        (-2.9, "near"),
        (-3.1, "below"),
    ],
)
def test_a_cell_is_above_reached_near_or_below(gap, verdict):
    found = cell(made(near(gap)), "YALE", "LKGr")
    assert (found["Published"], found["Difference"], found["Verdict"]) == ("66.06", f"{gap:+.2f}", verdict)


def test_a_cell_tells_kernels_setting_and_how_many_were_tried():
    best = near(1.0, bank="rmkkm", parameters={"alpha": 0.1, "graph_from": "J"})
    found = cell(made(best, near(-9.0, bank="rmkkm", parameters={"alpha": 0.2})), "YALE", "LKGr")
    assert (found["Kernels"], found["Setting"], found["Tried"]) == ("rmkkm", "alpha 0.1, graph_from J", "2")


def test_a_method_on_one_kernel_shows_the_kernel_and_the_mean_over_them():
    kernels = [
        record(acc, method="KKM", scoring="mean20", bank="rmkkm", kernel=kernel)
        for kernel, acc in (("a", 0.5), ("b", 0.3))
    ]
    found = cell(made(*kernels), "YALE", "KKM")
    assert (found["Ours"], found["Kernels"], found["Tried"]) == ("50.00 (40.00)", "rmkkm, a", "1 x 2 kernels")


def test_a_cell_without_a_figure_says_why():
    tables = made(lost("skipped", "31 hours", data="tdt2", method="SCMK"))
    assert cell(tables, "TDT2", "SCMK")["Verdict"] == "skipped: 31 hours"
    assert cell(tables, "YALE", "LKGr")["Verdict"] == "not run"
    assert cell(tables, "YALE", "LKGr")["Tried"] == "0"


def test_every_method_is_scored_as_published():
    other = [record(0.9, scoring="mean20"), record(0.9, method="KKM", scoring="best100")]
    tables = made(*other)
    assert cell(tables, "YALE", "LKGr")["Verdict"] == cell(tables, "YALE", "KKM")["Verdict"] == "not run"


def test_the_summary_counts_the_cells_of_the_proposed_methods():
    tables = made(near(0.5), near(-2.0, "JAFFE"), near(-4.0, "ORL", "LKGs"), near(0.0, method="KKM", scoring="mean20"))
    found = summary(tables)
    assert found["Cells of LKGs and LKGr"] == "36"
    assert found["with a figure of ours"] == "6"
    assert found["of these within 1 point of the published one, or above"] == "2"
    assert found["more than 3 points below"] == "2"
    assert found["more than 3 points above"] == "0"
    assert summary(made(near(4.0)))["more than 3 points above"] == "2"


def test_other_data_than_the_papers_have_nothing_to_reproduce():
    assert made(record(0.5, data="wine")) == {}


def test_the_summary_has_the_mean_difference_of_the_methods_of_the_repository():
    rows = [near(2.0, method="MKKM", scoring="mean20"), near(-1.0, "JAFFE", "RMKKM", scoring="mean20")]
    far = near(50.0, "TDT2", "MKKM", scoring="mean20")
    [(name, found)] = [item for item in summary(made(*rows, far)).items() if "Mean absolute" in item[0]]
    assert found == "1.50 points over 2 figures, at most 2.00"
    assert all(method in name for method in STORED)
    assert len(SMALLER) == 8


def test_the_mean_over_the_kernels_enters_the_mean_difference():
    printed = TABLE_2["acc"]["YALE"]["KKM"]
    both = [
        record(acc / 100, method="KKM", scoring="mean20", bank="rmkkm", kernel=kernel)
        for kernel, acc in (("a", printed.value), ("b", 2 * printed.bracket - printed.value + 2))
    ]
    [found] = [value for name, value in summary(made(*both)).items() if "Mean absolute" in name]
    assert found == "0.50 points over 2 figures, at most 1.00"


def test_altered_records_do_not_count():
    changed = record(0.9, changes={"noise": 1.0})
    assert summary(made(changed, record(0.9, method="LKGr/whole")))["with a figure of ours"] == "0"
