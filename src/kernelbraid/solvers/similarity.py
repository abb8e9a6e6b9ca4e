r"""Graphs whose columns lie on the probability simplex.

Three methods, one problem:

    min  Tr(K - 2 K Z + Z'K Z) + alpha ||Z||_F^2 + beta Tr(F'L F),   K = sum_k a_k H_k                            (1)
    over Z >= 0 with columns of sum 1, F'F = I, a >= 0 with sum_k a_k^(1/2) = 1

with L the Laplacian of (Z + Z') / 2. SSR has alpha = beta = 0, the linear kernel and a zero diagonal; SCSK has one
kernel; SCMK learns its weights. Everywhere T = Z': the problem of each row of T is a quadratic program of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import add_to_diagonal, distance, frobenius_norm, namespace, power_of_two, to_numpy
from kernelbraid._typing import Array, Vector
from kernelbraid.kernels import KernelStack, without_spread
from kernelbraid.ops.closed_forms import power_weights
from kernelbraid.ops.graphs import spectral_vectors, symmetrise
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Status, Watch, alternate
from kernelbraid.solvers.simplex_qp import Iterate, SimplexQP

# Exponent of the constraint on the weights.
EXPONENT = 0.5
# Reconstruction errors that are rounding, in units of the precision, the number of samples and the trace.
ROUNDING = 4


@dataclass
class TwinState:
    """Where the alternation stands. All arrays of a state stay as they are when the next one is made."""

    T: Array  # transposed graph, (n, n), rows on the simplex
    F: Array | None  # eigenvectors of the graph's Laplacian, (n, k); None before the first step
    a: Vector  # kernel weights, (m,)
    K: Array  # sum_k a_k H_k
    costs: Vector  # h, reconstruction errors of T under the kernels, (m,)
    programs: SimplexQP | None = None  # of all steps, where the weights stay
    progress: AlternationProgress | None = None


@dataclass(frozen=True)
class TwinProblem:
    """Problem (1) for given kernels."""

    kernels: KernelStack
    n_clusters: int
    alpha: float
    beta: float
    learn_weights: bool

    def start(self) -> TwinState:
        """Return even weights and the graph without the spectral term: a feasible point."""
        m = self.kernels.n_kernels
        a = power_weights(np.ones(m), EXPONENT) if self.learn_weights else np.ones(m)
        K = self.kernels.combine(a)
        programs = SimplexQP.of(self.hessian(K))
        T = programs.solve(K)
        return TwinState(T, None, a, K, self.costs(T), None if self.learn_weights else programs)

    def hessian(self, K: Array) -> Array:
        """Return K + alpha I."""
        return add_to_diagonal(K + 0.0, self.alpha)

    def costs(self, T: Array) -> Vector:
        """Return the reconstruction errors Tr(H_k - 2 H_k Z + Z'H_k Z) under all kernels."""
        return self.kernels.traces(add_to_diagonal(T.T @ T - T - T.T, 1.0))

    @cached_property
    def unused(self) -> NDArray[np.bool_]:
        """Which kernels get no weight, (m,)."""
        return without_spread(self.kernels)

    @cached_property
    def rounding(self) -> Vector:
        """Errors of each kernel, (m,), below which there is nothing but rounding."""
        diagonals = self.kernels.diagonals()
        xp = namespace(diagonals)
        unit = ROUNDING * self.kernels.n_samples * float(xp.finfo(diagonals.dtype).eps)
        return np.asarray(unit * to_numpy(xp.sum(xp.abs(diagonals), axis=1)).astype(float))

    def objective(self, state: TwinState) -> float:
        """Return the value of (1)."""
        xp = namespace(state.T)
        smoothness = 0.0 if state.F is None else float(xp.sum(state.T * squared_distances(state.F))) / 2
        return float(state.a @ state.costs) + self.alpha * frobenius_norm(state.T) ** 2 + self.beta * smoothness


def squared_distances(F: Array) -> Array:
    """Return the squared distances of the rows."""
    xp = namespace(F)
    squares = xp.sum(F * F, axis=1)
    return xp.clip(squares[:, None] + squares[None, :] - 2 * (F @ F.T), min=0.0)


def update_eigenvectors(problem: TwinProblem, T: Array) -> Array:
    """Minimise Tr(F'L F) over F'F = I: the eigenvectors of smallest eigenvalue."""
    return spectral_vectors(symmetrise(T), problem.n_clusters, spectrum="unnormalised")


def update_graph(problem: TwinProblem, qp: SimplexQP, K: Array, F: Array, T: Array, *, exactly: bool) -> Array:
    """Minimise z'(K + alpha I) z - 2 K_i'z + beta / 2 d_i'z on the simplex for all columns, d_ij = ||f_i - f_j||^2.

    From where they stand, columns get better or stay. If not exactly, they may stop short of the minimum: the
    objective falls all the same, and the next step goes on from there.
    """
    B = K - (problem.beta / 4) * squared_distances(F)
    return qp.solve(B, T) if exactly else qp.improve(B, T)


def update_weights(costs: Vector, rounding: Vector, unused: NDArray[np.bool_]) -> Vector:
    """Minimise sum_k a_k h_k over a >= 0 with sum_k a_k^(1/2) = 1; an error is no less than its rounding."""
    return power_weights(np.where(unused, np.inf, np.maximum(costs, rounding)), EXPONENT)


def solve_twin(
    problem: TwinProblem, *, max_iter: int, tol: float, watch: Watch[TwinState] | None = None
) -> Solution[TwinState]:
    """Alternate between the kernel weights, F and Z until the graph stays as it is.

    Parameters
    ----------
    problem : TwinProblem
        What to minimise.
    max_iter : int
        Largest number of steps.
    tol : float
        Relative change of the graph that ends the iteration.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """

    def step(old: TwinState) -> TwinState:
        a, K, qp = old.a, old.K, old.programs
        if qp is None:
            a = update_weights(old.costs, problem.rounding, problem.unused)
            K = problem.kernels.combine(a)
            qp = SimplexQP.of(problem.hessian(K))
        F = update_eigenvectors(problem, old.T)
        T = update_graph(problem, qp, K, F, old.T, exactly=False)
        if distance(T, old.T) <= tol * frobenius_norm(old.T):  # near the end, or stuck: the minimum decides
            T = update_graph(problem, qp, K, F, T, exactly=True)
        new = TwinState(T, F, a, K, problem.costs(T), old.programs)
        new.progress = AlternationProgress(problem.objective(new), distance(T, old.T) / frobenius_norm(old.T))
        return new

    return alternate(step, problem.start, max_iter=max_iter, tol=tol, watch=watch)


@dataclass
class SimplexState:
    """Where the programs of SSR stand."""

    T: Array  # transposed graph, (n, n), rows on the simplex, zero diagonal
    path: Iterator[Iterate]  # where the next ones come from
    progress: AlternationProgress | None = None  # its `change` is the share of rows without a certificate


def solve_simplex(
    kernels: KernelStack, *, max_iter: int, watch: Watch[SimplexState] | None = None
) -> Solution[SimplexState]:
    """Minimise ||X - X Z||_F^2 = Tr(K - 2 K Z + Z'K Z) for columns on the simplex and a zero diagonal (SSR).

    Parameters
    ----------
    kernels : KernelStack
        Inner products of the samples, one matrix for each view.
    max_iter : int
        Largest number of steps: bursts of gradients and exact solves.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """
    K = kernels.combine(np.ones(kernels.n_kernels))
    xp, n = namespace(K), K.shape[0]
    unit = power_of_two(float(xp.max(xp.abs(K))))
    K = K / unit  # the minimiser does not depend on it
    if n == 1:  # a lone sample has no other to be expressed by
        alone = SimplexState(xp.zeros_like(K), iter(()), AlternationProgress(float(K[0, 0]) * unit, 0.0))
        if watch is not None:
            watch(1, alone)
        return Solution(alone, Status.CONVERGED, 1, 1)
    programs = SimplexQP.of(K, zero_diagonal=True)
    trace = float(xp.sum(xp.linalg.diagonal(K)))

    def step(old: SimplexState) -> SimplexState:
        new = next(old.path)
        value = trace + float(xp.sum((new.T @ K - 2 * K) * new.T))
        return SimplexState(new.T, old.path, AlternationProgress(value * unit, new.n_open / n))

    def start() -> SimplexState:
        return SimplexState(programs.start(K), programs.descend(K))

    return alternate(step, start, max_iter=max_iter, watch=watch)
