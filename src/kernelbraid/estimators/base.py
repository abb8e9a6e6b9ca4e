"""What every estimator shares: the scikit-learn contract, parameters of parts, and how results are published."""

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, Options, StrOptions

from kernelbraid._arrays import as_dense, beside, is_foreign, to_numpy
from kernelbraid._machine import calm, counted, n_workers
from kernelbraid._typing import Array, Input, InputMatrix
from kernelbraid.estimators.callbacks import CallbackSupportMixin, telling_callbacks
from kernelbraid.learning.counting import SMALLEST_PROBLEM
from kernelbraid.learning.effort import LEARN
from kernelbraid.ops.graphs import EdgeWeights, Spectrum

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HasMethods", "Interval", "InvalidParameterError", "Options", "StrOptions"]

AUTO = StrOptions({"auto"})
POSITIVE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
#: As in scikit-learn: so many, or all cores but so many, counted from -1.
JOBS: list[Any] = [COUNT, Interval(Integral, None, -1, closed="right"), None]
GRAPH: dict[str, Any] = {
    "embedding": [StrOptions(set(get_args(Spectrum)))],
    "n_neighbors": [COUNT, StrOptions({"all"})],
    "edge_weights": [StrOptions(set(get_args(EdgeWeights)))],
}


Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(fit: Method) -> Method:
    """Return a ``fit`` for which parameters are validated, linear algebra has its threads, and callbacks are told.

    Estimators inside need not validate their parameters again, but for those that come from a user.
    """

    @functools.wraps(fit)
    def wrapper(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        is_skipped = get_config()["skip_parameter_validation"]
        try:
            if not is_skipped:
                estimator._validate_params()
            is_ours = not getattr(estimator, "_takes_estimators", False)
            skipping = config_context(skip_parameter_validation=is_skipped or is_ours)
            X = args[0] if args else kwargs.get("X")
            with skipping, calm(n_workers(getattr(estimator, "n_jobs", None))), _callbacks(estimator, X):
                return fit(estimator, *args, **kwargs)
        except BaseException:
            forget_fit(estimator)
            raise

    return cast(Method, wrapper)


def _callbacks(estimator: Any, X: Any) -> AbstractContextManager[None]:
    """Tell the callbacks of an estimator, of one around it and of its solver how far a fit has come meanwhile."""
    several = [(estimator, None), (getattr(estimator, "solver", None), LEARN)]
    heard = [
        (one, only) for one, only in several if hasattr(one, "_skl_callbacks") or hasattr(one, "_parent_callback_ctx")
    ]
    return telling_callbacks(heard, X) if heard else nullcontext()


def forget_fit(estimator: BaseEstimator) -> None:
    """Take away what an earlier fit has set, so that one that failed is not taken for it."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def mark_input(tags: Any, kernels: Any) -> Any:
    """Complete scikit-learn's tags: sparse samples are welcome, and precomputed kernels are square."""
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = isinstance(kernels, str) and kernels in ("precomputed", "graph", "distances")
    tags.input_tags.three_d_array = isinstance(kernels, str) and kernels == "precomputed"
    return tags


class Clusterer(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """A clusterer as scikit-learn has it, with callbacks, and a page about its fit."""

    def __sklearn_tags__(self):
        params = self.get_params(deep=False)
        return mark_input(super().__sklearn_tags__(), params.get("kernels", params.get("kernel")))

    def report(
        self, path: str | PathLike[str], X: Any = None, *, ids: Sequence[Any] | None = None, title: str | None = None
    ):
        """Write a page about the fit: the clusters and what sets them apart, a map, and what to look at first.

        Parameters
        ----------
        path : str or path-like
            The file: HTML that any browser shows, without a network.
        X : matrix, data frame, or list of them, default=None
            The samples of the fit, in the units in which they shall be described; by default what the model keeps.
        ids : sequence of shape (n_samples,), default=None
            What the samples are called: by default the index of a data frame `X`, or the number of the row from 0.
        title : str, default=None
            The heading.

        Returns
        -------
        estimator
            The model itself.
        """
        from kernelbraid.plotting.page import write_report

        write_report(self, path, X, ids=ids, title=title)
        return self

    def _html_repr(self) -> str:
        """Return what notebooks show: the parameters, and of a fit what came out of it."""
        shown = super()._html_repr()
        if not hasattr(self, "labels_"):
            return shown
        from kernelbraid.plotting.page import summary_of

        return shown + summary_of(self)


#: What became of parameters that belong to nothing any more.
GONE = {
    "restart_score": "the restart of k-means with the lowest sum of squared distances is taken",
    "keep_matrices": "a fit with a solver keeps them in solution_, for example LKG(solver=ADMM())",
    "storage": "what memory is free decides",
    "memory_budget": "what memory is free decides",
}


class Composed(BaseEstimator):
    """An estimator with parts that have the parameters which it had once; a part is made where one of these is set."""

    _parts: ClassVar[dict[str, Any]]

    def set_params(self, **params):
        """Set parameters, also those of a part, as ``solver__gamma``; it is made if there is none.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        estimator
            The same.
        """
        refuse_moved(type(self), params)
        for part, kind in self._parts.items():
            if getattr(self, part) is None and any(name.startswith(f"{part}__") for name in params):
                params = {part: kind(), **params}
        return super().set_params(**params)

    def _validate_params(self):
        super()._validate_params()
        for part in self._parts:
            if getattr(self, part) is not None:
                getattr(self, part)._validate_params()


def refuse_moved(kind: Any, given: Any) -> None:
    """Say where a parameter is now that the class does not have any more."""
    for name, value in given.items():
        found = _place(kind, name, value)
        if found is not None:
            part, call = found
            raise TypeError(
                f"{kind.__name__} has no parameter {name!r}; it belongs to the {part}: {kind.__name__}({call})"
            )
        if name in GONE and name not in kind._parameter_constraints:
            raise TypeError(f"{kind.__name__} has no parameter {name!r}; leave it out: {GONE[name]}")


def _place(kind: Any, name: str, value: Any) -> tuple[str, str] | None:
    """Return the part that has a parameter, and what gives it there."""
    for part, inner in getattr(kind, "_parts", {}).items():
        deeper = _place(inner, name, value)
        if deeper is not None or name in inner._parameter_constraints:
            call = f"{name}={value!r}" if deeper is None else deeper[1]
            return part, f"{part}={inner.__name__}({call})"
    return None


def storing(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that stores its arguments as they are, under their names, as scikit-learn asks for.

    Parameters that the class does not have any more are refused with where they are now.
    """
    names = signature(init)

    @wraps(init)
    def wrapper(self: Any, *args: Any, **given: Any) -> None:
        refuse_moved(type(self), given)
        init(self, *args, **given)  # Python says what is wrong with them
        bound = names.bind(self, *args, **given)
        bound.apply_defaults()
        vars(self).update({name: value for name, value in bound.arguments.items() if name != "self"})

    return wrapper


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


def warn_of(complaint: str | None, kind: type[Warning] = ConvergenceWarning) -> None:
    """Warn of what there is to complain of; the warning points at the code that called us, or scikit-learn."""
    if complaint is None:
        return
    frame, levels = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("kernelbraid.", "sklearn.")):
        frame, levels = frame.f_back, levels + 1
    warnings.warn(complaint, kind, stacklevel=levels)


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
        warn_of(complaint)


@dataclass(frozen=True, eq=False)
class ViewReport:
    """What a fit knows of the views, in their order; prints as a table.

    Parameters
    ----------
    names : list of str
        "view 1", "view 2" and so on.
    trusted : ndarray of shape (n_views,)
        Which views count.
    weights : ndarray of shape (n_views,)
        What each counts; sum 1, zero for those that are left out.
    why : list of str
        Why each counts, or does not.
    agreement : ndarray of shape (n_views, n_views)
        Neighbours that two views share, in deviations above what chance gives; NaN where that was not measured.
    n_samples : ndarray of shape (n_views,)
        Samples that each has; NaN where that is not known.
    clarity : ndarray of shape (n_views,)
        Modularity of the clusters that each has alone; NaN where views were not measured.
    shares : ndarray of shape (n_samples, n_views) or None, default=None
        The share of a sample's edges that each view carries, where graphs are fused; rows sum to 1.
    """

    names: list[str]
    trusted: NDArray[np.bool_]
    weights: NDArray[np.float64]
    why: list[str]
    agreement: NDArray[np.float64]
    n_samples: NDArray[np.float64]
    clarity: NDArray[np.float64]
    shares: Any = None

    def __len__(self) -> int:
        """Return the number of views."""
        return len(self.names)

    def entries(self) -> list[dict[str, Any]]:
        """Return a dictionary for each view, with None for what is not known and `agreement` by the other's name."""
        rows = zip(self.names, self.trusted, self.weights, self.why, self.n_samples, self.clarity, strict=True)
        return [
            {
                "name": name,
                "trusted": bool(trusted),
                "weight": float(weight),
                "why": why,
                "agreement": {
                    other: float(z)
                    for other, z in zip(self.names, row, strict=True)
                    if other != name and np.isfinite(z)
                },
                "n_samples": int(n_samples) if np.isfinite(n_samples) else None,
                "clarity": float(clarity) if np.isfinite(clarity) else None,
            }
            for (name, trusted, weight, why, n_samples, clarity), row in zip(rows, self.agreement, strict=True)
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with a row for each view."""
        import pandas as pd

        columns = ("trusted", "weights", "why", "n_samples", "clarity")
        return pd.DataFrame({name: getattr(self, name) for name in columns}, index=pd.Index(self.names, name="view"))

    def __str__(self) -> str:
        """Return the table."""
        cells = [("view", "samples", "weight", "why")]
        for entry in self.entries():
            count = "" if entry["n_samples"] is None else str(entry["n_samples"])
            cells.append((entry["name"], count, f"{entry['weight']:.2f}", entry["why"]))
        widths = [max(len(row[column]) for row in cells) for column in range(3)]
        return "\n".join(
            f"{row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}" for row in cells
        )

    __repr__ = __str__


def is_view_list(X: Input) -> TypeGuard[Sequence[InputMatrix]]:
    """Tell a list of matrices from a matrix written as nested lists."""
    return isinstance(X, list | tuple) and any(len(getattr(v, "shape", ())) == 2 for v in X)


def forget_names(estimator: BaseEstimator) -> None:
    """Drop the feature names of an earlier fit; scikit-learn's own check sets those of a data frame anew."""
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def set_features(estimator: BaseEstimator, count: int, reset: bool) -> None:
    """Note the number of features, or compare it with that of the fit."""
    if reset:
        estimator.n_features_in_ = count
    elif count != estimator.n_features_in_:
        raise ValueError(
            f"X has {count} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features "
            "as input; give the features of the fitted samples."
        )


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
