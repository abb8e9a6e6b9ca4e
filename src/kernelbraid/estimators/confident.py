"""How sure each label of a fitted clusterer is, worked out when it is first asked for."""

from collections.abc import Callable

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import beside, to_numpy
from kernelbraid._threads import n_workers
from kernelbraid._typing import Array
from kernelbraid.learning.confidence import memberships, of_labels
from kernelbraid.learning.extension import Extension
from kernelbraid.learning.fused_extension import FusedExtension
from kernelbraid.learning.graph_extension import GraphExtension
from kernelbraid.learning.outliers import outlier_scores


class ConfidenceMixin:
    """`membership_`, `confidence_` and `outlier_scores_` of a clusterer that has learned a graph.

    The fit sets ``_certainty`` to an empty dictionary, which keeps what was asked for, also in a file.
    """

    _certainty: dict[str, np.ndarray]
    _fitted: Extension | FusedExtension | GraphExtension
    graph_: Array
    embedding_: Array
    labels_: Array
    n_clusters_: int
    n_jobs: int | None

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
        """Return the memberships in clusters of the graph that was learned."""
        fitted = self._fitted
        return memberships(
            self.graph_,
            self.embedding_,
            labels,
            self.n_clusters_,
            spectrum=fitted.placement.spectrum,
            copies=fitted.first_copies(),
            threads=n_workers(self.n_jobs),
        )

    def _outlier_scores(self) -> np.ndarray:
        return outlier_scores(self.graph_, self._fitted.unexplained(vars(self).get("kernel_")))
