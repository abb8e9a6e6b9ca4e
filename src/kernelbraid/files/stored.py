"""Arrays that lie in a file: what the file says about them, before any of them is decoded."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.files.memory import check_room

#: What a file holds under a name: an array of NumPy, or a sparse matrix by rows.
Matrix: TypeAlias = Host | sparse.csr_array


@dataclass(frozen=True, eq=False)
class Stored:
    """An array in a file: its shape and type, and how to read it."""

    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[], Matrix]
    is_sparse: bool = False

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


def is_sample_array(array: Stored) -> bool:
    """Return whether an array can be samples by features or a stack of kernels."""
    return array.dtype.kind in "biuf" and array.ndim in (2, 3) and min(array.shape) > 1


def is_label_array(array: Stored) -> bool:
    """Return whether an array can be one label per sample."""
    is_vector = array.ndim in (1, 2) and array.size == max(array.shape, default=0)
    return is_vector and not array.is_sparse and array.dtype.kind != "V"


def check_indices(*parts: Host) -> None:
    """Refuse places of entries of a sparse matrix that are no whole numbers, which SciPy would round."""
    if any(part.dtype.kind not in "iu" for part in parts):
        raise ValueError("the places of the entries of a sparse matrix are no whole numbers")


def to_csr(array: Matrix, path: Path | None = None) -> Matrix:
    """Return a sparse matrix by rows with its indices checked, and anything else as it is."""
    if not sparse.issparse(array):
        return array
    if hasattr(array, "check_format"):
        # An index out of bounds would crash the interpreter later on, and SciPy does not look at a matrix of zeros.
        array.check_format(full_check=True)
        if (np.diff(getattr(array, "indptr", ())) < 0).any():
            raise ValueError("the places of the rows or columns of a sparse matrix do not grow")
    if path is not None:  # a few entries may claim to be in very many rows
        check_room(path, "the sparse matrix", 8 * array.shape[0])
    array = sparse.csr_array(array)
    array.sum_duplicates()
    return array
