import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.manifold import spectral_embedding as sklearn_embedding

from kernelbraid import _arrays, _linalg
from kernelbraid._arrays import to_numpy
from kernelbraid.ops.graphs import (
    degrees,
    embed_rows,
    laplacian,
    normalised_graph,
    refine_columns,
    refine_graph,
    spectral_embedding,
    spectral_vectors,
    strongest_edges,
    symmetrise,
    with_strongest_edges,
)
from problems import dense


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


def test_backends_agree(foreign):
    for spectrum in ["magnitude", "largest", "unnormalised"]:
        S = random_graph(10, 2)
        found = spectral_embedding(foreign.asarray(S), 3, spectrum=spectrum)
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


@pytest.mark.parametrize("spectrum", ["largest", "unnormalised"])
@pytest.mark.parametrize("shift", [0.0, 0.3])  # apart, and joined to one component
def test_dense_vectors_are_the_same_whether_or_not_the_others_are_found(spectrum, shift, monkeypatch):
    part = random_graph(60)
    graph = np.kron(np.eye(4), part) + shift  # copies: eigenvalues in groups of three or four
    found = [spectral_vectors(graph, count, spectrum=spectrum) for count in (3, 5, 9)]
    monkeypatch.setattr(_linalg, "DENSE_ORDER", 1000)
    for vectors in found:
        whole = spectral_vectors(graph, vectors.shape[1], spectrum=spectrum)
        np.testing.assert_allclose(np.abs(vectors.T @ whole), np.eye(vectors.shape[1]), atol=1e-9)


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


def neighbour_graph(sizes, k=5, isolated=0, seed=0):
    """Nearest neighbours in clouds far apart, as a csr array; each cloud is a component, in any order of vertices."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        X = rng.normal(size=(size, 2))
        distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        A = (distances <= np.sort(distances, axis=1)[:, k : k + 1]) * rng.uniform(0.2, 1, (size, size))
        A += np.diag(np.full(size - 1, 0.1), 1)  # a path through all of them: one component, surely
        np.fill_diagonal(A, 0)
        blocks.append(np.maximum(A, A.T))
    blocks += [np.zeros((1, 1))] * isolated
    graph = sparse.block_diag(blocks, format="csr").toarray()
    order = rng.permutation(len(graph))
    return sparse.csr_array(graph[np.ix_(order, order)])


def assert_leading(vectors, graph, count):
    """The vectors are orthonormal, each is an eigenvector, and no eigenvalue that is left out is larger."""
    N = normalised_graph(graph.toarray())
    values, reference = np.linalg.eigh(N)
    values, reference = values[::-1], reference[:, ::-1]
    found = np.sum(vectors * (N @ vectors), axis=0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-8)
    np.testing.assert_allclose(N @ vectors, vectors * found, atol=1e-7)
    np.testing.assert_allclose(found, values[:count], atol=1e-10)
    last = np.count_nonzero(values > values[count - 1] + 1e-6)  # those before the last eigenvalue are all there
    if last:
        assert subspace_angles(vectors[:, :last], reference[:, :last]).max() < 1e-6


def test_sparse_vectors_are_those_of_the_decomposition():
    for sizes, isolated in [
        ([300], 0),
        ([300], 4),
        ([150, 90, 60], 0),
        ([120, 90, 60, 40, 30], 2),
        ([30] * 10, 0),
        ([30] * 12, 3),
    ]:
        for count in [1, 2, 5, 8]:
            graph = neighbour_graph(sizes, isolated=isolated)
            expected = graph.toarray()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_linalg.linalg, "eigh", lambda *_, **__: pytest.fail("decomposed the whole matrix"))
                vectors = spectral_vectors(graph, count)
            assert_leading(vectors, graph, count)
            np.testing.assert_array_equal(graph.toarray(), expected)
            assert np.all(vectors.max(axis=0) >= -vectors.min(axis=0) - 1e-12)  # the largest entry of each is positive


@pytest.mark.parametrize("n", [2, 20, 199])
def test_small_sparse_graphs_are_decomposed(n, monkeypatch):
    monkeypatch.setattr(_linalg, "eigsh", lambda *_, **__: pytest.fail("iterated"))
    graph = neighbour_graph([n], k=min(5, n - 1))
    assert_leading(spectral_vectors(graph, min(4, n)), graph, min(4, n))


def test_many_vectors_are_decomposed(monkeypatch):
    monkeypatch.setattr(_linalg, "eigsh", lambda *_, **__: pytest.fail("iterated"))
    graph = neighbour_graph([150, 70])
    assert_leading(spectral_vectors(graph, 60), graph, 60)


def test_all_vectors_of_a_sparse_graph_are_a_basis():
    graph = neighbour_graph([9, 6], k=3, isolated=2)
    assert_leading(spectral_vectors(graph, 17), graph, 17)


def fail_to_converge(*_, **__):
    raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))


def converge_to_nonsense(operator, count, **_):
    return np.linspace(0.9, 1, count), np.linalg.qr(np.random.default_rng(0).normal(size=(operator.shape[0], count)))[0]


@pytest.mark.parametrize("products", [fail_to_converge, converge_to_nonsense])
@pytest.mark.parametrize(("sizes", "isolated"), [([300], 0), ([150, 90, 60], 3)])
def test_where_products_do_not_give_eigenvectors_the_decomposition_does(monkeypatch, products, sizes, isolated):
    monkeypatch.setattr(_linalg, "eigsh", products)
    graph = neighbour_graph(sizes, isolated=isolated)
    assert_leading(spectral_vectors(graph, 6), graph, 6)


def test_sparse_vectors_of_components_come_larger_ones_first_and_are_the_roots_of_their_degrees():
    graph = neighbour_graph([20, 50, 30])
    vectors = spectral_vectors(graph, 3)
    np.testing.assert_array_equal(np.count_nonzero(vectors, axis=0), [50, 30, 20])
    for vector in vectors.T:
        on = vector > 0
        roots = np.sqrt(graph.toarray()[on].sum(axis=1))
        np.testing.assert_allclose(vector[on], roots / np.linalg.norm(roots))


def test_a_sparse_graph_has_the_embedding_of_a_dense_one():
    for spectrum in ["largest", "random_walk", "magnitude", "unnormalised"]:
        for count in [1, 4]:
            graph = neighbour_graph([250])
            thin = spectral_embedding(graph, count, spectrum=spectrum)
            full = spectral_embedding(graph.toarray(), count, spectrum=spectrum)
            np.testing.assert_allclose(thin, full, atol=1e-6)


def test_a_sparse_graph_may_have_any_scale():
    graph = neighbour_graph([120, 100])
    expected = spectral_vectors(graph, 5)
    for size in (1e-200, 1e200, 1e307):
        np.testing.assert_allclose(spectral_vectors(graph * size, 5), expected, atol=1e-7)


def test_a_sparse_graph_without_edges_has_finite_vectors_and_rows_of_length_one_or_zero():
    empty = sparse.csr_array((6, 6))
    vectors = spectral_vectors(empty, 3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    assert np.isfinite(spectral_embedding(empty, 3)).all()
    assert not spectral_embedding(empty, 3, spectrum="random_walk").any()


@pytest.mark.parametrize("n", [12, 60])
def test_rounding_does_not_choose_among_copies_of_a_component(n):
    part = neighbour_graph([n]).toarray()
    graph = np.kron(np.eye(5), part)
    noise = np.random.default_rng(0).uniform(-1e-12, 1e-12, graph.shape)
    rounded = graph * (1 + noise + noise.T)
    found = spectral_vectors(sparse.csr_array(graph), 7)  # five components, and two of the five second eigenvectors
    np.testing.assert_allclose(spectral_vectors(sparse.csr_array(rounded), 7), found, atol=1e-6)
    assert_leading(found, sparse.csr_array(graph), 7)


def test_sparse_vectors_have_the_precision_of_the_graph_and_are_as_good_as_double():
    graph = neighbour_graph([150, 90])
    single = spectral_vectors(graph.astype(np.float32), 5)
    assert single.dtype == np.float32
    assert subspace_angles(single.astype(float), spectral_vectors(graph, 5)).max() < 1e-3


def test_sparse_vectors_are_the_same_every_time():
    graph = neighbour_graph([250])
    np.testing.assert_array_equal(spectral_vectors(graph, 5), spectral_vectors(graph, 5))


@pytest.mark.parametrize("isolated", [0, 3])
def test_sparse_and_dense_graphs_are_normalised_alike(isolated):
    graph = neighbour_graph([40, 20], isolated=isolated)
    thin = normalised_graph(graph)
    assert sparse.issparse(thin)
    np.testing.assert_allclose(thin.toarray(), normalised_graph(graph.toarray()), atol=1e-15)
    np.testing.assert_allclose(degrees(graph), degrees(graph.toarray()))


def test_rows_of_a_random_walk_are_eigenvectors_of_it_for_sparse_graphs_too():
    graph = neighbour_graph([220])
    rows = embed_rows(graph, spectral_vectors(graph, 3), "random_walk")
    walk = graph.toarray() / degrees(graph)[:, None]
    values = np.sum(rows * (walk @ rows), axis=0) / np.sum(rows**2, axis=0)
    np.testing.assert_allclose(walk @ rows, rows * values, atol=1e-7)


WEIGHTS = ["learned", "scaled", "binary"]


@pytest.fixture
def coefficients():
    return np.random.default_rng(0).normal(size=(30, 30))


def slow_refinement(A, n_neighbors, edge_weights):
    """The definition, entry by entry."""
    n = len(A)
    kept = np.zeros((n, n))
    for j in range(n):
        column = np.where(np.arange(n) == j, 0.0, np.maximum(A[:, j], 0.0))
        last = np.sort(column)[-min(n_neighbors, n)]
        chosen = (column > 0) & (column >= last)
        if edge_weights == "scaled" and chosen.any():
            column = column / column.max()
        kept[chosen, j] = 1.0 if edge_weights == "binary" else column[chosen]
    return (kept + kept.T) / 2


def test_without_a_number_of_neighbours_only_negative_entries_go(coefficients):
    positive = np.maximum(coefficients, 0)
    np.testing.assert_allclose(refine_graph(coefficients), (positive + positive.T) / 2)


def test_a_number_of_neighbours_makes_the_same_sparse_graph_of_every_kind_of_array(xp, coefficients):
    for edge_weights in WEIGHTS:
        for n_neighbors in [1, 4, 29, 30, 100]:
            graph = refine_graph(xp.asarray(coefficients), n_neighbors=n_neighbors, edge_weights=edge_weights)
            assert isinstance(graph, sparse.csr_array)
            assert graph.data.min() > 0
            expected = slow_refinement(coefficients, n_neighbors, edge_weights)
            np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-14)
            assert (graph != graph.T).nnz == 0


def test_without_a_number_the_graph_stays_in_its_library(xp, coefficients):
    for edge_weights in WEIGHTS:
        A = xp.asarray(coefficients)
        graph = refine_graph(A, edge_weights=edge_weights)
        assert type(graph) is type(A)
        columns = refine_columns(np.maximum(coefficients, 0), n_neighbors=None, edge_weights=edge_weights)
        np.testing.assert_allclose(to_numpy(graph), (columns + columns.T) / 2)


@given(st.integers(1, 12), st.integers(1, 14), st.sampled_from(WEIGHTS), st.integers(0, 100))
def test_entries_that_are_equal_or_zero_are_kept_as_the_definition_says(n, n_neighbors, edge_weights, seed):
    A = np.random.default_rng(seed).integers(-1, 3, size=(n, n)).astype(float)
    graph = refine_graph(A, n_neighbors=n_neighbors, edge_weights=edge_weights)
    np.testing.assert_allclose(graph.toarray(), slow_refinement(A, n_neighbors, edge_weights))


@pytest.mark.parametrize("size", [1, 70, 30 * 7, 30 * 30])
def test_blocks_of_columns_make_no_difference(monkeypatch, xp, coefficients, size):
    expected = refine_graph(coefficients, n_neighbors=4)
    monkeypatch.setattr(_arrays, "BLOCK_SIZE", size)
    graph = refine_graph(xp.asarray(coefficients), n_neighbors=4)
    np.testing.assert_array_equal(graph.toarray(), expected.toarray())


def test_the_coefficients_stay_as_they_are_and_give_the_graph_their_precision(xp, coefficients):
    A = xp.asarray(coefficients.astype(np.float32))
    graph = refine_graph(A, n_neighbors=4, edge_weights="scaled")
    assert graph.dtype == np.float32
    np.testing.assert_array_equal(to_numpy(A), coefficients.astype(np.float32))


def test_every_sample_keeps_its_strongest_neighbours(coefficients):
    graph = dense(refine_graph(coefficients, n_neighbors=4))
    assert np.array_equal(graph, graph.T)
    assert not graph.diagonal().any()
    outside = np.where(np.eye(30, dtype=bool), -np.inf, coefficients)
    for column in range(30):
        strongest = set(np.argsort(-outside[:, column])[:4])
        chosen_by = {row for row in range(30) if column in np.argsort(-outside[:, row])[:4]}
        assert set(np.flatnonzero(graph[:, column])) == strongest | chosen_by


def test_the_strongest_edges_of_a_column_are_a_row(coefficients):
    edges = strongest_edges(coefficients, 3).toarray()
    off = np.where(np.eye(30, dtype=bool), 0.0, coefficients)
    assert (np.count_nonzero(edges, axis=1) <= 3).all()
    np.testing.assert_array_equal(edges[edges > 0], off.T[edges > 0])
    np.testing.assert_array_equal(edges.max(axis=1), off.max(axis=0))


def test_a_column_with_fewer_positive_entries_keeps_those():
    A = np.zeros((5, 5))
    A[1, 0] = A[0, 1] = 2.0
    assert refine_graph(A, n_neighbors=3).sum() == 4.0


def test_no_positive_entry_leaves_an_empty_graph():
    for weights in WEIGHTS:
        assert refine_graph(-np.ones((4, 4)), n_neighbors=2, edge_weights=weights).nnz == 0


def test_as_many_neighbours_as_samples_are_all(coefficients):
    all_but_self = dense(refine_graph(coefficients, n_neighbors=29))
    assert np.count_nonzero(all_but_self.diagonal()) == 0
    np.testing.assert_allclose(all_but_self, dense(refine_graph(coefficients, n_neighbors=100)))


def test_scaled_columns_have_a_strongest_edge_of_one(coefficients):
    graph = dense(refine_graph(coefficients, n_neighbors=4, edge_weights="scaled"))
    assert graph.max() <= 1
    assert (graph.max(axis=0) >= 0.5).all()  # its own strongest edge counts one half at least


def test_the_scale_of_a_column_does_not_matter_when_it_is_divided_out(coefficients):
    factors = np.random.default_rng(1).uniform(0.1, 10, size=30)
    for weights in ("scaled", "binary"):
        once = dense(refine_graph(coefficients, n_neighbors=4, edge_weights=weights))
        again = refine_graph(coefficients * factors, n_neighbors=4, edge_weights=weights)
        np.testing.assert_allclose(dense(again), once)


def test_binary_edges_count_one_or_one_half(coefficients):
    graph = dense(refine_graph(coefficients, n_neighbors=4, edge_weights="binary"))
    assert set(np.unique(graph)) == {0.0, 0.5, 1.0}


def test_the_strongest_edges_of_either_end_stay_and_the_graph_that_was_given_is_as_before():
    A = np.random.default_rng(0).random((12, 12))
    A = np.triu(A, 1) + np.triu(A, 1).T
    given = sparse.csr_array(A)
    kept = with_strongest_edges(given, 3).toarray()
    strong = np.sort(A, axis=1)[:, [-3]] <= A
    np.testing.assert_array_equal(kept, np.where(strong | strong.T, A, 0.0))
    np.testing.assert_array_equal(given.toarray(), A)
