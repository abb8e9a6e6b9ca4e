"""Multiple kernel k-means as a min-max problem, as a scikit-learn clusterer."""

from typing import ClassVar

from sklearn.utils import check_random_state

from kernelbraid._machine import blas_threads, n_workers
from kernelbraid.estimators.base import (
    COUNT,
    NOT_NEGATIVE,
    Clusterer,
    fit_context,
    publish,
    storing,
    warn_of,
    warn_of_copies,
)
from kernelbraid.learning.effort import CUT, LEARN, phase, plan
from kernelbraid.learning.readout import distinct_labels
from kernelbraid.learning.report import StepHistory
from kernelbraid.methods.base import COMPUTING, PRESET, RESTART_SCORE, read_candidates
from kernelbraid.ops.graphs import unit_rows
from kernelbraid.solvers.kernel_kmeans import MinMaxProblem, comparable_kernels, solve_min_max
from kernelbraid.solvers.kmeans import kmeans

# Matrices of n x n at the peak of a fit beside the kernels.
WORKING = 5.0


class SimpleMultipleKernelKMeans(Clusterer):
    r"""Simple multiple kernel k-means (SimpleMKKM): kernel weights by a min-max problem, with nothing to tune.

    .. math::

        \min_{w}\ \max_{H}\ \operatorname{Tr}(H^\top K_w H), \quad K_w = \sum_p w_p^2 K_p
        \quad \text{s.t. } w \ge 0,\ \sum_p w_p = 1,\ H^\top H = I

    where

    - :math:`K_p` are the candidate kernels of samples about their mean, each sample scaled to length one,
    - :math:`H` is a partition, relaxed, with one column for each cluster; k-means on its rows gives the labels.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="rmkkm"
        ``"rmkkm"`` or ``"paper"``, banks of twelve kernels; a list of kernels and functions ``f(X, Y)``; with several
        views also a list with one bank for each; or ``"precomputed"``: X holds the kernels.
    preset : {"authors", "paper"}, default="authors"
        ``"authors"`` follows the published code: the partition is that of a point of the last line search, near the
        weights that are returned. ``"paper"`` has the partition of the weights, and searches on until no finer line
        search changes them: the minimum, in about half as many steps again.
    n_init : int, default=10
        Restarts of k-means.
    restart_score : {"inertia", "distance"}, default="inertia"
        The best restart has the lowest sum of squared distances, or of distances, as the published codes choose.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-5
        The iteration ends when no weight changes by more.
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
    kernel_weights_ : array of shape (n_kernels,)
        w: not negative, sum one. Kernels enter by their squares.
    kernel_names_ : list of str
        Readable name of each kernel.
    embedding_ : array of shape (n_samples, n_clusters)
        Rows of H, each of length one.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step; it never increases.
    inertia_ : float
        Sum of squared distances to the centres in the embedding.
    n_iter_ : int
        Steps that were made.
    status_ : str
        ``"converged"``, ``"max_iter"`` or ``"stopped"`` (by a callback).
    n_features_in_ : int
        Number of features, over all views; of samples for precomputed kernels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    MultipleKernelKMeans : Minimises over the weights, and so rewards kernels with small distances.

    Notes
    -----
    The inner maximum is the sum of the `n_clusters` largest eigenvalues of :math:`K_w`. It is convex in w if no kernel
    has negative eigenvalues, and has the gradient :math:`2 w_p \operatorname{Tr}(H^\top K_p H)`. A step follows the
    reduced gradient along the simplex, from face to face as long as the objective falls, and ends with golden sections.
    It takes some 15 values of the objective, each the eigenvalues of a matrix of n_samples x n_samples.

    References
    ----------
    X. Liu: SimpleMKKM: simple multiple kernel k-means. IEEE Transactions on Pattern Analysis and Machine Intelligence
    45 (2023) 5174-5186.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import SimpleMultipleKernelKMeans
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> SimpleMultipleKernelKMeans(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar = {
        **COMPUTING,
        "restart_score": RESTART_SCORE,
        "kernels": [str, list, tuple],
        "preset": [PRESET],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="rmkkm",
        preset="authors",
        n_init=10,
        restart_score="inertia",
        max_iter=200,
        tol=1e-5,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    @fit_context
    def fit(self, X, y=None):
        """Learn the weights of the kernels, and cluster the partition that belongs to them.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or stack of kernels
            Samples as rows, dense or sparse; several views of the same samples as a list. With
            ``kernels="precomputed"`` a stack (n_kernels, n_samples, n_samples) or a list of kernel matrices.
        y : None
            Ignored, here for scikit-learn.

        Returns
        -------
        SimpleMultipleKernelKMeans
            The fitted estimator.
        """
        candidates = read_candidates(self, X, self.kernels, storage="lazy", working=WORKING, copies=1.0)
        random_state, history = check_random_state(self.random_state), StepHistory()
        by_distance = self.restart_score == "distance"
        with blas_threads(candidates.n_samples, n_workers(self.n_jobs)):
            problem = MinMaxProblem(comparable_kernels(candidates.stack), self.n_clusters, self.preset == "paper")
            plan({LEARN: self.max_iter, CUT: 1})
            with phase(LEARN):
                solution = solve_min_max(problem, max_iter=self.max_iter, tol=self.tol, watch=history)
            rows, k = unit_rows(solution.state.H), self.n_clusters
            with phase(CUT):
                found = kmeans(rows, k, n_init=self.n_init, random_state=random_state, by_distance=by_distance)
        labels = distinct_labels(found.labels, k, candidates.identities)
        publish(self, candidates.stack.like, labels_=labels, embedding_=rows, kernel_weights_=solution.state.w)
        self.kernel_names_, self.inertia_ = candidates.names, found.inertia
        self.objective_ = history.columns()["objective"]
        self.n_iter_, self.status_ = solution.n_iter, str(solution.status)
        name = type(self).__name__
        warn_of(history.complaint(name, solution, max_iter=self.max_iter, tol=self.tol))
        warn_of_copies(self, labels, k)
        return self
