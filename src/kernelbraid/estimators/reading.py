"""From what users hand over to candidate kernels, and from results to fitted attributes."""

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from kernelbraid._arrays import as_dense, beside, free_bytes, is_foreign, measured_rows, to_device, to_numpy
from kernelbraid._system import counted, format_bytes
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import (
    check_n_clusters,
    forget_names,
    is_view_list,
    read_cross_kernels,
    read_kernels,
    read_views,
    sources_of,
)
from kernelbraid.estimators.gathering import gathered
from kernelbraid.estimators.given_graphs import DISTANCES, GRAPH, read_graphs, read_rows, refuse_distances
from kernelbraid.estimators.tables import refuse_containers, tell_of_scales
from kernelbraid.kernels import Linear, as_matrix, list_kernels, resolve_kernel
from kernelbraid.kernels.local import LocalKernel
from kernelbraid.learning.extend import Extension, NewSamples
from kernelbraid.learning.given_kernels import GivenKernels
from kernelbraid.learning.in_rows import jobs_of
from kernelbraid.learning.memory import (
    COUNTING_MATRICES,
    FUSED_MATRICES,
    WORKING_MATRICES,
    batch_bytes,
    choose_storage,
    clustering_bytes,
    pass_bytes,
    room,
    rows_bytes,
)
from kernelbraid.learning.settings import FEW_RESTARTS, GUESS, MANY_SAMPLES
from kernelbraid.learning.sources import Candidates, Samples, Views
from kernelbraid.learning.trust import TELLING

RESTARTS = 20  # of k-means, as far as memory goes, where the preset sets them
FEATURES = ("n_features_in_", "feature_names_in_")


def is_precomputed(kernels: Any) -> bool:
    """Tell whether samples come as kernels."""
    return isinstance(kernels, str) and kernels == "precomputed"


def is_graph(kernels: Any) -> bool:
    """Tell whether samples come as a graph."""
    return isinstance(kernels, str) and kernels in (GRAPH, DISTANCES)


def read_samples(estimator: BaseEstimator, X: Input, kernels: Any, *, gaps: bool = False) -> Samples:
    """Check what a user hands over, once for any number of fits.

    Parameters
    ----------
    estimator : estimator
        Has the parameters `n_clusters` and `device`; gets ``n_features_in_``.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, ``"graph"`` or ``"distances"`` if X holds those, and anything else for samples.
    gaps : bool, default=False
        Whether views may lack samples.
    """
    if isinstance(X, Samples):
        check_n_clusters(estimator.n_clusters, X.n_samples)
        forget_names(estimator)
        estimator.n_features_in_ = sum(X.widths)
        return X
    X = gathered(X)
    if is_graph(kernels):
        return read_graphs(estimator, X, kernels)
    place = None if estimator.device is None else partial(to_device, name=estimator.device)
    n_clusters = getattr(estimator, "n_clusters", 1)
    if not is_precomputed(kernels):
        views = read_views(estimator, X, gaps=gaps)
        check_n_clusters(n_clusters, views[0].shape[0])
        warn_of_scales(estimator, views)
        return Views(views, place)
    refuse_containers(estimator, X)
    sources = sources_of(X)
    given = [K for source in sources for K in source]
    matrices = [K if sparse.issparse(K) else as_matrix(K, f"kernel {i} of X") for i, K in enumerate(given)]
    for i, K in enumerate(matrices):
        if not sparse.issparse(K):
            refuse_distances(K, f"kernel {i} of X")
    check_n_clusters(n_clusters, (matrices[0].shape or (0,))[0])
    sizes = tuple(map(len, sources)) if len(sources) > 1 else ()
    return GivenKernels(matrices, partial(read_kernels, estimator), place, sizes)


def read_new(estimator: BaseEstimator, X: Input, fitted: Extension) -> NewSamples:
    """Return new samples as the views of a fit have them: matrices, kernel values or edges, as they came there."""
    if isinstance(X, NewSamples):
        return X
    if isinstance(X, Samples):
        return NewSamples.of_samples(X)
    X = gathered(X, getattr(estimator, "feature_names_in_", None))
    if is_graph(fitted.given_as):
        rows = read_rows(estimator, X, fitted)
        return NewSamples([[A] for A in rows], [np.diff(A.indptr) > 0 for A in rows])
    if is_precomputed(fitted.given_as):
        matrices = read_cross_kernels(estimator, X, sum(fitted.widths))
        ends = np.cumsum(fitted.widths).tolist()
        everybody = np.ones(matrices[0].shape[0], dtype=bool)
        given = [matrices[end - size : end] for end, size in zip(ends, fitted.widths, strict=True)]
        return NewSamples(given, [everybody] * len(given))
    views = read_views(estimator, X, reset=False, gaps=len(fitted.widths) > 1)
    widths = [int(view.shape[1]) for view in views]
    if widths != fitted.widths:
        raise ValueError(f"the views of X have {widths} features; those of the fit had {fitted.widths}.")
    return NewSamples([[view] for view in views], [measured_rows(view) for view in views])


def check_memory(
    estimator: BaseEstimator,
    samples: Samples,
    kernels: Any,
    *,
    storage: Literal["auto", "lazy", "stored"],
    working: float,
    copies: float = 0.0,
    in_batches: bool = False,
) -> bool:
    """Return whether the kernels are to be stored; refuse a fit for which there is no room.

    Parameters
    ----------
    estimator : estimator
        Has the parameter `n_clusters`.
    samples : Samples
        What was read.
    kernels : str or list
        Bank, or a bank per view.
    storage : {"auto", "lazy", "stored"}
        How the kernels are kept, as for :func:`~kernelbraid.learning.memory.choose_storage`.
    working : float
        Matrices of n_samples x n_samples that the fit needs at its peak beside the kernels.
    copies : float, default=0.0
        Further matrices for each kernel.
    in_batches : bool, default=False
        Whether many small systems are solved at once.
    """
    size: dict[str, Any] = samples.size(kernels)
    free = free_bytes(samples.there)
    size["working"] = working + copies * size["n_kernels"]
    size["beside"] = max(pass_bytes(size["n_samples"]), _clustering_bytes(estimator, size["n_samples"]))
    size["beside"] += batch_bytes(size["n_samples"]) if in_batches else 0
    if estimator.n_clusters == "auto":
        size["working"] += COUNTING_MATRICES
    return choose_storage(storage, free, **size)


def check_memory_of_rows(estimator: BaseEstimator, samples: Any, banks: Sequence[Any]) -> None:
    """Refuse a fit in rows for which there is no room; views are compared by some samples, over all pairs of these."""
    n, limit, on_device = samples.n_samples, room(), free_bytes(samples.there)
    kernels = [kernel for view in range(samples.n_views) for bank in samples.row_banks(view, banks) for kernel in bank]
    size: dict[str, Any] = {"has_local": any(isinstance(kernel, LocalKernel) for kernel in kernels)}
    size["n_jobs"] = jobs_of(samples.there, estimator.n_jobs)
    there = rows_bytes(n, max(samples.widths), clustering=0, on_device=True, **size)
    if on_device is not None and there > on_device:
        raise MemoryError(
            f"a fit of {n} samples needs about {format_bytes(there)} on the device, and {format_bytes(on_device)} are "
            "free there; compute on the CPU, or free some of it."
        )
    needed = rows_bytes(n, max(samples.widths), clustering=_clustering_bytes(estimator, n), **size)
    some = min(n, TELLING)
    if samples.n_views > 1:
        needed = max(needed, int(8 * some * some * (FUSED_MATRICES + samples.n_views)) + pass_bytes(some))
    if limit is not None and needed > limit:
        fits = int(n * limit / needed)
        raise MemoryError(
            f"a fit of {n} samples in rows needs about {format_bytes(needed)}, and {format_bytes(limit)} are free; "
            f"give at most about {fits} samples."
        )


def _clustering_bytes(estimator: BaseEstimator, n_samples: int) -> int:
    """Return what it takes to cluster samples by the parameters of an estimator, or to choose the number first."""
    is_auto = estimator.n_clusters == "auto"  # communities need no embedding; that of the clusters found is small
    largest = GUESS if is_auto else min(int(estimator.n_clusters), n_samples)
    restarts = RESTARTS if n_samples < MANY_SAMPLES else FEW_RESTARTS
    return clustering_bytes(n_samples, largest, 1 if is_auto else int(getattr(estimator, "n_init", None) or restarts))


def read_candidates(
    estimator: BaseEstimator,
    X: Input,
    kernels: Any,
    *,
    storage: Literal["auto", "lazy", "stored"] = "auto",
    working: float = WORKING_MATRICES,
    copies: float = 0.0,
    in_batches: bool = False,
) -> Candidates:
    """Check what a user hands over, and pose the kernels over it where and how the estimator asks.

    Parameters
    ----------
    estimator : estimator
        Has the parameters `n_clusters` and `device`; gets ``n_features_in_``.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, the name of a bank, a list of kernels, or a list of banks.
    storage, working, copies, in_batches
        As for :func:`check_memory`.

    Returns
    -------
    Candidates
        On the device, and stored or lazy.
    """
    samples = read_samples(estimator, X, kernels)
    needs: dict[str, Any] = {"working": working, "copies": copies, "in_batches": in_batches}
    stored = check_memory(estimator, samples, kernels, storage=storage, **needs)
    return samples.pose(kernels, stored=stored)


def read_candidate(
    estimator: BaseEstimator, X: Input, kernel: Any, *, working: float, in_batches: bool = False
) -> Candidates:
    """Do the same for one kernel over one view.

    Parameters
    ----------
    estimator : estimator
        As for :func:`read_candidates`.
    X : matrix
        Samples, or a kernel if `kernel` is ``"precomputed"``.
    kernel : str, kernel or callable
        What :func:`~kernelbraid.kernels.resolve_kernel` takes, or ``"precomputed"``.
    working, in_batches
        As for :func:`check_memory`.

    Returns
    -------
    Candidates
        One kernel, stored.
    """
    refuse_containers(estimator, X)
    precomputed = is_precomputed(kernel)
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
    return read_candidates(estimator, X, given, storage="stored", working=working, in_batches=in_batches)


def read_several(
    estimator: BaseEstimator,
    X: Input,
    kernels: Any,
    *,
    working: float,
    copies: float,
    prepare: Callable[[Array], Array] | None = None,
) -> Candidates:
    """Do the same where several views are needed: one linear kernel for each, or the kernels of one of them.

    Parameters
    ----------
    estimator : estimator
        As for :func:`read_candidates`.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, or what takes the place of views where there is one alone.
    working, copies : float
        As for :func:`check_memory`.
    prepare : callable, default=None
        What is done to dense features first.

    Returns
    -------
    Candidates
        At least two kernels, lazy. Views are their `samples`.
    """
    samples: Any = read_samples(estimator, X, kernels)
    has_views = samples.n_views > 1 and not is_precomputed(kernels)
    if has_views:
        kernels = [Linear(None)]
    if samples.size(kernels)["n_kernels"] < 2:
        raise ValueError(
            f"X is one view under one kernel, and {type(estimator).__name__} needs several views; give a list of "
            "views, or several kernels."
        )
    check_memory(estimator, samples, kernels, storage="lazy", working=working, copies=copies)
    if not has_views or prepare is None:
        return samples.pose(kernels)
    prepared = Views([prepare(as_dense(view)) for view in samples.views], samples.place).pose(kernels)
    return replace(prepared, samples=samples)  # by which copies are known


def widths_of_views(candidates: Candidates) -> list[int] | None:
    """Return the features of several views; None if kernels take their place."""
    return None if candidates.bank is None or candidates.samples.n_views == 1 else candidates.samples.widths


def copy_features(source: BaseEstimator, target: BaseEstimator) -> None:
    """Give a fitted estimator what another one knows about the features, and nothing else."""
    for name in FEATURES:
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))
        elif hasattr(target, name):  # of an earlier fit
            delattr(target, name)


def as_published(estimator: BaseEstimator, like: Array, value: Array) -> Array:
    """Return a result in the caller's kind of array.

    With ``device=...`` the caller has NumPy arrays and gets them back; otherwise results live where the samples do, and
    a sparse graph becomes dense there.
    """
    if estimator.device is not None or not is_foreign(like):
        return value if sparse.issparse(value) else to_numpy(value)
    return beside(as_dense(value), like)


def publish(estimator: BaseEstimator, like: Array, **attributes: Array) -> None:
    """Set fitted attributes in the caller's kind of array; `like` lives where the samples do."""
    for name, value in attributes.items():
        setattr(estimator, name, as_published(estimator, like, value))


def warn_of(complaint: str | None, stacklevel: int = 4) -> None:
    """Warn of what a fit complains of; the warning points at the call of ``fit``."""
    if complaint is not None:
        warnings.warn(complaint, ConvergenceWarning, stacklevel=stacklevel)


def n_found(labels: Array) -> int:
    """Return the number of different labels, which are numbered from 0 on."""
    return int(to_numpy(labels).max()) + 1


def warn_of_copies(estimator: BaseEstimator, labels: Array, n_clusters: int) -> None:
    """Warn if there are fewer clusters than were asked for, as there are too few distinct samples."""
    found = n_found(labels)
    if found < n_clusters:
        complaint = (
            f"{type(estimator).__name__} found {counted(found, 'cluster')} instead of {n_clusters}, since no more of "
            f"the {labels.shape[0]} samples are distinct; lower n_clusters, or look for copies."
        )
        warn_of(complaint, stacklevel=levels_to_caller() + 1)


def warn_of_scales(estimator: BaseEstimator, views: Sequence[Array]) -> None:
    """Warn of a feature that outweighs the others of its view; several views have no names."""
    told = tell_of_scales(views, getattr(estimator, "feature_names_in_", None) if len(views) == 1 else None)
    if told is not None:
        warnings.warn(told, UserWarning, stacklevel=levels_to_caller())


def warn_of_kernel_list(X: Any) -> None:
    """Warn that plain kernels in a list are views: whoever meant kernels of one source gets another result."""
    if len(X) > 1 and all(len(getattr(K, "shape", ())) == 2 for K in X):
        told = (
            f"X is a list of {len(X)} kernels, each of which is taken for a view of its own; give several kernels of "
            "one source as a stack, numpy.stack(X), and views as stacks of one, such as X[0][None], to say so."
        )
        warnings.warn(told, UserWarning, stacklevel=levels_to_caller())


def levels_to_caller() -> int:
    """Return the stacklevel of a warning that points at the code that called us, through scikit-learn or not."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("kernelbraid.", "sklearn.")):
        frame, levels = frame.f_back, levels + 1
    return levels
