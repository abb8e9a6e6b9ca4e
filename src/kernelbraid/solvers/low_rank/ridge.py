"""LKG with a fixed kernel and the squared penalty: one linear system gives the graph.

min  1/2 Tr(K - 2KZ + Z'KZ) + alpha/2 ||Z||_F^2   over Z,   negative entries set to zero afterwards
"""

from collections.abc import Callable
from dataclasses import replace

from kernelbraid._arrays import clip_negative, namespace, row_blocks
from kernelbraid._linalg import ridge_smoother
from kernelbraid._threads import calm
from kernelbraid._typing import Array
from kernelbraid.kernels.stacks import Vector
from kernelbraid.ops.proximal import nonnegative
from kernelbraid.solvers.iterate import Solution, Status, iterate
from kernelbraid.solvers.low_rank.fixed_kernel import FIXED
from kernelbraid.solvers.low_rank.penalties import FROBENIUS
from kernelbraid.solvers.low_rank.step import ROUNDING, LowRankState, Progress

# Coefficients below may be the rounding of those of a kernel that is zero.
NOTHING = 1e-12


def ridge_coefficients(K: Array, alpha: float, *, overwrite: bool = False) -> Array:
    """Return the minimiser, with negative entries set to zero; in the memory of K if it may be used up."""
    return clip_negative(ridge_smoother(K, alpha, overwrite=overwrite))


def solve_ridge(
    average: Callable[[], Array],
    g: Vector,
    *,
    alpha: float,
    mu: float,
    keep_kernel: bool,
    threads: int | None = None,
    watch: Callable[[int, LowRankState], bool | None] | None = None,
) -> Solution[LowRankState]:
    """Learn the graph of a kernel in one step.

    Parameters
    ----------
    average : callable
        Returns the kernel; asked again if the step is not sound.
    g : ndarray of shape (m,)
        Weights of the candidates in it.
    alpha : float
        Weight of the penalty.
    mu : float
        Weight of constraints that are not needed, for the record.
    keep_kernel : bool
        Whether the kernel must stay as it is; otherwise its memory becomes that of the graph.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the problem if None.
    watch : callable, default=None
        ``watch(1, state)`` sees the solution; returning True marks it as stopped.

    Returns
    -------
    Solution
        Z and J are one array, W is K, there are no multipliers, and K is None unless it is kept.
    """

    def start() -> LowRankState:
        K = average()
        return LowRankState(Z=None, K=K, J=None, W=K, g=g, Y1=0.0, Y2=0.0, mu=mu)

    def step(s: LowRankState) -> LowRankState:
        with calm(threads):
            Z = ridge_coefficients(s.K, alpha, overwrite=not keep_kernel)
        K = s.K if keep_kernel else None
        progress = Progress(mu, 0.0, 0.0, 0.0, -1, -1, FROBENIUS.operator("auto").used, FIXED)
        return replace(s, Z=Z, K=K, J=Z, W=K, progress=progress)

    def fallback() -> LowRankState:
        K = average()
        graph = nonnegative(K)
        return replace(start(), Z=graph, K=K if keep_kernel else None, J=graph, W=None)

    return iterate(
        lambda: (step, start()),
        converged=lambda n, s: True,
        defect=lambda s: _defect(s.Z, average),
        fallback=fallback,
        max_iter=1,
        watch=watch,
    )


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
