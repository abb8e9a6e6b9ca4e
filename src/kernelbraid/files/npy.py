"""Arrays as NumPy writes them: the header is checked before memory is taken, and nothing is ever unpickled."""

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import numpy as np

from kernelbraid.files.errors import DataError, one_line, reading
from kernelbraid.files.memory import check_room
from kernelbraid.files.sources import Source

MAGIC = np.lib.format.MAGIC_PREFIX
CHUNK = 2**24  # bytes that are read at a time


@dataclass(frozen=True)
class Header:
    """What stands before the values of an array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype
    length: int  # bytes of the header

    @property
    def n_bytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * self.dtype.itemsize

    def room(self) -> int:
        """Return the bytes that the array takes as samples: itself, a copy where it must be turned, and masks."""
        is_ready = self.dtype.kind == "f" and self.dtype.itemsize in (4, 8) and self.dtype.isnative
        copies = 0 if is_ready and not self.is_fortran else 8
        return self.n_bytes + math.prod(self.shape) * (copies + 2)


def read_header(path: Path, file: IO[bytes], size: int) -> Header:
    """Return the header of an array that takes at most so many bytes with it, or refuse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers that Python 2 wrote
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            shape, is_fortran, dtype = read[version](file)
    except Exception as error:  # its parser raises whatever a damaged header makes it stumble over, MemoryError too
        raise _damaged(path, one_line(error)) from None
    if any(type(length) is not int or length < 0 for length in shape):
        raise _damaged(path, f"an array has the shape {shape}")
    header = Header(shape, is_fortran, dtype, file.tell())
    if not dtype.hasobject and (dtype.itemsize == 0 or dtype.subdtype is not None):
        raise _damaged(path, f"an array has values of the type {dtype}")
    if not dtype.hasobject and header.n_bytes > size - header.length:
        raise _damaged(path, f"an array of the shape {shape} is longer than the file")
    return header


def _damaged(path: Path, reason: str) -> DataError:
    return DataError(f"{path}: the file is damaged ({reason}); write it again.")


def pickled(path: Path) -> DataError:
    """Return the error for a file that holds objects."""
    return DataError(
        f"{path}: the file holds pickled objects, which are never loaded, or is no NumPy file; "
        "save plain arrays of numbers with numpy.save or numpy.savez."
    )


def read_values(path: Path, file: IO[bytes], header: Header) -> np.ndarray:
    """Return the values that follow a header."""
    if header.dtype.hasobject:
        raise pickled(path)
    values = np.empty(math.prod(header.shape), header.dtype)
    raw = memoryview(values.view(np.uint8).data)
    with reading(path):
        at = 0
        while at < len(raw):
            count = file.readinto(raw[at : at + CHUNK])  # type: ignore[attr-defined]  # files of bytes have it
            if not count:
                raise EOFError("it ends before its array does")
            at += count
    return values.reshape(header.shape[::-1]).T if header.is_fortran else values.reshape(header.shape)


def check_beginning(source: Source, file: IO[bytes]) -> None:
    """Refuse a .npy file that is something else."""
    beginning = file.read(len(MAGIC))
    file.seek(0)
    if beginning.startswith(b"PK"):
        raise DataError(f"{source.path}: this is an .npz archive; rename it to .npz.")
    if beginning != MAGIC:
        raise pickled(source.path)


def load_npy(source: Source) -> np.ndarray:
    """Return the array of a .npy file."""
    with reading(source.path), source.open() as file:
        check_beginning(source, file)
        header = read_header(source.path, file, source.size())
        check_room(source.path, "the array", header.room(), "read it in blocks with --landmarks, or save a part of it")
        return read_values(source.path, file, header)


def map_npy(source: Source) -> np.ndarray:
    """Return the array of a .npy file as a memory map."""
    with reading(source.path), source.open() as file:
        check_beginning(source, file)
        header = read_header(source.path, file, source.size())
        if header.dtype.hasobject:
            raise pickled(source.path)
        if not header.n_bytes:
            return np.empty(header.shape, header.dtype)  # nothing to map
        order: Literal["F", "C"] = "F" if header.is_fortran else "C"
        return np.memmap(source.path, header.dtype, "r", header.length, header.shape, order)
