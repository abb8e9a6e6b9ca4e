"""Which samples are copies of each other."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from kernelbraid._arrays import itemsize, row_blocks, to_numpy
from kernelbraid._typing import Array


def identities(digests: Sequence[bytes]) -> np.ndarray:
    """Number the distinct samples by their digests: equal numbers for equal ones, in order of appearance."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(digest, len(numbers)) for digest in digests])


def row_digests(arrays: Sequence[Array], *, dense: bool = False) -> list[bytes]:
    """Return a digest of each sample, the same for rows that agree in every array.

    Parameters
    ----------
    arrays : sequence of arrays or sparse matrices
        What is known of the samples, in rows.
    dense : bool, default=False
        Whether a sparse matrix has the digests of the same matrix as an array: kernels are read as arrays. For long
        rows with few entries that would take far longer.
    """
    digests = [blake2b(digest_size=16) for _ in range(arrays[0].shape[0])]  # rows themselves would copy all arrays
    # In single precision only if all are: kernels of a list may differ in it, those of the stack they become do not.
    kind = np.float32 if all(itemsize(array.dtype) == 4 for array in arrays) else np.float64
    for array in arrays:
        for digest, key in zip(digests, _dense_keys(array, kind) if dense else _row_keys(array, kind), strict=True):
            digest.update(key)
    return [digest.digest() for digest in digests]


def in_form_of(A: Array, fitted: Array) -> Array:
    """Return samples sparse or not, as others are, so that equal ones have equal digests."""
    if sparse.issparse(A) == sparse.issparse(fitted):
        return A
    return A.toarray() if sparse.issparse(A) else sparse.csr_array(to_numpy(A))


def _dense_keys(A: Array, kind: DTypeLike) -> Iterable[bytes]:
    """Return a key for each row of an array, or of a sparse matrix as an array, block by block."""
    if sparse.issparse(A):
        A = sparse.csr_array(A)
        blocks = (A[rows, :].toarray() for rows in row_blocks(A.shape[0]))
        return (np.add(row, 0.0, dtype=kind).tobytes() for block in blocks for row in block)
    return (np.add(row, 0.0, dtype=kind).tobytes() for row in to_numpy(A))  # + 0.0 turns -0.0 into 0.0


def _row_keys(A: Array, kind: DTypeLike) -> Iterable[bytes]:
    """Return a key for each row; keys of one array have one length, or tell theirs."""
    if not sparse.issparse(A):
        return _dense_keys(A, kind)
    A = sparse.csr_array(A, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    cuts = A.indptr[1:-1]
    parts = zip(np.split(A.indices, cuts), np.split(A.data, cuts), strict=True)
    return (
        len(columns).to_bytes(8) + columns.astype(np.int64).tobytes() + values.tobytes() for columns, values in parts
    )
