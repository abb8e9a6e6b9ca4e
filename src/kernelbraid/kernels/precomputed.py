"""Kernels that the user hands over: checked, made exactly symmetric, stacked."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from kernelbraid._arrays import detach, device, is_finite, is_foreign, namespace
from kernelbraid._typing import Array

SMALL = 1e-30  # largest value of a kernel whose squares and differences single precision loses


def check_kernel(K: Array, name: str, n_samples: int | None = None) -> Array:
    """Return a kernel matrix, exactly symmetric, or say what is wrong with it.

    Parameters
    ----------
    K : array or sparse matrix of shape (n, n)
        Kernel matrix; need not be positive semidefinite.
    name : str
        What to call it in an error message.
    n_samples : int, default=None
        Order that it must have.

    Returns
    -------
    array of shape (n, n)
        Floating-point, (K + K') / 2.
    """
    K = as_matrix(K, name)
    xp = namespace(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} has shape {tuple(K.shape)}; a kernel must be square, (n_samples, n_samples).")
    if n_samples is not None and K.shape[0] != n_samples:
        raise ValueError(f"{name} has shape {tuple(K.shape)}; {n_samples} samples need ({n_samples}, {n_samples}).")
    if K.dtype not in (xp.float32, xp.float64):
        K = xp.astype(K, xp.float64)
    if not is_finite(K):
        raise ValueError(f"{name} contains NaN or infinity; remove or impute the samples behind it.")
    largest = float(xp.max(xp.abs(K))) if K.shape[0] else 0.0
    if largest == 0.0:
        raise ValueError(f"{name} is zero everywhere and carries no information; leave it out.")
    if K.dtype == xp.float32 and largest < SMALL:
        raise ValueError(f"{name} is too small for single precision; rescale it, or give numbers of double precision.")
    asymmetry = float(xp.max(xp.abs(K / 2 - K.T / 2))) * 2
    # The root of the type's precision separates rounding from a kernel that is meant to be asymmetric.
    if asymmetry > float(xp.finfo(K.dtype).eps) ** 0.5 * largest:
        raise ValueError(f"{name} is not symmetric (off by {asymmetry:.2g}); use (K + K') / 2 if that is meant.")
    return K / 2 + K.T / 2


def stack_kernels(kernels: Array | Sequence[Array]) -> Array:
    """Return precomputed kernels as a checked stack.

    Parameters
    ----------
    kernels : array of shape (n_kernels, n, n) or (n, n), or list of (n, n) matrices
        The candidate kernels.

    Returns
    -------
    array of shape (n_kernels, n, n)
        Each kernel exactly symmetric; float32 only if all are.
    """
    matrices = list_kernels(kernels)
    first = check_kernel(matrices[0], "kernel 0 of X")
    xp, n = namespace(first), first.shape[0]
    single = all("float32" in str(getattr(K, "dtype", "")) for K in matrices)
    stack = xp.empty((len(matrices), n, n), dtype=xp.float32 if single else xp.float64, device=device(first))
    for i, K in enumerate(matrices):
        name = f"kernel {i} of X"
        checked = first if i == 0 else check_kernel(K, name, n)
        if namespace(checked) is not xp or device(checked) != device(first):
            raise ValueError(f"{name} is another kind of array than kernel 0, or elsewhere; convert them to one kind.")
        stack[i, ...] = xp.astype(checked, stack.dtype, copy=False)
    return stack


def as_matrix(K: Array, name: str) -> Array:
    """Return what a user calls a kernel as an array of real numbers."""
    K = K.toarray() if sparse.issparse(K) else K
    if not is_foreign(K):
        try:
            K = np.asarray(K, dtype=None if hasattr(K, "dtype") else float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} is no matrix of numbers; give an array (n_samples, n_samples).") from None
        if K.dtype.kind not in "fiub":
            raise ValueError(f"{name} holds {K.dtype} values; a kernel must be real numbers.")
        return K
    if not namespace(K).isdtype(K.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"{name} holds {K.dtype} values; a kernel must be real numbers.")
    return detach(K)


def list_kernels(kernels: Array) -> list[Array]:
    """Return the single matrices of a stack, a list, or one matrix, unchecked."""
    if sparse.issparse(kernels):
        return [kernels]
    if isinstance(kernels, list | tuple) and (not kernels or any(hasattr(K, "shape") for K in kernels)):
        matrices = list(kernels)
    else:
        stack = kernels if hasattr(kernels, "ndim") else np.asarray(kernels, dtype=float)
        if stack.ndim not in (2, 3):
            raise ValueError(
                f"X has shape {tuple(stack.shape)}; precomputed kernels come as (n_kernels, n_samples, n_samples)."
            )
        matrices = [stack] if stack.ndim == 2 else [stack[i, ...] for i in range(stack.shape[0])]
    if not matrices:
        raise ValueError("X holds no kernel; give a stack (n_kernels, n_samples, n_samples) with at least one.")
    return matrices
