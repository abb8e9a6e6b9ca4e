"""What every estimator shares: the scikit-learn contract and the checks of what users hand over."""

from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.validation import check_array, validate_data

from kernelbraid._arrays import detach, device, is_finite, is_foreign, namespace
from kernelbraid._typing import Array
from kernelbraid.kernels import FittedBank, as_matrix, list_kernels, stack_kernels
from kernelbraid.learning.counting import SMALLEST_PROBLEM
from kernelbraid.ops.refinement import EdgeWeights
from kernelbraid.ops.spectral import Spectrum

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "StrOptions",
    "fit_context",
    "check_n_clusters",
    "is_view_list",
    "mark_input",
    "read_cross",
    "read_kernels",
    "read_views",
]

FLOATS = [np.float64, np.float32]
AUTO = StrOptions({"auto"})
POSITIVE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
# Legal values of the parameters that all estimators have.
COMPUTING: dict[str, Any] = {
    "n_clusters": [COUNT],
    "memory_budget": [POSITIVE, None],
    "device": [str, None],
    "n_jobs": [COUNT, None],
    "random_state": ["random_state"],
}
# Legal values for one kernel, and for the way from a graph to labels.
ONE_KERNEL: dict[str, Any] = {"kernel": [str, callable, HasMethods("matrix"), HasMethods("function")]}
GRAPH: dict[str, Any] = {
    "embedding": [StrOptions(set(get_args(Spectrum)))],
    "n_neighbors": [COUNT, StrOptions({"all"})],
    "edge_weights": [StrOptions(set(get_args(EdgeWeights)))],
    "n_init": [COUNT],
    "restart_score": [StrOptions({"inertia", "distance"})],
}


def mark_input(tags: Any, kernels: Any) -> Any:
    """Complete scikit-learn's tags: sparse samples are welcome, and precomputed kernels are square."""
    precomputed = isinstance(kernels, str) and kernels == "precomputed"
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = precomputed
    tags.input_tags.three_d_array = precomputed
    return tags


def read_views(estimator: Any, X: Any, *, reset: bool = True) -> list[Array]:
    """Return the checked views of the samples: one matrix, or several with the same rows.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` (the total over the views) and, for one data frame, ``feature_names_in_``.
    X : matrix of shape (n_samples, n_features), or list of them
        Dense, sparse or data frame.
    reset : bool, default=True
        False for new samples of a fitted estimator, which must have its features.

    Returns
    -------
    list of ndarray or csr matrix
        Floating-point and finite.
    """
    if reset:
        forget_names(estimator)
    if is_foreign(X):
        X = _check_foreign(X, "X")
        set_features(estimator, X.shape[1], reset)
        return [X]
    if not is_view_list(X):
        if getattr(X, "ndim", 2) == 3:
            raise ValueError(
                f"X has shape {tuple(X.shape)}: for a stack of kernels set kernels='precomputed', "
                "for several views pass a list of matrices."
            )
        X = validate_data(estimator, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, reset=reset)
        return [_check_finite(X, "X")]
    views = [_check_view(view, number) for number, view in enumerate(X, 1)]
    if len({is_foreign(view) for view in views}) > 1:
        raise ValueError("the views of X are arrays of different libraries; convert them to one.")
    devices = sorted({str(device(view)) for view in views if is_foreign(view)})
    if len(devices) > 1:
        raise ValueError(f"the views of X are on different devices ({', '.join(devices)}); move them to one.")
    rows = [view.shape[0] for view in views]
    if len(set(rows)) > 1:
        raise ValueError(f"the views of X have {rows} rows; every view must hold the same samples in the same order.")
    set_features(estimator, sum(view.shape[1] for view in views), reset)
    return views


def set_features(estimator: Any, count: int, reset: bool) -> None:
    """Note the number of features, or compare it with that of the fit."""
    if reset:
        estimator.n_features_in_ = count
    elif count != estimator.n_features_in_:
        name = type(estimator).__name__
        raise ValueError(
            f"X has {count} features, but {name} is expecting {estimator.n_features_in_} features as input; "
            "give the features of the fitted samples."
        )


def read_kernels(estimator: Any, X: Any) -> Array:
    """Return precomputed kernels as a checked stack (n_kernels, n_samples, n_samples)."""
    forget_names(estimator)
    H = stack_kernels(X)
    estimator.n_features_in_ = H.shape[-1]
    return H


def read_cross(estimator: Any, X: Any, bank: FittedBank | None, weights: np.ndarray) -> tuple[Array, list[Array]]:
    """Return the weighted sum of kernels between new samples (rows) and fitted ones, and the new samples.

    They come as in the fit, whose kernels are in the bank, or as kernel values if there is none.
    """
    if bank is None:
        return read_cross_kernels(estimator, X, weights)
    views = read_views(estimator, X, reset=False)
    return bank.cross(views, weights), views


def read_cross_kernels(estimator: Any, X: Any, weights: np.ndarray) -> tuple[Array, list[Array]]:
    """Return the weighted sum of kernels between new samples (rows) and fitted ones (columns), and these kernels."""
    matrices = [as_matrix(K, f"kernel {i} of X") for i, K in enumerate(list_kernels(X))]
    if len(matrices) != weights.shape[0]:
        raise ValueError(f"X holds {len(matrices)} kernels; the fit had {weights.shape[0]}.")
    shapes = {tuple(K.shape) for K in matrices}
    if len(shapes) > 1 or matrices[0].shape[-1] != estimator.n_features_in_:
        raise ValueError(
            f"X holds kernels of shape {sorted(shapes)}; new samples need (n_samples, {estimator.n_features_in_}): "
            f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input, one for each "
            "fitted sample."
        )
    if not all(is_finite(K) for K in matrices):
        raise ValueError("X contains NaN or infinity; drop such samples or fill them in.")
    total: Array = 0.0
    for weight, K in zip(weights, matrices, strict=True):
        total = total + float(weight) * K
    return total, matrices


def forget_names(estimator: Any) -> None:
    """Drop the feature names of an earlier fit; scikit-learn's own check sets those of a data frame anew."""
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_n_clusters(n_clusters: int | str, n_samples: int) -> None:
    """Refuse more clusters than samples, and to choose a number where there is no choice."""
    if isinstance(n_clusters, str):
        if n_samples < SMALLEST_PROBLEM:
            raise ValueError(
                f"n_samples={n_samples} is too small to choose the number of clusters, which is tried from 2 to "
                f"n_samples / 3; give n_clusters, or at least {SMALLEST_PROBLEM} samples."
            )
    elif n_samples < n_clusters:
        raise ValueError(
            f"n_samples={n_samples} is below n_clusters={n_clusters}; ask for at most {n_samples} cluster(s) "
            "or give more samples."
        )


def is_view_list(X: Any) -> bool:
    """Tell a list of matrices from a matrix written as nested lists."""
    return isinstance(X, list | tuple) and any(len(getattr(v, "shape", ())) == 2 for v in X)


def _check_view(view: Any, number: int) -> Array:
    name = f"view {number} of X"
    if is_foreign(view):
        return _check_foreign(view, name)
    if len(getattr(view, "shape", ())) != 2:
        raise ValueError(f"{name} is no matrix, but others are; give each view as (n_samples, n_features).")
    view = check_array(view, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, input_name=name)
    return _check_finite(view, name)


def _check_foreign(A: Array, name: str) -> Array:
    """Return an array of another library as a floating-point matrix, or say what is wrong with it."""
    xp = namespace(A)
    A = detach(A)
    if not xp.isdtype(A.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"{name} holds {A.dtype} values; samples must be real numbers.")
    if A.ndim != 2:
        remedy = "for a stack of kernels set kernels='precomputed'" if A.ndim == 3 else "samples are rows"
        raise ValueError(f"{name} has shape {tuple(A.shape)}, and a matrix is needed; {remedy}.")
    if 0 in A.shape:
        raise ValueError(f"{name} has shape {tuple(A.shape)}; give at least one sample and one feature.")
    if A.dtype not in (xp.float32, xp.float64):
        A = xp.astype(A, xp.float64)
    if not is_finite(A):
        raise ValueError(f"{name} contains NaN or infinity; drop such samples or fill them in.")
    return A


def _check_finite(A: Array, name: str) -> Array:
    """Return A, or name the first element that is not finite."""
    values = A.data if sparse.issparse(A) else A
    # A finite sum proves all elements finite without an array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return A
    if np.isfinite(values).all():
        return A
    coordinates = A.tocoo() if sparse.issparse(A) else None
    bad = np.argwhere(~np.isfinite(values))[0]
    row, column = (coordinates.row[bad[0]], coordinates.col[bad[0]]) if coordinates is not None else bad
    value = values[tuple(bad)]
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"{name} contains {what} (row {row}, column {column}); drop such samples or fill them in, "
        "for example with sklearn.impute.SimpleImputer."
    )
