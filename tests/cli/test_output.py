import gzip
import json
import os
import sys
import warnings
from functools import partial

import numpy as np
import pytest

from kernelbraid.cli import output
from kernelbraid.cli.ending import Failure
from kernelbraid.cli.output import STANDARD, library_speaks, print_table, write_labels, writing
from kernelbraid.methods import METHODS, TITLES, kernels_taken

CONFIDENCE = {"confidence": np.array([1.0, 0.12345])}


def test_a_repeated_warning_is_one_line_and_deprecations_none():
    with library_speaks() as lines:
        for _ in range(3):
            warnings.warn("first\nline", UserWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert lines == ["first line"]


def test_a_file_that_cannot_be_written_ends_with_its_name_and_the_reason(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(Failure, match=r"a\.csv could not be written \(No space left on device\)\.$"), writing(path):
        raise OSError(28, "No space left on device")
    assert not path.exists()


def test_a_table_keeps_cells_whole_and_numbers_to_the_right(capsys):
    print_table([["a", "1", "[bold]end"], ["b", "100", ""]], header=["name", "n", "text"], numbers=[1])
    assert capsys.readouterr().out == "name    n  text\na       1  [bold]end\nb     100\n"


@pytest.mark.parametrize(
    ("ids", "text"),
    [(None, "sample,label,confidence\n0,2,1.0000\n1,0,0.1235\n"), (["a", "b,c"], 'id,label\na,2\n"b,c",0\n')],
)
def test_labels_are_written_by_id_or_by_number(tmp_path, capsys, ids, text):
    for path in (tmp_path / "labels.csv", STANDARD):
        write_labels(path, np.array([2, 0]), ids, {} if ids else CONFIDENCE)
    assert (tmp_path / "labels.csv").read_bytes() == text.encode()
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(("name", "delimiter"), [("a.tsv", "\t"), ("a.tsv.gz", "\t"), ("a.csv.gz", ","), ("a", ",")])
def test_the_name_of_the_file_says_how_it_is_written(tmp_path, name, delimiter):
    write_labels(tmp_path / name, np.array([2, 0]), ["a", "b"], {})
    content = (tmp_path / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    assert content.decode() == "id,label\na,2\nb,0\n".replace(",", delimiter)


def test_parquet_without_pyarrow_is_refused_with_what_installs_it(refuse, no_fit, monkeypatch, blobs_csv, tmp_path):
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    says = 'install it with pip install "kernelbraid[io]"'
    refuse("cluster", blobs_csv, "--out", tmp_path / "a.parquet", code=1, says=says)


@pytest.mark.parametrize("name", ["a.npy", "a.npz.gz", "a.parquet.gz", "a.csv.json", "a.txt"])
def test_labels_are_not_written_under_the_name_of_something_else(refuse, no_fit, blobs_csv, tmp_path, name):
    refuse("cluster", blobs_csv, "--out", tmp_path / name, code=2, says=["--out", f"not as {name!r}; choose another"])


def test_two_spellings_of_one_file_are_the_same(refuse, no_fit, blobs_csv, tmp_path):
    twice = tmp_path / ".." / tmp_path.name
    refuse("cluster", blobs_csv, "--out", twice / blobs_csv.name, code=2, says="is another file of this command")
    refuse("cluster", blobs_csv, "--out", tmp_path / "a", "--save", twice / "a", code=2, says="is another file")


def test_the_methods_are_listed(run):
    header, *lines = run("methods").stdout.splitlines()
    assert header.split("  ")[0] == "name"
    for line, (name, model) in zip(lines, METHODS.items(), strict=False):
        assert line.split()[0] == name
        assert TITLES[name] in line
        assert type(model).__name__ in line
    for entry in json.loads(run("methods", "--json").stdout)["methods"]:
        model = METHODS[entry["name"]]
        assert (entry["title"], entry["kernels"]) == (TITLES[entry["name"]], kernels_taken(model))
        made = type(model)().set_params(**entry["settings"])
        assert str(made) == str(model)


def test_the_demo_compares_three_methods_and_draws_pictures(run, refuse, monkeypatch, blobs, tmp_path):
    pytest.importorskip("matplotlib")
    from kernelbraid.cli import demo

    monkeypatch.setattr(demo, "load", lambda: ("blobs", *blobs))
    out = tmp_path / "new" / "folder"
    result = run("demo", "--out", out)
    for word in ("LKG", "KMeans", "SpectralClustering", "acc", "entropy", "seconds", "1.0000", str(out)):
        assert word in result.stdout
    content = json.loads(run("demo", "--out", out, "--json").stdout)
    assert list(content) == ["data", "n_samples", "n_clusters", "results", "out", "files", "warnings"]
    assert sorted(path.name for path in out.iterdir()) == sorted(content["files"])
    assert len((out / "labels.csv").read_text().splitlines()) == 31
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in content["files"] if name[-3:] == "png")
    monkeypatch.setattr(os, "access", lambda *_: False)
    refuse("demo", "--out", tmp_path / "folder", code=2, says=["--out", "not writable"])


def test_a_demo_without_pictures_says_how_to_get_them(run, refuse, monkeypatch, blobs, tmp_path):
    from kernelbraid.cli import demo

    monkeypatch.setattr(demo, "load", lambda: ("blobs", *blobs))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "--out", tmp_path / "a")
    assert result.exit_code == 0
    assert 'pip install "kernelbraid[plot]"' in result.stderr
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["labels.csv"]
    monkeypatch.setattr(type(tmp_path), "mkdir", partial(fail, "No space left on device"))
    refuse("demo", "--out", tmp_path / "b", code=1, says=["b could not be written", "No space left"])


def fail(why, *_, **__):
    raise OSError(28, why)


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace", "pandas.DataFrame.to_csv"])
def test_a_failure_while_writing_leaves_the_old_file_and_no_rest(refuse, run, monkeypatch, blobs_csv, tmp_path, step):
    out = tmp_path / "labels.csv"
    out.write_text("old")
    out.chmod(0o640)
    with monkeypatch.context() as broken:
        broken.setattr(step, partial(fail, "No space left on device"))
        refuse("cluster", blobs_csv, "-k", 3, "--out", out, code=1, says=["labels.csv", "No space left"])
    assert out.read_text() == "old"
    result = run("cluster", blobs_csv, "-k", 3, "--out", out, "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert out.read_text().startswith("id,label\n")
    assert out.stat().st_mode & 0o777 == 0o640
