import re

import pytest

from kernelbraid.metrics import SCORES
from lab.results.published import (
    DATA,
    MEASURES,
    METHODS,
    MISPRINTS,
    MULTI_VIEW,
    PROPOSED,
    RECORD_NAMES,
    SCORED_ONCE,
    TABLE_2,
    WILCOXON,
)
from problems import shared_folder


@pytest.fixture
def printed():
    """Every row of every table of the paper, as lists of printed cells."""
    text = (shared_folder("paper") / "lkg.tex").read_text()
    tables = re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", text, re.DOTALL)
    rows = [[line.split("&") for line in table.splitlines() if "&" in line] for table in tables]
    return [[[_plain(cell) for cell in row] for row in table] for table in rows]


def _plain(cell):
    cell = re.sub(r"\\multirow\{2\}\{4em\}", "", cell)
    return re.sub(r"[\s{}\\]", "", re.sub(r"\\text(bf|rm)", "", cell).replace(r"\hline", ""))


def _texts(grid):
    return [[name, *(cell.text for cell in row.values())] for name, row in grid.items()]


@pytest.mark.reference
def test_every_table_is_the_printed_one_cell_for_cell(printed):
    assert printed[0][1:] == _texts(DATA)
    for table, grid in zip(printed[1:3], TABLE_2.values(), strict=True):
        assert table == [["Data", *METHODS], *_texts(grid)]
    assert printed[3][0][2:] == list(METHODS[:9])
    assert [row[2:] for row in printed[3][1:]] == [row[1:] for row in _texts(WILCOXON)]
    for table, grid in zip(printed[4:], MULTI_VIEW.values(), strict=True):
        assert table == [["Methods", *MEASURES.values()], *_texts(grid)]


def test_columns_of_table_2_add_up():
    for measure, method, total in [("acc", "LKGr", 616.14), ("acc", "KKM", 462.65), ("nmi", "LKGs", 647.71)]:
        assert sum(row[method].value for row in TABLE_2[measure].values()) == pytest.approx(total)


def test_the_tables_have_all_cells():
    assert sum(map(len, WILCOXON.values())) == 36
    assert sum(len(row) for grid in TABLE_2.values() for row in grid.values()) == 2 * 9 * 11
    assert sum(len(row) for grid in MULTI_VIEW.values() for row in grid.values()) == 4 * 7 * 8


def test_brackets_stand_behind_the_methods_on_one_kernel_and_are_never_above_the_best():
    for row in (row for grid in TABLE_2.values() for row in grid.values()):
        brackets = {method: cell for method, cell in row.items() if cell.bracket is not None}
        assert tuple(brackets) == ("KKM", "SC", "RKKM", "SCSK")
        assert all(cell.bracket <= cell.value for cell in brackets.values())


def test_methods_whose_published_accuracies_are_whole_counts_were_scored_once():
    def is_count(data, method):
        share, n = TABLE_2["acc"][data][method].value / 100, DATA[data]["Instances"].value
        return abs(round(share * n) / n - share) < 1e-4

    small = ("YALE", "JAFFE", "ORL")  # more samples, and any number would be near a count
    whole = [method for method in METHODS if all(is_count(data, method) for data in small)]
    assert set(whole) == set(SCORED_ONCE) - {"SCSK"}


def test_misprints_are_kept_as_printed_and_named():
    first = MULTI_VIEW["NUS-WIDE", 1]
    assert [first["KKM"]["entropy"].text, first["LKGs"]["nmi"].text] == [".1.898(1.558)", ".303(.580)"]
    assert first["KKM"]["entropy"].value == 1.898
    assert [text for text, _ in MISPRINTS.values()] == [".4268", ".1.898(1.558)", ".303(.580)"]
    # the largest deviation of 20 numbers between 0 and 1
    assert first["LKGs"]["nmi"].bracket > (0.303 * 0.697 * 20 / 19) ** 0.5


def test_names_agree_with_the_library():
    assert set(MEASURES) == set(SCORES)
    assert set(DATA) < set(RECORD_NAMES)
    assert set(PROPOSED) < set(METHODS)
