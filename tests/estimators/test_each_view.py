import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelbraid import LKG, EachView
from kernelbraid.estimators.each_view import fit_measured
from problems import blobs

X, y = blobs(n=45)
VIEWS = [1e3 * X[:, :3] + 5, X[:, 3:]]


def test_every_view_is_transformed_on_its_own():
    done = EachView(StandardScaler()).fit_transform(VIEWS)
    for view, expected in zip(done, VIEWS, strict=True):
        np.testing.assert_array_equal(view, StandardScaler().fit_transform(expected))
    mixed = EachView([PCA(2), "passthrough"]).fit_transform(VIEWS)
    assert mixed[0].shape == (45, 2)
    assert mixed[1] is VIEWS[1]


def test_one_matrix_stays_one():
    np.testing.assert_array_equal(EachView(StandardScaler()).fit_transform(X), StandardScaler().fit_transform(X))


def test_samples_that_a_view_lacks_neither_count_nor_change():
    for transformer in [StandardScaler(), Normalizer(), PCA(2)]:
        holed = [view.copy() for view in VIEWS]
        holed[0][[3, 8]] = np.nan
        model = EachView(transformer).fit(holed)
        done = model.transform(holed)
        has = ~np.isnan(holed[0]).any(axis=1)
        assert np.isnan(done[0][~has]).all()
        np.testing.assert_allclose(done[0][has], clone(transformer).fit(VIEWS[0][has]).transform(VIEWS[0][has]))
        alone = model.transform([np.full((2, 3), np.nan), VIEWS[1][:2]])
        assert np.isnan(alone[0]).all()
        assert alone[0].shape == (2, done[0].shape[1])


def test_a_view_without_any_sample_is_left_to_who_reads_it():
    model = EachView(StandardScaler()).fit([np.full((45, 2), np.nan), X])
    assert model.transformers_[0] == "passthrough"


def test_sparse_views_and_data_frames_stay_what_the_transformer_makes_of_them():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(VIEWS[0], columns=["a", "b", "c"])
    model = EachView(StandardScaler(with_mean=False)).fit([frame, sparse.csr_array(X)])
    assert model.transformers_[0].feature_names_in_.tolist() == ["a", "b", "c"]
    assert sparse.issparse(model.transform([frame, sparse.csr_array(X)])[1])
    assert model.n_features_in_ == 3 + X.shape[1]
    frame.iloc[4] = np.nan
    assert np.isnan(model.transform([frame, sparse.csr_array(X)])[0][4]).all()


def test_it_works_before_an_estimator_of_views():
    pipeline = make_pipeline(EachView(StandardScaler()), LKG(3, random_state=0)).fit(VIEWS)
    scaled = [StandardScaler().fit_transform(view) for view in VIEWS]
    np.testing.assert_array_equal(pipeline[-1].labels_, LKG(3, random_state=0).fit(scaled).labels_)
    np.testing.assert_array_equal(pipeline.predict(VIEWS), pipeline[-1].labels_)


def test_it_is_fitted_further_block_by_block():
    scaler = StandardScaler()
    for block in (X[:20], np.full((3, X.shape[1]), np.nan), X[20:]):
        fit_measured(scaler, block, further=True)
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0))
    np.testing.assert_allclose(scaler.scale_, X.std(axis=0))


def test_what_does_not_fit_gets_a_sentence():
    with pytest.raises(ValueError, match="EachView has 1 transformer for 2 views; give one for each"):
        EachView([StandardScaler()]).fit(VIEWS)
    with pytest.raises(ValueError, match="X holds 1 view, and EachView was fitted on 2; give the views of the fit"):
        EachView(StandardScaler()).fit(VIEWS).transform(X)
    with pytest.raises(ValueError, match="'transformer' parameter of EachView"):
        EachView(3).fit(VIEWS)
    with pytest.raises(NotFittedError):
        EachView(StandardScaler()).transform(VIEWS)
