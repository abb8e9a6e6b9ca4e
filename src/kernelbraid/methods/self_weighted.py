"""Clustering of a graph from kernels that weigh themselves, as a scikit-learn clusterer."""

from dataclasses import replace
from typing import ClassVar

from kernelbraid._machine import blas_threads, n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import AUTO, COUNT, NOT_NEGATIVE, POSITIVE, storing
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.report import StepHistory
from kernelbraid.learning.sources import Candidates
from kernelbraid.methods.base import COMPUTING, GraphClusterer, read_candidates
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.self_weighted import ConsensusProblem, solve_consensus

# Matrices of n x n at the peak of a fit beside the kernels.
WORKING = 10.0
#: The iteration ends when the graph changes by less, relatively, in the spectral norm, after six steps at least.
TOL = 1e-5
# Relative change of the graph after so many steps that more would not end.
ADRIFT, LATE = 0.1, 20


class SelfWeightedMultipleKernel(GraphClusterer):
    r"""Self-weighted multiple kernel learning (SMKL): a consensus kernel near to the candidates, and its graph.

    .. math::

        \min_{Z, K, F}\ \operatorname{Tr}(K - 2KZ + Z^\top K Z) + \gamma \|Z\|_F^2
        + \alpha \operatorname{Tr}(F^\top L F) + \beta \sum_j \|H_j - K\|_F
        \quad \text{s.t. } Z \ge 0,\ K \ge 0,\ F^\top F = I

    where :math:`H_j` are the candidate kernels, :math:`K` is the consensus kernel, :math:`L` the Laplacian of the graph
    :math:`Z`, and :math:`F` has one column for each cluster.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="rmkkm"
        ``"rmkkm"`` or ``"paper"``, banks of twelve kernels; a list of kernels and functions ``f(X, Y)``; with several
        views also a list with one bank for each; or ``"precomputed"``: X holds the kernels.
    alpha : float, default=1e-5
        Weight of the clusters in the graph.
    beta : float or "auto", default="auto"
        How near the consensus kernel stays to the candidates. What a value means depends on the number of samples and
        of kernels, and the iteration diverges below some; ``"auto"`` takes the value under which the candidates weigh
        ten times as much as the graph in the first consensus kernel. The authors have 15 for YALE and its 12 kernels.
    gamma : float, default=1.0
        Spreads the coefficients of a sample over more samples.
    n_init : int, default=100
        Restarts of k-means.
    max_iter : int, default=100
        Largest number of steps.
    device : str, default=None
        PyTorch device to compute on, such as ``"cuda"``; if None, the input decides.
    n_jobs : int, default=None
        Threads of BLAS during the fit; if None, chosen by the number of samples. -1 stands for all cores, -2 for all
        but one.
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means. An int makes the labels reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each sample: exactly `n_clusters` different values, fewer only if fewer samples are distinct.
    graph_ : array of shape (n_samples, n_samples)
        Symmetric affinity that was clustered, Z.
    coefficients_ : array of shape (n_samples, n_samples)
        Z: column j expresses sample j.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    kernel_weights_ : array of shape (n_kernels,)
        Share of each kernel in the consensus: :math:`1 / \|H_j - K\|_F`, divided by its sum.
    kernel_names_ : list of str
        Readable name of each kernel.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step. It may rise slightly: what is negative in a minimum is set to zero.
    inertia_ : float
        Sum of squared distances to the centres in the embedding.
    n_iter_ : int
        Steps that were made.
    status_ : str
        ``"converged"``, ``"max_iter"``, ``"stopped"`` (by a callback) or ``"non_finite"``.
    n_features_in_ : int
        Number of features, over all views; of samples for precomputed kernels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    LKG : Its successor, with a low-rank kernel.

    Notes
    -----
    A step updates F, the weights :math:`w_j = 1 / (2 \|H_j - K\|_F)`, then :math:`Z = (K + \gamma I)^{-1}
    (K - \tfrac{\alpha}{4} E)` with :math:`E_{ij} = \|f_i - f_j\|^2`, and :math:`K` as the mean of the candidates by
    these weights, less :math:`(I - Z)^2 / (2 \beta \sum_j w_j)`. Negative entries of both become zero.

    References
    ----------
    Z. Kang, X. Lu, J. Yi, Z. Xu: Self-weighted multiple kernel learning for graph-based clustering and semi-supervised
    classification. IJCAI 2018, 2312-2318.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import SelfWeightedMultipleKernel
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> SelfWeightedMultipleKernel(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _keeps_coefficients = True
    _parameter_constraints: ClassVar = {
        **COMPUTING,
        "kernels": [str, list, tuple],
        "alpha": [NOT_NEGATIVE],
        "beta": [POSITIVE, AUTO],
        "gamma": [POSITIVE],
        "max_iter": [COUNT],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="rmkkm",
        alpha=1e-5,
        beta="auto",
        gamma=1.0,
        n_init=100,
        max_iter=100,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_candidates(self, X, self.kernels, working=WORKING)

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Alternate between the graph, the consensus kernel and the weights of the candidates."""
        history = StepHistory()
        problem = ConsensusProblem(
            candidates.stack,
            self.n_clusters,
            alpha=self.alpha,
            beta=None if self.beta == "auto" else self.beta,
            gamma=self.gamma,
        )
        with blas_threads(candidates.n_samples, n_workers(self.n_jobs)):
            solution = solve_consensus(problem, max_iter=self.max_iter, tol=TOL, watch=history)
        state = solution.state
        learned = self._learned(state.Z, solution, history, state.w / state.w.sum())
        if learned.complaint is None or solution.status is not Status.MAX_ITER or solution.n_iter < LATE:
            return learned
        change = history.last["change"]
        if change < ADRIFT:
            return learned
        # The kernel follows the graph rather than the candidates, and no end is near.
        complaint = (
            f"{type(self).__name__} made max_iter={self.max_iter} steps and its graph still changes by {change:.1e}, "
            f"relatively. Raise beta={problem.strength:g}."
        )
        return replace(learned, complaint=complaint)
