import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.stats import ortho_group

from kernelbraid import _linalg
from kernelbraid._arrays import to_numpy
from kernelbraid._linalg import DOUBLE, SINGLE, choose_vectors, leading_eigenvectors, outer_eigh, tolerance
from kernelbraid.ops.graphs import component_vectors, normalised_graph, spectral_vectors


def test_leading_vectors_are_those_that_are_not_known():
    for n in [30, 250]:
        for n_known in [0, 2]:
            rng = np.random.default_rng(0)
            Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
            values = np.concatenate([np.ones(n_known), np.linspace(0.95, -1, n - n_known)])
            S = sparse.csr_array((Q * values) @ Q.T)
            found = leading_eigenvectors(S, Q[:, :n_known], 4)
            assert found.shape == (n, 4)
            np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-8)
            np.testing.assert_allclose(Q[:, :n_known].T @ found, 0, atol=1e-8)
            np.testing.assert_allclose(np.diag(found.T @ (S @ found)), values[n_known : n_known + 4], atol=1e-9)
            assert subspace_angles(found, Q[:, n_known : n_known + 4]).max() < 1e-6


@pytest.mark.parametrize(("n", "shuffled"), [(20_000, False), (20_000, True), (300, True)])
def test_the_vectors_of_a_long_path_are_found_though_their_eigenvalues_are_close(n, shuffled):
    order = np.random.default_rng(0).permutation(n) if shuffled else np.arange(n)
    ends = np.stack([order[:-1], order[1:]])
    path = sparse.csr_array((np.ones(n - 1), ends), shape=(n, n))
    path = normalised_graph(path + path.T)
    known = component_vectors(path, 1, np.sqrt(np.bincount(ends.ravel())))
    found = leading_eigenvectors(path, known, 4)
    values = np.cos(np.pi * np.arange(1, 5) / (n - 1))
    np.testing.assert_allclose(np.sum(found * (path @ found), axis=0), values, atol=1e-13)
    np.testing.assert_allclose(path @ found, found * values, atol=1e-9)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(known.T @ found, 0, atol=1e-8)


def test_vectors_that_are_hard_to_tell_apart_are_as_exact_as_products_within_bounds_make_them(monkeypatch):
    n = 4000
    S = sparse.diags_array(1 - np.arange(n) / n * 1e-3)
    for name, value in {"RESTARTS": 2, "BAND": 0}.items():
        monkeypatch.setattr(_linalg, name, value)
    found = leading_eigenvectors(S.tocsr(), np.zeros((n, 0)), 3)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(S @ found, found, atol=1e-3)


@pytest.mark.parametrize("largest", [False, True])
def test_outer_eigenvectors_are_those_of_the_whole_decomposition(largest):
    A = np.random.default_rng(0).normal(size=(220, 220))
    S = A + A.T
    values, vectors = np.linalg.eigh(S)
    ends = slice(-7, None) if largest else slice(0, 7)
    found, basis = outer_eigh(S.copy(), 7, largest=largest)
    np.testing.assert_allclose(found, values[ends])
    np.testing.assert_allclose(np.abs(basis.T @ vectors[:, ends]), np.eye(7), atol=1e-10)


@pytest.mark.parametrize(("n", "count"), [(150, 3), (220, 60)])
def test_small_matrices_and_many_eigenvectors_are_left_to_the_whole_decomposition(n, count):
    assert outer_eigh(np.eye(n), count, largest=True) is None


def test_a_matrix_that_is_not_finite_has_no_outer_eigenvectors():
    S = np.eye(300)
    S[0, 0] = np.nan
    assert outer_eigh(S, 3, largest=True) is None


def test_the_eigenvectors_of_a_complete_graph_are_found_in_any_number():
    for n in range(18, 33):
        known = np.full((n, 1), n**-0.5)
        S = sparse.csr_array((1 - np.eye(n)) / (n - 1))
        for count in range(1, n):
            found = leading_eigenvectors(S, known, count)
            np.testing.assert_allclose(found.T @ found, np.eye(count), atol=1e-12)
            np.testing.assert_allclose(known.T @ found, 0, atol=1e-12)


def rotated(vectors, start, stop, seed):
    """Another basis of the space of some eigenvectors."""
    other = vectors.copy()
    other[:, start:stop] = vectors[:, start:stop] @ ortho_group.rvs(stop - start, random_state=seed)
    return other


@given(st.integers(0, 1000), st.integers(1, 7))
def test_the_choice_does_not_depend_on_the_basis_of_a_space_that_several_eigenvectors_share(seed, count):
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 9)))[0]
    values = np.array([-0.5, -0.1, 0.2, 0.6, 0.6, 0.6, 0.6, 0.9, 1.0])
    found = choose_vectors(values, vectors, count)
    again = choose_vectors(values, rotated(vectors, 3, 7, seed), count)
    np.testing.assert_allclose(again, found, atol=1e-6)
    np.testing.assert_allclose(found.T @ found, np.eye(count), atol=1e-9)
    of_value = np.sum(found * (vectors @ (values[:, None] * (vectors.T @ found))), axis=0)
    np.testing.assert_allclose(of_value, np.sort(values)[::-1][:count], atol=1e-9)


def test_eigenvectors_that_stand_alone_are_returned_as_they_are():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    values = np.array([-0.9, 0.0, 0.1, 0.5, 0.8])
    np.testing.assert_array_equal(choose_vectors(values, vectors, 3), vectors[:, [4, 3, 2]])
    np.testing.assert_array_equal(choose_vectors(values, vectors, 2, rank=np.abs), vectors[:, [0, 4]])
    np.testing.assert_array_equal(choose_vectors(values, vectors, 2, rank=np.negative), vectors[:, [0, 1]])


def test_of_a_value_and_its_negative_the_positive_one_comes_first():
    for rounding in [-1e-12, 0.0, 1e-12]:
        values = np.array([-0.8 + rounding, 0.1, 0.8])
        np.testing.assert_array_equal(choose_vectors(values, np.eye(3), 2, rank=np.abs), np.eye(3)[:, [2, 0]])


def test_known_vectors_come_first_and_the_rest_of_their_space_follows():
    known = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]]).T / np.sqrt(2)
    space = np.column_stack([known, [0.5, -0.5, 0.5, -0.5]])
    values = np.array([-1.0, 1, 1, 1])
    vectors = np.column_stack([[0.5, -0.5, -0.5, 0.5], rotated(space, 0, 3, 1)])
    found = choose_vectors(values, vectors, 3, known=lambda value: known if value == 1 else None)
    np.testing.assert_array_equal(found[:, :2], known)
    np.testing.assert_allclose(np.abs(found[:, 2]), 0.5, atol=1e-12)
    np.testing.assert_array_equal(choose_vectors(values, vectors, 1, known=lambda value: known), known[:, :1])


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_vectors_that_are_no_basis_stay(value):
    vectors = np.full((3, 3), value)
    np.testing.assert_array_equal(choose_vectors(np.ones(3), vectors, 2), vectors[:, :2])


def test_single_precision_tells_fewer_eigenvalues_apart(xp):
    assert tolerance(xp.float64, xp) == DOUBLE
    assert tolerance(xp.float32, xp) == SINGLE


def many_parts(seed=0):
    """A graph of more components than are asked for: pairs, triangles, a chain, loops and an isolated vertex."""
    rng = np.random.default_rng(seed)
    graph = np.zeros((30, 30))
    for start, size in ((0, 2), (2, 2), (4, 3), (7, 3), (10, 6)):
        graph[start : start + size, start : start + size] = rng.uniform(0.5, 1, (size, size))
    graph[np.arange(16, 29), np.arange(16, 29)] = rng.uniform(0.5, 1, 13)
    order = rng.permutation(30)
    return (graph + graph.T)[np.ix_(order, order)]


def test_rounding_does_not_choose_among_many_components(xp):
    for spectrum in ["largest", "magnitude", "random_walk", "unnormalised"]:
        for count in [2, 4, 12]:
            graph = many_parts()
            noise = np.random.default_rng(1).uniform(-1e-12, 1e-12, graph.shape)
            rounded = graph * (1 + noise + noise.T)
            found = to_numpy(spectral_vectors(xp.asarray(graph), count, spectrum=spectrum))
            again = to_numpy(spectral_vectors(xp.asarray(rounded), count, spectrum=spectrum))
            np.testing.assert_allclose(again, found, atol=1e-9)
            sizes = np.count_nonzero(np.abs(found) > 1e-9, axis=0)
            assert sizes[0] == 6  # the largest component comes first
            assert (np.diff(sizes) <= 0).all()
