"""Which samples are copies of each other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import itemsize, to_numpy
from kernelbraid._typing import Array

# Numbers that are mixed at a time.
BLOCK = 2**18
#: One number for each sample.
Digests = NDArray[np.uint64]
# Steps of splitmix64, a one-to-one map of numbers that spreads every bit over all others, and takes zero to zero.
SHIFTS, FACTORS, LAST_SHIFT = (30, 27), (0xBF58476D1CE4E5B9, 0x94D049BB133111EB), 31


def identities(digests: Digests) -> NDArray[np.int64]:
    """Number the distinct samples by their digests: equal numbers for equal ones, in order of appearance."""
    _, first, numbers = np.unique(digests, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[numbers]


def row_digests(arrays: Sequence[Array]) -> Digests:
    """Return a digest of each sample, (n,), the same for rows that agree in every array, sparse or not.

    It is the sum of the mixed bits of the entries times random odd numbers: two samples that differ have the same one
    by a chance of 2^-63 or so.
    """
    total = np.zeros(arrays[0].shape[0], dtype=np.uint64)
    # In single precision only if all are: kernels of a list may differ in it, those of the stack they become do not.
    kind = np.float32 if all(itemsize(array.dtype) == 4 for array in arrays) else np.float64
    for number, array in enumerate(arrays):
        odd = np.random.default_rng(number).integers(2**63, size=array.shape[1], dtype=np.uint64) * np.uint64(2)
        total += _sums(array, odd + np.uint64(1), kind)
    return total


def _sums(A: Array, factors: Digests, kind: type) -> Digests:
    """Return the sums of the mixed bits of each row times factors; a zero adds nothing."""
    if not sparse.issparse(A):
        size = max(1, BLOCK // max(A.shape[1], 1))
        blocks = (to_numpy(A[first : first + size, :]) for first in range(0, A.shape[0], size))
        return np.concatenate([_mixed(block, kind) @ factors for block in blocks])
    A = sparse.csr_array(A)
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    products = np.append(_mixed(A.data, kind) * factors[A.indices], np.uint64(0))
    return np.where(np.diff(A.indptr) > 0, np.add.reduceat(products, A.indptr[:-1]), np.uint64(0))


def _mixed(values: Array, kind: type) -> Digests:
    """Return the bits of floating-point numbers, mixed; those of -0.0 are those of 0.0, which are zero."""
    word = np.uint32 if kind is np.float32 else np.uint64
    bits = np.ascontiguousarray(np.add(values, 0.0, dtype=kind)).view(word).astype(np.uint64)
    for shift, factor in zip(SHIFTS, FACTORS, strict=True):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(LAST_SHIFT)
    return bits
