import json
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbraid import __version__
from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.records.store import Store
from kernelbraid.blocks import client

SMALL = """
title = "Small"

[[run]]
data = ["wine"]
methods = ["KKM", "KMeans"]
kernels = ["linear"]
scoring = ["best100"]
"""

DOCS = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text()


def block(language, word):
    """Return a block of the documentation that holds a word."""
    return next(text for text in re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL) if word in text)


MINE = block("python", "class Mine")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder that was empty before: an experiment, a table, a method."""
    rows = (f"{9 * (row % 2) + row / 40},{row % 3},{'ab'[row % 2]}" for row in range(40))
    for name, text in {
        "mine.toml": block("toml", "mine.py:Mine"),
        "mine.py": MINE,
        "flowers.csv": "\n".join(["length,width,species", *rows]),
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def invoke(run):
    """Run the program and expect an exit code."""

    def call(*args, code=0):
        result = run(*args)
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def test_a_run_is_summarised_and_not_repeated(invoke, file, tmp_path):
    command = ["bench", "run", str(file), "--store", str(tmp_path / "s.db"), "--json"]
    first, second = (json.loads(invoke(*command).stdout) for _ in range(2))
    assert (first["trials"], first["done"], first["failed"]) == (2, 2, 0)
    assert (second["known"], second["done"]) == (2, 0)


def test_tables_and_report_come_from_a_store(invoke, file, tmp_path):
    store = str(tmp_path / "s.db")
    invoke("bench", "run", str(file), "--store", store, "--quiet")
    tables = invoke("bench", "tables", store, "--out", str(tmp_path / "tables")).stdout.split()
    assert any(path.endswith(".md") for path in tables)
    invoke("bench", "report", store, "--out", str(tmp_path / "report.html"))
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_data_and_a_method_of_ones_own_go_from_an_empty_folder_to_tables_and_a_report(invoke, own):
    summary = json.loads(invoke("bench", "run", "mine.toml", "--store", "mine.db", "--json").stdout)
    assert (summary["trials"], summary["done"], summary["failed"]) == (3, 3, 0)
    written = invoke("bench", "tables", "mine.db").stdout.split()
    assert not [path for path in written if "wilcoxon" in path or "reproduction" in path]
    assert (own / "tables" / "results_acc_once.csv").read_text() == (
        "Data,KMeans,LKG,Mine\nflowers,100.00,100.00,100.00\n"
    )
    invoke("bench", "report", "mine.db")
    page = re.sub(r"<script.*?</script>", "", (own / "report.html").read_text(), flags=re.DOTALL)
    assert "<title>Mine on flowers</title>" in page
    assert "flowers" in page
    assert not [word for word in ("not run", "YALE", "LKGr", "ublished") if word in page]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("mine.py", "import nothing_of_this_name", "could not be imported (ModuleNotFoundError"),
        ("mine.py", MINE.replace("fit", "fits"), "has no fit; a method is a class with fit(X) that sets labels_"),
        ("mine.py", None, "there is no file"),
        ("flowers.csv", None, "flowers.csv: there is no such file; check the path."),
        ("flowers.csv", "length,species\n1,a\nx,b\n", "column 'length' has text in row 3"),
    ],
)
def test_a_file_of_an_experiment_that_is_wrong_ends_with_one_sentence(refuse, own, name, content, says):
    (own / name).unlink() if content is None else (own / name).write_text(content)
    refuse("bench", "run", "mine.toml", "--store", "mine.db", code=1, says=says)
    assert not (own / "mine.db").exists()


def test_tables_are_written_in_the_formats_that_are_asked_for(invoke, file, tmp_path):
    store = str(tmp_path / "s.db")
    invoke("bench", "run", str(file), "--store", store, "--quiet")
    command = ["bench", "tables", store, "--out", str(tmp_path / "tables"), "--formats"]
    assert {path.rpartition(".")[2] for path in invoke(*command, "md").stdout.split()} == {"md"}
    assert {path.rpartition(".")[2] for path in invoke(*command, "csv, tex,csv").stdout.split()} == {"csv", "tex"}


@pytest.mark.parametrize(("formats", "word"), [("jpg", "jpg"), ("md,PNG", "PNG"), ("md,", ""), ("", "")])
def test_an_unknown_format_ends_with_one_sentence(refuse, tmp_path, formats, word):
    command = ["bench", "tables", tmp_path / "none.db", "--out", tmp_path / "tables", "--formats", formats]
    refuse(*command, code=2, says=[f"{word!r} is unknown; choose from md, csv, tex, png, svg.", "--formats"])


def test_the_formats_of_tables_stand_in_the_help(invoke):
    text = " ".join(invoke("bench", "tables", "--help").stdout.replace("│", " ").split())
    assert "tables as md, csv and tex, figures as png and svg" in text
    assert "md,csv,tex,png,svg" in text


def test_records_travel_as_parquet(invoke, file, tmp_path):
    store, other, parquet = (str(tmp_path / name) for name in ("s.db", "t.db", "records.parquet"))
    invoke("bench", "run", str(file), "--store", store, "--quiet")
    invoke("bench", "export", store, "--out", parquet)
    assert invoke("bench", "import", parquet, "--store", other).stdout == "2 records\n"
    assert Store(other).records() == Store(store).records()


def test_titles_of_experiments_travel_with_their_records(invoke, file, tmp_path):
    store, other, parquet = (str(tmp_path / name) for name in ("s.db", "t.db", "records.parquet"))
    invoke("bench", "run", str(file), "--store", store, "--quiet")
    invoke("bench", "export", store, "--out", parquet)
    invoke("bench", "import", parquet, "--store", other)
    page = tmp_path / "report.html"
    invoke("bench", "report", other, "--out", str(page))
    assert "<title>Small</title>" in page.read_text()
    invoke("bench", "report", other, "--out", str(page), "--title", "Another")
    assert "<title>Another</title>" in page.read_text()


@pytest.mark.parametrize(
    ("command", "library", "says"),
    [
        ("report", "plotly.offline", "plotly, which draws the report, is not installed"),
        ("tables", "matplotlib.figure", "matplotlib, which draws the figures, is not installed"),
    ],
)
def test_a_base_install_ends_with_one_sentence(invoke, own, monkeypatch, command, library, says):
    invoke("bench", "run", "mine.toml", "--store", "mine.db", "--quiet")
    monkeypatch.setitem(sys.modules, library, None)
    told = invoke("bench", command, "mine.db", code=1).stderr
    assert told.startswith(
        f'Error: {says}; install it with pip install "kernelbraid[bench]", or pip install ".[bench]"'
    )
    assert told.count("\n") == 1
    assert (own / "tables" / "results_acc_once.md").is_file() == (command == "tables")


def test_failed_trials_are_run_again_when_asked(invoke, file, tmp_path):
    store = Store(tmp_path / "s.db")
    invoke("bench", "run", str(file), "--store", str(store.path), "--quiet")
    failed = [replace(record, status="failed", reason="boom") for record in store.records()]
    store = Store(tmp_path / "t.db")
    store.add(*failed, Record(Trial("wine", "x", "KKM", "mean20"), "failed", reason="of another experiment"))
    summary = invoke("bench", "run", str(file), "--store", str(store.path), "--retry-failed", "--json").stdout
    assert json.loads(summary)["run_again"] == 2
    assert len(store.records()) == 3


def test_records_of_before_are_known_stay_in_tables_and_are_run_again_if_they_failed(invoke, file, tmp_path):
    store = Store(tmp_path / "s.db")
    command = ["bench", "run", str(file), "--store", str(tmp_path / "t.db"), "--json"]
    invoke("bench", "run", str(file), "--store", str(store.path), "--quiet")
    before = [replace(record, trial=replace(record.trial, version="0.1.0")) for record in store.records()]
    before[0] = replace(before[0], status="failed", reason="boom")
    store = Store(tmp_path / "t.db")
    store.add(*before)
    result = invoke(*command, code=1)
    assert json.loads(result.stdout)["known"] == 2
    assert "1 of 2 trials failed in an earlier run; --retry-failed runs them again." in result.stderr
    invoke("bench", "tables", str(store.path), "--out", str(tmp_path / "tables"), "--formats", "csv")
    assert f"wine,{before[1].trial.method},acc" in (tmp_path / "tables" / "details_best100.csv").read_text()
    invoke("bench", "report", str(store.path), "--out", str(tmp_path / "report.html"))
    assert "0.1.0" in (tmp_path / "report.html").read_text()
    summary = json.loads(invoke(*command, "--retry-failed").stdout)
    assert (summary["run_again"], summary["done"], summary["known"]) == (1, 1, 1)
    assert sorted(record.trial.version for record in store.records()) == ["0.1.0", __version__]


def test_failures_end_with_their_reason_and_an_exit_code(invoke, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SMALL.replace('methods = ["KKM", "KMeans"]', 'methods = ["SCMK"]\nsettings = { alpha = -1.0 }'))
    result = invoke("bench", "run", str(wrong), "--store", str(tmp_path / "s.db"), code=1)
    assert "1 of 1 trials failed: InvalidParameterError: The 'alpha' parameter" in result.stderr


def test_a_wrong_word_in_the_file_ends_with_one_sentence(invoke, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SMALL.replace("KKM", "KKN"))
    result = invoke("bench", "run", str(wrong), "--store", str(tmp_path / "s.db"), code=1)
    assert "line 6: 'KKN' is no method; the nearest: KKM" in result.stderr
    assert not (tmp_path / "s.db").exists()


def test_damaged_records_are_told_of_in_one_line_and_run_again(invoke, file, tmp_path):
    store = tmp_path / "s.db"
    command = ["bench", "run", str(file), "--store", str(store), "--json"]
    invoke(*command)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE records SET outcome = replace(outcome, 'acc', 'bcc') WHERE trial LIKE '%KMeans%'")
    says = "Warning: 1 of the records in the store"
    out = str(tmp_path / "records.parquet")
    assert invoke("bench", "export", str(store), "--out", out).stderr.startswith(says)
    assert invoke("bench", "import", out, "--store", str(tmp_path / "t.db")).stdout == "1 record\n"
    again = invoke(*command, "--retry-failed")
    assert again.stderr.startswith(says)
    assert again.stderr.count("\n") == 1
    assert (json.loads(again.stdout)["known"], json.loads(again.stdout)["done"]) == (1, 1)
    assert invoke(*command).stderr == ""


def test_a_missing_or_empty_store_is_named(invoke, tmp_path):
    assert "there is no store" in invoke("bench", "tables", str(tmp_path / "none.db"), code=1).stderr
    Store(tmp_path / "empty.db")
    assert "holds no record" in invoke("bench", "report", str(tmp_path / "empty.db"), code=1).stderr


@pytest.mark.parametrize(("option", "value"), [("--jobs", 2), ("--jobs", -1), ("--device", "cpu")])
def test_a_cluster_goes_with_no_other_way_to_run(refuse, file, tmp_path, option, value):
    command = ["bench", "run", file, "--store", tmp_path / "s.db", "--dask", "127.0.0.1:9"]
    refuse(*command, option, value, code=2, says=f"no use for {option}; leave one out.")


def test_a_cluster_that_does_not_answer_ends_with_one_sentence(refuse, file, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    command = ["bench", "run", file, "--store", tmp_path / "s.db", "--dask", "127.0.0.1:9"]
    refuse(*command, code=1, says="no Dask scheduler answered at '127.0.0.1:9' within 0.5 s; check that it runs")


def test_the_group_without_a_command_shows_its_help(invoke):
    assert "report" in invoke("bench", code=2).stdout
