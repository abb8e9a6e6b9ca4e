"""Samples that a view lacks: whom they would be near there, by way of their neighbours in the other views."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Array
from kernelbraid.ops.graphs import degrees, strongest_of_rows, unit_sums

#: What such an edge weighs beside one that was measured, and how many of them a sample gets for each of those.
LESS, MORE = 0.7, 2


def bridged(graphs: Mapping[int, Array], measured: Sequence[NDArray[np.bool_]], n_neighbors: int | None) -> list[Array]:
    """Return edges for samples that a view lacks, view by view: to the neighbours there of their neighbours elsewhere.

    A sample takes a step along the sum of all graphs to samples that the view has, and one in the graph of the view.
    No value is made up: where nothing is near in any view, no edge comes about.

    Parameters
    ----------
    graphs : mapping of int to csr array of shape (n, n)
        Symmetric graph of each view; nothing at samples that it lacks.
    measured : sequence of ndarray of shape (n,)
        Which samples each view has.
    n_neighbors : int or None
        Edges of a sample in one graph; twice as many of the strongest new ones stay, all of them if None.

    Returns
    -------
    list of csr array of shape (n, n)
        Symmetric; one for every view that lacks samples.
    """
    total = sparse.csr_array(sum(graphs.values()))
    found = []
    for view, graph in graphs.items():
        lacking = np.flatnonzero(~measured[view])
        if len(lacking):
            found.append(_bridge(total, graph, lacking, measured[view], n_neighbors))
    return found


def _bridge(total: Array, graph: Array, lacking: np.ndarray, has: NDArray[np.bool_], n_neighbors: int | None) -> Array:
    """Return the edges of the samples that one view lacks."""
    step = sparse.csr_array(total[lacking]) @ sparse.diags_array(has.astype(float))
    walked = unit_sums(sparse.csr_array(step)) @ graph
    if n_neighbors is not None:
        walked = strongest_of_rows(sparse.csr_array(walked), MORE * n_neighbors)
    usual = float(degrees(graph)[has].mean())
    edges = (unit_sums(sparse.csr_array(walked)) * (LESS * usual)).tocoo()
    n = graph.shape[0]
    one_way = sparse.csr_array((edges.data, (lacking[edges.row], edges.col)), shape=(n, n))
    return sparse.csr_array(one_way + one_way.T)
