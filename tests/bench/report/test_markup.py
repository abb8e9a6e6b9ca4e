from kernelbraid.bench.report.markup import LONG, fold, folded_table, framed, html_table
from kernelbraid.bench.results.table import Table

TITLE = "Scores <all> (best of 100)"
TABLE = Table("scores", TITLE, ("data", "acc", "note"), (("YALE", "**0.5**", "a & b"),), ("n < 9",))


def test_a_table_is_folded_under_its_title_without_what_stands_in_brackets():
    start = "<details class='part'><summary><h3>"
    assert folded_table(TABLE).startswith(f"{start}Scores &lt;all&gt;</h3></summary>")
    assert folded_table(Table("plain", "Plain", ("a",), (("1",),))).startswith(f"{start}Plain</h3></summary>")


def test_a_part_may_be_open_and_have_a_name():
    assert fold("A & b", "c", level=2, opened=True, name="it") == (
        "<section id='it'><details class='part' open><summary><h2>A &amp; b</h2></summary>c</details></section>"
    )


def test_the_first_cell_of_a_row_heads_it():
    assert "<tr><th scope='row'>YALE</th>" in html_table(TABLE)


def test_text_is_escaped_and_bold_figures_stay_bold():
    text = html_table(TABLE)
    assert "<td><b>0.5</b></td>" in text
    assert "<td class='text'>a &amp; b</td>" in text
    assert "<li>n &lt; 9</li>" in text


def test_long_cells_are_broken_into_lines():
    long = Table("t", "t", ("a", "b"), (("x", "1" * (LONG + 1)),))
    assert f"<td class='long'>{'1' * (LONG + 1)}</td>" in html_table(long)


def test_a_table_without_rows_has_its_header():
    assert html_table(Table("t", "t", ("a", "b"), ())).count("<button type='button'>") == 2


def test_a_foot_stands_below_the_rows():
    text = framed("t", ["a"], "<tr></tr>", (), foot="<tr><td>mean</td></tr>")
    assert "</tbody><tfoot><tr><td>mean</td></tr></tfoot></table>" in text
    assert "note" not in text
