"""From a fitted graph to samples that it has not seen.

A new sample is expressed by the fitted ones in the feature space of the consensus kernel, as those were by each other;
what an eigenvector says at a vertex is the weighted mean of what it says at the neighbours, divided by the eigenvalue,
so that the new edges place the sample in the embedding (Bengio and others, the formula of Nystroem).
"""

from dataclasses import dataclass

from kernelbraid._arrays import asarray_like, clip_negative, namespace
from kernelbraid._typing import Array
from kernelbraid.ops.refinement import EdgeWeights, refine_columns
from kernelbraid.ops.spectral import Spectrum, unit_rows
from kernelbraid.solvers.low_rank.ridge import ridge_inverse


@dataclass(frozen=True)
class Expression:
    """How new samples are expressed by fitted ones."""

    inverse: Array  # (K + alpha I)^-1 of the fitted samples
    n_neighbors: int | None  # strongest edges that a new sample keeps; None for all
    edge_weights: EdgeWeights

    @classmethod
    def of(cls, K: Array, alpha: float, n_neighbors: int | None, edge_weights: EdgeWeights) -> "Expression":
        """Prepare the expression by samples with this kernel, with half the squares of the coefficients times alpha."""
        return cls(ridge_inverse(K, alpha), n_neighbors, edge_weights)

    def edges(self, cross: Array) -> Array:
        """Return the edges from new samples (rows) to fitted ones, from kernel values between them."""
        coefficients = clip_negative(cross @ self.inverse)
        # Kernel values that are all zero or negative leave nothing: the most similar sample is the best guess then.
        xp = namespace(cross)
        lost = xp.sum(coefficients, axis=1) == 0
        if bool(xp.any(lost)):
            best = asarray_like(xp.max(cross, axis=1, keepdims=True) == cross, cross)
            coefficients = xp.where(lost[:, None], best, coefficients)
        return refine_columns(coefficients.T, n_neighbors=self.n_neighbors, edge_weights=self.edge_weights).T


@dataclass(frozen=True)
class Placement:
    """How edges to fitted samples place new ones in their embedding."""

    basis: Array  # (n, k): eigenvectors, scaled so that edges times basis give coordinates
    values: Array  # (k,): eigenvalues
    spectrum: Spectrum

    @classmethod
    def of(cls, graph: Array, vectors: Array, spectrum: Spectrum) -> "Placement":
        """Take the degrees and the eigenvalues from a graph and its eigenvectors."""
        xp = namespace(graph)
        degrees = xp.sum(graph, axis=1)
        if spectrum == "unnormalised":
            product = degrees[:, None] * vectors - graph @ vectors
            return cls(vectors, xp.sum(vectors * product, axis=0), spectrum)
        scale = 1 / xp.sqrt(xp.where(degrees > 0, degrees, asarray_like(1.0, degrees)))
        scaled = scale[:, None] * vectors
        values = xp.sum(scaled * (graph @ scaled), axis=0)
        largest = xp.max(graph)  # by which the embedding divides the graph
        return cls(scaled * xp.sqrt(largest) if spectrum == "random_walk" else scaled, values, spectrum)

    def embed(self, edges: Array) -> Array:
        """Return the coordinates of new samples, (n_new, k), as the embedding of the fitted ones has them."""
        xp = namespace(edges)
        degrees = xp.sum(edges, axis=1)[:, None]
        degrees = xp.where(degrees > 0, degrees, asarray_like(1.0, degrees))
        if self.spectrum == "unnormalised":
            distance = degrees - self.values[None, :]
            return unit_rows((edges @ self.basis) / _away_from_zero(distance))
        placed = (edges @ self.basis) / degrees / _away_from_zero(self.values[None, :])
        return placed if self.spectrum == "random_walk" else unit_rows(placed)


def _away_from_zero(A: Array) -> Array:
    """Return numbers that can divide: eigenvalues of zero carry no information and are not blown up."""
    xp = namespace(A)
    least = 1e-8 * (1 + xp.max(xp.abs(A)))
    sign = xp.where(A < 0, asarray_like(-1.0, A), asarray_like(1.0, A))
    return xp.where(xp.abs(A) < least, least * sign, A)
