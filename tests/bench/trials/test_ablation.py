import numpy as np
import pytest
from scipy.optimize import minimize

from kernelbraid.bench.records.record import Trial
from kernelbraid.bench.trials import ablation
from kernelbraid.bench.trials.ablation import average, bound_combination, kernel_first
from kernelbraid.bench.trials.compared import ABLATIONS
from kernelbraid.bench.trials.trial import data_for, kernels_for, make
from kernelbraid.datasets import Dataset
from kernelbraid.kernels import build_bank
from problems import blobs

SETTING = {"alpha": 0.01, "beta": 0.5, "gamma": 6.0, "mu": 0.7}
OWN = ["LKGr/average", "LKGr/bound", "LKGr/in-turn"]


@pytest.fixture(scope="module")
def dataset():
    X, y = blobs(n=30, d=4)
    return Dataset("blobs", "Blobs", [X], y, "sum")


@pytest.fixture(scope="module")
def kernels(dataset):
    return build_bank(dataset.X, "rmkkm")[[3, 4, 7, 10]]


def trial(method, kernel=""):
    return Trial("blobs", "sum", method, "best100", "rmkkm", kernel, SETTING)


def projection(kernels, K):
    """Weights on the simplex whose combination is nearest to K, by a solver of SciPy."""
    m = len(kernels)
    found = minimize(
        lambda g: np.sum((K - np.tensordot(g, kernels, axes=1)) ** 2),
        np.full(m, 1 / m),
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda g: g.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


def cut(A, threshold):
    """A with its singular values cut, the plain way."""
    U, s, V = np.linalg.svd(A)
    return (U * np.maximum(s - threshold, 0)) @ V


def test_the_average_is_the_plain_one(kernels):
    np.testing.assert_allclose(average(kernels, alpha=3), sum(kernels) / len(kernels), rtol=1e-14)


def objective(kernels, K, g, beta, gamma):
    return beta * np.linalg.norm(K, "nuc") + gamma * np.sum((K - np.tensordot(g, kernels, axes=1)) ** 2)


@pytest.mark.parametrize(("beta", "gamma"), [(0.5, 6.0), (0.4, 2.0), (3.0, 1.0)])
def test_a_kernel_learned_first_is_the_prox_of_the_combination_that_is_nearest_to_it(kernels, beta, gamma):
    K = kernel_first(kernels, beta=beta, gamma=gamma)
    combination = np.tensordot(projection(kernels, K), kernels, axes=1)
    np.testing.assert_allclose(K, cut(combination, beta / (2 * gamma)), atol=5e-3)


@pytest.mark.parametrize(("beta", "gamma"), [(0.4, 2.0), (3.0, 1.0)])
def test_no_other_kernel_has_a_lower_objective_than_one_learned_first_in_many_steps(kernels, monkeypatch, beta, gamma):
    short = kernel_first(kernels, beta=beta, gamma=gamma)
    monkeypatch.setattr(ablation, "STEPS", 1500)
    monkeypatch.setattr(ablation, "CHANGE", 1e-9)
    K = kernel_first(kernels, beta=beta, gamma=gamma)
    lowest = objective(kernels, K, projection(kernels, K), beta, gamma)
    assert objective(kernels, short, projection(kernels, short), beta, gamma) < 1.001 * lowest
    rng = np.random.default_rng(0)
    for size in np.geomspace(1e-3, 1, 60):
        g = rng.dirichlet(np.ones(len(kernels)))
        step = size * rng.standard_normal(K.shape)
        for other in (K + step + step.T, cut(np.tensordot(g, kernels, axes=1), beta / (2 * gamma))):
            assert objective(kernels, other, g, beta, gamma) > (1 - 1e-4) * lowest


def test_a_kernel_learned_first_vanishes_under_a_heavy_penalty_and_stays_under_a_light_one(kernels):
    assert np.abs(kernel_first(kernels, beta=1e6, gamma=1.0)).max() == 0
    np.testing.assert_allclose(kernel_first(kernels, beta=1e-9, gamma=1.0), average(kernels), atol=1e-6)


def test_kernels_are_not_overwritten(kernels):
    before = kernels.copy()
    for reduce in (average, kernel_first, bound_combination):
        K = reduce(kernels, **SETTING)
        assert K.shape == before.shape[1:]
        np.testing.assert_allclose(K, K.T, atol=1e-12)
    np.testing.assert_array_equal(kernels, before)


def test_a_bound_kernel_is_a_convex_combination(kernels):
    K = bound_combination(kernels, **SETTING)
    weights = np.linalg.lstsq(kernels.reshape(len(kernels), -1).T, K.ravel(), rcond=None)[0]
    np.testing.assert_allclose(np.tensordot(weights, kernels, axes=1), K, atol=1e-10)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= -1e-10
    assert np.abs(weights - 1 / len(kernels)).max() > 0.01


def test_a_bound_combination_of_equal_kernels_is_that_kernel(kernels):
    np.testing.assert_allclose(bound_combination(np.stack([kernels[2]] * 3), **SETTING), kernels[2], atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "gaussian t=1", "polynomial (1 + x.y)^2"])
def test_one_kernel_is_kept_as_it_is_but_for_negative_entries(dataset, kernel):
    bank = make(trial("LKGr/one-kernel", kernel), 3).kernels
    assert [entry.name for entry in bank] == [kernel]
    [candidate] = build_bank(dataset.X, bank)
    model = fit(trial("LKGr/one-kernel", kernel), dataset)
    np.testing.assert_allclose(model.kernel_, np.maximum(candidate, 0), atol=1e-4)
    assert (candidate.min() < 0) == (kernel == "linear")


@pytest.mark.parametrize("method", OWN)
def test_a_kernel_made_of_many_is_kept_while_the_graph_is_learned(dataset, method):
    model = fit(trial(method), dataset)
    [candidate] = kernels_for(trial(method), dataset)
    np.testing.assert_allclose(model.kernel_, candidate, atol=1e-4)
    assert model.n_iter_ == 30


def fit(asked, dataset):
    return make(asked, 3).fit(data_for(asked, dataset))


def test_what_is_taken_out_cannot_be_put_back_by_a_setting():
    for name in ("LKGr/one-kernel", *OWN):
        settings = make(trial(name, "linear" if "one" in name else ""), 3)._settings().flat()
        assert (settings["beta"], settings["gamma"], settings["tol"]) == (1e-12, 1e6, 0)
        assert (settings["alpha"], settings["mu"]) == (0.01, 0.7)
    assert make(trial("LKGr/no-rank"), 3)._settings().learning.beta == 1e-12
    assert make(trial("LKGr/no-rank"), 3)._settings().learning.gamma == 6.0
    assert make(trial("LKGr/whole"), 3)._settings().learning.beta == 0.5


def test_settings_that_are_not_given_are_those_of_the_preset(dataset):
    bare = Trial("blobs", "sum", "LKGr/in-turn", "best100", "rmkkm")
    expected = kernel_first(build_bank(dataset.X, "rmkkm"), beta=0.1, gamma=0.1)
    np.testing.assert_allclose(kernels_for(bare, dataset)[0], expected)


def test_every_ablation_is_one_of_lkgr_and_altered():
    for name, method in ABLATIONS.items():
        assert Trial("blobs", "sum", name, "best100").altered
        assert (method.make(3).preset, method.make(3).graph_penalty) == ("authors", "nuclear")
        assert method.grid == {}
