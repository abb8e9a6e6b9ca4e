"""The only file that knows about array backends."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from array_api_compat import device as array_device
from scipy import sparse

from kernelbraid._typing import Array, Namespace

# What a linear-algebra routine raises when it cannot finish.
LinAlgError = np.linalg.LinAlgError


def namespace(*arrays: Array) -> Namespace:
    """Return the array namespace that all arguments share; scipy.sparse belongs to NumPy's."""
    return array_namespace(*(np.empty(0) if sparse.issparse(array) else array for array in arrays))


def device(array: Array) -> Any:
    """Return the device that holds an array; None for scipy.sparse, which lives with NumPy."""
    return None if sparse.issparse(array) else array_device(array)


def asarray_like(values: Any, like: Array) -> Array:
    """Return `values` as an array with the namespace, dtype and device of `like`."""
    xp = namespace(like)
    return xp.asarray(values, dtype=like.dtype, device=device(like))


def is_on_host(array: Array) -> bool:
    """Tell whether an array lives in the memory of the CPU."""
    return not str(device(array)).startswith(("cuda", "xpu", "mps"))


def identity_like(A: Array) -> Array:
    """Return the identity matrix with the order, dtype and device of the square matrix `A`."""
    return namespace(A).eye(A.shape[-1], dtype=A.dtype, device=device(A))


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """Copy an array of any backend to NumPy (no copy if it is there already)."""
    if is_numpy_array(array):
        return np.asarray(array)
    # DLPack knows no boolean in some backends and no device transfer in others; both have `tolist` or `cpu`.
    return np.asarray(array.cpu() if hasattr(array, "cpu") else np.from_dlpack(array))


def is_finite(array: Array) -> bool:
    """Tell whether every element is finite."""
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))


def frobenius_norm(A: Array) -> float:
    """Return the Frobenius norm as a Python float."""
    return float(namespace(A).linalg.matrix_norm(A))


def gram(X: Array) -> Array:
    """Return X X' as a dense, exactly symmetric matrix for dense or scipy.sparse `X`."""
    G = (X @ X.T).toarray() if sparse.issparse(X) else X @ X.T
    return (G + G.T) / 2


@contextlib.contextmanager
def quiet_overflow() -> Iterator[None]:
    """Silence NumPy's floating-point warnings where the caller checks for non-finite values itself."""
    with np.errstate(all="ignore"):
        yield
