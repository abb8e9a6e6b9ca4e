"""What a solver asks of a stack of kernels."""

from kernelbraid._arrays import asarray_like, namespace, quiet_overflow, to_numpy
from kernelbraid._typing import Array
from kernelbraid.solvers.simplex_qp import Matrix, Vector, solve_simplex_qp


def combine(g: Vector, H: Array) -> Array:
    """Return the weighted sum of the kernels, sum_i g_i H_i."""
    return namespace(H).tensordot(asarray_like(g, H), H, axes=1)


def inner_products(H: Array) -> Matrix:
    """Return M_ij = Tr(H_i H_j) of symmetric kernels, in float64; the solver notices if it overflows."""
    xp = namespace(H)
    flat = xp.reshape(H, (H.shape[0], -1))
    with quiet_overflow():
        return to_numpy(flat @ flat.T).astype(float)


def traces(K: Array, H: Array) -> Vector:
    """Return Tr(K H_i) for all kernels in one pass; K need not be symmetric."""
    xp = namespace(H)
    return to_numpy(xp.reshape(H, (H.shape[0], -1)) @ xp.reshape(K, (-1,))).astype(float)


def nearest_combination(M: Matrix, t: Vector, start: Vector, pull: float = 2.0) -> Vector:
    """Solve Eq. (14): argmin g'Mg - pull t'g on the simplex, with t_i = Tr(K H_i).

    With pull = 2 the solution is the weighted sum of kernels that is nearest to K in the Frobenius norm.
    """
    return solve_simplex_qp(2 * M, pull * t, start)
