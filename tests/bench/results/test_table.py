import re

from kernelbraid.bench.results.table import Footnotes, Table, bold, escape_latex

ODD = Table(
    "odd", "50 % of $5", ("a_b", "c&d"), (("x|y", "-1.5"), ("{~^\\}", "#<>"), ("two\nlines", '"q"')), ("1 & 2",)
)


def test_markdown_cells_are_escaped():
    lines = ODD.to_markdown().splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {3}
    assert "- 1 & 2" in lines


def test_latex_signs_are_escaped():
    assert escape_latex(r"a_b & 5% \x") == r"a\_b \& 5\% \textbackslash{}x"
    assert escape_latex("-1.5") == "$-$1.5"
    assert escape_latex("-") == "-"


def test_a_bold_cell_stands_out_but_in_csv():
    table = Table("a", "b", ("c",), ((bold("7"),),))
    assert table.to_csv() == "c\n7\n"
    assert r"\textbf{7}" in table.to_latex()


def test_footnotes_are_numbered_once_and_cut_short():
    notes = Footnotes()
    assert [notes.mark(reason, str(at)) for at, reason in enumerate("aab" + "a" * 6)][:3] == ["[1]", "[1]", "[2]"]
    assert list(notes.notes()) == ["[1] a (0; 1; 3; 4; 5; 6; and 2 more)", "[2] b (2)"]
