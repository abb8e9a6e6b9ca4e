import numpy as np
import pytest
from scipy import sparse

from kernelbraid.blocks.parts import LocalParts
from kernelbraid.kernels import FittedBank, Gaussian, resolve_banks, stack_bank
from kernelbraid.solvers.landmark_centres import Centres, find_centres
from kernelbraid.solvers.landmarks import (
    BipartiteEmbedding,
    Edges,
    LandmarkExpression,
    Reduction,
    Standing,
    draw,
    leverage_scores,
    row_slices,
    settle,
    spread,
)
from kernelbraid.solvers.low_rank.ridge import Expression

rng = np.random.default_rng(0)
COEFFICIENTS = rng.random((30, 8))


def reduce(edges, cuts=()):
    blocks = np.split(np.arange(edges.index.shape[0]), cuts)
    parts = LocalParts(blocks, None)
    return (
        parts.map(lambda rows: Edges(edges.index[rows], edges.weights[rows], edges.n_landmarks))
        .map(Reduction.of)
        .total()
    )


def improve(centres, points, size, max_iter):
    parts = LocalParts([points[start : start + size] for start in range(0, len(points), size)], None)
    centres = centres.improve(parts, max_iter)
    return centres, centres.nearest(points)


def as_dense(W):
    return W.toarray() if sparse.issparse(W) else W


def test_the_strongest_edges_stay_and_sum_to_one():
    for edge_weights in ["learned", "scaled", "binary"]:
        for kept in [1, 3, 8, None, 20]:
            W = as_dense(Edges.strongest(COEFFICIENTS, kept, edge_weights).matrix())
            r = min(kept or 8, 8)
            strongest = np.sort(COEFFICIENTS, axis=1)[:, [8 - r]] <= COEFFICIENTS
            np.testing.assert_array_equal(W > 0, strongest)
            expected = strongest * (1.0 if edge_weights == "binary" else COEFFICIENTS)
            np.testing.assert_allclose(W, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_a_coefficient_of_zero_is_no_binary_edge():
    edges = Edges.strongest(np.array([[0.0, 2.0, 0.0, 0.1]]), 3, "binary")
    np.testing.assert_array_equal(as_dense(edges.matrix()), [[0, 0.5, 0, 0.5]])


def test_joined_edges_are_those_of_all_samples():
    parts = [Edges.strongest(COEFFICIENTS[rows], 3, "scaled") for rows in (slice(0, 4), slice(4, 30))]
    whole = Edges.strongest(COEFFICIENTS, 3, "scaled")
    np.testing.assert_array_equal(Edges.join(parts).index, whole.index)
    np.testing.assert_array_equal(Edges.join(parts).weights, whole.weights)


def test_the_reduction_is_a_sum_over_blocks():
    for kept in [1, 3, 8]:
        edges = Edges.strongest(COEFFICIENTS, kept, "learned")
        W = as_dense(edges.matrix())
        for cuts in ((), (1, 17)):
            reduction = reduce(edges, cuts)
            np.testing.assert_allclose(reduction.products, W.T @ W, atol=1e-12)
            np.testing.assert_allclose(reduction.totals, W.sum(axis=0), atol=1e-12)


def test_coordinates_are_left_singular_vectors_of_the_normalised_graph():
    edges = Edges.strongest(COEFFICIENTS, 4, "learned")
    W = as_dense(edges.matrix())
    U, s, _ = np.linalg.svd(W / np.sqrt(W.sum(axis=0)), full_matrices=False)
    embedding = BipartiteEmbedding.of(reduce(edges), 3, "random_walk")
    np.testing.assert_allclose(embedding.values, s[:3], atol=1e-6)
    assert embedding.values[0] == pytest.approx(1)
    np.testing.assert_allclose(abs(embedding.place(edges)), abs(U[:, :3]), atol=1e-5)
    unit = BipartiteEmbedding.of(reduce(edges), 3, "largest").place(edges)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    assert unit.dtype == np.float32


def test_landmarks_without_samples_and_directions_without_variance_do_no_harm():
    edges = Edges.strongest(np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), 1, "learned")
    placed = BipartiteEmbedding.of(reduce(edges), 3, "largest").place(edges)
    assert np.isfinite(placed).all()
    np.testing.assert_array_equal(placed[0], placed[1])


def test_components_of_the_graph_are_orthogonal_points():
    A = np.kron(np.eye(3), np.ones((10, 4))) * rng.uniform(0.5, 1, (30, 12))
    edges = Edges.strongest(A, 4, "learned")
    embedding = BipartiteEmbedding.of(reduce(edges), 3, "largest")
    placed = embedding.place(edges)
    np.testing.assert_allclose(embedding.values, 1, atol=1e-6)
    np.testing.assert_allclose(placed @ placed.T, np.kron(np.eye(3), np.ones((10, 10))), atol=1e-5)


def test_centres_are_found_and_numbered_by_appearance():
    y = np.repeat([2, 0, 1], 20)
    points = (np.eye(3)[y] + 0.01 * rng.standard_normal((60, 3))).astype(np.float32)
    random_state = np.random.RandomState(0)
    start = find_centres(points[::2], 3, n_init=3, by_distance=False, random_state=random_state)
    for size in (7, 100):
        centres, labels = improve(start, points, size, 5)
        np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], 20))
        np.testing.assert_array_equal(centres.nearest(points), labels)
        np.testing.assert_allclose(centres.points[0], points[:20].mean(axis=0), atol=1e-6)


def test_lloyd_steps_lower_the_sum_of_squares():
    points = rng.standard_normal((200, 2)).astype(np.float32)

    def cost(centres, labels):
        return ((points - centres.points[labels]) ** 2).sum()

    start = Centres(points[:4].astype(float))
    costs = [cost(*improve(start, points, 64, steps)) for steps in (0, 1, 2, 10)]
    assert costs == sorted(costs, reverse=True)


def test_the_centre_of_an_empty_cluster_is_left_out():
    points = np.array([[0.0], [1.0]], dtype=np.float32)
    centres, labels = improve(Centres(np.array([[9.0], [0.5]])), points, 10, 3)
    assert labels.tolist() == [0, 0]
    np.testing.assert_array_equal(centres.points, [[0.5]])


def test_landmarks_are_spread_over_far_groups():
    for form in [np.asarray, sparse.csr_array, sparse.csr_matrix]:
        groups = np.repeat(np.eye(5) * 100, [96, 1, 1, 1, 1], axis=0) + 0.01 * np.random.default_rng(1).random((100, 5))
        chosen = spread(form(groups), 5, np.random.RandomState(0))
        assert len(set(groups[chosen].argmax(axis=1))) == 5


def test_all_rows_are_taken_if_asked_even_copies():
    for X in (np.repeat(np.eye(2), 3, axis=0), np.zeros((6, 2)), np.full((6, 1), 1e300)):
        assert sorted(spread(X, 6, np.random.RandomState(0)).tolist()) == list(range(6))
    assert set(spread(np.repeat(np.eye(2), 3, axis=0), 2, np.random.RandomState(0)) // 3) == {0, 1}


def test_leverage_scores_are_exact_if_all_samples_are_pilots():
    B = rng.standard_normal((20, 6))
    K = B @ B.T
    exact = np.diag(K @ np.linalg.inv(K + 0.5 * np.eye(20)))
    np.testing.assert_allclose(leverage_scores(K, K, 0.5), exact, atol=1e-12)


def test_leverage_scores_are_at_most_one_where_a_kernel_is_indefinite():
    Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    K = (Q * np.linspace(-0.5, 4, 20)) @ Q.T
    scores = leverage_scores(K, K, 0.5)
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert scores.max() > 0.1


def test_rows_are_drawn_without_replacement_by_their_scores():
    scores = np.array([1.0] * 10 + [0.0] * 10 + [9.0] * 10)
    drawn = np.array([draw(scores, 5, np.random.RandomState(seed)) for seed in range(200)])
    assert all(len(set(row)) == 5 for row in drawn.tolist())
    counts = np.bincount(drawn.ravel(), minlength=30).reshape(3, 10).sum(axis=1)
    assert counts[1] == 0
    assert counts[2] > 5 * counts[0]


def test_slices_cover_all_rows():
    assert [*row_slices(0, 5)] == [slice(0, 0)]
    assert np.concatenate([np.arange(10_000)[rows] for rows in row_slices(10_000, 500)]).tolist() == [*range(10_000)]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_landmarks_settle_on_the_means_of_what_is_near(form):
    X = np.repeat(np.eye(3) * 10, 20, axis=0) + np.random.default_rng(2).random((60, 3))
    found = as_dense(settle(form(X), form(X[[0, 25, 50]]), 10))
    np.testing.assert_allclose(found, X.reshape(3, 20, 3).mean(axis=1))


def test_a_lonely_landmark_stays_and_the_type_is_kept():
    X = np.array([[0.0], [1.0]], dtype=np.float32)
    found = settle(X, np.array([[0.4], [9.0]], dtype=np.float32), 5)
    np.testing.assert_array_equal(found, np.array([[0.5], [9.0]], dtype=np.float32))
    assert found.dtype == np.float32


def test_rounding_does_not_choose_among_landmarks_that_no_sample_connects():
    rng = np.random.default_rng(0)
    first = 2 * rng.integers(6, size=60)  # six pairs of landmarks, each with samples of its own
    weights = rng.uniform(0.2, 0.8, 60)

    def basis(rounding):
        shares = weights * (1 + rounding)
        edges = Edges(np.c_[first, first + 1].astype(np.int32), np.c_[shares, 1 - shares].astype(np.float32), 12)
        return BipartiteEmbedding.of(Reduction.of(edges), 3, "largest").basis

    np.testing.assert_allclose(basis(rng.uniform(-1e-7, 1e-7, 60)), basis(0.0), atol=1e-6)
    assert (np.count_nonzero(basis(0.0), axis=0) == 2).all()


def test_landmarks_settle_alike_at_any_scale():
    for form in [np.asarray, sparse.csr_array]:
        for size in [2.0**-500, 2.0**520]:
            X = np.random.default_rng(0).normal(size=(20, 3))
            found = as_dense(settle(form(X * size), form(X[:4] * size), 5))
            np.testing.assert_array_equal(found, as_dense(settle(form(X), form(X[:4]), 5)) * size)


def test_leverage_of_samples_that_no_kernel_tells_apart_is_the_same_for_all():
    np.testing.assert_array_equal(leverage_scores(np.zeros((5, 2)), np.zeros((2, 2)), 0.1), np.ones(5))


def test_the_nearest_landmark_does_not_count_unless_it_is_alone():
    index, weights = np.array([[0, 1, 2]], dtype=np.int32), np.array([[0.6, 0.3, 0.1]], dtype=np.float32)
    edges = Edges(index, weights, 3).with_unlike(np.array([[0.01, 0.5, 0.9]]))
    np.testing.assert_allclose(edges.left(), [0.5**0.75 * 0.9**0.25], rtol=1e-5)
    alone = Edges(index[:, :1], np.ones((1, 1), dtype=np.float32), 3).with_unlike(np.array([[0.25]]))
    np.testing.assert_allclose(alone.left(), [0.25])


def test_samples_and_landmarks_are_unlike_by_the_kernel_and_by_the_rows():
    X = np.random.default_rng(0).normal(size=(9, 3))
    stack = stack_bank([X], [Gaussian(0.5)])
    bank = FittedBank.of([X], resolve_banks([Gaussian(0.5)], 1), stack)
    expression = Expression.of(np.eye(9), 0.1, None, "learned")
    express = LandmarkExpression(bank, np.ones(1), expression, None, "learned", (3,))
    edges = express.edges(X[:4] + 1)
    D = ((X[:4, None] + 1 - X[None]) ** 2).sum(axis=2)
    largest = ((X[:, None] - X[None]) ** 2).sum(axis=2).max()
    np.testing.assert_allclose(edges.unlike**2, (1 - np.exp(-D / (0.5 * largest))) * D / largest, rtol=1e-5)
    assert (express.edges(X).unlike > 0).all()  # also of a sample and itself


def test_samples_are_compared_with_others_at_their_landmarks_or_with_half_of_all():
    index = np.tile(np.array([[0, 1]], dtype=np.int32), (10, 1))
    weights = np.full((10, 2), 0.5, dtype=np.float32)
    unlike = np.full((10, 2), 0.1)
    unlike[9] = 0.8
    edges = Edges(index, weights, 2).with_unlike(unlike)
    parts = [Edges(index[rows], weights[rows], 2, None, edges.unlike[rows]) for rows in (slice(4), slice(4, 10))]
    standing = Standing.of(Reduction.of(parts[0]) + Reduction.of(parts[1]))
    np.testing.assert_allclose(standing.left, (9 * 0.1 + 0.8) / 10, rtol=1e-5)
    scores = standing.scores(edges)
    np.testing.assert_allclose(scores, [*[0.0] * 9, 1 - 0.17 / 0.8], rtol=1e-4)


def test_a_sample_far_away_is_unlike_in_any_precision():
    X = np.random.default_rng(0).normal(size=(9, 3))
    stack = stack_bank([X], [Gaussian(0.5)])
    bank = FittedBank.of([X], resolve_banks([Gaussian(0.5)], 1), stack)
    expression = Expression.of(np.eye(9), 0.1, None, "learned")
    far = LandmarkExpression(bank, np.ones(1), expression, None, "learned", (3,)).edges(np.full((1, 3), 1e60))
    assert np.isfinite(far.left()).all()
    assert far.left()[0] > 1e10
