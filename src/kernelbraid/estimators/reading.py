"""From what users hand over to samples that were checked."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from kernelbraid._arrays import (
    detach,
    device,
    is_dask,
    is_finite,
    is_foreign,
    measured_rows,
    namespace,
    to_device,
    to_numpy,
)
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import check_n_clusters, forget_names, is_view_list, set_features, warn_of
from kernelbraid.estimators.gathering import Blocks, gathered
from kernelbraid.estimators.given import (
    DISTANCES,
    GRAPH,
    PRECOMPUTED,
    read_cross_kernels,
    read_graphs,
    read_kernels,
    read_rows,
    refuse_distances,
    sources_of,
)
from kernelbraid.estimators.tables import FILL, check_names, in_one_order, refuse_infinite, refuse_words
from kernelbraid.kernels import as_matrix
from kernelbraid.kernels.banks import outweighing_feature
from kernelbraid.learning.extend import Extension, NewSamples
from kernelbraid.learning.given import GivenKernels
from kernelbraid.learning.sources import Samples, Views


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
    X = gathered(X) if comes_in_blocks(X) else X
    refuse_containers(estimator, X)
    if kernels in (GRAPH, DISTANCES):
        return read_graphs(estimator, X, kernels)
    place = None if estimator.device is None else partial(to_device, name=estimator.device)
    n_clusters = getattr(estimator, "n_clusters", 1)
    if kernels != PRECOMPUTED:
        views = read_views(estimator, X, gaps=gaps)
        check_n_clusters(n_clusters, views[0].shape[0])
        told = tell_of_scales(views, getattr(estimator, "feature_names_in_", None) if len(views) == 1 else None)
        warn_of(told, UserWarning)
        return Views(views, place)
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
    X = gathered(X, getattr(estimator, "feature_names_in_", None)) if comes_in_blocks(X) else X
    refuse_containers(estimator, X)
    if fitted.given_as in (GRAPH, DISTANCES):
        rows = read_rows(estimator, X, fitted)
        return NewSamples([[A] for A in rows], [np.diff(A.indptr) > 0 for A in rows])
    if fitted.given_as == PRECOMPUTED:
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


def warn_of_kernel_list(X: Any) -> None:
    """Warn that plain kernels in a list are views: whoever meant kernels of one source gets another result."""
    if len(X) > 1 and all(len(getattr(K, "shape", ())) == 2 for K in X):
        told = (
            f"X is a list of {len(X)} kernels, each of which is taken for a view of its own; give several kernels of "
            "one source as a stack, numpy.stack(X), and views as stacks of one, such as X[0][None], to say so."
        )
        warn_of(told, UserWarning)


FLOATS = [np.float64, np.float32]


def read_views(estimator: BaseEstimator, X: Input, *, reset: bool = True, gaps: bool = False) -> list[Array]:
    """Return the checked views of the samples: one matrix, or several with the same rows.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` (the total over the views) and, for data frames alone, ``feature_names_in_``.
    X : matrix of shape (n_samples, n_features), or list of them
        Dense, sparse or data frame.
    reset : bool, default=True
        False for new samples of a fitted estimator, which must have its features.
    gaps : bool, default=False
        Whether one of several dense views may lack samples, whose rows are NaN.

    Returns
    -------
    list of ndarray or csr matrix
        Floating-point and finite, but for rows of NaN where gaps are allowed.
    """
    refuse_containers(estimator, X)
    if reset:
        forget_names(estimator)
    if is_foreign(X):
        X = _check_foreign(X, "X")
        set_features(estimator, X.shape[1], reset)
        return [X]
    if not is_view_list(X):
        if getattr(X, "ndim", 2) == 3:
            raise ValueError(
                f"X has shape {tuple(getattr(X, 'shape', ()))}: for a stack of kernels set kernels='precomputed', "
                "for several views pass a list of matrices."
            )
        found = _as_numbers(validate_data, estimator, X, name="X", reset=reset)
        return [_check_finite(found, "X")]
    X = in_one_order(X)
    views = [_check_view(view, number, gaps=gaps and len(X) > 1) for number, view in enumerate(X, 1)]
    if len({is_foreign(view) for view in views}) > 1:
        raise ValueError("the views of X are arrays of different libraries; convert them to one.")
    devices = sorted({str(device(view)) for view in views if is_foreign(view)})
    if len(devices) > 1:
        places = ", ".join(devices)
        raise ValueError(f"the views of X are on different devices ({places}); move them to one.")
    rows = [view.shape[0] for view in views]
    if len(set(rows)) > 1:
        raise ValueError(
            f"the views of X have {rows} rows; every view must hold the same samples in the same order; "
            "kernelbraid.align_views aligns data frames by their rows' names."
        )
    check_names(estimator, X, reset=reset)
    set_features(estimator, sum(view.shape[1] for view in views), reset)
    return views


def _check_view(view: Any, number: int, *, gaps: bool) -> Array:
    name = f"view {number} of X"
    if is_foreign(view):
        return _check_foreign(view, name, gaps=gaps)
    if len(getattr(view, "shape", ())) != 2:
        raise ValueError(f"{name} is no matrix, but others are; give each view as (n_samples, n_features).")
    view = _as_numbers(check_array, view, name=name, input_name=name)
    return _with_gaps(view, name) if gaps and not sparse.issparse(view) else _check_finite(view, name)


def _as_numbers(check: Callable[..., Array], *given: Any, name: str, **options: Any) -> Array:
    """Return what scikit-learn's check makes of a matrix, or name the first column that holds no numbers."""
    try:
        return check(*given, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, **options)
    except (ValueError, TypeError):
        refuse_words(given[-1], name)
        raise


def _with_gaps(A: Array, name: str) -> Array:
    """Return a view with rows of NaN for samples that it lacks, or name a row that is there in part only."""
    gone = np.isnan(A).any(axis=1)
    if not gone.any():
        return _check_finite(A, name)
    partly = np.flatnonzero(gone & ~np.isnan(A).all(axis=1))
    if len(partly):
        row = int(partly[0])
        raise ValueError(
            f"{name} contains NaN (row {row}, column {int(np.argmax(np.isnan(A[row])))}) beside numbers; a sample "
            "that was not measured in a view is a row of NaN, and single values are to be filled in, for example "
            "with sklearn.impute.SimpleImputer."
        )
    _check_finite(A[~gone], name)
    A = A.copy()
    A[gone] = np.nan  # there are several, and samples are told apart by their bytes
    return A


def _check_finite(A: Array, name: str) -> Array:
    if not is_finite(A):
        refuse_infinite(A, name)
    return A


def _check_foreign(A: Array, name: str, *, gaps: bool = False) -> Array:
    """Return an array of another library as a floating-point matrix, or say what is wrong with it."""
    xp = namespace(A)
    A = detach(A)
    if not xp.isdtype(A.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"{name} holds {A.dtype} values; samples must be real numbers.")
    if A.ndim != 2:
        remedy = "for a stack of kernels set kernels='precomputed'" if A.ndim == 3 else None
        raise ValueError(f"{name} has shape {tuple(A.shape)}, and a matrix is needed; {remedy or 'samples are rows'}.")
    if 0 in A.shape:
        raise ValueError(f"{name} has shape {tuple(A.shape)}; give at least one sample and one feature.")
    if A.dtype not in (xp.float32, xp.float64):
        A = xp.astype(A, xp.float64)
    if not is_finite(A):
        if gaps:
            _with_gaps(to_numpy(A), name)
            return A
        raise ValueError(f"{name} contains NaN or infinity; {FILL}.")
    return A


def comes_in_blocks(X: Any) -> bool:
    """Tell files and blocks, alone or as views."""
    given = X if isinstance(X, list | tuple) else [X]
    return any(isinstance(view, str | Path | Blocks) for view in given)


def holds_dask(X: Any) -> bool:
    """Tell Dask collections, alone or as views."""
    return any(map(is_dask, X)) if isinstance(X, list | tuple) else is_dask(X)


def is_anndata(data: object) -> bool:
    """Tell an AnnData, without having it loaded."""
    return _is_named(data, "AnnData", "anndata")


def is_mudata(data: object) -> bool:
    """Tell a MuData, without having it loaded."""
    return _is_named(data, "MuData", "mudata")


def _is_named(data: object, name: str, package: str) -> bool:
    return any(base.__name__ == name and base.__module__.partition(".")[0] == package for base in type(data).__mro__)


def refuse_containers(estimator: BaseEstimator, X: Any) -> None:
    """Say what to do with what holds samples, or will hold some, but is no matrix of them, alone or as a view."""
    if X is None or (isinstance(X, list | tuple) and not X):
        raise ValueError(f"X is {X!r}; give samples as the rows of a matrix, (n_samples, n_features).")
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # a sparse matrix may be a dictionary, too
        raise TypeError(f"X is a {type(X).__name__} of views; give them as a list of matrices.")
    for given in X if isinstance(X, list | tuple) else [X]:
        if _is_named(given, "LazyFrame", "polars"):
            raise TypeError(f"X {_holds(given, X)} a LazyFrame; call its collect() first.")
        if type(given).__module__.partition(".")[0] == "dask":
            raise TypeError(
                f"X {_holds(given, X)} a Dask {type(given).__name__}, and {type(estimator).__name__} needs its samples "
                "here; call its compute() first, or fit LKG without a device, which takes samples of Dask as they are."
            )
        if isinstance(given, np.ma.MaskedArray):
            raise ValueError(
                f"X {_holds(given, X)} a masked array, whose mask would be lost; fill in what is masked, or drop such "
                "samples."
            )
        if not (is_anndata(given) or is_mudata(given)):
            continue
        n_clusters = getattr(estimator, "n_clusters", None)
        kind = "an AnnData" if is_anndata(given) else "a MuData"
        call = f"kernelbraid.scverse.cluster(data{'' if n_clusters is None else f', n_clusters={n_clusters!r}'})"
        matrix = "data.obsm['X_pca']" if is_anndata(given) else "data['rna'].obsm['X_pca']"
        raise TypeError(
            f"X {_holds(given, X)} {kind}; call {call}, or {type(estimator).__name__} with a matrix of it, such as "
            f"{matrix}."
        )


def _holds(given: Any, X: Any) -> str:
    return "is" if given is X else "holds"


def tell_of_scales(views: Sequence[Array], names: Sequence[str] | None = None) -> str | None:
    """Return what to warn of: the feature that outweighs the others of its view most, if there is one.

    Parameters
    ----------
    views : sequence of arrays or csr matrices
        Samples.
    names : sequence of str, default=None
        Names of the features of a single view.
    """
    found = [(one, number) for number, view in enumerate(views, 1) if (one := outweighing_feature(view)) is not None]
    if not found:
        return None
    worst, number = max(found, key=lambda pair: pair[0].ratio)
    feature = f"{worst.feature} (counted from 0)" if names is None else repr(str(names[worst.feature]))
    where = f"view {number} of X" if len(views) > 1 else "X"
    scaler = "StandardScaler()" if len(views) == 1 else "kernelbraid.EachView(StandardScaler())"
    return (
        f"feature {feature} of {where} has {worst.ratio:.0f} times the spread of the typical other one and makes up "
        f"{worst.share:.1%} of the squared distances between samples, so that most features do not count; scale them "
        f"first, for example in make_pipeline({scaler}, ...) of scikit-learn, or with --scale standard in the shell."
    )
