"""Where a fit runs, what it may use, and what comes back: arrays, devices and memory."""

import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel

from kernelbraid import LKG
from kernelbraid._arrays import BLOCK_SIZE, to_numpy
from kernelbraid.estimators.memory import predict_bytes
from kernelbraid.estimators.presets import PRESETS
from kernelbraid.kernels import Gaussian, LazyStack, Linear, build_bank
from problems import blobs

X, y = blobs(n=45)


def fit(data=X, k=3, **parameters):
    """A fit that learns its kernel, unless the parameters say otherwise."""
    gamma = {} if "preset" in parameters else {"gamma": 10.0}
    return LKG(k, **{"random_state": 0, "n_init": 10, **gamma, **parameters}).fit(data)


class TestBackends:
    """The input decides where a fit runs, and what its results are."""

    def assert_same(self, model, reference):
        for name in ("graph_", "kernel_", "coefficients_", "auxiliary_graph_"):
            np.testing.assert_allclose(to_numpy(getattr(model, name)), getattr(reference, name), atol=1e-9)
        np.testing.assert_array_equal(to_numpy(model.labels_), reference.labels_)

    @pytest.mark.parametrize("penalty", ["nuclear", "l1", "frobenius"])
    @pytest.mark.parametrize("preset", PRESETS)
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
    def test_arrays_of_any_library_are_used_where_they_are(self, xp, penalty, preset):
        samples = xp.asarray(X)
        model = fit(samples, graph_penalty=penalty, preset=preset, max_iter=20)
        for name in ("graph_", "kernel_", "coefficients_", "embedding_", "labels_", "kernel_weights_"):
            assert type(getattr(model, name)) is type(samples)
        self.assert_same(model, fit(graph_penalty=penalty, preset=preset, max_iter=20))

    def test_views_and_kernels_of_any_library(self, xp):
        views = [X[:, :3], X[:, 3:]]
        self.assert_same(fit([xp.asarray(view) for view in views]), fit(views))
        H = build_bank(X, "paper")
        self.assert_same(fit(xp.asarray(H), kernels="precomputed"), fit(H, kernels="precomputed"))

    @pytest.mark.parametrize(
        "data", [X, sparse.csr_array(X), [X, sparse.csr_array(X)]], ids=["dense", "sparse", "views"]
    )
    def test_a_device_by_name_gives_numpy_back(self, data):
        pytest.importorskip("torch", reason="torch is not installed")
        model = fit(data, device="cpu", kernels=[Gaussian(0.1), laplacian_kernel_of_dense, Linear()])
        assert isinstance(model.graph_, np.ndarray)
        assert isinstance(model.labels_, np.ndarray)
        self.assert_same(model, fit(data, kernels=[Gaussian(0.1), laplacian_kernel_of_dense, Linear()]))

    @pytest.mark.gpu
    @pytest.mark.parametrize(
        "parameters",
        [
            {"preset": "recommended"},
            {"gamma": 10.0},
            *({"preset": "authors", "graph_penalty": penalty, "mu": 0.1} for penalty in ("nuclear", "l1")),
        ],
        ids=["default", "learned", "nuclear", "l1"],
    )
    def test_cuda_gives_the_same_fit(self, parameters):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")
        self.assert_same(fit(device="cuda", **parameters), fit(**parameters))

    @pytest.mark.parametrize("name", ["cuda:99", "nosuch"])
    def test_a_device_that_is_not_there_is_refused(self, name):
        pytest.importorskip("torch", reason="torch is not installed")
        with pytest.raises(ValueError, match=f"device='{name}' is not available to PyTorch here"):
            fit(device=name)

    def test_a_device_without_torch_is_refused(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(ValueError, match="device='cuda' needs PyTorch"):
            fit(device="cuda")

    def test_mixed_libraries_are_refused(self, foreign):
        with pytest.raises(ValueError, match="arrays of different libraries"):
            fit([X, foreign.asarray(X)])

    def test_functions_may_give_numpy_arrays(self, foreign):
        kernels = [Linear(), laplacian_kernel_of_dense]
        self.assert_same(fit(foreign.asarray(X), kernels=kernels, max_iter=100), fit(kernels=kernels, max_iter=100))

    def test_tensors_that_record_derivatives_or_come_with_a_device(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        self.assert_same(fit(torch.tensor(X, requires_grad=True)), fit())
        self.assert_same(fit(torch.tensor(X), device="cpu"), fit())
        H = build_bank(X, "rmkkm")
        self.assert_same(fit(torch.tensor(H), kernels="precomputed", device="cpu"), fit(kernels="rmkkm"))

    def test_complex_numbers_are_refused(self, foreign):
        with pytest.raises(ValueError, match=r"X holds .*complex.* values; samples must be real"):
            fit(foreign.asarray(X + 1j))

    def test_mixed_kernels_are_refused(self, foreign):
        H = build_bank(X)
        with pytest.raises(ValueError, match="kernel 1 of X is another kind of array"):
            fit([H[0], foreign.asarray(H[1])], kernels="precomputed")

    def test_mixed_devices_are_refused(self):
        strict = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
        views = [strict.asarray(X, device=strict.Device(name)) for name in ("CPU_DEVICE", "device1")]
        with pytest.raises(ValueError, match=r"the views of X are on different devices \(.*device1.*\); move them"):
            fit(views)

    def test_bad_arrays_of_other_libraries_get_a_clear_sentence(self, foreign):
        for bad, message in [
            (np.where(X[3, 1] == X, np.nan, X), "X contains NaN or infinity"),
            (X[:, 0], "a matrix is needed; samples are rows"),
            (X[None], "set kernels='precomputed'"),
            (X[:, :0], "at least one sample and one feature"),
            (X[:2], "n_samples=2 is below n_clusters=3"),
        ]:
            with pytest.raises(ValueError, match=message):
                fit(foreign.asarray(bad))


def laplacian_kernel_of_dense(A, B):
    A, B = (M.toarray() if sparse.issparse(M) else to_numpy(M) for M in (A, B))
    return laplacian_kernel(A, B)


class TestMemory:
    """A fit says what it needs before it takes it."""

    def test_stored_and_lazy_kernels_give_the_same_fit(self):
        stored, lazy = fit(storage="stored"), fit(storage="lazy")
        np.testing.assert_allclose(lazy.graph_, stored.graph_, atol=1e-9)
        np.testing.assert_array_equal(lazy.labels_, stored.labels_)
        assert lazy.n_iter_ == stored.n_iter_

    def test_kernels_become_lazy_when_the_budget_asks_for_it(self, monkeypatch):
        monkeypatch.setattr(LazyStack, "store", lambda self: pytest.fail("stored"))
        assert fit(kernels="rmkkm", memory_budget=2.2e5).status_ == "converged"
        assert fit(memory_budget=2.4e5).status_ == "converged"

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            (
                {"memory_budget": 1e4, "kernels": "rmkkm"},
                r"45 samples with 12 kernels needs about 194 KB, and 10 KB may be used; use fewer",
            ),
            (
                {"memory_budget": 2.5e5, "storage": "stored", "kernels": "rmkkm"},
                r"needs about 373 KB, .* use storage='lazy' \(194 KB\) or",
            ),
            (
                {"memory_budget": 2.5e5, "storage": "stored"},
                r"45 samples with 7 kernels needs about 324 KB, .* use storage='lazy' \(227 KB\) or",
            ),
        ],
    )
    def test_a_fit_beyond_the_budget_is_refused_with_the_ways_out(self, parameters, message):
        with pytest.raises(MemoryError, match=message):
            fit(**parameters)

    def test_precomputed_kernels_are_there_already(self):
        with pytest.raises(MemoryError, match="needs about"):
            fit(build_bank(X), kernels="precomputed", memory_budget=1e3)
        assert fit(build_bank(X), kernels="precomputed", storage="lazy").status_ == "converged"

    @pytest.mark.parametrize(
        ("data", "parameters", "n_kernels", "n_views", "n_given"),
        [
            ("X", {"storage": "stored", "kernels": "rmkkm"}, 12, 1, 0),
            ("X", {"storage": "lazy", "kernels": "rmkkm"}, 12, 1, 0),
            ("X", {"storage": "stored"}, 7, 1, 2),
            ("X", {"storage": "lazy"}, 7, 1, 2),
            ("views", {"storage": "stored", "kernels": "rmkkm"}, 36, 3, 0),
            ("views", {"storage": "lazy", "kernels": "rmkkm"}, 36, 3, 0),
            ("kernels", {"kernels": "precomputed"}, 12, 0, 0),
            ("X", {"storage": "lazy", "kernels": [laplacian_kernel] * 5}, 5, 1, 5),
        ],
    )
    @pytest.mark.parametrize("gamma", [10.0, np.inf])
    def test_the_prediction_covers_the_peak(self, data, parameters, n_kernels, n_views, n_given, gamma):
        n = 400  # blocks of rows are small beside a matrix
        samples = np.random.default_rng(0).standard_normal((n, 4))
        given = {"X": samples, "views": [samples] * 3, "kernels": build_bank(samples)}[data]
        tracemalloc.start()
        try:
            LKG(3, gamma=gamma, max_iter=3, tol=0, n_init=2, random_state=0, **parameters).fit(given)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        stored = parameters.get("storage") != "lazy"
        predicted = predict_bytes(n, n_kernels, n_views, 8, stored=stored, n_given=n_given)
        blocks = 8 * 8 * BLOCK_SIZE  # a handful of blocks of rows
        assert 0.6 * predicted < peak < predicted + blocks
