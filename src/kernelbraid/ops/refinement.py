"""From learned coefficients to a graph: whose neighbour is who, and how much that counts."""

from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._arrays import (
    add_to_diagonal,
    as_rows,
    asarray_like,
    is_on_host,
    kth_largest,
    kth_largest_of_rows,
    namespace,
    row_blocks,
    to_numpy,
)
from kernelbraid._typing import Array, Host
from kernelbraid.ops.closed_forms import nonnegative
from kernelbraid.ops.spectral import symmetrise

#: What an edge weighs: what was learned, that relative to the strongest edge of its column, or one.
EdgeWeights: TypeAlias = Literal["learned", "scaled", "binary"]
DEVICE_SHARE = 64  # blocks on an accelerator, in units of those on the host: it waits for each


def refine_graph(
    A: Array,
    *,
    n_neighbors: int | None = None,
    edge_weights: EdgeWeights = "learned",
    counts: Host | None = None,
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
    A = nonnegative(A)
    A = A if edge_weights == "learned" else refine_columns(A, n_neighbors=None, edge_weights=edge_weights)
    return symmetrise(A if counts is None else A * asarray_like(counts, A)[None, :])


def joined_edges(edges: Array, edge_weights: EdgeWeights, counts: Host | None = None) -> Array:
    """Return the symmetric graph of the strongest edges of each sample, which are rows and may be changed."""
    if edge_weights == "binary":
        edges.data[:] = 1.0
    elif edge_weights == "scaled":
        strongest = edges.max(axis=1).toarray().ravel()
        edges.data /= np.repeat(strongest, np.diff(edges.indptr))
    if counts is not None:
        edges.data *= np.repeat(counts, np.diff(edges.indptr)).astype(edges.dtype)
    edges.data /= 2  # by two as such, the sum would be double for single precision
    return sparse.csr_array(edges + edges.T)


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
    kept = (block > 0) & (kth_largest_of_rows(block, k)[:, None] <= block)
    rows, indices = xp.nonzero(kept)
    values = xp.take(xp.reshape(block, (-1,)), rows * n + indices)
    counts = np.bincount(to_numpy(rows), minlength=n_rows)
    return to_numpy(values), to_numpy(indices).astype(np.int32), counts


def refine_columns(A: Array, *, n_neighbors: int | None, edge_weights: EdgeWeights) -> Array:
    """Return coefficients with the strongest of each column alone, weighted as asked; A is not negative."""
    xp = namespace(A)
    zero = asarray_like(0.0, A)
    if n_neighbors is not None and n_neighbors < A.shape[0]:
        A = xp.where(kth_largest(A, n_neighbors)[None, :] <= A, A, zero)
    if edge_weights == "scaled":
        largest = xp.max(A, axis=0)
        return A / xp.where(largest > 0, largest, 1 + zero)[None, :]
    return xp.where(A > 0, 1 + zero, zero) if edge_weights == "binary" else A
