"""Clustering of learned graphs with columns on the simplex, as scikit-learn clusterers."""

from numbers import Real
from typing import Any, ClassVar

from kernelbraid._machine import blas_threads, n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import COUNT, POSITIVE, Interval, storing
from kernelbraid.kernels import Linear
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.report import StepHistory
from kernelbraid.learning.sources import Candidates
from kernelbraid.methods.base import COMPUTING, ONE_KERNEL, GraphClusterer, read_candidate, read_candidates
from kernelbraid.solvers.similarity import TwinProblem, solve_simplex, solve_twin

# Matrices of n x n at the peak of a fit beside the kernels.
WORKING = 14.0


class SimplexGraph(GraphClusterer):
    r"""Simplex sparse representation (SSR): a graph without any parameter to choose.

    Expresses every sample as a convex combination of the others, and clusters the graph of the coefficients:

    .. math::

        \min_Z\ \|X - XZ\|_F^2 \quad \text{s.t. } Z \ge 0,\ Z^\top 1 = 1,\ \operatorname{diag}(Z) = 0

    where the columns of :math:`X` are the samples.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_init : int, default=100
        Restarts of k-means.
    max_iter : int, default=600
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
        Symmetric affinity that was clustered, (Z + Z') / 2.
    coefficients_ : array of shape (n_samples, n_samples)
        Z: column j expresses sample j by the others.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step; it never increases.
    inertia_ : float
        Sum of squared distances to the centres in the embedding.
    n_iter_ : int
        Steps that were made.
    status_ : str
        ``"converged"``, ``"max_iter"`` or ``"stopped"`` (by a callback).
    n_features_in_ : int
        Number of features, over all views.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    TwinGraph : The same idea in the feature space of a kernel, with the clusters in view.

    Notes
    -----
    The columns are n_samples quadratic programs with one Hessian. A step is a burst of accelerated projected
    gradients on all of them, or an exact solve on the supports they have; it ends when the duality gap of every
    column is rounding. Several views are joined feature by feature.

    References
    ----------
    J. Huang, F. Nie, H. Huang: A new simplex sparse learning model to measure data similarity for clustering.
    IJCAI 2015, 3569-3575.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import SimplexGraph
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> SimplexGraph(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _keeps_coefficients = True
    _parameter_constraints: ClassVar = {**COMPUTING, "max_iter": [COUNT]}

    @storing
    def __init__(self, n_clusters=8, *, n_init=100, max_iter=600, device=None, n_jobs=None, random_state=None): ...

    def _read(self, X: Input) -> Candidates:
        return read_candidates(self, X, [Linear(None)], storage="stored", working=WORKING)

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Solve the quadratic programs of all samples."""
        history = StepHistory()
        with blas_threads(candidates.n_samples, n_workers(self.n_jobs)):
            solution = solve_simplex(candidates.stack, max_iter=self.max_iter, watch=history)
        return self._learned(solution.state.T.T, solution, history)


class _TwinGraph(GraphClusterer):
    """What both estimators share: the run of the solver."""

    _keeps_coefficients = True
    _learns_weights: ClassVar[bool]

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Alternate between the graph, its eigenvectors and the weights of the kernels."""
        history = StepHistory()
        problem = TwinProblem(candidates.stack, self.n_clusters, self.alpha, self.beta, self._learns_weights)
        with blas_threads(candidates.n_samples, n_workers(self.n_jobs)):
            solution = solve_twin(problem, max_iter=self.max_iter, tol=self.tol, watch=history)
        state = solution.state
        return self._learned(state.T.T, solution, history, state.a / state.a.sum())


TWIN: dict[str, Any] = {
    **COMPUTING,
    "alpha": [POSITIVE],
    "beta": [Interval(Real, 0, None, closed="left")],
    "max_iter": [COUNT],
    "tol": [Interval(Real, 0, None, closed="left")],
}


class TwinGraph(_TwinGraph):
    r"""Twin learning of similarity and clusters with one kernel (SCSK).

    Expresses every sample as a convex combination of samples in the feature space of a kernel, and prefers graphs
    that fall into clusters:

    .. math::

        \min_{Z, F}\ \operatorname{Tr}(K - 2KZ + Z^\top K Z) + \alpha \|Z\|_F^2 + \beta \operatorname{Tr}(F^\top L F)
        \quad \text{s.t. } Z \ge 0,\ Z^\top 1 = 1,\ F^\top F = I

    where :math:`L` is the Laplacian of :math:`(Z + Z^\top)/2`, and :math:`F` has one column for each cluster.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel or callable, default="gaussian"
        ``"gaussian"``, ``"linear"``, ``"polynomial"``; a :class:`~kernelbraid.kernels.Gaussian`,
        :class:`~kernelbraid.kernels.Linear` or :class:`~kernelbraid.kernels.Polynomial`; a function ``f(X, Y)`` as
        in :mod:`sklearn.metrics.pairwise`; or ``"precomputed"``: X is the kernel matrix.
    alpha : float, default=0.01
        Spreads the coefficients of a sample over more samples.
    beta : float, default=0.001
        Weight of the clusters in the graph.
    n_init : int, default=100
        Restarts of k-means.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-3
        The iteration ends when the graph changes by less, relatively, in the Frobenius norm.
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
        Symmetric affinity that was clustered, (Z + Z') / 2.
    coefficients_ : array of shape (n_samples, n_samples)
        Z: column j expresses sample j.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    kernel_weights_ : array of shape (1,)
        One.
    kernel_names_ : list of str
        Readable name of the kernel.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step; it never increases.
    inertia_ : float
        Sum of squared distances to the centres in the embedding.
    n_iter_ : int
        Steps that were made.
    status_ : str
        ``"converged"``, ``"max_iter"`` or ``"stopped"`` (by a callback).
    n_features_in_ : int
        Number of features; of samples for a precomputed kernel.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    MultipleKernelTwinGraph : Several kernels with learned weights.

    Notes
    -----
    The start is the graph for beta = 0. A step takes the eigenvectors of the graph's Laplacian as F, then solves the
    n_samples quadratic programs of the columns of Z, all with the Hessian K + alpha I, exactly. Neither raises the
    objective, for a positive semidefinite kernel.

    References
    ----------
    Z. Kang, C. Peng, Q. Cheng: Twin learning for similarity and clustering: a unified kernel approach. AAAI 2017,
    2080-2086.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import TwinGraph
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> TwinGraph(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _learns_weights = False
    _parameter_constraints: ClassVar = {**TWIN, **ONE_KERNEL}

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernel="gaussian",
        alpha=0.01,
        beta=0.001,
        n_init=100,
        max_iter=200,
        tol=1e-3,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_candidate(self, X, self.kernel, working=WORKING)


class MultipleKernelTwinGraph(_TwinGraph):
    r"""Twin learning of similarity and clusters with several kernels or views and learned weights (SCMK).

    .. math::

        \begin{aligned}
        \min_{Z, F, a}\ & \operatorname{Tr}(K - 2KZ + Z^\top K Z) + \alpha \|Z\|_F^2
        + \beta \operatorname{Tr}(F^\top L F), \quad K = \sum_k a_k H_k \\
        \text{s.t. } & Z \ge 0,\ Z^\top 1 = 1,\ F^\top F = I,\ a \ge 0,\ \sum_k \sqrt{a_k} = 1
        \end{aligned}

    where :math:`H_k` are the candidate kernels, :math:`L` is the Laplacian of :math:`(Z + Z^\top)/2`, and :math:`F`
    has one column for each cluster.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="paper"
        ``"paper"`` or ``"rmkkm"``, banks of twelve kernels; a list of kernels and functions ``f(X, Y)``; with several
        views also a list with one bank for each; or ``"precomputed"``: X holds the kernels.
    alpha : float, default=0.001
        Spreads the coefficients of a sample over more samples.
    beta : float, default=0.0001
        Weight of the clusters in the graph.
    n_init : int, default=100
        Restarts of k-means.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-3
        The iteration ends when the graph changes by less, relatively, in the Frobenius norm.
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
        Symmetric affinity that was clustered, (Z + Z') / 2.
    coefficients_ : array of shape (n_samples, n_samples)
        Z: column j expresses sample j.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    kernel_weights_ : array of shape (n_kernels,)
        Share of each kernel in the combination: a, divided by its sum.
    kernel_names_ : list of str
        Readable name of each kernel.
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
    TwinGraph : One kernel.
    LKG : Learns a kernel beyond weighted sums.

    Notes
    -----
    The start has even weights and the graph for beta = 0. A step updates the weights (:math:`\sqrt{a_k} \propto
    1 / h_k`, with :math:`h_k` the error under kernel k), then F, then Z. None raises the objective, for positive
    semidefinite kernels. Flat kernels have small errors, and so large weights.

    References
    ----------
    Z. Kang, C. Peng, Q. Cheng: Twin learning for similarity and clustering: a unified kernel approach. AAAI 2017,
    2080-2086.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import MultipleKernelTwinGraph
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> MultipleKernelTwinGraph(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _learns_weights = True
    _parameter_constraints: ClassVar = {**TWIN, "kernels": [str, list, tuple]}

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="paper",
        alpha=0.001,
        beta=0.0001,
        n_init=100,
        max_iter=200,
        tol=1e-3,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_candidates(self, X, self.kernels, working=WORKING)
