"""Affinity aggregation: spectral clustering with learned weights of the affinities (AASC).

    min  sum_k a_k Tr(F'(I - S_k) F)   over F'F = I and a >= 0 with sum_k a_k^(1/2) = 1                           (1)

with S_k the normalised affinity of kernel k, without self-similarities.
"""

from dataclasses import dataclass

import numpy as np

from kernelbraid._arrays import add_to_diagonal, namespace, to_numpy
from kernelbraid._linalg import choose_vectors, eigh
from kernelbraid._typing import Array, Vector
from kernelbraid.kernels import KernelStack, StoredStack
from kernelbraid.kernels.stacks import one_by_one
from kernelbraid.ops.closed_forms import nonnegative, power_weights
from kernelbraid.ops.graphs import normalised_graph
from kernelbraid.solvers.iterate import AlternationProgress, Solution, Watch, alternate

# Exponent of the constraint on the weights: they enter as squares.
EXPONENT = 0.5
# Changes of weights that are rounding, in units of the precision: single precision settles at some 1e-4.
PRECISION = 1e4
# Costs below this share of their number of eigenvectors are rounding.
ROUNDING = 1e-12


@dataclass
class AggregationState:
    """Where the alternation stands."""

    S: Array  # sum_k a_k S_k, (n, n)
    a: Vector  # weights, (m,)
    progress: AlternationProgress | None = None


def affinities(kernels: KernelStack) -> StoredStack:
    """Return D^-1/2 W D^-1/2 for every kernel, W its nonnegative part with a diagonal of zeros.

    A narrow kernel is nearly the identity: with self-similarities it would look like a perfect affinity of n
    clusters. Normalised affinities have degree one, so that none wins by its scale.
    """
    positive = map(nonnegative, one_by_one(kernels))
    without_loops = (add_to_diagonal(W, -namespace(W).linalg.diagonal(W)) for W in positive)
    return StoredStack.filled(kernels, map(normalised_graph, without_loops))


def update_eigenvectors(S: Array, k: int) -> Array:
    """Minimise -Tr(F'S F) over F'F = I: the eigenvectors of largest eigenvalue."""
    values, vectors = eigh(S)
    return choose_vectors(to_numpy(values), vectors, k)


def costs(graphs: KernelStack, F: Array) -> Vector:
    """Return Tr(F'(I - S_k) F) for every affinity; not negative, since no eigenvalue of S_k exceeds one."""
    xp, k = namespace(F), F.shape[1]
    agreement = to_numpy(xp.sum(graphs.apply(F) * F[None, :, :], axis=(1, 2))).astype(float)
    return np.where(k - agreement > ROUNDING * k, k - agreement, 0.0)


def update_weights(h: Vector) -> Vector:
    """Minimise sum_k a_k h_k over a >= 0 with sum_k a_k^(1/2) = 1."""
    return power_weights(h, EXPONENT)


def aggregate(
    graphs: KernelStack, n_clusters: int, *, max_iter: int, tol: float, watch: Watch[AggregationState] | None = None
) -> Solution[AggregationState]:
    """Alternate between eigenvectors and weights until the weights stay as they are.

    Parameters
    ----------
    graphs : KernelStack
        Normalised affinities.
    n_clusters : int
        Number of eigenvectors.
    max_iter : int
        Largest number of steps.
    tol : float
        Change of the weights that ends the iteration; not below what the arithmetic resolves.
    watch : callable, default=None
        ``watch(n, state)`` sees every state; returning True stops the iteration.
    """
    if tol > 0:
        tol = max(tol, PRECISION * float(namespace(graphs.like).finfo(graphs.like.dtype).eps))

    def combine(a: Vector) -> Array:
        return nonnegative(graphs.combine(a))  # by rounding alone it is not

    def start() -> AggregationState:
        a = power_weights(np.ones(graphs.n_kernels), EXPONENT)
        return AggregationState(combine(a), a)

    def step(old: AggregationState) -> AggregationState:
        h = costs(graphs, update_eigenvectors(old.S, n_clusters))
        a = update_weights(h)
        return AggregationState(combine(a), a, AlternationProgress(float(a @ h), float(np.abs(a - old.a).max())))

    return alternate(step, start, max_iter=max_iter, tol=tol, watch=watch)
