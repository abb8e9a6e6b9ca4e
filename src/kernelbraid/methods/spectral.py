"""Spectral clustering with one kernel or several as scikit-learn clusterers."""

from numbers import Real
from typing import ClassVar

import numpy as np

from kernelbraid._machine import blas_threads, n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import COUNT, GRAPH, Interval, storing
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.report import StepHistory
from kernelbraid.learning.sources import Candidates
from kernelbraid.methods.base import (
    COMPUTING,
    ONE_KERNEL,
    RESTART_SCORE,
    GraphClusterer,
    read_candidate,
    read_candidates,
)
from kernelbraid.ops.closed_forms import nonnegative
from kernelbraid.solvers import spectral

# Matrices of n x n at the peak of a fit beside the kernels.
WORKING = 6.0


class KernelSpectralClustering(GraphClusterer):
    r"""Spectral clustering with a kernel as the graph (SC).

    .. math::

        \max_{F^\top F = I}\ \operatorname{Tr}(F^\top D^{-1/2} K D^{-1/2} F)
        \quad\text{or, unnormalised,}\quad \min_{F^\top F = I}\ \operatorname{Tr}(F^\top (D - K) F)

    where :math:`K` is the kernel matrix, :math:`D` the diagonal matrix of its row sums, and the rows of :math:`F`
    are scaled to unit length and clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel or callable, default="gaussian"
        ``"gaussian"``, ``"linear"``, ``"polynomial"``; a :class:`~kernelbraid.kernels.Gaussian`,
        :class:`~kernelbraid.kernels.Linear` or :class:`~kernelbraid.kernels.Polynomial`; a function ``f(X, Y)`` as
        in :mod:`sklearn.metrics.pairwise`; or ``"precomputed"``: X is the kernel matrix.
    embedding : {"largest", "magnitude", "unnormalised", "random_walk"}, default="largest"
        ``"largest"`` takes the eigenvectors of largest eigenvalue of the normalised kernel (Ng, Jordan and Weiss),
        ``"magnitude"`` those of largest absolute eigenvalue, ``"unnormalised"`` those of smallest eigenvalue of the
        Laplacian, as in the code behind the published figures of SC. Negative kernel values count as zero unless
        unnormalised.
    n_init : int, default=100
        Restarts of k-means.
    restart_score : {"inertia", "distance"}, default="inertia"
        The best restart has the lowest sum of squared distances, or of distances, as the published codes choose.
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
        The kernel matrix that was used as graph.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    inertia_ : float
        Sum of squared distances to the centres in the embedding.
    n_iter_ : int
        Steps of k-means in the run that was kept.
    kernel_weights_ : array of shape (1,)
        One.
    kernel_names_ : list of str
        Readable name of the kernel.
    n_features_in_ : int
        Number of features; of samples for a precomputed kernel.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    AffinityAggregation : Several kernels with learned weights.

    References
    ----------
    A. Y. Ng, M. I. Jordan, Y. Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001, 849-856.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import KernelSpectralClustering
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> KernelSpectralClustering(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar = {
        **COMPUTING,
        **ONE_KERNEL,
        "embedding": GRAPH["embedding"],
        "restart_score": RESTART_SCORE,
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernel="gaussian",
        embedding="largest",
        n_init=100,
        restart_score="inertia",
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_candidate(self, X, self.kernel, working=WORKING)

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Return the kernel itself as the graph; negative values are edges for the Laplacian alone."""
        kernel = candidates.average()
        graph = kernel if self.embedding == "unnormalised" else nonnegative(kernel)
        return Coefficients(graph, np.ones(1), n_iter=0)


class AffinityAggregation(GraphClusterer):
    r"""Affinity aggregation for spectral clustering (AASC) with several kernels or views.

    Learns a weighted sum of graphs together with its spectral embedding:

    .. math::

        \min_{F, a}\ \sum_k a_k \operatorname{Tr}(F^\top (I - S_k) F)
        \quad \text{s.t. } F^\top F = I,\ a \ge 0,\ \sum_k \sqrt{a_k} = 1

    where :math:`S_k = D_k^{-1/2} W_k D_k^{-1/2}`, and :math:`W_k` is kernel k with negative values and
    self-similarities set to zero.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="rmkkm"
        ``"rmkkm"`` or ``"paper"``, banks of twelve kernels; a list of kernels and functions ``f(X, Y)``; with several
        views also a list with one bank for each; or ``"precomputed"``: X holds the kernels.
    n_init : int, default=100
        Restarts of k-means.
    restart_score : {"inertia", "distance"}, default="inertia"
        The best restart has the lowest sum of squared distances, or of distances, as the published codes choose.
    max_iter : int, default=100
        Largest number of steps.
    tol : float, default=1e-6
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
        Share of each kernel in the graph: a, divided by its sum.
    kernel_names_ : list of str
        Readable name of each kernel.
    graph_ : array of shape (n_samples, n_samples)
        Weighted sum of the normalised affinities.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step.
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
    KernelSpectralClustering : One kernel.

    Notes
    -----
    The publication aggregates affinities of different degrees :math:`D_k` and asks for :math:`\sum_k v_k = 1` and
    :math:`\sum_k v_k^2 f^\top D_k f = 1` at once, with :math:`a_k = v_k^2`. For the usual kernels no nonnegative
    weights are stationary under both: a narrow Gaussian is nearly the identity, costs nothing and has hardly any
    degree, and others would have to be negative to balance it. Here affinities have no self-similarities and are
    normalised one by one. Then all degrees are one, the second constraint says nothing new, and both steps have
    closed forms that never raise the objective.

    References
    ----------
    H.-C. Huang, Y.-Y. Chuang, C.-S. Chen: Affinity aggregation for spectral clustering. CVPR 2012, 773-780.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import AffinityAggregation
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> AffinityAggregation(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar = {
        **COMPUTING,
        "restart_score": RESTART_SCORE,
        "kernels": [str, list, tuple],
        "max_iter": [COUNT],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="rmkkm",
        n_init=100,
        restart_score="inertia",
        max_iter=100,
        tol=1e-6,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_candidates(self, X, self.kernels, storage="lazy", working=WORKING, copies=1.0)

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Learn the weights of the normalised affinities; their sum is the graph."""
        history = StepHistory()
        with blas_threads(candidates.n_samples, n_workers(self.n_jobs)):
            graphs = spectral.affinities(candidates.stack)
            solution = spectral.aggregate(graphs, self.n_clusters, max_iter=self.max_iter, tol=self.tol, watch=history)
        state = solution.state
        return self._learned(state.S, solution, history, state.a / state.a.sum())
