"""Graphs of several views and the one that they have in common, with as many components as clusters (GMC).

    min  sum_v [ sum_ij d^v_ij s^v_ij + a_i ||S^v||^2 ] + sum_v w_v ||U - S^v||_F^2 + 2 lambda Tr(F'L F)          (1)
    over rows of S^v and U on the simplex and F'F = I

with d^v the squared distances in view v, L the Laplacian of (U + U') / 2 and w_v = 1 / (2 ||U - S^v||_F), which stands
for a sum of norms. The weights a_i of the rows are those that leave k neighbours. lambda is doubled as long as the
graph has fewer components than clusters, and halved where it has more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelbraid._arrays import add_to_diagonal, asarray_like, distance, namespace, to_numpy
from kernelbraid._linalg import choose_vectors, eigh
from kernelbraid._typing import Array, Vector
from kernelbraid.kernels import KernelStack
from kernelbraid.kernels.stacks import one_by_one
from kernelbraid.ops.closed_forms import (
    Neighbourhoods,
    cosine_kernel,
    kernel_distances,
    nearest_graph,
    project_to_simplex,
)
from kernelbraid.ops.graphs import symmetrise
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Watch, alternate
from kernelbraid.solvers.similarity import squared_distances

#: Views as far from the graph as this are equal to it: a weight has to be finite.
NEAREST = 1e-12


@dataclass
class FusionState:
    """Where the alternation stands."""

    S: list[Array]  # graphs of the views, (n, n) each
    U: Array  # their common graph, (n, n), rows on the simplex
    F: Array  # eigenvectors of the Laplacian, (n, k)
    w: Vector  # weights of the views, (m,)
    strength: float  # lambda
    is_split: bool = False  # whether the graph has as many components as clusters
    progress: AlternationProgress | None = None


@dataclass(frozen=True)
class FusionProblem:
    """Problem (1) for given distances."""

    distances: Sequence[Array]  # squared, a matrix (n, n) per view, double precision
    n_clusters: int
    n_neighbors: int
    strength: float  # lambda at the start
    weighted: bool  # whether views count by w_v in U and neighbours follow the costs; the published code does neither
    by_order: bool  # whether equal distances keep the order of the samples, as they do in that code

    @property
    def k(self) -> int:
        """Number of neighbours: a sample needs one more beside itself."""
        return min(self.n_neighbors, int(self.distances[0].shape[0]) - 2)

    @cached_property
    def neighbourhoods(self) -> list[Neighbourhoods]:
        """The nearest of every sample in each view."""
        return [Neighbourhoods.of(D, self.k, by_order=self.by_order) for D in self.distances]

    def start(self) -> FusionState:
        """Return the graphs of the views and their mean."""
        m, xp = len(self.distances), namespace(self.distances[0])
        S = [self.graph(v, D) for v, D in enumerate(self.distances)]
        U = sum(S[1:], S[0]) / m
        sums = xp.sum(U, axis=1, keepdims=True)
        U = U / xp.where(sums > 0, sums, asarray_like(1.0, U))
        _, F = self.split(U)
        return FusionState(S, U, F, np.full(m, 1 / m), self.strength)

    def graph(self, view: int, G: Array) -> Array:
        """Return the graph of a view by the costs of its edges."""
        if self.k < 1:
            return add_to_diagonal(namespace(G).ones_like(G), -1.0)  # two samples, or one
        if self.weighted:
            return nearest_graph(G, Neighbourhoods.of(G, self.k, by_order=False))
        return nearest_graph(G, self.neighbourhoods[view])

    def split(self, U: Array) -> tuple[Vector, Array]:
        """Minimise Tr(F'L F) over F'F = I; return all eigenvalues, and the eigenvectors of smallest ones."""
        A = symmetrise(U)
        values, vectors = eigh(add_to_diagonal(-A, namespace(A).sum(A, axis=1)), overwrite=True)
        host = to_numpy(values).astype(float)
        return host, choose_vectors(host, vectors, self.n_clusters, rank=np.negative)

    def objective(self, state: FusionState) -> float:
        """Return the value of (1) without the a_i, which are different in every step."""
        xp = namespace(state.U)
        lengths = sum(float(xp.sum(D * S)) for D, S in zip(self.distances, state.S, strict=True))
        apart = sum(distance(state.U, S) for S in state.S)
        return lengths + apart + state.strength * float(xp.sum(state.U * squared_distances(state.F)))


def update_views(problem: FusionProblem, state: FusionState) -> list[Array]:
    """Minimise (1) over the graph of every view: edges cost d^v_ij - 2 w_v u_ij."""
    costs = (D - 2 * float(w) * state.U for D, w in zip(problem.distances, state.w, strict=True))
    return [problem.graph(v, G) for v, G in enumerate(costs)]


def update_weights(U: Array, S: Sequence[Array]) -> Vector:
    """Return w_v = 1 / (2 ||U - S^v||_F)."""
    return np.array([1 / (2 * max(distance(U, graph), NEAREST)) for graph in S])


def update_graph(problem: FusionProblem, S: Sequence[Array], w: Vector, F: Array, strength: float) -> Array:
    """Minimise sum_v w_v ||u - s^v||^2 + lambda sum_j e_ij u_j over the simplex for all rows, e_ij = ||f_i - f_j||^2.

    Edges of no view stay out. Not weighted: sum_v ||u - s^v + lambda / (2 m w_v) e_i||^2, as published.
    """
    xp, m = namespace(F), len(S)
    shares = w / w.sum() if problem.weighted else np.full(m, 1 / m)
    pull = 1 / w.sum() if problem.weighted else float((1 / w).sum()) / m**2
    P = sum(float(share) * graph for share, graph in zip(shares, S, strict=True))
    P = P - (strength / 2 * pull) * squared_distances(F)
    inside = S[0] > 0
    for graph in S[1:]:
        inside = inside | (graph > 0)
    empty = ~xp.any(inside, axis=1, keepdims=True)
    U = project_to_simplex(P, forbidden=~(inside | empty))
    return xp.where(empty, asarray_like(0.0, U), U)


def fuse_graphs(
    problem: FusionProblem, *, max_iter: int, tol: float, watch: Watch[FusionState] | None = None
) -> Solution[FusionState]:
    """Alternate between the graphs of the views, their weights, the common graph and F until that has k components.

    Parameters
    ----------
    problem : FusionProblem
        What to minimise.
    max_iter : int
        Largest number of steps.
    tol : float
        The k smallest eigenvalues of the Laplacian are zero if their sum is not above this.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """

    def step(old: FusionState) -> FusionState:
        S = update_views(problem, old)
        w = update_weights(old.U, S)
        U = update_graph(problem, S, w, old.F, old.strength)
        values, F = problem.split(U)
        new = FusionState(S, U, F, w, old.strength)
        open_sum, next_sum = values[: problem.n_clusters].sum(), values[: problem.n_clusters + 1].sum()
        has_more = problem.n_clusters < values.shape[0] and next_sum < tol
        new.is_split = not (open_sum > tol or has_more)
        new.progress = AlternationProgress(problem.objective(new), float(open_sum))
        if open_sum > tol:
            new.strength = 2 * old.strength
        elif has_more:
            new.strength, new.F = old.strength / 2, old.F
        return new

    return alternate(step, problem.start, max_iter=max_iter, converged=lambda n, state: state.is_split, watch=watch)


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
    for i, (K, scale) in enumerate(zip(one_by_one(kernels), scales, strict=True)):
        yield kernel_distances(scale * cosine_kernel(K, f"kernel {i} of X", centred=centred, ridge=0.0))
