"""Where data sets are kept, and their file format: .npz without pickles, X and y, or X0, X1, ... and y.

A sparse matrix is stored as its CSR parts X_data, X_indices, X_indptr and X_shape. A file written here also holds a
digest of its content and where it comes from. It is not compressed, so its bytes depend on its content alone.
"""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from kernelbraid._system import write_whole
from kernelbraid._typing import Host
from kernelbraid.files.archives import SPARSE_PARTS, list_npz
from kernelbraid.files.errors import DataError
from kernelbraid.files.sources import open_source
from kernelbraid.files.stored import Matrix, Stored, to_csr

FOLDER_VARIABLE = "KERNELBRAID_DATA"
NUMBERS = "biuf"  # kinds of types


@dataclass(frozen=True, eq=False)
class Content:
    """What a file of a data set holds."""

    views: list[Matrix]
    y: Host
    digest: str | None = None  # as stored; None: the file was not written here


def data_folder() -> Path:
    """Return the folder of the data sets: the one named by KERNELBRAID_DATA, otherwise the user's cache."""
    named = os.environ.get(FOLDER_VARIABLE, "").strip()
    return Path(named).expanduser() if named else user_cache()


def user_cache() -> Path:
    """Return the folder for files of this package that can be had again."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "kernelbraid" / "kernelbraid" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kernelbraid"
    named = os.environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(named) if named else Path.home() / ".cache") / "kernelbraid"


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: the file cannot be read ({error.strerror}); check its permissions.") from None


def digest(views: Sequence[Matrix], y: Host) -> str:
    """Return the SHA-256 of names, shapes and values, the same on every machine."""
    total = hashlib.sha256()
    for name, part in _parts(views, y).items():
        values = np.ascontiguousarray(part, dtype="<f8" if part.dtype.kind == "f" else "<i8")
        total.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        total.update(values.tobytes())
    return total.hexdigest()


def _parts(views: Sequence[Matrix], y: Host) -> dict[str, Host]:
    """Return the arrays of a file by name."""
    parts: dict[str, Host] = {}
    for i, X in enumerate(views):
        name = "X" if len(views) == 1 else f"X{i}"
        if isinstance(X, np.ndarray):
            parts[name] = X
        else:
            pieces = (X.data, X.indices, X.indptr, np.array(X.shape, dtype=np.int64))
            parts |= {f"{name}_{part}": piece for part, piece in zip(SPARSE_PARTS, pieces, strict=True)}
    return parts | {"y": y}


def write(path: Path, views: Sequence[Matrix], y: Host, *, origin: str) -> None:
    """Write a data set; the file appears under its name only when it is complete."""
    views = [to_csr(X.copy()) for X in views]
    y = y.astype(np.int64)
    marks = {"digest": np.array(digest(views, y)), "origin": np.array(origin)}
    with whole(path) as file:
        np.savez(file, **_parts(views, y), **marks)  # type: ignore[arg-type]  # none of the names is allow_pickle


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is complete, replacing an older one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(path, "wb") as file:
            yield file
    except OSError as error:
        raise DataError(
            f"{path}: the file could not be written ({error.strerror or error}); "
            f"name another folder in {FOLDER_VARIABLE}."
        ) from None


def read(path: Path) -> Content:
    """Return what a file holds, its numbers as they are stored; nothing else in it is read."""
    found = list_npz(open_source(path))
    if "y" not in found:
        raise DataError(f"{path}: there is no array 'y'; save the samples as X and their classes as y.")
    wanted = [found[name] for name in _views(path, found)]
    if any(array.dtype.kind not in NUMBERS for array in (*wanted, found["y"])):
        raise DataError(f"{path}: the samples or the classes are no numbers; save arrays of numbers.")
    stored = found.get("digest")
    is_digest = stored is not None and stored.dtype.kind == "U" and stored.shape == ()
    return Content(
        [array.read() for array in wanted], found["y"].read(), str(stored.read()) if stored and is_digest else None
    )


def _views(path: Path, found: Mapping[str, Stored]) -> Iterator[str]:
    """Yield the names of the samples: X, or X0, X1 and so on."""
    if "X" in found:
        yield "X"
        return
    if "X0" not in found:
        raise DataError(f"{path}: there is neither X nor X0; save the samples as X, or views as X0, X1, ....")
    i = 0
    while f"X{i}" in found:
        yield f"X{i}"
        i += 1


def is_own(path: Path) -> bool:
    """Return whether a file was written here: it says so by its digest."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return "digest" in archive.files
    except Exception:  # whatever a damaged file makes NumPy stumble over; reading it in full says what
        return False
