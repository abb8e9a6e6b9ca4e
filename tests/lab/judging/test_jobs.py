"""Jobs that are resumed, and what a page is made of."""

from types import SimpleNamespace

import pytest

from lab.judging.jobs import ROOT, carry_out, in_process, parser_of, table
from lab.judging.user import best_of
from lab.judging.user import page as page_of_calls
from lab.records import LabError


def row_of(job):
    return [{"job": job, "machine": "a machine", "commit": "1234567"}]


def page(rows):
    return [" ".join(row["job"] for row in rows)]


SOME = SimpleNamespace(__name__="lab.judging.some", __doc__="Jobs.\n\nOf a\nkind.", page=page)


def test_a_stopped_run_goes_on_and_writes_its_page_when_nothing_is_missing(tmp_path, capsys):
    asked, done = parser_of(SOME).parse_args(["--out", str(tmp_path)]), []

    def stops(job):
        if job == "c":
            raise LabError("the power failed.")
        return row_of(job)

    def goes_on(job):
        done.append(job)
        return row_of(job)

    with pytest.raises(LabError):
        carry_out(SOME, ["a", "b", "c"], asked, stops)
    assert not (tmp_path / "some.md").exists()
    carry_out(SOME, ["a", "b", "c"], asked, goes_on)
    assert done == ["c"]
    written = (tmp_path / "some.md").read_text(encoding="utf-8")
    assert "a b c" in written
    assert "`python -m lab some`. a machine; commit 1234567." in written
    assert capsys.readouterr().out == written + "\n"
    assert [path.name for path in tmp_path.iterdir()] == ["some.md"]


def test_jobs_that_are_named_are_printed_alone(tmp_path, capsys):
    asked = parser_of(SOME).parse_args(["b", "--out", str(tmp_path)])
    carry_out(SOME, ["a", "b"], asked, row_of)
    assert "# Jobs\n\nOf a kind.\n\nb\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_fails_says_why():
    with pytest.raises(LabError, match=r"new_samples: 'no such set' failed \(.*DataError: .*no such set"):
        in_process("new_samples", "no such set")


def test_a_table_has_numbers_of_one_digit_words_and_dashes():
    assert table(["data", "index"], [["iris", 74.62], ["wine", None], ["yale", 3]]) == [
        "| data | index |",
        "| --- | ---: |",
        "| iris | 74.6 |",
        "| wine | - |",
        "| yale | 3 |",
    ]


def test_calls_are_timed_in_two_checkouts_and_one_that_a_checkout_lacks_is_left_out(tmp_path):
    package = tmp_path / "src" / "kernelbraid"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '0.0'\n", encoding="utf-8")
    rows = best_of("MKKM, digits, 500", roots={"here": ROOT, "before": tmp_path}, rounds=1, threads=1)
    assert rows[0]["units"] > 0
    assert "No module named 'kernelbraid.methods'" in rows[1]["missing"]
    told = "\n".join(page_of_calls(rows))
    assert "| `MKKM, digits, 500` | here |" in told
    assert "- `MKKM, digits, 500` is left out before: ModuleNotFoundError" in told


def test_a_call_in_both_checkouts_is_compared():
    rows = [
        {"job": "fit", "whose": "here", "seconds": 1.0, "units": 2.0, "growth_bytes": 5e6},
        {"job": "fit", "whose": "before", "seconds": 4.0, "units": 8.0, "growth_bytes": 6e6},
    ]
    assert page_of_calls(rows)[-2:] == [
        "| `fit` | here | 1.000 | 2.0 | 5 | 0.25 |",
        "| `fit` | before | 4.000 | 8.0 | 6 | - |",
    ]
