"""Estimators that learn a graph and read it out."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from kernelbraid._machine import n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import fit_context
from kernelbraid.estimators.presenting import Clusterer
from kernelbraid.estimators.reading import publish, warn_of, warn_of_copies
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.progress import CUT, LEARN, phase, plan
from kernelbraid.learning.readout import Reading, read_out
from kernelbraid.learning.report import StepHistory
from kernelbraid.learning.settings import Readout
from kernelbraid.learning.sources import Candidates
from kernelbraid.ops.graphs import Spectrum
from kernelbraid.solvers.iterate import Solution


class GraphClusterer(Clusterer):
    """Check, learn, read out, publish: what all of them do but the first two.

    A subclass has `_read`, from what a user hands over to candidates, and `_learn`, from these to a graph.
    """

    _keeps_coefficients: ClassVar[bool] = False  # whether ``coefficients_`` are published
    _spectrum: ClassVar[Spectrum] = "largest"  # eigenvectors that are clustered, where no parameter says which

    def _read(self, X: Input) -> Candidates:
        raise NotImplementedError

    def _learn(self, candidates: Candidates) -> Coefficients:
        raise NotImplementedError

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn the graph, and cluster it.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as rows, dense or sparse; several views of the same samples as a list, where the method takes
            several. If kernels are ``"precomputed"``, the one of shape (n_samples, n_samples), or several as a stack
            (n_kernels, n_samples, n_samples) or a list.
        y : None
            Ignored, here for scikit-learn.

        Returns
        -------
        estimator
            The fitted estimator.
        """
        candidates = self._read(X)
        plan({LEARN: getattr(self, "max_iter", 1), CUT: 1})
        with phase(LEARN):
            learned = LearnedGraph.of(self._learn(candidates), self._readout(), candidates.identities)
        with phase(CUT):
            reading = read_out(learned, self._readout(), random_state=check_random_state(self.random_state))
        self._publish(candidates, learned, reading)
        warn_of(learned.complaint, stacklevel=4)
        warn_of_copies(self, reading.labels, self.n_clusters)
        return self

    def _readout(self) -> Readout:
        """Return how the graph is read out: with all its edges."""
        given: dict[str, Any] = {"n_init": self.n_init, "n_clusters": self.n_clusters, "n_jobs": n_workers(self.n_jobs)}
        for name in {"embedding", "restart_score"} & self.get_params(deep=False).keys():
            given[name] = getattr(self, name)
        return Readout(**{"n_neighbors": "all", "edge_weights": "learned", "embedding": self._spectrum, **given})

    def _publish(self, candidates: Candidates, learned: LearnedGraph, reading: Reading) -> None:
        """Set the fitted attributes."""
        placed, like = reading.placed, candidates.stack.like
        publish(self, like, labels_=reading.labels, graph_=placed.graph, embedding_=placed.embedding)
        if self._keeps_coefficients:
            publish(self, like, coefficients_=learned.Z)
        if learned.weights is not None:
            publish(self, like, kernel_weights_=learned.weights)
            self.kernel_names_ = candidates.names
        self.inertia_, self.n_iter_ = reading.inertia, reading.n_iter
        if learned.history:
            self.objective_ = learned.history["objective"]
            self.n_iter_, self.status_ = learned.n_iter, str(learned.status)

    def _learned(
        self,
        Z: Any,
        candidates: Candidates,
        solution: Solution[Any],
        history: StepHistory,
        weights: np.ndarray | None = None,
    ) -> Coefficients:
        """Return the coefficients of an alternation, and how it ended."""
        tol = getattr(self, "tol", None)
        return Coefficients(
            Z,
            weights,
            status=solution.status,
            n_iter=solution.n_iter,
            history=history.columns(),
            complaint=history.complaint(type(self).__name__, solution, max_iter=self.max_iter, tol=tol),
        )
