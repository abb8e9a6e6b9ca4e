"""What every clusterer shows of itself: a page about a fit, and what notebooks print."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin

from kernelbraid.estimators.base import mark_input
from kernelbraid.estimators.callbacks import CallbackSupportMixin


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
