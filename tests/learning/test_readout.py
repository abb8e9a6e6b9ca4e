from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.learning.coefficients import Coefficients, express
from kernelbraid.learning.extend import Placement
from kernelbraid.learning.learn import LearnedGraph, graph_of
from kernelbraid.learning.readout import (
    Evidence,
    PlacedGraph,
    choose,
    cluster,
    distinct_labels,
    evenness,
    join_pieces,
    judge,
    place,
    read_out,
    tell,
)
from kernelbraid.learning.settings import PRESETS, Settings
from kernelbraid.learning.sources import Views
from kernelbraid.ops.graphs import spectral_embedding
from kernelbraid.solvers.communities import Communities, Network, steady_communities
from problems import blobs, dense

X, y = blobs(n=45)


RECOMMENDED = replace(PRESETS["recommended"].readout, n_clusters=3)


WEIGHTS = ["learned", "scaled", "binary"]


def state(seed=0):
    return np.random.RandomState(seed)


def coefficients(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.maximum(rng.normal(size=(n, n)), 0), np.maximum(rng.normal(size=(n, n)), 0)


def graph(Z, readout, identities=None, **more):
    """What is learned where these are the coefficients."""
    identities = np.arange(Z.shape[0]) if identities is None else identities
    return LearnedGraph.of(Coefficients(Z=Z, **more), readout, identities)


@pytest.fixture(scope="module")
def Z():
    return express(Views([X]).pose("auto"), PRESETS["recommended"].learning).Z


def slow_graph(A, n_neighbors, edge_weights):
    """The symmetric graph of coefficients, column by column."""
    n = len(A)
    kept = np.zeros((n, n))
    for j in range(n):
        column = A[:, j].copy()
        if n_neighbors != "all":
            column[j] = 0
            strongest = np.argsort(-column, kind="stable")[:n_neighbors]
            column = np.where(np.isin(np.arange(n), strongest), column, 0.0)
        if edge_weights == "scaled":
            column = column / (column.max() or 1.0)
        kept[:, j] = column > 0 if edge_weights == "binary" else column
    return (kept + kept.T) / 2


def test_the_graph_is_the_one_that_is_asked_for(xp):
    for edge_weights in WEIGHTS:
        for graph_from in ["Z", "J"]:
            for n_neighbors in ["all", 1, 4, 19, 50]:
                Z, J = coefficients()
                given = Coefficients(Z=xp.asarray(Z), J=xp.asarray(J))
                asked = replace(RECOMMENDED, graph_from=graph_from, n_neighbors=n_neighbors, edge_weights=edge_weights)
                found = graph_of(given, asked)
                assert sparse.issparse(found) == (n_neighbors != "all")
                expected = slow_graph({"Z": Z, "J": J}[graph_from], n_neighbors, edge_weights)
                np.testing.assert_allclose(dense(found), expected, atol=1e-14)


def test_reading_out_is_placing_and_clustering(Z):
    for embedding in ["largest", "magnitude", "unnormalised", "random_walk"]:
        for n_neighbors in ["all", 10]:
            for restart_score in ["inertia", "distance"]:
                readout = replace(
                    RECOMMENDED, n_neighbors=n_neighbors, embedding=embedding, restart_score=restart_score, n_init=3
                )
                learned = graph(Z, readout)
                placed = place(learned, readout)
                whole, parts = (
                    read_out(learned, readout, random_state=state()),
                    cluster(placed, readout, random_state=state()),
                )
                np.testing.assert_array_equal(whole.labels, parts.labels)
                assert (whole.inertia, whole.n_iter) == (parts.inertia, parts.n_iter)
                np.testing.assert_array_equal(whole.placed.embedding, placed.embedding)
                np.testing.assert_allclose(
                    placed.embedding, spectral_embedding(placed.graph, 3, spectrum=embedding), atol=1e-9
                )
                assert adjusted_rand_score(y, whole.labels) == 1


def test_libraries_agree(foreign):
    Z, _ = coefficients()
    for n_neighbors in ("all", 5):
        readout = replace(RECOMMENDED, n_neighbors=n_neighbors)
        here, there = (read_out(graph(A, readout), readout, random_state=state()) for A in (Z, foreign.asarray(Z)))
        np.testing.assert_array_equal(here.labels, to_numpy(there.labels))
        np.testing.assert_allclose(to_numpy(there.placed.embedding), here.placed.embedding, atol=1e-8)


def test_the_inertia_is_the_sum_of_squared_distances_to_the_centres(Z):
    reading = read_out(graph(Z, RECOMMENDED), RECOMMENDED, random_state=state())
    E = reading.placed.embedding
    inside = [E[reading.labels == label] for label in range(3)]
    assert reading.inertia == pytest.approx(sum(np.sum((A - A.mean(axis=0)) ** 2) for A in inside), abs=1e-9)


def test_eigenvectors_are_orthonormal(Z):
    vectors = place(graph(Z, RECOMMENDED), RECOMMENDED).placement.vectors
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_components_are_counted(form):
    blocks = form(np.kron(np.eye(4), np.ones((3, 3)) - np.eye(3)))
    placed = PlacedGraph(Placement(blocks, 2, "largest"), np.arange(12))
    assert placed.n_components == 4


def test_there_are_exactly_so_many_labels_in_order_of_appearance():
    for k in [1, 2, 3, 7, 15]:
        readout = replace(RECOMMENDED, n_clusters=k)
        labels = read_out(graph(coefficients(15)[0], readout), readout, random_state=state()).labels
        first = [int(label) for i, label in enumerate(labels) if label not in labels[:i]]
        assert first == list(range(k))


def test_copies_share_a_label_and_fewer_distinct_samples_have_fewer_labels():
    samples = np.repeat(X[:4], 5, axis=0)[np.random.default_rng(0).permutation(20)]
    candidates = Views([samples]).pose("auto")
    found = express(candidates, PRESETS["recommended"].learning)
    given = graph(found.Z, RECOMMENDED, candidates.identities)
    for k, distinct in ((2, 2), (4, 4), (6, 4)):
        labels = read_out(given, replace(RECOMMENDED, n_clusters=k), random_state=state()).labels
        assert len(set(labels)) == distinct
        for number in range(4):
            assert len(set(labels[candidates.identities == number])) == 1


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 6), st.integers(0, 200))
def test_labels_of_distinct_samples_are_as_many_as_asked_for(n, k, m, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(m, size=n)
    identities = np.unique(numbers, return_inverse=True)[1]
    labels = distinct_labels(rng.integers(k, size=n), k, identities)
    assert len(set(labels)) == min(k, len(set(identities)))
    assert set(labels) == set(range(len(set(labels))))
    assert all(len(set(labels[identities == number])) == 1 for number in identities)


def test_labels_that_are_right_stay():
    labels = np.array([2, 2, 0, 1, 0])
    np.testing.assert_array_equal(distinct_labels(labels, 3, np.arange(5)), [0, 0, 1, 2, 1])


def test_the_seed_decides_and_the_arguments_stay(Z):
    learned, before = graph(Z, RECOMMENDED), Z.copy()
    one, other = (read_out(learned, replace(RECOMMENDED, n_clusters=6), random_state=state(3)) for _ in range(2))
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(Z, before)


def test_single_precision_stays_single():
    Z, _ = coefficients()
    for n_neighbors in ("all", 5):
        for edge_weights in WEIGHTS:
            for embedding in ("largest", "random_walk"):
                asked = {"n_neighbors": n_neighbors, "edge_weights": edge_weights, "embedding": embedding}
                readout = replace(RECOMMENDED, **asked)
                placed = place(graph(Z.astype(np.float32), readout), readout)
                given = placed.placement.vectors.dtype, placed.embedding.dtype
                assert placed.graph.dtype == given[0] == given[1] == np.float32, asked


def uneven_blobs():
    """Four blobs, of which the largest has twenty times as many samples as the smallest."""
    return make_blobs([600, 120, 60, 30], 5, centers=None, cluster_std=1.0, center_box=(-5, 5), random_state=5)


def eye():
    """A ring with a blob inside and one outside, of different density."""
    rng = np.random.default_rng(104)
    angle = 2 * np.pi * rng.random(250)
    ring = 3 * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.15, (250, 2))
    inside, outside = rng.normal(0, 0.4, (150, 2)), rng.normal([6.0, 0.0], 0.8, (60, 2))
    return np.concatenate([ring, inside, outside]), np.repeat([0, 1, 2], [250, 150, 60])


@pytest.mark.parametrize("draw", [uneven_blobs, eye])
def test_clusters_of_very_different_sizes_survive_where_pieces_are_joined(draw):
    samples, classes = draw()
    ways = [LKG(int(classes.max()) + 1, assign_labels=way, random_state=0) for way in ("merge", "kmeans")]
    joined, cut_up = (adjusted_rand_score(classes, model.fit_predict(samples)) for model in ways)
    assert joined > 0.9 > cut_up


def fitted(X, n_clusters, **given):
    """Return a reading of samples, and how it was made."""
    settings = Settings.of({"preset": "recommended", **given}).sized(X.shape[0], n_clusters)
    candidates = Views([X]).pose("auto")
    learned = LearnedGraph.of(express(candidates, settings.learning), settings.readout, candidates.identities)
    return read_out(learned, settings.readout, random_state=np.random.RandomState(0)), settings.readout


@pytest.mark.parametrize("way", ["best", "merge", "kmeans", "communities"])
def test_clear_clusters_are_relied_on_and_noise_is_not(way):
    X, y = blobs(n=90)
    clear = judge(*fitted(X, 3, assign_labels=way), random_state=np.random.RandomState(0))
    noise = np.random.default_rng(0).normal(size=(120, 20))
    vague = judge(*fitted(noise, 6, assign_labels=way), random_state=np.random.RandomState(0))
    assert clear.reliability == pytest.approx(1.0)
    assert vague.reliability < 0.5
    assert len(set(y)) == 3


def test_the_way_that_is_taken_is_one_of_the_two_and_gives_its_labels():
    X, _ = uneven_blobs()
    reading, readout = fitted(X, 4)
    assert reading.evidence().way == "merge"  # communities divide the largest
    again = join_pieces(reading.placed, readout, np.random.RandomState(1))
    assert adjusted_rand_score(reading.labels, again.labels) > 0.95
    clear, classes = make_blobs(300, 4, centers=5, random_state=3)
    reading, _ = fitted(clear, 5)
    assert reading.evidence().way == "communities"
    np.testing.assert_array_equal(reading.labels, steady_communities(reading.placed.graph, 5).labels)
    assert adjusted_rand_score(classes, reading.labels) > 0.95


def test_evenness_is_one_for_clusters_of_one_size_and_falls_with_the_largest():
    assert evenness(np.repeat([0, 1, 2], 5)) == pytest.approx(1.0)
    values = [evenness(np.repeat([0, 1, 2], sizes)) for sizes in ([8, 4, 3], [13, 1, 1], [98, 1, 1])]
    assert 1 > values[0] > values[1] > values[2] > 0
    assert evenness(np.zeros(4, dtype=int)) == 0.0


def test_where_every_way_collapses_nothing_is_relied_on_and_a_sentence_says_so():
    evidence = Evidence(0.3, 0.9, has_collapsed=True)
    assert evidence.reliability == 0.0
    assert "Nearly all samples are in one cluster, whatever the way" in tell(evidence, 3, 1)[1]


@pytest.mark.parametrize(("elsewhere", "has_collapsed"), [(None, True), (np.arange(60) % 3, False)])
def test_clusters_that_a_cut_elsewhere_has_made_even_have_not_collapsed(monkeypatch, elsewhere, has_collapsed):
    monkeypatch.setattr(
        "kernelbraid.learning.readout.cut_again", lambda _, own, *__, **___: own if elsewhere is None else elsewhere
    )
    joined = np.ones((60, 60)) - np.eye(60)
    joined[:2, :] = joined[:, :2] = 0.0
    joined[0, 2] = joined[2, 0] = joined[1, 3] = joined[3, 1] = 0.1
    graph, places = sparse.csr_array(joined), np.zeros((60, 3))
    places[:2, :2] = np.eye(2)
    found = Communities(np.repeat([0, 1, 2], [58, 1, 1]), 1.0, 1.0, graph)
    placed = PlacedGraph.known(graph, places, np.arange(60), communities=found)
    reading = choose(placed, RECOMMENDED, np.random.RandomState(0))
    assert reading.has_collapsed == reading.evidence().has_collapsed == has_collapsed


def test_reliability_is_a_product_between_zero_and_one():
    assert Evidence(0.5, 0.4).reliability == pytest.approx(0.2)
    assert Evidence(-0.1, -0.2).reliability == 0.0
    assert Evidence().reliability == 1.0
    assert Evidence(0.5, 0.4, 0.5).reliability == pytest.approx(0.1)


def test_one_cluster_and_one_for_each_sample_cannot_be_cut_otherwise():
    X, _ = blobs(n=12)
    for n_clusters in (1, 12):
        assert judge(*fitted(X, n_clusters), random_state=np.random.RandomState(0)) == Evidence()


def test_sentences_say_what_the_number_means():
    low, high, middle = (tell(Evidence(value, value), 3, 2) for value in (0.4, 0.95, 0.8))
    assert "reliability 0.16" in low[0]
    assert "That is low" in low[1]
    assert "That is high" in high[1]
    assert middle[1:] == ["The graph has 2 connected components."]
    assert tell(Evidence(), 1, 1) == ["All samples are in one cluster: nothing was cut."]


def test_more_components_than_clusters_are_put_together_by_chance():
    X = np.repeat(np.eye(3), 20, axis=0) + 1e-3 * np.random.default_rng(0).normal(size=(60, 3))
    reading, readout = fitted(X, 2, n_neighbors=5)
    evidence = judge(reading, readout, random_state=np.random.RandomState(0))
    assert reading.placed.n_components == 3
    assert evidence.of_parts == pytest.approx(2 / 3)
    assert "3 connected components, more than clusters" in tell(evidence, 2, 3)[-1]


def test_every_fit_says_how_far_it_can_be_relied_on():
    for preset in ["recommended", "authors", "paper"]:
        X, _ = blobs(n=40)
        model = LKG(3, preset=preset, random_state=0).fit(X)
        assert 0 <= model.reliability_ <= 1
        assert any(f"reliability {model.reliability_:.2f}" in sentence for sentence in model.why_)


def test_judging_does_not_change_labels():
    X = np.random.default_rng(0).normal(size=(60, 5))
    reading, readout = fitted(X, 4)
    before = reading.labels.copy()
    judge(reading, readout, random_state=np.random.RandomState(0))
    np.testing.assert_array_equal(reading.labels, before)
    np.testing.assert_array_equal(LKG(4, random_state=0).fit_predict(X), before)


def test_communities_that_stand_apart_are_taken_where_pieces_cut_more():
    rng = np.random.default_rng(2)
    places = [((0.0, 0.0), 1.0, 570), ((5.0, 0.0), 0.5, 24), ((0.0, 5.0), 0.3, 12)]
    X = np.concatenate([rng.normal(centre, width, (size, 2)) for centre, width, size in places])
    truth = np.repeat([0, 1, 2], [570, 24, 12])
    pieces = LKG(3, assign_labels="merge", random_state=0).fit(X)
    assert adjusted_rand_score(truth, pieces.labels_) < 0.5
    assert adjusted_rand_score(truth, LKG(3, random_state=0).fit(X).labels_) > 0.97


def test_communities_that_leave_a_handful_aside_give_way_to_pieces():
    X, truth = make_blobs(400, 5, centers=2, random_state=0)
    readout = replace(RECOMMENDED, n_clusters=2)
    placed = place(graph(express(Views([X]).pose("auto"), PRESETS["recommended"].learning).Z, readout), readout)
    aside = np.isin(np.arange(400), np.flatnonzero(truth)[:3]).astype(int)
    for labels, way in ((truth, "communities"), (aside, "merge")):
        given = replace(placed, communities=Communities(labels, 1.0, 1.0, Network.of(placed.graph)))
        reading = choose(given, readout, state())
        assert reading.evidence().way == way
        assert adjusted_rand_score(truth, reading.labels) == 1.0


def test_where_nothing_supports_a_cut_of_the_largest_class_rare_ones_are_told_apart(monkeypatch):
    rng, truth = np.random.default_rng(0), np.repeat([0, 1, 2], [570, 24, 10])
    X = rng.normal(0, 2.0, (3, 8))[truth] + rng.normal(size=(len(truth), 8))
    assert adjusted_rand_score(truth, LKG(3, random_state=0).fit(X).labels_) > 0.9
    monkeypatch.setattr("kernelbraid.learning.readout.cut_again", lambda graph, labels, *_, **__: labels)
    assert adjusted_rand_score(truth, LKG(3, random_state=0).fit(X).labels_) < 0.5


def test_hardly_steady_communities_are_cut_elsewhere_too(monkeypatch):
    X, truth = make_blobs([120, 40, 30, 30], 5, random_state=0)
    readout = replace(RECOMMENDED, n_clusters=4)
    placed = place(graph(express(Views([X]).pose("auto"), PRESETS["recommended"].learning).Z, readout), readout)
    wrong = np.where((truth == 0) & (np.arange(len(truth)) % 2 == 0), 3, np.where(truth == 3, 2, truth))
    given = replace(placed, communities=Communities(wrong, 1.0, 1.0, Network.of(placed.graph)))
    monkeypatch.setattr(Communities, "is_steady", lambda *_: False)
    monkeypatch.setattr(Communities, "steadiness", lambda *_: 0.65)  # neither a reason for pieces nor settled
    reading = choose(given, readout, state())
    assert reading.evidence().way == "communities"
    assert adjusted_rand_score(truth, wrong) < 0.7 < 0.97 < adjusted_rand_score(truth, reading.labels)
