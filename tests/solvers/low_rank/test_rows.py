import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid.kernels import BANKS
from kernelbraid.kernels.local import SelfTuning
from kernelbraid.kernels.rows import KernelRows, ViewRows
from kernelbraid.ops.graphs import strongest_edges
from kernelbraid.solvers.low_rank import rows
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients
from kernelbraid.solvers.low_rank.rows import (
    Basis,
    Cells,
    every_pair,
    mutual_pairs,
    nearest_in_rows,
    refined_in_rows,
    strongest_in_rows,
)

X = make_blobs(120, 4, centers=3, random_state=0)[0]
KERNEL = KernelRows([ViewRows.of(X, BANKS["middle"])])
K = KERNEL.values(KERNEL.at(slice(None)), np.arange(120), np.arange(120)).astype(np.float64)


def edges(counts=None, alpha=0.5, n_jobs=1, kernel=KERNEL, strongest=strongest_in_rows):
    basis = Basis.of(kernel, alpha / 50, counts, n_jobs, 120)
    left = basis.left(kernel.diagonal())
    found = strongest(kernel, basis, left, mutual_pairs(120, X), [alpha], 6, n_jobs, counts=counts)
    return (found[2] if isinstance(found, tuple) else found)[0]


def test_rows_are_those_of_the_closed_form():
    for alpha in [0.2, 1.0, 30.0]:
        found = edges(alpha=alpha)
        wanted = strongest_edges(ridge_coefficients(K, alpha), 6)
        assert ((found > 0).multiply(wanted > 0)).sum() > 0.97 * wanted.nnz
        shared = (found > 0).multiply(wanted > 0)
        np.testing.assert_allclose(found.multiply(shared).data, wanted.multiply(shared).data, atol=2e-3 / alpha)


def test_samples_that_count_twice_are_as_good_as_two_of_them():
    counts = np.where(np.arange(120) < 30, 2.0, 1.0)
    twice = np.repeat(np.arange(120), counts.astype(int))
    whole = ridge_coefficients(K[np.ix_(twice, twice)], 0.5)
    first = np.flatnonzero(np.diff(twice, prepend=-1))
    wanted = whole[np.ix_(first, first)] * counts[:, None]
    np.fill_diagonal(wanted, 0.0)
    found = edges(counts).toarray()
    np.testing.assert_allclose(found[found > 0], wanted.T[found > 0], atol=6e-3)


def test_any_number_of_threads_gives_the_same():
    one, two = edges(n_jobs=1), edges(n_jobs=2)
    np.testing.assert_array_equal(one.toarray(), two.toarray())


def test_pairs_that_are_looked_at_once_give_what_whole_rows_do(monkeypatch):
    counts = np.where(np.arange(120) < 30, 2.0, 1.0)
    everyone = np.arange(120)
    whole = Basis.of(KERNEL, 1e-9, counts, 1, 10)
    left = whole.left(KERNEL.diagonal())
    given = (whole, left, every_pair(everyone, everyone, X), [0.5, 2.0], 6, 1)
    wanted = strongest_in_rows(KERNEL, *given, counts=counts)
    monkeypatch.setattr(rows, "BLOCK", 400)
    tasks = list(mutual_pairs(120, X))
    seen = np.zeros((120, 120), dtype=int)
    for own, columns, is_mutual in tasks:
        seen[np.ix_(own, columns)] += 1
        seen[np.ix_(columns, own)] += is_mutual
    np.testing.assert_array_equal(seen, 1)
    found = strongest_in_rows(KERNEL, whole, left, tasks, [0.5, 2.0], 6, 2, counts=counts)
    better, left_by_it, refined = refined_in_rows(KERNEL, whole, left, tasks, [0.5, 2.0], 6, 1, counts=counts)
    again = strongest_in_rows(KERNEL, better, left_by_it, tasks, [0.5, 2.0], 6, 1, counts=counts)
    for pair in [*zip(found, wanted, strict=True), *zip(refined, again, strict=True)]:
        np.testing.assert_array_equal(*(np.diff(A.indptr) for A in pair))
        np.testing.assert_allclose(*(np.sort(A.toarray(), axis=1) for A in pair), atol=1e-5)
    distances, nearest = nearest_in_rows(KERNEL.views[0], tasks, 5, 1)
    assert ((np.diff(distances, axis=1) >= 0) & (nearest[:, 1:] != nearest[:, :-1])).all()


def test_kernels_that_are_local_alone_have_no_factor():
    kernel = KernelRows([ViewRows.of(X, [SelfTuning(7)])])
    basis = Basis.of(kernel, 0.02, None, 1, 100)
    assert basis.factor.shape == (120, 0)
    assert basis.at(kernel, kernel.at(slice(0, 5))).shape == (5, 0)


@pytest.mark.parametrize("strongest", [strongest_in_rows, refined_in_rows])
def test_samples_on_a_device_have_the_same_edges(foreign, strongest):
    there = KernelRows([ViewRows.of(foreign.asarray(X), BANKS["middle"])])
    for counts in (None, np.where(np.arange(120) < 30, 2.0, 1.0)):
        found = edges(counts, kernel=there, strongest=strongest)
        wanted = edges(counts, strongest=strongest)
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), atol=1e-3)


def test_cells_on_a_device_are_the_same(foreign):
    single = X.astype(np.float32)
    here, there = Cells.of(single, 1), Cells.of(foreign.asarray(single), 1)
    for own, other in zip(here.tasks_of(single + 0.1), there.tasks_of(foreign.asarray(single + 0.1)), strict=True):
        np.testing.assert_array_equal(np.concatenate(own[:2]), np.concatenate(other[:2]))


def test_every_sample_is_in_one_cell_and_compared_with_its_own():
    single = X.astype(np.float32)
    cells = Cells.of(single, 1)
    np.testing.assert_array_equal(np.sort(np.concatenate(cells.members)), np.arange(120))
    seen = np.zeros(120, dtype=int)
    for own, columns, _ in cells.tasks_of(single):
        assert np.isin(own, columns).all()
        seen[own] += 1
    np.testing.assert_array_equal(seen, 1)


def test_nearest_neighbours_are_found_in_their_order():
    distances, nearest = nearest_in_rows(KERNEL.views[0], mutual_pairs(120, X), 5, 1)
    D = ((X[:, None] - X[None, :]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :5], rtol=1e-3)
    np.testing.assert_allclose(np.take_along_axis(D, nearest, axis=1), distances, rtol=1e-3)
