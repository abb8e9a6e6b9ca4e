import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel

from kernelbraid import _arrays
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, Linear, StoredStack, build_bank, stack_bank

X = np.random.default_rng(0).standard_normal((14, 5))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_arrays, "BLOCK_SIZE", 14 * 4)  # four rows a block: the last one is short


@pytest.mark.parametrize("kind", ["stored", "lazy"])
@pytest.mark.parametrize("bank", ["rmkkm", "paper", [Gaussian(0.1), laplacian_kernel, Linear("max")]])
def test_sums_and_traces_are_what_their_formulas_say(xp, kind, bank):
    if xp.__name__.endswith("torch") and not isinstance(bank, str):
        pytest.skip("laplacian_kernel is a function of NumPy arrays")
    H = build_bank(X, bank)
    lazy = stack_bank(xp.asarray(X) if isinstance(bank, str) else X, bank)
    stack = lazy if kind == "lazy" else lazy.store()
    rng = np.random.default_rng(1)
    g, K = rng.dirichlet(np.ones(len(H))), rng.random(H.shape[1:])  # K is not symmetric
    g[0] = 0.0
    given = xp.asarray(K) if isinstance(bank, str) else K
    assert (stack.n_kernels, stack.n_samples) == (len(H), 14)
    np.testing.assert_allclose(to_numpy(stack.combine(g)), np.tensordot(g, H, 1), rtol=1e-12)
    np.testing.assert_allclose(stack.inner_products(), [[np.trace(a @ b) for b in H] for a in H], rtol=1e-12)
    np.testing.assert_allclose(stack.traces(given), [np.trace(K @ h) for h in H], rtol=1e-12)


def test_views_are_joined():
    views = [X, X[:, :2]]
    np.testing.assert_allclose(stack_bank(views).inner_products(), StoredStack(build_bank(views)).inner_products())


def test_single_precision_comes_out_single():
    stack = stack_bank(X.astype(np.float32))
    assert stack.combine(np.full(12, 1 / 12)).dtype == np.float32
    assert stack.store().H.dtype == np.float32
