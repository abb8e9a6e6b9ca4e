"""What every estimator shares: the scikit-learn contract and the checks of what users hand over."""

import functools
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar, cast, get_args

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, Options, StrOptions
from sklearn.utils.validation import check_array, validate_data

from kernelbraid._arrays import detach, device, is_finite, is_foreign, namespace, to_numpy
from kernelbraid._machine import calm, n_workers
from kernelbraid._typing import Array, Input, InputMatrix
from kernelbraid.estimators.callbacks import telling_callbacks
from kernelbraid.estimators.tables import FILL, check_names, in_one_order, named_columns, refuse_containers, remedy_for
from kernelbraid.kernels import FittedBank, as_matrix, list_kernels, stack_kernels
from kernelbraid.learning.counting import SMALLEST_PROBLEM
from kernelbraid.ops.graphs import EdgeWeights, Spectrum

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
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
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
#: As the published code of a method computes, or as its problem asks where that is something else.
PRESET = StrOptions({"authors", "paper"})
#: As in scikit-learn: so many, or all cores but so many, counted from -1.
JOBS: list[Any] = [COUNT, Interval(Integral, None, -1, closed="right"), None]
# Legal values of the parameters that all methods have.
COMPUTING: dict[str, Any] = {
    "n_clusters": [COUNT],
    "n_init": [COUNT],
    "device": [str, None],
    "n_jobs": JOBS,
    "random_state": ["random_state"],
}
# Legal values for one kernel, and for the way from a graph to labels.
ONE_KERNEL: dict[str, Any] = {"kernel": [str, callable, HasMethods("matrix"), HasMethods("function")]}
GRAPH: dict[str, Any] = {
    "embedding": [StrOptions(set(get_args(Spectrum)))],
    "n_neighbors": [COUNT, StrOptions({"all"})],
    "edge_weights": [StrOptions(set(get_args(EdgeWeights)))],
}
RESTART_SCORE = [StrOptions({"inertia", "distance"})]


Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool, jobs_are_threads: bool = True) -> Callable[[Method], Method]:
    """Return a decorator for ``fit``: parameters are validated, linear algebra has its threads, callbacks are told.

    Parameters
    ----------
    prefer_skip_nested_validation : bool
        Whether estimators inside need not validate their parameters again; not those that come from a user.
    jobs_are_threads : bool, default=True
        Whether `n_jobs` of the estimator says how many threads linear algebra has.
    """

    def decorate(fit: Method) -> Method:
        @functools.wraps(fit)
        def wrapper(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            is_skipped = get_config()["skip_parameter_validation"]
            try:
                if not is_skipped:
                    estimator._validate_params()
                threads = n_workers(estimator.n_jobs) if jobs_are_threads else None
                skipping = config_context(skip_parameter_validation=prefer_skip_nested_validation or is_skipped)
                X = args[0] if args else kwargs.get("X")
                with skipping, calm(threads), telling_callbacks(estimator, X):
                    return fit(estimator, *args, **kwargs)
            except BaseException:
                forget_fit(estimator)
                raise

        return cast(Method, wrapper)

    return decorate


def forget_fit(estimator: BaseEstimator) -> None:
    """Take away what an earlier fit has set, so that one that failed is not taken for it."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


def mark_input(tags: Any, kernels: Any) -> Any:
    """Complete scikit-learn's tags: sparse samples are welcome, and precomputed kernels are square."""
    precomputed = isinstance(kernels, str) and kernels == "precomputed"
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = precomputed or (isinstance(kernels, str) and kernels in ("graph", "distances"))
    tags.input_tags.three_d_array = precomputed
    return tags


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
        with named_columns(X, "X"):
            X = validate_data(estimator, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, reset=reset)
        return [_check_finite(X, "X")]
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


def set_features(estimator: BaseEstimator, count: int, reset: bool) -> None:
    """Note the number of features, or compare it with that of the fit."""
    if reset:
        estimator.n_features_in_ = count
    elif count != estimator.n_features_in_:
        raise ValueError(
            f"X has {count} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features "
            "as input; give the features of the fitted samples."
        )


def read_kernels(estimator: BaseEstimator, X: Input) -> Array:
    """Return precomputed kernels as a checked stack (n_kernels, n_samples, n_samples)."""
    forget_names(estimator)
    H = stack_kernels(X)
    estimator.n_features_in_ = H.shape[-1]
    return H


def read_cross(estimator: BaseEstimator, X: Input, bank: FittedBank | None, weights: np.ndarray) -> Array:
    """Return the weighted sum of kernels between new samples (rows) and fitted ones.

    Samples come as in the fit, whose kernels are in the bank, or as kernel values if there is none.
    """
    if bank is not None:
        return bank.cross(read_views(estimator, X, reset=False), weights)
    matrices = read_cross_kernels(estimator, X, weights.shape[0])
    total: Array = 0.0
    for weight, K in zip(weights, matrices, strict=True):
        total = total + float(weight) * K
    return total


def read_cross_kernels(estimator: BaseEstimator, X: Input, n_kernels: int) -> list[Array]:
    """Return as many kernels between new samples (rows) and fitted ones (columns) as the fit had."""
    refuse_containers(estimator, X)
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


def forget_names(estimator: BaseEstimator) -> None:
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
            f"n_samples={n_samples} is below n_clusters={n_clusters}; ask for at most {n_samples} cluster(s) or "
            "give more samples."
        )


def sources_of(X: Input) -> list[list[Array]]:
    """Return the kernels of each source: entries of a list are sources of their own, with a kernel or a stack each."""
    if not is_kernel_list(X):
        return [list_kernels(X)]
    return [list_kernels(source) if len(getattr(source, "shape", ())) == 3 else [source] for source in X]


def is_kernel_list(X: Input) -> TypeGuard[Sequence[InputMatrix]]:
    """Tell kernels, or stacks of them, that come one by one from a matrix written as nested lists."""
    return isinstance(X, list | tuple) and any(len(getattr(K, "shape", ())) in (2, 3) for K in X)


def is_view_list(X: Input) -> TypeGuard[Sequence[InputMatrix]]:
    """Tell a list of matrices from a matrix written as nested lists."""
    return isinstance(X, list | tuple) and any(len(getattr(v, "shape", ())) == 2 for v in X)


def _check_view(view: Any, number: int, *, gaps: bool) -> Array:
    name = f"view {number} of X"
    if is_foreign(view):
        return _check_foreign(view, name, gaps=gaps)
    if len(getattr(view, "shape", ())) != 2:
        raise ValueError(f"{name} is no matrix, but others are; give each view as (n_samples, n_features).")
    with named_columns(view, name):
        view = check_array(view, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, input_name=name)
    return _with_gaps(view, name) if gaps and not sparse.issparse(view) else _check_finite(view, name)


def _with_gaps(A: Array, name: str) -> Array:
    """Return a view with rows of NaN for samples that it lacks, or name a row that is there in part only."""
    gone = np.isnan(A).any(axis=1)
    if not gone.any():
        return _check_finite(A, name)
    check_whole_rows(A, name)
    _check_finite(A[~gone], name)
    A = A.copy()
    A[gone] = np.nan  # there are several, and samples are told apart by their bytes
    return A


def check_whole_rows(A: Array, name: str, place: Callable[[int], Any] = int) -> None:
    """Name the first row of a view that is NaN in part; `place` says which one it is among all samples."""
    gone = np.isnan(A)
    partly = np.flatnonzero(gone.any(axis=1) & ~gone.all(axis=1))
    if len(partly):
        row = int(partly[0])
        raise ValueError(
            f"{name} contains NaN (row {place(row)}, column {int(np.argmax(gone[row]))}) beside numbers; a sample "
            "that was not measured in a view is a row of NaN, and single values are to be filled in, for example "
            "with sklearn.impute.SimpleImputer."
        )


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
    bad = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(f"{name} contains {bad} (row {row}, column {column}); {remedy_for(value)}.")
