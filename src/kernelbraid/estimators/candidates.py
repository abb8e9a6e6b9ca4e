"""From what users hand over to candidate kernels, and from a graph to labels: what all estimators share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kernelbraid._arrays import device as device_of
from kernelbraid._arrays import free_bytes, is_foreign, itemsize, namespace, to_device, to_numpy
from kernelbraid._linalg import blas_threads
from kernelbraid._typing import Array
from kernelbraid.estimators.base import check_n_clusters, identities, read_kernels, read_views
from kernelbraid.estimators.memory import choose_storage
from kernelbraid.kernels import Custom, KernelStack, StoredStack, bank_names, list_kernels, resolve_banks, stack_bank
from kernelbraid.ops import spectral_embedding
from kernelbraid.ops.spectral import Spectrum
from kernelbraid.solvers.kmeans import kmeans, separate


@dataclass(frozen=True)
class Candidates:
    """Checked samples and the kernels over them."""

    samples: list[Array]  # views, or precomputed kernels: rows that agree in all are copies of one sample
    stack: KernelStack
    names: list[str]


def read_candidates(estimator: Any, X: Any, kernels: Any) -> Candidates:
    """Check what a user hands over, and pose the kernels over it where and how the estimator asks.

    Parameters
    ----------
    estimator : estimator
        Has the parameters `n_clusters`, `storage`, `memory_budget` and `device`; gets ``n_features_in_``.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, the name of a bank, a list of kernels, or a list of banks.

    Returns
    -------
    Candidates
        On the device, and stored or lazy.
    """
    place = None if estimator.device is None else partial(to_device, name=estimator.device)
    if isinstance(kernels, str) and kernels == "precomputed":
        return _read_precomputed(estimator, X, place)
    views = read_views(estimator, X)
    check_n_clusters(estimator.n_clusters, views[0].shape[0])
    banks = resolve_banks(kernels, len(views))
    single = all(itemsize(view.dtype) == 4 for view in views)
    there = views[0] if place is None else place(np.empty(0))
    n_given = sum(isinstance(kernel, Custom) for bank in banks for kernel in bank)
    size = {"n_samples": views[0].shape[0], "n_kernels": sum(map(len, banks)), "n_views": len(views)}
    stored = _may_store(estimator, there, itemsize=4 if single else 8, n_given=n_given, **size)
    stack = stack_bank(views, banks, place=place)
    return Candidates(views, stack.store() if stored else stack, bank_names(banks))


def _read_precomputed(estimator: Any, X: Any, place: Callable[[Array], Array] | None) -> Candidates:
    matrices = list_kernels(X)
    m, n = len(matrices), (matrices[0].shape if hasattr(matrices[0], "shape") else np.shape(matrices[0]))[0]
    check_n_clusters(estimator.n_clusters, n)
    single = all(itemsize(getattr(K, "dtype", float)) == 4 for K in matrices)
    there = place(np.empty(0)) if place is not None else matrices[0]
    _may_store(estimator, there, itemsize=4 if single else 8, n_samples=n, n_kernels=m, n_views=0)
    H = read_kernels(estimator, matrices)
    stack = StoredStack.of(H if place is None else place(H), overwrite=True)
    return Candidates(matrices, stack, [f"kernel {i}" for i in range(m)])


def _may_store(estimator: Any, like: Array, **size: int) -> bool:
    """Return whether the kernels are stored; refuse a fit that does not fit into the memory that holds `like`."""
    free = free_bytes(like) if is_foreign(like) else None
    return choose_storage(estimator.storage, estimator.memory_budget, free, **size)


def cluster_graph(
    graph: Array,
    n_clusters: int,
    *,
    spectrum: Spectrum,
    n_init: int,
    random_state: np.random.RandomState,
    samples: list[Array],
    threads: int | None = None,
) -> tuple[Array, np.ndarray]:
    """Return the spectral embedding of a graph and the labels that k-means finds in it.

    Parameters
    ----------
    graph : array of shape (n, n)
        Symmetric and nonnegative.
    n_clusters, n_init : int
        Clusters, and restarts of k-means.
    spectrum : {"largest", "magnitude"}
        Eigenvectors that span the embedding.
    random_state : RandomState
        Draws the starts of k-means.
    samples : list of arrays
        What tells the samples apart if the embedding does not: copies of a sample get its label.
    threads : int, default=None
        Threads of BLAS; chosen by the size of the graph if None.
    """
    with blas_threads(graph.shape[0], threads):
        embedding = spectral_embedding(graph, n_clusters, spectrum=spectrum)
        found = kmeans(embedding, n_clusters, n_init=n_init, random_state=random_state)
    same = identities(samples)
    _, first = np.unique(same, return_index=True)
    return embedding, separate(found.labels[first[same]], n_clusters, same)


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
