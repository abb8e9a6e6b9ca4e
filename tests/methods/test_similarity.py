import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kernelbraid.kernels import BANKS, Gaussian, Linear, build_bank
from kernelbraid.methods import METHODS, MultipleKernelTwinGraph, SimplexGraph, TwinGraph
from kernelbraid.metrics import accuracy
from problems import blobs, lazy_and_stored, paper_data

X, y = blobs(n=45)
NOISE = np.random.default_rng(0).standard_normal((30, 4))
ESTIMATORS = [SimplexGraph, TwinGraph, MultipleKernelTwinGraph]


def fit(cls, data=X, k=3, **parameters):
    return cls(k, **{"random_state": 0, "n_init": 10, **parameters}).fit(data)


def test_columns_of_the_coefficients_lie_on_the_simplex_and_make_the_graph():
    for cls in ESTIMATORS:
        model = fit(cls, NOISE)
        Z = model.coefficients_
        assert Z.min() >= 0
        np.testing.assert_allclose(Z.sum(axis=0), 1, atol=1e-12)
        np.testing.assert_allclose(model.graph_, (Z + Z.T) / 2, atol=1e-15)
        if cls is SimplexGraph:
            np.testing.assert_array_equal(np.diag(Z), 0)
            assert model.objective_[-1] == pytest.approx(np.sum((NOISE.T - NOISE.T @ Z) ** 2))


def test_separated_blobs_are_found_in_rows_of_unit_length():
    for cls in ESTIMATORS:
        model = fit(cls)
        assert adjusted_rand_score(y, model.labels_) == 1
        np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)


def test_one_kernel_takes_neither_several_views_nor_several_kernels():
    with pytest.raises(ValueError, match="2 views, and TwinGraph takes one"):
        fit(TwinGraph, [X, X])
    with pytest.raises(ValueError, match="2 kernels, and TwinGraph takes one"):
        fit(TwinGraph, build_bank(X, [Gaussian(1.0), Linear()]), kernel="precomputed")


def test_twin_graphs_weigh_the_kernels_of_several_views():
    model = fit(MultipleKernelTwinGraph, [X[:, :3], X[:, 3:]], kernels=[Gaussian(0.05), Gaussian(0.1)])
    assert model.kernel_weights_.shape == (4,)
    assert adjusted_rand_score(y, model.labels_) == 1


def test_lazy_and_stored_kernels_give_the_same_graph(monkeypatch):
    lazy, stored = lazy_and_stored(monkeypatch, lambda: fit(MultipleKernelTwinGraph, NOISE))
    np.testing.assert_array_equal(lazy.labels_, stored.labels_)
    np.testing.assert_allclose(lazy.graph_, stored.graph_, atol=1e-5)
    np.testing.assert_allclose(lazy.kernel_weights_, stored.kernel_weights_, rtol=1e-3, atol=1e-8)


def test_lazy_and_stored_kernels_of_very_different_size_get_the_same_weights(monkeypatch):
    kernels = [Linear(None), Gaussian(1.0)]
    lazy, stored = lazy_and_stored(monkeypatch, lambda: fit(MultipleKernelTwinGraph, 1e5 * X, kernels=kernels))
    np.testing.assert_allclose(lazy.kernel_weights_, stored.kernel_weights_, rtol=1e-3)


def test_extreme_scales_change_no_label():
    for cls in ESTIMATORS:
        for size in [1e-100, 1e-50, 1e100]:
            np.testing.assert_array_equal(fit(cls, X * size).labels_, fit(cls).labels_)


def test_a_larger_alpha_spreads_the_coefficients():
    used = [np.count_nonzero(fit(TwinGraph, NOISE, alpha=alpha).coefficients_) for alpha in (1e-3, 1e-1, 10.0)]
    assert used == sorted(used)
    assert used[0] < used[-1]


def test_without_the_spectral_term_one_step_is_enough():
    model = fit(TwinGraph, NOISE, beta=0.0)
    assert (model.n_iter_, model.status_) == (1, "converged")


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k", "least"), [("yale", 15, 0.60), ("jaffe", 10, 0.97)])
def test_simplex_graphs_reach_their_accuracy_on_faces(name, k, least):
    faces, persons = paper_data(name)
    model = METHODS["SSR"].set_params(n_clusters=k, random_state=0).fit(faces)
    assert model.status_ == "converged"
    assert accuracy(persons, model.labels_) >= least


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k", "alpha", "least"), [("yale", 15, 1e-3, 0.56), ("jaffe", 10, 1e-2, 0.97)])
def test_twin_graphs_of_one_kernel_reach_their_accuracy_on_faces(name, k, alpha, least):
    faces, persons = paper_data(name)
    settings = {"n_clusters": k, "kernel": BANKS["paper"][3], "alpha": alpha, "beta": 1e-4, "random_state": 0}
    model = METHODS["SCSK"].set_params(**settings).fit(faces)  # gaussian t=1
    assert accuracy(persons, model.labels_) >= least


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k", "least"), [("yale", 15, 0.57), ("jaffe", 10, 0.97)])
def test_twin_graphs_of_several_kernels_reach_their_accuracy_on_faces(name, k, least):
    faces, persons = paper_data(name)
    settings = {"n_clusters": k, "kernels": "paper", "alpha": 1e-3, "beta": 1e-4, "random_state": 0}
    model = METHODS["SCMK"].set_params(**settings).fit(faces)
    assert accuracy(persons, model.labels_) >= least
