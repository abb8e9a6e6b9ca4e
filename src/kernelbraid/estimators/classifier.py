"""Labels for many samples from labels for few, along a learned graph."""

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernelbraid._machine import n_workers
from kernelbraid._typing import Array
from kernelbraid.estimators.base import Composed, Interval, fit_context, mark_input, storing, warn_of
from kernelbraid.estimators.callbacks import CallbackSupportMixin
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.reading import refuse_containers
from kernelbraid.learning.confidence import reached_by, shares_of, spread_labels
from kernelbraid.learning.effort import LEARN, phase, plan
from kernelbraid.learning.extend import NewSamples
from kernelbraid.learning.learn import learn
from kernelbraid.learning.readout import read_out
from kernelbraid.learning.settings import Settings

UNLABELLED = -1
# What NumPy makes of marks for unknown labels where it has to put them beside text.
LOST_MARKS = ("-1", "-1.0", "nan")


def read_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that are known, and for every sample whether its label is.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Numbers or text; -1, None, NaN or pandas' NA where none is known.

    Returns
    -------
    labels : ndarray of shape (n_known,)
        Of one kind, so that they can be sorted.
    known : ndarray of bool, shape (n_samples,)
        Where they are.
    """
    if y is None:
        raise ValueError("LKGClassifier requires y to be passed, but the target y is None; give -1 if unknown.")
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or (labels.ndim == 2 and labels.shape[1] != 1):
        raise ValueError(f"y has shape {labels.shape}; give a vector with one label per sample.")
    labels = column_or_1d(labels, warn=True)
    known = np.array([not _is_unknown(label) for label in labels.tolist()], dtype=bool)
    labels = labels[known]
    if labels.dtype == object:
        labels = _of_one_kind(labels)
    _refuse_lost_marks(labels)
    assert_all_finite(labels, input_name="y")
    if not len(labels):
        raise ValueError("y holds no known label, only -1 or None; give at least one, or cluster with LKG.")
    check_classification_targets(labels)
    return labels, known


def _is_unknown(label: Any) -> bool:
    """Tell a mark for an unknown label from a label; pandas' NA cannot be compared with anything."""
    if label is None or type(label).__name__ == "NAType":
        return True
    return isinstance(label, Real) and (label == UNLABELLED or label != label)


def _of_one_kind(labels: np.ndarray) -> np.ndarray:
    """Return labels that came as objects as text, which stays objects, or as numbers."""
    texts = [label for label in labels if isinstance(label, str)]
    if not texts:
        return np.array(labels.tolist())
    other = next((label for label in labels if not isinstance(label, str)), None)
    if other is not None:
        raise ValueError(
            f"y mixes text with other labels, such as {texts[0]!r} and {other!r}; give all classes as text or all as "
            "numbers."
        )
    return labels


def _refuse_lost_marks(labels: np.ndarray) -> None:
    """Refuse text that was a mark for an unknown label before it came into an array of text."""
    held = set(labels.tolist())
    mark = next((mark for mark in LOST_MARKS if mark in held), None)
    if mark is not None:
        raise ValueError(
            f"y holds the text {mark!r}, which would be a class of its own; give y with dtype=object, and the number "
            "-1 or None where no label is known."
        )


class LKGClassifier(Composed, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Semi-supervised classification: known labels spread along the graph that :class:`LKG` learns.

    Every sample takes part of its neighbours' labels and keeps part of its own:

    .. math::

        F = \sum_{t \ge 0} (a S)^t\, Y = (I - a S)^{-1}\, Y, \qquad S = D^{-1/2} G D^{-1/2}

    where G is the learned graph with degrees D, and Y has a one for each known label.

    Parameters
    ----------
    clusterer : LKG or None, default=None
        How the graph is learned, ``LKG()`` if None; its number of clusters has no part in it.
    spread : float, default=0.9
        a, between 0 and 1: how much of a label comes from the neighbours.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels that occur, sorted.
    transduction_ : ndarray of shape (n_samples,)
        Label of every fitted sample; known ones stay as they are.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        How much of each class has come to each sample; rows sum to one. A known label is all there is.
    clusterer_ : LKG
        The fitted graph.
    views_ : ViewReport
        What is known of each view, as for :class:`LKG`.
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

    _parts: ClassVar = {"clusterer": LKG}
    _parameter_constraints: ClassVar = {"clusterer": [LKG, None], "spread": [Interval(Real, 0, 1, closed="neither")]}

    @storing
    def __init__(self, clusterer=None, *, spread=0.9): ...

    @property
    def n_jobs(self):
        """Threads of the fit: those of the clusterer."""
        return None if self.clusterer is None else self.clusterer.n_jobs

    def __sklearn_tags__(self):
        return mark_input(super().__sklearn_tags__(), None if self.clusterer is None else self.clusterer.kernels)

    @fit_context
    def fit(self, X, y):
        """Learn the graph of all samples, and spread the known labels along it.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or stack of kernels
            As for :meth:`LKG.fit`.
        y : array-like of shape (n_samples,)
            Labels, numbers or text; -1, None or NaN where none is known. Text with -1 beside it needs ``dtype=object``,
            as a column of pandas has it.

        Returns
        -------
        LKGClassifier
            The fitted classifier.
        """
        refuse_containers(self, X)
        labels, known = read_labels(y)
        model = LKG() if self.clusterer is None else clone(self.clusterer)
        model.set_params(n_clusters=1, resolution=None, min_cluster_size=None, n_init=1, random_state=0)
        settings = Settings.of(model.get_params(deep=False))  # as they are: no number of clusters is asked for
        samples = model._read_samples(X, settings)
        if samples.n_samples != len(known):
            raise ValueError(
                f"X holds {samples.n_samples} samples and y {len(known)} labels; give one for each, -1 if not known."
            )
        copy_features(model, self)
        weighed, vertices = model._pose(samples, settings)
        plan({LEARN: settings.learning.max_iter if settings.is_solved else 1})
        with phase(LEARN):
            learned = learn(weighed, settings, random_state=check_random_state(0))
        reading = read_out(learned, settings.readout, random_state=check_random_state(0))
        model._publish(samples, weighed, vertices, settings, learned, reading)
        self.clusterer_, self.views_ = model, model.views_
        self._publish(reading.placed.graph, labels, known)
        warn_of(learned.complaint)
        return self

    def _publish(self, graph: Any, labels: np.ndarray, known: np.ndarray) -> None:
        """Spread the known labels along the graph of the distinct samples, and set the fitted attributes."""
        vertices = self.clusterer_._vertices
        self.classes_, codes = np.unique(labels, return_inverse=True)
        given = np.zeros((len(known), len(self.classes_)))
        given[np.flatnonzero(known), codes] = 1.0
        on_vertices = given
        if vertices.are_others:
            on_vertices = np.zeros((len(vertices.first), len(self.classes_)))
            np.add.at(on_vertices, vertices.index, given)
        self._spread = spread_labels(graph, on_vertices, self.spread, n_workers(self.n_jobs))
        shares = vertices.spread(shares_of(self._spread))
        self.label_distributions_ = np.where(known[:, None], given, shares)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]

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
        check_is_fitted(self)
        model, along, classes = self.clusterer_, self._along(), self.classes_
        known, fitted = self.transduction_[model._vertices.first], model._fitted

        def named(new: NewSamples) -> np.ndarray:
            places, found = fitted.known(new), along(fitted.edges(new)).argmax(axis=1)
            return np.where(places >= 0, known[places], classes[found])

        return model._answers(X, named)

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
        check_is_fitted(self)
        model = self.clusterer_
        return model._shares(X, self.label_distributions_[model._vertices.first], self._along())

    def _along(self) -> Callable[[Array], np.ndarray]:
        """Return what gives shares of classes to new samples along their edges."""
        return partial(reached_by, graph=self.clusterer_._fitted.placement.graph, spread=self._spread)


def copy_features(source: BaseEstimator, target: BaseEstimator) -> None:
    """Give a fitted estimator what another one knows about the features, and nothing else."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))
        elif hasattr(target, name):  # of an earlier fit
            delattr(target, name)
