"""LKG for many samples, through landmarks."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from operator import itemgetter
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernelbraid._machine import calm, n_workers
from kernelbraid._system import counted
from kernelbraid._typing import Array, Input
from kernelbraid.blocks.parts import Parts
from kernelbraid.estimators.base import AUTO, COUNT, Interval, StrOptions, check_n_clusters, fit_context
from kernelbraid.estimators.inductive import LAZY
from kernelbraid.estimators.landmarks.blocks import draw_rows, draw_seed
from kernelbraid.estimators.landmarks.fusing import express_fused
from kernelbraid.estimators.landmarks.gaps import Required, on_landmarks
from kernelbraid.estimators.landmarks.pick import check_landmarks, draw_pool, pick_landmarks
from kernelbraid.estimators.landmarks.sources import Source, open_source, parts_of, rows_of
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.presenting import Clusterer
from kernelbraid.estimators.reading import is_precomputed, warn_of, warn_of_counts, warn_of_scales
from kernelbraid.estimators.solver import ADMM, Solved
from kernelbraid.estimators.view_report import ViewReport
from kernelbraid.learning.coefficients import express
from kernelbraid.learning.compared import count, count_of_kernels
from kernelbraid.learning.counts import Counts
from kernelbraid.learning.learn import graph_of, learn
from kernelbraid.learning.progress import CUT, LEARN, phase, plan
from kernelbraid.learning.settings import Settings, check_fusion
from kernelbraid.learning.sources import Views
from kernelbraid.learning.trust import TELLING
from kernelbraid.learning.weighing import Weighed, check_weights, weigh
from kernelbraid.solvers.fused_landmarks import FusedExpression
from kernelbraid.solvers.landmark_centres import Centres, find_centres
from kernelbraid.solvers.landmarks import (
    BipartiteEmbedding,
    Edges,
    LandmarkExpression,
    Reduction,
    Standing,
    mean_diagonal,
    split_views,
)
from kernelbraid.solvers.low_rank.ridge import Expression

SUBSAMPLE = 20_000  # samples on which k-means is started again and again
LLOYD_STEPS = 10  # over all samples, from centres that are good already
KEPT_EDGES = 100  # of a sample, beyond which they are formed anew instead of kept


class LandmarkLKG(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    r"""Low-rank kernel learning for graph-based clustering (LKG) of many samples, through landmarks.

    :class:`LKG` learns kernel weights, consensus kernel and graph on p landmarks. Every sample is expressed over the
    landmarks in the feature space of that kernel,

    .. math::

        w = \big[(K + \alpha I)^{-1} k(x)\big]_+

    where

    - :math:`K` is the consensus kernel of the landmarks,
    - :math:`k(x)` holds the values of the same weighted sum of kernels between the sample and the landmarks,

    keeps its strongest edges, scaled to sum 1, and is placed by the singular vectors of the bipartite graph of samples
    and landmarks. k-means clusters the samples there. Time and memory grow linearly with the number of samples, which
    are read block by block.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. ``"auto"`` takes the number that :class:`LKG` chooses on the landmarks.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. ``"auto"`` is 500, or all samples if there are fewer; a number above that of the samples
        is refused.
    landmarks : {"k-means", "k-means++", "leverage", "random"} or array, default="k-means"
        How landmarks are found in a uniform sample of 20 rows for each of them: rows that are spread out, moved to the
        means of what is nearest to them; these rows themselves; rows by their ridge leverage scores under the average
        kernel; or as they come. An array of shape (n_landmarks, n_features) holds the landmarks themselves, and
        `n_landmarks` has no effect. Clusters that are no blobs need landmarks without gaps: the first two.
    landmark_neighbors : int or "all", default=5
        Edges from a sample to landmarks: so many strongest ones, or all.
    view_widths : sequence of int, default=None
        Numbers of features of several views whose columns X holds side by side; all columns are one view if None. A
        list of views has no need of it. Every view gets kernels of its own, as for :class:`LKG`.
    preset : {"recommended", "authors", "paper"}, default="recommended"
        Gives the value of every parameter that is None, as for :class:`LKG`.
    graph_penalty : {"frobenius", "nuclear", "l1"}, default=None
        Penalty of the landmarks' graph.
    alpha : float, default=None
        Weight of the graph penalty; if that is ``"frobenius"``, also in the expression of samples, which has `mu` in
        its place otherwise.
    beta : float, default=None
        Weight of the kernel's nuclear norm.
    gamma : float, default=None
        Weight of the distance between K and the weighted sum of the candidates; ``math.inf`` keeps their average.
    mu : float, default=None
        Weight of the constraints in the first step.
    mu_growth : float, default=None
        Factor of mu after every step.
    kernels : str or list, default=None
        Name of a bank, or list of kernels, as for :class:`LKG`; not ``"precomputed"``.
    fusion : {"graphs", "kernels"}, default=None
        What is joined of several views, as for :class:`LKG`: the edges of a sample in each of them, or kernels.
    view_weights : array-like of shape (n_views,), default=None
        Weights of the views, as for :class:`LKG`; measured on a sample of the rows if None.
    graph_start : {"identity", "random"}, default=None
        First value of J.
    kernel_start : {"average", "average/m"}, default=None
        First value of K and W.
    weights_problem : {"projection", "printed"}, default=None
        Problem of the kernel weights.
    graph_from : {"J", "Z"}, default=None
        The matrix that becomes the landmarks' graph.
    n_neighbors : int or "all", default=None
        Edges of each landmark in ``graph_``.
    edge_weights : {"learned", "scaled", "binary"}, default=None
        What an edge weighs, between landmarks and from samples to them.
    embedding : {"magnitude", "largest", "random_walk"}, default=None
        Rows of unit length (the first two, which are the same here), or as the random walk on the bipartite graph has
        them.
    n_init : int, default=None
        Restarts of k-means, which run on at most 20 000 samples; all samples take part in the last steps.
    restart_score : {"inertia", "distance"}, default="inertia"
        The best restart has the lowest sum of squared distances, or of distances.
    max_iter : int, default=None
        Largest number of steps of the solver.
    tol : float, default=None
        Relative change at which the solver stops.
    block_size : int, default=10000
        Rows that are read and worked on at a time. Whatever the source yields is cut anew, so that the clusters do not
        depend on how it was cut. A Dask collection keeps its own blocks.
    n_jobs : int, default=None
        Blocks that are worked on at the same time, each by a thread; one if None. -1 stands for all cores, -2 for all
        but one. The result does not depend on it. On a Dask collection it has no effect: its scheduler decides.
    record_objective : bool, default=False
        Record the objective in ``history_``.
    random_state : int, RandomState instance or None, default=None
        Draws the sample, the landmarks and the starts of k-means. An int makes the labels reproducible.

    Attributes
    ----------
    labels_ : ndarray or Dask array of shape (n_samples,)
        Cluster of each sample, numbered in order of appearance: exactly ``n_clusters_`` different values. After a fit
        on a Dask collection a Dask array, as is ``embedding_``: compute them while the cluster is there.
    n_clusters_ : int
        Number of clusters, given or chosen; fewer only if the embedding has fewer distinct points, with a warning.
    n_clusters_evidence_ : dict of ndarray or None
        What speaks for each number that was tried; None if the number was given.
    landmarks_ : array or csr matrix of shape (n_landmarks, n_features)
        Landmarks.
    landmark_labels_ : ndarray of shape (n_landmarks,)
        Cluster of each landmark.
    graph_ : csr array or ndarray of shape (n_landmarks, n_landmarks)
        Symmetric affinity of the landmarks: sparse if `n_neighbors` is a number, dense otherwise.
    solution_ : Solved
        What was learned of the landmarks, as for :class:`LKG` with a solver; not where graphs of several views are
        fused: there is no kernel of all of them.
    views_ : ViewReport
        What is known of each view, as for :class:`LKG`, from a sample of the rows.
    membership_ : ndarray or Dask array of shape (n_samples, n_clusters)
        How far each sample belongs to each cluster; rows sum to one, and the largest entry is that of the label. It
        falls off exponentially with the distance to the centres in the embedding. Formed block by block whenever it is
        asked for, as is the next: neither is kept.
    confidence_ : ndarray or Dask array of shape (n_samples,)
        How sure each label is, between 0 and 1: its entry in ``membership_``.
    outlier_scores_ : ndarray or Dask array of shape (n_samples,)
        How far each sample stands aside, from 0 to 1: by how much less like its landmarks it is, by the kernel and by
        the distance of the rows, than the other samples are that have edges to them, or than half of all. 1/2 is twice
        as unlike. Kernels are taken to have one value for every sample with itself, as those of the bank ``"auto"``
        have.
    embedding_ : ndarray or Dask array of shape (n_samples, n_clusters)
        Coordinates of the samples, float32.
    singular_values_ : ndarray of shape (n_clusters,)
        Of the normalised bipartite graph, the largest first; as many ones as it has connected components.
    cluster_centers_ : ndarray of shape (n_clusters, n_clusters)
        Centres of the clusters in the embedding.
    n_iter_ : int
        Steps that the solver made.
    n_features_in_ : int
        Number of features, over all views.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features when X is one data frame with string columns.

    Notes
    -----
    With W the edges of all samples, rows of sum 1, and C the sums of its columns, the eigenvectors u of
    :math:`C^{-1/2} W^\top W C^{-1/2}` with eigenvalues :math:`\sigma^2` give a sample the coordinates
    :math:`w C^{-1/2} u / \sigma`. The p x p matrix is summed over blocks in float64. The samples are gone through
    twice, or once if landmarks are given (once more if a sample keeps over 100 edges); beside the blocks in work, a fit
    holds `landmark_neighbors` edges and ``n_clusters_`` coordinates of each sample.

    References
    ----------
    Z. Kang, L. Wen, W. Chen, Z. Xu: Low-rank kernel learning for graph-based clustering. Knowledge-Based Systems
    163 (2019) 510-517.

    X. Chen, D. Cai: Large scale spectral clustering with landmark-based representation. AAAI (2011) 313-318.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid import LandmarkLKG
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 5.0], [5.0, 0.0]], 500, axis=0) + rng.normal(size=(1000, 2))
    >>> model = LandmarkLKG(n_clusters=2, n_landmarks=50, random_state=0).fit(X)
    >>> np.bincount(model.labels_).tolist()
    [500, 500]
    >>> model.predict([[0.0, 4.0], [4.0, 0.0]]).tolist()
    [0, 1]

    A list of matrices holds several views of the same samples:

    >>> views = [X, np.tanh(X)]
    >>> model = LandmarkLKG(n_clusters=2, n_landmarks=50, random_state=0).fit(views)
    >>> model.labels_.shape, model.n_features_in_
    ((1000,), 4)
    """

    _parameter_constraints: ClassVar = {
        **{
            name: legal
            for name, legal in {**LKG._parameter_constraints, **ADMM._parameter_constraints}.items()
            if name not in ("thresholding", "approximation", "assign_labels", "resolution", "device", "solver")
        },
        "n_landmarks": [COUNT, AUTO],
        "landmarks": [StrOptions({"k-means", "k-means++", "leverage", "random"}), "array-like", "sparse matrix"],
        "landmark_neighbors": [COUNT, StrOptions({"all"})],
        "view_widths": ["array-like", None],
        "embedding": [StrOptions({"magnitude", "largest", "random_walk"}), None],
        "block_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        n_landmarks="auto",
        landmarks="k-means",
        landmark_neighbors=5,
        view_widths=None,
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
        n_init=None,
        restart_score="inertia",
        max_iter=None,
        tol=None,
        block_size=10000,
        n_jobs=None,
        record_objective=False,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.landmark_neighbors = landmark_neighbors
        self.view_widths = view_widths
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
        self.n_init = n_init
        self.restart_score = restart_score
        self.max_iter = max_iter
        self.tol = tol
        self.block_size = block_size
        self.n_jobs = n_jobs
        self.record_objective = record_objective
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # coordinates are float32
        return tags

    def __getattr__(self, name):
        if name in LAZY and "labels_" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit before asking for {name}.")
        if name == "solution_" and "labels_" in vars(self):
            raise AttributeError(
                f"{type(self).__name__} has no solution_ after a fit that fuses the graphs of several views: there is "
                "no kernel of all of them; fit it with fusion='kernels'."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[1])

    @fit_context(prefer_skip_nested_validation=True, jobs_are_threads=False)
    def fit(self, X, y=None):
        """Learn kernel and graph on landmarks, and cluster all samples through them.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), path, Stream, Blocks, Dask collection, or list of them
            Samples as rows: an array, memory map, scipy.sparse matrix or data frame; the path of a file, read in blocks
            if it is .npy or Parquet, or what :func:`kernelbraid.datasets.open_stream` returns; blocks of rows in
            :class:`Blocks`; or a Dask array or data frame, whose blocks are worked on where they are. A list of these
            holds several views of the same samples, which are put side by side block by block. A table with column
            names is read by those of the fit, unless it is one of several views.
        y : None
            Ignored, here for scikit-learn.

        Returns
        -------
        LandmarkLKG
            The fitted estimator.
        """
        settings = Settings.of(self.get_params(deep=False))
        random_state = check_random_state(self.random_state)
        source = open_source(self, X, self.block_size)
        widths = self._widths(source)
        check_fusion(settings)
        if settings.view_weights is not None:
            check_weights(settings.view_weights, len(widths))
        self.__dict__.pop("solution_", None)  # of an earlier fit
        source.require(Required.by(widths, settings, self.preset))
        self.landmarks_, weighed = self._choose(source, widths, settings, random_state)
        plan({LEARN: settings.learning.max_iter if settings.is_solved else 1, CUT: 1})
        with phase(LEARN):
            if weighed is not None and settings.fusion == "graphs":
                self._fuse(weighed, widths, settings, random_state)
            else:
                self._learn(split_views(self.landmarks_, widths), weighed, widths, settings, random_state)
        with calm(1), phase(CUT):
            source.require(Required.of_fit(self._expression))
            edges = self._express(source)
            self._embed(edges, source, settings)
            self._cluster(settings, random_state)
        return self

    def predict(self, X):
        """Return the clusters of samples: the nearest centre in the embedding.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), path, Stream, Blocks, Dask collection, or list of them
            Samples as for :meth:`fit`; of several views a list of them, or one matrix with their columns side by side.

        Returns
        -------
        ndarray or Dask array of shape (n_samples,)
            Labels; those of ``labels_`` for the fitted samples. A Dask array is computed when it is needed.
        """
        with self._new_samples(X) as placed:
            return placed.map(Centres(self.cluster_centers_).nearest).array(None, np.int64)

    def predict_proba(self, X):
        """Return how far samples belong to each cluster, by their distances to the centres in the embedding.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), path, Stream, Blocks, Dask collection, or list of them
            Samples as for :meth:`fit`; of several views a list of them, or one matrix with their columns side by side.

        Returns
        -------
        ndarray or Dask array of shape (n_samples, n_clusters)
            Rows sum to one, and the largest entry is that of :meth:`predict`; those of ``membership_`` for the fitted
            samples, float32. A Dask array is computed when it is needed.
        """
        with self._new_samples(X) as placed:
            return placed.map(Centres(self.cluster_centers_).memberships).array(self.n_clusters_, np.float32)

    @property
    def membership_(self):
        """How far each sample belongs to each cluster."""
        return self._fitted_parts().map(Centres(self.cluster_centers_).memberships).array(self.n_clusters_, np.float32)

    @property
    def confidence_(self):
        """How sure each label is."""
        return self._fitted_parts().map(Centres(self.cluster_centers_).confidences).array(None, np.float32)

    def _fitted_parts(self) -> Parts[Array]:
        """Return the coordinates of the fitted samples in parts."""
        check_is_fitted(self)
        return parts_of(self.embedding_, self.block_size, n_workers(self.n_jobs))

    def transform(self, X):
        """Return the coordinates of samples in the embedding that was clustered.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), path, Stream, Blocks, Dask collection, or list of them
            Samples as for :meth:`fit`; of several views a list of them, or one matrix with their columns side by side.

        Returns
        -------
        ndarray or Dask array of shape (n_samples, n_clusters)
            Coordinates, float32; those of ``embedding_`` for the fitted samples. A Dask array is computed when it is
            needed.
        """
        with self._new_samples(X) as placed:
            return placed.array(self._n_features_out, np.float32)

    @contextmanager
    def _new_samples(self, X: Input) -> Iterator[Parts[np.ndarray]]:
        """Yield the coordinates of samples, which are formed when they are needed."""
        check_is_fitted(self)
        source = open_source(self, X, self.block_size, fitted=tuple(self._expression.widths))
        source.require(Required.of_fit(self._expression))
        with calm(1):
            yield source.parts(n_workers(self.n_jobs)).map(self._expression.edges).map(self._placement.place)

    def _widths(self, source: Source) -> tuple[int, ...]:
        """Return the numbers of features of the views."""
        if self.view_widths is None:
            return source.widths
        widths = tuple(self.view_widths)
        whole = all(isinstance(width, Integral) and int(width) > 0 for width in widths)
        if not whole or sum(widths) != source.width:
            raise ValueError(
                f"view_widths={list(widths)} must be whole numbers from 1 that sum to the {source.width} features of X."
            )
        if len(source.widths) > 1 and widths != source.widths:
            raise ValueError(
                f"view_widths={list(widths)} differs from the views of X, which have {list(source.widths)} features; "
                "leave it out."
            )
        return tuple(int(width) for width in widths)

    def _choose(
        self,
        source: Source,
        widths: tuple[int, ...],
        settings: Settings,
        random_state: np.random.RandomState,
    ) -> tuple[Array, Weighed | None]:
        """Return the landmarks, and what several views say of each other on a sample of the rows."""
        if is_precomputed(settings.kernels):
            raise ValueError("kernels='precomputed' has no samples to take landmarks from; use LKG, or give a bank.")
        is_weighed = len(widths) > 1 and settings.is_trusting
        if not isinstance(self.landmarks, str):
            given = check_landmarks(self.landmarks, source.width, self.n_clusters)
            warn_of_scales(self, split_views(given, widths))
            if not is_weighed:
                return given, None
            weighed = self._weigh(source.sample(TELLING, draw_seed(random_state)), widths, settings)
            return given, on_landmarks(weighed, split_views(given, widths))
        pool, count = draw_pool(source, self.n_landmarks, self.n_clusters, random_state)
        warn_of_scales(self, split_views(pool, widths))
        if not is_weighed:
            return pick_landmarks(pool, count, self.landmarks, widths, settings, random_state), None
        weighed = self._weigh(pool[:TELLING], widths, settings)
        chosen = pick_landmarks(pool, count, self.landmarks, widths, settings, random_state, weighed.used)
        return chosen, on_landmarks(weighed, split_views(chosen, widths))

    def _weigh(self, rows: Array, widths: tuple[int, ...], settings: Settings) -> Weighed:
        """Measure views against each other on some of the samples."""
        weighed = weigh(Views(split_views(rows, widths)), settings.view_weights)
        if weighed.warning is not None:
            warnings.warn(weighed.warning, UserWarning, stacklevel=5)
        return weighed

    def _fuse(
        self,
        weighed: Weighed,
        widths: tuple[int, ...],
        settings: Settings,
        random_state: np.random.RandomState,
    ) -> None:
        """Fuse the graphs of the landmarks in every view, and set what was found."""
        settings = replace(settings, learning=replace(settings.learning, n_jobs=None))
        fused = learn(weighed, settings, random_state=random_state)
        counts = count(weighed, settings, random_state=random_state) if self.n_clusters == "auto" else None
        self._publish_counts(counts)
        self.graph_ = fused.graph
        self.n_iter_ = fused.n_iter
        few = None if self.landmark_neighbors == "all" else int(self.landmark_neighbors)
        self._expression: LandmarkExpression | FusedExpression = express_fused(weighed, cast(Any, fused.members), few)
        self._publish_views(weighed, weighed.weights)
        warn_of(fused.complaint, stacklevel=5)

    def _publish_counts(self, counts: Counts | None) -> None:
        self.n_clusters_ = self.n_clusters if counts is None else counts.best
        self.n_clusters_evidence_ = None if counts is None else counts.columns()
        warn_of_counts(counts, stacklevel=6)

    def _publish_views(self, weighed: Weighed | None, weights: np.ndarray) -> None:
        """Set what is known of the views."""
        known = weighed or Weighed.alike(Views(split_views(self.landmarks_, self._expression.widths)))
        columns = known.report(weights, self.n_clusters_)
        if weighed is None:
            columns["n_samples"] = np.full(len(weights), np.nan)
        self.views_ = ViewReport(**columns)

    def _learn(
        self,
        views: list[Array],
        weighed: Weighed | None,
        widths: tuple[int, ...],
        settings: Settings,
        random_state: np.random.RandomState,
    ) -> None:
        """Learn kernel and graph of the landmarks, and set what was found."""
        learning = replace(settings.learning, n_jobs=None)  # that of the parameters counts blocks
        is_learned = not learning.is_kernel_fixed
        if weighed is None:
            alike = Weighed.alike(Views(views))
            joining = replace(alike, joined=alike.samples.pose(settings.kernels, stored=is_learned))
        else:
            joining = weighed.joining(settings.kernels, learned=is_learned)
        candidates: Any = joining.joined
        options: dict[str, Any] = {"keep_kernel": True}
        learned = express(candidates, learning, random_state=random_state, **options)
        is_auto = self.n_clusters == "auto"
        self._publish_counts(count_of_kernels(candidates, random_state=random_state) if is_auto else None)
        self.graph_, g = graph_of(learned, settings.readout), candidates.of_bank(learned.weights)
        self.solution_ = Solved.of(learned, g, candidates.names, np.asarray)
        self.n_iter_ = learned.n_iter
        assert candidates.bank is not None  # landmarks are samples
        self._expression = LandmarkExpression(
            candidates.bank,
            np.asarray(g, dtype=np.float64),
            Expression.of(self.solution_.K.astype(np.float64), learning.expression_weight, None, "learned"),
            None if self.landmark_neighbors == "all" else int(self.landmark_neighbors),
            settings.readout.edge_weights,
            widths,
            None if weighed is None else tuple(weighed.used),
            mean_diagonal(self.solution_.K),
        )
        self._publish_views(weighed, joining.learned_weights(np.asarray(learned.weights)))
        warn_of(learned.complaint, stacklevel=5)

    def _express(self, source: Source) -> Parts[Edges]:
        """Return the edges of all samples to landmarks, kept if they are few."""
        edges = source.parts(n_workers(self.n_jobs)).map(self._expression.edges)
        few = self._expression.n_neighbors is not None and self._expression.n_neighbors <= KEPT_EDGES
        return edges.keep() if few else edges

    def _embed(self, edges: Parts[Edges], source: Source, settings: Settings) -> None:
        """Sum the bipartite graph over all samples, and place them by it."""
        reduction = edges.map(Reduction.of).total()
        check_n_clusters(self.n_clusters_, source.n_samples or 0)  # now all of them were counted
        self._placement = BipartiteEmbedding.of(reduction, self.n_clusters_, settings.readout.embedding)
        self.singular_values_ = self._placement.values
        placement = replace(self._placement, standing=Standing.of(reduction))
        placed = edges.map(placement.place_with_scores).keep()
        self.outlier_scores_ = placed.map(itemgetter(2)).array(None, np.float32)
        self.embedding_ = placed.map(itemgetter(0)).array(self.n_clusters_, np.float32)
        if isinstance(self._expression, FusedExpression):
            n_views = len(self._expression.widths)
            self.views_ = replace(self.views_, shares=placed.map(itemgetter(1)).array(n_views, np.float32))

    def _cluster(self, settings: Settings, random_state: np.random.RandomState) -> None:
        """Find centres on a part of the samples, and improve them on all."""
        part = np.sort(draw_rows(self.embedding_.shape[0], SUBSAMPLE, draw_seed(random_state)))
        centres = find_centres(
            rows_of(self.embedding_, part),
            self.n_clusters_,
            n_init=settings.readout.n_init,
            by_distance=self.restart_score == "distance",
            random_state=random_state,
        )
        placed = parts_of(self.embedding_, self.block_size, n_workers(self.n_jobs))
        centres = centres.improve(placed, LLOYD_STEPS)
        self.labels_ = placed.map(centres.nearest).keep().array(None, np.int64)
        self.cluster_centers_ = centres.points
        self._publish_found(centres.points.shape[0])
        self.landmark_labels_ = centres.nearest(self._placement.place(self._expression.edges(self.landmarks_)))

    def _publish_found(self, found: int) -> None:
        """Set the number of clusters that are there, and warn if they are fewer than asked for."""
        wanted, self.n_clusters_ = self.n_clusters_, found
        if found < wanted:
            complaint = (
                f"{type(self).__name__} found {counted(found, 'cluster')} instead of {wanted}, since its embedding "
                "tells no more samples apart; lower n_clusters, look for copies, or use more landmarks."
            )
            warn_of(complaint, stacklevel=6)
