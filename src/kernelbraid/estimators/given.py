"""What users hand over instead of samples: kernels, and graphs of affinities, or of distances of neighbours."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelbraid._arrays import is_finite, namespace, to_numpy
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import check_n_clusters, forget_names, is_view_list, set_features
from kernelbraid.kernels import as_matrix, list_kernels, stack_kernels
from kernelbraid.learning.extend import Extension
from kernelbraid.learning.given import GivenGraphs, check_edges

#: What `kernels` may say of what X holds instead of samples.
PAIRWISE = PRECOMPUTED, GRAPH, DISTANCES = "precomputed", "graph", "distances"
TRIPLES = 2000  # of samples by which distances are told from affinities
FULL = 0.9  # share of pairs that a matrix of distances stores at least: copies have none
SLACK = 1e-6  # by which a distance may exceed the sum of two others, relative to it


def read_graphs(estimator: BaseEstimator, X: Input, kind: str) -> GivenGraphs:
    """Check graphs that a user hands over.

    Parameters
    ----------
    estimator : estimator
        Has the parameter `n_clusters`, or takes one for all; gets ``n_features_in_``.
    X : matrix of shape (n_samples, n_samples), or list of them
        Sparse or dense; of distances, what a sparse one does not store is no edge.
    kind : {"graph", "distances"}
        Whether large entries mean near samples or far ones.
    """
    forget_names(estimator)
    named = list(_named(X))
    given = [_as_csr(A, name, kind) for A, name in named]
    for A, (_, name) in zip(given, named, strict=True):
        if A.shape[0] != A.shape[1]:
            raise ValueError(f"{name} has shape {tuple(A.shape)}; a graph has a row and a column for every sample.")
        if kind == GRAPH and _looks_like_distances(A):
            told = f"{name} looks like distances, as samples are nothing to themselves"
            raise ValueError(f"{told}; say kernels={DISTANCES!r}, or turn it into affinities.")
    sizes = [A.shape[0] for A in given]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"the graphs of X have {sizes} samples; every graph must have the same samples in the same order."
        )
    check_n_clusters(getattr(estimator, "n_clusters", 1), sizes[0])
    estimator.n_features_in_ = sizes[0]
    samples = GivenGraphs(given, kind == DISTANCES)
    check_edges(samples)
    return samples


def read_rows(estimator: BaseEstimator, X: Input, fitted: Extension) -> list[Array]:
    """Return the rows of new samples in every graph of a fit, as csr arrays."""
    rows = [_as_csr(A, name, fitted.given_as) for A, name in _named(X)]
    if len(rows) != len(fitted.widths):
        raise ValueError(f"X holds {len(rows)} graphs; the fit had {len(fitted.widths)}.")
    for A in rows:
        set_features(estimator, A.shape[1], reset=False)
    if len({A.shape[0] for A in rows}) > 1:
        raise ValueError(
            f"the graphs of X have {[A.shape[0] for A in rows]} rows; every one must have the same new samples in "
            "the same order."
        )
    known = [A if fitted.columns is None else A[:, fitted.columns] for A in rows]
    bare = np.flatnonzero(sum(np.diff(known[view].indptr) for view in fitted.used) == 0)
    if len(bare):
        raise ValueError(
            f"sample {int(bare[0])} of X (counted from 0) has no edge to a fitted one; leave it out, or give it "
            "neighbours."
        )
    return rows


def _named(X: Input) -> list[tuple[Any, str]]:
    """Return the graphs of a list, or one, with what messages call them."""
    if not is_view_list(X):
        return [(X, "X")]
    return [(A, f"graph {number} of X") for number, A in enumerate(X, 1)]


def _as_csr(A: Any, name: str, kind: str) -> Array:
    """Return a graph as a csr array of floating-point numbers that are finite and not negative."""
    if not sparse.issparse(A):
        A = to_numpy(A) if hasattr(A, "shape") else np.asarray(A)
        if A.ndim != 2 or A.dtype.kind not in "fiub":
            raise ValueError(f"{name} is no matrix of numbers; a graph has a row and a column for every sample.")
        if kind == DISTANCES:  # every pair is stored, zeros included
            (n_rows, n), pairs = A.shape, A.ravel()
            A = sparse.csr_array((pairs, np.tile(np.arange(n), n_rows), n * np.arange(n_rows + 1)), shape=A.shape)
    csr = sparse.csr_array(A)
    csr = csr.astype(np.float32 if csr.dtype == np.float32 else np.float64)
    csr.sum_duplicates()
    if not np.isfinite(csr.data).all():
        raise ValueError(f"{name} contains NaN or infinity; leave such edges out.")
    if (csr.data < 0).any():
        row = int(np.searchsorted(csr.indptr, np.argmax(csr.data < 0), side="right")) - 1
        raise ValueError(
            f"{name} has negative weights (row {row}); edges of a graph are positive: leave such ones out, or set "
            "kernels='precomputed' for a kernel."
        )
    if kind == GRAPH and not _has_stored_loops(csr):
        csr.eliminate_zeros()
    return csr


def _has_stored_loops(A: Array) -> bool:
    """Tell whether a graph stores zeros for samples with themselves, as one of distances does."""
    n = min(A.shape)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    zeros = (rows == A.indices) & (A.data == 0)
    return bool(n > 1 and zeros.sum() > n / 2)


def _looks_like_distances(A: Array) -> bool:
    """Tell distances by zeros that are stored for samples with themselves, or by the triangles of a full matrix."""
    if _has_stored_loops(A):
        return True
    n = A.shape[0]
    return n > 2 and A.nnz >= FULL * n * (n - 1) and not A.diagonal().any() and _keeps_triangles(A.toarray())


def _keeps_triangles(D: Array) -> bool:
    """Tell whether no entry is larger than the two of a way by another sample."""
    i, j, k = np.random.RandomState(0).randint(len(D), size=(3, TRIPLES))
    return bool((D[i, k] <= (1 + SLACK) * (D[i, j] + D[j, k])).all())


def refuse_distances(K: Array, name: str) -> None:
    """Refuse distances, or their squares, where kernels are expected."""
    n = K.shape[0] if K.ndim == 2 and K.shape[0] == K.shape[1] else 0
    xp = namespace(K)
    if n < 3 or bool(xp.any(xp.linalg.diagonal(K) != 0)) or not bool(xp.all(K >= 0)):
        return
    D = to_numpy(K).astype(np.float64)
    if np.median(D) > 0 and (_keeps_triangles(D) or _keeps_triangles(np.sqrt(D))):  # else a graph without loops
        raise ValueError(
            f"{name} holds distances, zero for a sample with itself and larger for samples farther apart, and a "
            "kernel is largest for a sample with itself; set kernels='distances', or turn them into a kernel."
        )


def read_kernels(estimator: BaseEstimator, X: Input) -> Array:
    """Return precomputed kernels as a checked stack (n_kernels, n_samples, n_samples)."""
    forget_names(estimator)
    H = stack_kernels(X)
    estimator.n_features_in_ = H.shape[-1]
    return H


def read_cross_kernels(estimator: BaseEstimator, X: Input, n_kernels: int) -> list[Array]:
    """Return as many kernels between new samples (rows) and fitted ones (columns) as the fit had."""
    given = [K for source in sources_of(X) for K in source]
    matrices = [as_matrix(K, f"kernel {i} of X") for i, K in enumerate(given)]
    if len(matrices) != n_kernels:
        raise ValueError(f"X holds {len(matrices)} kernels; the fit had {n_kernels}.")
    shapes = {tuple(K.shape) for K in matrices}
    if len(shapes) > 1 or matrices[0].shape[-1] != estimator.n_features_in_:
        raise ValueError(
            f"X holds kernels of shape {sorted(shapes)}; new samples need (n_samples, {estimator.n_features_in_}): "
            f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input, one for each "
            "fitted sample."
        )
    if not all(is_finite(K) for K in matrices):
        raise ValueError("X contains NaN or infinity; drop such samples or fill them in.")
    return matrices


def sources_of(X: Input) -> list[list[Array]]:
    """Return the kernels of each source: entries of a list are sources of their own, with a kernel or a stack each."""
    if not (isinstance(X, list | tuple) and any(len(getattr(K, "shape", ())) in (2, 3) for K in X)):
        return [list_kernels(X)]  # one source, or a matrix written as nested lists
    return [list_kernels(source) if len(getattr(source, "shape", ())) == 3 else [source] for source in X]
