import ast
import re
from pathlib import Path

import pytest

from kernelbraid.bench.results import published
from kernelbraid.bench.results.published import (
    ACCURACY,
    DATA,
    MEASURES,
    METHODS,
    MISPRINTS,
    MULTI_VIEW,
    NMI,
    ONE_KERNEL,
    PROPOSED,
    RECORD_NAMES,
    TABLE_2,
    WILCOXON,
)
from kernelbraid.metrics.scores import SCORES
from problems import shared_folder


@pytest.fixture
def printed():
    """Every row of every table of the paper, as lists of printed cells."""
    text = (shared_folder("paper") / "lkg.tex").read_text()
    found = []
    for table in re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", text, re.DOTALL):
        rows = [line.split("&") for line in table.splitlines() if "&" in line]
        found.append([[_plain(cell) for cell in row] for row in rows])
    return found


def _plain(cell):
    cell = re.sub(r"\\multirow\{2\}\{4em\}", "", cell)
    cell = re.sub(r"\\text(bf|rm)", "", cell).replace(r"\hline", "")
    return re.sub(r"[\s{}\\]", "", cell)


def _texts(grid):
    return [[name, *(cell.text for cell in row.values())] for name, row in grid.items()]


@pytest.mark.reference
def test_table_1_is_the_printed_one(printed):
    assert printed[0][1:] == [[name, *map(str, vars(size).values())] for name, size in DATA.items()]


@pytest.mark.reference
def test_table_2_is_the_printed_one_cell_for_cell(printed):
    for table, grid in zip(printed[1:3], (ACCURACY, NMI), strict=True):
        assert table[0] == ["Data", *METHODS]
        assert table[1:] == _texts(grid)


@pytest.mark.reference
def test_the_wilcoxon_table_is_the_printed_one(printed):
    assert printed[3][0][2:] == list(METHODS[:9])
    assert [row[2:] for row in printed[3][1:]] == [[cell.text for cell in row.values()] for row in WILCOXON.values()]


@pytest.mark.reference
def test_the_multi_view_tables_are_the_printed_ones(printed):
    for table, grid in zip(printed[4:], MULTI_VIEW.values(), strict=True):
        assert table[0] == ["Methods", *MEASURES.values()]
        assert table[1:] == _texts(grid)


@pytest.mark.parametrize(
    ("grid", "method", "total"), [(ACCURACY, "LKGr", 616.14), (ACCURACY, "KKM", 462.65), (NMI, "LKGs", 647.71)]
)
def test_columns_of_table_2_add_up(grid, method, total):
    assert sum(row[method].value for row in grid.values()) == pytest.approx(total)


def test_known_cells():
    assert ACCURACY["YALE"]["LKGr"].value == 66.06
    assert ACCURACY["ORL"]["LKGs"].text == "71.5"
    assert (NMI["TDT2"]["SSR"].text, NMI["TDT2"]["SSR"].value) == ("02.44", 2.44)
    assert (ACCURACY["JAFFE"]["SCSK"].value, ACCURACY["JAFFE"]["SCSK"].bracket) == (99.83, 86.64)
    assert MULTI_VIEW["Cora", 2]["LKGr"]["acc"].value == 0.452
    assert MULTI_VIEW["Cora", 1]["AASC"]["ari"].value == -0.004
    assert WILCOXON["LKGr", "nmi"]["SCSK"].value == 0.0547


def test_brackets_stand_exactly_behind_the_methods_on_one_kernel():
    for grid in TABLE_2.values():
        for row in grid.values():
            assert tuple(method for method, cell in row.items() if cell.bracket is not None) == ONE_KERNEL


def test_the_kernel_mean_is_never_above_the_best():
    for grid in TABLE_2.values():
        assert all(cell.bracket <= cell.value for row in grid.values() for cell in row.values() if cell.bracket)


def test_the_tables_have_all_cells():
    assert len(WILCOXON) * len(WILCOXON["LKGr", "acc"]) == 36
    assert sum(len(row) for grid in TABLE_2.values() for row in grid.values()) == 2 * 9 * 11
    assert sum(len(row) for grid in MULTI_VIEW.values() for row in grid.values()) == 4 * 7 * 8


def test_misprints_are_kept_as_printed_and_named():
    first = MULTI_VIEW["NUS-WIDE", 1]
    assert [first["KKM"]["entropy"].text, first["LKGs"]["nmi"].text] == [".1.898(1.558)", ".303(.580)"]
    assert first["KKM"]["entropy"].value == 1.898
    assert [text for text, _ in MISPRINTS.values()] == [".4268", ".1.898(1.558)", ".303(.580)"]
    # the largest deviation of 20 numbers between 0 and 1
    assert first["LKGs"]["nmi"].bracket > (0.303 * 0.697 * 20 / 19) ** 0.5


def test_names_agree_with_the_rest_of_the_package():
    assert set(MEASURES) == set(SCORES)
    assert set(DATA) < set(RECORD_NAMES)
    assert set(PROPOSED) < set(METHODS)


BENCH = Path(published.__file__).parents[1]
OF_RECORDS = sorted(path for room in ("records", "results", "report") for path in (BENCH / room).glob("*.py"))
# From a fit to what its record keeps: the one that sees matrices.
OF_RECORDS.remove(BENCH / "records" / "snapshots.py")
ALLOWED = tuple(
    f"kernelbraid.{name}" for name in ("_messages", "_system", "_typing", "_version", "kernels", "plotting.drawing")
)


@pytest.mark.parametrize("path", OF_RECORDS, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_tables_and_figures_import_no_estimator(path):
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    ours = {module for module in modules if module.startswith("kernelbraid")}
    rooms = tuple(f"kernelbraid.bench.{room}" for room in ("records", "results", "report"))
    assert all(module.startswith(rooms) or module in ALLOWED for module in ours), ours
