import hashlib
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from scipy import io

from kernelbraid.datasets import CATALOG
from kernelbraid.datasets.entries import Entry, Source, View


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of the data sets, not made yet; the one of the person who runs the tests is never looked at."""
    monkeypatch.setenv("KERNELBRAID_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def samples():
    """Twelve raw samples of three classes, counted from 1 as in MATLAB."""
    rng = np.random.default_rng(0)
    return rng.integers(1, 200, (12, 5)).astype(np.uint8), np.repeat([1, 2, 3], 4)


@pytest.fixture
def tiny(samples, tmp_path, monkeypatch):
    """A catalogued data set whose source file, tiny.mat, is in a folder that a server may offer."""
    X, y = samples
    site = tmp_path / "site" / "owner" / "repository" / "abc" / "data"
    site.mkdir(parents=True)
    io.savemat(site / "tiny set.mat", {"X": X, "y": y[:, None]})
    content = (site / "tiny set.mat").read_bytes()
    source = Source(
        "owner/repository", "abc", "data/tiny set.mat", hashlib.sha256(content).hexdigest(), n_bytes=len(content)
    )
    entry = Entry(
        name="tiny",
        title="Tiny",
        kind="image",
        n_samples=12,
        views=(View(5),),
        class_sizes=(4, 4, 4),
        preprocessing=("zscore", "unit_norm"),
        pending=("zscore", "unit_norm"),
        source=source,
        sha256=None,
    )
    monkeypatch.setitem(CATALOG, "tiny", entry)
    return entry


@pytest.fixture
def change(monkeypatch):
    """Replace fields of an entry in the catalogue."""

    def change_entry(entry, **fields):
        monkeypatch.setitem(CATALOG, entry.name, replace(entry, **fields))
        return CATALOG[entry.name]

    return change_entry


class Quiet(SimpleHTTPRequestHandler):
    """Offers a folder."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server on this machine that offers the folder `site`."""
    monkeypatch.setenv("NO_PROXY", "*")
    handler = partial(Quiet, directory=tmp_path / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        httpd.asked = []
        httpd.base = f"http://127.0.0.1:{httpd.server_port}"
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield httpd
        httpd.shutdown()
        thread.join()
