from dataclasses import replace

import pytest

from bench.synthetic_records import lost, record
from kernelbraid.bench.report.page import write_report
from kernelbraid.bench.results import tables, writing
from kernelbraid.bench.results.writing import write_tables

SMALL = [record(0.7), record(0.6, method="KKM"), lost("failed", "<b>boom</b> & </script>", data="ba")]


def test_tables_and_figures_are_written(tmp_path):
    written = write_tables(SMALL, tmp_path / "out")
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    assert {path.suffix for path in written} == {".md", ".tex", ".csv", ".png", ".svg"}
    assert "| YALE | ours |" in (tmp_path / "out" / "table2_acc_best100.md").read_text()


@pytest.mark.parametrize(
    ("formats", "expected"),
    [(["md"], {".md"}), (["tex", "csv"], {".tex", ".csv"}), (["svg"], {".svg"}), (["png", "md"], {".png", ".md"})],
)
def test_the_formats_that_are_asked_for_are_written(tmp_path, formats, expected):
    written = write_tables(SMALL, tmp_path / "out", formats)
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    assert {path.suffix for path in written} == expected


def test_no_figure_is_drawn_for_tables_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "all_figures", lambda records: pytest.fail("a figure was drawn"))
    assert write_tables(SMALL, tmp_path / "out", ["md", "csv", "tex"])


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="'jpg', which is unknown; choose from md, csv, tex, png, svg"):
        write_tables(SMALL, tmp_path / "out", ["md", "jpg"])
    assert not (tmp_path / "out").exists()


def test_a_column_is_a_matter_of_the_function_that_makes_its_table(tmp_path, monkeypatch):
    def with_column(make):
        def made(*args):
            table = make(*args)
            rows = tuple((*row, f"cell {number}") for number, row in enumerate(table.rows))
            return replace(table, header=(*table.header, "A new column"), rows=rows)

        return made

    monkeypatch.setattr(tables, "details_table", with_column(tables.details_table))
    monkeypatch.setattr(tables, "wilcoxon_table", with_column(tables.wilcoxon_table))
    write_tables(SMALL, tmp_path, ["md", "csv", "tex"])
    page = write_report(SMALL, tmp_path / "report.html").read_text(encoding="utf-8")
    texts = [(tmp_path / f"details_best100.{kind}").read_text(encoding="utf-8") for kind in ("md", "csv", "tex")]
    for text in (*texts, page):
        assert "A new column" in text
        assert "cell 1" in text
