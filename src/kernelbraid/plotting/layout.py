"""Two coordinates for every sample: principal axes of the spectral embedding, or a map of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from kernelbraid.estimators import LKG

Layout: TypeAlias = Literal["auto", "spectral", "graph"]
LAYOUTS = get_args(Layout)
MOST_POINTS = 20_000  # that are drawn on principal axes
MOST_MAPPED = 2_000  # that are laid out as a map, which takes a few seconds
FEWEST_MAPPED = 6  # samples: fewer have no neighbourhoods
PLANE = 3  # clusters that principal axes tell apart: their unit vectors span a plane
NEIGHBOURS = 30  # of a sample that draw it near
STEPS = 500  # of gradient descent
START, JITTER = 1e-4, 1e-6  # spread of the first coordinates, and what parts points that are the same
FAINT = 1e-6  # weight of neighbours in the embedding beside those in the graph


def place(model: LKG, layout: Layout = "auto", most: int | None = None) -> tuple[np.ndarray, slice, Layout]:
    """Return coordinates in the plane, (n_drawn, 2), the samples that are drawn, and the layout they have.

    Parameters
    ----------
    model : LKG
        Fitted estimator.
    layout : {"auto", "spectral", "graph"}, default="auto"
        As for :func:`~kernelbraid.plotting.plot_embedding`.
    most : int, default=None
        Samples on a map; 2,000 if None.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout={layout!r} is not one of {', '.join(map(repr, LAYOUTS))}.")
    embedding = np.asarray(model.embedding_)
    n = embedding.shape[0]
    is_simple = layout == "auto" and len(np.unique(model.labels_)) <= PLANE
    if layout == "spectral" or is_simple or n < FEWEST_MAPPED:
        drawn = slice(None, None, -(-n // MOST_POINTS))
        return principal_axes(embedding[drawn]), drawn, "spectral"
    drawn = slice(None, None, -(-n // (most or MOST_MAPPED)))
    return _map(_distances(getattr(model, "graph_", None), embedding, drawn), embedding[drawn]), drawn, "graph"


def principal_axes(points: np.ndarray) -> np.ndarray:
    """Return the coordinates on the first two principal axes, (n, 2), with a sign that does not depend on chance."""
    centred = points - points.mean(axis=0)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.where(right[np.arange(len(right)), np.abs(right).argmax(axis=1)] < 0, -1.0, 1.0)
    coordinates = (left * values * signs)[:, :2]
    return np.pad(coordinates, ((0, 0), (0, 2 - coordinates.shape[1])))


def middles_of(points: np.ndarray, labels: np.ndarray) -> list[tuple[float, float, int]]:
    """Return where the sample in the middle of each cluster stands, and which cluster it is."""
    found = []
    for cluster in np.unique(labels).tolist():
        own = points[labels == cluster]
        x, y = own[np.linalg.norm(own - np.median(own, axis=0), axis=1).argmin()].tolist()
        found.append((x, y, cluster))
    return found


def _map(distances: sparse.csr_array, embedding: np.ndarray) -> np.ndarray:
    """Lay samples out by t-SNE over the distances to their neighbours; the same input gives the same map."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    start = principal_axes(embedding)
    start *= START / (start[:, 0].std() or 1.0)
    start = _parted(start)
    n_neighbors = distances.nnz // distances.shape[0] - 1
    options: dict[str, Any] = {"metric": "precomputed", "init": start.astype(np.float32), "max_iter": STEPS}
    tsne = TSNE(perplexity=(n_neighbors - 1) / 3, random_state=0, **options)  # three times as many are looked at
    with threadpool_limits(1):  # the order in which threads add up would show
        return tsne.fit_transform(distances)


def _distances(graph: Any, embedding: np.ndarray, drawn: slice) -> sparse.csr_array:
    """Return the distances of each drawn sample to itself and to its neighbours, ascending in every row.

    Neighbours are those of the graph and theirs, near if a walk of one or two steps often ends there:
    d^2 = 1 - log w, so that t-SNE has powers of w as affinities. A sample with few of them has others that are near in
    the embedding, far behind. If the graph is not one of all samples, the embedding alone
    decides.
    """
    from sklearn.neighbors import NearestNeighbors

    points = _parted(embedding[drawn])
    n = points.shape[0]
    k = min(NEIGHBOURS, n - 1)
    distances, neighbours = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    if graph is None or graph.shape[0] != embedding.shape[0]:
        return _with_itself(distances, neighbours)
    reached = _walk(graph, drawn)
    beside = FAINT * np.exp(-((distances / (distances.max() or 1.0)) ** 2))
    beside = sparse.csr_array((beside.ravel(), neighbours.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    strongest = _strongest_of_rows(sparse.csr_array(reached / (reached.max() or 1.0) + beside), k)
    distances = np.sqrt(1.0 - np.log(np.minimum(strongest.data, 1.0)))
    return _with_itself(distances.reshape(n, k), strongest.indices.reshape(n, k))


def _parted(points: np.ndarray) -> np.ndarray:
    """Return points of which no two are the same: those of a cluster that nothing joins with another one would be."""
    return points + np.random.default_rng(0).normal(scale=JITTER, size=points.shape)


def _walk(graph: Any, drawn: slice) -> sparse.csr_array:
    """Return how often walks between drawn samples end where, after one and after two steps, in both directions."""
    edges = _strongest_of_rows(sparse.csr_array(graph), NEIGHBOURS)
    degrees = edges.sum(axis=1)
    step = sparse.diags_array(1.0 / np.where(degrees > 0, degrees, 1.0)) @ edges
    away, home = step[drawn], step[:, drawn]
    ends = sparse.csr_array(home[drawn] + away @ home)
    ends.setdiag(0.0)
    ends.eliminate_zeros()
    return sparse.csr_array(ends + ends.T)


def _strongest_of_rows(matrix: sparse.csr_array, k: int) -> sparse.csr_array:
    """Return the k largest stored entries of each row, the largest first; of equal ones those of the first columns."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    order = order[np.arange(order.size) - matrix.indptr[rows] < k]
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[order], minlength=matrix.shape[0]))])
    return sparse.csr_array((matrix.data[order], matrix.indices[order], ends), shape=matrix.shape)


def _with_itself(distances: np.ndarray, neighbours: np.ndarray) -> sparse.csr_array:
    """Return distances to neighbours, (n, k), as a sparse matrix in which each sample is its own first neighbour."""
    n, k = neighbours.shape
    values = np.hstack([np.zeros((n, 1)), distances]).ravel()
    columns = np.hstack([np.arange(n)[:, None], neighbours]).ravel()
    return sparse.csr_array((values, columns, np.arange(0, n * (k + 1) + 1, k + 1)), shape=(n, n))
