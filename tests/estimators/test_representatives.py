import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, average_precision_score

from kernelbraid import LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.learning import in_rows
from problems import blobs

N, MOST = 6000, 2500
X, y = blobs(n=N, d=6, k=4)


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """So many samples are very many."""
    monkeypatch.setattr(in_rows, "MOST", MOST)


@pytest.fixture(scope="module")
def model():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_rows, "MOST", MOST)
        return LKG(4, random_state=0).fit(X)


def test_all_samples_are_labelled_and_placed(model):
    assert model.labels_.shape == (N,)
    assert model.embedding_.shape == (N, 4)
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1, atol=1e-5)


def test_samples_for_which_others_stand_have_edges_to_these_alone(model):
    graph = model.graph_
    assert graph.shape == (N, N)
    assert abs(graph - graph.T).max() == 0
    stand = np.zeros(N, dtype=bool)
    stand[model._vertices.first] = True
    assert stand.sum() == MOST
    assert graph[~stand][:, ~stand].nnz == 0
    assert np.diff(graph[~stand].indptr).min() > 0


def test_they_are_what_new_samples_would_be(model):
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X[:100]), model.embedding_[:100], atol=1e-5)
    membership = model.membership_
    np.testing.assert_allclose(membership.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X[:100]), membership[:100], atol=1e-5)
    assert adjusted_rand_score(membership.argmax(axis=1), model.labels_) == 1


def test_a_seed_decides_which_stand_for_all():
    first, again, other = (LKG(4, random_state=seed).fit(X)._vertices.first for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_sparse_samples_and_copies():
    thin = sparse.csr_array(np.repeat(np.maximum(X[: N // 2], 0), 2, axis=0))
    model = LKG(4, random_state=0).fit(thin)
    np.testing.assert_array_equal(model.labels_[::2], model.labels_[1::2])


def test_weights_of_samples_count_among_those_that_stand_for_all():
    weights = np.where(y == 0, 0.0, 1.0)
    model = LKG(3, random_state=0).fit(X, sample_weight=weights)
    assert adjusted_rand_score(y[y > 0], model.labels_[y > 0]) == 1
    assert not np.isin(model._vertices.first, np.flatnonzero(y == 0)).any()


@pytest.mark.filterwarnings("ignore:of the views of X")
def test_views_may_lack_samples_and_noise_is_left_out():
    rng = np.random.default_rng(0)
    first, noise = X[:, :3].copy(), rng.normal(size=(N, 5))
    first[rng.random(N) < 0.1] = np.nan
    model = LKG(4, random_state=0).fit([first, X[:, 2:], noise])
    assert model.views_.trusted.tolist() == [True, True, False]
    assert adjusted_rand_score(y, model.labels_) > 0.98
    np.testing.assert_allclose(model.views_.shares.sum(axis=1), 1)
    assert (model.views_.shares[np.isnan(first[:, 0]), 0] == 0).all()
    assert model.views_.n_samples.tolist() == [int((~np.isnan(first[:, 0])).sum()), N, N]


@pytest.mark.parametrize(("d", "cells_from"), [(2, 1000), (6, 30_000)])
def test_tensors_get_the_labels_of_arrays_as_tensors(foreign, monkeypatch, d, cells_from):
    monkeypatch.setattr(in_rows, "CELLS_FROM", cells_from)
    single = X[:, :d].astype(np.float32)
    here, there = LKG(4, random_state=0).fit(single), LKG(4, random_state=0).fit(foreign.asarray(single))
    assert np.mean(to_numpy(there.labels_) == here.labels_) > 0.99
    np.testing.assert_allclose(to_numpy(there.membership_).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(to_numpy(there.predict(foreign.asarray(single[:100]))), to_numpy(there.labels_)[:100])
    tensor = type(foreign.asarray(single))
    assert all(isinstance(A, tensor) for A in (there.labels_, there.embedding_, there.outlier_scores_))
    assert sparse.issparse(there.graph_)


def test_a_named_device_gives_arrays_back_and_new_samples_are_placed_without_it():
    pytest.importorskip("torch")
    here, there = LKG(4, random_state=0).fit(X), LKG(4, device="cpu", random_state=0).fit(X)
    assert isinstance(there.labels_, np.ndarray)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(X[:100]), here.labels_[:100])
    assert all(isinstance(A, np.ndarray) for A in there._fitted.members[0].relation.samples())


@pytest.fixture
def seen(monkeypatch):
    """Matrices of which rows of kernels are formed."""
    of, seen = in_rows.RowKernels.of, []
    monkeypatch.setattr(in_rows.RowKernels, "of", lambda views, *given: seen.extend(views) or of(views, *given))
    return seen


def test_samples_and_clouds_are_where_a_named_device_is_when_clusters_are_counted(seen):
    torch = pytest.importorskip("torch")
    assert LKG("auto", device="cpu", random_state=0).fit(X).n_clusters_ == 4
    assert len(seen) > 1
    assert all(isinstance(A, torch.Tensor) for A in seen)


def test_rows_of_several_views_are_formed_on_a_named_device(seen):
    torch = pytest.importorskip("torch")
    views = [X[:2200, :3], X[:2200, 3:]]
    model = LKG(4, device="cpu", random_state=0).fit(views)
    assert len(seen) > 2
    assert all(isinstance(A, torch.Tensor) for A in seen)
    np.testing.assert_array_equal(model.labels_, LKG(4, random_state=0).fit(views).labels_)
    np.testing.assert_array_equal(model.predict([view[:9] for view in views]), model.labels_[:9])


def test_fewer_cells_are_enough_where_clusters_are_clear(monkeypatch):
    monkeypatch.setattr(in_rows, "CELLS_FROM", 1000)
    monkeypatch.setattr("kernelbraid.estimators.inductive.AT_ONCE", 500)
    model = LKG(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    (member,) = model._fitted.members
    assert member.relation.cells.near.shape[1] == in_rows.FEW_CELLS
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_outliers_are_found_among_all():
    spoilt = X.copy()
    spoilt[::60] += np.random.default_rng(1).normal(scale=8, size=spoilt[::60].shape)
    scores = LKG(4, random_state=0).fit(spoilt).outlier_scores_
    assert scores.shape == (N,)
    is_out = np.arange(N) % 60 == 0
    assert np.mean(scores[is_out] > 0.5) > 0.9
    assert average_precision_score(is_out, scores) > 0.8
