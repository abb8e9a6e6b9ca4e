import gzip
import hashlib
import re
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from kernelbraid.datasets import DataError, download
from kernelbraid.datasets.download import downloaded
from kernelbraid.datasets.entries import Source

CONTENT = bytes(range(250)) * 8


class Handler(BaseHTTPRequestHandler):
    """Answers as the test says."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.headers.get("Range"))
        with suppress(OSError):  # the client may have gone
            self.server.answer(self)

    def head(self, status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        httpd.asked, httpd.answer = [], whole
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield httpd
        httpd.shutdown()
        thread.join()


@pytest.fixture
def get(server, tmp_path):
    """Download the file, and return its content."""

    def fetch(content=CONTENT):
        source = Source("a/b", "c", "x.mat", hashlib.sha256(content).hexdigest(), len(content))
        with downloaded("tiny", source, f"http://127.0.0.1:{server.server_port}/x.mat", tmp_path / "data") as file:
            assert file.suffix == ".mat"
            return file.read_bytes()

    return fetch


@pytest.fixture
def left(tmp_path):
    """Sizes of the files that stayed."""
    return lambda: [file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()]


def whole(handler):
    handler.head(Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT)


def half(handler):
    handler.head(Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT[:700])


def ranged(handler):
    start = int(re.fullmatch("bytes=([0-9]+)-", handler.headers["Range"])[1])
    rest = CONTENT[start:]
    handler.head(206, Content_Length=len(rest), Content_Range=f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
    handler.wfile.write(rest)


def endless(handler):
    handler.head()
    while True:
        handler.wfile.write(bytes(1000))


def trickle(handler):
    handler.head(Content_Length=len(CONTENT))
    for byte in CONTENT:
        handler.wfile.write(bytes([byte]))
        time.sleep(0.02)


def trickle_of_a_head(handler):
    for byte in b"HTTP/1.0 200 OK\r\n" + b"x" * 1000:
        handler.wfile.write(bytes([byte]))
        time.sleep(0.02)


def test_a_file_is_there_as_long_as_it_is_used(get, left):
    assert get() == CONTENT
    assert left() == []


def test_a_body_without_an_end_is_taken_up_to_the_known_size(get, server, left):
    server.answer = endless
    with pytest.raises(DataError, match=r"more than 2000 bytes, but 2000 are expected; nothing was kept"):
        get()
    assert left() == []


@pytest.mark.parametrize("length", [0, 1999, 2001, 10**12])
def test_another_length_is_refused_before_anything_is_taken(get, server, left, length):
    server.answer = lambda handler: handler.head(Content_Length=length)
    with pytest.raises(DataError, match=f"has {length} bytes, but 2000 are expected"):
        get()
    assert left() == []


def test_compressed_bytes_are_never_expanded(get, server, left):
    bomb = gzip.compress(bytes(10**6), mtime=0)

    def answer(handler):
        handler.head(Content_Encoding="gzip", Content_Length=len(bomb))
        handler.wfile.write(bomb)

    server.answer = answer
    assert get(bomb) == bomb


def test_what_came_of_a_broken_download_is_the_beginning_of_the_next(get, server, left):
    server.answer = half
    with pytest.raises(DataError, match=r"failed \(.*\); try again to go on after the 700 bytes that came, or "):
        get()
    assert left() == [700]
    server.answer = ranged
    assert get() == CONTENT
    assert server.asked == [None, "bytes=700-"]
    assert left() == []


def test_a_server_that_knows_no_ranges_sends_all_again(get, server, left):
    server.answer = half
    with pytest.raises(DataError):
        get()
    server.answer = whole
    assert get() == CONTENT
    assert left() == []


def test_a_wrong_beginning_is_thrown_away(get, server, tmp_path):
    server.answer = half
    with pytest.raises(DataError):
        get()
    [part] = (tmp_path / "data").iterdir()
    part.write_bytes(b"?" * 700)
    server.answer = lambda handler: (ranged if handler.headers["Range"] else whole)(handler)
    assert get() == CONTENT
    assert server.asked == [None, "bytes=700-", None]


def test_ctrl_c_keeps_what_came(get, server, left, monkeypatch):
    def interrupt(response, file, *_):
        file.write(response.read(10))
        raise KeyboardInterrupt

    monkeypatch.setattr(download, "_copy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get()
    assert left() == [10]


@pytest.mark.parametrize("answer", [lambda handler: time.sleep(0.5), trickle, trickle_of_a_head])
def test_silence_and_a_trickle_end_the_download(get, server, monkeypatch, answer):
    monkeypatch.setattr(download, "SILENCE", 0.15)
    monkeypatch.setattr(download, "HEAD", 0.2)
    server.answer = answer
    with pytest.raises(DataError, match="failed"):
        get()


def test_no_redirection_leads_to_a_file(get, server, left):
    server.answer = lambda handler: handler.head(302, Location="file:///etc/hostname")
    with pytest.raises(DataError, match="answered 302 Found"):
        get()
    assert left() == []


def test_a_folder_that_cannot_be_made_is_named(server, tmp_path):
    (tmp_path / "file").touch()
    folder = downloaded("tiny", Source("a/b", "c", "x.mat", "0" * 64, 1), "http://127.0.0.1:1", tmp_path / "file")
    with pytest.raises(DataError, match="name another folder in KERNELBRAID_DATA"), folder:
        pass
