import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import to_numpy
from kernelbraid.ops.closed_forms import kernel_distances
from kernelbraid.solvers.graph_fusion import FusionProblem, fuse_graphs, update_graph, update_views, update_weights
from kernelbraid.solvers.iterate import Status
from problems import blobs, relative_gap, rival, rival_views

X, y = blobs(n=36)
rng = np.random.default_rng(0)
VIEWS = [X + rng.normal(size=X.shape), X[:, :4] + rng.normal(size=(36, 4))]


def distances(views):
    return [kernel_distances(view @ view.T) for view in views]


def problem(D=None, k=3, n_neighbors=8, strength=1.0, *, weighted=False, by_order=True):
    return FusionProblem(distances(VIEWS) if D is None else D, k, n_neighbors, strength, weighted, by_order)


def test_the_start_is_the_mean_of_the_graphs_of_the_views():
    state = problem().start()
    np.testing.assert_allclose(state.U, (state.S[0] + state.S[1]) / 2, atol=1e-12)
    np.testing.assert_allclose(state.U.sum(axis=1), 1)
    assert state.w.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_common_graph_minimises_its_part_of_the_objective(weighted):
    posed = problem(weighted=weighted)
    state = posed.start()
    S, w, strength = state.S, np.array([0.3, 0.7]), 0.5
    U = update_graph(posed, S, w, state.F, strength)
    E = ((state.F[:, None] - state.F[None]) ** 2).sum(axis=2)
    inside = (S[0] > 0) | (S[1] > 0)
    if weighted:
        gradient = sum(2 * weight * (U - graph) for weight, graph in zip(w, S, strict=True)) + strength * E
    else:
        gradient = sum(2 * (U - graph + strength / (4 * weight) * E) for weight, graph in zip(w, S, strict=True))
    np.testing.assert_allclose(U.sum(axis=1), 1)
    assert (U[~inside] == 0).all()
    for row in range(36):  # on the simplex: the same derivative at all edges, none lower elsewhere
        price = gradient[row][U[row] > 0]
        np.testing.assert_allclose(price, price[0], atol=1e-9)
        assert (gradient[row][inside[row]] >= price[0] - 1e-9).all()


def test_a_sample_that_is_near_to_nobody_has_no_edge():
    posed, S = problem(), [graph.copy() for graph in problem().start().S]
    for graph in S:
        graph[5] = 0
    U = update_graph(posed, S, np.ones(2), posed.start().F, 1.0)
    assert not U[5].any()
    np.testing.assert_allclose(np.delete(U, 5, axis=0).sum(axis=1), 1)


def test_graphs_of_views_approach_the_common_one():
    posed = problem([D / 50 for D in distances(VIEWS)], weighted=True)
    state = posed.start()
    S = update_views(posed, state)
    assert sum(np.linalg.norm(state.U - graph) for graph in S) < sum(np.linalg.norm(state.U - g) for g in state.S)
    for graph in S:
        np.testing.assert_allclose(graph.sum(axis=1), 1)


def test_weights_are_inverse_distances():
    state = problem().start()
    expected = [1 / (2 * np.linalg.norm(state.U - graph)) for graph in state.S]
    np.testing.assert_allclose(update_weights(state.U, state.S), expected)
    assert np.isfinite(update_weights(state.U, [state.U])).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_falls_into_as_many_components_as_clusters(weighted):
    for k in (2, 3, 5):
        solution = fuse_graphs(problem(k=k, weighted=weighted), max_iter=40, tol=1e-10)
        assert solution.status is Status.CONVERGED
        assert connected_components(solution.state.U, directed=False)[0] == k


def test_a_strength_that_is_too_large_is_halved():
    path = []
    far = problem(k=5, strength=2.0**12)
    solution = fuse_graphs(far, max_iter=60, tol=1e-10, watch=lambda n, state: path.append(state.strength) and None)
    assert min(path) < 2.0**12
    assert solution.status is Status.CONVERGED


def test_every_array_library_takes_the_same_path(foreign):
    expected = fuse_graphs(problem(), max_iter=20, tol=1e-10)
    found = fuse_graphs(problem([foreign.asarray(D) for D in distances(VIEWS)]), max_iter=20, tol=1e-10)
    assert found.n_iter == expected.n_iter
    np.testing.assert_allclose(to_numpy(found.state.U), expected.state.U, atol=1e-8)


def test_few_samples_have_a_graph():
    for n in [1, 2, 3]:
        D = [kernel_distances(view[:n] @ view[:n].T) for view in VIEWS]
        state = fuse_graphs(problem(D, 1), max_iter=5, tol=1e-10).state
        assert connected_components(state.U, directed=False)[0] == 1


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k"), [("webkb203", 4), ("ngs", 5), ("bbc", 5), ("leaves100", 100)])
def test_graph_weights_and_clusters_are_those_of_the_authors_code(name, k):
    known, seen = rival("gmc", name), []
    posed = problem(distances(map(standardised, rival_views(name))), k, 15)
    solution = fuse_graphs(posed, max_iter=20, tol=1e-10, watch=lambda n, state: seen.append(state.w) and None)
    U, n = solution.state.U, len(known["labels"])
    theirs = sparse.csr_array((known["U_data"], known["U_indices"], known["U_indptr"]), shape=(n, n)).toarray()
    assert relative_gap(np.array(seen), known["weights"]) < 1e-7
    assert relative_gap(U, theirs) < 1e-6
    labels = connected_components(U, directed=False)[1]
    assert len(set(zip(labels, known["labels"], strict=True))) == k


def standardised(view):
    centred = view - view.mean(axis=1, keepdims=True)
    deviation = centred.std(axis=1, ddof=1, keepdims=True)
    return centred / np.where(deviation > 0, deviation, 1)


def test_two_samples_are_joined(xp):
    for n in (1, 2):
        D = xp.asarray(np.ones((n, n)) - np.eye(n))
        problem = FusionProblem([D], 1, n_neighbors=3, strength=1.0, weighted=False, by_order=False)
        np.testing.assert_array_equal(to_numpy(problem.graph(0, D)), np.ones((n, n)) - np.eye(n))
