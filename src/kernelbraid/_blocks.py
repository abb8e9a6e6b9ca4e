"""Blocks of rows, brought together as one matrix: in memory, or in temporary files where that is short."""

import errno
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from scipy import sparse

from kernelbraid._machine import available_bytes
from kernelbraid._typing import Host

#: The part of the free memory that blocks may fill; more of them go to files. Bytes of a part of a file.
SHARE, PART = 4, 2**25


class Pile:
    """Arrays that become one along their first axis."""

    def __init__(self, first: Host) -> None:
        self.kept: list[Host] = []
        self.like = first[:0]
        self.file: IO[bytes] | None = None

    def write(self, files: ExitStack) -> None:
        """Let all that is in memory go to a file, and what is in one to another if its numbers are shorter."""
        kind = np.result_type(self.like, *self.kept)
        if self.file is not None and kind != self.like.dtype:
            whole = self.joined()
            self.kept[:0], self.file = np.array_split(whole, 1 + whole.nbytes // PART), None
        self.file = self.file or files.enter_context(tempfile.TemporaryFile(prefix="kernelbraid-"))  # noqa: SIM115 (it is)
        self.like = self.like.astype(kind)
        while self.kept:
            self.file.write(np.ascontiguousarray(self.kept.pop(0), dtype=kind).data)
        self.file.flush()

    def joined(self) -> Host:
        """Return them as one; each is let go as soon as it is copied."""
        if self.file is not None:
            return np.memmap(self.file, self.like.dtype, "r+").reshape(-1, *self.like.shape[1:])
        if len(self.kept) == 1:
            return self.kept[0]
        end = sum(map(len, self.kept))
        whole = np.empty((end, *self.like.shape[1:]), np.result_type(*self.kept))
        while self.kept:
            values = self.kept.pop()
            whole[end - len(values) : end] = values
            end -= len(values)
        return whole


def together(blocks: Iterable[Any], name: str) -> Any:
    """Return blocks of rows as one matrix: in files without names, if they would fill a quarter of the free memory.

    Parameters
    ----------
    blocks : iterable of ndarray or scipy.sparse.csr_array
        Of one width and kind.
    name : str
        What they are called in messages.
    """
    free, n_bytes, n_rows, width = available_bytes(), 0, 0, 0
    piles: list[Pile] = []  # of rows; of sparse ones, of the numbers and of their columns
    counts = [np.zeros(1, np.int64)]  # of the numbers in each row
    with ExitStack() as files:
        for block in blocks:
            given: Sequence[Host] = (block,)
            width = block.shape[1]
            if sparse.issparse(block):
                given = (block.data, block.indices)
                counts.append(np.diff(block.indptr))
            piles = piles or [Pile(values) for values in given]
            for pile, values in zip(piles, given, strict=True):
                pile.kept.append(values)
                n_bytes += values.nbytes
            if free is not None and n_bytes > free / SHARE:
                _write(piles, files, f"the disk is full after {n_rows} samples of {name} were brought together in")
            n_rows += block.shape[0]
        arrays = [pile.joined() for pile in piles]
    if not arrays:
        raise ValueError(f"{name} holds no blocks; give at least one block of samples.")
    if len(arrays) == 1:
        return arrays[0]
    ends = np.concatenate(counts).cumsum()
    if ends[-1] <= np.iinfo(np.int32).max:
        ends = ends.astype(arrays[1].dtype)  # of another type, they would be copied
    return sparse.csr_array((*arrays, ends), shape=(n_rows, width))


def _write(piles: list[Pile], files: ExitStack, told: str) -> None:
    """Let piles go to their files, or say that the disk is full."""
    try:
        for pile in piles:
            pile.write(files)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        folder = tempfile.gettempdir()
        raise OSError(error.errno, f"{told} {folder}; let TMPDIR name a folder with more room") from None
