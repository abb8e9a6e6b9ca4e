"""Labels and coordinates for samples that a fit has not seen."""

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import beside, to_numpy
from kernelbraid._threads import calm, n_workers
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import read_cross, read_new
from kernelbraid.estimators.confident import ConfidenceMixin
from kernelbraid.estimators.given_graphs import read_rows
from kernelbraid.learning.extension import Extension
from kernelbraid.learning.fused_extension import FusedExtension
from kernelbraid.learning.graph_extension import GraphExtension
from kernelbraid.learning.spreading import shares_of
from kernelbraid.solvers.centres import nearest_centres, squared_lengths


class InductiveMixin(ConfidenceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`predict` and `transform` for a clusterer that has learned a kernel and a graph.

    The fit sets ``_fitted`` to an :class:`~kernelbraid.learning.extension.Extension`.
    """

    _fitted: Extension | FusedExtension | GraphExtension
    embedding_: Array
    labels_: Array

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def transform(self, X):
        """Return the coordinates of samples in the embedding that was clustered.

        A sample is expressed by the fitted ones in the feature space of the learned kernel, and its strongest edges
        place it among them. Fitted samples have their row of ``embedding_``.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as in ``fit``. With precomputed kernels: their values between new samples (rows) and fitted ones
            (columns), a matrix for each kernel.

        Returns
        -------
        array of shape (n_samples, n_clusters)
            Coordinates.
        """
        placed, _ = self._place(X)
        return placed

    def predict(self, X):
        """Return the clusters of samples: the nearest centre in the embedding.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as for :meth:`transform`.

        Returns
        -------
        array of shape (n_samples,)
            Labels; those of ``labels_`` for fitted samples.
        """
        placed, places = self._place(X)
        fitted, labels = to_numpy(self.embedding_), to_numpy(self.labels_)
        centres = np.stack([fitted[labels == label].mean(axis=0) for label in range(int(labels.max()) + 1)])
        found = np.where(
            places >= 0, labels[places], nearest_centres(to_numpy(placed) @ centres.T, squared_lengths(centres))
        )
        return beside(found, self.labels_)

    def predict_proba(self, X):
        """Return how far samples belong to each cluster: the mean of ``membership_`` over their neighbours.

        The largest entry of a row need not be that of :meth:`predict`, which takes the nearest centre: such labels are
        the least sure ones.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as for :meth:`transform`.

        Returns
        -------
        array of shape (n_samples, n_clusters)
            Rows sum to one; those of ``membership_`` for fitted samples.
        """
        edges, places = self._edges_to_fitted(X)
        known = to_numpy(self.membership_)
        found = np.where((places >= 0)[:, None], known[places], shares_of(edges @ known))
        return beside(found, self.labels_)

    def _edges_to_fitted(self, X: Input) -> tuple[np.ndarray, np.ndarray]:
        """Return edges from samples (rows) to fitted ones, and the place among these, -1 for new ones."""
        check_is_fitted(self)
        with calm(n_workers(self.n_jobs)):
            return self._edges_and_places(X)

    def _edges_and_places(self, X: Input) -> tuple[Array, np.ndarray]:
        fitted = self._fitted
        if isinstance(fitted, GraphExtension):
            rows = read_rows(self, X, fitted)
            return fitted.edges(rows), fitted.known(rows)
        if isinstance(fitted, FusedExtension):
            given = read_new(self, X, fitted)
            return fitted.edges(given), fitted.known(given)
        parts = (fitted.bank, fitted.kernel_weights, fitted.sizes, fitted.views)
        cross, samples = read_cross(self, X, *parts)
        return fitted.edges(cross, vars(self).get("kernel_")), fitted.known(samples)

    def _place(self, X: Input) -> tuple[Array, np.ndarray]:
        """Return coordinates, and which fitted samples they belong to, -1 for new ones."""
        edges, places = self._edges_to_fitted(X)
        return self._fitted.place(edges, places, self.embedding_), places
