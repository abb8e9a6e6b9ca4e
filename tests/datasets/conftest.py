import hashlib
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from scipy import io

from kernelbraid.datasets import CATALOG
from kernelbraid.datasets.catalogue import Entry, Source, View


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
def server(tmp_path, monkeypatch):
    """A server on this machine that offers the folder `site`: its address, and what it was asked for."""
    monkeypatch.setenv("NO_PROXY", "*")
    asked = []
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda handler, *_: asked.append(handler.path))
    (tmp_path / "site").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}", asked
        httpd.shutdown()
        thread.join()


@pytest.fixture
def change(monkeypatch):
    """Replace fields of an entry in the catalogue."""

    def change_entry(entry, **fields):
        monkeypatch.setitem(CATALOG, entry.name, replace(entry, **fields))
        return CATALOG[entry.name]

    return change_entry


@pytest.fixture
def tiny(samples, tmp_path, server, change):
    """A catalogued data set whose source file is on the server."""
    X, y = samples
    path = tmp_path / "site" / "tiny.mat"
    io.savemat(path, {"X": X, "y": y[:, None]})
    source = Source(f"{server[0]}/tiny.mat", hashlib.sha256(path.read_bytes()).hexdigest())
    steps = ("zscore", "unit_norm")
    return change(Entry("tiny", "Tiny", "image", [View(5)], [4, 4, 4], source, preprocessing=steps, pending=steps))
