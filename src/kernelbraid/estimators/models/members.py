"""The members of a model file: stored, not compressed, each with a checksum that is compared when it is read."""

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Literal

import numpy as np

CHECKSUMS = "checksums.json"  # SHA-256 of all other members by their names; files of 0.1.0 have none
PLAIN = "biufcSUmM"  # kinds of dtypes whose arrays are bytes
# The header of a .npy member as NumPy writes it for such arrays: its own reader evaluates what it says, and may warn.
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<descr>[<>|][biufcSUmM][0-9]{1,9}(\[[0-9a-z]{1,9}\])?)', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>[0-9, ]{0,200})\), \} *\n",
    re.DOTALL,
)


class _Summed(io.RawIOBase):
    """A file that takes the checksum of what is written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest = file, hashlib.sha256()

    def write(self, content: Any) -> int:
        self._digest.update(content)
        return self._file.write(content)

    def sum(self) -> str:
        return self._digest.hexdigest()


class MembersOut:
    """Writes members one after the other, their checksums at last."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._sums: dict[str, str] = {}

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member; without a date, so that equal models make equal files."""
        with self._archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as file:
            summed = _Summed(file)
            yield summed  # type: ignore[misc]  # a raw file is all that NumPy needs
        self._sums[name] = summed.sum()

    def write(self, name: str, content: bytes) -> None:
        """Write a member at once."""
        with self.open(name) as file:
            file.write(content)

    def close(self) -> None:
        """Write the checksums."""
        self._archive.writestr(zipfile.ZipInfo(CHECKSUMS), json.dumps(self._sums))


class MembersIn:
    """Reads members, and compares their checksums where the file has some.

    Parameters
    ----------
    archive : ZipFile
        The file.
    *known : str
        Members that were read already; they are compared at once.
    """

    def __init__(self, archive: zipfile.ZipFile, *known: str) -> None:
        self._archive = archive
        names = archive.namelist()
        self._sums: dict[str, Any] | None = json.loads(archive.read(CHECKSUMS)) if CHECKSUMS in names else None
        if self._sums is not None and sorted([*self._sums, CHECKSUMS]) != sorted(names):
            raise zipfile.BadZipFile("it has other members than were written")
        for name in known:
            self.read(name)

    def read(self, name: str) -> bytearray:
        """Return a member; memory is taken for what is there, not for what headers say."""
        content = bytearray(self._archive.read(name))
        if self._sums is not None and hashlib.sha256(content).hexdigest() != self._sums[name]:
            raise zipfile.BadZipFile(f"{name} has another checksum than it was written with")
        return content

    def read_array(self, name: str) -> np.ndarray:
        """Return an array, in the byte order of this machine."""
        content = self.read(name)
        header = HEADER.match(content)
        if header is None:
            raise ValueError(f"{name} has no header of an array")
        dtype = np.dtype(header["descr"].decode())
        shape = tuple(int(length) for length in header["shape"].split(b",") if length.strip())
        if math.prod(shape) * dtype.itemsize != len(content) - header.end() or not dtype.itemsize:
            raise ValueError(f"{name} has another size than its array")
        order: Literal["F", "C"] = "F" if header["fortran"] == b"True" else "C"
        array = np.frombuffer(content, dtype, offset=header.end()).reshape(shape, order=order)
        return array.astype(dtype.newbyteorder("="), copy=False)
