import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG
from kernelbraid._arrays import row_digests, to_numpy
from kernelbraid.kernels import Gaussian, LazyStack, Linear, Neighbours, StoredStack, build_bank, pairs
from kernelbraid.learning import sources as module
from kernelbraid.learning.extend import NewSamples
from kernelbraid.learning.given import GivenKernels
from kernelbraid.learning.sources import Views, identities, is_bank_per_view, spread_out
from problems import blobs, lkg

X, _ = blobs(n=30)


BANK = [Gaussian(0.1), Gaussian(1.0), Linear()]


def count_calls(monkeypatch, owner, name):
    function, calls = getattr(owner, name), []
    monkeypatch.setattr(owner, name, lambda *given, **more: calls.append(given) or function(*given, **more))
    return calls


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_posed_kernels_are_those_of_the_bank(stored, form):
    candidates = Views([form(X)]).pose(BANK, stored=stored)
    assert isinstance(candidates.stack, StoredStack if stored else LazyStack)
    H = build_bank(X, BANK)
    for i in range(3):
        np.testing.assert_allclose(candidates.stack.combine(np.eye(3)[i]), H[i], atol=1e-12)
    assert candidates.names == [kernel.name for kernel in BANK]
    assert candidates.n_samples == 30


def test_the_average_is_that_of_all_kernels(xp):
    views = [xp.asarray(X), xp.asarray(X[:, :2])]
    found = Views(views).pose("rmkkm").average()
    assert type(found) is type(views[0])
    expected = np.concatenate([build_bank(X, "rmkkm"), build_bank(X[:, :2], "rmkkm")]).mean(axis=0)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-12)


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_average_is_kept_only_if_it_is_shared(monkeypatch, is_shared):
    candidates = Views([X]).pose(BANK, is_shared=is_shared)
    sums = count_calls(monkeypatch, LazyStack, "combine")
    first, second = candidates.average(), candidates.average()
    np.testing.assert_array_equal(first, second)
    assert (first is second) is is_shared
    assert len(sums) == (1 if is_shared else 2)


def test_the_average_of_stored_kernels_is_not_one_of_them():
    stack = Views([X]).pose([Gaussian(1.0)], stored=True)
    K = stack.average()
    K[:] = 0
    assert stack.average().any()


def test_inner_products_and_digests_are_formed_once_for_all_banks(monkeypatch):
    formed = count_calls(monkeypatch, pairs, "pairs_within")
    digested = count_calls(monkeypatch, module, "row_digests")
    views = Views([X, X[:, :3]])
    assert formed == digested == []
    posed = [views.pose(bank) for bank in ("rmkkm", BANK, "auto", "local")]
    for candidates in posed:
        np.testing.assert_array_equal(candidates.identities, np.arange(30))
        candidates.average()
    assert len(formed) == 2
    assert len(digested) == 1


def test_banks_over_shared_products_are_what_each_is_alone():
    views = Views([X])
    for bank in ("rmkkm", "local", BANK, [Neighbours(4)]):
        np.testing.assert_array_equal(views.pose(bank).average(), Views([X]).pose(bank).average())


def test_copies_have_one_number_over_all_views():
    first, second = X[[0, 0, 1, 1]], X[[2, 2, 2, 3]]
    assert Views([first]).pose(BANK).identities.tolist() == [0, 0, 1, 1]
    assert Views([first, second]).pose(BANK).identities.tolist() == [0, 0, 1, 2]


def test_results_are_single_only_if_all_views_are():
    single = X.astype(np.float32)
    for views, dtype in (([single], np.float32), ([single, single], np.float32), ([single, X], np.float64)):
        assert Views(views).size(BANK)["itemsize"] == np.dtype(dtype).itemsize
        assert Views(views).pose(BANK).average().dtype == dtype


def test_the_size_of_a_problem_is_known_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(pairs, "pairs_within", lambda *_: pytest.fail("computed"))
    size = Views([X, X[:, :2]]).size([*BANK, Neighbours(5)])
    assert size == {"n_samples": 30, "n_kernels": 8, "n_views": 2, "itemsize": 8, "n_given": 4}


def test_arrays_are_placed_where_they_are_asked_to_be():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    posed = Views([X], torch.asarray).pose("local")
    assert isinstance(posed.average(), torch.Tensor)
    np.testing.assert_allclose(to_numpy(posed.average()), build_bank(X, "local").mean(axis=0), atol=1e-12)


def test_a_bank_for_new_samples_comes_along(xp):
    A = xp.asarray(X)
    posed = Views([A]).pose(BANK)
    weights = np.array([0.5, 0.3, 0.2])
    cross = to_numpy(posed.bank.cross([A[:4, :]], weights))
    np.testing.assert_allclose(cross, to_numpy(posed.stack.combine(weights))[:4], atol=1e-12)


def test_a_list_of_banks_is_told_from_a_bank():
    assert is_bank_per_view(["middle", BANK])
    for bank in ("middle", BANK, []):
        assert not is_bank_per_view(bank)


def test_a_graph_over_some_samples_is_spread_over_all():
    graph = sparse.csr_array(np.array([[0, 2.0], [2, 0]]))
    found = spread_out(graph, np.array([3, 1]), 4).toarray()
    assert found[1, 3] == found[3, 1] == 2
    assert found.sum() == 4
    assert spread_out(graph, None, 2) is graph


class TimeSeries(GivenKernels):
    """Series of different lengths, by a kernel of how far each must be warped to follow another."""

    def __init__(self, series):
        self.series = series
        self.distances = warped(series, series)
        self.width = np.median(self.distances)
        super().__init__([self.kernel(self.distances)], np.stack)

    def kernel(self, distances):
        return np.exp(-((distances / self.width) ** 2))

    def new(self, series):
        return NewSamples([[self.kernel(warped(series, self.series))]], [np.ones(len(series), dtype=bool)])


def warped(some, others):
    """Dynamic time warping: the least sum of differences, where one series may wait for the other."""

    def cost(a, b):
        sums = np.full((len(a) + 1, len(b) + 1), np.inf)
        sums[0, 0] = 0
        for i, j in np.ndindex(len(a), len(b)):
            sums[i + 1, j + 1] = abs(a[i] - b[j]) + min(sums[i, j], sums[i, j + 1], sums[i + 1, j])
        return sums[-1, -1]

    return np.array([[cost(a, b) for b in others] for a in some])


def test_a_new_kind_of_samples_is_one_class():
    rng, shapes = np.random.default_rng(0), (np.square, np.negative, np.exp)
    times = [np.linspace(-2, 2, n) for n in rng.integers(8, 14, size=36)]
    series = [shapes[i % 3](t) + 0.2 * rng.normal(size=len(t)) for i, t in enumerate(times)]
    source = TimeSeries(series[:30])
    model = LKG(3, random_state=0).fit(source)
    assert adjusted_rand_score(np.arange(30) % 3, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(source.new(series)), model.labels_[np.arange(36) % 3])
    assert lkg(3, matrices=True, random_state=0).fit(source).solution_.names == ["kernel 0"]


ROWS = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [2.0, 3.0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_equal_rows_get_equal_numbers_in_order_of_appearance(form):
    np.testing.assert_array_equal(identities(row_digests([form(ROWS)])), [0, 0, 1, 0, 2])


def test_rows_of_any_library_have_the_digests_of_numpy(xp):
    np.testing.assert_array_equal(row_digests([xp.asarray(ROWS)]), row_digests([ROWS]))


def test_samples_differ_if_they_differ_in_one_view():
    other = np.array([[1.0], [2.0], [3.0], [1.0], [5.0]])
    np.testing.assert_array_equal(identities(row_digests([ROWS, other])), [0, 1, 2, 0, 3])


def test_stored_zeros_of_a_sparse_matrix_are_zeros():
    A = sparse.csr_array((np.array([1.0, 0.0, 1.0]), (np.array([0, 0, 1]), np.array([1, 0, 1]))), shape=(2, 2))
    np.testing.assert_array_equal(identities(row_digests([A])), [0, 0])
    assert A.nnz == 3


def test_entries_that_are_stored_twice_or_in_any_order_are_the_same_row():
    whole = sparse.csr_array(np.array([[0.0, 3.0, 1.0]]))
    order = np.array([2, 1, 1], dtype=whole.indices.dtype)
    parts = sparse.csr_array((np.array([1.0, 1.0, 2.0]), order, np.array([0, 3], dtype=order.dtype)), shape=(1, 3))
    np.testing.assert_array_equal(row_digests([parts]), row_digests([whole]))


def test_the_width_of_the_indices_does_not_matter():
    A = sparse.csr_array(ROWS)
    wide = sparse.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    assert wide.indices.dtype != A.indices.dtype
    np.testing.assert_array_equal(row_digests([wide]), row_digests([A]))


def test_views_do_not_run_into_each_other():
    one, other = (sparse.csr_array(np.array([row])) for row in ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0]))
    assert (row_digests([one, other]) != row_digests([other, one])).all()


@given(st.integers(1, 20), st.integers(1, 3), st.integers(0, 100))
def test_the_numbers_are_those_of_distinct_rows(n, d, seed):
    A = np.random.default_rng(seed).integers(0, 2, size=(n, d)).astype(float)
    found = identities(row_digests([A]))
    np.testing.assert_array_equal(found[:, None] == found, (A[:, None] == A).all(axis=2))
    first = [int(found[i]) for i in range(n) if found[i] not in found[:i]]
    assert first == list(range(len(first)))


def test_rows_of_the_same_numbers_in_other_columns_have_other_digests():
    pairs = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    assert identities(row_digests([pairs])).tolist() == [0, 1, 0]
    assert identities(row_digests([pairs], by_place=False)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
def test_rows_have_the_digests_of_an_array_in_any_form(form):
    np.testing.assert_array_equal(row_digests([form(ROWS)]), row_digests([ROWS]))


def test_columns_that_are_shifted_and_scaled_hold_the_same_numbers():
    X = np.random.default_rng(3).normal(size=(30, 4))
    other = X + np.random.default_rng(4).normal(scale=0.01, size=X.shape)
    samples = Views([X, 2 * X + 1, X * [1.0, -2.0, 3.0, 0.5], other, X[:, :3], np.ones_like(X)])
    assert [samples.are_equal(0, view) for view in range(1, 6)] == [True, True, False, False, False]
    sparse_views = Views([sparse.csr_array(X), sparse.csr_array(X), sparse.csr_array(other)])
    assert sparse_views.are_equal(0, 1)
    assert not sparse_views.are_equal(0, 2)
