import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold import spectral_embedding as sklearn_embedding

from kernelbraid import _linalg
from kernelbraid._arrays import to_numpy
from kernelbraid.ops import normalised_graph, spectral_embedding, symmetrise
from kernelbraid.ops.spectral import laplacian, spectral_vectors


def random_graph(n, seed=0):
    rng = np.random.default_rng(seed)
    return symmetrise(rng.random((n, n)) * (rng.random((n, n)) < 0.5))


def two_blocks(n=5):
    return np.kron(np.eye(2), np.ones((n, n)))


def test_separated_blocks_become_two_orthogonal_points():
    E = spectral_embedding(two_blocks(), 2)
    np.testing.assert_allclose(E @ E.T, two_blocks(), atol=1e-9)


@given(st.integers(2, 8), st.integers(0, 50))
def test_normalised_graph_has_spectrum_within_one_and_root_degrees_as_top_eigenvector(n, seed):
    S = random_graph(n, seed) + 1e-3
    N = normalised_graph(S)
    values = np.linalg.eigvalsh(N)
    assert values[-1] == pytest.approx(1.0, abs=1e-9)
    assert values[0] >= -1 - 1e-9
    root = np.sqrt(S.sum(axis=1))
    np.testing.assert_allclose(N @ root, root, rtol=1e-9)


def test_embedding_does_not_depend_on_the_scale_of_the_graph():
    S = random_graph(9, 3)
    np.testing.assert_allclose(spectral_embedding(S * 1e150, 3), spectral_embedding(S, 3), atol=1e-9)


def test_rows_have_unit_length_and_isolated_vertices_stay_finite():
    S = random_graph(8, 1)
    S[2] = S[:, 2] = 0
    E = spectral_embedding(S, 3)
    assert np.isfinite(E).all()
    lengths = np.linalg.norm(E, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-12) | (lengths == 0))


def test_magnitude_takes_singular_vectors_and_largest_takes_eigenvectors():
    S = np.array([[0.0, 1.0, 0.1], [1.0, 0.0, 0.1], [0.1, 0.1, 0.0]])  # its most negative eigenvalue is second in size
    N = normalised_graph(S)
    U = np.linalg.svd(N)[0][:, :2]
    by_magnitude = spectral_embedding(S, 2, spectrum="magnitude")
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    np.testing.assert_allclose(by_magnitude @ by_magnitude.T, U @ U.T, atol=1e-9)
    V = np.linalg.eigh(N)[1][:, -2:]
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    by_value = spectral_embedding(S, 2, spectrum="largest")
    np.testing.assert_allclose(by_value @ by_value.T, V @ V.T, atol=1e-9)
    assert not np.allclose(by_value @ by_value.T, by_magnitude @ by_magnitude.T)


@pytest.mark.parametrize("spectrum", ["magnitude", "largest", "unnormalised"])
def test_backends_agree(xp, spectrum):
    S = random_graph(10, 2)
    found = spectral_embedding(xp.asarray(S), 3, spectrum=spectrum)
    np.testing.assert_allclose(to_numpy(found), spectral_embedding(S, 3, spectrum=spectrum), atol=1e-9)


def test_a_laplacian_is_degrees_less_edges_in_the_unit_of_the_largest_edge():
    S = random_graph(7, 4) - 0.2  # negative edges are allowed
    expected = (np.diag(S.sum(axis=1)) - S) / np.abs(S).max()
    np.testing.assert_allclose(laplacian(S), expected, atol=1e-14)
    np.testing.assert_allclose(laplacian(S).sum(axis=1), 0, atol=1e-13)


@given(st.integers(2, 8), st.integers(0, 50))
def test_the_laplacian_of_a_nonnegative_graph_has_no_negative_eigenvalue(n, seed):
    L = laplacian(random_graph(n, seed))
    assert np.linalg.eigvalsh(L)[0] >= -1e-12
    np.testing.assert_array_equal(L, L.T)


def test_laplacians_keep_their_argument_and_survive_an_empty_graph():
    S = random_graph(5, 6)
    before = S.copy()
    laplacian(S)
    spectral_vectors(S, 2, spectrum="unnormalised")
    np.testing.assert_array_equal(S, before)
    np.testing.assert_array_equal(laplacian(np.zeros((3, 3))), 0)


@given(st.integers(3, 9), st.integers(0, 50))
def test_unnormalised_vectors_are_orthonormal_and_minimise_the_smoothness(n, seed):
    S = random_graph(n, seed) - 0.1
    F = spectral_vectors(S, 2, spectrum="unnormalised")
    np.testing.assert_allclose(F.T @ F, np.eye(2), atol=1e-10)
    L = np.diag(S.sum(axis=1)) - S
    assert np.trace(F.T @ L @ F) == pytest.approx(np.linalg.eigvalsh(L)[:2].sum(), abs=1e-10)
    assert np.all(F.max(axis=0) >= -F.min(axis=0) - 1e-12)  # the largest entry of each is positive


def test_unnormalised_vectors_of_blocks_are_constant_on_them():
    F = spectral_vectors(two_blocks(), 2, spectrum="unnormalised")
    np.testing.assert_allclose(F @ F.T, two_blocks() / 5, atol=1e-9)


def test_unnormalised_vectors_do_not_depend_on_the_scale_of_the_graph():
    S = random_graph(9, 3)
    expected = spectral_vectors(S, 3, spectrum="unnormalised")
    for size in (1e-200, 1e200):
        np.testing.assert_allclose(spectral_vectors(S * size, 3, spectrum="unnormalised"), expected, atol=1e-8)


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_graphs_with_few_edges_are_embedded_as_all_others(monkeypatch, parts):
    rng = np.random.default_rng(parts)
    X = rng.normal(size=(420, 3)) + 20 * np.arange(420)[:, None] % parts
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    graph = (distances <= np.sort(distances, axis=1)[:, 7:8]).astype(float)
    graph = np.maximum(graph, graph.T) - np.eye(420)
    dense = spectral_vectors(graph, 5)
    monkeypatch.setattr(_linalg, "SPARSE_ORDER", 100)
    thin = spectral_vectors(graph, 5)
    np.testing.assert_allclose(thin.T @ thin, np.eye(5), atol=1e-8)
    N = normalised_graph(graph)
    np.testing.assert_allclose(np.diag(thin.T @ N @ thin), np.diag(dense.T @ N @ dense), atol=1e-8)


def test_random_walk_is_what_scikit_learn_embeds():
    rng = np.random.default_rng(3)
    graph = rng.random((40, 40))
    graph = (graph + graph.T) / 2
    np.fill_diagonal(graph, 0)
    ours = spectral_embedding(graph, 4, spectrum="random_walk")
    theirs = sklearn_embedding(graph, n_components=4, drop_first=False, random_state=0)
    lengths = np.linalg.norm(ours, axis=0), np.linalg.norm(theirs, axis=0)
    ours, theirs = ours / lengths[0], theirs / lengths[1]
    np.testing.assert_allclose(np.abs(np.sum(ours * theirs, axis=0)), 1, atol=1e-8)


def test_random_walk_is_constant_on_components_and_zero_on_isolated_vertices():
    graph = np.zeros((5, 5))
    graph[:2, :2] = graph[2:4, 2:4] = 1
    rows = spectral_embedding(graph, 2, spectrum="random_walk")
    np.testing.assert_allclose(rows[0], rows[1])
    np.testing.assert_allclose(rows[2], rows[3])
    assert not rows[4].any()
