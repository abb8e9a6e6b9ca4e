"""From what users hand over to candidate kernels, and from a graph to labels: what all estimators share."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import device as device_of
from kernelbraid._arrays import free_bytes, is_foreign, itemsize, namespace, to_device, to_numpy
from kernelbraid._linalg import blas_threads
from kernelbraid._typing import Array
from kernelbraid.estimators.base import check_n_clusters, identities, is_view_list, read_kernels, read_views
from kernelbraid.estimators.memory import WORKING_MATRICES, choose_storage
from kernelbraid.kernels import (
    FittedBank,
    KernelStack,
    StoredStack,
    as_matrix,
    bank_names,
    banks_for,
    list_kernels,
    n_matrices,
    resolve_kernel,
    stack_bank,
)
from kernelbraid.ops import symmetrise
from kernelbraid.ops.refinement import EdgeWeights, refine_graph
from kernelbraid.ops.spectral import Spectrum, embed_rows, spectral_vectors
from kernelbraid.solvers.kmeans import Clustering, kmeans, separate


@dataclass(frozen=True)
class Candidates:
    """Checked samples and the kernels over them."""

    samples: list[Array]  # views, or precomputed kernels: rows that agree in all are copies of one sample
    stack: KernelStack
    names: list[str]
    fitted: FittedBank | None  # for kernel values of new samples; None for precomputed kernels


def read_candidates(
    estimator: Any,
    X: Any,
    kernels: Any,
    *,
    storage: str = "auto",
    working: float = WORKING_MATRICES,
    copies: float = 0.0,
) -> Candidates:
    """Check what a user hands over, and pose the kernels over it where and how the estimator asks.

    Parameters
    ----------
    estimator : estimator
        Has the parameters `n_clusters`, `memory_budget` and `device`; gets ``n_features_in_``.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, the name of a bank, a list of kernels, or a list of banks.
    storage : {"auto", "stored", "lazy", "fixed"}, default="auto"
        How the kernels are kept, as for :func:`~kernelbraid.estimators.memory.choose_storage`.
    working : float, default=11.0
        Matrices of n_samples x n_samples that the fit needs at its peak beside the kernels.
    copies : float, default=0.0
        Further matrices for each kernel.

    Returns
    -------
    Candidates
        On the device, and stored or lazy.
    """
    place = None if estimator.device is None else partial(to_device, name=estimator.device)
    if isinstance(kernels, str) and kernels == "precomputed":
        return _read_precomputed(estimator, X, place, working, copies)
    views = read_views(estimator, X)
    check_n_clusters(estimator.n_clusters, views[0].shape[0])
    banks = banks_for(kernels, views)
    single = all(itemsize(view.dtype) == 4 for view in views)
    there = views[0] if place is None else place(np.empty(0))
    n_given = sum(map(n_matrices, banks))
    size = {"n_samples": views[0].shape[0], "n_kernels": sum(map(len, banks)), "n_views": len(views)}
    size |= {"itemsize": 4 if single else 8, "n_given": n_given}
    needed: dict[str, Any] = {"working": working + copies * size["n_kernels"]}
    if hasattr(estimator, "_instead"):
        needed["instead"] = estimator._instead([view.shape for view in views])
    stored = _may_store(estimator, there, storage, **needed, **size)
    stack = stack_bank(views, banks, place=place)
    fitted = FittedBank.of(views, banks, stack)
    return Candidates(views, stack.store() if stored else stack, bank_names(banks), fitted)


def read_candidate(estimator: Any, X: Any, kernel: Any, *, working: float) -> Candidates:
    """Do the same for one kernel over one view.

    Parameters
    ----------
    estimator : estimator
        As for :func:`read_candidates`.
    X : matrix
        Samples, or a kernel if `kernel` is ``"precomputed"``.
    kernel : str, kernel or callable
        What :func:`~kernelbraid.kernels.resolve_kernel` takes, or ``"precomputed"``.
    working : float
        As for :func:`read_candidates`.

    Returns
    -------
    Candidates
        One kernel, stored.
    """
    precomputed = isinstance(kernel, str) and kernel == "precomputed"
    given = "precomputed" if precomputed else [resolve_kernel(kernel)]
    name = type(estimator).__name__
    if precomputed and len(list_kernels(X)) > 1:
        raise ValueError(
            f"X holds {len(list_kernels(X))} kernels, and {name} takes one; pass a matrix (n_samples, n_samples), "
            "or use an estimator with several kernels."
        )
    if not precomputed and is_view_list(X) and len(X) > 1:
        raise ValueError(
            f"X holds {len(X)} views, and {name} takes one; join their features, or use an estimator with several "
            "kernels."
        )
    return read_candidates(estimator, X, given, storage="fixed", working=working)


def _read_precomputed(
    estimator: Any, X: Any, place: Callable[[Array], Array] | None, working: float, copies: float
) -> Candidates:
    given = list_kernels(X)
    matrices = [K if sparse.issparse(K) else as_matrix(K, f"kernel {i} of X") for i, K in enumerate(given)]
    m, n = len(matrices), (matrices[0].shape or (0,))[0]
    check_n_clusters(estimator.n_clusters, n)
    single = all(itemsize(getattr(K, "dtype", float)) == 4 for K in matrices)
    there = place(np.empty(0)) if place is not None else matrices[0]
    size = {"n_samples": n, "n_kernels": m, "n_views": 0, "itemsize": 4 if single else 8}
    _may_store(estimator, there, "fixed", working=working + copies * m, **size)
    H = read_kernels(estimator, matrices)
    stack = StoredStack.of(H if place is None else place(H), overwrite=True)
    return Candidates(matrices, stack, [f"kernel {i}" for i in range(m)], None)


def _may_store(estimator: Any, like: Array, storage: str, **size: Any) -> bool:
    """Return whether the kernels are stored; refuse a fit that does not fit into the memory that holds `like`."""
    free = free_bytes(like) if is_foreign(like) else None
    return choose_storage(storage, estimator.memory_budget, free, **size)


class ClusteredGraph(NamedTuple):
    """Eigenvectors of a graph, what they make of its vertices, and the clusters found there."""

    vectors: Array
    embedding: Array
    found: Clustering


def cluster_graph(
    graph: Array,
    n_clusters: int,
    *,
    spectrum: Spectrum,
    n_init: int,
    restart_score: str,
    random_state: np.random.RandomState,
    samples: list[Array],
    threads: int | None = None,
) -> "ClusteredGraph":
    """Return the spectral embedding of a graph and the clusters that k-means finds in it.

    Every method that learns a graph ends here.

    Parameters
    ----------
    graph : array of shape (n, n)
        Symmetric; nonnegative unless ``spectrum="unnormalised"``.
    n_clusters, n_init : int
        Clusters, and restarts of k-means.
    spectrum : {"largest", "magnitude", "unnormalised", "random_walk"}
        Eigenvectors that span the embedding.
    restart_score : {"inertia", "distance"}
        What the restarts of k-means are compared by.
    random_state : RandomState
        Draws the starts of k-means.
    samples : list of arrays
        What tells the samples apart if the embedding does not: copies of a sample get its label.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the graph if None.
    """
    with blas_threads(graph.shape[0], threads):
        vectors = spectral_vectors(graph, n_clusters, spectrum=spectrum)
        embedding = embed_rows(graph, vectors, spectrum)
        by_distance = restart_score == "distance"
        found = kmeans(embedding, n_clusters, n_init=n_init, random_state=random_state, by_distance=by_distance)
    found = replace(found, labels=tell_apart(found.labels, n_clusters, samples))
    return ClusteredGraph(vectors, embedding, found)


def cluster_and_publish(
    estimator: Any, coefficients: Array, samples: list[Array], random_state: np.random.RandomState, **attributes: Array
) -> None:
    """Cluster the graph of coefficients as an estimator asks, and set ``labels_``, ``graph_`` and what else it has.

    Parameters
    ----------
    estimator : estimator
        Has the parameters `n_clusters`, `embedding`, `n_neighbors`, `edge_weights`, `n_init`, `restart_score` and
        `n_jobs`.
    coefficients : array of shape (n, n)
        Column j expresses sample j by the others.
    samples, random_state
        As for :func:`cluster_graph`.
    **attributes : array
        Further fitted attributes.
    """
    graph = graph_of(coefficients, estimator.n_neighbors, estimator.edge_weights)
    _, embedding, found = cluster_graph(
        graph,
        estimator.n_clusters,
        spectrum=estimator.embedding,
        n_init=estimator.n_init,
        restart_score=estimator.restart_score,
        random_state=random_state,
        samples=samples,
        threads=estimator.n_jobs,
    )
    publish(estimator, graph_=graph, embedding_=embedding, labels_=found.labels, **attributes)
    estimator.inertia_, estimator.n_iter_ = found.inertia, found.n_iter


def graph_of(coefficients: Array, n_neighbors: int | str, edge_weights: EdgeWeights) -> Array:
    """Return the symmetric graph of coefficients, refined if there is anything to refine."""
    if n_neighbors == "all" and edge_weights == "learned":
        return symmetrise(coefficients)
    kept = None if isinstance(n_neighbors, str) else n_neighbors
    return refine_graph(coefficients, n_neighbors=kept, edge_weights=edge_weights)


def count_components(graph: Array) -> int:
    """Return the number of connected components of a graph."""
    return int(connected_components(sparse.csr_array(to_numpy(graph)), directed=False)[0])


def tell_apart(labels: np.ndarray, n_clusters: int, samples: list[Array]) -> np.ndarray:
    """Return exactly `n_clusters` labels in order of appearance, copies of a sample with its label."""
    same = identities(samples)
    _, first = np.unique(same, return_index=True)
    return separate(labels[first[same]], n_clusters, same)


def publish(estimator: Any, **attributes: Array) -> None:
    """Set fitted attributes in the caller's kind of array.

    With ``device=...`` the caller has NumPy arrays and gets them back; otherwise results live where X does.
    """
    like = next((array for array in attributes.values() if is_foreign(array)), None)
    for name, value in attributes.items():
        if estimator.device is not None or like is None:
            setattr(estimator, name, to_numpy(value))
        else:
            setattr(estimator, name, namespace(like).asarray(value, device=device_of(like)))
