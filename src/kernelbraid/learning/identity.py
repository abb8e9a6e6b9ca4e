"""Which samples are copies of each other."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array


def identities(digests: Sequence[bytes]) -> np.ndarray:
    """Number the distinct samples by their digests: equal numbers for equal ones, in order of appearance."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(digest, len(numbers)) for digest in digests])


def row_digests(arrays: Sequence[Array]) -> list[bytes]:
    """Return a digest of each sample, the same for rows that agree in every array."""
    digests = [blake2b(digest_size=16) for _ in range(arrays[0].shape[0])]  # rows themselves would copy all arrays
    for array in arrays:
        for digest, key in zip(digests, _row_keys(array), strict=True):
            digest.update(key)
    return [digest.digest() for digest in digests]


def _row_keys(A: Array) -> Iterable[bytes]:
    """Return a key for each row; keys of one array have one length, or tell theirs."""
    if not sparse.issparse(A):
        return ((row + 0.0).tobytes() for row in to_numpy(A))  # + 0.0 turns -0.0 into 0.0
    A = sparse.csr_array(A, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    cuts = A.indptr[1:-1]
    parts = zip(np.split(A.indices, cuts), np.split(A.data, cuts), strict=True)
    return (
        len(columns).to_bytes(8) + columns.astype(np.int64).tobytes() + values.tobytes() for columns, values in parts
    )
