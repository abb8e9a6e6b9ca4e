"""``kernelbraid cluster --report``."""

import html
import sys

import numpy as np
import pytest


def test_a_page_tells_ids_columns_and_the_command(run, blobs, blobs_csv, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    asked = ["cluster", str(blobs_csv), "-k", "3", "--scale", "standard", "--report", str(page)]
    monkeypatch.setattr(sys, "argv", ["kernelbraid", *asked])
    result = run(*asked)
    assert result.exit_code == 0, result.stderr
    assert f"page           {page}" in result.stdout
    told = html.unescape(page.read_text())
    assert "<h1>blobs.csv</h1>" in told
    assert " ".join(["kernelbraid", *asked]) in told
    assert "s29" in told
    X, y = blobs
    for blob in range(3):  # in the units of the file
        assert f' a <span class="soft">{X[y == blob, 0].mean():.3g}, others' in told


def test_several_files_and_matrices_without_names_have_a_page(run, write_views, tmp_path, told):
    files = write_views()
    page = tmp_path / "views.html"
    assert run("cluster", *files, "-k", 3, "--id", "id", "--report", page).exit_code == 0
    assert "b3 (view 2)" in page.read_text()
    np.save(tmp_path / "plain.npy", told[0][0])
    assert run("cluster", tmp_path / "plain.npy", "-k", 3, "--method", "MKKM", "--report", page).exit_code == 0
    assert "feature 3" in page.read_text()


@pytest.mark.parametrize(
    ("where", "sentence"),
    [("nowhere/page.html", "there is no folder"), ("blobs.csv", "is another file of this command")],
)
def test_a_page_that_cannot_be_written_is_refused_before_the_work(run, blobs_csv, tmp_path, where, sentence):
    result = run("cluster", blobs_csv, "-k", 3, "--report", tmp_path / where)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_ids_that_repeat_and_a_missing_extra_are_told_before_the_work(run, blobs_csv, tmp_path, monkeypatch):
    rows = blobs_csv.read_text().replace("\ns7,", "\ns6,")
    blobs_csv.write_text(rows)
    result = run("cluster", blobs_csv, "-k", 3, "--report", tmp_path / "page.html")
    assert result.exit_code == 1
    assert "'s6' more than once" in result.stderr
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("cluster", blobs_csv, "-k", 3, "--report", tmp_path / "page.html")
    assert 'A report needs jinja2; install it with pip install "kernelbraid[report]"' in result.stderr
    assert not (tmp_path / "page.html").exists()
