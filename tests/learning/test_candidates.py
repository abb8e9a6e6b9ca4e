import numpy as np
import pytest
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, LazyStack, Linear, Neighbours, StoredStack, build_bank, pairs
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning import candidates as module
from kernelbraid.learning.candidates import GivenKernels, Views
from problems import blobs

X, _ = blobs(n=30)
BANK = [Gaussian(0.1), Gaussian(1.0), Linear()]


def count_calls(monkeypatch, owner, name):
    function, calls = getattr(owner, name), []
    monkeypatch.setattr(owner, name, lambda *given, **more: calls.append(given) or function(*given, **more))
    return calls


def given(H, **more):
    return GivenKernels(list(H), stack_kernels, **more)


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
        assert Views(views).is_single is (dtype is np.float32)
        assert Views(views).pose(BANK).average().dtype == dtype


def test_the_size_of_a_problem_is_known_before_anything_is_computed(monkeypatch):
    kernels = build_bank(X, BANK)
    monkeypatch.setattr(pairs, "pairs_within", lambda *_: pytest.fail("computed"))
    size = Views([X, X[:, :2]]).size([*BANK, Neighbours(5)])
    assert size == {"n_samples": 30, "n_kernels": 8, "n_views": 2, "itemsize": 8, "n_given": 2}
    assert Views([X.astype(np.float32)]).size("rmkkm")["itemsize"] == 4
    assert given(kernels).size(None) == {"n_samples": 30, "n_kernels": 3, "n_views": 0, "itemsize": 8}
    assert given(kernels.astype(np.float32)).size(None)["itemsize"] == 4


def test_arrays_are_placed_where_they_are_asked_to_be():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    place = torch.asarray
    posed = Views([X], place).pose("local")
    assert isinstance(posed.average(), torch.Tensor)
    np.testing.assert_allclose(to_numpy(posed.average()), build_bank(X, "local").mean(axis=0), atol=1e-12)
    assert isinstance(given(build_bank(X, BANK), place=place).pose(None).average(), torch.Tensor)


def test_a_bank_for_new_samples_comes_along(xp):
    A = xp.asarray(X)
    posed = Views([A]).pose(BANK)
    weights = np.array([0.5, 0.3, 0.2])
    cross = to_numpy(posed.bank.cross([A[:4, :]], weights))
    np.testing.assert_allclose(cross, to_numpy(posed.stack.combine(weights))[:4], atol=1e-12)


class TestGivenKernels:
    H = build_bank(X, BANK)

    @pytest.mark.parametrize("stored", [False, True])
    def test_kernels_are_taken_as_they_are(self, xp, stored):
        candidates = given([xp.asarray(K) for K in self.H]).pose(None, stored=stored)
        assert isinstance(candidates.stack, StoredStack if stored else LazyStack)
        np.testing.assert_allclose(to_numpy(candidates.average()), self.H.mean(axis=0), atol=1e-14)
        assert candidates.names == ["kernel 0", "kernel 1", "kernel 2"]
        assert candidates.bank is None

    def test_they_are_not_checked_before_they_are_needed(self):
        checked = []
        kernels = GivenKernels(list(self.H), lambda matrices: checked.append(1) or stack_kernels(matrices))
        kernels.size(None)
        assert checked == []
        kernels.pose(None).average()
        assert checked == [1]

    def test_samples_with_equal_rows_are_copies(self):
        rows = np.array([0, 1, 0, 2])
        candidates = given(self.H[:, rows][:, :, rows]).pose(None)
        assert candidates.identities.tolist() == [0, 1, 0, 2]

    @pytest.mark.parametrize("stored", [False, True])
    def test_posing_and_summing_leave_the_kernels_alone(self, xp, stored):
        for count in [1, 3]:
            H = xp.asarray(self.H[:count], copy=True)
            candidates = given([H[i, ...] for i in range(count)]).pose(None, stored=stored)
            total = candidates.average()
            total *= 0.0
            candidates.stack.factor()
            np.testing.assert_array_equal(to_numpy(H), self.H[:count])
            np.testing.assert_allclose(to_numpy(candidates.average()), self.H[:count].mean(axis=0), atol=1e-12)
