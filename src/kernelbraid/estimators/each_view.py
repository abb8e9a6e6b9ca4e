"""A transformer of scikit-learn for each of several views."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernelbraid._machine import counted
from kernelbraid._typing import Input
from kernelbraid.estimators.base import HasMethods, StrOptions, fit_context, is_view_list, storing
from kernelbraid.estimators.reading import refuse_containers

AS_IT_IS = "passthrough"  # scikit-learn's word for a step that does nothing


class EachView(TransformerMixin, BaseEstimator):
    """Apply a transformer of scikit-learn to each of several views, on its own.

    In a pipeline before an estimator that takes a list of views, it scales each of them, or reduces it, by itself.

    Parameters
    ----------
    transformer : transformer, "passthrough", or list of them
        What is fitted to every view, each time anew, or one for each view. ``"passthrough"`` leaves a view as it is.

    Attributes
    ----------
    transformers_ : list
        The fitted transformer of each view.
    n_features_in_ : int
        Number of features, over all views.

    Notes
    -----
    Rows of NaN, samples that a view lacks, are left out when its transformer is fitted, and stay rows of NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelbraid import LKG, EachView
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 5.0], [5.0, 0.0]], 20, axis=0) + rng.normal(size=(40, 2))
    >>> views = [1000 * X, X + rng.normal(size=(40, 2))]
    >>> pipeline = make_pipeline(EachView(StandardScaler()), LKG(n_clusters=2, random_state=0)).fit(views)
    >>> np.bincount(pipeline[-1].labels_).tolist()
    [20, 20]
    """

    _parameter_constraints: ClassVar = {
        "transformer": [HasMethods(["fit", "transform"]), StrOptions({AS_IT_IS}), list, tuple]
    }

    _takes_estimators = True  # of users, whose parameters nobody has validated

    @storing
    def __init__(self, transformer): ...

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @fit_context
    def fit(self, X, y=None):
        """Fit a transformer to each view.

        Parameters
        ----------
        X : list of matrices of shape (n_samples, n_features), or one matrix
            Views of the same samples, dense, sparse or data frames.
        y : None
            Ignored, here for scikit-learn.

        Returns
        -------
        EachView
            The fitted transformer.
        """
        refuse_containers(self, X)
        views = _views_of(X)
        self.transformers_ = [
            fit_measured(one if one == AS_IT_IS else clone(one), view)
            for one, view in zip(self._one_each(len(views)), views, strict=True)
        ]
        self.n_features_in_ = sum(_width(view) for view in views)
        return self

    def transform(self, X):
        """Return the transformed views.

        Parameters
        ----------
        X : list of matrices of shape (n_samples, n_features), or one matrix
            The views of the fit, of these or other samples.

        Returns
        -------
        list of matrices, or one matrix
            What became of each view; one matrix if X is one.
        """
        check_is_fitted(self)
        views = _views_of(X)
        if len(views) != len(self.transformers_):
            raise ValueError(
                f"X holds {counted(len(views), 'view')}, and EachView was fitted on {len(self.transformers_)}; "
                "give the views of the fit."
            )
        done = [transform_measured(one, view) for one, view in zip(self.transformers_, views, strict=True)]
        return done if is_view_list(X) else done[0]

    def _one_each(self, n_views: int) -> Sequence[Any]:
        """Return the transformer of every view."""
        if not isinstance(self.transformer, list | tuple):
            return [self.transformer] * n_views
        if len(self.transformer) != n_views:
            raise ValueError(
                f"EachView has {counted(len(self.transformer), 'transformer')} for {counted(n_views, 'view')}; "
                "give one for each, or one for all."
            )
        return self.transformer


def transform_measured(transformer: Any, view: Any) -> Any:
    """Return a view transformed; rows of NaN stay such rows."""
    if transformer == AS_IT_IS:
        return view
    has = _measured(view)
    if has.all():
        return transformer.transform(view)
    done = np.asarray(transformer.transform(_rows(view, has) if has.any() else np.zeros((1, _width(view)))))
    whole = np.full((len(has), done.shape[1]), np.nan, dtype=done.dtype)
    whole[has] = done[: has.sum()]
    return whole


def fit_measured(transformer: Any, view: Any, *, further: bool = False) -> Any:
    """Return a transformer fitted to the samples that are there; where none is, the view is left as it is.

    It may be fitted further, to one block after the other, if it learns in this way or learns nothing.
    """
    has = _measured(view)
    if transformer == AS_IT_IS or not has.any():
        return AS_IT_IS
    fit = getattr(transformer, "partial_fit", transformer.fit) if further else transformer.fit
    return fit(_rows(view, has))


def _views_of(X: Input) -> list[Any]:
    return list(X) if is_view_list(X) else [X]


def _measured(view: Any) -> np.ndarray:
    """Tell which samples are there: those whose rows are not NaN throughout."""
    values = np.empty((view.shape[0], 0), dtype=bool) if sparse.issparse(view) else np.asarray(view)
    is_whole = values.ndim != 2 or values.dtype.kind != "f"  # or the transformer says what is wrong with it
    return np.ones(values.shape[:1] or 1, dtype=bool) if is_whole else np.asarray(~np.isnan(values).all(axis=1))


def _rows(view: Any, has: np.ndarray) -> Any:
    """Return the samples of a view that are there, as it holds them."""
    if has.all():
        return view
    return view.loc[has] if hasattr(view, "loc") else np.asarray(view)[has]


def _width(view: Any) -> int:
    return int(np.shape(view)[1])
