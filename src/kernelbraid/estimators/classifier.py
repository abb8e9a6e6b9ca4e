"""Labels for many samples from labels for few, along a learned graph."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import to_numpy
from kernelbraid._linalg import blas_threads
from kernelbraid.estimators.base import COUNT, Interval, StrOptions, fit_context, mark_input
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.presets import PRESETS
from kernelbraid.ops.spectral import normalised_graph

UNLABELLED = -1
# Parameters that are handed on to LKG.
OF_GRAPH = (
    "preset",
    "graph_penalty",
    "alpha",
    "beta",
    "gamma",
    "mu",
    "kernels",
    "n_neighbors",
    "edge_weights",
    "memory_budget",
    "device",
    "n_jobs",
)


class LKGClassifier(ClassifierMixin, BaseEstimator):
    r"""Semi-supervised classification: known labels spread along the graph that :class:`LKG` learns.

    Every sample takes part of its neighbours' labels and keeps part of its own:

    .. math::

        F = \sum_{t \ge 0} (a S)^t\, Y = (I - a S)^{-1}\, Y, \qquad S = D^{-1/2} G D^{-1/2}

    where G is the learned graph with degrees D, and Y has a one for each known label.

    Parameters
    ----------
    spread : float, default=0.9
        a, between 0 and 1: how much of a label comes from the neighbours.
    preset : {"authors", "paper", "recommended"}, default="recommended"
        As for :class:`LKG`, like all that follow.
    graph_penalty : {"nuclear", "l1", "frobenius"}, default=None
        Kind of the graph.
    alpha : float, default=None
        Weight of the graph penalty.
    beta : float, default=None
        Weight of the kernel's nuclear norm.
    gamma : float, default=None
        Weight of the distance between the kernel and the candidates.
    mu : float, default=None
        Weight of the constraints in the first step.
    kernels : str, list or None, default=None
        Candidate kernels.
    n_neighbors : int or "all", default=None
        Strongest edges of each sample that stay.
    edge_weights : {"learned", "scaled", "binary"}, default=None
        What an edge weighs.
    memory_budget : float, default=None
        Bytes that the fit may use.
    device : str, default=None
        PyTorch device to compute on.
    n_jobs : int, default=None
        Threads of BLAS.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels that occur.
    transduction_ : ndarray of shape (n_samples,)
        Label of every fitted sample; known ones stay as they are.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        How much of each class has come to each sample; rows sum to one. A known label is all there is.
    graph_model_ : LKG
        The fitted graph.
    n_features_in_ : int
        Number of features, over all views.

    See Also
    --------
    LKG : The graph without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelbraid import LKGClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> known = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> float(np.mean(LKGClassifier().fit(X, known).transduction_ == y)) > 0.9
    True
    """

    _parameter_constraints: ClassVar = {
        "spread": [Interval(Real, 0, 1, closed="neither")],
        "preset": [StrOptions(set(PRESETS))],
        **{name: LKG._parameter_constraints[name] for name in OF_GRAPH if name != "preset"},
        "n_jobs": [COUNT, None],
    }

    def __init__(
        self,
        *,
        spread=0.9,
        preset="recommended",
        graph_penalty=None,
        alpha=None,
        beta=None,
        gamma=None,
        mu=None,
        kernels=None,
        n_neighbors=None,
        edge_weights=None,
        memory_budget=None,
        device=None,
        n_jobs=None,
    ):
        self.spread = spread
        self.preset = preset
        self.graph_penalty = graph_penalty
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.mu = mu
        self.kernels = kernels
        self.n_neighbors = n_neighbors
        self.edge_weights = edge_weights
        self.memory_budget = memory_budget
        self.device = device
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        return mark_input(super().__sklearn_tags__(), self.kernels)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Learn the graph of all samples, and spread the known labels along it.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or stack of kernels
            As for :meth:`LKG.fit`.
        y : array of shape (n_samples,)
            Labels; -1 where none is known.

        Returns
        -------
        LKGClassifier
            The fitted classifier.
        """
        labels = self._read_labels(y)
        known = labels != UNLABELLED if labels.dtype.kind in "iuf" else np.ones(len(labels), dtype=bool)
        if not known.any():
            raise ValueError("y holds no known label, only -1; give at least one, or cluster with LKG.")
        self.classes_, codes = np.unique(labels[known], return_inverse=True)
        graph = LKG(1, n_init=1, random_state=0, **{name: getattr(self, name) for name in OF_GRAPH}).fit(X)
        n = graph.labels_.shape[0]
        if n != len(labels):
            raise ValueError(f"X holds {n} samples and y {len(labels)} labels; give one for each, -1 if not known.")
        given = np.zeros((n, len(self.classes_)))
        given[np.flatnonzero(known), codes] = 1.0
        S = normalised_graph(to_numpy(graph.graph_))
        with blas_threads(n, self.n_jobs):
            self._spread = np.linalg.solve(np.eye(n) - self.spread * S, given)
        self.label_distributions_ = np.where(known[:, None], given, self._shares(self._spread))
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        self.graph_model_, self.n_features_in_ = graph, graph.n_features_in_
        if hasattr(graph, "feature_names_in_"):
            self.feature_names_in_ = graph.feature_names_in_
        return self

    def predict(self, X):
        """Return the class of samples.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            As for :meth:`LKG.predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; those of ``transduction_`` for fitted samples.
        """
        shares, places = self._place(X)
        return np.where(places >= 0, self.transduction_[places], self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X):
        """Return how much of each class comes to each sample.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            As for :meth:`LKG.predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one; the columns are in the order of ``classes_``.
        """
        return self._place(X)[0]

    def _read_labels(self, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError("LKGClassifier requires y to be passed, but the target y is None; give -1 if unknown.")
        labels = np.asarray(y)
        if labels.ndim not in (1, 2) or (labels.ndim == 2 and labels.shape[1] != 1):
            raise ValueError(f"y has shape {labels.shape}; give a vector with one label per sample.")
        labels = column_or_1d(labels, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        return labels

    def _shares(self, spread: np.ndarray) -> np.ndarray:
        """Return rows that sum to one; a sample that no label reaches gets even shares."""
        totals = spread.sum(axis=1, keepdims=True)
        even = np.full_like(spread, 1 / spread.shape[1])
        return np.where(totals > 0, spread / np.where(totals > 0, totals, 1.0), even)

    def _place(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return shares of the classes, and the place among the fitted samples, -1 for new ones."""
        check_is_fitted(self)
        edges, places = self.graph_model_._edges_to_fitted(X)
        degrees = to_numpy(self.graph_model_.graph_).sum(axis=1)
        reached = edges @ (self._spread / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None])
        shares = self._shares(reached)
        return np.where((places >= 0)[:, None], self.label_distributions_[places], shares), places
