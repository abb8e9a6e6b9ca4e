"""MATLAB files of version 5 to 7.2, read here: SciPy's reader can end the interpreter over a single wrong byte.

A file is a row of elements, each a type, a length and so many bytes. A variable is an element of elements: flags,
dimensions, name, then values. A compressed one holds another element. Lengths are checked against the bytes that are
there, so that no more memory is taken than a file has told.
"""

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.files.errors import DataError, reading
from kernelbraid.files.mat4 import list_mat4
from kernelbraid.files.memory import OBJECT, check_room
from kernelbraid.files.sources import Source
from kernelbraid.files.stored import Matrix, Stored, check_indices, to_csr

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
HDF5_OFFSETS = (0, 512)  # a v7.3 .mat puts 512 bytes of its own in front
REMEDY = "save it again with -v7"

HEADER = 128  # bytes before the first element; the last two say the order of bytes
Order: TypeAlias = Literal["<", ">"]
ORDERS: dict[bytes, Order] = {b"IM": "<", b"MI": ">"}
# Types of elements.
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
MATRIX, COMPRESSED = 14, 15
TEXT = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
# Classes of variables; those that are not here are not read.
CELL, CHAR, SPARSE, OPAQUE = 1, 4, 5, 17
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
IS_LOGICAL, IS_COMPLEX = 1 << 9, 1 << 11

LONGEST_HEAD = 4096  # bytes of flags, dimensions and name, which are decompressed to list a variable
CHUNK = 2**20  # bytes that are decompressed at a time
DEEPEST = 20  # cells in cells
MOST_AXES = 32


class Element(NamedTuple):
    """A type and the bytes that follow it."""

    kind: int
    data: memoryview


@dataclass
class Elements:
    """The elements in a stretch of bytes, taken one after the other."""

    data: memoryview
    order: Order  # of bytes
    at: int = 0

    def take(self) -> Element:
        """Return the next element."""
        if self.at + 8 > len(self.data):
            raise ValueError("it ends within an element")
        kind, length = struct.unpack_from(f"{self.order}II", self.data, self.at)
        start, after = self.at + 8, self.at + 8 + length
        if kind >> 16:  # short ones have their length beside the type
            kind, length = kind & 0xFFFF, kind >> 16
            start, after = self.at + 4, self.at + 8
            if length > 4:
                raise ValueError("a short element is long")
        elif kind != COMPRESSED:
            after += -length % 8
        if start + length > len(self.data):
            raise ValueError("an element is longer than what is left")
        self.at = after
        return Element(kind, self.data[start : start + length])

    def numbers(self, n_flags: int | None = None) -> Host:
        """Return the next element as numbers, without a copy; MATLAB may say that so many flags are numbers."""
        element = self.take()
        if element.kind not in NUMBERS:
            raise ValueError("numbers are expected")
        if len(element.data) == n_flags:
            return np.frombuffer(element.data, np.uint8)
        return np.frombuffer(element.data, np.dtype(NUMBERS[element.kind]).newbyteorder(self.order))


@dataclass(frozen=True)
class Head:
    """What a variable says before its values."""

    kind: int
    is_logical: bool
    is_complex: bool
    shape: tuple[int, ...]
    name: str


def list_mat(source: Source) -> dict[str, Stored]:
    """Return the variables of a .mat file by name, not yet read."""
    with reading(source.path, REMEDY):
        check_room(source.path, "the file", source.size())
        with source.open() as file:
            content = file.read()
        if content.startswith(b"MATLAB 7.3") or any(content.startswith(HDF5_SIGNATURE, at) for at in HDF5_OFFSETS):
            raise DataError(f"{source.path}: this is a .mat file of version 7.3; save it in MATLAB with -v7.")
        if 0 in content[:4]:  # a number, where later versions have text
            return list_mat4(source.path, content)
        order = ORDERS.get(content[126:HEADER])
        if order is None:
            raise ValueError("it does not begin like a MATLAB file")
        found = dict(_variables(source.path, memoryview(content)[HEADER:], order))
    return {name: array for name, array in found.items() if name and not name.startswith("__")}


def _variables(path: Path, content: memoryview, order: Order) -> Iterator[tuple[str, Stored]]:
    """Yield the variables with their names."""
    elements = Elements(content, order)
    while elements.at < len(content):
        element = elements.take()
        get = partial(_given, element.data)
        begin = element.data
        if element.kind == COMPRESSED:
            begin = memoryview(zlib.decompressobj().decompress(element.data, LONGEST_HEAD))
            inner, length = struct.unpack_from(f"{order}II", begin)
            if inner != MATRIX:
                raise ValueError("a compressed element holds no variable")
            get = partial(_inflate, element.data, length)
            begin = begin[8:]
        elif element.kind != MATRIX:
            continue
        else:
            length = len(begin)
        head = _head(Elements(begin, order))
        if head is not None:
            yield head.name, _stored(path, head, get, length, order)


def _given(data: memoryview) -> memoryview:
    return data


def _inflate(data: memoryview, length: int) -> memoryview:
    """Return the content of a compressed element that says how long it is, and not a byte more."""
    content = bytearray(8 + length)
    stream, at, rest = zlib.decompressobj(), 0, bytes(data)
    while at < len(content):
        part = stream.decompress(rest, min(CHUNK, len(content) - at))
        rest = stream.unconsumed_tail
        if not part:
            raise ValueError("a compressed element is shorter than it says")
        content[at : at + len(part)] = part
        at += len(part)
    if stream.decompress(rest, 1) or not stream.eof:  # compares the check sum, too
        raise ValueError("a compressed element is longer than it says")
    return memoryview(content)[8:]


def _head(elements: Elements) -> Head | None:
    """Return what a variable says before its values; None for objects that have no dimensions."""
    flags = elements.numbers()
    if flags.dtype.itemsize != 4 or len(flags) != 2:
        raise ValueError("a variable has no flags")
    kind = int(flags[0]) & 0xFF
    if kind == OPAQUE:
        return None
    shape = tuple(elements.numbers().tolist())
    if not 2 <= len(shape) <= MOST_AXES or any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"a variable has the dimensions {shape}")
    is_logical, is_complex = bool(flags[0] & IS_LOGICAL), bool(flags[0] & IS_COMPLEX)
    return Head(kind, is_logical, is_complex, shape, bytes(elements.take().data).decode("latin-1"))


def _stored(path: Path, head: Head, get: Callable[[], memoryview], length: int, order: Order) -> Stored:
    """Return a variable that can be read."""
    read = partial(_read, path, head, get, length, order)
    if head.kind == CHAR:
        return Stored(head.shape[:1], np.dtype("U1"), read)
    if head.kind == CELL:
        return Stored(head.shape, np.dtype(object), read)
    dtype = np.dtype(CLASSES.get(head.kind, "f8" if head.kind == SPARSE else "V8"))
    if head.is_complex and dtype.kind != "V":
        dtype = np.dtype("c16")
    return Stored(head.shape, dtype, read, is_sparse=head.kind == SPARSE)


def _read(path: Path, head: Head, get: Callable[[], memoryview], length: int, order: Order) -> Matrix:
    """Return a variable."""
    with reading(path, REMEDY):
        # Beside its bytes: numbers become floating point, by rows, and are compared; text and cells are objects.
        each = {CELL: OBJECT, CHAR: 8}.get(head.kind, 10)
        check_room(path, f"the variable {head.name!r}", length + each * min(math.prod(head.shape), length))
        elements = Elements(get(), order)
        _head(elements)
        array = _values(head, elements, 0)
        if array is None:
            raise DataError(
                f"{path}: the variable {head.name!r} is neither numbers nor text; save plain matrices with -v7."
            )
        return _kernels_first(to_csr(array, path))


def _values(head: Head, elements: Elements, depth: int) -> Matrix | None:
    """Return the values of a variable; None for structures, objects and functions."""
    if head.kind in CLASSES:
        return _numbers(head, elements)
    if head.kind == SPARSE:
        return _sparse(head, elements)
    if head.kind == CHAR:
        return _text(head, elements)
    if head.kind == CELL:
        return _cells(head, elements, depth)
    return None


def _numbers(head: Head, elements: Elements) -> Host:
    """Return an array; MATLAB stores it by columns, and in a shorter type where its values allow."""
    n = math.prod(head.shape)
    parts = [elements.numbers() for _ in range(1 + head.is_complex)]
    if any(len(part) != n for part in parts):
        raise ValueError(f"{head.name!r} has another number of values than its dimensions say")
    values = _native(parts[0]) if not head.is_complex else parts[0] + 1j * parts[1]
    return values.reshape(head.shape, order="F")


def _native(values: Host) -> Host:
    """Return numbers of a file as an array of its own."""
    return values.astype(values.dtype.newbyteorder("="))


def _sparse(head: Head, elements: Elements) -> sparse.csc_array:
    """Return a sparse matrix."""
    if len(head.shape) != 2:
        raise ValueError(f"{head.name!r} is sparse and has {len(head.shape)} axes")
    rows, starts = _native(elements.numbers()), _native(elements.numbers())
    check_indices(rows, starts)
    parts = [elements.numbers(len(rows) if head.is_logical else None) for _ in range(1 + head.is_complex)]
    values = _native(parts[0]) if not head.is_complex else parts[0] + 1j * parts[1]
    if len(starts) != head.shape[1] + 1 or not 0 <= starts[-1] <= len(rows):
        raise ValueError(f"{head.name!r} has another number of columns than it says")
    n = int(starts[-1])
    return sparse.csc_array((values[:n], rows[:n], starts), shape=head.shape)


def _text(head: Head, elements: Elements) -> Host:
    """Return the rows of an array of characters as text."""
    if not math.prod(head.shape):
        return np.array([], dtype="U1")
    element = elements.take()
    if element.kind not in TEXT or len(head.shape) != 2:
        raise ValueError(f"{head.name!r} is no text")
    codec = TEXT[element.kind]
    if codec in ("utf-16", "utf-32"):
        codec += "-le" if elements.order == "<" else "-be"
    text = bytes(element.data).decode(codec, errors="replace")
    n = head.shape[0]
    return np.array([text] if n == 1 else [text[row::n] for row in range(min(n, len(text)))])


def _cells(head: Head, elements: Elements, depth: int) -> Host:
    """Return an array of arrays, None where a cell holds a structure or an object."""
    n = math.prod(head.shape)
    if depth >= DEEPEST or 8 * n > len(elements.data) - elements.at:
        raise ValueError(f"{head.name!r} has more cells than the file")
    cells = np.empty(n, dtype=object)
    for i in range(n):
        element = elements.take()
        if element.kind != MATRIX:
            raise ValueError("a cell holds no array")
        inner = Elements(element.data, elements.order)
        found = _head(inner) if len(element.data) else Head(6, False, False, (0, 0), "")
        if found is not None:
            cells[i] = _values(found, inner, depth + 1) if len(element.data) else np.empty((0, 0))
    return cells.reshape(head.shape, order="F")


def _kernels_first(array: Matrix) -> Matrix:
    """Return a stack of kernels as (m, n, n); MATLAB keeps them as (n, n, m)."""
    if array.ndim == 3 and array.shape[0] == array.shape[1] != array.shape[2]:
        return np.moveaxis(array, 2, 0)
    return array
