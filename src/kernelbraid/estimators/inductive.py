"""Labels and coordinates for samples that a fit has not seen, and how sure each label is."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import beside, to_numpy
from kernelbraid._machine import calm, n_workers
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.reading import read_new
from kernelbraid.learning.confidence import memberships, of_labels
from kernelbraid.learning.extend import Extension
from kernelbraid.learning.outliers import outlier_scores
from kernelbraid.learning.spreading import evened, shares_of
from kernelbraid.learning.weighing import Vertices
from kernelbraid.solvers.lloyd import nearest_centres, squared_lengths

#: Attributes that are worked out when they are first asked for.
LAZY = ("membership_", "confidence_", "outlier_scores_")


class InductiveMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What a clusterer that has learned a graph tells on request: of new samples, and how sure each label is.

    The fit sets ``_fitted``, and ``_certainty`` to an empty dictionary, which keeps what was asked for, also in a file.
    """

    _fitted: Extension
    _vertices: Vertices
    _vertex_graph: Array
    _silent_edges: Array
    _certainty: dict[str, np.ndarray]
    graph_: Array
    embedding_: Array
    labels_: Array
    n_clusters_: int
    n_jobs: int | None

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
        return beside(self._nearest(placed, places), self.labels_)

    def _nearest(self, placed: Array, places: np.ndarray) -> np.ndarray:
        """Return the cluster with the nearest centre; of fitted samples their own."""
        _, fitted, labels = self._vertex_level()
        centres = np.stack([fitted[labels == label].mean(axis=0) for label in range(int(labels.max()) + 1)])
        found = nearest_centres(to_numpy(placed) @ centres.T, squared_lengths(centres))
        return np.where(places >= 0, labels[places], found)

    def _vertex_level(self) -> tuple[Array, np.ndarray, np.ndarray]:
        """Return the graph, the embedding and the labels of the distinct samples."""
        embedding, labels, first = to_numpy(self.embedding_), to_numpy(self.labels_), self._vertices.first
        if not self._vertices.are_others:
            return self.graph_, embedding, labels
        return self._vertex_graph, embedding[first], labels[first]

    def predict_proba(self, X):
        """Return how far samples belong to each cluster: the mean of ``membership_`` over their neighbours.

        The largest entry of a row need not be that of :meth:`predict`, which takes the nearest centre: such labels are
        the least sure ones. A sample that is farther from its neighbours than any fitted one from its own comes near
        even shares: there, nobody is sure.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as for :meth:`transform`.

        Returns
        -------
        array of shape (n_samples, n_clusters)
            Rows sum to one; those of ``membership_`` for fitted samples.
        """
        edges, places, nearness = self._edges_to_fitted(X)
        known = to_numpy(self.membership_)[self._vertices.first]
        found = np.where((places >= 0)[:, None], known[places], evened(shares_of(edges @ known), nearness()))
        return beside(found, self.labels_)

    def _edges_to_fitted(self, X: Input) -> tuple[Array, np.ndarray, Callable[[], np.ndarray]]:
        """Return edges from samples (rows) to fitted ones, the place among these, -1 for new ones, and what is near."""
        check_is_fitted(self)
        with calm(n_workers(self.n_jobs)):
            new = read_new(self, X, self._fitted)
            edges = self._fitted.edges(new)
            return edges, self._fitted.known(new), partial(self._fitted.nearness, new, edges, self._vertex_level()[0])

    def _place(self, X: Input) -> tuple[Array, np.ndarray]:
        """Return coordinates, and which fitted samples they belong to, -1 for new ones."""
        edges, places, _ = self._edges_to_fitted(X)
        return self._fitted.place(edges, places, self._vertex_level()[1]), places

    def _kept_samples(self) -> dict[int, tuple[np.ndarray, Array]]:
        """Return for every view that is kept which samples it has, and what it has of them."""
        index, kept = self._vertices.index, {}
        for view, (rows, A) in self._fitted.samples().items():
            place = np.full(len(self._vertices.first), -1)
            place[slice(None) if rows is None else rows] = np.arange(A.shape[0])
            at = np.where(index >= 0, place[index], -1)
            own = np.flatnonzero(at >= 0)
            kept[view] = own, (A if sparse.issparse(A) else to_numpy(A))[at[own]]
        return kept

    @property
    def membership_(self):
        """How far each sample belongs to each cluster."""
        return beside(self._known("membership", self._membership), self.labels_)

    @property
    def confidence_(self):
        """How sure each label is."""
        return beside(of_labels(self._known("membership", self._membership), to_numpy(self.labels_)), self.labels_)

    @property
    def outlier_scores_(self):
        """How far each sample stands aside."""
        return beside(self._known("outlier_scores", self._outlier_scores), self.labels_)

    def _known(self, name: str, find: Callable[[], np.ndarray]) -> np.ndarray:
        """Return what was found before, or find it now."""
        check_is_fitted(self)
        if name not in self._certainty:
            self._certainty[name] = find()
        return self._certainty[name]

    def _membership(self) -> np.ndarray:
        return self._membership_of(to_numpy(self.labels_))

    def _membership_of(self, labels: np.ndarray) -> np.ndarray:
        """Return the memberships of all samples in clusters of the graph that was learned."""
        fitted, vertices = self._fitted, self._vertices
        graph, embedding, _ = self._vertex_level()
        found = memberships(
            graph,
            embedding,
            labels[vertices.first],
            self.n_clusters_,
            spectrum=fitted.placement.spectrum,
            copies=fitted.copies,
            threads=n_workers(self.n_jobs),
        )
        everybody = vertices.spread(found)
        if vertices.has_silent:
            everybody[vertices.silent] = shares_of(self._silent_edges @ found)
        return everybody

    def _outlier_scores(self) -> np.ndarray:
        return self._vertices.spread(outlier_scores(self._vertex_level()[0], self._fitted.unexplained()))
