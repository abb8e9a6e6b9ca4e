import gc
import hashlib
import json
import sys
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from scipy import io

from kernelbraid.datasets import CATALOG, available, load
from kernelbraid.datasets.catalogue import Source, View, find

X, y = np.arange(60.0).reshape(12, 5), np.repeat([1, 2, 3], 4)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A server that offers a folder in place of the public one; its address, and what it was asked for."""
    asked = []
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda handler, *_: asked.append(handler.path))
    monkeypatch.setenv("NO_PROXY", "*")
    (tmp_path / "site").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}", asked
        httpd.shutdown()
        thread.join()


@pytest.fixture
def tiny(tmp_path, monkeypatch, site):
    """A catalogued data set, and its source file."""
    path = tmp_path / "site" / "tiny.mat"
    io.savemat(path, {"X": X, "y": y})
    source = Source(f"{site[0]}/tiny.mat", hashlib.sha256(path.read_bytes()).hexdigest())
    entry = replace(CATALOG["ba"], name="tiny", title="Tiny", views=(View(5),), class_sizes=(4, 4, 4), source=source)
    monkeypatch.setitem(CATALOG, "tiny", entry)
    return path


def test_without_a_command_the_help_is_shown_as_bad_usage(run):
    result = run("datasets")
    assert result.exit_code == 2
    for word in ("list", "fetch", "KERNELBRAID_DATA", "kernelbraid datasets import cora Cora.mat", "Exit codes"):
        assert word in result.stdout


def test_the_list_has_a_line_for_every_data_set(run, tiny, folder):
    run("datasets", "import", "tiny", tiny)
    result = run("datasets", "list")
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.split()[0] == "name"
    found = {line.split()[0]: line for line in lines[: len(available())]}
    assert list(found) == available()
    assert "2708 + 1433" in found["cora"]
    assert "not here" in found["yale"]
    assert str(folder / "tiny.npz") in found["tiny"]
    assert "in scikit-learn" in found["wine"]
    assert "kernelbraid datasets fetch NAME" in lines[-1]


def test_json_of_the_list_is_the_catalogue(run, folder):
    content = json.loads(run("datasets", "list", "--json").stdout)
    assert content["folder"] == str(folder)
    assert [one["name"] for one in content["datasets"]] == available()
    for one in content["datasets"]:
        entry = find(one["name"])
        assert (one["title"], one["source"], one["file"]) == (entry.title, entry.source.url or None, None)
        assert (one["n_samples"], tuple(one["n_features"])) == (entry.n_samples, entry.n_features)
        assert one["bundled"] is not bool(entry.source.url)


def test_import_takes_a_table_of_the_shape_that_is_known(run, refuse, tiny, tmp_path, folder):
    table = tmp_path / "mine.csv"
    table.write_text("\n".join(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)))
    result = run("datasets", "import", "tiny", table)
    assert result.stdout == f"tiny: written to {folder / 'tiny.npz'}\n"
    np.testing.assert_array_equal(load("tiny").X, X)
    np.testing.assert_array_equal(load("tiny").y, y - 1)
    refuse("datasets", "import", "yale", tiny, code=1, says=["no matrix of 165 x 1024", "X 12 x 5"])


def test_fetch_downloads_once(run, tiny, site, folder):
    result = run("datasets", "fetch", "tiny", "tiny")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"tiny: written to {folder / 'tiny.npz'}\n"
    np.testing.assert_array_equal(load("tiny").X, X)
    assert run("datasets", "fetch", "tiny").stdout == f"tiny: already in {folder / 'tiny.npz'}\n"
    assert site[1] == ["/tiny.mat"]
    assert "written to" in run("datasets", "fetch", "tiny", "--force").stdout
    assert len(site[1]) == 2


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # requests leaves it to the collector
def test_a_failed_download_is_one_sentence_and_leaves_nothing(refuse, tiny, site):
    tiny.write_bytes(bytes(tiny.stat().st_size))
    refuse("datasets", "fetch", "tiny", code=1, says=["SHA256", CATALOG["tiny"].source.sha256])
    tiny.unlink()
    refuse("datasets", "fetch", "tiny", code=1, says=["404", "datasets import tiny FILE"])
    gc.collect()


def test_an_unknown_name_is_bad_usage_and_nothing_is_done(refuse, monkeypatch):
    monkeypatch.setattr("pooch.retrieve", lambda *_, **__: pytest.fail("a download started"))
    refuse("datasets", "fetch", "yale", "jafe", code=2, says=["'jafe'", "choose jaffe", "kernelbraid datasets list"])
    refuse("datasets", "fetch", "digits", code=2, says="comes with scikit-learn")


def test_fetch_names_what_is_there_and_good(run, refuse, tiny, folder):
    run("datasets", "import", "tiny", tiny)
    refuse("datasets", "import", "tiny", tiny, code=1, says="add --force")
    result = run("datasets", "fetch", "tiny")
    assert (result.exit_code, result.stdout) == (0, f"tiny: already in {folder / 'tiny.npz'}\n")


def test_fetch_refuses_what_is_there_and_wrong(refuse, folder):
    folder.mkdir(exist_ok=True)
    (folder / "yale.npz").write_bytes(b"wrong")
    says = [hashlib.sha256(b"wrong").hexdigest(), CATALOG["yale"].source.npz_sha256, "fetch yale --force"]
    refuse("datasets", "fetch", "yale", code=1, says=says)


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("SVG", b"<?xml")])
def test_show_draws_a_data_set_of_images(run, tmp_path, suffix, start):
    path = tmp_path / f"digits.{suffix}"
    result = run("datasets", "show", "digits", "--out", path, "--classes", 3, "--samples", 2)
    assert (result.exit_code, result.stderr, result.stdout) == (0, "", f"{path}\n")
    assert path.read_bytes().startswith(start)
    if suffix == "SVG":
        assert all(f"class {one}" in path.read_text() for one in (0, 4, 9))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_show_refuses_what_it_cannot_draw(refuse, tmp_path, monkeypatch):
    to = ("--out", tmp_path / "a.png")
    refuse("datasets", "show", "wine", *to, code=1, says=["wine is not made of images", "digits"])
    refuse("datasets", "show", "yale", *to, code=1, says="kernelbraid datasets fetch yale")
    refuse("datasets", "show", "digit", *to, code=1, says="choose digits")
    refuse("datasets", "show", "digits", "--out", tmp_path / "a.jpg", code=2, says="neither .png nor .svg")
    refuse("datasets", "show", "digits", "--out", tmp_path / "none" / "a.png", code=2, says="create it first")
    refuse("datasets", "show", "digits", *to, "--classes", 0, code=2, says="--classes")
    refuse("datasets", "show", "digits", code=2, says="--out")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    refuse("datasets", "show", "digits", *to, code=1, says="kernelbraid[plot]")
