"""Labels and coordinates for samples that a fit has not seen."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import asarray_like, is_foreign, namespace, row_blocks, to_numpy
from kernelbraid._arrays import device as device_of
from kernelbraid._typing import Array
from kernelbraid.estimators.base import read_cross_kernels, read_views, row_digests
from kernelbraid.kernels import FittedBank
from kernelbraid.solvers.extension import Expression, Placement


def expression_weight(settings: dict[str, Any]) -> float:
    """Return the weight of the squared coefficients of new samples: that of the fit, or of its constraints."""
    return float(settings["alpha"] if settings["graph_penalty"] == "frobenius" else settings["mu"])


class FittedGraph:
    """A fitted graph with the samples it was fitted on.

    Parameters
    ----------
    bank : FittedBank or None
        Kernels for new samples; None if kernels are precomputed.
    samples : list of arrays
        Views, or precomputed kernels.
    settings : dict
        Resolved parameters of the fit.
    placement : Placement or None, default=None
        How edges place samples; :meth:`settle` sets it.
    """

    def __init__(
        self,
        bank: FittedBank | None,
        samples: list[Array],
        settings: dict[str, Any],
        placement: Placement | None = None,
    ) -> None:
        self.bank, self.samples, self.settings, self.placement = bank, samples, settings, placement
        self._expression: Expression | None = None  # both when they are first needed
        self._places: dict[bytes, int] | None = None

    def settle(self, graph: Array, vectors: Array) -> None:
        """Keep the eigenvectors that the clusters were found with: among equal eigenvalues others are as good."""
        self.placement = Placement.of(graph, asarray_like(to_numpy(vectors), graph), self.settings["embedding"])

    def known(self, samples: list[Array]) -> np.ndarray:
        """Return the place of each sample among the fitted ones, -1 for those that are new."""
        if self._places is None:
            self._places = {digest: place for place, digest in reversed(list(enumerate(row_digests(self.samples))))}
        return np.array([self._places.get(digest, -1) for digest in row_digests(samples)])

    def edges(self, cross: Array, kernel: Array) -> Array:
        """Return the edges of new samples to fitted ones, from kernel values."""
        if self._expression is None:
            asked = self.settings
            kept = None if asked["n_neighbors"] == "all" else asked["n_neighbors"]
            self._expression = Expression.of(kernel, expression_weight(asked), kept, asked["edge_weights"])
        return self._expression.edges(asarray_like(cross, self._expression.inverse))

    def embed(self, edges: Array) -> Array:
        """Return the coordinates of new samples from their edges."""
        assert self.placement is not None  # a fit sets it
        return self.placement.embed(asarray_like(edges, self.placement.basis))


class InductiveMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`predict` and `transform` for a clusterer that has learned a kernel and a graph.

    The fit sets ``_fitted`` to a :class:`FittedGraph`.
    """

    _fitted: FittedGraph
    embedding_: Array
    labels_: Array
    kernel_: Array
    kernel_weights_: Array

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
        points = to_numpy(placed)
        distances = (centres * centres).sum(axis=1) - 2 * points @ centres.T
        found = np.where(places >= 0, labels[places], distances.argmin(axis=1))
        if not is_foreign(self.labels_):
            return found
        return namespace(self.labels_).asarray(found, device=device_of(self.labels_))

    def _edges_to_fitted(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return edges from samples (rows) to fitted ones, and the place among these, -1 for new ones."""
        check_is_fitted(self)
        weights = to_numpy(self.kernel_weights_).astype(float)
        if self._fitted.bank is None:
            cross, samples = read_cross_kernels(self, X, weights)
        else:
            samples = read_views(self, X, reset=False)
            cross = self._fitted.bank.cross(samples, weights)
        blocks = [to_numpy(self._fitted.edges(cross[rows, :], self.kernel_)) for rows in row_blocks(cross.shape[0])]
        return np.concatenate(blocks), self._fitted.known(samples)

    def _place(self, X: Any) -> tuple[Array, np.ndarray]:
        """Return coordinates, and which fitted samples they belong to, -1 for new ones."""
        edges, places = self._edges_to_fitted(X)
        placed = self._fitted.embed(edges)
        xp = namespace(placed)
        fitted = asarray_like(to_numpy(self.embedding_)[places], placed)
        return xp.where(asarray_like(places >= 0, placed)[:, None] > 0, fitted, placed), places
