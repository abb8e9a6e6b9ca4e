"""Where a fit runs, what it may use, and what comes back: arrays, devices and memory."""

import re
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbraid import ADMM, LKG, LKGClassifier, _arrays
from kernelbraid._arrays import to_numpy
from kernelbraid.estimators.base import as_published, publish, warn_of
from kernelbraid.estimators.classifier import copy_features
from kernelbraid.estimators.reading import read_samples
from kernelbraid.kernels import Gaussian, LazyStack, Linear, build_bank
from kernelbraid.learning.given import GivenKernels
from kernelbraid.learning.sources import Views
from kernelbraid.methods import KernelKMeans, KernelSpectralClustering, SimplexGraph
from kernelbraid.methods.base import read_candidate, read_candidates
from problems import blobs, dense, lkg

X, y = blobs(n=45)


def fit(data=X, k=3, **parameters):
    """A fit that learns its kernel, unless the parameters say otherwise, and keeps its matrices."""
    gamma = {} if "preset" in parameters else {"gamma": 10.0}
    common = {"random_state": 0, "n_init": 10, "matrices": True}
    return lkg(k, **{**common, **gamma, **parameters}).fit(data)


class TestBackends:
    """The input decides where a fit runs, and what its results are."""

    def assert_same(self, model, reference):
        np.testing.assert_allclose(dense(model.graph_), dense(reference.graph_), atol=1e-9)
        for name in "KZJ":
            np.testing.assert_allclose(*(dense(getattr(m.solution_, name)) for m in (model, reference)), atol=1e-9)
        np.testing.assert_array_equal(to_numpy(model.labels_), reference.labels_)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
    def test_arrays_of_any_library_are_used_where_they_are(self, xp):
        for penalty, preset in [("frobenius", "recommended"), ("nuclear", "authors"), ("l1", "paper")]:
            samples = xp.asarray(X)
            model = fit(samples, graph_penalty=penalty, preset=preset, max_iter=20)
            is_sparse = preset == "recommended" and isinstance(samples, np.ndarray)
            assert type(model.graph_) is (sparse.csr_array if is_sparse else type(samples))
            solution = model.solution_
            for A in (solution.K, solution.Z, solution.g, model.embedding_, model.labels_):
                assert type(A) is type(samples)
            self.assert_same(model, fit(graph_penalty=penalty, preset=preset, max_iter=20))

    def test_views_and_kernels_of_any_library(self, foreign):
        views = [X[:, :3], X[:, 3:]]
        self.assert_same(fit([foreign.asarray(view) for view in views]), fit(views))
        H = build_bank(X, "paper")
        self.assert_same(fit(foreign.asarray(H), kernels="precomputed"), fit(H, kernels="precomputed"))

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

    @pytest.mark.filterwarnings("ignore:X is a list of 2 kernels")
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


def leave(monkeypatch, n_bytes):
    """Let a machine have so much memory that is free."""
    monkeypatch.setattr("kernelbraid.learning.effort.available_bytes", lambda: int(n_bytes))


class TestMemory:
    """A fit says what it needs before it takes it."""

    def test_stored_and_lazy_kernels_give_the_same_fit(self, monkeypatch):
        stored = fit(kernels="rmkkm")
        monkeypatch.setattr(LazyStack, "store", lambda self: pytest.fail("stored"))
        leave(monkeypatch, 3.2e5)
        lazy = fit(kernels="rmkkm")
        np.testing.assert_allclose(dense(lazy.graph_), dense(stored.graph_), atol=1e-9)
        np.testing.assert_array_equal(lazy.labels_, stored.labels_)
        assert lazy.n_iter_ == stored.n_iter_

    def test_a_fit_beyond_what_is_free_is_refused_with_the_ways_out(self, monkeypatch):
        leave(monkeypatch, 1e4)
        with pytest.raises(MemoryError, match=r"12 kernels needs about 215 KB, and 10 KB are free; use fewer"):
            fit(kernels="rmkkm")
        leave(monkeypatch, 1.6e5)
        with pytest.raises(MemoryError, match=r"12 kernels needs about .* use float32 data \(.*\) or fewer"):
            fit(kernels="rmkkm")

    def test_precomputed_kernels_are_there_already(self, monkeypatch):
        assert fit(build_bank(X), kernels="precomputed").solution_.status == "converged"
        leave(monkeypatch, 1e3)
        with pytest.raises(MemoryError, match="needs about"):
            fit(build_bank(X), kernels="precomputed")

    @pytest.mark.filterwarnings("ignore::UserWarning")  # what they find is not the point
    @pytest.mark.parametrize(
        ("n", "widths", "parameters"),
        [
            (900, [30], {}),
            (500, [2], {}),  # local kernels
            (2500, [30], {}),  # rows
            (2500, [3], {}),
            (300, [30], {"n_clusters": "auto"}),
            (400, [30], {"solver": ADMM(max_iter=3, tol=0)}),
            (400, [30], {"preset": "authors", "solver": ADMM(max_iter=3, tol=0)}),
            (400, [30], {"kernels": [laplacian_kernel] * 5}),
            (500, [30, 9, 30], {}),
            (500, [30, 9, 30], {"n_neighbors": "all"}),
            (500, [30, 9, 30], {"fusion": "kernels"}),
            (400, [30, 9, 30], {"preset": "authors", "kernels": "middle", "solver": ADMM(max_iter=3, tol=0)}),
        ],
        ids=range(12),
    )
    def test_a_fit_takes_what_it_says_it_needs(self, monkeypatch, n, widths, parameters):
        views = [make_blobs(n, d, centers=3, cluster_std=4, random_state=i)[0] for i, d in enumerate(widths)]
        given = views[0] if len(views) == 1 else views
        model = LKG(**{"n_clusters": 3, "random_state": 0, **parameters})
        leave(monkeypatch, 1e4)
        with pytest.raises(MemoryError) as told:
            model.fit(given)
        number, unit = re.search(r"needs about ([\d.]+) (\w+)", str(told.value)).groups()
        said = float(number) * {"KB": 1e3, "MB": 1e6}[unit]
        leave(monkeypatch, 1.01 * said)
        tracemalloc.start()
        try:
            model.fit(given)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert 0.7 < said / peak < 1.3, said / peak

    def test_a_default_fit_holds_no_kernel_but_their_average(self, monkeypatch):
        n = 600
        monkeypatch.setattr(_arrays, "BLOCK_SIZE", 6000)  # blocks of rows are small beside a matrix
        samples = np.random.default_rng(0).standard_normal((n, 30))
        tracemalloc.start()
        try:
            model = LKG(3, random_state=0).fit(samples)
            kept, peak = (size / (8 * n * n) for size in tracemalloc.get_traced_memory())
        finally:
            tracemalloc.stop()
        assert peak < 4.5
        assert kept < 0.5  # the graph is sparse, and no matrix stays
        assert len(model.settings_["kernels"]) == 4


class TestReading:
    """What is checked once serves any number of fits."""

    def test_samples_are_read_as_views_or_kernels(self):
        views = read_samples(LKG(3), [X, X[:, :2]], "middle")
        assert isinstance(views, Views)
        assert [view.shape for view in views.views] == [(45, 6), (45, 2)]
        given = read_samples(LKG(3), build_bank(X, "paper"), "precomputed")
        assert isinstance(given, GivenKernels)
        assert len(given.matrices) == 12

    def test_the_number_of_features_is_noted(self):
        model = LKG(3)
        read_samples(model, [X, X[:, :2]], "middle")
        assert model.n_features_in_ == 8

    def test_memory_is_checked_before_anything_is_computed(self, monkeypatch):
        monkeypatch.setattr("kernelbraid.kernels.pairs.pairs_within", lambda *_: pytest.fail("computed"))
        leave(monkeypatch, 1e3)
        with pytest.raises(MemoryError, match="needs about"):
            read_candidates(LKG(3), X, "auto")

    def test_one_kernel_over_one_view_is_one_kernel(self):
        candidates = read_candidate(KernelKMeans(3), X, Gaussian(0.5), working=3.0)
        assert candidates.names == [Gaussian(0.5).name]
        np.testing.assert_allclose(candidates.average(), build_bank(X, [Gaussian(0.5)])[0])
        with pytest.raises(ValueError, match="X holds 2 views, and KernelKMeans takes one"):
            read_candidate(KernelKMeans(3), [X, X], Gaussian(0.5), working=3.0)
        with pytest.raises(ValueError, match="X holds 2 kernels, and KernelKMeans takes one"):
            read_candidate(KernelKMeans(3), build_bank(X)[:2], "precomputed", working=3.0)

    def test_results_come_back_in_the_kind_of_array_of_the_caller(self, xp):
        like, graph = xp.asarray(X), sparse.csr_array(np.eye(3))
        published = as_published(LKG(), like, graph)
        assert type(published) is (sparse.csr_array if isinstance(like, np.ndarray) else type(like))
        np.testing.assert_array_equal(dense(published), np.eye(3))
        model = LKG(device="cpu")
        publish(model, like, graph_=graph, labels_=xp.asarray([0, 1, 2]))
        assert isinstance(model.graph_, sparse.csr_array)
        assert isinstance(model.labels_, np.ndarray)

    def test_a_complaint_is_a_warning_and_none_is_none(self):
        warn_of(None)
        with pytest.warns(ConvergenceWarning, match="what happened"):
            warn_of("what happened")

    def test_features_are_copied_where_they_are_known(self):
        source, target = LKG(3), LKG(3)
        source.n_features_in_ = 7
        copy_features(source, target)
        assert target.n_features_in_ == 7
        assert not hasattr(target, "feature_names_in_")


class TestScales:
    """Features in units that differ by orders of magnitude."""

    RAW = np.abs(X) * np.r_[1e4, np.ones(X.shape[1] - 1)] + 1.0

    def test_every_estimator_warns_once_where_it_was_called(self):
        for kind in [LKG, KernelKMeans, SimplexGraph, KernelSpectralClustering]:
            model = kind(3, random_state=0)
            with pytest.warns(UserWarning, match=r"^feature 0 \(counted from 0\) of X has .*StandardScaler") as caught:
                model.fit(self.RAW)
            assert len(caught) == 1
            assert caught[0].filename == __file__

    def test_the_classifier_warns_too(self):
        with pytest.warns(UserWarning, match="^feature 0"):
            LKGClassifier().fit(self.RAW, np.where(np.arange(len(y)) < 9, y, -1))

    @pytest.mark.filterwarnings("error")
    def test_scaled_features_are_welcome_also_through_a_pipeline(self):
        make_pipeline(StandardScaler(), LKG(3, random_state=0)).fit(self.RAW)

    def test_a_column_has_its_name(self):
        pandas = pytest.importorskip("pandas")
        names = [f"size of {number}" for number in range(X.shape[1])]
        with pytest.warns(UserWarning, match="^feature 'size of 0' of X has"):
            KernelKMeans(3, random_state=0).fit(pandas.DataFrame(self.RAW, columns=names))

    def test_kernels_and_new_samples_have_no_scales(self):
        K = self.RAW @ self.RAW.T
        LKG(3, kernels="precomputed", random_state=0).fit(K)
        LKG(3, random_state=0).fit(X).predict(self.RAW)

    @pytest.mark.filterwarnings("ignore:of the views of X")
    def test_the_view_is_named(self, foreign):
        views = [foreign.asarray(X), foreign.asarray(self.RAW)]
        with pytest.warns(UserWarning, match=r"^feature 0 \(counted from 0\) of view 2 of X"):
            LKG(3, fusion="kernels", solver=ADMM(gamma=10.0), random_state=0).fit(views)
