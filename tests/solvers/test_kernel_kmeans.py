import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, StoredStack, build_bank, stack_bank
from kernelbraid.ops.closed_forms import power_weights
from kernelbraid.solvers.kernel_kmeans import KernelCentres, KernelSpace, kernel_kmeans
from kernelbraid.solvers.kmeans import plus_plus, random_samples
from kernelbraid.solvers.lloyd import FeatureSpace, Rule, best_of
from problems import blobs, rings

NOISE = np.random.default_rng(0).standard_normal((30, 5))
DATA = {"blobs": blobs(n=36)[0], "rings": rings(40)[0], "noise": NOISE, "copies": np.repeat(NOISE[:10], 3, axis=0)}
RULES = {
    "KKM": Rule(),
    "RKKM": Rule(robust=True, tol=1e-6),
    "MKKM": Rule(exponent=0.5),
    "RMKKM": Rule(robust=True, exponent=0.3, tol=1e-6),
}
STARTS = ("k-means++", "random", "partition")


def run(kernels, k=3, *, rule=RULES["KKM"], start="random", n_init=5, seed=0):
    stack = kernels if hasattr(kernels, "apply") else StoredStack.of(kernels)
    return kernel_kmeans(stack, k, rule=rule, start=start, n_init=n_init, random_state=np.random.RandomState(seed))


def bank_of(name, rule):
    """One kernel for the rules with fixed weights, four for the others."""
    kernels = [Gaussian(0.1), Gaussian(1.0), Linear(), Linear("max")]
    return build_bank(DATA[name], kernels if rule.exponent is not None else kernels[:1])


def features_of(K):
    """Explicit coordinates of the samples in the feature space of a kernel."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def squared_distances(H, V, a):
    return sum(
        w * ((P[:, None, :] - (V @ P)[None]) ** 2).sum(axis=2) for w, P in zip(a, map(features_of, H), strict=True)
    )


def test_the_linear_kernel_gives_ordinary_k_means():
    for name, X in DATA.items():
        for rule in (Rule(), Rule(robust=True)):
            starts = random_samples(6, len(X), 4, np.random.RandomState(1))
            kernel = KernelSpace(StoredStack.of((X @ X.T)[None]))
            ours, ordinary = best_of(kernel, starts, 4, rule), best_of(FeatureSpace(X), starts, 4, rule)
            assert adjusted_rand_score(ours.labels, ordinary.labels) == 1, name
            assert ours.inertia == pytest.approx(ordinary.inertia)


def test_kernel_distances_are_distances_in_feature_space(xp):
    for kind in ["stored", "lazy"]:
        bank = [Gaussian(0.1), Linear(), Gaussian(2.0)]
        stack = stack_bank(xp.asarray(NOISE), bank)
        space = KernelSpace(stack.store() if kind == "stored" else stack)
        V = np.random.default_rng(1).dirichlet(np.ones(30), size=8)
        found = to_numpy(space.distances(xp.asarray(V)))
        assert found.shape == (3, 8, 30)
        for K, distances in zip(build_bank(NOISE, bank), found, strict=True):
            np.testing.assert_allclose(distances.T, squared_distances([K], V, [1.0]), atol=1e-10)


def test_kernel_distances_to_sparse_means_are_the_same():
    space = KernelSpace(StoredStack.of(build_bank(NOISE, [Gaussian(0.1), Linear()])))
    V = np.random.default_rng(1).dirichlet(np.ones(30), size=8)
    np.testing.assert_allclose(space.distances(sparse.csc_array(V)), space.distances(V), atol=1e-12)


def test_the_objective_never_rises():
    for start in STARTS:
        for name in RULES:
            for data in ["blobs", "rings", "noise"]:
                rule, k = RULES[name], 3
                H = bank_of(data, rule)
                for seed in range(8):
                    found = run(H, k, rule=rule, start=start, n_init=1, seed=seed)
                    # A robust start on samples leaves them in the second step: a distance of zero majorises nothing.
                    steps = np.diff(found.objective)[1 if rule.robust else 0 :]
                    assert steps.max(initial=-1) <= 1e-8 * found.inertia, seed


def test_the_objective_is_that_of_the_labels_centres_and_weights():
    for name in RULES:
        for data in DATA:
            rule = RULES[name]
            H = bank_of(data, rule)
            found = run(H, rule=rule)
            squared = squared_distances(H, to_numpy(found.centres), found.kernel_weights)
            own = np.maximum(squared[np.arange(len(squared)), found.labels], 0)
            assert found.inertia == pytest.approx(np.sum(np.sqrt(own) if rule.robust else own), rel=1e-6)
            assert own == pytest.approx(np.maximum(squared.min(axis=1), 0), abs=1e-9)
            assert found.converged


def test_learned_weights_are_the_closed_form_at_the_fixed_point():
    for robust in [False, True]:
        for data in ["blobs", "noise"]:
            for gamma in [0.1, 0.5, 0.9]:
                rule = Rule(robust=robust, exponent=gamma, tol=1e-13, max_iter=2000)
                H = bank_of(data, rule)
                found = run(H, rule=rule)
                a = found.kernel_weights
                assert np.sum(a**gamma) == pytest.approx(1)
                own = np.arange(H.shape[1]), found.labels
                parts = np.array([squared_distances([K], found.centres, [1.0])[own] for K in H])
                shares = 0.5 / np.sqrt(a @ parts) if robust else np.ones(H.shape[1])
                np.testing.assert_allclose(a, power_weights(parts @ shares, gamma), rtol=1e-3 if robust else 1e-9)


@pytest.mark.parametrize("name", ["MKKM", "RMKKM"])
def test_permuted_kernels_have_permuted_weights(name):
    H, order = bank_of("noise", RULES[name]), [2, 0, 3, 1]
    here, there = run(H, rule=RULES[name]), run(H[order], rule=RULES[name])
    np.testing.assert_array_equal(there.labels, here.labels)
    np.testing.assert_allclose(there.kernel_weights, here.kernel_weights[order], rtol=1e-8)
    assert there.inertia == pytest.approx(here.inertia)


@given(st.integers(0, 99))
def test_permuted_samples_have_permuted_labels(seed):
    X, _ = blobs(n=24, seed=1)
    order = np.random.default_rng(seed).permutation(24)
    H = build_bank(X, [Gaussian(1.0), Linear()])
    rule, starts = RULES["MKKM"], random_samples(3, 24, 3, np.random.RandomState(seed))
    here = best_of(KernelSpace(StoredStack.of(H)), order[starts], 3, rule)
    there = best_of(KernelSpace(StoredStack.of(H[:, order][:, :, order])), starts, 3, rule)
    np.testing.assert_array_equal(there.labels, here.labels[order])


def test_the_robust_form_is_less_moved_by_an_outlier():
    X = np.random.default_rng(2).standard_normal((30, 2))
    moved = {}
    for name in ("KKM", "RKKM"):
        centres = []
        for far in (3.0, 300.0):
            Y = np.r_[X, [[far, 0.0]]]
            found = run((Y @ Y.T)[None], 1, rule=RULES[name], start="partition", n_init=1)
            centres.append(to_numpy(found.centres)[0] @ Y)
        moved[name] = np.linalg.norm(centres[1] - centres[0])
    assert moved["KKM"] == pytest.approx(297 / 31)
    assert moved["RKKM"] < 0.05 * moved["KKM"]


def test_every_start_finds_separated_blobs():
    for start in STARTS:
        for name in RULES:
            _, y = blobs(n=36)
            H = bank_of("blobs", RULES[name])
            found = run(H, rule=RULES[name], start=start, n_init=20)
            assert adjusted_rand_score(y, found.labels) == 1
            assert set(found.labels.tolist()) == {0, 1, 2}
            assert found.centres.shape == (3, 36)


def test_every_start_works_for_one_cluster_and_for_as_many_as_samples():
    for start in STARTS:
        for k in [1, 2, 30]:
            found = run(build_bank(NOISE, [Gaussian(1.0)]), k, start=start)
            assert len(set(found.labels.tolist())) == k
            if k == 30:
                assert found.inertia == pytest.approx(0, abs=1e-9)


def test_every_backend_gives_the_same_clusters(foreign):
    for name in RULES:
        for start in STARTS:
            H = bank_of("noise", RULES[name])
            here = run(H, rule=RULES[name], start=start)
            there = run(foreign.asarray(H), rule=RULES[name], start=start)
            np.testing.assert_array_equal(there.labels, here.labels)
            np.testing.assert_allclose(there.kernel_weights, here.kernel_weights, rtol=1e-9)
            np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)


def test_stored_and_lazy_kernels_give_the_same_clusters():
    for name in RULES:
        bank = "rmkkm" if RULES[name].exponent is not None else [Gaussian(0.3)]
        stack = stack_bank(NOISE, bank)
        lazy, stored = (run(kernels, rule=RULES[name], start="k-means++") for kernels in (stack, stack.store()))
        np.testing.assert_array_equal(lazy.labels, stored.labels)
        np.testing.assert_allclose(lazy.kernel_weights, stored.kernel_weights, rtol=1e-7)


def test_starts_by_kernels_never_pick_a_sample_twice():
    for X in DATA.values():
        space = KernelSpace(stack_bank(X, "rmkkm").store())
        n = len(X)
        for k in (2, n // 2, n):
            starts = plus_plus(space, 5, k, np.random.RandomState(0))
            assert all(len(set(row.tolist())) == k for row in starts)


@pytest.mark.parametrize("name", ["MKKM", "RMKKM"])
def test_a_kernel_under_which_all_samples_coincide_gets_no_weight(name):
    H = np.stack([build_bank(NOISE, [Gaussian(1.0)])[0], np.ones((30, 30))])
    np.testing.assert_allclose(run(H, rule=RULES[name]).kernel_weights, [1, 0], atol=1e-12)


def test_a_kernel_that_agrees_with_the_clusters_outweighs_noise():
    blocks = np.kron(np.eye(3), np.full((10, 10), 0.9)) + 0.1 * np.eye(30)
    noise = build_bank(NOISE, [Gaussian(0.01)])[0]
    found = run(np.stack([noise, blocks]), rule=RULES["MKKM"], n_init=20)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 10), found.labels) == 1
    assert found.kernel_weights[1] > 4 * found.kernel_weights[0]


def test_more_runs_never_raise_the_objective():
    H = build_bank(NOISE, [Gaussian(0.3)])
    assert run(H, 5, n_init=20).inertia <= run(H, 5, n_init=1).inertia


def test_centres_find_the_nearest_of_them_for_samples_old_and_new():
    H = build_bank(NOISE, [Gaussian(0.3), Linear()])
    stack, fitted = StoredStack.of(H[:, :20, :20]), H[:, :20, :20]
    for rule in (RULES["MKKM"], RULES["RMKKM"]):
        found = run(stack, rule=rule)
        centres = KernelCentres.of(stack, found, found.labels)
        assert centres.weights.sum() == pytest.approx(1)
        np.testing.assert_array_equal(centres.nearest(np.tensordot(centres.weights, fitted, 1)), found.labels)
        cross = np.tensordot(centres.weights, H[:, 20:, :20], 1)
        V = np.zeros((3, 30))
        V[:, :20] = centres.V
        expected = squared_distances(H, V, centres.weights)[20:].argmin(axis=1)
        np.testing.assert_array_equal(centres.nearest(cross), expected)


def test_centres_are_renumbered_with_the_labels_or_are_means_of_another_partition():
    H = build_bank(NOISE, [Gaussian(0.3)])
    stack = StoredStack.of(H)
    found = run(stack, rule=RULES["RKKM"])
    swapped = np.array([2, 0, 1])[found.labels]
    V = KernelCentres.of(stack, found, swapped).V
    np.testing.assert_array_equal(V[[2, 0, 1]], found.centres)
    other = np.arange(30) % 3
    V = KernelCentres.of(stack, found, other).V
    np.testing.assert_allclose(V, (other[None] == np.arange(3)[:, None]) / 10)


def test_new_kernel_values_beyond_single_precision_still_have_a_nearest_centre():
    centres = KernelCentres(np.eye(2, dtype=np.float32), np.ones(1), np.ones(2, dtype=np.float32))
    np.testing.assert_array_equal(centres.nearest(np.array([[1e300, 2e300], [3e300, 1e300]])), [1, 0])
