"""From learned coefficients to a graph: whose neighbour is who, and how much that counts."""

from typing import Literal, TypeAlias

from kernelbraid._arrays import asarray_like, identity_like, kth_largest, namespace
from kernelbraid._typing import Array
from kernelbraid.ops.proximal import nonnegative
from kernelbraid.ops.spectral import normalised_graph, symmetrise

#: What an edge weighs: what was learned, that relative to the strongest edge of its column, or one.
EdgeWeights: TypeAlias = Literal["learned", "scaled", "binary"]


def refine_graph(A: Array, *, n_neighbors: int | None = None, edge_weights: EdgeWeights = "learned") -> Array:
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

    Returns
    -------
    array of shape (n, n)
        Symmetric and not negative.
    """
    A = nonnegative(A)
    if n_neighbors is not None:
        A = A * (1 - identity_like(A))
    return symmetrise(refine_columns(A, n_neighbors=n_neighbors, edge_weights=edge_weights))


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


def average_graphs(graphs: list[Array]) -> Array:
    """Return the mean of graphs, each with its degrees divided out: what most of them agree on stays strong."""
    total = normalised_graph(graphs[0])
    for graph in graphs[1:]:
        total = total + normalised_graph(graph)
    return total / len(graphs)
