"""One file from a public address: no more bytes than it is known to have, checked, resumed where a try broke off."""

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from socket import SHUT_RDWR
from threading import Timer
from typing import IO
from urllib import request
from urllib.error import HTTPError, URLError

from kernelbraid._system import draft_in, remove_drafts
from kernelbraid.datasets import npz
from kernelbraid.datasets.entries import Source
from kernelbraid.files.errors import DataError

# Seconds to wait for an answer, and for the next bytes of it.
SILENCE = 20.0
# Seconds for the head of an answer, which has a few hundred bytes.
HEAD = 30.0
# Bytes per second, on average over `SILENCE`, below which a connection is as good as broken.
SLOWEST = 200
CHUNK = 1 << 16


@contextmanager
def downloaded(name: str, source: Source, url: str, folder: Path) -> Iterator[Path]:
    """Yield the file of a source, verified, until the end of the context.

    Parameters
    ----------
    name : str
        Of the data set, for messages.
    source : Source
        With the size and the checksum of the file.
    url : str
        Where it is.
    folder : Path
        Where it is written, hidden; made if it is not there. What came of a download that broke off is kept there, for
        a day, and the next one goes on from it.

    Raises
    ------
    DataError
        The download failed, or is another file; nothing of that is kept.
    """
    is_new = not folder.exists()
    with _explained_writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        remove_drafts(folder)
    part, draft = folder / f".kernelbraid-{source.sha256}.part", draft_in(folder, Path(source.path).suffix)
    with suppress(FileNotFoundError):
        part.replace(draft)  # from here on it is that of this process alone
    try:
        begun = draft.exists()
        _receive(name, source, url, draft)
        if begun and npz.checksum(draft) != source.sha256:  # what was there was not its beginning
            draft.unlink()
            _receive(name, source, url, draft)
        if (found := npz.checksum(draft)) != source.sha256:
            draft.unlink()
            raise DataError(
                f"{url}: the SHA-256 of the download is {found}, but {source.sha256} is expected; nothing was kept, "
                "try again later."
            )
        yield draft
        draft.unlink()
    finally:
        with suppress(OSError):
            if 0 < draft.stat().st_size < (source.n_bytes or 0):
                draft.replace(part)
            draft.unlink()
        with suppress(OSError):
            if is_new:
                folder.rmdir()  # if nothing is in it


def _receive(name: str, source: Source, url: str, draft: Path) -> None:
    """Append what is missing of a file; say in a sentence why that fails."""
    by_hand = f"download the file by hand and use kernelbraid datasets import {name} FILE"
    try:
        with draft.open("ab") as file, _ask(url, file.tell()) as response:
            _copy(response, file, url, source.n_bytes or 0)
    except HTTPError as error:
        with error:
            answer = f"{error.code} {HTTPStatus(error.code).phrase}" if error.code in list(HTTPStatus) else error.code
        raise DataError(f"{name}: {url} answered {answer}; try again later, or {by_hand}.") from None
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
        kept = draft.stat().st_size if draft.exists() else 0
        rest = f"try again to go on after the {kept} bytes that came" if kept else "check the connection and try again"
        raise DataError(
            f"{name}: the download of {url} failed ({type(reason).__name__}); {rest}, or {by_hand}."
        ) from None


def _ask(url: str, start: int) -> HTTPResponse:
    """Ask for a file as it is, from a byte on."""
    headers = {"User-Agent": "kernelbraid", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        answer: HTTPResponse = _opener().open(request.Request(url, headers=headers), timeout=SILENCE)
    except HTTPError as error:
        if not start or error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        error.close()
        return _ask(url, 0)
    except ValueError as error:
        raise DataError(f"{url}: this is no address ({error}); give one that begins with https://.") from None
    return answer


def _copy(response: HTTPResponse, file: IO[bytes], url: str, size: int) -> None:
    """Copy an answer to the end of a file, up to the known size, if it is not too slow."""
    start = file.tell()
    if response.status != HTTPStatus.PARTIAL_CONTENT or not _begins(response, start):
        start = file.truncate(0)
    offered = response.headers.get("Content-Length", "")
    if offered.isdecimal() and start + int(offered) != size:
        file.truncate(0)
        raise _wrong_size(url, f"{start + int(offered)}", size)
    total, since, counted = start, time.monotonic(), start
    while data := response.read1(CHUNK):
        total += len(data)
        if total > size:
            file.truncate(0)
            raise _wrong_size(url, f"more than {size}", size)
        with _explained_writing(Path(file.name).parent):
            file.write(data)
        if (passed := time.monotonic() - since) > SILENCE:
            if total - counted < SLOWEST * passed:
                raise TimeoutError
            since, counted = time.monotonic(), total
    if total < size:
        raise ConnectionAbortedError


def _begins(response: HTTPResponse, start: int) -> bool:
    return response.headers.get("Content-Range", "").startswith(f"bytes {start}-")


def _wrong_size(url: str, found: str, size: int) -> DataError:
    return DataError(f"{url}: the file has {found} bytes, but {size} are expected; nothing was kept, try again later.")


@contextmanager
def _explained_writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{folder}: a file could not be written ({error.strerror or error}); "
            f"name another folder in {npz.FOLDER_VARIABLE}."
        ) from None


class _Impatient(HTTPConnection):
    """A connection that is closed if the head of an answer takes too long, be it sent byte by byte."""

    def getresponse(self) -> HTTPResponse:
        """Return an answer, its head read."""
        timer = Timer(HEAD, partial(_shut, self))
        timer.daemon = True
        timer.start()
        try:
            return super().getresponse()
        finally:
            timer.cancel()


class _ImpatientAndSecure(_Impatient, HTTPSConnection):
    """The same, encrypted."""


def _shut(connection: HTTPConnection) -> None:
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(SHUT_RDWR)


class _Plain(request.HTTPHandler):
    def http_open(self, req: request.Request) -> HTTPResponse:
        return self.do_open(_Impatient, req)


class _Secure(request.HTTPSHandler):
    def https_open(self, req: request.Request) -> HTTPResponse:
        return self.do_open(_ImpatientAndSecure, req, context=ssl.create_default_context())


def _opener() -> request.OpenerDirector:
    """Return what opens addresses of the web alone: no redirection leads to a file of this machine."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        _Plain,
        _Secure,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener
