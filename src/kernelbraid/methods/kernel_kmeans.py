"""Kernel k-means with one or several kernels as scikit-learn clusterers."""

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import beside, to_numpy
from kernelbraid._machine import blas_threads, n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import (
    COUNT,
    Clusterer,
    Interval,
    StrOptions,
    fit_context,
    publish,
    storing,
    warn_of,
    warn_of_copies,
)
from kernelbraid.estimators.given import read_cross_kernels
from kernelbraid.estimators.reading import read_views
from kernelbraid.learning.coefficients import PairKernels
from kernelbraid.learning.effort import CLUSTER, phase, plan
from kernelbraid.learning.readout import distinct_labels
from kernelbraid.learning.sources import Candidates
from kernelbraid.methods.base import COMPUTING, ONE_KERNEL, read_candidate, read_candidates
from kernelbraid.solvers.iterate import Status
from kernelbraid.solvers.kernel_kmeans import KernelCentres, kernel_kmeans
from kernelbraid.solvers.lloyd import Rule

# Matrices of n x n at the peak of a fit beside the kernels.
WORKING = 3.0
#: A robust run ends when no label changes and the objective falls by less than this, relatively.
TOL = 1e-4
STARTS = ("k-means++", "random", "partition")
CONSTRAINTS: dict[str, Any] = {
    **COMPUTING,
    "robust": ["boolean"],
    "init": [StrOptions(set(STARTS))],
    "max_iter": [COUNT],
}


class _KernelKMeans(Clusterer):
    """What both estimators share: the run of the solver, and labels for new samples."""

    def _read(self, X: Input) -> Candidates:
        raise NotImplementedError

    @fit_context
    def fit(self, X, y=None):
        """Find the clusters, and the weights of several kernels.

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
        candidates, random_state = self._read(X), check_random_state(self.random_state)
        exponent = getattr(self, "gamma", None)
        rule = Rule(robust=bool(self.robust), exponent=exponent, max_iter=self.max_iter, tol=TOL)
        stack = candidates.stack
        plan({CLUSTER: 1})
        with blas_threads(stack.n_samples, n_workers(self.n_jobs)), phase(CLUSTER):
            found = kernel_kmeans(
                stack, self.n_clusters, rule=rule, start=self.init, n_init=self.n_init, random_state=random_state
            )
            labels = distinct_labels(found.labels, self.n_clusters, candidates.identities)
            centres = KernelCentres.of(stack, found, labels)
        self._fitted, self._centres = candidates.bank, centres
        publish(self, stack.like, labels_=labels, centre_weights_=centres.V, kernel_weights_=centres.weights)
        self.kernel_names_ = candidates.names
        self.inertia_, self.n_iter_, self.objective_ = found.inertia, found.n_iter, found.objective
        status = Status.CONVERGED if found.converged else Status.MAX_ITER
        self.status_ = str(status)
        if not found.converged:
            told = f"made max_iter={self.max_iter} steps and its clusters still changed. Raise max_iter."
            warn_of(f"{type(self).__name__} {told}")
        warn_of_copies(self, labels, self.n_clusters)
        return self

    def predict(self, X):
        """Return the nearest centre of new samples.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            New samples as in ``fit``. With precomputed kernels: their values between new samples (rows) and fitted
            ones (columns), a matrix for each kernel.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        bank, weights = self._fitted, to_numpy(self.kernel_weights_).astype(float)
        given = read_cross_kernels(self, X, len(weights)) if bank is None else read_views(self, X, reset=False)
        return beside(self._centres.nearest(PairKernels(bank, weights, None).cross(given)), self.labels_)


class KernelKMeans(_KernelKMeans):
    r"""Kernel k-means (KKM), or its robust form (RKKM), with one kernel.

    Finds clusters and centres in the feature space of a kernel:

    .. math::

        \min_{\text{labels},\, c}\ \sum_i \|\phi(x_i) - c_{\text{label}(i)}\|^p

    where :math:`\phi` maps samples to the feature space, and p is 2, or 1 if robust.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : str, kernel or callable, default="gaussian"
        ``"gaussian"``, ``"linear"``, ``"polynomial"``; a :class:`~kernelbraid.kernels.Gaussian`,
        :class:`~kernelbraid.kernels.Linear` or :class:`~kernelbraid.kernels.Polynomial`; a function ``f(X, Y)`` as
        in :mod:`sklearn.metrics.pairwise`; or ``"precomputed"``: X is the kernel matrix.
    robust : bool, default=False
        Minimise distances (RKKM) instead of squared distances (KKM): samples far from all clusters count less.
    init : {"k-means++", "random", "partition"}, default="k-means++"
        How a run starts: from far samples as centres, from random ones, or from random labels.
    n_init : int, default=10
        Number of runs, of which the one of lowest objective is kept.
    max_iter : int, default=100
        Largest number of steps of a run.
    device : str, default=None
        PyTorch device to compute on, such as ``"cuda"``; if None, the input decides.
    n_jobs : int, default=None
        Threads of BLAS during the fit; if None, chosen by the number of samples. -1 stands for all cores, -2 for all
        but one.
    random_state : int, RandomState instance or None, default=None
        Draws the starts. An int makes the labels reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each sample: exactly `n_clusters` different values, fewer only if fewer samples are distinct.
    inertia_ : float
        The objective: the sum of squared distances to the centres, or of distances if robust.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step of the run that was kept.
    n_iter_ : int
        Steps of the run that was kept.
    status_ : str
        ``"converged"`` or ``"max_iter"``.
    centre_weights_ : array of shape (n_clusters, n_samples)
        Centres in feature space as weighted means of the samples.
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
    MultipleKernelKMeans : The same with several kernels and learned weights.

    Notes
    -----
    A step assigns every sample to its nearest centre and takes the means of the clusters, weighted by
    1 / (2 distance) if robust (distances below 1e-7 of the largest length count by their squares). All runs make
    their steps together, as one product of the kernel with a matrix. A cluster that runs empty gets the sample that
    fits worst. The objective never increases if the kernel is positive semidefinite and no cluster runs empty.

    References
    ----------
    B. Schölkopf, A. Smola, K.-R. Müller: Nonlinear component analysis as a kernel eigenvalue problem. Neural
    Computation 10 (1998) 1299-1319.

    L. Du, P. Zhou, L. Shi, H. Wang, M. Fan, W. Wang, Y.-D. Shen: Robust multiple kernel k-means using l2,1-norm.
    IJCAI 2015, 3476-3482.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import KernelKMeans
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> model = KernelKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.1, 0.9]])
    array([1])
    """

    _parameter_constraints: ClassVar = {**CONSTRAINTS, **ONE_KERNEL}

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernel="gaussian",
        robust=False,
        init="k-means++",
        n_init=10,
        max_iter=100,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        """Check the samples, and pose the kernel over them."""
        return read_candidate(self, X, self.kernel, working=WORKING)


class MultipleKernelKMeans(_KernelKMeans):
    r"""Kernel k-means with several kernels or views and learned weights (MKKM), or its robust form (RMKKM).

    .. math::

        \min_{\text{labels},\, c,\, a}\ \sum_i \Big(\sum_k a_k \|\phi_k(x_i) - c_{k,\text{label}(i)}\|^2\Big)^{p/2}
        \quad \text{s.t. } a \ge 0,\ \sum_k a_k^{\gamma} = 1

    where

    - :math:`\phi_k` maps samples to the feature space of kernel k, and :math:`a_k` is its weight,
    - p is 2, or 1 if robust.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="rmkkm"
        ``"rmkkm"`` or ``"paper"``, banks of twelve kernels; a list of kernels and functions ``f(X, Y)``; with several
        views also a list with one bank for each; or ``"precomputed"``: X holds the kernels.
    robust : bool, default=False
        Minimise distances (RMKKM) instead of squared distances (MKKM).
    gamma : float, default=0.5
        Exponent of the constraint, from 0.01 to 0.99: towards 0 all kernels count alike, towards 1 only the one under
        which the clusters are tightest. MKKM has 0.5, that is, squared weights with sum one.
    init : {"k-means++", "random", "partition"}, default="k-means++"
        How a run starts: from far samples as centres, from random ones, or from random labels.
    n_init : int, default=10
        Number of runs, of which the one of lowest objective is kept.
    max_iter : int, default=100
        Largest number of steps of a run.
    device : str, default=None
        PyTorch device to compute on, such as ``"cuda"``; if None, the input decides.
    n_jobs : int, default=None
        Threads of BLAS during the fit; if None, chosen by the number of samples. -1 stands for all cores, -2 for all
        but one.
    random_state : int, RandomState instance or None, default=None
        Draws the starts. An int makes the labels reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each sample: exactly `n_clusters` different values, fewer only if fewer samples are distinct.
    kernel_weights_ : array of shape (n_kernels,)
        Share of each kernel in the combination: a, divided by its sum.
    kernel_names_ : list of str
        Readable name of each kernel.
    inertia_ : float
        The objective.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step of the run that was kept.
    n_iter_ : int
        Steps of the run that was kept.
    status_ : str
        ``"converged"`` or ``"max_iter"``.
    centre_weights_ : array of shape (n_clusters, n_samples)
        Centres in feature space as weighted means of the samples.
    n_features_in_ : int
        Number of features, over all views; of samples for precomputed kernels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    KernelKMeans : One kernel.
    LKG : Learns a kernel beyond weighted sums, and a graph.

    Notes
    -----
    A step takes the distances to the centres under every kernel, weighs the kernels
    (:math:`a_k \propto h_k^{1/(\gamma-1)}`, with :math:`h_k` the cost of the clusters under kernel k), assigns the
    samples and forms the centres anew. The objective never increases if the kernels are positive semidefinite and
    no cluster runs empty. Flat kernels have small distances, and so large weights: kernels of very different spread
    are better compared after scaling. A kernel under which all samples coincide gets no weight.

    References
    ----------
    H.-C. Huang, Y.-Y. Chuang, C.-S. Chen: Multiple kernel fuzzy clustering. IEEE Transactions on Fuzzy Systems 20
    (2012) 120-134.

    L. Du, P. Zhou, L. Shi, H. Wang, M. Fan, W. Wang, Y.-D. Shen: Robust multiple kernel k-means using l2,1-norm.
    IJCAI 2015, 3476-3482.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import MultipleKernelKMeans
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> MultipleKernelKMeans(n_clusters=2, robust=True, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar = {
        **CONSTRAINTS,
        "kernels": [str, list, tuple],
        "gamma": [Interval(Real, 0.01, 0.99, closed="both")],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="rmkkm",
        robust=False,
        gamma=0.5,
        init="k-means++",
        n_init=10,
        max_iter=100,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        """Check the samples, and pose the kernels over them."""
        return read_candidates(self, X, self.kernels, working=WORKING)
