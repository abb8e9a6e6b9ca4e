"""Which samples are copies of each other."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from kernelbraid._arrays import itemsize, to_numpy
from kernelbraid._typing import Array, Host


def identities(digests: Sequence[bytes]) -> np.ndarray:
    """Number the distinct samples by their digests: equal numbers for equal ones, in order of appearance."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(digest, len(numbers)) for digest in digests])


def row_digests(arrays: Sequence[Array]) -> list[bytes]:
    """Return a digest of each sample, the same for rows that agree in every array, sparse or not."""
    digests = [blake2b(digest_size=16) for _ in range(arrays[0].shape[0])]  # rows themselves would copy all arrays
    # In single precision only if all are: kernels of a list may differ in it, those of the stack they become do not.
    kind = np.float32 if all(itemsize(array.dtype) == 4 for array in arrays) else np.float64
    for array in arrays:
        for digest, (columns, values) in zip(digests, _entries(array, kind), strict=True):
            digest.update(len(columns).to_bytes(8))
            digest.update(columns.astype(np.int64).tobytes())
            digest.update(values.tobytes())
    return [digest.digest() for digest in digests]


def _entries(A: Array, kind: DTypeLike) -> Iterator[tuple[Host, Host]]:
    """Yield the places and values of what is not zero in each row."""
    if not sparse.issparse(A):
        for row in to_numpy(A):
            columns = np.flatnonzero(row)
            yield columns, np.asarray(row[columns], dtype=kind)
        return
    A = sparse.csr_array(A, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    data = A.data.astype(kind, copy=False)
    for start, end in zip(A.indptr[:-1], A.indptr[1:], strict=True):
        yield A.indices[start:end], data[start:end]
