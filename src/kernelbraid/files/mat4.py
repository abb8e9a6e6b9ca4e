"""MATLAB files of version 4: a row of matrices, each with a header of five numbers and its name."""

import math
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.files.errors import reading
from kernelbraid.files.memory import check_room
from kernelbraid.files.stored import Matrix, Stored, to_csr

REMEDY = "save it again with -v7"
HEADER = 20  # bytes
# The first number of a header is 1000 M + 10 P + T: order of bytes, type of the numbers, kind of the matrix.
ORDERS: dict[int, Literal["<", ">"]] = {0: "<", 1: ">"}
NUMBERS = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
FULL, TEXT, SPARSE = 0, 1, 2


def list_mat4(path: Path, content: bytes) -> dict[str, Stored]:
    """Return the matrices of a file by name, not yet read."""
    return dict(_matrices(path, memoryview(content)))


def _matrices(path: Path, content: memoryview) -> Iterator[tuple[str, Stored]]:
    """Yield the matrices with their names."""
    at = 0
    while at < len(content):
        if at + HEADER > len(content):
            raise ValueError("it ends within a header")
        order: Literal["<", ">"] = "<" if 0 <= struct.unpack_from("<i", content, at)[0] < 1000 else ">"
        kind, rows, columns, is_complex, length = struct.unpack_from(f"{order}5i", content, at)
        machine, zero, number, matrix = kind // 1000, kind // 100 % 10, kind // 10 % 10, kind % 10
        if ORDERS.get(machine) != order or zero or number not in NUMBERS or matrix not in (FULL, TEXT, SPARSE):
            raise ValueError("it does not begin like a MATLAB file")
        if rows < 0 or columns < 0 or length < 1 or is_complex not in (0, 1):
            raise ValueError("a matrix has no size")
        start = at + HEADER + length
        dtype = np.dtype(NUMBERS[number]).newbyteorder(order)
        shape = (rows, columns)
        n = math.prod(shape) * (1 + (is_complex if matrix != SPARSE else 0))
        at = start + n * dtype.itemsize
        if at > len(content):
            raise ValueError("a matrix is longer than what is left")
        name = bytes(content[start - length : start]).partition(b"\0")[0].decode("latin-1")
        values = np.frombuffer(content[start:at], dtype)
        yield name, _stored(path, name, values, shape, matrix)


def _stored(path: Path, name: str, values: Host, shape: tuple[int, int], matrix: int) -> Stored:
    """Return a matrix that can be read."""
    read = partial(_read, path, name, values, shape, matrix)
    if matrix == TEXT:
        return Stored(shape[:1], np.dtype("U1"), read)
    if matrix == SPARSE:
        # The last row has the dimensions, and there is a column of imaginary parts if there are four.
        if shape[0] < 1 or shape[1] not in (3, 4):
            raise ValueError(f"{name!r} is no sparse matrix")
        size = _whole(values.reshape(shape, order="F")[-1, :2])
        return Stored(size, np.dtype("f8" if shape[1] == 3 else "c16"), read, is_sparse=True)
    is_complex = len(values) > math.prod(shape)
    return Stored(shape, np.dtype("c16") if is_complex else values.dtype.newbyteorder("="), read)


def _read(path: Path, name: str, values: Host, shape: tuple[int, int], matrix: int) -> Matrix:
    """Return a matrix."""
    with reading(path, REMEDY):
        check_room(path, f"the variable {name!r}", values.nbytes + 20 * len(values))
        n = math.prod(shape)
        if matrix == TEXT:
            codes = values[:n].reshape(shape, order="F")
            return np.array(["".join(chr(int(code) & 0xFFFF) for code in row) for row in codes], dtype=str)
        values = values.astype(values.dtype.newbyteorder("="))
        if matrix == SPARSE:
            return to_csr(_sparse(values.reshape(shape, order="F")), path)
        return (values if len(values) == n else values[:n] + 1j * values[n:]).reshape(shape, order="F")


def _sparse(table: Host) -> sparse.coo_array:
    """Return the matrix whose entries are the rows of a table: row, column from 1, value."""
    entries = table[:-1]
    values = entries[:, 2] if table.shape[1] == 3 else entries[:, 2] + 1j * entries[:, 3]
    rows, columns = (entries[:, i].astype(np.int64) - 1 for i in (0, 1))
    return sparse.coo_array((np.array(values), (rows, columns)), shape=_whole(table[-1, :2]))


def _whole(lengths: Host) -> tuple[int, ...]:
    """Return two numbers of a file as lengths."""
    if not all(0 <= length < 2**31 and length == int(length) for length in lengths.tolist()):
        raise ValueError("a sparse matrix has no size")
    return tuple(int(length) for length in lengths.tolist())
