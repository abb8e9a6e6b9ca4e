"""What must change no result of any registered method: threads, sizes of blocks, rounding, the order of the samples."""

from functools import cache, partial

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_info, threadpool_limits

from kernelbraid import ADMM, LKG, LKGClassifier
from kernelbraid.methods import METHODS
from problems import dense

N = 105  # products of matrices of this order differ in their last digits with the number of threads
rng = np.random.default_rng(0)
y = np.arange(N) % 3
# More features than samples: the graph of simplex sparse representation is one of many otherwise.
X = rng.normal(size=(3, N + 15))[y] + rng.normal(size=(N, N + 15))
X /= np.linalg.norm(X, axis=1, keepdims=True)
SOME = np.where(np.arange(N) < 15, y, -1)  # labels, as far as they are known
ORDER = rng.permutation(N)
EQUAL = partial(np.testing.assert_allclose, rtol=0, atol=1e-8)

ESTIMATORS = {name: model.set_params(n_clusters=3, random_state=0) for name, model in METHODS.items()}
for published in ("LKGs", "LKGr"):  # in few steps: on a busy machine, two threads mostly wait for each other
    ESTIMATORS[published].set_params(solver__mu_growth=2.0)
ESTIMATORS["LKG"] = LKG(3, random_state=0)
ESTIMATORS["LKG, learned kernel"] = LKG(3, solver=ADMM(gamma=10.0), random_state=0)
ESTIMATORS["LKGClassifier"] = LKGClassifier()

# Numbers in blocks and batches, by what knows them, and their values in these tests.
SIZES = {
    "kernelbraid._arrays.BLOCK_SIZE": 7 * N,
    "kernelbraid.kernels.stacks.IN_CACHE": 0.5,
    "kernelbraid.solvers.lloyd.BATCH_SIZE": 6 * N,
}
# In so few steps the sparse graph of LKGs ends as a diagonal, and the last sound one is kept.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=ESTIMATORS)
def name(request):
    return request.param


def fit(name, order=slice(None), **parameters):
    """The fit of a method."""
    model = clone(ESTIMATORS[name]).set_params(**parameters)
    if hasattr(model, "n_init"):
        model.set_params(n_init=10)
    return model.fit(X[order], SOME[order])


@cache
def reference(name):
    with threadpool_limits(1):
        return fit(name)


def labels_of(model):
    return model.transduction_ if isinstance(model, LKGClassifier) else model.labels_


def assert_same_partition(one, other):
    assert adjusted_rand_score(one, other) == 1


def test_one_thread_or_two(name, monkeypatch):
    monkeypatch.setattr("kernelbraid._machine.ORDER", 0)  # small matrices have one thread otherwise
    with threadpool_limits(2):
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {2}
        model = fit(name)
    assert_same_partition(y, labels_of(reference(name)))  # the answer is clear
    assert_same_partition(y, labels_of(model))


def test_other_sizes_of_blocks_and_batches(name, monkeypatch):
    for constant, size in SIZES.items():
        monkeypatch.setattr(constant, size)
    model = fit(name)
    assert_same_partition(labels_of(reference(name)), labels_of(model))


def test_another_order_of_the_samples(name):
    known, model = reference(name), fit(name, ORDER)
    assert_same_partition(labels_of(known)[ORDER], labels_of(model))
    if hasattr(known, "graph_"):
        EQUAL(dense(model.graph_), dense(known.graph_)[np.ix_(ORDER, ORDER)])
    if hasattr(known, "embedding_"):
        expected = known.embedding_[ORDER]
        if name in ("GMC", "CGD"):  # a column for each component, and components of one size have no order
            expected = expected[:, np.argmax(model.embedding_.T @ expected, axis=1)]
        EQUAL(model.embedding_ * np.sign(np.sum(model.embedding_ * expected, axis=0)), expected)


def test_rounding_does_not_choose_the_labels_of_a_graph_of_many_components():
    samples = load_digits().data[:100]
    rounded = samples * (1 + 1e-14 * np.random.default_rng(0).normal(size=samples.shape))
    solver = ADMM(graph_penalty="l1", max_iter=15)
    make = partial(LKG, 5, preset="authors", solver=solver, n_init=3, random_state=0)
    with pytest.warns(UserWarning, match="max_iter"):
        one, other = make().fit(samples), make().fit(rounded)
    assert connected_components(one.graph_)[0] > 10
    assert np.abs(one.graph_ - other.graph_).max() > 0
    np.testing.assert_array_equal(one.labels_, other.labels_)
