from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelbraid._arrays import namespace, to_numpy
from kernelbraid.kernels import stack_given
from kernelbraid.ops.closed_forms import kernel_distances
from kernelbraid.solvers.diffusion import (
    DiffusionProblem,
    contrast,
    diffuse,
    spread,
    spread_common,
    update_weights,
    view_graph,
    with_contrast,
)
from kernelbraid.solvers.graph_fusion import view_distances
from kernelbraid.solvers.iterate import Status
from problems import blobs, dense, relative_gap, rival, rival_views, triangle

X, y = blobs(n=36)
rng = np.random.default_rng(0)
VIEWS = [X + rng.normal(size=X.shape), X[:, :4] + rng.normal(size=(36, 4)), rng.normal(size=(36, 5))]


def problem(xp=None, *, mu=0.3, evenness=19.0, common=True):
    D = [kernel_distances(view @ view.T) for view in VIEWS]
    D = D if xp is None else [xp.asarray(one) for one in D]
    return DiffusionProblem([view_graph(one, 7, 0.5, by_order=True) for one in D], D[0], mu, evenness, common)


def test_a_graph_joins_the_nearest_and_is_normalised(xp):
    D = kernel_distances(VIEWS[0] @ VIEWS[0].T)
    S = dense(view_graph(xp.asarray(D), 7, 0.5, by_order=True))
    order = np.argsort(D, axis=1)[:, :7]
    kept = np.zeros_like(D)
    np.put_along_axis(kept, order, np.take_along_axis(np.exp(-((D / D.max()) ** 2) / 0.25), order, axis=1), axis=1)
    W = (kept + kept.T) / 2
    roots = np.sqrt(W.sum(axis=1))
    np.testing.assert_allclose(S, W / np.outer(roots, roots), atol=1e-12)


@pytest.mark.parametrize("by_order", [False, True])
def test_more_neighbours_than_samples_are_all_of_them_but_one(by_order):
    for n in [1, 2, 3, 20]:
        view = VIEWS[0][:n]
        S = dense(view_graph(kernel_distances(view @ view.T), 99, 0.5, by_order=by_order))
        assert np.isfinite(S).all()
        assert np.linalg.eigvalsh(S)[-1] == pytest.approx(1)


def test_samples_that_are_equally_far_are_joined_to_none_where_the_order_shall_not_choose():
    np.testing.assert_allclose(dense(view_graph(1 - np.eye(9), 4, 0.5, by_order=False)), np.eye(9), atol=1e-12)


def test_the_contrast_is_how_much_nearer_neighbours_are(xp):
    D = kernel_distances(VIEWS[0] @ VIEWS[0].T)
    nearest = [np.sort(row)[1:7].mean() for row in D]
    expected = 1 - np.mean(nearest) / D[~np.eye(36, dtype=bool)].mean()
    assert contrast(xp.asarray(D), 7) == pytest.approx(expected)
    assert contrast(xp.asarray(1 - np.eye(9)), 4) == pytest.approx(0)
    assert contrast(xp.zeros((5, 5)), 4) == 0


def test_kernels_of_little_contrast_are_no_views_unless_all_are_alike():
    assert with_contrast([0.0, 0.1, 0.5, 0.4]).tolist() == [False, False, True, True]
    assert with_contrast([0.01, 0.02]).tolist() == [True, True]
    assert with_contrast([0.0, 0.0]).tolist() == [True, True]


def test_one_view_alone_spreads_by_itself():
    one = DiffusionProblem(problem().graphs[:1], problem().like, 0.3, 19.0, common=False)
    np.testing.assert_allclose(
        diffuse(one, max_iter=9, tol=0.0).state.mean(),
        diffuse(DiffusionProblem(one.graphs, one.like, 0.3, 19.0, common=True), max_iter=9, tol=0.0).state.mean(),
    )


def test_costs_are_differences_of_pairs_over_pairs_of_edges():
    posed, A = problem(), rng.normal(size=(36, 36))
    A = A + A.T
    S = dense(posed.graphs[1])
    explicit = A.ravel() @ (A.ravel() - np.kron(S, S) @ A.ravel())
    assert posed.costs(A)[1] == pytest.approx(explicit)


def test_the_fixed_point_minimises_the_objective_over_the_similarities():
    posed, b = problem(mu=1.0), np.array([0.5, 0.3, 0.2])
    A = np.eye(36)
    for _ in range(10):
        A = spread_common(posed, A, b)
    gradient = 2 * sum(w * (A - spread(S, A)) for w, S in zip(b, posed.graphs, strict=True)) + 2 * (A - np.eye(36))
    np.testing.assert_allclose(gradient, 0, atol=1e-10)


def test_weights_minimise_their_part_of_the_objective():
    posed, costs = problem(evenness=5.0), np.array([3.0, 4.0, 9.0])
    b = update_weights(posed, costs)
    sums = {"type": "eq", "fun": lambda b: b.sum() - 1}
    found = minimize(lambda b: b @ costs + 2.5 * b @ b, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints=sums)
    np.testing.assert_allclose(b, found.x, atol=1e-6)
    assert b[2] == 0


def test_the_objective_never_rises_and_the_noise_counts_least():
    seen = []
    solution = diffuse(problem(), max_iter=200, tol=1e-9, watch=lambda n, state: seen.append(state) and None)
    assert solution.status is Status.CONVERGED
    values = [state.progress.objective for state in seen]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert np.argmin(solution.state.b) == 2
    assert solution.state.mean().min() >= 0


def test_each_view_ends_with_what_the_others_know():
    posed = problem(common=False)
    state = diffuse(posed, max_iter=100, tol=1e-10).state
    share = 1 / 1.3
    for v, S in enumerate(posed.graphs):
        others = (sum(state.A) - state.A[v]) / 2
        np.testing.assert_allclose(state.A[v], share * spread(S, others) + (1 - share) * np.eye(36), atol=1e-8)
    np.testing.assert_allclose(state.mean(), sum(state.A) / 3)
    np.testing.assert_allclose(state.b, 1 / 3)


def test_every_array_library_takes_the_same_path(foreign):
    for common in [False, True]:
        expected = diffuse(problem(common=common), max_iter=20, tol=1e-6)
        found = diffuse(problem(foreign, common=common), max_iter=20, tol=1e-6)
        assert namespace(found.state.mean()) is foreign
        np.testing.assert_allclose(to_numpy(found.state.mean()), expected.state.mean(), atol=1e-10)
        np.testing.assert_allclose(found.state.b, expected.state.b, atol=1e-10)


@pytest.mark.reference
@pytest.mark.parametrize("name", ["webkb203", "ngs", "bbc"])
def test_similarities_and_weights_are_those_of_the_authors_code(name):
    known, seen = rival("cgd", name), []
    kernels = stack_given(np.stack([view @ view.T for view in rival_views(name)]))
    D = list(view_distances(kernels, [1.0] * kernels.n_kernels, centred=False))
    posed = DiffusionProblem([view_graph(one, 16, 0.5, by_order=True) for one in D], D[0], 0.3, 19.0, common=True)
    state = diffuse(posed, max_iter=10, tol=0.0, watch=lambda n, state: seen.append(state) and None).state
    assert relative_gap(np.array([one.b for one in seen]), known["weights"]) < 1e-9
    assert relative_gap(np.array([one.progress.objective for one in seen]), known["objective"]) < 1e-10
    assert relative_gap(state.A[0][known["A_sample_i"], known["A_sample_j"]], known["A_sample"]) < 1e-9
    assert relative_gap(triangle(state.A[0]), known["A_triu"]) < (1e-9 if known["A_triu"].dtype == float else 1e-6)
