import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from kernelbraid.methods import (
    AffinityAggregation,
    KernelSpectralClustering,
    MultipleKernelTwinGraph,
    SimplexGraph,
    TwinGraph,
)
from kernelbraid.methods import base as module
from kernelbraid.methods.base import GraphClusterer
from kernelbraid.ops.graphs import spectral_embedding
from kernelbraid.solvers.iterate import Status
from problems import blobs, dense

X, y = blobs(n=30)
X = X - X.min()
CLASSES = [AffinityAggregation, KernelSpectralClustering, MultipleKernelTwinGraph, SimplexGraph, TwinGraph]
ALTERNATING = [AffinityAggregation, MultipleKernelTwinGraph, TwinGraph]


@pytest.fixture(params=CLASSES, ids=lambda kind: kind.__name__)
def make(request):
    return lambda **parameters: request.param(3, **{"n_init": 5, "random_state": 0, **parameters})


def test_all_of_them_are_graph_clusterers(make):
    assert isinstance(make(), GraphClusterer)
    assert adjusted_rand_score(y, make().fit(X).labels_) == 1


def test_the_embedding_is_that_of_the_whole_graph(make):
    model = make().fit(X)
    np.testing.assert_array_equal(model.graph_, model.graph_.T)
    expected = spectral_embedding(model.graph_, 3, spectrum="largest")
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), atol=1e-7)


def test_the_readout_is_what_the_parameters_say():
    given = {"embedding": "unnormalised", "n_init": 2, "restart_score": "distance"}
    readout = KernelSpectralClustering(3, **given)._readout()
    assert {name: getattr(readout, name) for name in given} == given
    assert readout.n_clusters == 3


def test_a_fit_is_learning_and_reading_out(make, monkeypatch):
    readings, read_out = [], module.read_out
    monkeypatch.setattr(module, "read_out", lambda *given, **more: readings.append(given) or read_out(*given, **more))
    model = make()
    model.fit(X)
    [(learned, _)] = readings
    np.testing.assert_array_equal(dense(learned.graph), dense(model.graph_))
    again = make()
    np.testing.assert_allclose(again._learn(again._read(X)).Z, learned.Z, atol=1e-12)


def test_tensors_have_dense_graphs_of_their_kind(make, foreign):
    samples = foreign.asarray(X)
    model = make().fit(samples)
    for name in ("graph_", "embedding_", "labels_"):
        assert type(getattr(model, name)) is type(samples)
    expected = make().fit(X)
    np.testing.assert_array_equal(dense(model.labels_), expected.labels_)
    if not isinstance(model, SimplexGraph):  # whose coefficients are not unique where samples outnumber features
        np.testing.assert_allclose(dense(model.graph_), dense(expected.graph_), atol=1e-7)


def test_single_precision_stays_single(make):
    model = make().fit(X.astype(np.float32))
    assert model.graph_.dtype == model.embedding_.dtype == np.float32


def test_an_alternation_tells_how_it_ended():
    for kind in ALTERNATING:
        sentence = rf"^{kind.__name__} made max_iter=2 steps and .*Raise max_iter"
        with pytest.warns(ConvergenceWarning, match=sentence) as caught:
            model = kind(3, max_iter=2, tol=1e-300, n_init=5, random_state=0).fit(X)
        assert caught[0].filename == __file__
        assert (model.n_iter_, model.status_) == (2, "max_iter")
        assert model.objective_.shape == (2,)
        assert type(model.status_) is str
        assert Status(model.status_) is Status.MAX_ITER


@pytest.mark.parametrize("kind", [AffinityAggregation, MultipleKernelTwinGraph])
def test_weights_are_published_with_the_names_of_the_kernels(kind):
    model = kind(3, kernels="rmkkm", n_init=5, random_state=0).fit(X)
    assert model.kernel_weights_.shape == (12,) == (len(model.kernel_names_),)
    assert model.kernel_weights_.min() >= 0


def test_copies_share_a_label(make):
    samples = np.vstack([X, X[:10]])
    labels = make().fit(samples).labels_
    np.testing.assert_array_equal(labels[30:], labels[:10])


def test_a_class_says_how_it_reads_and_learns():
    for name, given in (("_read", (X,)), ("_learn", (None,))):
        with pytest.raises(NotImplementedError):
            getattr(GraphClusterer(), name)(*given)
