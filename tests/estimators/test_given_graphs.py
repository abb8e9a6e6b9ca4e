"""LKG over graphs that are handed over."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline

from kernelbraid import LKG, LKGClassifier, load_model, save_model

X, y = load_digits(n_class=5, return_X_y=True)
X, y, NEW, CLASSES = X[:300], y[:300], X[300:360], y[300:360]
NEAR = kneighbors_graph(X, 10)
AFFINITIES = (NEAR + NEAR.T) / 2


def dense(graph):
    return graph.toarray() if sparse.issparse(graph) else graph


@pytest.fixture(scope="module")
def fitted():
    return LKG(5, kernels="graph", random_state=0).fit(NEAR)


class TestFit:
    def test_a_graph_is_read_out_as_it_is(self, fitted):
        expected = np.asarray(AFFINITIES.todense())
        np.testing.assert_allclose(fitted.graph_.toarray(), expected)
        assert adjusted_rand_score(y, fitted.labels_) > 0.85
        assert fitted.n_iter_ == 0
        assert fitted.n_features_in_ == len(X)
        assert fitted.views_.weights.tolist() == [1]

    def test_the_form_of_the_matrix_does_not_matter(self, fitted):
        for form in [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, np.asarray]:
            graph = form(NEAR.toarray())
            np.testing.assert_array_equal(LKG(5, kernels="graph", random_state=0).fit(graph).labels_, fitted.labels_)

    def test_distances_are_turned_into_affinities_when_told_so(self):
        near = kneighbors_graph(X, 10, mode="distance")
        model = LKG(5, kernels="distances", random_state=0).fit(near)
        assert adjusted_rand_score(y, model.labels_) > 0.8
        full = LKG(5, kernels="distances", random_state=0).fit(euclidean_distances(X))
        assert adjusted_rand_score(y, full.labels_) > 0.7

    def test_a_pipeline_with_a_transformer_of_neighbours(self):
        pipeline = make_pipeline(KNeighborsTransformer(n_neighbors=10), LKG(5, kernels="distances", random_state=0))
        assert adjusted_rand_score(y, pipeline.fit_predict(X)) > 0.8
        assert adjusted_rand_score(CLASSES, pipeline.predict(NEW)) > 0.7

    def test_the_number_of_clusters_is_chosen(self):
        model = LKG("auto", kernels="graph", random_state=0).fit(NEAR)
        assert model.n_clusters_ == 5
        assert model.why_[0].startswith("5 clusters are the communities")

    def test_few_labels_are_spread_over_a_graph(self):
        known = np.where(np.arange(len(y)) % 30 == 0, y, -1)
        model = LKGClassifier(LKG(kernels="graph")).fit(NEAR, known)
        assert (model.transduction_ == y).mean() > 0.9


def two_views(truth, seed):
    """Return views that tell three clusters apart, but not well."""
    rng = np.random.default_rng(seed)
    return [2.5 * np.eye(3)[truth] + rng.normal(size=(len(truth), 3)) for _ in range(2)]


@pytest.fixture(scope="module")
def fused():
    return LKG(3, kernels="graph", random_state=0).fit(list(TestSeveral.GRAPHS))


class TestSeveral:
    TRUTH = np.arange(240) % 3
    VIEWS = two_views(TRUTH, 0)
    GRAPHS = tuple(kneighbors_graph(view, 12) for view in VIEWS)
    NOISE = kneighbors_graph(np.random.default_rng(0).normal(size=(240, 20)), 10)

    def test_they_are_fused_as_views_are(self, fused):
        assert adjusted_rand_score(self.TRUTH, fused.labels_) > 0.9
        for graph in self.GRAPHS:
            alone = LKG(3, kernels="graph", random_state=0).fit(graph)
            assert adjusted_rand_score(self.TRUTH, alone.labels_) < adjusted_rand_score(self.TRUTH, fused.labels_)
        np.testing.assert_allclose(fused.views_.shares.sum(axis=1), 1)

    def test_samples_may_be_missing_in_one(self):
        there = sparse.diags_array((np.arange(240) % 5 != 0).astype(float))
        model = LKG(3, kernels="graph", random_state=0).fit([self.GRAPHS[0], there @ self.GRAPHS[1] @ there])
        has = np.arange(240) % 5 != 0
        assert adjusted_rand_score(self.TRUTH[has], model.labels_[has]) > 0.9
        assert (model.views_.shares[~has, 1] == 0).all()

    def test_new_samples_need_a_row_of_each(self, fused):
        truth = np.arange(30) % 3
        near = [KNeighborsTransformer(mode="connectivity", n_neighbors=12).fit(view) for view in self.VIEWS]
        new = [each.transform(view) for each, view in zip(near, two_views(truth, 1), strict=True)]
        assert adjusted_rand_score(truth, fused.predict(new)) > 0.7
        with pytest.raises(ValueError, match="X holds 1 graphs; the fit had 2"):
            fused.predict(new[0])
        with pytest.raises(ValueError, match=r"the graphs of X have \[30, 9\] rows"):
            fused.predict([new[0], new[1][:9]])


def test_labels_come_with_their_confidence(fitted):
    right = np.array([np.bincount(y[fitted.labels_ == label]).argmax() for label in range(5)])[fitted.labels_] == y
    assert fitted.membership_.shape == (300, 5)
    np.testing.assert_allclose(fitted.membership_.sum(axis=1), 1)
    assert fitted.confidence_[right].mean() > fitted.confidence_[~right].mean()
    np.testing.assert_allclose(fitted.predict_proba(NEAR), fitted.membership_)
    rows = KNeighborsTransformer(mode="connectivity", n_neighbors=10).fit(X).transform(NEW)
    np.testing.assert_allclose(fitted.predict_proba(rows).sum(axis=1), 1)


def test_samples_with_weak_edges_stand_aside():
    rng = np.random.default_rng(0)
    samples = np.vstack([rng.normal(size=(80, 2)), rng.normal(size=(80, 2)) + 8, [[4.0, -9.0], [-9.0, 4.0]]])
    affinities = np.exp(-euclidean_distances(samples, squared=True) / 8)
    model = LKG(2, kernels="graph", random_state=0).fit(affinities)
    assert set(np.argsort(-model.outlier_scores_)[:2]) == {160, 161}
    assert ((model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1)).all()


class TestNewSamples:
    def test_they_are_placed_by_their_rows(self, fitted):
        rows = KNeighborsTransformer(mode="connectivity", n_neighbors=10).fit(X).transform(NEW)
        assert adjusted_rand_score(CLASSES, fitted.predict(rows)) > 0.7
        np.testing.assert_array_equal(fitted.predict(rows.toarray()), fitted.predict(rows))

    def test_fitted_ones_keep_their_label_and_place(self, fitted):
        np.testing.assert_array_equal(fitted.predict(NEAR), fitted.labels_)
        np.testing.assert_allclose(fitted.transform(NEAR), fitted.embedding_)

    @pytest.mark.parametrize("kind", ["graph", "distances"])
    def test_a_saved_model_places_them_alike(self, kind, tmp_path):
        mode = "connectivity" if kind == "graph" else "distance"
        near = KNeighborsTransformer(mode=mode, n_neighbors=10).fit(X)
        model = LKG(5, kernels=kind, random_state=0).fit(near.transform(X) if kind == "distances" else NEAR)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(near.transform(NEW)), model.predict(near.transform(NEW)))

    def test_one_without_an_edge_is_refused(self, fitted):
        rows = sparse.csr_array((2, 300))
        with pytest.raises(ValueError, match=r"sample 0 of X \(counted from 0\) has no edge to a fitted one"):
            fitted.predict(rows)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (NEAR[:, :20], r"X has shape \(300, 20\); a graph has a row and a column for every sample"),
        (-NEAR, r"X has negative weights \(row 0\); edges of a graph are positive"),
        (NEAR * np.nan, "X contains NaN or infinity; leave such edges out"),
        (kneighbors_graph(X, 10, mode="distance", include_self=True), "looks like distances.*kernels='distances'"),
        (KNeighborsTransformer().fit_transform(X), "looks like distances"),
        (euclidean_distances(X), "looks like distances"),
        (euclidean_distances(np.r_[X[:40], X[:2]]), "looks like distances"),  # copies have none
        ([NEAR, NEAR[:9, :9]], r"the graphs of X have \[300, 9\] samples"),
        ([NEAR, -NEAR], "graph 2 of X has negative weights"),
        (np.array([["a"]]), "X is no matrix of numbers"),
    ],
)
def test_bad_graphs_get_a_sentence(graph, message):
    with pytest.raises(ValueError, match=message):
        LKG(5, kernels="graph").fit(graph)


def test_weights_of_samples_have_no_part_in_a_graph_that_is_there(fitted):
    for weights in (np.r_[0.0, np.ones(299)], np.arange(1.0, 301.0)):
        with pytest.raises(ValueError, match="sample_weight is taken into account where one linear system gives"):
            LKG(5, kernels="graph").fit(NEAR, sample_weight=weights)
    same = LKG(5, kernels="graph", random_state=0).fit(NEAR, sample_weight=np.ones(300))
    np.testing.assert_array_equal(same.labels_, fitted.labels_)


@pytest.mark.parametrize("times", [np.full(100, 4), np.arange(100) % 4 + 1, np.r_[np.zeros(3, int), np.full(97, 2)]])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("kernels", ["distances", "precomputed"])
def test_copies_count_as_often_as_weights_have_it(kernels, kind, times):
    of = euclidean_distances if kernels == "distances" else rbf_kernel
    Z = (X[:100] / 40).astype(kind)
    copied, model = np.repeat(np.arange(100), times), LKG(5, kernels=kernels, random_state=0)
    pairs = of(Z[copied]) * (1 + np.finfo(kind).eps * np.sign(np.subtract.outer(copied, copied[::-1])))
    pairs = ((pairs + pairs.T) / 2).astype(kind)
    once = clone(model).fit(of(Z).astype(kind), sample_weight=times)
    model.fit(pairs)
    assert adjusted_rand_score(model.labels_, once.labels_[copied]) == 1
    first = np.unique(copied, return_index=True)[1]
    edges = np.add.reduceat(np.add.reduceat(dense(model.graph_), first, axis=0), first, axis=1)
    weighed = dense(once.graph_)[np.ix_(times > 0, times > 0)]
    np.testing.assert_allclose(edges / edges.sum(), weighed / weighed.sum(), atol=np.sqrt(np.finfo(kind).eps) / 100)
    np.testing.assert_array_equal(model.predict(pairs[::7]), model.labels_[::7])
    np.testing.assert_array_equal(model.transform(pairs), model.embedding_)
    np.testing.assert_array_equal(model.predict_proba(pairs[::7]), model.membership_[::7])


def test_samples_of_a_graph_with_the_same_neighbours_are_none_the_less_two():
    twice = sparse.csr_array(sparse.kron(NEAR[:90, :90], np.ones((2, 2))))
    assert (LKG(5, kernels="graph", random_state=0).fit(twice).graph_ != (twice + twice.T) / 2).nnz == 0


def test_affinities_with_a_zero_diagonal_are_none_the_less_a_graph():
    affinities = np.exp(-(euclidean_distances(X, squared=True) / 500))
    np.fill_diagonal(affinities, 0)
    assert adjusted_rand_score(y, LKG(5, kernels="graph", random_state=0).fit(affinities).labels_) > 0.8
