import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from kernelbraid._arrays import to_numpy
from kernelbraid.metrics import ari
from kernelbraid.solvers import lloyd as module
from kernelbraid.solvers.kmeans import cut, join, kmeans, plus_plus, random_samples, separate, settle, spread_samples
from kernelbraid.solvers.lloyd import FeatureSpace, Rule, best_of, refill
from problems import blobs


def run(X, k, n_init=10, seed=0):
    return kmeans(X, k, n_init=n_init, random_state=np.random.RandomState(seed))


def test_separated_blobs_are_recovered(xp):
    X, y = blobs()
    assert adjusted_rand_score(y, run(xp.asarray(X), 3).labels) == 1


def test_every_backend_gives_the_same_labels(foreign):
    X, _ = blobs(n=50, k=5, d=2, seed=3)
    np.testing.assert_array_equal(run(foreign.asarray(X), 5).labels, run(X, 5).labels)


def test_labels_are_a_fixed_point_of_the_iteration():
    X = np.random.default_rng(0).standard_normal((80, 3))
    found = run(X, 6)
    centres = np.stack([X[found.labels == c].mean(axis=0) for c in range(6)])
    distances = ((X[:, None] - centres[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.labels, distances.argmin(axis=1))
    assert found.inertia == pytest.approx(distances.min(axis=1).sum())


def test_it_is_as_good_as_scikit_learn():
    X = np.random.default_rng(1).standard_normal((150, 4))
    reference = KMeans(8, init="random", n_init=50, random_state=0).fit(X)
    assert run(X, 8, n_init=50).inertia <= reference.inertia_ * 1.01


def test_the_batch_size_changes_nothing(monkeypatch):
    X = np.random.default_rng(2).standard_normal((40, 3))
    whole = run(X, 4, n_init=7)
    monkeypatch.setattr(module, "BATCH_SIZE", 1)
    one_by_one = run(X, 4, n_init=7)
    np.testing.assert_array_equal(whole.labels, one_by_one.labels)


def test_more_restarts_never_raise_the_inertia():
    X = np.random.default_rng(3).standard_normal((60, 3))
    assert run(X, 6, n_init=20).inertia <= run(X, 6, n_init=1).inertia


def test_rounding_does_not_decide_which_copy_of_a_point_refills_a_cluster():
    for rounding in [-1e-13, 0.0, 1e-13]:
        misfit = np.array([1.0, 4.0, 4.0 * (1 + rounding), 3.0])
        np.testing.assert_array_equal(refill(np.zeros(4, dtype=int), misfit, 3), [0, 1, 0, 2])


def test_empty_clusters_are_refilled_with_the_worst_fitted_points():
    labels = refill(np.array([0, 0, 0, 2]), np.array([1.1, 1.9, 1.2, 5.0]), 4)
    assert sorted(set(labels)) == [0, 1, 2, 3]
    assert labels[1] == 1  # the worst of the cluster that can spare one; the lone point of cluster 2 stays


def test_copies_of_one_point_are_not_split():
    assert set(refill(np.zeros(4, dtype=int), np.zeros(4), 3)) == {0}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_separate_gives_as_many_labels_as_distinct_samples_allow(samples, k, seed):
    samples = np.array(samples)
    kinds = len(set(samples.tolist()))
    start = np.random.default_rng(seed).integers(0, 2, kinds)[np.unique(samples, return_inverse=True)[1]]
    labels = separate(start, k, samples)
    assert len(set(labels.tolist())) == max(len(set(start.tolist())), min(k, kinds))
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    for a in set(samples.tolist()):
        assert len(set(labels[samples == a].tolist())) == 1  # equal samples stay together


def test_separate_numbers_clusters_in_order_of_appearance():
    np.testing.assert_array_equal(separate(np.array([5, 3, 5]), 2, np.arange(3)), [0, 1, 0])


@given(st.integers(0, 200), st.integers(2, 5))
def test_the_objective_of_plain_k_means_never_rises(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 2))
    found = best_of(FeatureSpace(X), rng.permutation(25)[None, :k], k, Rule())
    assert found.converged
    assert np.diff(found.objective).max(initial=-1) <= 1e-10
    assert found.objective.shape == (found.n_iter,)
    assert found.objective[-1] == found.inertia == found.merit


def robust_run(seed, k, max_iter=100):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 2))
    starts = rng.permutation(25)[None, :k]
    return X, best_of(FeatureSpace(X), starts, k, Rule(robust=True, tol=1e-6, max_iter=max_iter))


@given(st.integers(0, 200), st.integers(2, 5))
def test_the_objective_of_robust_k_means_rises_only_from_a_sample_on_its_centre(seed, k):
    _, found = robust_run(seed, k)
    for step in np.flatnonzero(np.diff(found.objective) > 1e-8 * found.inertia):
        X, before = robust_run(seed, k, max_iter=int(step) + 1)
        squared = ((X[:, None] - (before.centres @ X)[None]) ** 2).sum(axis=2).min(axis=1)
        assert squared.min() <= module.ON_CENTRE * (X**2).sum(axis=1).max()


def test_the_objective_of_robust_k_means_never_rises():
    _, found = robust_run(seed=1, k=5)
    assert np.diff(found.objective)[1:].max() <= 1e-8 * found.inertia


def test_centres_are_the_ones_that_the_labels_belong_to():
    X = np.random.default_rng(4).standard_normal((40, 3))
    for rule in (Rule(), Rule(max_iter=2), Rule(robust=True), Rule(robust=True, max_iter=3)):
        found = best_of(FeatureSpace(X), random_samples(5, 40, 4, np.random.RandomState(0)), 4, rule)
        centres = found.centres @ X
        squared = ((X[:, None] - centres[None]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(found.labels, squared.argmin(axis=1))
        np.testing.assert_allclose(found.centres.sum(axis=1), 1)
        cost = np.sqrt(squared) if rule.robust else squared
        assert found.inertia == pytest.approx(cost.min(axis=1).sum())


def test_robust_centres_of_one_cluster_are_the_geometric_median():
    X = np.random.default_rng(5).standard_normal((30, 2))
    found = best_of(FeatureSpace(X), np.zeros((1, 30), int), 1, Rule(robust=True, tol=1e-12, max_iter=1000))
    centre = (found.centres @ X)[0]
    away = X - centre
    directions = away / np.linalg.norm(away, axis=1, keepdims=True)
    np.testing.assert_allclose(directions.sum(axis=0), 0, atol=1e-3)
    others = centre + 0.01 * np.random.default_rng(6).standard_normal((50, 2))
    assert found.inertia <= min(np.linalg.norm(X - other, axis=1).sum() for other in others)


def test_runs_are_compared_by_squared_distances_or_by_distances():
    X = np.random.default_rng(7).standard_normal((60, 3)) ** 3  # heavy tails: the two orders differ
    starts = random_samples(30, 60, 4, np.random.RandomState(0))
    runs = [best_of(FeatureSpace(X), starts[i : i + 1], 4, Rule(by_distance=True)) for i in range(30)]
    by_square = best_of(FeatureSpace(X), starts, 4, Rule())
    by_distance = best_of(FeatureSpace(X), starts, 4, Rule(by_distance=True))
    assert by_square.inertia == pytest.approx(min(run.inertia for run in runs))
    assert by_distance.merit == pytest.approx(min(run.merit for run in runs))
    assert by_distance.inertia > by_square.inertia
    same = kmeans(X, 4, n_init=30, random_state=np.random.RandomState(0), by_distance=True)
    np.testing.assert_array_equal(same.labels, by_distance.labels)


def test_a_partition_may_be_the_start():
    X, y = blobs(n=30)
    found = best_of(FeatureSpace(X), y[None], 3, Rule())
    assert found.n_iter == 2  # the second step sees that nothing moves
    np.testing.assert_array_equal(found.labels, y)


def test_max_iter_is_told():
    X = np.random.default_rng(8).standard_normal((60, 3))
    starts = random_samples(1, 60, 6, np.random.RandomState(0))
    assert not best_of(FeatureSpace(X), starts, 6, Rule(max_iter=1)).converged
    assert best_of(FeatureSpace(X), starts, 6, Rule(max_iter=1)).n_iter == 1
    assert best_of(FeatureSpace(X), starts, 6, Rule()).converged


@given(st.integers(2, 12), st.integers(0, 999), st.booleans())
def test_k_means_plus_plus_never_picks_a_sample_twice(n, seed, copies):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 1)).astype(float) if copies else rng.standard_normal((n, 2))
    for k in (1, n // 2 + 1, n):
        starts = plus_plus(FeatureSpace(X), 4, k, np.random.RandomState(seed))
        assert starts.shape == (4, k)
        assert all(len(set(row.tolist())) == k for row in starts)


def test_k_means_plus_plus_finds_a_sample_of_every_far_group():
    X, y = blobs(n=60, k=3)
    starts = plus_plus(FeatureSpace(100 * X), 50, 3, np.random.RandomState(0))
    found = [len(set(y[row].tolist())) for row in starts]
    assert np.mean(np.array(found) == 3) > 0.9


def test_k_means_plus_plus_draws_by_squared_distance():
    X = np.array([[0.0], [1.0], [2.0]])
    starts = plus_plus(FeatureSpace(X), 20_000, 2, np.random.RandomState(0))
    from_zero = starts[starts[:, 0] == 0, 1]
    assert np.mean(from_zero == 2) == pytest.approx(0.8, abs=0.02)  # 4 : 1


def test_random_starts_are_different_samples():
    starts = random_samples(20, 7, 5, np.random.RandomState(0))
    assert all(len(set(row.tolist())) == 5 for row in starts)
    assert len({tuple(row) for row in starts}) > 1


def test_robust_weights_are_those_of_the_huber_function():
    rule, scale = Rule(robust=True), np.array([1.0])
    weights = rule.sample_weights(np.array([[0.0, 1.0, 4.0]]), scale)
    np.testing.assert_allclose(weights, [[0.5 / module.ON_CENTRE**0.5, 0.5, 0.25]])
    for squared in (0.5 * module.ON_CENTRE, 2 * module.ON_CENTRE, 1.0):  # half the derivative by the squared distance
        step = 1e-4 * squared
        ends = rule.cost(np.array([[squared - step, squared + step]]), scale)[0]
        weight = rule.sample_weights(np.array([[squared]]), scale)[0, 0]
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(weight, rel=1e-6)
    np.testing.assert_array_equal(Rule().sample_weights(np.array([[0.0, 9.0]]), np.ones(1)), 1)


def test_every_backend_makes_the_same_steps(foreign):
    for rule in [Rule(), Rule(robust=True, tol=1e-4), Rule(by_distance=True)]:
        X = np.random.default_rng(9).standard_normal((30, 3))
        starts = spread_samples(X, 4, 4, np.random.RandomState(1))
        np.testing.assert_array_equal(spread_samples(foreign.asarray(X), 4, 4, np.random.RandomState(1)), starts)
        here, there = (best_of(FeatureSpace(A), starts, 4, rule) for A in (X, foreign.asarray(X)))
        np.testing.assert_array_equal(there.labels, here.labels)
        np.testing.assert_allclose(there.objective, here.objective)
        np.testing.assert_allclose(to_numpy(there.centres), here.centres, atol=1e-12)


def blocks(sizes, weak=0.01, seed=0):
    """Return a dense graph with strong edges in blocks and weak ones between them, and the blocks."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    A = np.where(y[:, None] == y, 1.0, weak) * rng.uniform(0.5, 1.5, (y.size, y.size))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 0.0)
    return A, y


def halves(y):
    """Return a piece for each half of every class."""
    return 2 * y + np.arange(y.size) % 2


def test_halves_of_blocks_are_joined():
    for sizes in [(20, 20), (60, 12, 9), (5, 30, 5, 30)]:
        for form in [np.asarray, sparse.csr_array]:
            A, y = blocks(sizes)
            assert ari(y, join(form(A), halves(y), len(sizes))) == 1.0


def test_joining_maximises_the_edges_between_over_the_power_of_the_volumes_at_every_step():
    rng = np.random.default_rng(3)
    A = rng.random((30, 30))
    A = A + A.T
    pieces = rng.permutation(np.arange(30) % 6)
    for power in (0.5, 0.85, 1.0):
        groups = [set(np.flatnonzero(pieces == piece)) for piece in range(6)]
        for left in (5, 4, 3, 2, 1):

            def close(a, b, power=power):
                a, b = sorted(a), sorted(b)
                volumes = A[a].sum() * A[b].sum()
                return A[np.ix_(a, b)].sum() / volumes**power

            pairs = [(close(a, b), i, j) for i, a in enumerate(groups) for j, b in enumerate(groups) if i < j]
            _, i, j = max(pairs)
            groups = [group for at, group in enumerate(groups) if at not in (i, j)] + [groups[i] | groups[j]]
            expected = np.empty(30, dtype=int)
            for label, group in enumerate(groups):
                expected[sorted(group)] = label
            assert ari(expected, join(A, pieces, left, closeness=power)) == pytest.approx(1.0)


def test_joining_does_not_depend_on_the_scale_of_the_edges_nor_on_the_numbers_of_the_pieces():
    A, y = blocks((15, 8, 25), weak=0.2)
    pieces = halves(y)
    found = join(A, pieces, 3)
    np.testing.assert_array_equal(join(1e-30 * A, pieces, 3), found)
    assert ari(join(A, 7 - pieces, 3), found) == 1.0
    assert ari(join(A, 10 * pieces, 3), found) == 1.0  # numbers with gaps


def test_pieces_without_edges_between_them_join_from_the_smallest_on():
    A, _ = blocks((4, 6, 9, 12), weak=0.0)
    y = np.repeat(np.arange(4), (4, 6, 9, 12))
    joined = join(A, y, 3)
    assert len(set(joined)) == 3
    assert joined[0] == joined[5]
    assert len(set(join(np.zeros((6, 6)), np.arange(6), 2))) == 2  # no edges at all


def test_fewer_pieces_than_clusters_stay():
    A, y = blocks((5, 5))
    np.testing.assert_array_equal(join(A, y, 4), y)


def test_negative_edges_count_as_none():
    A, y = blocks((10, 10))
    without = np.where(A < 0.1, 0, A)
    np.testing.assert_array_equal(join(np.where(A < 0.1, -A, A), halves(y), 2), join(without, halves(y), 2))


def test_every_vertex_settles_where_most_of_its_edges_go():
    A, y = blocks((10, 12))
    wrong = y.copy()
    wrong[[0, 15]] = 1 - wrong[[0, 15]]
    np.testing.assert_array_equal(settle(A, wrong), y)
    np.testing.assert_array_equal(settle(sparse.csr_array(A), wrong), y)
    np.testing.assert_array_equal(settle(A + 100 * np.eye(22), wrong), y)  # edges to oneself say nothing


def test_no_cluster_is_lost_when_vertices_settle_and_those_without_edges_stay():
    A, y = blocks((10, 1), weak=0.5)
    np.testing.assert_array_equal(settle(A, y), y)
    np.testing.assert_array_equal(settle(np.zeros((4, 4)), np.array([0, 1, 1, 0])), [0, 1, 1, 0])


@pytest.mark.parametrize("spread", [True, False])
def test_cuts_are_local_minima_of_k_means_each_from_starts_of_its_own(spread):
    X = np.random.default_rng(0).normal(size=(80, 3))
    cuts = cut(X, 6, n_cuts=4, n_init=3, random_state=np.random.RandomState(0), spread=spread)
    assert cuts.shape == (4, 80)
    for pieces in cuts:
        assert set(pieces) == set(range(6))
        centres = np.stack([X[pieces == piece].mean(axis=0) for piece in range(6)])
        np.testing.assert_array_equal(((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1), pieces)
    assert min(ari(cuts[0], other) for other in cuts[1:]) < 1


def test_one_cut_is_k_means_from_spread_starts():
    X = np.random.default_rng(1).normal(size=(60, 4))
    options = {"n_init": 5, "random_state": np.random.RandomState(7)}
    found = cut(X, 5, n_cuts=1, **options)[0]
    expected = kmeans(X, 5, n_init=5, random_state=np.random.RandomState(7), spread=True).labels
    np.testing.assert_array_equal(found, expected)
