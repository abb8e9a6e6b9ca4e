"""Few known labels spread along a graph."""

import numpy as np
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid._machine import blas_threads
from kernelbraid._typing import Array
from kernelbraid.ops.graphs import degrees, normalised_graph

# Relative error of every entry, however small: far from the known labels all of them are, and they decide there.
ACCURACY = 1e-10


def spread_labels(graph: Array, given: np.ndarray, spread: float, threads: int | None = None) -> np.ndarray:
    """Return (I - a S)^-1 Y for S = D^-1/2 G D^-1/2.

    Parameters
    ----------
    graph : array or csr array of shape (n, n)
        G, symmetric and not negative, with degrees D.
    given : ndarray of shape (n, n_classes)
        Y, a one for each known label.
    spread : float
        a, between 0 and 1.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the graph if None.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Not negative.
    """
    n = given.shape[0]
    S = normalised_graph(graph if sparse.issparse(graph) else to_numpy(graph))
    with blas_threads(n, threads):
        if not sparse.issparse(S):
            return np.asarray(np.linalg.solve(np.eye(n) - spread * S, given))
        return _sum_of_powers(spread * S.astype(np.float64), given, spread)


def _sum_of_powers(A: Array, given: np.ndarray, norm: float) -> np.ndarray:
    """Return Y + A Y + A^2 Y + ... for a sparse matrix without negative entries, whose norm is below one.

    Nothing is subtracted, so that small entries are as accurate as large ones.
    """
    total = given
    while True:
        more = A @ total + given
        if np.all(more - total <= ACCURACY * (1 - norm) * more):
            return np.asarray(more)
        total = more


def shares_of(spread: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; a sample that no label reaches gets even shares."""
    totals = spread.sum(axis=1, keepdims=True)
    even = np.full_like(spread, 1 / spread.shape[1])
    return np.where(totals > 0, spread / np.where(totals > 0, totals, 1.0), even)


def evened(shares: np.ndarray, nearness: np.ndarray) -> np.ndarray:
    """Return shares of which so much holds, and the rest is even."""
    return np.asarray(nearness[:, None] * shares + (1 - nearness[:, None]) / shares.shape[1])


def reached_by(edges: np.ndarray, graph: Array, spread: np.ndarray) -> np.ndarray:
    """Return the shares that come to new samples along their edges to the vertices of a graph."""
    D = degrees(graph if sparse.issparse(graph) else to_numpy(graph))
    return shares_of(edges @ (spread / np.sqrt(np.where(D > 0, D, 1.0))[:, None]))
