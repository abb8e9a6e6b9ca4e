import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from kernelbraid import _arrays
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import FittedBank, Neighbours, SelfTuning, build_bank, resolve_banks, stack_bank
from kernelbraid.methods import KernelKMeans
from problems import dense


@pytest.fixture
def samples():
    return np.random.default_rng(0).normal(size=(40, 5))


def distances(X, Y):
    return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))


def test_widths_are_distances_to_the_kth_neighbour(samples):
    D = distances(samples, samples)
    widths = np.sort(D, axis=1)[:, 4]  # the nearest is the sample itself
    K = build_bank(samples, [SelfTuning(4)])[0]
    np.testing.assert_allclose(K, np.exp(-(D**2) / np.outer(widths, widths)), atol=1e-12)


def test_self_tuning_does_not_depend_on_the_scale_of_the_samples(samples):
    np.testing.assert_allclose(
        build_bank(1e6 * samples, [SelfTuning()]), build_bank(samples, [SelfTuning()]), atol=1e-9
    )


def test_copies_of_a_sample_are_alike_and_nothing_is_undefined(samples):
    X = np.concatenate([np.repeat(samples[:1], 9, axis=0), samples])
    K = build_bank(X, [SelfTuning(3), Neighbours(3)])
    assert np.isfinite(K).all()
    np.testing.assert_allclose(K[0, :9, :9], 1)
    assert np.isfinite(build_bank(np.ones((6, 2)), [SelfTuning(2), Neighbours(2)])).all()


def test_neighbours_in_common_make_samples_alike(samples):
    A = NearestNeighbors(n_neighbors=5).fit(samples).kneighbors_graph().toarray()
    A = np.maximum(A, A.T)
    N = A / np.sqrt(np.outer(A.sum(axis=1), A.sum(axis=1)))
    K = N @ N.T
    K /= np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    found = build_bank(samples, [Neighbours(5)])[0]
    np.testing.assert_allclose(found, K, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] > -1e-12


def test_more_neighbours_than_samples_are_all_of_them(samples):
    few = samples[:4]
    np.testing.assert_allclose(build_bank(few, [Neighbours(50)])[0], build_bank(few, [Neighbours(3)])[0])
    np.testing.assert_allclose(build_bank(few, [SelfTuning(50)])[0], build_bank(few, [SelfTuning(3)])[0])


def test_sparse_samples_give_the_same(samples):
    bank = [SelfTuning(), Neighbours()]
    X = np.where(samples > 0, samples, 0.0)
    np.testing.assert_allclose(build_bank(sparse.csr_array(X), bank), build_bank(X, bank), atol=1e-12)


@pytest.mark.parametrize("kernel", [SelfTuning(4), Neighbours(4)])
def test_new_samples_are_compared_with_the_fitted_ones(samples, kernel):
    fitted, new = samples[:30], samples[30:]
    banks = resolve_banks([kernel], 1)
    stack = stack_bank(fitted, banks)
    K = FittedBank.of([fitted], banks, stack).cross([new], np.ones(1))
    assert K.shape == (10, 30)
    assert np.isfinite(K).all()
    D = distances(new, fitted)
    if isinstance(kernel, SelfTuning):
        widths = np.sort(distances(fitted, fitted), axis=1)[:, 4]
        np.testing.assert_allclose(K, np.exp(-(D**2) / np.outer(np.sort(D, axis=1)[:, 3], widths)), atol=1e-12)
    else:
        assert (K >= 0).all()
        assert (K <= 1 + 1e-12).all()
        nearest = K[np.arange(10), D.argmin(axis=1)]
        assert nearest.mean() > K.mean()


def test_backends_agree(samples, foreign):
    for kernel in [SelfTuning(4), Neighbours(4)]:
        there = build_bank(foreign.asarray(samples), [kernel])
        np.testing.assert_allclose(to_numpy(there), build_bank(samples, [kernel]), atol=1e-10)


def test_neighbours_keep_a_sparse_graph_and_no_matrix(samples, xp):
    [(_, [kernel])] = stack_bank(xp.asarray(samples), [Neighbours(4)]).views
    assert {name for name, value in vars(kernel).items() if value is not None} == {
        *("n_neighbors", "graph", "roots", "degrees")
    }
    assert sparse.issparse(kernel.graph) == (xp.asarray(samples).__class__ is np.ndarray)
    if sparse.issparse(kernel.graph):
        assert kernel.graph.nnz < 2 * 4 * 40 + 1
    moved = kernel.moved(to_numpy)
    assert sparse.issparse(moved.graph)
    np.testing.assert_allclose(moved.graph.toarray(), dense(kernel.graph))
    assert Neighbours(4).moved(to_numpy) == Neighbours(4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_does_not_choose_among_neighbours_that_are_equally_far(dtype):
    X = np.random.default_rng(0).integers(0, 30, (80, 5)).astype(dtype) / 10
    expected = build_bank(X, [Neighbours(10)])
    for order in ([4, 3, 2, 1, 0], [1, 0, 2, 4, 3], [2, 4, 0, 3, 1]):
        np.testing.assert_array_equal(build_bank(X[:, order], [Neighbours(10)]) > 0, expected > 0)


@pytest.mark.parametrize("kernel", [SelfTuning(4), Neighbours(4)])
@pytest.mark.parametrize("size", [40, 40 * 7])
def test_blocks_of_rows_make_no_difference(monkeypatch, samples, kernel, size):
    expected = build_bank(samples, [kernel])
    monkeypatch.setattr(_arrays, "BLOCK_SIZE", size)
    np.testing.assert_allclose(build_bank(samples, [kernel]), expected, atol=1e-14)


def test_estimators_take_them_and_predict_with_them(samples):
    X = np.concatenate([samples[:20], samples[20:] + 10])
    model = KernelKMeans(2, kernel="neighbours", n_init=3, random_state=0).fit(X)
    assert len(set(model.labels_[:20])) == len(set(model.labels_[20:])) == 1
    assert np.array_equal(model.predict(X[[0, 39]] + 1e-3), model.labels_[[0, 39]])


@pytest.mark.parametrize("kind", [SelfTuning, Neighbours])
def test_a_number_of_neighbours_below_one_is_refused(kind):
    with pytest.raises(ValueError, match="n_neighbors=0 must be a whole number, 1 or more"):
        kind(0)
