"""LKG as a scikit-learn clusterer."""

import math
import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from kernelbraid._arrays import to_numpy
from kernelbraid._machine import n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import AUTO, COUNT, GRAPH, JOBS, Interval, Options, StrOptions, fit_context, mark_input
from kernelbraid.estimators.inductive import LAZY, InductiveMixin
from kernelbraid.estimators.reading import (
    as_published,
    check_memory,
    check_memory_of_rows,
    is_precomputed,
    levels_to_caller,
    n_found,
    publish,
    read_samples,
    warn_of,
    warn_of_copies,
    warn_of_counts,
    warn_of_kernel_list,
)
from kernelbraid.learning.compared import count
from kernelbraid.learning.counting import SMALLEST_PROBLEM
from kernelbraid.learning.counts import Counts
from kernelbraid.learning.extend import Extension, NewSamples, Placement
from kernelbraid.learning.in_rows import EXACT
from kernelbraid.learning.learn import LearnedGraph, learn
from kernelbraid.learning.memory import FUSED_MATRICES, STORAGES, WORKING_MATRICES
from kernelbraid.learning.readout import Evidence, Reading, judge, read_out, tell
from kernelbraid.learning.settings import PRESETS, PULLS, Assignment, Fusion, Settings, check_fusion
from kernelbraid.learning.sources import KEPT, Samples, rows_of
from kernelbraid.learning.weighing import Vertices, Weighed, check_weights, weigh
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES
from kernelbraid.solvers.low_rank.thresholding import ROUTES

# Matrices of n_samples x n_samples that are published on request.
MATRICES = ("coefficients_", "auxiliary_graph_", "kernel_")
# Attributes that belong to a consensus kernel, and those that belong to a sum of graphs.
OF_KERNELS = ("kernel_weights_", "kernel_names_")
OF_VIEWS = ("sample_view_weights_",)


class LKG(InductiveMixin, ClusterMixin, BaseEstimator):
    r"""Low-rank kernel learning for graph-based clustering (LKG) with several kernels or several views.

    Learns a graph Z that expresses every sample by the others in the feature space of a kernel K and, with a finite
    `gamma`, that kernel, too: nonnegative, of low rank, and near a weighted sum of candidate kernels.

    .. math::

        \min_{Z, K, g}\ \tfrac12 \operatorname{Tr}(K - 2KZ + Z^\top K Z) + \alpha\,\rho(Z) + \beta \|K\|_*
        + \gamma \Big\|K - \sum_i g_i H_i\Big\|_F^2
        \quad \text{s.t. } Z \ge 0,\ K \ge 0,\ g \ge 0,\ \sum_i g_i = 1

    where

    - :math:`H_i` are the candidate kernels and :math:`g` their weights,
    - :math:`\rho` is half the sum of squares (the default), the nuclear norm (LKGr) or the sum of absolute values
      (LKGs),

    then cuts the spectral embedding of the graph into pieces, and joins those that share most edges.

    Of several views, those count that share nearest neighbours with another one far more often than chance has it; the
    others are left out, with a warning. The graphs of the views are learned one by one, and summed.

    By default K is the average of a few kernels, one linear system gives Z, as the penalty is half the sum of squares,
    and the strongest edges of each sample make the graph. ``gamma=10.0`` has K and the weights learned on top of that,
    and ``preset="authors"`` does what the paper's authors did. ``reliability_`` and ``why_`` say how far the clusters
    can be relied on.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. ``"auto"`` tries 2 to n_samples / 3, at most 150, and takes the number with which graphs
        of different penalties agree on clusters that hold many edges and share few; one cluster, with a warning, where
        a cloud without any, as large and as wide as the samples, falls apart as easily.
    preset : {"recommended", "authors", "paper"}, default="recommended"
        Gives the value of every parameter that is None: ``"recommended"`` is what does well without labels,
        ``"authors"`` what the published code does, ``"paper"`` what the text says. An explicit parameter wins over
        the preset. Below, *published* stands for the last two where they agree.
    graph_penalty : {"frobenius", "nuclear", "l1"}, default=None
        :math:`\rho`: half the sum of squares, with which samples that are alike get coefficients that are alike
        (recommended; not in the paper), a low-rank graph (LKGr, published), or a sparse one (LKGs).
    alpha : float, default=None
        Weight of the graph penalty. Recommended: ``n_samples / (250 * sqrt(n_clusters))``, at least 0.2, where one
        linear system gives the graph of one view, 1 otherwise; published: 0.01.
    beta : float, default=None
        Weight of the kernel's nuclear norm, without effect on a kernel that is not learned. Recommended: 0.01;
        published: 0.1.
    gamma : float, default=None
        Weight of the distance between K and the weighted sum of the candidates. Recommended: ``math.inf``, with which
        K stays the average of the candidates, and the graph alone is learned; ``"authors"``: 0.1; ``"paper"``: 100.
        Give 10.0 to have kernel and weights learned: several times the time, and rarely other clusters.
    mu : float, default=None
        Weight of the constraints Z = J and K = W in the first step. The result depends on it, unless one linear system
        gives it. All presets: 1.
    mu_growth : float, default=None
        Factor of mu after every step, at least 1. Recommended and ``"authors"``: 1.1; ``"paper"``: 1.
    kernels : str, list or None, default=None
        ``"auto"`` (recommended) takes the bank ``"middle"``, and ``"near"`` beside it for samples that vary in few
        directions; where graphs of several views are fused, a graph of ``"middle"`` and one of a self-tuning kernel;
        ``"rmkkm"`` (``"authors"``) and ``"paper"`` (``"paper"``) are banks of twelve kernels, ``"local"`` is one
        more; ``"precomputed"`` means that X holds the kernels, ``"graph"`` a ready graph of affinities, and
        ``"distances"`` one of distances: it is read out, and nothing is learned. A list mixes
        :class:`~kernelbraid.kernels.Linear`, :class:`~kernelbraid.kernels.Polynomial`,
        :class:`~kernelbraid.kernels.Gaussian` and functions ``f(X, Y)`` as in :mod:`sklearn.metrics.pairwise`. With
        several views every view gets this bank; a list of banks gives each view its own.
    fusion : {"graphs", "kernels"}, default=None
        What is joined of several views that agree with each other, each of which counts the same however many kernels,
        features or units it has. ``"graphs"`` (recommended) sums the graphs of the views, their degrees divided out,
        for alpha 1 and 30 each if `alpha` is None. ``"kernels"`` averages kernels, one per view, or learns their
        weights with a finite `gamma`; views that tell different clusters apart need it. Published: the kernels of all
        views are candidates as they come, whether they agree or not.
    view_weights : array-like of shape (n_views,), default=None
        Weights of the views, from 0 on, instead of those by which views that agree count the same and others nothing.
    graph_start : {"identity", "random"}, default=None
        First value of J: the identity (recommended, ``"authors"``), or uniform on [0, 1 / n_samples) (``"paper"``).
    kernel_start : {"average", "average/m"}, default=None
        First value of K and W: the average kernel (recommended, ``"authors"``), or that divided by the number of
        kernels once more (``"paper"``).
    weights_problem : {"projection", "printed"}, default=None
        ``"projection"`` (recommended, ``"authors"``) gives the weighted sum nearest to K; ``"printed"``
        (``"paper"``) takes the linear term as it stands in the text, which gives the weighted sum nearest to K / 4.
    graph_from : {"J", "Z"}, default=None
        The matrix that becomes the graph: J, the copy that carries the penalty (``"authors"``), or Z (recommended,
        ``"paper"``).
    n_neighbors : int or "all", default=None
        Refine the graph: keep so many strongest edges of each sample, and no self-similarity; ``"all"`` leaves it as
        it is. Recommended: 10; of one view, 5 if there are at most 30 samples a cluster, and fewer if a cluster has not
        so many; 20 in each of several graphs that are fused (a tenth of the samples if these are few); published: all.
    edge_weights : {"learned", "scaled", "binary"}, default=None
        What an edge weighs: what was learned (published), that relative to the strongest edge of its sample
        (recommended), or one.
    embedding : {"magnitude", "largest", "unnormalised", "random_walk"}, default=None
        Eigenvectors of the normalised graph that are clustered: those of largest absolute eigenvalue
        (``"authors"``, who take singular vectors) or of largest eigenvalue (the other two); or those of smallest
        eigenvalue of the Laplacian. Rows have unit length; with ``"random_walk"`` they are as scikit-learn has them,
        eigenvectors of largest eigenvalue of the random walk on the graph.
    assign_labels : {"merge", "kmeans"}, default=None
        How the embedding becomes clusters. ``"merge"`` (recommended for one view and a kernel that is not learned) cuts
        it by k-means into twice as many pieces as clusters and joins those that share most edges, five times over, and
        takes the clusters that most of the others find, too: long, small and large clusters survive. ``"kmeans"``
        (recommended otherwise, published) takes the best of `n_init` runs.
    n_init : int, default=None
        Restarts of k-means, over all cuts. Recommended: 20; published: 100.
    restart_score : {"inertia", "distance"}, default="inertia"
        The best restart has the lowest sum of squared distances, or of distances, as the published codes choose.
    keep_matrices : bool, default=None
        Publish ``coefficients_``, ``auxiliary_graph_`` and ``kernel_``, too, three dense matrices of n_samples x
        n_samples. Recommended: no; published: yes.
    max_iter : int, default=None
        Largest number of steps of the solver. All presets: 200.
    tol : float, default=None
        The solver stops, after six steps at the earliest, when the relative change of K is below `tol`; of Z against J
        if K stays. With 0 it makes all `max_iter` steps. One linear system is one step. Recommended: 1e-3; published:
        1e-5.
    thresholding : {"auto", "svd"}, default="auto"
        How singular values are thresholded: through the eigenvectors of A'A, and by the singular value decomposition
        where squaring would lose digits; or always by the decomposition. ``history_`` tells which one ran.
    storage : {"auto", "stored", "lazy"}, default="auto"
        Keep the kernels as matrices, or form them block by block from the inner products whenever they are needed,
        so that memory does not grow with their number. ``"auto"`` stores them if there is room.
    memory_budget : float, default=None
        Bytes that the fit may use beside its input; what is free if None. A fit that would need more is refused
        with a prediction, before anything is allocated.
    approximation : {"auto", "exact"}, default="auto"
        Above 2,000 distinct samples, the closed form is formed in rows with the help of 1,000 landmarks, and from
        30,000 on over the samples of the nearest cells, so that memory grows with n_samples alone. ``"exact"`` insists
        on matrices of n_samples x n_samples. Kernels that were handed over, functions of users, and fits that learn
        the kernel are always exact.
    device : str, default=None
        PyTorch device to compute on, such as ``"cuda"``; results come back as NumPy arrays. If None, the input
        decides: PyTorch tensors are used where they are, and results are tensors beside them.
    n_jobs : int, default=None
        Threads of BLAS during the fit, and processes while the number of clusters is chosen. If None: one process, and
        one thread, which is fastest for small matrices and on a busy machine; large factorisations have as many as BLAS
        was set to (``OMP_NUM_THREADS`` and the like) where these are measured to help. -1 stands for all cores, -2 for
        all but one. PyTorch has its own, ``torch.set_num_threads``.
    record_objective : bool, default=False
        Record the objective in ``history_`` (costs one or two singular value decompositions per step).
    callback : callable, default=None
        ``callback(n_iter, progress)`` is called after every step; `progress` has the attributes ``mu``,
        ``kernel_change``, ``graph_residual`` and ``kernel_residual``. Returning True ends the iteration there.
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means (and of J if it is random). An int makes the labels reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each sample: exactly ``n_clusters_`` different values.
    n_clusters_ : int
        Number of clusters, given or chosen; fewer only if fewer samples are distinct, with a warning.
    n_clusters_evidence_ : dict of ndarray or None
        What speaks for each number that was tried: ``n_clusters``; the ``score`` that is maximised, the product of
        ``stability`` (the mean adjusted Rand index between the clusters of two graphs), of the share of edges within
        clusters (one minus ``cut``) and of ``modularity`` over its limit; and the mean ``eigengap``. Numbers far from
        the best were tried with fewer restarts of k-means, and cannot be chosen. None if the number was given.
    membership_ : array of shape (n_samples, n_clusters)
        How far each sample belongs to each cluster; rows sum to one. The mean of the labels of the neighbours of
        neighbours, of shares that fall with the distances to the centres in the embedding, and of the labels that the
        sample gets when the clusters are found again, 20 times, with random weights of the samples. Worked out when it
        is first asked for, as are the next two; it takes about one to three times as long as the fit.
    confidence_ : array of shape (n_samples,)
        How sure each label is, between 0 and 1: its entry in ``membership_``. Another entry may be larger.
    outlier_scores_ : array of shape (n_samples,)
        How far each sample stands aside, from 0 to 1: how much is left of it when the others express it, and when the
        nearest ten stand in for it, against its neighbours, or half of all samples. 1/2 is twice as much.
    reliability_ : float
        How far the clusters can be relied on, between 0 and 1: the mean adjusted Rand index of the clusters of two cuts
        into pieces, times that of the pieces that were joined with k-means alone, times the clusters over the connected
        components where there are more of these. 0 if fewer samples are distinct than clusters were asked for.
    why_ : list of str
        The same in sentences; how the number of clusters was chosen, if it was, and what is plausible beside it.
    graph_ : csr array or ndarray of shape (n_samples, n_samples)
        Symmetric affinity that was clustered: sparse if `n_neighbors` is a number, dense otherwise.
    n_components_ : int
        Connected components of the graph. More than clusters, and some of them were joined; as many or fewer is
        common, and no fault.
    coefficients_ : ndarray of shape (n_samples, n_samples)
        Z: column j expresses sample j by the others. With ``keep_matrices=True``.
    auxiliary_graph_ : ndarray of shape (n_samples, n_samples)
        J, the copy of Z that carries the penalty; Z itself if one linear system gives it. With ``keep_matrices=True``.
    kernel_ : ndarray of shape (n_samples, n_samples)
        K, the consensus kernel; the average of the candidates if it is not learned. With ``keep_matrices=True``.
    kernel_weights_ : ndarray of shape (n_kernels,)
        Weight of each candidate; not negative, sum 1. All alike if the kernel is not learned; otherwise candidates that
        are nearly the same matrix share theirs. Not where graphs are fused: there is no kernel of all views.
    kernel_names_ : list of str
        Readable name of each candidate, where there are weights.
    view_weights_ : ndarray of shape (n_views,)
        What each view counts; sum 1, zero for views that are left out.
    sample_view_weights_ : ndarray of shape (n_samples, n_views)
        The share of a sample's edges that each view carries, where graphs are fused; rows sum to 1.
    view_report_ : list of dict
        One entry per view: ``name``; ``trusted`` and the ``reason``; ``weight``; ``agreement`` with every other view,
        in deviations above what chance gives; ``n_samples`` that it has; ``clarity``, the modularity of the clusters
        that it has alone.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    settings_ : dict
        The value of every parameter that decides the clusters: given, of the preset, or chosen by the samples;
        ``LKG(**settings_)`` fits the same to one view. Where graphs of several views are fused, each view has a graph
        for every ``alpha`` and every bank of ``kernels`` listed. After ``kernels="graph"`` what has no part is None.
    n_iter_ : int
        Steps that the solver made.
    status_ : str
        How the solver ended. ``"converged"``, ``"max_iter"`` and ``"stopped"`` (by the callback) come with the
        last iterate. ``"non_finite"``, ``"kernel_vanished"``, ``"graph_empty"`` and ``"graph_diagonal"`` say what
        was wrong with it; the last sound iterate is published instead, or the average kernel with itself as the
        graph if there was none, with a warning.
    history_ : dict of ndarray
        Per step: ``kernel_change``, ``graph_residual`` :math:`\|Z - J\|_F`, ``kernel_residual``
        :math:`\|K - W\|_F`, ``mu``; how many singular values passed the thresholds, ``graph_rank`` (-1 where the
        penalty cuts none) and ``kernel_rank``, and by which route, ``graph_route`` and ``kernel_route``; and
        ``objective`` when asked for.
    n_features_in_ : int
        Number of features, over all views; of samples for precomputed kernels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    Notes
    -----
    One step solves for Z, K, J, W and g in this order and raises the multipliers of Z = J and K = W; for Z and J alone
    if K stays, and for Z alone, exactly, if the penalty is squared as well: that takes about 3 matrices of n_samples x
    n_samples and one per view. Otherwise memory is about 11 such matrices, plus n_kernels of them when stored or one
    per view when lazy. Time is O(n_samples^3) per step.
    A kernel with eigenvalues far below zero, such as a graph of nearest neighbours, leaves the linear system without a
    minimum; the nearest kernel without negative eigenvalues takes its place.
    X is used as it is: scale it first if its features have different units.

    References
    ----------
    Z. Kang, L. Wen, W. Chen, Z. Xu: Low-rank kernel learning for graph-based clustering. Knowledge-Based Systems
    163 (2019) 510-517.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid import LKG
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> labels = LKG(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5])
    True
    """

    _parameter_constraints: ClassVar = {
        "n_clusters": [COUNT, AUTO],
        "preset": [StrOptions(set(PRESETS))],
        "graph_penalty": [StrOptions(set(GRAPH_PENALTIES)), None],
        **{name: [Interval(Real, 0, None, closed="neither"), None] for name in ("alpha", "beta", "mu")},
        "gamma": [Interval(Real, 0, None, closed="neither"), Options(Real, {math.inf}), None],
        "mu_growth": [Interval(Real, 1, None, closed="left"), None],
        "kernels": [str, list, tuple, None],
        "fusion": [StrOptions(set(get_args(Fusion))), None],
        "view_weights": ["array-like", None],
        "graph_start": [StrOptions({"identity", "random"}), None],
        "kernel_start": [StrOptions({"average", "average/m"}), None],
        "weights_problem": [StrOptions(set(PULLS)), None],
        "graph_from": [StrOptions({"J", "Z"}), None],
        **{name: [*GRAPH[name], None] for name in ("n_neighbors", "edge_weights", "embedding")},
        "assign_labels": [StrOptions(set(get_args(Assignment))), None],
        "n_init": [Interval(Integral, 1, None, closed="left"), None],
        "restart_score": [StrOptions({"inertia", "distance"})],
        "keep_matrices": ["boolean", None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "thresholding": [StrOptions(set(ROUTES))],
        "storage": [StrOptions(set(STORAGES))],
        "memory_budget": [Interval(Real, 0, None, closed="neither"), None],
        "approximation": [StrOptions({"auto", "exact"})],
        "device": [str, None],
        "n_jobs": JOBS,
        "record_objective": ["boolean"],
        "callback": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        preset="recommended",
        graph_penalty=None,
        alpha=None,
        beta=None,
        gamma=None,
        mu=None,
        mu_growth=None,
        kernels=None,
        fusion=None,
        view_weights=None,
        graph_start=None,
        kernel_start=None,
        weights_problem=None,
        graph_from=None,
        n_neighbors=None,
        edge_weights=None,
        embedding=None,
        assign_labels=None,
        n_init=None,
        restart_score="inertia",
        keep_matrices=None,
        max_iter=None,
        tol=None,
        thresholding="auto",
        storage="auto",
        memory_budget=None,
        approximation="auto",
        device=None,
        n_jobs=None,
        record_objective=False,
        callback=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.preset = preset
        self.graph_penalty = graph_penalty
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.mu = mu
        self.mu_growth = mu_growth
        self.kernels = kernels
        self.fusion = fusion
        self.view_weights = view_weights
        self.graph_start = graph_start
        self.kernel_start = kernel_start
        self.weights_problem = weights_problem
        self.graph_from = graph_from
        self.n_neighbors = n_neighbors
        self.edge_weights = edge_weights
        self.embedding = embedding
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.restart_score = restart_score
        self.keep_matrices = keep_matrices
        self.max_iter = max_iter
        self.tol = tol
        self.thresholding = thresholding
        self.storage = storage
        self.memory_budget = memory_budget
        self.approximation = approximation
        self.device = device
        self.n_jobs = n_jobs
        self.record_objective = record_objective
        self.callback = callback
        self.random_state = random_state

    def __sklearn_tags__(self):
        return mark_input(super().__sklearn_tags__(), self.kernels)

    def __getattr__(self, name):
        if name in LAZY and "labels_" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit before asking for {name}.")
        if name in (*MATRICES, *OF_KERNELS) and "sample_view_weights_" in vars(self):
            raise AttributeError(
                f"{type(self).__name__} has no {name} after a fit that fuses the graphs of several views: there is no "
                "kernel of all of them; fit it with fusion='kernels'."
            )
        if name in OF_VIEWS and "labels_" in vars(self):
            raise AttributeError(
                f"{type(self).__name__} has {name} after a fit that fuses the graphs of several views, and this one "
                "does not; give a list of views, and fusion='graphs'."
            )
        if name in MATRICES and "labels_" in vars(self):
            raise AttributeError(
                f"{type(self).__name__} does not keep {name}, which has n_samples x n_samples entries, unless it is "
                "asked to; fit it with keep_matrices=True."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn the consensus kernel and the graph, and cluster the samples.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or stack of kernels
            Samples as rows, dense or sparse; several views of the same samples as a list, where a row of NaN in a dense
            view is a sample that was not measured there. With ``kernels="precomputed"`` a stack (n_kernels, n_samples,
            n_samples) of one source, or a list, in which every kernel, or stack, is a view. With ``kernels="graph"``
            or ``"distances"`` a matrix (n_samples, n_samples), sparse or not, as scikit-learn's ``kneighbors_graph``
            returns it, or a list of them, each a view, in which a sample without edges is missing.
        y : None
            Ignored, here for scikit-learn.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts, where one linear system gives the graph of matrices; equal rows count as one
            sample as often as they occur in any case. A sample of weight zero is labelled, and tells nothing.

        Returns
        -------
        LKG
            The fitted estimator.
        """
        random_state = check_random_state(self.random_state)
        settings = Settings.of(self.get_params(deep=False))
        samples = self._read_samples(X, settings)
        weighed, vertices = self._pose(samples, settings, sample_weight)
        counts = None
        if self.n_clusters == "auto":
            counts = count(weighed, settings, random_state=random_state, n_jobs=n_workers(self.n_jobs))
        n_clusters = self.n_clusters if counts is None else counts.best
        several = weighed.trust is not None
        settings = settings.sized(weighed.n_samples, n_clusters, several=several, n_counted=vertices.n_counted)
        learned = learn(weighed, settings, random_state=random_state, callback=self.callback)
        reading = read_out(learned, settings.readout, random_state=random_state)
        self._publish(weighed, vertices, settings, learned, reading, counts)
        if vertices.has_silent:
            self._label_silent(samples)
        self._explain(judge(reading, settings.readout, random_state=random_state), counts)
        warn_of_counts(counts)
        warn_of(learned.complaint)
        warn_of_copies(self, reading.labels, n_clusters)
        return self

    def _read_samples(self, X: Input, settings: Settings) -> Samples:
        """Check what a user hands over."""
        check_fusion(settings)
        samples = read_samples(self, X, settings.kernels, gaps=True)
        if samples.n_views > 1 and settings.is_trusting and is_precomputed(settings.kernels):
            warn_of_kernel_list(X)
        if settings.view_weights is not None:
            check_weights(settings.view_weights, samples.n_views)
        return samples

    def _pose(self, samples: Samples, settings: Settings, sample_weight: Any = None) -> tuple[Weighed, Vertices]:
        """Join copies, weigh views, and pose the kernels of which one graph is learned, if it is one."""
        has_kernels = samples.has_kernels
        is_weighed = samples.n_views > 1 and (settings.is_trusting or not has_kernels)
        if samples.has_gaps and not is_weighed:
            raise ValueError(
                f"X lacks samples in some views, which preset={self.preset!r} cannot have; preset='recommended' can."
            )
        least = SMALLEST_PROBLEM if self.n_clusters == "auto" else self.n_clusters + 1
        are_joined = settings.learning.is_closed_form
        vertices = Vertices.of(samples, sample_weight, are_joined=are_joined, least=least)
        if vertices.are_others:
            samples = samples.some(vertices.first)
        in_rows = self._are_rows(samples, settings)
        is_joined = has_kernels and not in_rows and not (is_weighed and settings.fusion == "graphs")
        stored = has_kernels and self._check_memory(samples, settings, is_weighed, is_joined, in_rows)
        weighed = Weighed.alike(samples)
        if is_weighed:
            weighed = weigh(samples, settings.view_weights, threads=n_workers(self.n_jobs))
            if weighed.warning is not None:
                warnings.warn(weighed.warning, UserWarning, stacklevel=levels_to_caller())
        weighed = replace(weighed, in_rows=in_rows, counts=vertices.counts)
        if not is_joined:
            return weighed, vertices
        if is_weighed:
            return weighed.joining(settings.kernels, learned=not settings.learning.is_kernel_fixed), vertices
        joined = replace(samples.pose(settings.kernels, stored=stored), counts=vertices.counts)
        return replace(weighed, joined=joined), vertices

    def _are_rows(self, samples: Any, settings: Settings) -> bool:
        """Tell whether rows of the closed form are formed, and no matrix of all pairs."""
        if (
            settings.approximation == "exact"
            or not settings.learning.is_closed_form
            or settings.fused_neighbors == "all"
        ):
            return False
        return samples.has_rows(settings.fused_banks) and samples.n_samples > EXACT

    def _check_memory(self, samples: Any, settings: Settings, is_weighed: bool, is_joined: bool, in_rows: bool) -> bool:
        """Refuse a fit for which there is no room; return whether kernels are stored, and not formed on demand."""
        if in_rows:
            check_memory_of_rows(self, samples)
            return False
        learning, kernels = settings.learning, settings.kernels
        storage, working = "lazy", learning.working_matrices
        if not is_weighed:  # none is kept where their average is all that is needed
            is_summed = learning.is_kernel_fixed and self.storage == "auto"
            stored = check_memory(
                self, samples, kernels, storage="lazy" if is_summed else self.storage, working=working
            )
            return stored and not is_summed
        if is_joined:
            working += samples.n_views
        else:
            every_edge = WORKING_MATRICES + 2 * samples.n_views  # the graphs of all views, with their indices
            working = every_edge if settings.fused_neighbors == "all" else FUSED_MATRICES
            samples = samples.only(0) if samples.n_samples > KEPT else samples
            kernels = settings.fused_banks[0]
        return check_memory(self, samples, kernels, storage=storage, working=working)

    def _publish(
        self,
        weighed: Weighed,
        vertices: Vertices,
        settings: Settings,
        learned: LearnedGraph,
        reading: Reading,
        counts: Counts | None = None,
    ) -> None:
        """Set the fitted attributes, and what new samples need."""
        placed, like = reading.placed, weighed.like
        for name in {*MATRICES, *OF_KERNELS, *OF_VIEWS} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        self._vertices, self._vertex_graph = vertices, placed.graph if vertices.are_others else None
        labels, embedding = vertices.spread(reading.labels), vertices.spread(placed.embedding)
        publish(self, like, labels_=labels, graph_=vertices.graph(placed.graph), embedding_=embedding)
        self.view_weights_ = weighed.weights
        if weighed.joined is not None:
            publish(self, like, kernel_weights_=weighed.joined.of_bank(learned.weights))
            self.kernel_names_ = weighed.joined.names
            self.view_weights_ = weighed.learned_weights(to_numpy(learned.weights))
            if settings.keep_matrices:
                publish(self, like, coefficients_=learned.Z, auxiliary_graph_=learned.J, kernel_=learned.K)
        elif learned.shares is not None and weighed.trust is not None:
            publish(self, like, sample_view_weights_=vertices.spread(learned.shares))
        elif weighed.in_rows:
            self.kernel_names_ = learned.names
            publish(self, like, kernel_weights_=np.full(len(learned.names), 1 / len(learned.names)))
        self._fitted = self._extension(weighed, settings, learned, reading)
        self._certainty: dict[str, np.ndarray] = {}
        self.settings_ = weighed.values_used(settings)
        self.n_components_ = placed.n_components
        self.n_clusters_ = n_found(reading.labels)
        self.n_clusters_evidence_ = None if counts is None else counts.columns()
        self.n_iter_, self.status_, self.history_ = learned.n_iter, str(learned.status), learned.history
        self.view_report_ = weighed.report(self.view_weights_, self.n_clusters_)

    def _label_silent(self, samples: Samples) -> None:
        """Place and label samples that count nothing, as new ones are."""
        silent = self._vertices.silent
        given = [[rows_of(A, silent) for A in samples.of(view)] for view in range(samples.n_views)]
        new = NewSamples(given, [rows[silent] for rows in samples.measured])
        self._silent_edges = self._fitted.edges(new)
        placed = self._fitted.place(self._silent_edges, self._fitted.known(new), self._vertex_level()[1])
        self.embedding_[silent] = placed
        self.labels_[silent] = self._nearest(placed, np.full(len(silent), -1))

    def _explain(self, evidence: Evidence, counts: Counts | None = None) -> None:
        """Set how far the clusters can be relied on, and say why."""
        self.reliability_ = evidence.reliability
        chosen = [] if counts is None else counts.sentences()
        self.why_ = [*chosen, *tell(evidence, self.n_clusters_, self.n_components_)]

    def _extension(self, weighed: Weighed, settings: Settings, learned: LearnedGraph, reading: Reading) -> Extension:
        """Return what places new samples; the eigenvectors are those of the fit: equal eigenvalues have others, too."""
        placement = Placement.of(reading.placed.graph, reading.placed.vectors, settings.readout.embedding)
        here = partial(as_published, self, weighed.like)
        placement = replace(placement, basis=here(placement.basis), values=here(placement.values))
        for member in learned.members:
            member.move(here)
        given_as = settings.kernels if settings.kernels in ("precomputed", "graph", "distances") else "matrices"
        return Extension.of(weighed.samples, learned.members, placement, given_as)

    def _instead(self, n_samples: int) -> str | None:
        """Name what to call when samples are too many for matrices of n_samples x n_samples."""
        if n_samples <= 500:
            return None
        return f"LandmarkLKG(n_clusters={self.n_clusters!r}, n_landmarks=500).fit(X)"
