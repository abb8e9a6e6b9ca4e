"""The only file that knows about array backends."""

import contextlib
import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj, is_numpy_array
from array_api_compat import device as array_device
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernelbraid._typing import Array, DType, Host, Namespace

# Numbers that are mixed at a time.
MIXED = 2**18
#: One number for each sample.
Digests = NDArray[np.uint64]
# Steps of splitmix64, a one-to-one map of numbers that spreads every bit over all others, and takes zero to zero.
SHIFTS, FACTORS, LAST_SHIFT = (30, 27), (0xBF58476D1CE4E5B9, 0x94D049BB133111EB), 31
# What our own code raises when linear algebra cannot finish.
LinAlgError = np.linalg.LinAlgError
# Parts of a row, at least, of which the largest entries are compared.
PARTS = 128
# Numbers in a block of rows: small beside a matrix, large enough for fast passes.
BLOCK_SIZE = 500_000
# Distances of counts and decimals often tie: those that differ by less than these shares of the largest are equal.
DOUBLE_TIE, SINGLE_TIE = 2.0**-34, 2.0**-18


def namespace(*arrays: Array) -> Namespace:
    """Return the array namespace that all arguments share; scipy.sparse belongs to NumPy's."""
    return array_namespace(*(np.empty(0) if sparse.issparse(array) else array for array in arrays))


def linalg_errors() -> tuple[type[Exception], ...]:
    """Return what linear algebra raises when it cannot finish, for the backends that are loaded."""
    torch = sys.modules.get("torch")
    return (LinAlgError,) if torch is None else (LinAlgError, torch.linalg.LinAlgError)


def device(array: Array) -> Any:
    """Return the device that holds an array; None for scipy.sparse, which lives with NumPy."""
    return None if sparse.issparse(array) else array_device(array)


def asarray_like(values: ArrayLike, like: Array) -> Array:
    """Return `values` as an array with the namespace, dtype and device of `like`."""
    xp = namespace(like)
    return xp.asarray(values, dtype=like.dtype, device=device(like))


def beside(values: ArrayLike, other: Array) -> Array:
    """Return `values` in the library and on the device of another array, in their own type."""
    return namespace(other).asarray(values, device=device(other)) if is_foreign(other) else values


def is_foreign(array: object) -> bool:
    """Tell whether something is an array of a library other than NumPy."""
    return bool(is_array_api_obj(array)) and not is_numpy_array(array)


def detach(array: Array) -> Array:
    """Return an array without the record of its derivatives, where its library keeps one."""
    return array.detach() if hasattr(array, "detach") else array


def to_device(array: Array, name: str) -> Array:
    """Copy an array to a device by its PyTorch name, such as ``"cuda"`` or ``"cpu"``."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ValueError(f"device={name!r} needs PyTorch; install torch, or leave device=None.") from None
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError, NotImplementedError):  # what PyTorch raises for a device that is not there
        raise ValueError(f"device={name!r} is not available to PyTorch here; leave device=None.") from None
    if not isinstance(array, torch.Tensor):
        # PyTorch warns of arrays that it cannot write to, such as views of a diagonal: those are copied.
        array = np.require(to_numpy(array), requirements="W")
    try:
        return torch.as_tensor(array, device=name)
    except torch.OutOfMemoryError:
        raise MemoryError(f"device={name!r} has no room for an array of shape {tuple(array.shape)}.") from None


def free_bytes(array: Array) -> int | None:
    """Return the free memory of the accelerator that holds an array; None for the CPU or where it is unknown."""
    if not str(device(array)).startswith("cuda"):
        return None
    cuda, place = sys.modules["torch"].cuda, device(array)
    cached = cuda.memory_reserved(place) - cuda.memory_allocated(place)  # freed, but kept by PyTorch for later
    return int(cuda.mem_get_info(place)[0] + cached)


def itemsize(dtype: DType) -> int:
    """Return the bytes of a number of a floating-point type, of any backend."""
    return 4 if "float32" in str(dtype) else 8


def is_on_host(array: Array) -> bool:
    """Tell whether an array lives in the memory of the CPU."""
    return not str(device(array)).startswith(("cuda", "xpu", "mps"))


def identity_like(A: Array) -> Array:
    """Return the identity matrix with the order, dtype and device of the square matrix `A`."""
    return namespace(A).eye(A.shape[-1], dtype=A.dtype, device=device(A))


def to_numpy(array: Array) -> Host:
    """Copy an array of any backend to NumPy (no copy if it is there already)."""
    if is_numpy_array(array):
        return np.asarray(array)
    # DLPack knows no boolean in some backends and no device transfer in others; both have `tolist` or `cpu`.
    return np.asarray(array.cpu() if hasattr(array, "cpu") else np.from_dlpack(array))


def as_sparse(A: Array) -> Array:
    """Return a NumPy matrix of few entries as a csr array; those of other libraries stay as they are."""
    return sparse.csr_array(A) if is_numpy_array(A) else A


def as_dense(A: Array) -> Array:
    """Return a matrix, sparse or not, as an array."""
    return A.toarray() if sparse.issparse(A) else A


def as_rows(A: Array, columns: slice) -> Array:
    """Return some columns of a matrix as the rows of a new array, whose entries lie side by side."""
    if is_numpy_array(A):
        return np.array(A[:, columns].T, order="C")
    return namespace(A).asarray(A[:, columns].T, copy=True)


def rows_of(A: Array, rows: NDArray[np.int64] | slice) -> Array:
    """Return some rows of an array or a sparse matrix, wherever it lives."""
    if not is_foreign(A):
        return A[rows]
    if isinstance(rows, slice):
        return A[slice(*rows.indices(A.shape[0])), ...]
    return namespace(A).take(A, beside(rows, A), axis=0)


def largest_of_rows(A: Array, k: int) -> tuple[Array, Array]:
    """Return where the k largest entries of every row are, in no order, and these: (n, k) each."""
    if is_numpy_array(A):
        places = np.argpartition(A, A.shape[1] - k, axis=1)[:, A.shape[1] - k :]
        return places, np.take_along_axis(A, places, axis=1)
    xp = namespace(A)
    if hasattr(xp, "topk"):  # PyTorch's; a GPU sorts far more slowly
        found = xp.topk(A, k, dim=1)
        return found.indices, found.values
    places = xp.argsort(A, axis=1, descending=True)[:, :k]
    return places, xp.take_along_axis(A, places, axis=1)


def with_entries(A: Array, rows: NDArray[np.int64], columns: NDArray[np.int64], values: ArrayLike) -> Array:
    """Return A with some entries exchanged, in place where the backend can."""
    if hasattr(A, "index_put_"):  # PyTorch's
        return A.index_put_((beside(rows, A), beside(columns, A)), asarray_like(values, A))
    changed = A if is_numpy_array(A) else to_numpy(A).copy()
    changed[rows, columns] = values
    return changed if is_numpy_array(A) else asarray_like(changed, A)


def densified(A: Array, like: Array) -> Array:
    """Return a csr array as a dense one in the library, the type and on the device of another: entries travel alone."""
    entries, zeros = A.tocoo(), namespace(like).zeros(A.shape, dtype=like.dtype, device=device(like))
    return with_entries(zeros, entries.row.astype(np.int64), entries.col.astype(np.int64), entries.data)


def nearest_of_rows(A: Array, k: int) -> NDArray[np.int64]:
    """Return where the k smallest entries of every row are, in no order."""
    if is_numpy_array(A):
        return np.argpartition(A, k - 1, axis=1)[:, :k]
    return to_numpy(largest_of_rows(-A, k)[0])


def kth_of_rows(A: Array, place: int) -> Array:
    """Return the entry of every row that is at a place in ascending order: the smallest at 0, the largest at -1."""
    if is_numpy_array(A):
        return np.partition(A, place, axis=1)[:, place]
    xp = namespace(A)
    if place < 0 and hasattr(xp, "topk"):  # PyTorch's; a GPU sorts far more slowly
        return xp.topk(A, -place, dim=1).values[:, -1]
    return xp.sort(A, axis=1)[:, place]


def peaks_of_rows(A: Array, k: int) -> Array:
    """Return the largest entries of parts of every row, several times as many as k; all where there are not more."""
    parts = max(PARTS, 4 * k)
    if not is_numpy_array(A) or A.shape[1] < 2 * parts:
        return A
    return A[:, : A.shape[1] // parts * parts].reshape(A.shape[0], -1, parts).max(axis=1)


def tie_share(distances: Array) -> float:
    """Return the share of the largest distance by which two must differ to be told from a tie and its rounding."""
    is_double = float(namespace(distances).finfo(distances.dtype).eps) < DOUBLE_TIE
    return DOUBLE_TIE if is_double else SINGLE_TIE


def take_rows(rows: NDArray[np.int64], *arrays: Array) -> list[Array]:
    """Return the chosen rows of some arrays of equal height; None stays None, and so does an array of them all."""
    count = next((A.shape[0] for A in arrays if A is not None), 0)
    if np.array_equal(rows, np.arange(count)):
        return list(arrays)
    return [A if A is None else rows_of(A, rows) for A in arrays]


def replace_rows(A: Array, rows: NDArray[np.int64], values: Array) -> Array:
    """Return A with some rows exchanged."""
    if rows.shape[0] == 0:
        return A
    if is_numpy_array(A):
        changed = A.copy()
        changed[rows] = values
        return changed
    xp = namespace(A)
    source = np.arange(A.shape[0])
    source[rows] = A.shape[0] + np.arange(rows.shape[0])
    return xp.take(xp.concat([A, values]), beside(source, A), axis=0)


def clip_negative(A: Array) -> Array:
    """Set negative elements to zero, in place where the backend can."""
    if is_numpy_array(A):
        return np.maximum(A, 0, out=A)
    return namespace(A).maximum(A, asarray_like(0.0, A))


def in_place(function: str, A: Array, *others: Array) -> Array:
    """Return a function of the array API, such as exp or multiply, in place of its first argument where one can.

    Blocks of kernels are passed over many times; fresh memory for each pass would cost more than the arithmetic.
    """
    if is_numpy_array(A):
        return getattr(np, function)(A, *others, out=A)
    return getattr(namespace(A), function)(A, *others)


def add_to_diagonal(A: Array, value: float | Array) -> Array:
    """Add a number, or one for each, to the diagonal elements, in place where the backend can."""
    if is_numpy_array(A) and A.ndim == 2:
        diagonal = np.einsum("ii->i", A)  # a view
        diagonal += value
        return A
    return A + value * identity_like(A)


def is_finite(array: Array) -> bool:
    """Tell whether every element is finite, of those that a sparse one stores."""
    values = array.data if sparse.issparse(array) else array
    xp = namespace(values)
    with quiet_overflow():  # a finite sum proves it without an array of flags
        return bool(xp.isfinite(xp.sum(values))) or bool(xp.all(xp.isfinite(values)))


def measured_rows(X: Array) -> NDArray[np.bool_]:
    """Tell which samples a view has: rows of NaN are those that it lacks."""
    if not sparse.issparse(X):
        return np.asarray(~np.isnan(to_numpy(X[:, 0])))
    has = np.ones(X.shape[0], dtype=bool)
    if np.isnan(X.data).any():  # a dense view becomes sparse where it stands beside a sparse one
        places = X.tocoo()
        has[places.row[np.isnan(places.data)]] = False
    return has


def row_digests(arrays: Sequence[Array], *, by_place: bool = True) -> Digests:
    """Return a digest of each sample, (n,), the same for rows that agree in every array, sparse or not.

    It is the sum of the mixed bits of the entries times random odd numbers: two samples that differ have the same one
    by a chance of 2^-63 or so. With `by_place=False` the factors are one, and the order of the columns does not count.
    """
    total = np.zeros(arrays[0].shape[0], dtype=np.uint64)
    # In single precision only if all are: kernels of a list may differ in it, those of the stack they become do not.
    kind = np.float32 if all(itemsize(array.dtype) == 4 for array in arrays) else np.float64
    for number, array in enumerate(arrays):
        odd = np.random.default_rng(number).integers(2**63, size=array.shape[1], dtype=np.uint64) * np.uint64(2)
        total += _sums(array, odd + np.uint64(1) if by_place else np.ones_like(odd), kind)
    return total


def _sums(A: Array, factors: Digests, kind: type) -> Digests:
    """Return the sums of the mixed bits of each row times factors; a zero adds nothing."""
    if not sparse.issparse(A):
        size = max(1, MIXED // max(A.shape[1], 1))
        blocks = (to_numpy(A[first : min(first + size, A.shape[0]), :]) for first in range(0, A.shape[0], size))
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


def frobenius_norm(A: Array) -> float:
    """Return the Frobenius norm as a Python float."""
    return float(namespace(A).linalg.matrix_norm(A))


def row_blocks(n: int, share: float = 1.0) -> Iterator[slice]:
    """Yield slices of rows of an n x n matrix, so that a pass over it needs little memory of its own."""
    size = max(1, int(share * BLOCK_SIZE) // n)
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def distance(A: Array, B: Array) -> float:
    """Return the Frobenius norm of A - B without forming the difference."""
    if A.ndim != 2:
        raise ValueError("distance compares two matrices")
    return math.sqrt(math.fsum(frobenius_norm(A[rows, :] - B[rows, :]) ** 2 for rows in row_blocks(A.shape[0])))


def squared_lengths(X: Array) -> Array:
    """Return the squared lengths of the rows of a dense or sparse matrix."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).sum(X * X, axis=1)


def in_double(X: Array) -> Array:
    """Return a dense or sparse matrix in double precision, itself if it has that."""
    if sparse.issparse(X):
        return X.astype(np.float64, copy=False)
    return namespace(X).astype(X, namespace(X).float64, copy=False)


def row_products(X: Array) -> Array:
    """Return X X' as a dense, exactly symmetric matrix for dense or scipy.sparse `X`."""
    if is_numpy_array(X):  # which forms one triangle of the product of a matrix with its own transpose, and copies it
        X = np.ascontiguousarray(X)
        return X @ X.T
    if not sparse.issparse(X):
        return symmetric_part(X @ X.T)
    n = X.shape[0]
    G = np.empty((n, n), dtype=X.dtype)
    transposed = X.T.tocsr()
    for rows in row_blocks(n):
        G[rows, :] = (X[rows, :] @ transposed).toarray()
    return symmetric_part(G)


def symmetric_part(A: Array) -> Array:
    """Return (A + A') / 2, exactly symmetric; halved first, so that it cannot overflow. `A` may be destroyed."""
    if not is_numpy_array(A):
        return A / 2 + A.T / 2
    A *= 0.5
    for rows in row_blocks(A.shape[0]):  # each pair of mirrored blocks once, from the first row on
        columns = slice(rows.start, None)
        block = A[rows, columns] + A[columns, rows].T
        A[rows, columns] = block
        A[columns, rows] = block.T
    return A


def power_of_two(size: float, *, single: bool = False) -> float:
    """Return a power of two by which numbers up to `size` can be divided without loss, 1 unless they are extreme.

    Squares and sums of numbers divided by it neither overflow nor underflow, in single precision if asked.
    """
    limit = 1e12 if single else 1e70
    if size == 0.0 or 1 / limit < size < limit:
        return 1.0
    return 2.0 ** min(math.frexp(size)[1], 1023)


@contextlib.contextmanager
def quiet_overflow() -> Iterator[None]:
    """Silence NumPy's floating-point warnings where the caller checks for non-finite values itself."""
    with np.errstate(all="ignore"):
        yield


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")
