import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import laplacian_kernel

from kernelbraid import ADMM, LKG, Blocks, LandmarkLKG, load_model, save_model
from kernelbraid.datasets import open_stream
from kernelbraid.metrics import evaluate
from problems import blobs, dense


def rings(n):
    """Two groups of three concentric rings, with noise in 64 features."""
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=n)
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + 2 * (y % 3) + rng.normal(0, 0.12, n)
    X = rng.normal(0, 0.02, (n, 64))
    X[:, 0] += radius * np.cos(angle) + 12 * (y // 3)
    X[:, 1] += radius * np.sin(angle)
    return X.astype(np.float32), y


X, y = blobs(n=300, d=6, k=3)


def fit(samples=X, k=3, **parameters):
    return LandmarkLKG(k, **{"n_landmarks": 40, "random_state": 0, **parameters}).fit(samples)


@pytest.fixture(scope="module")
def digits():
    samples, labels = load_digits(return_X_y=True)
    return samples[:600], labels[:600]


def test_rings_are_found_at_the_defaults_whatever_the_size_of_blocks():
    samples, labels = rings(5000)
    model = LandmarkLKG(6, n_landmarks=500, random_state=0).fit(samples)
    assert adjusted_rand_score(labels, model.labels_) > 0.95
    assert "neighbours k=10" in model.solution_.names
    assert model.landmarks_.dtype == np.float32
    other = LandmarkLKG(6, n_landmarks=500, block_size=777, n_jobs=2, random_state=0).fit(samples)
    assert adjusted_rand_score(other.labels_, model.labels_) >= 0.999
    np.testing.assert_array_equal(model.predict(samples), model.labels_)
    fresh, expected = rings(6000)
    assert adjusted_rand_score(expected[5000:], model.predict(fresh[5000:])) > 0.9


def test_digits_are_clustered_as_well_as_by_all_of_them(digits):
    samples, labels = digits
    full = evaluate(labels, LKG(10, alpha=1.0, assign_labels="kmeans", random_state=0).fit(samples).labels_)
    found = evaluate(labels, LandmarkLKG(10, n_landmarks=100, random_state=0).fit(samples).labels_)
    assert found["acc"] > full["acc"] - 0.03


def test_blobs_are_found_through_any_landmarks():
    for landmarks in ["k-means", "k-means++", "leverage", "random", X[::10]]:
        model = fit(landmarks=landmarks)
        assert adjusted_rand_score(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.transform(X), model.embedding_)
        n = 30 if isinstance(landmarks, np.ndarray) else 40
        assert model.graph_.shape == model.solution_.K.shape == (n, n)
        assert model.landmarks_.shape == (n, 6)
        assert model.landmark_labels_.shape == (n,)
        if isinstance(landmarks, str) and landmarks != "k-means":
            rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.landmarks_]
            assert len(set(rows)) == n
            np.testing.assert_array_equal(model.landmark_labels_, model.labels_[rows])


@pytest.mark.parametrize(
    "parameters",
    [
        {"preset": "authors"},
        {"preset": "paper", "random_state": 1},
        {"gamma": 10.0},
        {"landmark_neighbors": "all"},
        {"landmark_neighbors": 1000},
        {"edge_weights": "binary"},
        {"edge_weights": "learned", "n_neighbors": "all"},
        {"embedding": "random_walk"},
        {"restart_score": "distance"},
        {"kernels": [laplacian_kernel]},
        {"n_jobs": 3, "block_size": 11},
        {"n_jobs": -1, "block_size": 7},
        {"record_objective": True},
    ],
    ids=lambda parameters: "-".join(parameters),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some settings need more steps
def test_every_setting_finds_blobs_and_predicts_them(parameters):
    model = fit(**parameters)
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_weights_status_and_history_are_those_of_the_core():
    model = fit(gamma=10.0, landmarks=X[::10])
    core = LKG(3, solver=ADMM(gamma=10.0), random_state=0).fit(X[::10])
    np.testing.assert_array_equal(model.solution_.g, core.solution_.g)
    np.testing.assert_array_equal(dense(model.graph_), dense(core.graph_))
    assert model.solution_.status == core.solution_.status
    assert model.solution_.names == core.solution_.names
    assert model.solution_.history.keys() == core.solution_.history.keys()
    assert model.n_iter_ == core.n_iter_ == len(model.solution_.history["mu"])


class Cut:
    def __iter__(self):
        return iter(np.array_split(X, 17))


def test_every_source_gives_the_same_labels(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    np.save(tmp_path / "X.npy", X)
    pq.write_table(pa.table({f"f{i}": column for i, column in enumerate(X.T)}), tmp_path / "X.parquet")
    expected = fit(block_size=64)
    for source in (
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        tmp_path / "X.npy",
        str(tmp_path / "X.parquet"),
        Blocks([X[:1], X[1:150], X[150:]]),
        Blocks(Cut()),
        open_stream(tmp_path / "X.npy"),
        sparse.csr_array(X),
        sparse.csr_matrix(X),
    ):
        model = fit(source, block_size=64)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(source), expected.labels_)
        np.testing.assert_array_equal(expected.predict(source), expected.labels_)
        assert model.n_features_in_ == 6
        assert sparse.issparse(model.landmarks_) == sparse.issparse(source)


@pytest.mark.parametrize("landmarks", ["k-means", "leverage"])
def test_the_size_of_blocks_and_the_number_of_threads_change_no_cluster(digits, landmarks):
    samples, _ = digits

    def labels(**parameters):
        return fit(samples, 10, landmarks=landmarks, **parameters).labels_

    expected = labels(block_size=100)
    np.testing.assert_array_equal(expected, labels(block_size=100))
    np.testing.assert_array_equal(expected, labels(block_size=100, n_jobs=2))
    for size in (1, 37, 10_000):
        assert adjusted_rand_score(expected, labels(block_size=size)) >= 0.999


def test_views_have_kernels_of_their_own():
    for landmarks in ["k-means", "leverage"]:
        for form in [np.asarray, sparse.csr_array]:
            model = fit(form(X), view_widths=[2, 4], landmarks=landmarks, gamma=10.0)
            rows = model.landmarks_.toarray() if sparse.issparse(model.landmarks_) else model.landmarks_
            core = LKG(3, solver=ADMM(gamma=10.0), random_state=0).fit([rows[:, :2], rows[:, 2:]])
            assert model.solution_.names == core.solution_.names
            assert model.solution_.names[-1].startswith("view 2: ")
            np.testing.assert_allclose(model.solution_.g, core.solution_.g)
            assert adjusted_rand_score(y, model.labels_) == 1
            np.testing.assert_array_equal(model.predict(form(X)), model.labels_)


VIEWS = {
    "matrices": lambda A, B, folder: [A, B],
    "tuple": lambda A, B, folder: (A, B),
    "blocks": lambda A, B, folder: [Blocks([A[:7], A[7:]]), B],
    "paths": lambda A, B, folder: [np.save(folder / "A.npy", A) or folder / "A.npy", B],
}


@pytest.mark.parametrize("kind", VIEWS)
def test_a_list_of_views_is_their_columns_side_by_side(kind, tmp_path):
    A, B = X[:, :2], X[:, 2:]
    views, expected = VIEWS[kind](A, B, tmp_path), fit(X, view_widths=[2, 4], block_size=64, gamma=10.0)
    model = fit(views, block_size=64, gamma=10.0)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    np.testing.assert_array_equal(model.solution_.g, expected.solution_.g)
    assert model.solution_.names == expected.solution_.names
    assert model.n_features_in_ == 6
    for samples in (views, [A, B], X, Blocks([X[:99], X[99:]])):
        np.testing.assert_array_equal(model.predict(samples), expected.labels_)
        np.testing.assert_array_equal(model.transform(samples), expected.embedding_)
    np.testing.assert_array_equal(expected.predict(views), expected.labels_)


def test_two_views_of_the_same_samples_are_no_more_samples():
    assert fit([X, X[:, :3]]).labels_.shape == (300,)


def test_widths_that_are_given_with_a_list_must_be_those_of_its_views():
    views = [X[:, :2], X[:, 2:]]
    np.testing.assert_array_equal(fit(views, view_widths=[2, 4]).labels_, fit(views).labels_)
    message = r"view_widths=\[3, 3\] differs from the views of X, which have \[2, 4\] features; leave it out"
    with pytest.raises(ValueError, match=message):
        fit(views, view_widths=[3, 3])


def test_a_model_of_several_views_is_saved(tmp_path):
    views = [X[:, :2], X[:, 2:]]
    model = fit(views)
    save_model(model, tmp_path / "a.model")
    np.testing.assert_array_equal(load_model(tmp_path / "a.model").predict(views), model.labels_)


def test_new_samples_need_the_views_of_the_fit():
    one, two = fit(), fit([X[:, :2], X[:, 2:]])
    for model, views, message in (
        (
            two,
            [X[:, :3], X[:, 3:]],
            r"X holds 2 views with \[3, 3\] features, but LandmarkLKG was fitted on 2 with \[2, 4",
        ),
        (two, [X[:, 2:], X[:, :2]], r"X holds 2 views with \[4, 2\] features"),
        (two, [X[:, :2], X[:, 2:4], X[:, 4:]], r"X holds 3 views with \[2, 2, 2\] features, .* on 2 with \[2, 4\]"),
        (one, [X[:, :2], X[:, 2:]], r"but LandmarkLKG was fitted on 1 with \[6\]; give the views of the fit, or one"),
        (two, [X[:, :2]], "X has 2 features, but LandmarkLKG is expecting 6"),
        (two, [X[:9, :2], X[:8, 2:]], r"the views of X have \[9, 8\] rows"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(views)


def test_the_old_calls_warn_where_they_are_made():
    expected, cut = fit(), [X[:100], X[100:]]
    taken = "X is a list of 2 matrices with 6 features each, and is taken for blocks of rows; .*kernelbraid.Blocks"
    with pytest.warns(FutureWarning, match=taken) as told:
        model = LandmarkLKG(3, n_landmarks=40, random_state=0).fit(cut)
    assert [warning.filename for warning in told] == [__file__]
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    for blocks in (cut, [X[:150], X[150:]]):  # here blocks of equal lengths can be told from views, too
        with pytest.warns(FutureWarning, match=taken) as told:
            np.testing.assert_array_equal(model.predict(blocks), expected.labels_)
        assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(FutureWarning, match="X is a Cut, and is taken for blocks of rows; .*kernelbraid.Blocks") as told:
        np.testing.assert_array_equal(model.fit(Cut()).labels_, expected.labels_)
    assert [warning.filename for warning in told] == [__file__]


def test_the_number_of_clusters_may_be_chosen():
    model = fit(k="auto")
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1


def test_single_samples_are_predicted_like_all_of_them():
    model = fit()
    assert [int(model.predict(row[None])[0]) for row in X[:20]] == model.labels_[:20].tolist()


def test_samples_far_from_all_landmarks_get_a_label():
    model = fit(kernels="near")
    assert np.isfinite(model.transform(X * 1e3)).all()
    assert set(model.predict(X * 1e3)) <= {0, 1, 2}


def spoilt():
    samples = X.copy()
    samples[123, 4] = np.nan
    return samples


@pytest.mark.parametrize(
    ("samples", "parameters", "message"),
    [
        (X, {"n_landmarks": 301}, "n_landmarks=301 is above n_samples=300; ask for at most 300 landmarks"),
        (X, {"n_landmarks": 2}, "n_landmarks=2 is below n_clusters=3; give at least as many landmarks"),
        (X, {"landmarks": X[:2]}, "n_landmarks=2 is below n_clusters=3"),
        (X, {"k": "auto", "n_landmarks": 5}, "n_landmarks=5 is too small to choose the number of clusters"),
        (X, {"landmarks": X[:, :5]}, "landmarks has 5 features, and X has 6"),
        (X, {"landmarks": spoilt()}, "landmarks contains NaN"),
        (X[:2], {"n_landmarks": "auto"}, "n_samples=2 is below n_clusters=3"),
        (X[:2], {"landmarks": X[:10]}, "n_samples=2 is below n_clusters=3"),
        (Blocks([X[:9], X[9:, :2]]), {}, "block 1 of X has 2 features, and block 0 has 6"),
        (
            spoilt(),
            {"block_size": 10},
            r"block 12 of X contains NaN \(row 3 of the block, row 123 of X, column 4, counted from 0\)",
        ),
        ((block for block in [X]), {}, "X is a generator, which can be gone through once"),
        (X @ X.T, {"kernels": "precomputed"}, "kernels='precomputed' has no samples to take landmarks from"),
        (X, {"kernels": "unknown"}, "kernels='unknown' is no bank"),
        (X, {"block_size": 0}, "'block_size' parameter"),
        (X, {"view_widths": [2, 3]}, r"view_widths=\[2, 3\] must be whole numbers from 1 that sum to the 6 features"),
        (X, {"view_widths": [7, -1]}, r"view_widths=\[7, -1\] must be whole numbers"),
        (X, {"landmarks": "some"}, "'landmarks' parameter"),
    ],
)
def test_bad_input_gets_a_clear_sentence(samples, parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(samples, **parameters)


def test_a_fit_beyond_the_memory_names_this_way_out(monkeypatch):
    monkeypatch.setattr("kernelbraid.learning.memory.available_bytes", lambda: 1_000_000)
    samples = np.random.default_rng(0).random((600, 12))
    with pytest.raises(
        MemoryError, match=r"use LandmarkLKG\(n_clusters=3, n_landmarks=500\).fit\(X\) or fewer samples"
    ):
        LKG(3).fit(samples)
    with pytest.raises(MemoryError, match=r"LandmarkLKG\(n_clusters=3, n_landmarks=500\).fit\(X\) or fewer"):
        LKG(3).fit([samples, samples[:, :2]])


def test_landmarks_and_samples_may_be_of_different_kinds():
    expected = fit(landmarks=X[::10]).labels_
    np.testing.assert_array_equal(fit(sparse.csr_array(X), landmarks=X[::10]).labels_, expected)
    np.testing.assert_array_equal(fit(X, landmarks=sparse.csr_matrix(X[::10])).labels_, expected)


def views_of(truth):
    """Two views of clusters, each in directions of its own, and loud noise between them."""
    rng = np.random.default_rng(0)
    first, second = (rng.normal(0, 3, (3, d))[truth] + rng.normal(0, 0.7, (len(truth), d)) for d in (4, 6))
    return first, 30 * rng.normal(size=(len(truth), 20)), second


class TestSeveralViews:
    truth = np.arange(330) % 3
    every = views_of(truth)
    fitted, new = tuple(X[:300] for X in every), tuple(X[300:] for X in every)

    def fit(self, views=None, **parameters):
        with pytest.warns(UserWarning, match="view 2 shares neighbours with no other view and is left out"):
            return fit(self.fitted if views is None else views, **parameters)

    @pytest.mark.parametrize("landmarks", ["k-means", "k-means++", "leverage", "random"])
    @pytest.mark.parametrize("parameters", [{}, {"fusion": "kernels"}, {"gamma": 10.0}], ids=str)
    def test_noise_is_left_out_however_loud_it_is(self, parameters, landmarks):
        model = self.fit(landmarks=landmarks, **parameters)
        assert adjusted_rand_score(self.truth[:300], model.labels_) == 1
        assert model.views_.weights[1] == 0
        np.testing.assert_allclose(model.views_.weights.sum(), 1)
        assert [entry["trusted"] for entry in model.views_.entries()] == [True, False, True]
        np.testing.assert_allclose([entry["weight"] for entry in model.views_.entries()], model.views_.weights)
        np.testing.assert_array_equal(model.predict(self.fitted), model.labels_)
        np.testing.assert_array_equal(model.predict(self.new), model.labels_[self.truth[300:]])

    def test_what_is_left_out_changes_nothing(self):
        landmarks = np.concatenate(self.fitted, axis=1)[::7]
        given = fit([self.fitted[0], self.fitted[2]], landmarks=np.delete(landmarks, range(4, 24), axis=1))
        noisy = self.fit(landmarks=landmarks)
        np.testing.assert_allclose(noisy.graph_.toarray(), given.graph_.toarray(), atol=1e-12)
        np.testing.assert_allclose(noisy.singular_values_, given.singular_values_, atol=1e-6)
        changed = [self.new[0], 0 * self.new[1], self.new[2]]
        np.testing.assert_array_equal(noisy.transform(changed), noisy.transform(self.new))

    def test_columns_side_by_side_are_the_same_views(self):
        joined = self.fit(np.concatenate(self.fitted, axis=1), view_widths=[4, 20, 6])
        np.testing.assert_array_equal(joined.labels_, self.fit().labels_)

    def test_edges_sum_to_one_and_follow_the_weights(self):
        model = fit(self.fitted, view_weights=[1, 0, 3], landmark_neighbors="all")
        np.testing.assert_allclose(model.views_.weights, [0.25, 0, 0.75])
        samples = np.concatenate(self.new, axis=1)
        W = dense(model._expression.edges(samples).matrix())
        np.testing.assert_allclose(W.sum(axis=1), 1, rtol=1e-5)
        per_view, expected = np.zeros(3), np.zeros_like(W)
        for member, weight in zip(model._expression.members, model._expression.weights, strict=True):
            per_view[member.views[0]] += weight
            expected += weight * dense(member.edges(samples).matrix())
        np.testing.assert_allclose(per_view, model.views_.weights)
        np.testing.assert_allclose(W, expected, atol=1e-6)

    def test_fused_graphs_have_no_kernel_and_a_fit_of_one_view_has(self):
        model = self.fit()
        assert not hasattr(model, "kernel_")
        assert not hasattr(model, "kernel_weights_")
        assert model.fit(self.fitted[0]).solution_.K.shape == (40, 40)
        np.testing.assert_allclose(model.views_.weights, [1.0])
        with pytest.warns(UserWarning, match="view 2 shares"):
            assert not hasattr(model.fit(self.fitted), "kernel_")

    def test_a_preset_of_the_paper_uses_every_view_as_it_comes(self):
        model = fit(self.fitted, preset="authors", n_landmarks=20, n_init=2)
        assert len(model.solution_.g) == 36
        np.testing.assert_allclose([model.solution_.g[at : at + 12].sum() for at in (0, 12, 24)], model.views_.weights)
        assert all(entry["trusted"] for entry in model.views_.entries())


def test_centres_of_no_sample_are_left_out_with_a_warning(tmp_path):
    copies = np.repeat(X[:2], 30, axis=0)
    with pytest.warns(
        ConvergenceWarning, match="found 2 clusters instead of 4, since its embedding tells no more samples"
    ):
        model = fit(copies, 4)
    assert model.n_clusters_ == len(model.cluster_centers_) == 2
    assert model.membership_.shape == (60, 2)
    save_model(model, tmp_path / "a.model")
    np.testing.assert_array_equal(load_model(tmp_path / "a.model").predict(copies), model.labels_)
