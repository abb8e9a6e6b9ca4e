import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.ops.refinement import refine_graph
from kernelbraid.ops.spectral import spectral_embedding, spectral_vectors
from kernelbraid.solvers.extension import Placement
from kernelbraid.solvers.low_rank.ridge import Expression
from problems import blobs

SPECTRA = ["largest", "magnitude", "unnormalised", "random_walk"]


def gaussian(X, Y):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2) / 4)


@pytest.fixture(scope="module")
def graph():
    X, _ = blobs(n=40)
    return refine_graph(gaussian(X, X), n_neighbors=12)


def test_a_vertex_is_placed_where_it_is(xp, graph):
    for spectrum in SPECTRA:
        S = xp.asarray(graph.toarray())
        placement = Placement.of(S, spectral_vectors(S, 3, spectrum=spectrum), spectrum)
        expected = to_numpy(spectral_embedding(S, 3, spectrum=spectrum))
        found = to_numpy(placement.embed(S))
        np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_a_sparse_graph_places_its_vertices_where_they_are(graph, spectrum):
    vectors = spectral_vectors(graph, 3, spectrum=spectrum)
    placement = Placement.of(graph, vectors, spectrum)
    expected = spectral_embedding(graph, 3, spectrum=spectrum)
    np.testing.assert_allclose(placement.embed(graph.toarray()), expected, atol=1e-7)
    dense = Placement.of(graph.toarray(), vectors, spectrum)
    np.testing.assert_allclose(placement.basis, dense.basis, atol=1e-12)
    np.testing.assert_allclose(placement.values, dense.values, atol=1e-12)
    assert isinstance(placement.basis, np.ndarray)
    assert isinstance(placement.values, np.ndarray)


def test_edges_solve_the_ridge_regression_on_the_fitted_samples(xp):
    X, _ = blobs(n=30)
    new = X[:5] + 0.05
    K, cross = gaussian(X, X), gaussian(new, X)
    found = Expression.of(xp.asarray(K), 0.5, None, "learned").edges(xp.asarray(cross))
    expected = np.maximum(np.linalg.solve(K + 0.5 * np.eye(30), cross.T).T, 0)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-10)


def test_edges_are_refined_as_those_of_the_fit():
    X, _ = blobs(n=30)
    expression = Expression.of(gaussian(X, X), 0.5, 4, "scaled")
    edges = expression.edges(gaussian(X[:6] + 0.05, X))
    assert ((edges > 0).sum(axis=1) == 4).all()
    np.testing.assert_allclose(edges.max(axis=1), 1.0)


def test_a_sample_far_from_all_others_is_joined_with_the_most_similar_one():
    X, _ = blobs(n=20)
    cross = np.full((1, 20), -1.0)
    cross[0, 7] = -0.5
    edges = Expression.of(gaussian(X, X), 1.0, 5, "scaled").edges(cross)
    assert np.flatnonzero(edges[0]).tolist() == [7]
