"""Kernels as views: the squared distances of samples of length one."""

from collections.abc import Iterator, Sequence

import numpy as np

from kernelbraid._arrays import namespace
from kernelbraid._typing import Array
from kernelbraid.kernels import KernelStack
from kernelbraid.ops.cosines import cosine_kernel
from kernelbraid.ops.neighbourhoods import kernel_distances


def centred_rows(X: Array) -> Array:
    """Return samples about the mean of their own features, (n, d)."""
    return X - namespace(X).mean(X, axis=1, keepdims=True)


def view_distances(kernels: KernelStack, scales: Sequence[float], *, centred: bool) -> Iterator[Array]:
    """Yield the squared distances under one kernel after the other, rounded so that ties are exact.

    Parameters
    ----------
    kernels : KernelStack
        One kernel for each view; a sample without length stays in the origin.
    scales : sequence of float
        Squared lengths of the samples of each.
    centred : bool
        Whether samples are taken about their mean in feature space first.
    """
    for i, (row, scale) in enumerate(zip(np.eye(kernels.n_kernels), scales, strict=True)):
        name = f"kernel {i} of X"
        yield kernel_distances(scale * cosine_kernel(kernels.combine(row), name, centred=centred, ridge=0.0))
