"""Few known labels spread along a graph."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

from kernelbraid._arrays import to_numpy
from kernelbraid._linalg import blas_threads
from kernelbraid._typing import Array
from kernelbraid.ops.spectral import degrees, normalised_graph

# Relative residual of the linear system.
ACCURACY = 1e-12


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
        A = sparse.eye_array(n, format="csr") - spread * S.astype(np.float64)  # positive definite: S has norm 1
        columns = [cg(A, column, rtol=ACCURACY, maxiter=10 * n)[0] for column in given.T]
    return np.asarray(np.maximum(np.stack(columns, axis=1), 0.0))


def shares_of(spread: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; a sample that no label reaches gets even shares."""
    totals = spread.sum(axis=1, keepdims=True)
    even = np.full_like(spread, 1 / spread.shape[1])
    return np.where(totals > 0, spread / np.where(totals > 0, totals, 1.0), even)


def reached_by(edges: np.ndarray, graph: Array, spread: np.ndarray) -> np.ndarray:
    """Return the shares that come to new samples along their edges to the vertices of a graph."""
    D = degrees(graph if sparse.issparse(graph) else to_numpy(graph))
    return shares_of(edges @ (spread / np.sqrt(np.where(D > 0, D, 1.0))[:, None]))
