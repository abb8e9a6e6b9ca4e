"""LKG with a fixed kernel and the squared penalty: one linear system gives the graph.

min  1/2 Tr(K - 2KZ + Z'KZ) + alpha/2 ||Z||_F^2   over Z,   negative entries set to zero afterwards
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelbraid._arrays import asarray_like, clip_negative, linalg_errors, namespace, quiet_overflow, row_blocks
from kernelbraid._linalg import ridge_smoother
from kernelbraid._threads import calm
from kernelbraid._typing import Array
from kernelbraid.ops.closed_forms import nonnegative
from kernelbraid.solvers.low_rank.step import ROUNDING
from kernelbraid.solvers.status import Status

# Coefficients below may be the rounding of those of a kernel that is zero.
NOTHING = 1e-12


def ridge_coefficients(K: Array, alpha: float, *, counts: np.ndarray | None = None, overwrite: bool = False) -> Array:
    """Return the minimiser, with negative entries set to zero; in the memory of K if it may be used up.

    Samples that count as m_i of them have the coefficients (K M + alpha I)^-1 K, M the diagonal of m: those of
    M^1/2 K M^1/2 between M^-1/2.
    """
    if counts is None:
        return clip_negative(ridge_smoother(K, alpha, overwrite=overwrite))
    roots = asarray_like(np.sqrt(counts), K)
    scaled = ridge_smoother(roots[:, None] * K * roots[None, :], alpha, overwrite=True)
    return clip_negative(scaled / roots[:, None] / roots[None, :])


@dataclass(frozen=True)
class RidgeGraph:
    """The graph of a kernel."""

    Z: Array  # coefficients, (n, n), not negative; the kernel itself, without what is negative, if they were not sound
    K: Array | None  # the kernel, where it is kept
    status: Status


def solve_ridge(
    average: Callable[[], Array],
    alpha: float,
    *,
    keep_kernel: bool,
    counts: np.ndarray | None = None,
    threads: int | None = None,
) -> RidgeGraph:
    """Learn the graph of a kernel.

    Parameters
    ----------
    average : callable
        Returns the kernel; asked again if the coefficients are not sound.
    alpha : float
        Weight of the penalty.
    keep_kernel : bool
        Whether the kernel must stay as it is; otherwise its memory becomes that of the graph.
    counts : ndarray of shape (n,), default=None
        How often each sample counts; once if None.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the problem if None.
    """
    K = average()
    with quiet_overflow(), calm(threads):
        try:
            Z = ridge_coefficients(K, alpha, counts=counts, overwrite=not keep_kernel)
            wrong = _defect(Z, average)
        except linalg_errors():
            wrong = Status.NON_FINITE
    if wrong is None:
        return RidgeGraph(Z, K if keep_kernel else None, Status.CONVERGED)
    K = average()
    return RidgeGraph(nonnegative(K), K if keep_kernel else None, wrong)


def _defect(Z: Array, average: Callable[[], Array]) -> Status | None:
    """Say what is wrong with a graph; None if it joins two samples at least."""
    xp = namespace(Z)
    largest = float(xp.max(Z))
    if largest < NOTHING and not bool(xp.any(average() != 0)):
        return Status.KERNEL_VANISHED
    if largest == 0.0:
        return Status.GRAPH_EMPTY
    if not largest < float("inf"):
        return Status.NON_FINITE
    return None if Z.shape[0] == 1 or _has_edge(Z, ROUNDING * largest) else Status.GRAPH_DIAGONAL


def _has_edge(Z: Array, above: float) -> bool:
    """Tell whether any entry off the diagonal is above a number."""
    xp = namespace(Z)
    for rows in row_blocks(Z.shape[0]):
        heavy = Z[rows, :] > above
        on_diagonal = xp.linalg.diagonal(Z[rows, rows]) > above
        if int(xp.count_nonzero(heavy)) > int(xp.count_nonzero(on_diagonal)):
            return True
    return False
