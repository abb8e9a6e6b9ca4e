import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Custom, Gaussian, Linear, build_bank
from kernelbraid.methods import KernelKMeans, MultipleKernelKMeans
from problems import blobs, lazy_and_stored, rings

X, y = blobs(n=60)
FITTED, NEW = X[:45], X[45:]
NOISE = np.random.default_rng(0).standard_normal((40, 4))


def one(data=FITTED, k=3, **parameters):
    return KernelKMeans(k, **{"random_state": 0, **parameters}).fit(data)


def several(data=FITTED, k=3, **parameters):
    return MultipleKernelKMeans(k, **{"random_state": 0, **parameters}).fit(data)


def test_the_linear_kernel_gives_the_inertia_of_scikit_learn():
    ours = one(NOISE, 4, kernel=Linear(None), n_init=30)
    theirs = KMeans(4, n_init=30, random_state=0).fit(NOISE)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=0.01)
    np.testing.assert_allclose(ours.centre_weights_.sum(axis=1), 1)


@pytest.mark.parametrize("robust", [False, True])
def test_precomputed_cross_kernels_give_the_labels_of_the_samples(robust):
    H = build_bank(X, [rbf_kernel, Custom(lambda A, B: A @ B.T)])
    single = one(H[0, :45, :45], kernel="precomputed", robust=robust)
    np.testing.assert_array_equal(single.predict(H[0, :45, :45]), single.labels_)
    np.testing.assert_array_equal(single.predict(H[0, 45:, :45]), one(kernel=rbf_kernel, robust=robust).predict(NEW))
    multiple = several(H[:, :45, :45], kernels="precomputed", robust=robust)
    expected = several(kernels=[rbf_kernel, Linear(None)], robust=robust)
    np.testing.assert_allclose(multiple.kernel_weights_, expected.kernel_weights_, rtol=1e-6)
    for given in (H[:, 45:, :45], list(H[:, 45:, :45])):
        np.testing.assert_array_equal(multiple.predict(given), expected.predict(NEW))


@pytest.mark.parametrize(
    ("cross", "message"),
    [
        (np.ones((4, 45)), "holds 1 kernels; the fit had 2"),
        (np.ones((3, 4, 45)), "holds 3 kernels; the fit had 2"),
        ([np.ones((4, 45)), np.ones((5, 45))], r"\(4, 45\), \(5, 45\)"),
        ([np.ones((4, 45)), np.full((4, 45), np.inf)], "NaN or infinity"),
    ],
)
def test_wrong_cross_kernels_of_several_kernels_are_named(cross, message):
    model = several(build_bank(FITTED, [Gaussian(1.0), Linear()]), kernels="precomputed")
    with pytest.raises(ValueError, match=message):
        model.predict(cross)


@pytest.mark.parametrize("fit", [one, several])
def test_wrong_new_samples_are_named(fit):
    model = fit()
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 6 features"):
        model.predict(NEW[:, :3])
    bad = NEW.copy()
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN \(row 1, column 2\)"):
        model.predict(bad)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_extreme_scales_change_no_label(size):
    expected = several()
    model = several(FITTED * size)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(NEW * size), expected.predict(NEW))


def test_sparse_and_dense_new_samples_get_the_same_labels():
    dense = several().predict(NEW)
    model = several(sparse.csr_array(FITTED))
    np.testing.assert_array_equal(model.predict(sparse.csr_array(NEW)), dense)
    np.testing.assert_array_equal(model.predict(NEW), dense)
    np.testing.assert_array_equal(several().predict(sparse.csr_array(NEW)), dense)


def test_new_samples_of_another_library_get_labels_of_it(foreign):
    for fit in [one, several]:
        model = fit(foreign.asarray(FITTED))
        found = model.predict(foreign.asarray(NEW))
        assert type(found) is type(model.labels_)
        np.testing.assert_array_equal(to_numpy(found), fit().predict(NEW))


def test_cross_kernels_of_another_library_get_labels_of_it(foreign):
    H = build_bank(X, [Gaussian(1.0), Linear()])
    model = several(foreign.asarray(H[:, :45, :45]), kernels="precomputed")
    expected = several(H[:, :45, :45], kernels="precomputed").predict(H[:, 45:, :45])
    np.testing.assert_array_equal(to_numpy(model.predict(foreign.asarray(H[:, 45:, :45]))), expected)


def test_a_function_sees_the_same_kind_of_array_in_fit_and_predict():
    pytest.importorskip("torch", reason="torch is not installed")

    def kernel(A, B):
        if not isinstance(A, np.ndarray):
            raise TypeError("not NumPy")
        return rbf_kernel(A, B)

    model = one(kernel=kernel, device="cpu")
    np.testing.assert_array_equal(model.predict(FITTED), model.labels_)


def test_new_samples_of_a_library_other_than_that_of_the_fit_are_taken():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    expected = one().predict(NEW)
    for fitted, new in ((FITTED, torch.asarray(NEW)), (torch.asarray(FITTED), NEW)):
        np.testing.assert_array_equal(to_numpy(one(fitted).predict(new)), expected)


def test_several_views_are_joined_with_a_weight_for_each():
    views, new = [FITTED[:, :2], FITTED[:, 2:]], [NEW[:, :2], NEW[:, 2:]]
    model = several(views, kernels=[[Gaussian(1.0)], [Gaussian(1.0), laplacian_kernel]])
    assert model.kernel_names_[0].startswith("view 1")
    assert model.kernel_weights_.shape == (3,)
    assert model.n_features_in_ == 6
    assert adjusted_rand_score(y[:45], model.labels_) == 1
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert adjusted_rand_score(y[45:], model.predict(new)) == 1


def test_new_views_with_another_number_of_features_in_all_are_named():
    model = several([FITTED[:, :2], FITTED[:, 2:]], kernels=[Gaussian(1.0)])
    with pytest.raises(ValueError, match="5 features, but MultipleKernelKMeans is expecting 6"):
        model.predict([NEW[:, :2], NEW[:, 2:5]])


def test_one_kernel_takes_neither_several_views_nor_several_kernels():
    with pytest.raises(ValueError, match="2 views, and KernelKMeans takes one"):
        one([FITTED, FITTED])
    with pytest.raises(ValueError, match="2 kernels, and KernelKMeans takes one"):
        one(build_bank(FITTED, [Gaussian(1.0), Linear()]), kernel="precomputed")


def test_one_view_in_a_list_and_one_kernel_in_a_stack_are_fine():
    np.testing.assert_array_equal(one([FITTED]).labels_, one().labels_)
    K = build_bank(FITTED, [Gaussian(1.0)])
    np.testing.assert_array_equal(one(K, kernel="precomputed").labels_, one(K[0], kernel="precomputed").labels_)


@pytest.mark.parametrize("robust", [False, True])
def test_lazy_and_stored_kernels_give_the_same_clusters(monkeypatch, robust):
    lazy, stored = lazy_and_stored(monkeypatch, lambda: several(NOISE, 4, robust=robust))
    np.testing.assert_array_equal(lazy.labels_, stored.labels_)
    np.testing.assert_allclose(lazy.kernel_weights_, stored.kernel_weights_, rtol=1e-6)
    np.testing.assert_array_equal(lazy.predict(NOISE + 0.01), stored.predict(NOISE + 0.01))


def test_rings_are_separated_by_a_kernel_that_knows_the_radius():
    samples, radius = rings(60)
    kernel = Custom(lambda A, B: np.outer(np.sum(A**2, axis=1), np.sum(B**2, axis=1)), "radius")
    assert adjusted_rand_score(radius, one(samples, 2, kernel=kernel).labels_) == 1
    assert adjusted_rand_score(radius, one(samples, 2, kernel=Linear(None)).labels_) < 0.2


def test_gamma_moves_the_weights_from_all_kernels_to_one():
    weights = [several(gamma=gamma).kernel_weights_.max() for gamma in (0.1, 0.5, 0.9)]
    assert weights == sorted(weights)
    assert weights[-1] > 0.9


def test_single_precision_samples_predict():
    model = several(FITTED.astype(np.float32))
    assert model.centre_weights_.dtype == np.float32
    np.testing.assert_array_equal(model.predict(NEW.astype(np.float32)), several().predict(NEW))


def test_the_objective_ends_at_the_inertia():
    for model in (one(robust=True), several()):
        assert model.objective_[-1] == pytest.approx(model.inertia_)
        assert model.status_ == "converged"
