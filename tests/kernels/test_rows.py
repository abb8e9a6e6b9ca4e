import numpy as np
import pytest
from array_api_compat import array_namespace
from scipy import sparse

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import BANKS, FittedBank, build_bank, stack_bank
from kernelbraid.kernels.rows import KernelRows, ViewRows, squared_distances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
ALL = np.arange(60)


def rows_of(X, bank):
    """The average of a bank in rows, its local kernels knowing all neighbours."""
    view = ViewRows.of(X, BANKS[bank])
    if view.n_nearest:
        D = squared_distances(view.points, view.points)
        np.fill_diagonal(D, np.inf)
        nearest = np.argsort(D, axis=1)[:, : view.n_nearest]
        view = view.knowing(np.take_along_axis(D, nearest, axis=1), nearest)
    return KernelRows([view])


@pytest.mark.parametrize("bank", ["middle", "near", "rmkkm", "paper", "local"])
@pytest.mark.parametrize(
    "samples",
    [X, sparse.csr_array(np.where(X > -0.8, X, 0.0)), X + 1000.0, 1e-20 * X],
    ids=["dense", "sparse", "far from the origin", "small numbers"],
)
def test_any_rows_are_those_of_the_bank(samples, bank):
    kernel = rows_of(samples, bank)
    wanted = build_bank(samples, bank).mean(axis=0)
    rows, columns = np.array([3, 40, 41]), np.array([0, 3, 41, 59])
    found = kernel.values(kernel.at(rows), columns, rows)
    np.testing.assert_allclose(found, wanted[np.ix_(rows, columns)], atol=2e-4)
    np.testing.assert_allclose(kernel.diagonal(), np.diagonal(wanted), atol=2e-4)


@pytest.mark.parametrize("bank", ["middle", "near"])
def test_new_samples_are_compared_as_those_that_are_there(bank):
    kernel, new, m = rows_of(X, bank), X[:7] + 0.1, len(BANKS[bank])
    fitted = FittedBank.of([X], [list(BANKS[bank])], stack_bank(X, bank))
    wanted = fitted.cross([new], np.full(m, 1 / m))
    np.testing.assert_allclose(kernel.values(kernel.new([new]), ALL), wanted, atol=1e-3)


@pytest.mark.parametrize("bank", ["middle", "near", "paper"])
def test_rows_are_formed_where_samples_are(xp, bank):
    wanted, single = rows_of(X, bank), X.astype(np.float32)
    view = ViewRows.of(xp.asarray(single), BANKS[bank])
    known = wanted.views[0]
    if view.n_nearest:
        D = squared_distances(known.points, known.points)
        np.fill_diagonal(D, np.inf)
        nearest = np.argsort(D, axis=1)[:, : view.n_nearest]
        view = view.knowing(np.take_along_axis(D, nearest, axis=1), nearest)
    kernel = KernelRows([view])
    rows, columns = np.array([3, 40, 41]), np.array([0, 3, 41, 59])
    found = kernel.values(kernel.at(rows), columns, rows)
    assert array_namespace(found) is array_namespace(xp.asarray(single))
    np.testing.assert_allclose(to_numpy(found), wanted.values(wanted.at(rows), columns, rows), atol=1e-5)
    new = X[:7] + 0.1
    of_new = kernel.values(kernel.new([xp.asarray(new)]), ALL)
    np.testing.assert_allclose(to_numpy(of_new), wanted.values(wanted.new([new]), ALL), atol=1e-5)
    here = kernel.moved(to_numpy)
    np.testing.assert_allclose(here.values(here.new([new]), ALL), to_numpy(of_new), atol=1e-5)
    np.testing.assert_allclose(to_numpy(view.samples()), single, atol=1e-6)


def test_kernels_of_views_are_summed_with_their_weights():
    one, other = (rows_of(A, "middle").views[0] for A in (X, X[:, :2]))
    both = KernelRows([one, other], [0.25, 0.75])
    single = [KernelRows([view]) for view in (one, other)]
    parts = [kernel.values(kernel.at(ALL), ALL, ALL) for kernel in single]
    np.testing.assert_allclose(both.values(both.at(ALL), ALL, ALL), 0.25 * parts[0] + 0.75 * parts[1], rtol=1e-5)
