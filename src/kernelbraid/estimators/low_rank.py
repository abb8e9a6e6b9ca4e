"""LKG as a scikit-learn clusterer."""

from copy import deepcopy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from kernelbraid._arrays import to_numpy
from kernelbraid._machine import counted as counted_of
from kernelbraid._machine import n_workers
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import (
    AUTO,
    COUNT,
    GRAPH,
    JOBS,
    POSITIVE,
    Clusterer,
    Composed,
    Interval,
    StrOptions,
    ViewReport,
    as_published,
    check_n_clusters,
    fit_context,
    n_found,
    publish,
    storing,
    warn_of,
    warn_of_copies,
)
from kernelbraid.estimators.dask_views import DaskViews
from kernelbraid.estimators.given import DISTANCES, PAIRWISE, PRECOMPUTED
from kernelbraid.estimators.inductive import LAZY, InductiveMixin
from kernelbraid.estimators.reading import holds_dask, read_samples, warn_of_kernel_list
from kernelbraid.estimators.solver import ADMM, Solved
from kernelbraid.learning import effort
from kernelbraid.learning.counting import SMALLEST_PROBLEM, Counted, count
from kernelbraid.learning.effort import check_memory_of_fit
from kernelbraid.learning.extend import Extension
from kernelbraid.learning.in_rows import EXACT, MOST, representatives
from kernelbraid.learning.learn import LearnedGraph, learn, with_joined
from kernelbraid.learning.readout import COLLAPSED, Reading, account, published, read_out, scattered
from kernelbraid.learning.settings import GUESS, PRESETS, Assignment, Fusion, Settings, check_fusion
from kernelbraid.learning.sources import Samples
from kernelbraid.learning.vertices import Vertices, check_sample_weight
from kernelbraid.learning.weighing import Weighed, check_weights, weigh


class LKG(Composed, InductiveMixin, Clusterer):
    r"""Low-rank kernel learning for graph-based clustering (LKG) with several kernels or several views.

    Every sample is expressed by the others in the feature space of a kernel, the average of a few candidates; the
    strongest coefficients are the edges of a graph, whose spectral embedding is cut into clusters.

    .. math::

        \min_{Z}\ \tfrac12 \operatorname{Tr}(K - 2KZ + Z^\top K Z) + \tfrac{\alpha}{2} \|Z\|_F^2

    - **How many clusters?** ``LKG(5)``, or ``LKG("auto")``. ``reliability_`` and ``why_`` say how far to trust them.
    - **Scale** features of different units first (:class:`~sklearn.preprocessing.StandardScaler`); texts to unit rows.
    - **Views** are several matrices of the same samples: ``fit([X1, X2])``; a row of NaN is a sample that a view lacks.
      Views count that share nearest neighbours with another one far more often than chance has it; others are left
      out, with a warning. ``views_`` tells.
    - **Some labels** are known: :class:`LKGClassifier`. **New samples**: ``predict``. **Many samples**: rows are formed
      block by block above 2,000 of them; above 30,000, so many stand for all. X may be a file, or on a Dask cluster.
    - **The paper**: ``LKG(5, solver=ADMM())`` learns the kernel, too, and ``preset="authors"`` is the published code.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; ``"auto"`` chooses it: one, with a warning, where the samples are like a cloud without any.
        Other numbers that are plausible are in ``levels_``.
    preset : {"recommended", "authors", "paper"}, default="recommended"
        Gives the value of every parameter that is None: what does well without labels, what the published code does,
        or what the text says; *published* stands below for the last two where they agree.
    kernels : str, list or None, default=None
        ``"auto"`` (recommended) is the bank ``"middle"``, with ``"near"`` for samples that vary in few directions;
        ``"rmkkm"`` (``"authors"``) and ``"paper"`` (``"paper"``) have twelve kernels. ``"precomputed"``, ``"graph"``
        and ``"distances"`` say what X holds instead of samples: kernels, or a ready graph that is read out. A list
        mixes kernels of :mod:`kernelbraid.kernels` and functions ``f(X, Y)``; a list of banks gives each view its own.
    alpha : float, default=None
        Weight of the graph penalty: the larger, the smoother. Recommended: by n_samples and n_clusters; 1 and 30 in
        graphs that are fused; 1 with a solver. Published: 0.01.
    n_neighbors : int or "all", default=None
        Strongest edges of each sample that stay in the graph. Recommended: 10, 5 if there are at most 30 samples per
        cluster, 20 for communities of more than 100; 10 to 20 in each of several graphs that are fused. Published: all.
    edge_weights : {"scaled", "learned", "binary"}, default=None
        What an edge weighs: its coefficient relative to the strongest one of its sample (recommended), the coefficient
        (published), or one.
    embedding : {"largest", "magnitude", "unnormalised", "random_walk"}, default=None
        Eigenvectors that are clustered: of the normalised graph those of largest eigenvalue (recommended, ``"paper"``)
        or absolute eigenvalue (``"authors"``), of the Laplacian those of smallest one, or of the random walk.
    assign_labels : {"best", "merge", "kmeans", "communities"}, default=None
        ``"merge"`` cuts the embedding into twice as many pieces and joins those that share most edges; ``"kmeans"``
        takes the best of `n_init` runs; ``"communities"`` are found in the graph itself, by Leiden's method at the
        resolution that gives `n_clusters` of them; ``"best"`` (recommended without a solver) is ``"communities"`` or
        ``"merge"``, whichever the graph speaks for, and ``why_`` says which. Published: ``"kmeans"``.
    resolution : float, default=None
        With ``n_clusters="auto"``: as many communities as there are at this resolution; the larger, the more.
    min_cluster_size : int, default=None
        Samples that a cluster has at least; those of smaller ones go where most of their edges go. None: 4 where the
        number of clusters is found, if that is not above a tenth of all, and 1 where it is given.
    n_init : int, default=None
        Restarts of k-means. Recommended: 20, 5 from 20,000 samples on; published: 100.
    fusion : {"graphs", "kernels"}, default=None
        What is joined of several views: their graphs (recommended), or kernels, as views need it that tell different
        clusters apart. Published: all kernels are candidates.
    view_weights : array-like of shape (n_views,), default=None
        Weights of the views, from 0 on; by default those that agree count alike, and others nothing.
    approximation : {"auto", "exact"}, default="auto"
        Above 2,000 distinct samples the graph is formed in rows, with the help of landmarks; ``"exact"`` insists on
        matrices of n_samples x n_samples.
    solver : ADMM or None, default=None
        The iteration of the paper, which learns kernel and weights. None: the closed form under ``"recommended"``,
        :class:`ADMM` under the other presets.
    device : str, default=None
        PyTorch device to compute on, such as ``"cuda"``; if None, tensors are used where they are. Above 2,000 samples
        rows and k-means are in single precision there.
    n_jobs : int, default=None
        Threads of the fit; -1: all cores.
    random_state : int, RandomState instance or None, default=None
        An int makes the labels reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each sample.
    n_clusters_ : int
        Number of clusters; fewer than asked for only if fewer samples are distinct, with a warning.
    levels_ : list of Level or None
        Partitions from coarse to fine that are plausible, with ``n_clusters``, ``labels`` and what speaks for each;
        ``is_taken`` for one. None if the number was given. :meth:`at_level` reads out another one.
    graph_ : csr array or ndarray of shape (n_samples, n_samples)
        Symmetric affinity that was clustered: dense if `n_neighbors` is ``"all"``. Samples for which others stand have
        edges to these alone.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Spectral embedding of the graph, worked out when first asked for where no k-means needed it.
    membership_, confidence_ : array of shape (n_samples, n_clusters) and (n_samples,)
        How far each sample belongs to each cluster, rows of sum one, and its entry for the label: how sure that is.
        Worked out when first asked for, in one to three times the time of the fit.
    outlier_scores_ : array of shape (n_samples,)
        How far each sample stands aside, from 0 to 1; above 1/2 it does. Worked out when first asked for.
    reliability_ : float
        How far the clusters can be relied on, between 0 and 1: whether other weights or cuts, and k-means, find the
        same; with ``n_clusters="auto"`` whether other weights and resolutions do, and no other number is as plausible.
    why_ : list of str
        The same in sentences. Both are worked out when first asked for.
    views_ : ViewReport
        What is known of each view: ``names``, ``trusted``, ``why``, ``weights``, ``agreement``; ``shares`` of them in
        each sample's edges where graphs are fused. Prints as a table; ``to_frame()`` is a data frame.
    settings_ : dict
        The value of every parameter that decides the clusters; ``LKG(**settings_)`` fits the same to one view.
    solution_ : Solved
        With a solver: ``Z``, ``J``, ``K``, weights ``g`` and ``names`` of the kernels, ``status``, ``history``.
    n_iter_ : int
        Steps that the solver made.
    n_components_ : int
        Connected components of the graph.
    n_features_in_ : int
        Number of features, over all views; of samples for precomputed kernels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame, or a list of them.

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

    _parts: ClassVar = {"solver": ADMM}
    _parameter_constraints: ClassVar = {
        "n_clusters": [COUNT, AUTO],
        "preset": [StrOptions(set(PRESETS))],
        "kernels": [str, list, tuple, None],
        "alpha": [POSITIVE, None],
        **{name: [*GRAPH[name], None] for name in ("n_neighbors", "edge_weights", "embedding")},
        "assign_labels": [StrOptions(set(get_args(Assignment))), None],
        "resolution": [POSITIVE, None],
        "min_cluster_size": [COUNT, None],
        "n_init": [Interval(Integral, 1, None, closed="left"), None],
        "fusion": [StrOptions(set(get_args(Fusion))), None],
        "view_weights": ["array-like", None],
        "approximation": [StrOptions({"auto", "exact"})],
        "solver": [ADMM, None],
        "device": [str, None],
        "n_jobs": JOBS,
        "random_state": ["random_state"],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        preset="recommended",
        kernels=None,
        alpha=None,
        n_neighbors=None,
        edge_weights=None,
        embedding=None,
        assign_labels=None,
        resolution=None,
        min_cluster_size=None,
        n_init=None,
        fusion=None,
        view_weights=None,
        approximation="auto",
        solver=None,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def __getattr__(self, name):
        if name in LAZY and "labels_" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit before asking for {name}.")
        if name == "solution_" and "labels_" in vars(self):
            what, remedy = "without a solver", "solver=ADMM()"
            if self.views_.shares is not None:
                what, remedy = "that fuses the graphs of several views", "fusion='kernels' and solver=ADMM()"
            raise AttributeError(f"{type(self).__name__} has no solution_ after a fit {what}; fit it with {remedy}.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @fit_context
    def fit(self, X, y=None, sample_weight=None):
        """Learn the graph, and cluster the samples.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or stack of kernels
            Samples as rows, dense or sparse, the path of a file of them, :class:`Blocks`, or a Dask array or data
            frame. Several views of the same samples are a list of these, where a row of NaN in a dense view is a sample
            that was not measured there. With ``kernels="precomputed"`` a stack (n_kernels, n_samples, n_samples) of one
            source, or a list, in which every kernel, or stack, is a view. With ``kernels="graph"`` or ``"distances"`` a
            matrix (n_samples, n_samples), sparse or not, as scikit-learn's ``kneighbors_graph`` returns it, or a list
            of them, each a view, in which a sample without edges is missing.
        y : None
            Ignored, here for scikit-learn.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts, where one linear system gives the graph, or distances do; copies, told by
            rows that are equal, count as often as they occur in any case. Weight zero: labelled, and tells nothing.

        Returns
        -------
        LKG
            The fitted estimator.
        """
        random_state = check_random_state(self.random_state)
        settings = Settings.of(self.get_params(deep=False))
        samples = self._read_samples(X, settings)
        among = self._representatives(samples, settings, random_state)
        weighed, vertices = self._pose(samples, settings, sample_weight, among)
        learned, counted, settings = self._learn(weighed, vertices, settings, random_state)
        with effort.phase(effort.CUT):
            readout = settings.readout
            if counted is not None and readout.assign_labels == "communities":
                reading = published(learned, counted.taken.labels, readout)
            else:
                readout = readout if counted is None else replace(readout, n_clusters=counted.taken.n_clusters)
                reading = read_out(learned, readout, random_state=random_state, sizes=vertices.sizes)
        self._publish(samples, weighed, vertices, settings, learned, reading)
        if len(vertices.silent):
            self._label_silent(samples)
        complaint = self._explain_fit(reading, counted, settings, random_state)
        warn_of(learned.complaint)
        if learned.complaint is None or counted is not None:
            warn_of(complaint, UserWarning)
        if isinstance(settings.readout.n_clusters, int):
            self._warn_of_fewer(n_found(reading.labels), reading.labels)
        return self

    def _learn(
        self, weighed: Weighed, vertices: Vertices, settings: Settings, random_state: np.random.RandomState
    ) -> tuple[LearnedGraph, Counted | None, Settings]:
        """Learn the graph, for the clusters that are asked for, or choose how many there are with it."""
        is_chosen = self.n_clusters == "auto" and self.resolution is None
        self._plan(weighed, settings, is_chosen=is_chosen)
        if is_chosen:
            given: dict[str, Any] = {"n_counted": vertices.n_counted, "sizes": vertices.sizes}
            counted = count(weighed, settings, random_state=random_state, **given)
            way: Assignment = self.assign_labels or "communities"
            settings = replace(counted.settings, readout=replace(counted.settings.readout, assign_labels=way))
            return counted.learned, counted, settings
        k, several = GUESS if self.n_clusters == "auto" else self.n_clusters, weighed.trust is not None
        settings = settings.sized(weighed.n_samples, k, several=several, n_counted=vertices.n_counted)
        with effort.phase(effort.LEARN):
            learned = learn(weighed, settings, random_state=random_state)
            return with_joined(learned, weighed, settings), None, settings

    def _explain_fit(
        self, reading: Reading, counted: Counted | None, settings: Settings, random_state: np.random.RandomState
    ) -> str | None:
        """Set what tells how far the clusters can be relied on, and other levels; return what a user must know."""
        self.levels_, wanted = None, settings.readout.n_clusters
        if counted is None:
            self._evidence_ = partial(account, reading, settings.readout, random_state=deepcopy(random_state))
            if isinstance(wanted, int) and self.n_clusters_ < wanted:
                return None  # of which another sentence warns
            return COLLAPSED if reading.has_collapsed else scattered(self.n_clusters_, self.n_components_)
        self._evidence_ = self._of_level(counted.taken, counted.sentences())
        self.levels_ = [replace(level, labels=self._spread_labels(level)) for level in counted.levels]
        return counted.warning or scattered(self.n_clusters_, self.n_components_)

    def _warn_of_fewer(self, found: int, labels: np.ndarray) -> None:
        """Warn of fewer clusters than asked for."""
        if self.min_cluster_size is None:
            warn_of_copies(self, labels, self.n_clusters)
        elif found < self.n_clusters:
            told = (
                f"{type(self).__name__} found {counted_of(found, 'cluster')} instead of {self.n_clusters} that have "
                f"min_cluster_size={self.min_cluster_size} samples; lower one of the two."
            )
            warn_of(told)

    def _plan(self, weighed: Weighed, settings: Settings, *, is_chosen: bool) -> None:
        """Tell who watches what there is to do."""
        n_graphs = len(weighed.needed) * len(settings.fused_banks) * len(settings.alphas)
        efforts = effort.efforts_of_fit(
            weighed.n_samples,
            None if is_chosen or self.n_clusters == "auto" else self.n_clusters,
            n_graphs=n_graphs if weighed.joined is None and settings.fusion == "graphs" else 1,
            in_rows=weighed.in_rows,
        )
        if not is_chosen:
            efforts.pop(effort.CHOOSE)
        if settings.is_solved and not settings.learning.is_closed_form:
            steps = settings.learning.max_iter
            parts = effort.parts_of(efforts, effort.STEP * efforts[effort.LEARN])
            effort.plan({**parts, effort.LEARN: steps})
        else:
            effort.plan(effort.parts_of(efforts))

    def _read_samples(self, X: Input, settings: Settings) -> Samples:
        """Check what a user hands over."""
        check_fusion(settings)
        if settings.is_solved and self.approximation == "exact":
            raise ValueError("approximation='exact' is for fits without a solver, which is always exact; leave it out.")
        if holds_dask(X) and settings.kernels not in PAIRWISE and self.device is None:
            samples: Samples = DaskViews.open(self, X, reset=True)
            check_n_clusters(self.n_clusters, samples.n_samples)
        else:
            samples = read_samples(self, X, settings.kernels, gaps=True)
        if samples.n_views > 1 and settings.is_trusting and settings.kernels == PRECOMPUTED:
            warn_of_kernel_list(X)
        if settings.view_weights is not None:
            check_weights(settings.view_weights, samples.n_views)
        self._check_size(samples.n_samples)
        return samples

    def _check_size(self, n_samples: int) -> None:
        """Refuse clusters so large that there is no room for them."""
        least, k = self.min_cluster_size or 1, 2 if self.n_clusters == "auto" else self.n_clusters
        if least > 1 and least * k > n_samples:
            raise ValueError(
                f"min_cluster_size={least} leaves no room for {k} clusters of {n_samples} samples; give at most "
                f"{n_samples // k}."
            )

    def _pose(
        self, samples: Samples, settings: Settings, sample_weight: Any = None, among: NDArray[np.int64] | None = None
    ) -> tuple[Weighed, Vertices]:
        """Join copies, weigh views, and pose the kernels of which one graph is learned, if it is one."""
        has_kernels = samples.has_kernels
        is_weighed = samples.n_views > 1 and (settings.is_trusting or not has_kernels)
        if samples.has_gaps and not is_weighed:
            raise ValueError(
                f"X lacks samples in some views, which preset={self.preset!r} cannot have; preset='recommended' can."
            )
        least = SMALLEST_PROBLEM if self.n_clusters == "auto" else self.n_clusters + 1
        may_be_copies = has_kernels or settings.kernels == DISTANCES
        are_joined = may_be_copies and settings.learning.is_closed_form and not settings.is_solved
        n_all, measured = samples.n_samples, samples.measured
        if among is not None:
            samples = samples.some(among)
            sample_weight = None if sample_weight is None else check_sample_weight(sample_weight, n_all)[among]
        of = partial(Vertices.of, samples, sample_weight, are_joined=are_joined, least=least)
        vertices, given = of(), samples
        if vertices.are_others:
            samples = samples.some(vertices.first)
        in_rows = self._are_rows(samples, settings)
        is_joined = has_kernels and not in_rows and not (is_weighed and settings.fusion == "graphs")
        stored = has_kernels and check_memory_of_fit(
            samples, settings, is_weighed=is_weighed, is_joined=is_joined, in_rows=in_rows
        )
        weighed = Weighed.alike(samples)
        if is_weighed:
            weighed = weigh(samples, settings.view_weights, threads=n_workers(self.n_jobs))
            warn_of(weighed.trust.warning if weighed.trust else None, UserWarning)
            if len(weighed.needed) < given.n_views:  # copies are those that are equal in views that count
                vertices = of(views=weighed.needed)
                weighed = replace(weighed, samples=given.some(vertices.first) if vertices.are_others else given)
        vertices = vertices.within(n_all, among)
        weighed = replace(weighed, in_rows=in_rows, counts=vertices.counts)
        if len(vertices.silent) and is_weighed:  # of those that are not here, some may be in no other view
            alone = ~np.logical_or.reduce([measured[view] for view in weighed.used])
            left_out = np.flatnonzero(weighed.weights == 0).tolist()
            weighed = replace(weighed, spare=tuple(view for view in left_out if (measured[view] & alone).any()))
        if not is_joined:
            return weighed, vertices
        if is_weighed:
            return weighed.joining(settings.kernels, learned=not settings.learning.is_kernel_fixed), vertices
        joined = replace(samples.pose(settings.kernels, stored=stored), counts=vertices.counts)
        return replace(weighed, joined=joined), vertices

    def _representatives(
        self, samples: Samples, settings: Settings, random_state: np.random.RandomState
    ) -> NDArray[np.int64] | None:
        """Return which samples stand for all; None if all do, and are here."""
        n = samples.n_samples
        among = representatives(n, random_state) if self._are_rows(samples, settings) else None
        if among is None and isinstance(samples, DaskViews):
            if n > MOST:
                raise ValueError(
                    f"X is a Dask collection of {n} samples, of which these parameters need matrices of all pairs; "
                    "call its compute() first, or leave out preset, solver and approximation."
                )
            return np.arange(n)
        return among

    def _are_rows(self, samples: Any, settings: Settings) -> bool:
        """Tell whether rows of the closed form are formed, and no matrix of all pairs."""
        if (
            settings.approximation == "exact"
            or settings.is_solved
            or not settings.learning.is_closed_form
            or settings.fused_neighbors == "all"
        ):
            return False
        return samples.has_rows(settings.fused_banks) and samples.n_samples > EXACT

    def _publish(
        self,
        samples: Samples,
        weighed: Weighed,
        vertices: Vertices,
        settings: Settings,
        learned: LearnedGraph,
        reading: Reading,
    ) -> None:
        """Set the fitted attributes, and what new samples need."""
        placed, like = reading.placed, weighed.samples.like
        self.__dict__.pop("solution_", None)  # of an earlier fit
        self._vertices = vertices
        graph, here = vertices.graph(placed.graph), partial(as_published, self, like)
        self.graph_ = graph if weighed.in_rows else here(graph)
        if not len(vertices.silent):  # else when they are placed
            for member in learned.members:
                member.relation.move(here)
        given_as = settings.kernels if settings.kernels in PAIRWISE else "matrices"
        fitted = Extension.of(weighed.samples, learned.members, placed.placement.at(here), given_as)
        is_pairwise = settings.kernels in PAIRWISE and vertices.are_others
        self._fitted = fitted.known_by(vertices, samples) if is_pairwise else fitted
        self._show(reading, like)
        weights = weighed.weights
        if weighed.joined is not None:
            weights = weighed.learned_weights(to_numpy(learned.weights))
            if settings.is_solved:
                g = weighed.joined.of_bank(learned.weights)
                self.solution_ = Solved.of(learned, g, weighed.joined.names, here)
        shares = None
        if learned.shares is not None and weighed.trust is not None:
            shares = as_published(self, like, vertices.spread(learned.shares))
        columns = weighed.report(weights, self.n_clusters_)
        columns["n_samples"] = np.array([rows.sum() for rows in samples.measured], dtype=np.float64)
        self.views_ = ViewReport(**columns, shares=shares)
        used, own = weighed.values_used(settings), self._parameter_constraints
        self.settings_ = {name: value for name, value in used.items() if name in own}
        of_solver = {name: value for name, value in used.items() if name not in own}
        self.settings_["solver"] = ADMM(**of_solver) if settings.is_solved else None
        self.n_components_, self.n_iter_ = placed.n_components, learned.n_iter

    def _show(self, reading: Reading, like: Array) -> None:
        """Set what hangs on the clusters."""
        # A copy of what is judged later, whatever becomes of it.
        publish(self, like, labels_=self._vertices.spread(reading.labels.copy()))
        self.n_clusters_, self._certainty = n_found(reading.labels), {}
