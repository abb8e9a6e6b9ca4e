import json
import os
import sys

import pytest

from kernelbraid.cli.commands import demo as demonstration

PICTURES = ["graph.png", "kernel.png", "embedding.png"]


@pytest.fixture
def small(monkeypatch, blobs):
    """The demo on thirty samples instead of its own."""
    data = demonstration.DemoData("blobs", *blobs, 3)
    monkeypatch.setattr(demonstration, "load", lambda: data)


def test_the_data_set_is_bundled_and_scaled():
    data = demonstration.load()
    assert len(data.X) == len(data.classes) >= 100
    assert len(set(data.classes)) == data.n_clusters


def test_three_methods_are_compared_and_pictures_drawn(run, small, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "folder"
    result = run("demo", "--out", out)
    assert result.exit_code == 0
    for word in ("LKG", "KMeans", "SpectralClustering", "acc", "entropy", "seconds", "1.0000", str(out)):
        assert word in result.stdout
    assert sorted(path.name for path in out.iterdir()) == sorted([*PICTURES, "labels.csv"])
    for name in PICTURES:
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    assert (out / "labels.csv").read_text().startswith("sample,label\n0,")
    assert len((out / "labels.csv").read_text().splitlines()) == 31


def test_json_holds_the_whole_comparison(run, small, tmp_path):
    pytest.importorskip("matplotlib")
    content = json.loads(run("demo", "--out", tmp_path, "--json").stdout)
    assert list(content) == ["data", "n_samples", "n_clusters", "results", "out", "files", "warnings"]
    assert list(content["results"]) == ["LKG", "KMeans", "SpectralClustering"]
    for scores in content["results"].values():
        assert next(iter(scores)) == "acc"
        assert list(scores)[-1] == "seconds"
    assert content["files"] == ["labels.csv", *PICTURES]


def test_without_matplotlib_it_says_how_to_get_pictures(run, small, monkeypatch, tmp_path):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 0
    assert 'pip install "kernelbraid[plot]"' in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_the_folder_is_checked_before_the_work(refuse, monkeypatch, tmp_path):
    monkeypatch.setattr(demonstration, "load", lambda: pytest.fail("the work started"))
    (tmp_path / "file").write_text("")
    refuse("demo", "--out", tmp_path / "file" / "folder", code=2, says=["--out", "is a file"])
    monkeypatch.setattr(os, "access", lambda *_: False)
    refuse("demo", "--out", tmp_path / "folder", code=2, says=["--out", "not writable"])


def test_a_folder_that_cannot_be_made_is_a_sentence(refuse, small, monkeypatch, tmp_path):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(tmp_path), "mkdir", fail)
    refuse("demo", "--out", tmp_path / "folder", code=1, says=["could not be created", "No space left"])
