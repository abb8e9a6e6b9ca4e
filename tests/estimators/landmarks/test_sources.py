import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.estimators.landmarks.sources import open_source, parts_of, rows_of

X = np.random.default_rng(0).random((50, 3))


def as_dask(A):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    return da.from_array(A, chunks=(17, -1) if A.ndim == 2 else 17)


@pytest.mark.parametrize("form", [np.asarray, as_dask])
def test_samples_are_the_same_wherever_they_are(form):
    estimator = LKG()
    source = open_source(estimator, form(X), 20)
    np.testing.assert_array_equal(source.sample(12, 5), open_source(LKG(), X, 7).sample(12, 5))
    assert (source.width, source.n_samples, estimator.n_features_in_) == (3, 50, 3)
    np.testing.assert_allclose(source.parts(None).map(lambda block: block.sum(axis=0)).total(), X.sum(axis=0))


@pytest.mark.parametrize("form", [np.asarray, as_dask])
def test_an_array_has_parts_and_rows(form):
    A = form(X)
    np.testing.assert_array_equal(np.asarray(parts_of(A, 20, None).array(3, np.float64)), X)
    np.testing.assert_array_equal(rows_of(A, np.array([1, 18, 49])), X[[1, 18, 49]])


@pytest.mark.parametrize("form", [np.asarray, as_dask])
def test_views_are_one_source(form):
    estimator = LKG()
    source = open_source(estimator, [form(X), form(X[:, :2])], 20)
    np.testing.assert_array_equal(source.sample(12, 5), open_source(LKG(), np.c_[X, X[:, :2]], 7).sample(12, 5))
    assert (source.width, source.widths, source.n_samples, estimator.n_features_in_) == (5, (3, 2), 50, 5)


def test_one_view_in_a_list_is_that_view():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    estimator = LKG()
    source = open_source(estimator, [pandas.DataFrame(X, columns=list("abc"))], 20)
    assert (source.width, source.widths) == (3, (3,))
    assert estimator.feature_names_in_.tolist() == list("abc")


def test_new_samples_need_the_features_of_the_fit():
    estimator = LKG()
    estimator.n_features_in_ = 4
    for samples in (X, [X]):
        with pytest.raises(ValueError, match="X has 3 features, but LKG is expecting 4"):
            open_source(estimator, samples, 10, fitted=(4,))
    with pytest.raises(
        ValueError, match=r"X holds 2 views with \[2, 2\] features, but LKG was fitted on 2 with \[3, 1\]"
    ):
        open_source(estimator, [X[:, :2], X[:, 1:]], 10, fitted=(3, 1))
    assert open_source(estimator, [X[:, :1], X], 10, fitted=(1, 3)).widths == (1, 3)


def test_rows_of_numbers_are_a_matrix():
    assert open_source(LKG(), X.tolist(), 10).widths == (3,)


def test_names_of_an_earlier_fit_are_forgotten():
    estimator = LKG()
    estimator.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    open_source(estimator, [X], 10)
    assert not hasattr(estimator, "feature_names_in_")
