from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from kernelbraid import LKG
from kernelbraid.plotting import layout
from kernelbraid.plotting.layout import place


def overlap(points, labels):
    """Return the largest share, over clusters, of the five nearest points of samples that are of another cluster."""
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    near = np.argsort(squares, axis=1)[:, 1:6]
    return max((labels[near] != labels[:, None])[labels == cluster].mean() for cluster in np.unique(labels))


def clearance(points, labels):
    """Return the smallest distance between the middles of two clusters, in units of the picture's spread."""
    middles = np.array([points[labels == cluster].mean(axis=0) for cluster in np.unique(labels)])
    distances = np.linalg.norm(middles[:, None] - middles[None], axis=-1)
    return distances[~np.eye(len(middles), dtype=bool)].min() / points.std()


@pytest.fixture(scope="module")
def twenty():
    """Twenty clusters, which two principal axes of the embedding cannot tell apart."""
    X, y = make_blobs(400, 8, centers=20, cluster_std=0.6, random_state=0)
    return LKG(20, n_init=3, random_state=0).fit(X), y


def test_a_map_separates_twenty_clusters_that_principal_axes_mix(twenty):
    model, y = twenty
    on_map, drawn, name = place(model)
    on_axes, _, _ = place(model, "spectral")
    assert name == "graph"
    assert overlap(on_map, y[drawn]) < 0.05
    assert clearance(on_map, y[drawn]) > 0.3
    assert clearance(on_axes, y) < 0.2


def test_the_same_model_gives_the_same_map(twenty):
    np.testing.assert_array_equal(place(twenty[0])[0], place(twenty[0])[0])


def test_up_to_three_clusters_stay_on_principal_axes():
    for k, name in [(2, "spectral"), (3, "spectral"), (4, "graph")]:
        model = SimpleNamespace(labels_=np.arange(40) % k, embedding_=np.random.default_rng(0).normal(size=(40, k)))
        assert place(model)[2] == name
        assert place(model, "graph")[2] == "graph"


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_samples_without_edges_have_their_place(make):
    labels = np.repeat(np.arange(4), 10)
    graph = (labels[:, None] == labels).astype(float)
    graph[0] = graph[:, 0] = 0.0
    points, _, _ = place(SimpleNamespace(labels_=labels, embedding_=np.eye(4)[labels], graph_=make(graph)))
    assert np.isfinite(points).all()
    assert overlap(points, labels) == 0.0


def test_a_graph_without_edges_is_laid_out_by_the_embedding():
    labels = np.repeat(np.arange(4), 40)
    embedding = np.eye(4)[labels] + np.random.default_rng(0).normal(scale=0.05, size=(160, 4))
    points, _, _ = place(SimpleNamespace(labels_=labels, embedding_=embedding, graph_=np.zeros((160, 160))))
    assert overlap(points, labels) < 0.1


def test_samples_that_the_embedding_cannot_tell_apart_are_spread_over_their_cluster():
    labels = np.repeat(np.arange(5), 100)
    points, _, _ = place(SimpleNamespace(labels_=labels, embedding_=np.eye(5)[labels]))
    widths = [points[labels == cluster].std() for cluster in range(5)]
    assert min(widths) > 0.05 * points.std()
    assert overlap(points, labels) == 0.0


def test_many_samples_are_thinned_on_the_map(twenty, monkeypatch):
    monkeypatch.setattr(layout, "MOST_MAPPED", 150)
    model, y = twenty
    points, drawn, _ = place(model)
    assert points.shape == (134, 2)
    assert y[drawn].shape == (134,)


def test_an_unknown_layout_is_refused(twenty):
    with pytest.raises(ValueError, match=r"layout='round' is not one of 'auto', 'spectral', 'graph'\."):
        place(twenty[0], "round")
