"""Graphs of several views, fused into one or diffused along each other, as scikit-learn clusterers."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from kernelbraid._arrays import namespace
from kernelbraid._machine import blas_threads, n_workers
from kernelbraid._typing import Input
from kernelbraid.estimators.base import COUNT, POSITIVE, storing
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.report import StepHistory
from kernelbraid.learning.sources import Candidates
from kernelbraid.methods.base import COMPUTING, PRESET, GraphClusterer, read_several, widths_of_views
from kernelbraid.solvers.diffusion import DiffusionProblem, contrast, diffuse, view_graph, with_contrast
from kernelbraid.solvers.graph_fusion import FusionProblem, centred_rows, fuse_graphs, view_distances

# Matrices of n x n at the peak of a fit beside the kernels, and for each view: distances, neighbours, its graph.
WORKING, COPIES = 12.0, 3.0
#: The graph has as many components as the Laplacian has eigenvalues whose sum is not above this.
TOL = 1e-10


class MultiViewGraphFusion(GraphClusterer):
    r"""Graph-based multi-view clustering (GMC): one graph of all views that falls apart into the clusters.

    .. math::

        \min_{S^v, U, F}\ \sum_v \sum_{ij} \big(d^v_{ij} s^v_{ij} + a^v_i (s^v_{ij})^2\big)
        + \sum_v \|U - S^v\|_F + 2 \lambda \operatorname{Tr}(F^\top L F)
        \quad \text{s.t. rows of } S^v, U \text{ on the simplex},\ F^\top F = I

    where

    - :math:`d^v_{ij}` are the squared distances of the samples in view v, each of its samples centred over its features
      and scaled to standard deviation one, and :math:`S^v` is its graph, with `n_neighbors` edges for each sample, by
      the choice of :math:`a^v_i`,
    - :math:`L` is the Laplacian of :math:`(U + U^\top)/2`, and :math:`\lambda` is what gives it as many components as
      there are clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="rmkkm"
        What takes the place of views where X is one alone: ``"rmkkm"`` or ``"paper"``, banks of twelve kernels, or a
        list of kernels and functions ``f(X, Y)``. ``"precomputed"``: X holds the kernels, one for each view. Several
        views count by their features.
    preset : {"authors", "paper"}, default="authors"
        ``"authors"`` follows the published code: views count alike in U, and their neighbours are those of the first
        step. ``"paper"`` minimises over each variable: views count by :math:`1 / \|U - S^v\|_F`, and neighbours follow
        the costs of edges. U may then become the graph of one view, which gets all the weight.
    n_neighbors : int, default=15
        Edges of each sample in the graph of a view.
    strength : float, default=1.0
        :math:`\lambda` at the start. It is doubled after steps whose graph has fewer components than clusters, and
        halved after those with more.
    n_init : int, default=100
        Restarts of k-means, which finds the components of the graph, or clusters where their number differs.
    max_iter : int, default=20
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
        (U + U') / 2.
    coefficients_ : array of shape (n_samples, n_samples)
        U': column j has the edges of sample j.
    embedding_ : array of shape (n_samples, n_clusters)
        Spectral embedding of the graph.
    kernel_weights_ : array of shape (n_views,)
        Share of each view: :math:`1 / \|U - S^v\|_F`, divided by its sum.
    kernel_names_ : list of str
        Readable name of each view.
    objective_ : ndarray of shape (n_iter_,)
        The objective without the terms of :math:`a^v_i` after every step; it may rise, since :math:`\lambda` changes.
    inertia_ : float
        Sum of squared distances to the centres in the embedding; zero if the clusters are components.
    n_iter_ : int
        Steps that were made.
    status_ : str
        ``"converged"`` (to as many components as clusters), ``"max_iter"`` or ``"stopped"`` (by a callback).
    n_features_in_ : int
        Number of features, over all views; of samples for precomputed kernels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, view by view, when X is a data frame with string columns, or a list of them.

    See Also
    --------
    CrossViewDiffusion : Spreads similarities over the graphs of all views.
    LKG : Weighs views by how far they agree, and leaves out those that agree with none.

    Notes
    -----
    Under a kernel, samples are taken about their mean and have squared length n_samples - 1, as if they had that many
    features. Distances are rounded to some ten digits, so that equal ones are equal. In views, among these the order of
    the samples decides, as in the published code; under kernels, and in the preset of the paper, none of those that are
    as far as the first one beyond the neighbours is a neighbour. A step takes an eigendecomposition
    and one pass over the distances of every view.

    References
    ----------
    H. Wang, Y. Yang, B. Liu: GMC: graph-based multi-view clustering. IEEE Transactions on Knowledge and Data
    Engineering 32 (2020) 1116-1129.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import MultiViewGraphFusion
    >>> rng = np.random.default_rng(0)
    >>> centres = np.repeat(rng.normal(size=(2, 9)), 20, axis=0)
    >>> views = [centres + 0.3 * rng.normal(size=(40, 9)) for _ in range(2)]
    >>> np.bincount(MultiViewGraphFusion(n_clusters=2, n_neighbors=8, random_state=0).fit_predict(views)).tolist()
    [20, 20]
    """

    _keeps_coefficients = True
    _parameter_constraints: ClassVar = {
        **COMPUTING,
        "kernels": [str, list, tuple],
        "preset": [PRESET],
        "n_neighbors": [COUNT],
        "strength": [POSITIVE],
        "max_iter": [COUNT],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="rmkkm",
        preset="authors",
        n_neighbors=15,
        strength=1.0,
        n_init=100,
        max_iter=20,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_several(self, X, self.kernels, working=WORKING, copies=COPIES, prepare=centred_rows)

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Alternate between the graphs of the views and the one that they have in common."""
        history, n, m = StepHistory(), candidates.n_samples, candidates.stack.n_kernels
        widths = widths_of_views(candidates)
        with blas_threads(n, n_workers(self.n_jobs)):
            scales = [width - 1.0 for width in widths or [n] * m]
            distances = list(view_distances(candidates.stack, scales, centred=widths is None))
            xp, dtype = namespace(distances[0]), distances[0].dtype
            problem = FusionProblem(
                [xp.astype(D, xp.float64, copy=False) for D in distances],
                self.n_clusters,
                n_neighbors=self.n_neighbors,
                strength=self.strength,
                weighted=self.preset == "paper",
                by_order=widths is not None,
            )
            del distances
            solution = fuse_graphs(problem, max_iter=self.max_iter, tol=TOL, watch=history)
        state = solution.state
        graph = xp.astype(state.U.T, dtype, copy=False)
        learned = self._learned(graph, solution, history, state.w / state.w.sum())
        if 2 * self.n_clusters > n:  # more components than pairs of samples cannot be had, in however many steps
            return replace(learned, complaint=None)
        unsettled = "its graph has not fallen into as many components as clusters"
        told = history.complaint(type(self).__name__, solution, max_iter=self.max_iter, unsettled=unsettled)
        return replace(learned, complaint=told)


# How fast similarity falls with distance, how evenly views count, and the relative change that ends the iteration.
WIDTH, EVENNESS, CHANGE = 0.5, 19.0, 1e-6
# Matrices of n x n for each view, by preset.
DIFFUSED = {"authors": 2.0, "paper": 4.0}


class CrossViewDiffusion(GraphClusterer):
    r"""Cross-view graph diffusion (CGD): similarities that spread over the graphs of all views.

    .. math::

        \min_{A, b}\ \sum_v b_v \big(\|A\|_F^2 - \operatorname{Tr}(S_v A S_v A)\big) + \mu \|A - I\|_F^2
        + \tfrac{\lambda}{2} \|b\|^2 \quad \text{s.t. } b \ge 0,\ \sum_v b_v = 1

    where :math:`\lambda = 19`, and :math:`S_v` is the normalised graph of view v, whose samples have length one: each
    has edges to its nearest neighbours, of weight :math:`\exp(-(2\, d_{ij} / \max d)^2)` for squared distances
    :math:`d_{ij}`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernels : str or list, default="rmkkm"
        What takes the place of views where X is one alone: ``"rmkkm"`` or ``"paper"``, banks of twelve kernels, or a
        list of kernels and functions ``f(X, Y)``. ``"precomputed"``: X holds the kernels, one for each view. Several
        views count by their features.
    preset : {"authors", "paper"}, default="authors"
        ``"authors"`` has one matrix A for all views and learns their weights, as the published code does. ``"paper"``
        does what the abstract describes: a matrix for each view, which spreads what the other views know, and their
        average in the end.
    n_neighbors : int, default=16
        Edges of each sample in the graph of a view, of which one is its own.
    mu : float, default=0.3
        How far similarities stay with the sample itself: they spread over some 1 / mu edges.
    n_init : int, default=100
        Restarts of k-means.
    max_iter : int, default=100
        Largest number of steps. The published code makes ten: ``max_iter=10, tol=0``.
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
        A.
    embedding_ : array of shape (n_samples, n_clusters)
        Eigenvectors of the random walk on the graph.
    kernel_weights_ : array of shape (n_views,)
        Weights of the views; all alike in the preset of the paper.
    kernel_names_ : list of str
        Readable name of each view.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every step, at the weights of the step before; it never increases in the preset of the
        authors.
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
    MultiViewGraphFusion : One graph of all views that falls apart into the clusters.
    LKG : Weighs views by how far they agree, and leaves out those that agree with none.

    Notes
    -----
    A step spreads the similarities ten times, :math:`A = \sum_v a_v S_v A S_v + (1 - \sum_v a_v) I` with
    :math:`a_v = b_v / (\mu + 1)`, and then weighs the views. On the host, graphs are sparse, and that takes
    2 n_neighbors n_samples^2 products for each view. Distances are rounded to some ten digits, so that equal ones are
    equal. In views, among these the order of the samples decides, as in the published code; under kernels, none of
    those that are as far as the first one beyond the neighbours is a neighbour.

    A kernel is no view, and gets no weight, if the neighbours of a sample are hardly nearer under it than others are:
    less than a quarter of how much nearer they are under the best of the kernels. The graph of a narrow Gaussian is
    nearly the identity, over which nothing spreads, and would win by costing nothing.

    References
    ----------
    C. Tang, X. Liu, X. Zhu, E. Zhu, Z. Luo, L. Wang, W. Gao: CGD: multi-view clustering via cross-view graph diffusion.
    AAAI 2020, 5924-5931.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.methods import CrossViewDiffusion
    >>> rng = np.random.default_rng(0)
    >>> centres = np.repeat(rng.normal(size=(2, 9)), 20, axis=0)
    >>> views = [centres + 0.3 * rng.normal(size=(40, 9)) for _ in range(2)]
    >>> np.bincount(CrossViewDiffusion(n_clusters=2, n_neighbors=8, random_state=0).fit_predict(views)).tolist()
    [20, 20]
    """

    _spectrum = "random_walk"
    _parameter_constraints: ClassVar = {
        **COMPUTING,
        "kernels": [str, list, tuple],
        "preset": [PRESET],
        "n_neighbors": [COUNT],
        "mu": [POSITIVE],
        "max_iter": [COUNT],
    }

    @storing
    def __init__(
        self,
        n_clusters=8,
        *,
        kernels="rmkkm",
        preset="authors",
        n_neighbors=16,
        mu=0.3,
        n_init=100,
        max_iter=100,
        device=None,
        n_jobs=None,
        random_state=None,
    ): ...

    def _read(self, X: Input) -> Candidates:
        return read_several(self, X, self.kernels, working=WORKING, copies=DIFFUSED[self.preset])

    def _learn(self, candidates: Candidates) -> Coefficients:
        """Alternate between the similarities and the weights of the views."""
        history, stack = StepHistory(), candidates.stack
        by_order = widths_of_views(candidates) is not None
        with blas_threads(candidates.n_samples, n_workers(self.n_jobs)):
            graphs, contrasts = [], []
            for D in view_distances(stack, [1.0] * stack.n_kernels, centred=False):
                graphs.append(view_graph(D, self.n_neighbors, WIDTH, by_order=by_order))
                contrasts.append(1.0 if by_order else contrast(D, self.n_neighbors))
            used = with_contrast(contrasts)
            graphs = [graph for graph, is_used in zip(graphs, used, strict=True) if is_used]
            problem = DiffusionProblem(graphs, D, mu=self.mu, evenness=EVENNESS, common=self.preset == "authors")
            solution = diffuse(problem, max_iter=self.max_iter, tol=CHANGE, watch=history)
        weights = np.zeros(stack.n_kernels)
        weights[used] = solution.state.b
        return self._learned(solution.state.mean(), solution, history, weights)
