"""Estimators that learn a graph and read it out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from kernelbraid._arrays import as_dense
from kernelbraid._machine import n_workers
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import (
    COUNT,
    JOBS,
    Clusterer,
    HasMethods,
    StrOptions,
    fit_context,
    is_view_list,
    publish,
    warn_of,
    warn_of_copies,
)
from kernelbraid.estimators.given import PRECOMPUTED
from kernelbraid.estimators.reading import read_samples, refuse_containers
from kernelbraid.kernels import Linear, list_kernels, resolve_kernel
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.effort import CUT, LEARN, WORKING_MATRICES, check_memory, phase, plan
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.readout import Reading, read_out
from kernelbraid.learning.report import StepHistory
from kernelbraid.learning.settings import Readout
from kernelbraid.learning.sources import Candidates, Views
from kernelbraid.ops.graphs import Spectrum
from kernelbraid.solvers.iterate import Solution


class GraphClusterer(Clusterer):
    """Check, learn, read out, publish: what all of them do but kernel k-means.

    A subclass has `_read`, from what a user hands over to candidates, and `_learn`, from these to a graph.
    """

    _keeps_coefficients: ClassVar[bool] = False  # whether ``coefficients_`` are published
    _spectrum: ClassVar[Spectrum] = "largest"  # eigenvectors that are clustered, where no parameter says which

    def _read(self, X: Input) -> Candidates:
        raise NotImplementedError

    def _learn(self, candidates: Candidates) -> Coefficients:
        raise NotImplementedError

    @fit_context
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
        warn_of(learned.complaint)
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
        self, Z: Any, solution: Solution[Any], history: StepHistory, weights: np.ndarray | None = None
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


def read_candidates(
    estimator: BaseEstimator,
    X: Input,
    kernels: Any,
    *,
    storage: Literal["auto", "lazy", "stored"] = "auto",
    working: float = WORKING_MATRICES,
    copies: float = 0.0,
) -> Candidates:
    """Check what a user hands over, and pose the kernels over it where and how the estimator asks.

    Parameters
    ----------
    estimator : estimator
        Has the parameters `n_clusters` and `device`; gets ``n_features_in_``.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, the name of a bank, a list of kernels, or a list of banks.
    storage, working, copies
        As for :func:`check_memory`.

    Returns
    -------
    Candidates
        On the device, and stored or lazy.
    """
    samples = read_samples(estimator, X, kernels)
    needs: dict[str, Any] = {**_clusters_of(estimator), "working": working, "copies": copies}
    stored = check_memory(samples, kernels, storage=storage, **needs)
    return samples.pose(kernels, stored=stored)


def read_candidate(estimator: BaseEstimator, X: Input, kernel: Any, *, working: float) -> Candidates:
    """Do the same for one kernel over one view.

    Parameters
    ----------
    estimator : estimator
        As for :func:`read_candidates`.
    X : matrix
        Samples, or a kernel if `kernel` is ``"precomputed"``.
    kernel : str, kernel or callable
        What :func:`~kernelbraid.kernels.resolve_kernel` takes, or ``"precomputed"``.
    working
        As for :func:`check_memory`.

    Returns
    -------
    Candidates
        One kernel, stored.
    """
    refuse_containers(estimator, X)
    precomputed = kernel == PRECOMPUTED
    given = "precomputed" if precomputed else [resolve_kernel(kernel)]
    name = type(estimator).__name__
    if precomputed and len(list_kernels(X)) > 1:
        raise ValueError(
            f"X holds {len(list_kernels(X))} kernels, and {name} takes one; pass a matrix (n_samples, n_samples), "
            "or use an estimator with several kernels."
        )
    if not precomputed and is_view_list(X) and len(X) > 1:
        raise ValueError(
            f"X holds {len(X)} views, and {name} takes one; join their features, or use an estimator with several "
            "kernels."
        )
    return read_candidates(estimator, X, given, storage="stored", working=working)


def read_several(
    estimator: BaseEstimator,
    X: Input,
    kernels: Any,
    *,
    working: float,
    copies: float,
    prepare: Callable[[Array], Array] | None = None,
) -> Candidates:
    """Do the same where several views are needed: one linear kernel for each, or the kernels of one of them.

    Parameters
    ----------
    estimator : estimator
        As for :func:`read_candidates`.
    X : matrix, list of matrices, or stack of kernels
        As for ``fit``.
    kernels : str or list
        ``"precomputed"``, or what takes the place of views where there is one alone.
    working, copies : float
        As for :func:`check_memory`.
    prepare : callable, default=None
        What is done to dense features first.

    Returns
    -------
    Candidates
        At least two kernels, lazy. Views are their `samples`.
    """
    samples: Any = read_samples(estimator, X, kernels)
    has_views = samples.n_views > 1 and kernels != PRECOMPUTED
    if has_views:
        kernels = [Linear(None)]
    if samples.size(kernels)["n_kernels"] < 2:
        raise ValueError(
            f"X is one view under one kernel, and {type(estimator).__name__} needs several views; give a list of "
            "views, or several kernels."
        )
    check_memory(samples, kernels, **_clusters_of(estimator), storage="lazy", working=working, copies=copies)
    if not has_views or prepare is None:
        return samples.pose(kernels)
    prepared = Views([prepare(as_dense(view)) for view in samples.views], samples.place).pose(kernels)
    return replace(prepared, samples=samples)  # by which copies are known


def widths_of_views(candidates: Candidates) -> list[int] | None:
    """Return the features of several views; None if kernels take their place."""
    return None if candidates.bank is None or candidates.samples.n_views == 1 else candidates.samples.widths


#: As the published code of a method computes, or as its problem asks where that is something else.
PRESET = StrOptions({"authors", "paper"})


# Legal values of the parameters that all methods have.
COMPUTING: dict[str, Any] = {
    "n_clusters": [COUNT],
    "n_init": [COUNT],
    "device": [str, None],
    "n_jobs": JOBS,
    "random_state": ["random_state"],
}


# Legal values for one kernel, and for the way from a graph to labels.
ONE_KERNEL: dict[str, Any] = {"kernel": [str, callable, HasMethods("matrix"), HasMethods("function")]}


RESTART_SCORE = [StrOptions({"inertia", "distance"})]


def _clusters_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Return what decides the memory of clustering."""
    return {"n_clusters": estimator.n_clusters, "n_init": getattr(estimator, "n_init", None)}
