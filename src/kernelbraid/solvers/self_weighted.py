"""A consensus kernel near to candidates that weigh themselves, and the graph that it gives (SMKL).

    min  Tr(K - 2 K Z + Z'K Z) + gamma ||Z||_F^2 + alpha Tr(F'L F) + beta sum_j ||H_j - K||_F                     (1)
    over Z >= 0, K >= 0 and F'F = I

with L the Laplacian of Z. The last sum is handled by weights of squared norms, w_j = 1 / (2 ||H_j - K||_F).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelbraid._arrays import add_to_diagonal, distance, frobenius_norm, identity_like, namespace, to_numpy
from kernelbraid._linalg import eigh, eigvalsh, outer_eigh, solve_in_place
from kernelbraid._typing import Array, Vector
from kernelbraid.kernels import KernelStack
from kernelbraid.ops.closed_forms import check_squares, nonnegative
from kernelbraid.ops.graphs import symmetrise
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Watch, alternate
from kernelbraid.solvers.similarity import squared_distances

#: Steps before the change of the graph may end the iteration.
FEWEST = 6
#: Distances of kernels from the consensus below this share of its size count as so much: a weight has to be finite.
NEAREST = 1e-10
#: What 2 beta sum_j w_j is at the start where beta is chosen: the candidates weigh so much more than (I - Z)^2 in K.
BALANCE = 10.0


@dataclass
class ConsensusState:
    """Where the alternation stands."""

    Z: Array  # graph, (n, n), symmetric and nonnegative
    K: Array  # consensus kernel, (n, n), symmetric and nonnegative
    w: Vector  # weights of the candidates, (m,)
    F: Array | None = None  # eigenvectors of the Laplacian of the graph before, (n, k); None before the first step
    progress: AlternationProgress | None = None


@dataclass(frozen=True)
class ConsensusProblem:
    """Problem (1) for given kernels."""

    kernels: KernelStack
    n_clusters: int
    alpha: float
    beta: float | None  # None: so that the candidates have the weight `BALANCE` at the start
    gamma: float

    def start(self) -> ConsensusState:
        """Return the average kernel and the identity as graph."""
        m = self.kernels.n_kernels
        K = self.kernels.combine(np.full(m, 1 / m))
        return ConsensusState(identity_like(K), K, self.weights(K))

    @cached_property
    def squares(self) -> Vector:
        """The squared norms of the candidates."""
        return np.asarray((self.kernels.factor() ** 2).sum(axis=0))

    @cached_property
    def strength(self) -> float:
        """The beta of the problem; one that is chosen keeps K near candidates that are nearly equal.

        The pull of m equal candidates, beta m, has to outweigh ||(I - Z)^2||_F, which is at most n^(1/2) for Z between
        zero and I.
        """
        if self.beta is not None:
            return self.beta
        least = 2 * math.sqrt(self.kernels.n_samples) / self.kernels.n_kernels
        return max(BALANCE / (2 * float(self.start().w.sum())), least)

    def distances(self, K: Array) -> Vector:
        """Return ||H_j - K||_F for every candidate."""
        size = frobenius_norm(K)
        squares = self.squares - 2 * self.kernels.traces(K) + size**2
        rounding = float(namespace(K).finfo(K.dtype).eps) ** 0.5  # of a root of a difference
        return np.asarray(np.sqrt(np.maximum(squares, (max(NEAREST, rounding) * size) ** 2)))

    def weights(self, K: Array) -> Vector:
        """Return w_j = 1 / (2 ||H_j - K||_F)."""
        return np.asarray(1 / (2 * self.distances(K)))

    def objective(self, state: ConsensusState) -> float:
        """Return the value of (1)."""
        xp, Z, K = namespace(state.Z), state.Z, state.K
        KZ = K @ Z
        fit = float(xp.sum(xp.linalg.diagonal(K))) - 2 * float(xp.sum(K * Z)) + float(xp.sum(Z * KZ))
        smooth = 0.0 if state.F is None else float(xp.sum(Z * squared_distances(state.F))) / 2
        nearness = self.strength * float(self.distances(K).sum())
        return fit + self.gamma * frobenius_norm(Z) ** 2 + self.alpha * smooth + nearness


def update_eigenvectors(problem: ConsensusProblem, Z: Array) -> Array:
    """Minimise Tr(F'L F) over F'F = I: the eigenvectors of smallest eigenvalue.

    Before there is an edge, any F does; the published code has the first unit vectors.
    """
    xp, k = namespace(Z), problem.n_clusters
    L = add_to_diagonal(-Z, xp.sum(Z, axis=0))
    if not bool(xp.any(L != 0)):
        return identity_like(Z)[:, :k]
    found = outer_eigh(L + 0.0, k, largest=False)
    return (eigh(L, overwrite=True) if found is None else found)[1][:, :k]


def update_graph(problem: ConsensusProblem, K: Array, F: Array) -> Array:
    """Solve (K + gamma I) Z = K - alpha / 4 E with E_ij = ||f_i - f_j||; what is negative becomes zero.

    (1) asks for the squares of these distances, of which the published code takes the roots.
    """
    E = namespace(F).sqrt(squared_distances(F))
    Z = solve_in_place(add_to_diagonal(K + 0.0, problem.gamma), K - (problem.alpha / 4) * E)
    return symmetrise(nonnegative(Z))


def update_kernel(problem: ConsensusProblem, Z: Array, w: Vector) -> Array:
    """Minimise Tr(K (I - Z)^2) + beta sum_j w_j ||H_j - K||_F^2; what is negative becomes zero."""
    strength = 2 * problem.strength * float(w.sum())
    pull = problem.kernels.combine(w / w.sum())
    return symmetrise(nonnegative(pull + add_to_diagonal(2 * Z - Z @ Z, -1.0) / strength))


def spectral_norm(A: Array) -> float:
    """Return the largest absolute eigenvalue of a symmetric matrix."""
    values = eigvalsh(A + 0.0)
    return max(-float(values[0]), float(values[-1]))


def solve_consensus(
    problem: ConsensusProblem, *, max_iter: int, tol: float, watch: Watch[ConsensusState] | None = None
) -> Solution[ConsensusState]:
    """Alternate between F, the weights, the graph and the kernel until the graph stays as it is.

    Parameters
    ----------
    problem : ConsensusProblem
        What to minimise.
    max_iter : int
        Largest number of steps.
    tol : float
        Relative change of the graph, in the spectral norm, that ends the iteration after `FEWEST` steps.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """
    for i, squares in enumerate(to_numpy(problem.kernels.diagonals())):
        check_squares(squares, float(np.abs(squares).max()), f"kernel {i} of X")

    def step(old: ConsensusState) -> ConsensusState:
        F = update_eigenvectors(problem, old.Z)
        w = problem.weights(old.K)
        Z = update_graph(problem, old.K, F)
        K = update_kernel(problem, Z, w)
        new = ConsensusState(Z, K, w, F)
        new.progress = AlternationProgress(problem.objective(new), _change(Z, old.Z, tol))
        return new

    def converged(n: int, state: ConsensusState) -> bool:
        return n >= FEWEST and state.progress is not None and state.progress.change < tol

    return alternate(step, problem.start, max_iter=max_iter, converged=converged, watch=watch)


def _change(Z: Array, old: Array, tol: float) -> float:
    """Return the relative change in the spectral norm, or a bound of it that is below already."""
    size = spectral_norm(old) or 1.0
    bound = distance(Z, old) / size
    return bound if bound < tol else spectral_norm(Z - old) / size
