"""Graphs: refined from what was learned, with their degrees divided out, and as coordinates that k-means clusters."""

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import (
    add_to_diagonal,
    as_rows,
    asarray_like,
    is_on_host,
    kth_of_rows,
    namespace,
    peaks_of_rows,
    row_blocks,
    symmetric_part,
    to_numpy,
)
from kernelbraid._linalg import choose_vectors, eigh, leading_eigenvectors, outer_eigh, tolerance
from kernelbraid._typing import Array, Host
from kernelbraid.ops.closed_forms import nonnegative

#: What an edge weighs: what was learned, that relative to the strongest edge of its column, or one.
EdgeWeights: TypeAlias = Literal["learned", "scaled", "binary"]
DEVICE_SHARE = 64  # blocks on an accelerator, in units of those on the host: it waits for each
#: Which eigenvectors of a graph span the embedding.
Spectrum: TypeAlias = Literal["largest", "magnitude", "unnormalised", "random_walk"]
#: What each sorts eigenvalues by, highest first.
RANKS: dict[Spectrum, Callable[[np.ndarray], np.ndarray]] = {
    "largest": np.asarray,
    "random_walk": np.asarray,
    "magnitude": np.abs,
    "unnormalised": np.negative,
}
#: Eigenvectors beside those that are taken, at most, among which others share the last eigenvalue; of dense graphs.
MORE, FEW_MORE = 50, 10


def refine_graph(
    A: Array, *, n_neighbors: int | None = None, edge_weights: EdgeWeights = "learned", counts: Host | None = None
) -> Array:
    """Return the symmetric graph of coefficients, with the strongest neighbours of every sample alone if asked for.

    Parameters
    ----------
    A : array of shape (n, n)
        Coefficients: column j expresses sample j by the others. Negative ones count as zero.
    n_neighbors : int, default=None
        Entries that stay in each column, the largest ones off the diagonal (more where several are equal to the last
        of them), and the diagonal becomes zero. None keeps everything, the diagonal included.
    edge_weights : {"learned", "scaled", "binary"}, default="learned"
        Keep the entries, divide each column by its largest one, or set all of them to one.
    counts : ndarray of shape (n,), default=None
        As how many each sample counts, which is how heavy its entries are in every column, and its own column.

    Returns
    -------
    array or csr array of shape (n, n)
        Symmetric and not negative: a sparse NumPy array if `n_neighbors` is a number, whatever the library of A.
    """
    A = A if counts is None else asarray_like(counts, A)[:, None] * A
    if n_neighbors is not None:
        return joined_edges(strongest_edges(A, n_neighbors), edge_weights, counts)
    A = refine_columns(nonnegative(A), n_neighbors=None, edge_weights=edge_weights)
    return symmetrise(A if counts is None else A * asarray_like(counts, A)[None, :])


def joined_edges(edges: Array, edge_weights: EdgeWeights, counts: Host | None = None) -> Array:
    """Return the symmetric graph of the strongest edges of each sample, which are rows and may be changed."""
    weigh_edges(edges, edge_weights)
    if counts is not None:
        edges.data *= np.repeat(counts, np.diff(edges.indptr)).astype(edges.dtype)
    edges.data /= 2  # by two as such, the sum would be double for single precision
    return sparse.csr_array(edges + edges.T)


def weigh_edges(edges: Array, edge_weights: EdgeWeights) -> None:
    """Give the edges of each sample, which are rows, other weights."""
    if edge_weights == "binary":
        edges.data[:] = 1.0
    elif edge_weights == "scaled":
        edges.data /= np.repeat(edges.max(axis=1).toarray().ravel(), np.diff(edges.indptr))


def strongest_edges(A: Array, n_neighbors: int) -> Array:
    """Return the largest positive entries off the diagonal of each column as the rows of a csr array."""
    n = A.shape[0]
    share = 1.0 if is_on_host(A) else DEVICE_SHARE
    parts = [_strongest(A, columns, min(n_neighbors, n)) for columns in row_blocks(n, share)]
    values, indices, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return sparse.csr_array((values, indices, np.concatenate([[0], np.cumsum(counts)])), shape=(n, n))


def _strongest(A: Array, columns: slice, k: int) -> tuple[Host, Host, Host]:
    """Return values and rows of the largest entries of some columns, and their number in each."""
    xp = namespace(A)
    block = as_rows(A, columns)
    n_rows, n = block.shape
    itself = block[:, columns]
    block[:, columns] = add_to_diagonal(itself, -xp.linalg.diagonal(itself))
    # The largest entries of parts of each row, which are found fast, tell nearly which they are.
    flags = (block > 0) & (kth_of_rows(peaks_of_rows(block, k), -k)[:, None] <= block)
    (places,) = xp.nonzero(xp.reshape(flags, (-1,)))
    values = to_numpy(xp.take(xp.reshape(block, (-1,)), places))
    rows, indices = np.divmod(to_numpy(places), n)
    counts = np.bincount(rows, minlength=n_rows)
    each = np.zeros((n_rows, max(int(counts.max()), k)), dtype=values.dtype)
    each[rows, np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]] = values
    kept = values >= kth_of_rows(each, -k)[rows]
    return values[kept], indices[kept].astype(np.int32), np.bincount(rows[kept], minlength=n_rows)


def with_strongest_edges(graph: Array, n_neighbors: int) -> Array:
    """Return a symmetric csr array with the edges that are among so many strongest ones of either end."""
    strong = strongest_of_rows(graph, n_neighbors)
    return sparse.csr_array(strong.maximum(strong.T))


def strongest_of_rows(graph: Array, n_neighbors: int) -> Array:
    """Return a csr array with so many of the largest entries of each row."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((-graph.data, rows))
    is_strong = np.empty(len(order), dtype=bool)
    is_strong[order] = np.arange(len(order)) - graph.indptr[rows] < n_neighbors
    ends = (rows[is_strong], graph.indices[is_strong])
    return sparse.csr_array((graph.data[is_strong], ends), shape=graph.shape)


def unit_sums(A: Array) -> Array:
    """Return a sparse matrix whose rows sum to one; rows of zeros stay."""
    sums = degrees(A)
    return sparse.csr_array(sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ A)


def refine_columns(A: Array, *, n_neighbors: int | None, edge_weights: EdgeWeights) -> Array:
    """Return coefficients with the strongest of each column alone, weighted as asked; A is not negative."""
    xp = namespace(A)
    zero = asarray_like(0.0, A)
    if n_neighbors is not None and n_neighbors < A.shape[0]:
        A = xp.where(kth_of_rows(A.T, -n_neighbors)[None, :] <= A, A, zero)
    if edge_weights == "scaled":
        largest = xp.max(A, axis=0)
        return A / xp.where(largest > 0, largest, 1 + zero)[None, :]
    return xp.where(A > 0, 1 + zero, zero) if edge_weights == "binary" else A


def symmetrise(A: Array) -> Array:
    """Return (A + A') / 2, computed so that it is exactly symmetric and does not overflow."""
    return A / 2 + A.T / 2


def normalised_graph(S: Array) -> Array:
    """Return D^-1/2 S D^-1/2 for a symmetric nonnegative graph with degrees D; an isolated vertex keeps zeros.

    A sparse graph stays sparse.
    """
    S, scale = _with_inverse_roots(S)
    if sparse.issparse(S):
        rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
        return sparse.csr_array((S.data * (scale[rows] * scale[S.indices]), S.indices, S.indptr), shape=S.shape)
    S *= scale[:, None]
    S *= scale[None, :]
    return symmetric_part(S)


def degrees(S: Array) -> Array:
    """Return the sums of the rows of a graph, sparse or not."""
    return np.asarray(S.sum(axis=1)).ravel() if sparse.issparse(S) else namespace(S).sum(S, axis=1)


def _with_inverse_roots(S: Array) -> tuple[Array, Array]:
    """Return a graph divided by its largest edge, and D^-1/2 for its degrees D."""
    if sparse.issparse(S):
        largest = S.data.max(initial=0.0) or 1.0  # of the graph's own type: a float would make it double
        S = sparse.csr_array((S.data / largest, S.indices, S.indptr), shape=S.shape)
        return S, 1 / (float(np.finfo(S.dtype).eps) + np.sqrt(degrees(S)))
    xp = namespace(S)
    largest = xp.max(S)
    S = S / xp.where(largest > 0, largest, asarray_like(1.0, S))  # degrees cannot overflow
    return S, 1 / (float(xp.finfo(S.dtype).eps) + xp.sqrt(degrees(S)))


def laplacian(S: Array) -> Array:
    """Return D - S for a symmetric graph with degrees D, scaled by the largest absolute entry of S."""
    xp = namespace(S)
    largest = xp.max(xp.abs(S))
    S = S / xp.where(largest > 0, largest, asarray_like(1.0, S))
    return add_to_diagonal(-S, xp.sum(S, axis=1))


def spectral_vectors(S: Array, n_components: int, *, spectrum: Spectrum = "largest") -> Array:
    """Return orthonormal eigenvectors of a graph that vary little along its edges.

    Parameters
    ----------
    S : array or csr array of shape (n, n)
        Symmetric graph; nonnegative unless ``"unnormalised"``. Of a sparse one, the eigenvectors of largest eigenvalue
        come from products with it.
    n_components : int
        Number of eigenvectors.
    spectrum : {"largest", "magnitude", "unnormalised", "random_walk"}, default="largest"
        ``"largest"`` and ``"random_walk"`` take the eigenvectors of largest eigenvalue of D^-1/2 S D^-1/2 (Ng,
        Jordan and Weiss), ``"magnitude"`` those of largest absolute eigenvalue, which are the leading left singular
        vectors, and ``"unnormalised"`` those of smallest eigenvalue of the Laplacian D - S.

    Returns
    -------
    array of shape (n, n_components)
        The largest entry of each eigenvector is positive.
    """
    if sparse.issparse(S):
        if spectrum in ("largest", "random_walk"):
            return _sparse_vectors(S, n_components)
        S = S.toarray()
    values, vectors = _outer_vectors(S, n_components, spectrum)
    known = partial(_known_vectors, S, n_components, spectrum)
    chosen = choose_vectors(to_numpy(values), vectors, n_components, rank=RANKS[spectrum], known=known)
    return with_positive_peaks(chosen)


def _outer_vectors(S: Array, count: int, spectrum: Spectrum) -> tuple[Array, Array]:
    """Return eigenvalues of a dense graph, ascending, and eigenvectors: all that share an eigenvalue with one taken."""
    is_plain = spectrum == "unnormalised"
    form = laplacian if is_plain else normalised_graph
    found = None
    if spectrum != "magnitude":  # which may be at either end
        found = outer_eigh(form(S), min(count + FEW_MORE, S.shape[0]), largest=not is_plain)
    if found is not None:
        last, beyond = (found[0][count - 1], found[0][-1]) if is_plain else (found[0][-count], found[0][0])
        if abs(last - beyond) > tolerance(found[1].dtype):
            return found
    return eigh(form(S), overwrite=True)


def _known_vectors(S: Array, most: int, spectrum: Spectrum, value: float) -> Array | None:
    """Return the eigenvectors that are known of an eigenvalue: those of components, where it is theirs."""
    xp, is_plain = namespace(S), spectrum == "unnormalised"
    if abs(value - (0 if is_plain else 1)) > tolerance(S.dtype, xp) or bool(xp.min(S) < 0):
        return None
    graph = sparse.csr_array(to_numpy(S))
    return asarray_like(component_vectors(graph, most, np.ones(graph.shape[0]) if is_plain else None), S)


def with_positive_peaks(vectors: Array) -> Array:
    """Return vectors of which the largest entry is positive."""
    xp = namespace(vectors)
    peaks = xp.take_along_axis(vectors, xp.argmax(xp.abs(vectors), axis=0)[None, :], axis=0)
    return vectors * xp.where(peaks < 0, asarray_like(-1.0, vectors), asarray_like(1.0, vectors))


def _sparse_vectors(S: Array, n_components: int) -> Array:
    """Return the eigenvectors of largest eigenvalue of a sparse graph, in its precision.

    Those of eigenvalue 1 are the roots of the degrees on each connected component, larger components first.
    """
    dtype = S.dtype
    S, _ = _with_inverse_roots(S.astype(np.float64))  # with edges up to one, degrees cannot overflow
    known = component_vectors(S, n_components)
    left = n_components - known.shape[1]
    if left > 0:
        known = np.hstack([known, _leading_vectors(normalised_graph(S), known, left, tolerance(dtype))])
    return with_positive_peaks(known).astype(dtype)


def _leading_vectors(N: Array, known: Array, count: int, tol: float) -> Array:
    """Return the eigenvectors of largest eigenvalue beside the known ones, with all that share the last eigenvalue."""
    most = N.shape[0] - known.shape[1]
    for more in (1, MORE):
        taken = min(count + more, most)
        vectors = leading_eigenvectors(N, known, taken)
        values = np.sum(vectors * (N @ vectors), axis=0)
        if taken == most or values[count - 1] - values[-1] > tol:
            break
    order = np.argsort(values, kind="stable")
    return choose_vectors(values[order], vectors[:, order], count, tol=tol)


def component_vectors(S: Array, most: int, roots: np.ndarray | None = None) -> Array:
    """Return vectors of length one on each of at most so many components: parts of `roots`, those of the degrees."""
    _, part = connected_components(S, directed=False)
    if roots is None:
        roots = np.sqrt(degrees(S))
    sizes = np.bincount(part, weights=roots > 0)  # isolated vertices have no eigenvalue 1
    order = np.argsort(-sizes, kind="stable")[: min(most, np.count_nonzero(sizes))]
    place = np.full(sizes.shape[0], -1)
    place[order] = np.arange(order.shape[0])
    rows = np.flatnonzero(place[part] >= 0)
    known = np.zeros((S.shape[0], order.shape[0]), dtype=S.dtype)
    known[rows, place[part[rows]]] = roots[rows]
    return known / np.linalg.norm(known, axis=0)


def spectral_embedding(S: Array, n_components: int, *, spectrum: Spectrum = "largest") -> Array:
    """Return the rows of :func:`spectral_vectors`, each of length one (rows of zeros stay).

    With ``"random_walk"`` they are divided by the roots of the degrees instead: the eigenvectors of the random walk
    D^-1 S, each of the same length in the norm of D.
    """
    return embed_rows(S, spectral_vectors(S, n_components, spectrum=spectrum), spectrum)


def embed_rows(S: Array, vectors: Array, spectrum: Spectrum) -> Array:
    """Return the coordinates of the vertices of a graph from its eigenvectors, as :func:`spectral_embedding` does."""
    if spectrum != "random_walk":
        return unit_rows(vectors)
    S, scale = _with_inverse_roots(S)
    empty = degrees(S) == 0
    return namespace(vectors).where(empty[:, None], asarray_like(0.0, vectors), vectors * scale[:, None])


def unit_rows(A: Array) -> Array:
    """Scale each row to length one; rows of zeros stay."""
    xp = namespace(A)
    lengths = xp.linalg.vector_norm(A, axis=1, keepdims=True)
    return A / xp.where(lengths > 0, lengths, asarray_like(1.0, A))
