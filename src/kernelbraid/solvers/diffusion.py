"""Similarities that spread over the graphs of several views at once (CGD).

    min  sum_v b_v H_v(A) + mu ||A - I||_F^2 + lambda / 2 ||b||^2,   H_v(A) = ||A||_F^2 - Tr(S_v A S_v A)         (1)
    over A and weights b of the views on the simplex

with S_v the normalised graph of view v. H_v is small where pairs of samples that are neighbours of similar pairs are
similar themselves. For given weights, the minimum is the fixed point of A = sum_v a_v S_v A S_v + (1 - sum_v a_v) I,
a_v = b_v / (mu + 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelbraid._arrays import (
    add_to_diagonal,
    as_sparse,
    asarray_like,
    device,
    distance,
    frobenius_norm,
    identity_like,
    namespace,
)
from kernelbraid._typing import Array, Vector
from kernelbraid.ops.closed_forms import Neighbourhoods, project_to_simplex
from kernelbraid.ops.graphs import normalised_graph, symmetrise
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Watch, alternate

#: Kernels whose contrast is below this share of the highest are no views: where neighbours are as far as all others, a
#: graph is nearly the identity, over which nothing spreads and which therefore costs nothing.
CONTRAST = 0.25
#: Rounds of the fixed point between two updates of the weights.
INNER = 10


@dataclass
class DiffusionState:
    """Where the alternation stands."""

    A: list[Array]  # similarities, (n, n), symmetric: common ones, or those of each view
    b: Vector  # weights of the views, (m,), on the simplex
    progress: AlternationProgress | None = None

    def mean(self) -> Array:
        """Return the average of the similarities."""
        return sum(self.A[1:], self.A[0]) / len(self.A)


@dataclass(frozen=True)
class DiffusionProblem:
    """Problem (1) for given graphs."""

    graphs: Sequence[Array]  # S_v, (n, n), sparse on the host
    like: Array  # an array of their kind
    mu: float
    evenness: float  # lambda
    common: bool  # whether all views have one matrix A; otherwise each view has its own, spread by those of the others

    def start(self) -> DiffusionState:
        """Return the identity, and even weights."""
        m = len(self.graphs)
        return DiffusionState([identity_like(self.like)] * (1 if self.common else m), np.full(m, 1 / m))

    def costs(self, A: Array) -> Vector:
        """Return H_v(A) for every view."""
        xp, square = namespace(A), frobenius_norm(A) ** 2
        return np.array([max(square - float(xp.sum(spread(S, A) * A)), 0.0) for S in self.graphs])

    def objective(self, A: Array, b: Vector, costs: Vector) -> float:
        """Return the value of (1)."""
        return float(b @ costs) + self.mu * distance(A, identity_like(A)) ** 2 + self.evenness / 2 * float(b @ b)


def view_graph(D: Array, n_neighbors: int, width: float, *, by_order: bool) -> Array:
    """Return the normalised graph of nearest neighbours with edges exp(-(d_ij / max d)^2 / width^2).

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances.
    n_neighbors : int
        Edges of each sample, of which one is its own.
    width : float
        Of the similarity.
    by_order : bool
        As for :class:`~kernelbraid.ops.closed_forms.Neighbourhoods`.
    """
    xp, n = namespace(D), int(D.shape[0])
    near = Neighbourhoods.of(D, min(n_neighbors - 1, n - 2), by_order=by_order).near
    own = identity_like(D) == 1
    if by_order:  # the first of the nearest, which may be a copy
        own = xp.arange(n, device=device(D))[None, :] == xp.argmin(D, axis=1, keepdims=True)
    largest = float(xp.max(D))
    edges = xp.exp(-((D / (largest or 1.0)) ** 2) / width**2)
    return as_sparse(normalised_graph(symmetrise(xp.where(near | own, edges, asarray_like(0.0, D)))))


def contrast(D: Array, n_neighbors: int) -> float:
    """Return by which share the nearest of a sample are nearer than others are, on average.

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances.
    n_neighbors : int
        As for :func:`view_graph`.
    """
    xp, n = namespace(D), int(D.shape[0])
    mean = float(xp.sum(D)) / max(n * (n - 1), 1)
    nearest = xp.sort(D, axis=1)[:, 1:n_neighbors]
    return 1 - float(xp.mean(nearest)) / mean if mean > 0 and nearest.shape[1] > 0 else 0.0


def with_contrast(contrasts: Sequence[float]) -> NDArray[np.bool_]:
    """Return which kernels tell neighbours from others, by their contrasts."""
    found = np.asarray(contrasts)
    return np.asarray(found >= CONTRAST * found.max())


def spread(S: Array, A: Array) -> Array:
    """Return S A S for symmetric matrices, of which the first may be sparse."""
    return S @ (S @ A).T


def spread_common(problem: DiffusionProblem, A: Array, b: Vector) -> Array:
    """Approach the minimum of (1) over A by rounds of its fixed point."""
    shares = b / (problem.mu + b.sum())
    for _ in range(INNER):
        parts = (float(a) * spread(S, A) for a, S in zip(shares, problem.graphs, strict=True) if a > 0)
        A = symmetrise(add_to_diagonal(sum(parts), 1.0 - float(shares.sum())))
    return A


def spread_across(problem: DiffusionProblem, A: Sequence[Array]) -> list[Array]:
    """Spread what the other views know over the graph of each: A_v = a S_v mean_u A_u S_v + (1 - a) I, u not v."""
    share, m = 1 / (problem.mu + 1), len(A)
    if m == 1:  # of several kernels, one tells neighbours from others
        return [spread_common(problem, A[0], np.ones(1))]
    similarities = list(A)
    for _ in range(INNER):
        total = sum(similarities)
        others = [(total - A_v) / (m - 1) for A_v in similarities]
        similarities = [
            symmetrise(add_to_diagonal(share * spread(S, other), 1 - share))
            for S, other in zip(problem.graphs, others, strict=True)
        ]
    return similarities


def update_weights(problem: DiffusionProblem, costs: Vector) -> Vector:
    """Minimise sum_v b_v H_v + lambda / 2 ||b||^2 over the simplex."""
    return np.asarray(project_to_simplex(-costs[None, :] / problem.evenness)[0])


def diffuse(
    problem: DiffusionProblem, *, max_iter: int, tol: float, watch: Watch[DiffusionState] | None = None
) -> Solution[DiffusionState]:
    """Alternate between the similarities and the weights of the views until the similarities stay as they are.

    Parameters
    ----------
    problem : DiffusionProblem
        What to minimise.
    max_iter : int
        Largest number of steps, each with `INNER` rounds of the fixed point.
    tol : float
        Relative change of the similarities that ends the iteration.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """

    def step(old: DiffusionState) -> DiffusionState:
        A = [spread_common(problem, old.A[0], old.b)] if problem.common else spread_across(problem, old.A)
        new = DiffusionState(A, old.b)
        mean = new.mean()
        costs = problem.costs(mean)
        change = distance(mean, old.mean()) / frobenius_norm(mean)
        new.progress = AlternationProgress(problem.objective(mean, old.b, costs), change)
        if problem.common:
            new.b = update_weights(problem, costs)
        return new

    return alternate(step, problem.start, max_iter=max_iter, tol=tol, watch=watch)
