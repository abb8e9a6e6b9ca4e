"""scikit-learn's own tests of SpectralClustering, with LKG in its place."""

import warnings
from functools import partial

import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors

from borrowed_tests import borrow, unmatched
from kernelbraid import LKG


class SpectralClustering(ClusterMixin, BaseEstimator):
    """LKG with the parameters of scikit-learn's class.

    Four have no meaning for it: there is one way to eigenvectors, as many of them as clusters, and nothing is printed.
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        eigen_solver=None,
        n_components=None,
        random_state=None,
        n_init=10,
        gamma=1.0,
        affinity="rbf",
        n_neighbors=10,
        eigen_tol="auto",
        assign_labels="kmeans",
        degree=3,
        coef0=1,
        n_jobs=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None):
        kernels, X = self._kernels(X)
        model = LKG(
            self.n_clusters,
            kernels=kernels,
            assign_labels="kmeans" if self.assign_labels == "kmeans" else "merge",
            n_init=self.n_init,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(X)
        self.labels_ = model.labels_
        if model.n_components_ > 1:
            warnings.warn("Graph is not fully connected", UserWarning, stacklevel=2)
        return self

    def _kernels(self, X):
        """Return the kernels of LKG, and its samples."""
        if self.affinity == "precomputed":
            return "precomputed", X
        if callable(self.affinity):
            return [partial(pairwise_kernels, metric=self.affinity)], X
        if self.affinity.endswith("nearest_neighbors"):
            metric = "precomputed" if self.affinity.startswith("precomputed") else "minkowski"
            neighbours = NearestNeighbors(n_neighbors=self.n_neighbors, metric=metric).fit(X).kneighbors_graph(X)
            return "precomputed", 0.5 * (neighbours + neighbours.T)
        options = {name: getattr(self, name) for name in ("gamma", "degree", "coef0")}
        return [partial(pairwise_kernels, metric=self.affinity, filter_params=True, **options)], X


def spectral_clustering(affinity, **options):
    return SpectralClustering(affinity="precomputed", **options).fit(affinity).labels_


BORROWED = borrow(
    "sklearn.cluster.tests.test_spectral",
    {
        "sklearn.cluster.SpectralClustering": SpectralClustering,
        "sklearn.cluster.spectral_clustering": spectral_clustering,
    },
    without=(
        "test_cluster_qr",
        "test_cluster_qr_permutation_invariance",
        "test_discretize",
        "test_spectral_clustering_not_infinite_loop",
    ),
)
globals().update(BORROWED)

EXPECTED_FAILURES = {
    "test_verbose[*]": "only the command line prints",
    "test_spectral_clustering_with_arpack_amg_solvers": "two clusters are found, but eigen_solver='amg' is no error "
    "where pyamg is not installed: LKG chooses the way to eigenvectors itself",
    "test_spectral_clustering_np_matrix_raises": "an np.matrix is taken for the kernel that it holds; the error is "
    "that it has fewer samples than clusters",
}

# scikit-learn warns of such a graph, LKG counts its components and says so in why_.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Graph is not fully connected:UserWarning"),
    pytest.mark.filterwarnings("ignore:the matrix subclass is not the recommended way:PendingDeprecationWarning"),
]


@pytest.fixture
def global_random_seed():
    return 42


def test_every_expected_failure_is_one_of_the_borrowed_tests(request):
    assert unmatched(request, BORROWED, EXPECTED_FAILURES) == []
