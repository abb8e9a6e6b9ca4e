"""What every registered method must do: scikit-learn's own checks, and the promises of this library.

A new method is tested by being registered.
"""

from functools import cache

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelbraid
from callbacks import Heard
from kernelbraid import ADMM, LKG, LKGClassifier, methods
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import build_bank
from kernelbraid.methods import METHODS, KernelKMeans, MultipleKernelKMeans, kernels_taken
from problems import blobs

# One instance per class, and one per preset.
CLASSES = dict.fromkeys(type(model) for model in METHODS.values())
ESTIMATORS = [cls() for cls in [*CLASSES, LKGClassifier]]
ESTIMATORS += [LKG(preset=preset) for preset in ("authors", "paper")]

X, y = blobs(n=45)


def unlike_others(estimator):
    """What scikit-learn leaves out, by name, for semi-supervised classifiers, and what it asks of classifiers alone."""
    if isinstance(estimator, LKGClassifier):
        return {"check_classifiers_classes": "-1 is no label"}
    if hasattr(estimator, "predict_proba"):
        # They read the tags of classifiers, which clusterers have not; the test below asks for the same.
        checks = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
        expected = dict.fromkeys(checks, "takes what has predict_proba for a classifier of four classes")
        if getattr(estimator, "preset", "recommended") != "recommended" and isinstance(estimator, LKG):
            weighing = (
                "check_sample_weights_not_overwritten",
                *(f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")),
            )
            expected |= dict.fromkeys(weighing, "the paper's solver takes no weights, and says so")
        return expected
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks fit arbitrary noise
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=unlike_others)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [LKG(3), LKG(3, preset="authors", solver=ADMM(max_iter=10))])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clusterers_with_memberships_take_sparse_samples(estimator):
    noise = np.random.RandomState(0).uniform(size=(40, 3))
    noise[noise < 0.6] = 0
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        samples = container(noise)
        model = clone(estimator).fit(samples)
        assert model.predict(samples).shape == (40,)
        assert model.predict_proba(samples).shape == (40, 3)


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def fit(method, data=X, k=3, **parameters):
    return clone(method).set_params(**{"n_clusters": k, "random_state": 0, "n_init": 5, **parameters}).fit(data)


@pytest.fixture
def reference(method):
    """The fit of a method to the samples as they are."""
    return fitted(method)


fitted = cache(fit)


def where(condition):
    """Parametrise a test over the methods for which a condition holds."""
    names = [name for name, method in METHODS.items() if condition(method)]
    return pytest.mark.parametrize("method", [METHODS[name] for name in names], ids=names)


takes_kernels = where(lambda method: kernels_taken(method) != "none")


def kernels_of(method):
    """The precomputed kernels that a method takes, as data and parameters."""
    H = build_bank(X, "paper")
    if kernels_taken(method) == "one":
        return H[3], {"kernel": "precomputed"}
    return H, {"kernels": "precomputed"}


def test_every_class_is_exported():
    assert {cls.__name__ for cls in CLASSES} <= {*kernelbraid.__all__, *methods.__all__}


def test_separated_blobs_are_found_and_new_samples_get_the_label_of_their_cluster(method):
    model = fit(method, n_init=20)
    assert adjusted_rand_score(y, model.labels_) > 0.9  # LKGs at its defaults has one sample wrong
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.predict(X + 1e-3), model.labels_)


@pytest.mark.filterwarnings("ignore:The graph has:UserWarning")  # of twenty samples of noise
def test_there_are_exactly_as_many_labels_as_clusters(method):
    rng = np.random.default_rng(0)
    for k in (1, 2, 7, 20):
        labels = fit(method, rng.standard_normal((20, 3)), k).labels_
        assert sorted(set(labels.tolist())) == list(range(k))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # copies of four samples need no graph
def test_copies_of_a_sample_share_its_label(method):
    samples = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [0.0, -3.0]]), 4, axis=0)
    labels = fit(method, samples, 4).labels_
    assert len(set(labels.tolist())) == 4
    assert (labels.reshape(4, 4) == labels.reshape(4, 4)[:, :1]).all()


def test_fewer_distinct_samples_than_clusters_are_warned_of(method):
    with pytest.warns(ConvergenceWarning) as told:
        model = fit(method, np.repeat(np.array([[0.0, 1.0], [5.0, 5.0]]), 8, axis=0), 3)
    said = "found 2 clusters instead of 3, since no more of the 16 samples are distinct; lower n_clusters, or look for"
    [warning] = [warning for warning in told if said in str(warning.message)]
    assert warning.filename == method_file()
    assert sorted(set(model.labels_.tolist())) == [0, 1]
    assert getattr(model, "n_clusters_", 2) == 2
    assert getattr(model, "reliability_", 0.0) == 0


def method_file():
    """Where the methods are fitted."""
    return fit.__code__.co_filename


def test_results_live_where_the_samples_do(method, reference, foreign):
    model = fit(method, foreign.asarray(X))
    np.testing.assert_array_equal(to_numpy(model.labels_), reference.labels_)
    for name in ("labels_", "graph_", "embedding_", "kernel_weights_", "coefficients_", "centre_weights_"):
        if hasattr(reference, name):
            assert type(getattr(model, name)) is type(foreign.asarray(X)), name
    if hasattr(reference, "objective_"):
        assert model.objective_[-1] == pytest.approx(reference.objective_[-1], rel=1e-9)
    if (
        hasattr(reference, "graph_") and kernels_taken(method) != "none"
    ):  # more samples than features: many optimal graphs
        np.testing.assert_allclose(to_numpy(model.graph_), reference.graph_, atol=1e-7)


def test_devices_threads_and_forms_of_samples_change_no_cluster(method, reference):
    np.testing.assert_array_equal(fit(method, n_jobs=-1).labels_, reference.labels_)
    np.testing.assert_array_equal(fit(method, sparse.csr_array(X)).labels_, reference.labels_)
    single = fit(method, X.astype(np.float32))
    assert adjusted_rand_score(reference.labels_, single.labels_) == 1
    assert getattr(single, "graph_", X[:1].astype(np.float32)).dtype == np.float32
    pytest.importorskip("torch", reason="torch is not installed")
    by_name = fit(method, device="cpu")
    assert isinstance(by_name.labels_, np.ndarray)
    np.testing.assert_array_equal(by_name.labels_, reference.labels_)


@pytest.mark.gpu
def test_cuda_gives_the_same_clusters():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    for method in METHODS.values():
        assert adjusted_rand_score(fit(method).labels_, fit(method, device="cuda").labels_) == 1


@takes_kernels
def test_precomputed_kernels_may_be_arrays_or_data_frames(method):
    data, parameters = kernels_of(method)
    labels = fit(method, data, n_init=20, **parameters).labels_
    assert adjusted_rand_score(y, labels) == 1
    frames = pandas.DataFrame(data) if data.ndim == 2 else [pandas.DataFrame(K) for K in data]
    np.testing.assert_array_equal(fit(method, frames, n_init=20, **parameters).labels_, labels)


@where(lambda method: kernels_taken(method) == "one" and not hasattr(method, "alpha"))
def test_the_scale_of_a_single_precision_kernel_changes_no_label(method):
    data, parameters = kernels_of(method)
    expected = fit(method, data, **parameters).labels_
    for size in (1e-25, 1e20):
        scaled = fit(method, (data * size).astype(np.float32), **parameters)
        assert adjusted_rand_score(expected, scaled.labels_) == 1


def test_a_fit_publishes_what_its_class_documents_and_keeps_its_parameters(method, reference):
    assert repr(clone(reference)) == repr(reference)
    assert reference.n_iter_ >= 1
    documented = type(method).__doc__
    if "kernel_weights_ : " in documented or "solution_ : " in documented:
        found = getattr(reference, "solution_", None)
        weights = reference.kernel_weights_ if found is None else found.g
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)
        assert len(reference.kernel_names_ if found is None else found.names) == len(weights)
    if "objective_ : " in documented:
        assert reference.objective_.shape == (reference.n_iter_,)
        assert np.isfinite(reference.objective_).all()


def steps_of(method):
    """Return the largest number of steps of the iteration; None where nobody is told of them."""
    if isinstance(method, LKG):
        return None if method.solver is None else method.solver.max_iter or 200
    return None if isinstance(method, KernelKMeans | MultipleKernelKMeans) else getattr(method, "max_iter", None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the first step of LKG is no graph
def test_callbacks_hear_of_every_phase_and_of_every_step_and_end_the_iteration(method):
    heard, is_told = Heard(last_step=1), steps_of(method) is not None
    model = fit(clone(method).set_callbacks(heard))
    phases = [name for name, parts in heard.begun if name not in ("fit", "part")]
    assert heard.begun[0] == heard.ended[-1] == ("fit", len(phases))
    assert sorted(heard.begun) == sorted(heard.ended)
    assert heard.is_over
    assert len(heard.steps) == is_told
    if is_told:
        assert ("learning the graph", steps_of(method)) in heard.begun
        assert model.n_iter_ == 1
        assert {"change", "kernel_change"} & set(heard.steps[0])


BAD_SAMPLES = [
    (np.where(np.arange(270).reshape(45, 6) == 13, np.nan, X), r"NaN \(row 2, column 1\)"),
    (X[:2], "n_samples=2 is below n_clusters=3"),
    (X[None], "shape"),
    ([X, X[:20]], r"\[45, 20\] rows|takes one"),
    (X.astype(complex), "omplex"),
]


def test_bad_samples_kernels_and_bounds_get_the_sentences_of_the_core(method, monkeypatch):
    for data, message in BAD_SAMPLES:
        with pytest.raises(ValueError, match=message):
            fit(method, data)
    taken = kernels_taken(method)
    name = "kernel" if taken == "one" else "kernels"
    for wrong in () if taken == "none" else ("no such bank", [], [3]):
        with pytest.raises(ValueError, match=name):
            fit(method, **{name: wrong})
    bounds = r"'n_jobs' parameter of \w+ must be an int in the range \[1, inf\), an int in"
    with pytest.raises(ValueError, match=bounds):
        fit(method, n_jobs=0)
    monkeypatch.setattr("kernelbraid.learning.effort.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="45 samples"):
        fit(method)
