"""Clusters of many samples through a few landmarks.

Every sample is expressed over p landmarks and keeps its strongest edges, W (n, p) with rows of sum one. The graph of
samples and landmarks is bipartite; the singular vectors of its normalised matrix W C^-1/2, where C holds the sums of
the columns, come from the p x p matrix C^-1/2 W'W C^-1/2, to which every block of samples adds its part. Blocks are
NumPy arrays, in the memory of this process or of the workers of a cluster.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from kernelbraid._arrays import BLOCK_SIZE, add_to_diagonal, power_of_two
from kernelbraid._linalg import SINGLE, choose_vectors, eigh
from kernelbraid._typing import Array
from kernelbraid.blocks.parts import LocalParts
from kernelbraid.kernels import FittedBank
from kernelbraid.ops.graphs import EdgeWeights, Spectrum, component_vectors, unit_rows, with_positive_peaks
from kernelbraid.solvers.kmeans import plus_plus
from kernelbraid.solvers.landmark_centres import Centres, Single
from kernelbraid.solvers.lloyd import FeatureSpace, Labels, Matrix
from kernelbraid.solvers.low_rank.ridge import Expression

# Singular values, relative to the largest, that count as zero: such directions say nothing about a sample.
NOTHING = 1e-7
# How unlike samples and landmarks are at least, so that what copies of samples leave can divide, and at most.
LEAST_LEFT, MOST_LEFT = 1e-6, 1e30
# Edges of a sample beyond which dense products are faster than sparse ones, as a share of the landmarks.
DENSE_SHARE = 0.125


def split_views(X: Array, widths: tuple[int, ...]) -> list[Array]:
    """Return the views whose columns stand side by side."""
    if len(widths) == 1:
        return [X]
    ends = np.cumsum(widths).tolist()
    return [X[:, end - width : end] for end, width in zip(ends, widths, strict=True)]


def mean_diagonal(K: Array) -> float:
    """Return the mean kernel value of a landmark with itself, one if it is none that can divide."""
    mean = float(np.mean(np.diagonal(np.asarray(K, dtype=np.float64))))
    return mean if mean > 0 and np.isfinite(mean) else 1.0


def row_slices(n: int, p: int) -> Iterator[slice]:
    """Yield slices of n rows whose p columns stay in the cache; an empty one if there are no rows."""
    size = max(1, BLOCK_SIZE // p)
    for start in range(0, max(n, 1), size):
        yield slice(start, min(start + size, n))


@dataclass(frozen=True)
class Edges:
    """The strongest edges from samples to landmarks; the weights of a sample sum to one."""

    index: NDArray[np.int32]  # landmarks, (n, r)
    weights: Single  # (n, r)
    n_landmarks: int
    shares: Single | None = None  # of each of several views in the weights, (n, n_views)
    unlike: Single | None = None  # how unlike samples and landmarks are, squared distances, (n, r), positive

    @classmethod
    def strongest(cls, coefficients: Array, n_neighbors: int | None, edge_weights: EdgeWeights) -> "Edges":
        """Keep the largest coefficients, (n, p), of each sample; they are not negative, and none is all zero."""
        n, p = coefficients.shape
        r = p if n_neighbors is None else min(n_neighbors, p)
        if r < p:
            index = np.sort(np.argpartition(coefficients, p - r, axis=1)[:, p - r :], axis=1)
            weights = np.take_along_axis(coefficients, index, axis=1)
        else:
            index, weights = np.broadcast_to(np.arange(p), (n, p)), coefficients
        if edge_weights == "binary":
            weights = (weights > 0).astype(float)
        weights = weights / weights.sum(axis=1, keepdims=True)  # "scaled" and "learned" are the same now
        return cls(index.astype(np.int32), weights.astype(np.float32), p)

    @classmethod
    def join(cls, parts: "list[Edges]") -> "Edges":
        """Return the edges of several blocks of samples."""
        index, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in ("index", "weights"))
        found: list[Single | None] = []
        for name in ("shares", "unlike"):
            given = [getattr(part, name) for part in parts]
            found.append(None if given[0] is None else np.concatenate(given))
        return cls(index, weights, parts[0].n_landmarks, *found)

    def at(self, values: Array) -> Array:
        """Return those of values for all samples and landmarks, (n, p), that belong to an edge, (n, r)."""
        return np.take_along_axis(values, self.index, axis=1)

    def with_unlike(self, values: Array) -> "Edges":
        """Return the edges with how unlike their samples and landmarks are, (n, r)."""
        return replace(self, unlike=values.astype(np.float32))

    def left(self) -> Matrix:
        """Return how unlike its landmarks a sample is, on the geometric mean by its edges, (n,).

        The landmark of its strongest edge does not count, unless it is the only one: it may be the sample itself. A
        single one far away counts little: samples in the midst of many have such edges, too.
        """
        if self.unlike is None:
            return np.ones(self.weights.shape[0])
        weights = self.weights.astype(np.float64, copy=True)
        weights[np.arange(len(weights)), weights.argmax(axis=1)] *= NOTHING
        return np.asarray(np.exp((weights * np.log(self.unlike)).sum(axis=1) / weights.sum(axis=1)))

    def with_shares(self, weights: Matrix) -> "Edges":
        """Return the edges with what each view adds to those of a sample, (n, n_views), which need not sum to one."""
        return replace(self, shares=(weights / weights.sum(axis=1, keepdims=True)).astype(np.float32))

    def matrices(self) -> "Iterator[Array]":
        """Yield W for rows whose part of it stays in the cache."""
        for rows in row_slices(self.index.shape[0], self.n_landmarks):
            yield Edges(self.index[rows], self.weights[rows], self.n_landmarks).matrix()

    def matrix(self) -> Array:
        """Return W, (n, p), sparse unless most of it is there."""
        n, r = self.index.shape
        weights = self.weights.astype(np.float64)
        if r == self.n_landmarks:
            return weights
        starts = np.arange(0, n * r + 1, r)
        W = sparse.csr_array((weights.ravel(), self.index.ravel(), starts), shape=(n, self.n_landmarks))
        return W.toarray() if r > DENSE_SHARE * self.n_landmarks else W

    def dense(self) -> Matrix:
        """Return W as a dense matrix."""
        W = np.zeros((self.index.shape[0], self.n_landmarks))
        np.put_along_axis(W, self.index.astype(np.int64), self.weights.astype(np.float64), axis=1)
        return W


@dataclass(frozen=True)
class LandmarkExpression:
    """How samples are expressed over landmarks."""

    bank: FittedBank  # with the landmarks
    kernel_weights: Matrix
    expression: Expression
    n_neighbors: int | None  # strongest edges that a sample keeps; None for all
    edge_weights: EdgeWeights
    widths: tuple[int, ...]  # features of each view
    views: tuple[int, ...] | None = None  # which of them the bank has; None for all
    scale: float = 1.0  # mean kernel value of a landmark with itself

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks, p."""
        return int(self.expression.inverse.shape[0])

    def edges(self, block: Array) -> Edges:
        """Return the edges from a block of samples to the landmarks."""
        return Edges.join([self._edges(block[rows]) for rows in row_slices(block.shape[0], self.n_landmarks)])

    def _edges(self, samples: Array) -> Edges:
        views = split_views(samples, self.widths)
        kept = views if self.views is None else [views[view] for view in self.views]
        cross, distances = self.bank.cross_and_distances(kept, self.kernel_weights)
        edges = self.edges_from(cross)
        return edges.with_unlike(self.unlike(edges.at(cross), edges.at(distances)))

    def edges_from(self, cross: Array) -> Edges:
        """Return the edges of samples from their kernel values with the landmarks, (n, p)."""
        return Edges.strongest(self.expression.edges(cross), self.n_neighbors, self.edge_weights)

    def unlike(self, cross: Array, distances: Array) -> Array:
        """Return how unlike samples and landmarks are: the geometric mean of squared distances of kernel and rows."""
        by_kernel = np.clip(1 - cross / self.scale, 0.0, 1.0)
        return np.clip(np.sqrt(by_kernel * distances), LEAST_LEFT, MOST_LEFT)


@dataclass(frozen=True)
class Reduction:
    """What the embedding needs to know about samples."""

    products: Matrix  # W'W, (p, p)
    totals: Matrix  # sums of the columns of W, (p,)
    left: Matrix  # the same of what is left of samples, (p,)

    @classmethod
    def of(cls, edges: Edges) -> "Reduction":
        """Reduce a block of samples."""
        p = edges.n_landmarks
        products, totals = np.zeros((p, p)), np.zeros(p)
        for W in edges.matrices():
            inner = W.T @ W
            products += inner.toarray() if sparse.issparse(inner) else inner
            totals += W.sum(axis=0)
        own = (edges.weights * edges.left()[:, None]).ravel()
        return cls(products, totals, np.bincount(edges.index.ravel(), own, minlength=p).astype(np.float64))

    def __add__(self, other: "Reduction") -> "Reduction":
        names = ("products", "totals", "left")
        return Reduction(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True)
class Standing:
    r"""What the landmarks have of samples, by which those are found that stand aside.

    What is left of a sample is the geometric mean over its landmarks of :math:`\sqrt{(1 - k(x, l))\, \|x - l\|^2}`.
    It is compared with what is left of the others at the same landmarks, or with half of all.
    """

    left: Matrix  # mean of what is left of samples at each landmark, (p,)
    common: float  # what is left of half of the samples, at most

    @classmethod
    def of(cls, reduction: Reduction) -> "Standing":
        """Take the means, and their median by the edges."""
        C = reduction.totals
        left = np.where(C > 0, reduction.left / np.where(C > 0, C, 1.0), 1.0)
        order = np.argsort(left)
        middle = np.searchsorted(np.cumsum(C[order]), C.sum() / 2)
        return cls(left, float(left[order][min(int(middle), len(order) - 1)]))

    def scores(self, edges: Edges) -> Single:
        """Return how far samples stand aside, from 0 to 1: 1/2 where twice as much is left as of others."""
        near = (edges.weights / self.left[edges.index]).sum(axis=1)
        ratio = edges.left() * np.maximum(near, 1 / self.common)
        return np.asarray(1 - 1 / np.maximum(ratio, 1.0), dtype=np.float32)


@dataclass(frozen=True)
class BipartiteEmbedding:
    """How edges to landmarks place samples."""

    basis: Matrix  # C^-1/2 u / sigma, (p, k): edges times basis give coordinates
    values: Matrix  # sigma, (k,)
    spectrum: Spectrum
    standing: Standing | None = None  # of the fitted samples, while they are placed

    @classmethod
    def of(cls, reduction: Reduction, n_components: int, spectrum: Spectrum) -> "BipartiteEmbedding":
        """Take the singular vectors of largest singular value; for ``"random_walk"`` rows keep their lengths."""
        C = reduction.totals
        scale = np.where(C > 0, 1 / np.sqrt(np.where(C > 0, C, 1.0)), 0.0)
        A = scale[:, None] * reduction.products * scale[None, :]
        values, vectors = eigh(A / 2 + A.T / 2, overwrite=True)
        # Landmarks that no sample connects have vectors of their own, of value 1; edges are of single precision.
        parts = partial(component_vectors, sparse.csr_array(reduction.products), n_components, np.sqrt(C))
        vectors = choose_vectors(
            values, vectors, n_components, known=lambda value: parts() if value > 1 - SINGLE else None, tol=SINGLE
        )
        sigma = np.sqrt(np.maximum(np.sort(values)[::-1][:n_components], 0.0))
        counts = sigma > NOTHING * sigma[0]
        inverse = np.where(counts, 1 / np.where(counts, sigma, 1.0), 0.0)
        return cls(scale[:, None] * with_positive_peaks(vectors) * inverse[None, :], sigma, spectrum)

    def place(self, edges: Edges) -> Single:
        """Return the coordinates of samples, (n, k)."""
        return np.concatenate([self._place(W).astype(np.float32) for W in edges.matrices()])

    def place_with_scores(self, edges: Edges) -> tuple[Single, Single | None, Single | None]:
        """Return the coordinates of samples, the shares of the views in their edges, and how far they stand aside."""
        return self.place(edges), edges.shares, None if self.standing is None else self.standing.scores(edges)

    def _place(self, W: Array) -> Array:
        coordinates = W @ self.basis
        return coordinates if self.spectrum == "random_walk" else unit_rows(coordinates)


def spread(X: Array, n_landmarks: int, random_state: np.random.RandomState) -> Labels:
    """Draw different rows one after the other, far ones with higher probability (k-means++).

    Parameters
    ----------
    X : array or csr matrix of shape (n, d)
        Samples.
    n_landmarks : int
        p, at most n.
    random_state : numpy.random.RandomState
        Draws one number for each landmark.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Rows in the order in which they were drawn; copies of a row only when no others are left.
    """
    X = X.astype(np.float64)
    space, first = FeatureSpace(X / (float(abs(X).max()) or 1.0)), int(random_state.random_sample() * X.shape[0])
    return np.asarray(plus_plus(space, 1, n_landmarks, random_state, first=first)[0])


def settle(X: Array, landmarks: Array, max_iter: int) -> Array:
    """Move landmarks to the means of the samples that are nearest to them, so many times; a lonely one stays.

    Both matrices are dense, or both sparse.
    """
    unit = power_of_two(float(abs(X).max()))  # in which squares do not overflow
    X = X.astype(np.float64) if unit == 1 else X.astype(np.float64) / unit
    blocks = [X[rows] for rows in row_slices(X.shape[0], landmarks.shape[0])]
    settled = Centres(landmarks.astype(np.float64) / unit).settle(LocalParts(blocks, None), max_iter)
    return (settled.points * unit).astype(landmarks.dtype)


def leverage_scores(cross: Matrix, K: Matrix, alpha: float) -> Matrix:
    """Return ridge leverage scores of samples, from their kernel values (n, q) with q pilots and those of the pilots.

    With the kernel of Nystroem, B B' for B = cross K^-1/2, they are the diagonal of B (B'B + alpha I)^-1 B'.
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-10 * max(float(values[-1]), 0.0)  # K may be singular, and indefinite, of kernels that are not
    if not kept.any():
        return np.ones(cross.shape[0])  # no sample is told from another
    B = cross @ (vectors[:, kept] / np.sqrt(values[kept]))
    A = add_to_diagonal(B.T @ B, alpha)
    return np.asarray((B * cho_solve(cho_factor(A), B.T).T).sum(axis=1))


def draw(scores: Matrix, n_landmarks: int, random_state: np.random.RandomState) -> Labels:
    """Draw different rows with probabilities proportional to their scores (exponential clocks)."""
    clocks = -np.log(1 - random_state.random_sample(scores.shape[0])) / np.maximum(scores, 1e-300)
    return np.argsort(clocks, kind="stable")[:n_landmarks]
