import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernelbraid import align_views


def frame(names, columns=("a", "b"), dtype=float):
    values = np.arange(len(names) * len(columns)).reshape(len(names), len(columns))
    return pd.DataFrame(values.astype(dtype), index=names, columns=list(columns))


def refused(views, kind, *fragments):
    """Expect one clear sentence."""
    with pytest.raises(kind) as error:
        align_views(views)
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    for fragment in fragments:
        assert fragment in sentence, sentence


# What comes back


def test_samples_come_in_the_order_of_their_first_appearance():
    views, index = align_views([frame(["t", "b"]), frame(["c", "b", "a"]), frame(["d", "a", "t"])])
    assert list(index) == ["t", "b", "c", "a", "d"]
    for view in views:
        assert view.index.equals(index)


def test_a_sample_that_a_view_does_not_have_is_a_row_of_nan_and_all_others_are_as_given():
    given = [frame(["s", "t"]), frame(["u", "t"], columns=("z", "y", "x"))]
    (first, second), _ = align_views(given)
    assert list(first.columns) == ["a", "b"]
    assert list(second.columns) == ["z", "y", "x"]
    np.testing.assert_array_equal(first, [[0, 1], [2, 3], [np.nan] * 2])
    np.testing.assert_array_equal(second, [[np.nan] * 3, [3, 4, 5], [0, 1, 2]])


def test_the_same_names_in_another_order_are_put_in_that_of_the_first_view():
    (_, second), index = align_views([frame(["s", "t", "u"]), frame(["u", "s", "t"], columns="c", dtype=int)])
    assert list(index) == ["s", "t", "u"]
    assert second["c"].tolist() == [1, 2, 0]
    assert second["c"].dtype == int


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int64, np.float64),
        (np.int8, np.float64),
        (bool, np.float64),
        ("Int64", np.float64),
        ("boolean", np.float64),
        ("Sparse[float64]", np.float64),
        (object, np.float64),
    ],
)
def test_missing_rows_turn_what_has_no_nan_into_float64(dtype, wanted):
    given = pd.DataFrame({"a": [0, 1], "b": [1, 0]}, index=["s", "t"]).astype(dtype)
    (view, _), _ = align_views([given, frame(["t", "u"])])
    assert set(view.dtypes) == {np.dtype(wanted)}
    np.testing.assert_array_equal(view.to_numpy(), [[0, 1], [1, 0], [np.nan, np.nan]])


# What is refused


def test_a_name_may_occur_only_once_in_a_view():
    views = [frame(["s", "t"]), frame(["t", "u", "v", "u", "t"])]
    refused(views, ValueError, "view 2", "'u'", "position 4", "keep one row")
    twice = frame(pd.MultiIndex.from_tuples([("a", 1), ("a", 1)]))
    refused([twice], ValueError, "view 1", "('a', 1)", "position 2")


def test_a_row_needs_a_name():
    refused([frame(["s", "t"]), frame(["s", None])], ValueError, "row 2 of view 2 has no name")


@pytest.mark.parametrize(
    ("view", "kind"),
    [
        (np.ones((2, 2)), "numpy.ndarray"),
        (pl.DataFrame({"a": [1]}), "polars.dataframe.frame.DataFrame"),
        ([[1.0]], "list"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_data_frame_of_pandas_is_named(view, kind):
    refused([frame(["s"]), view], TypeError, f"view 2 is a {kind};", "pandas data frame", "index")


def test_there_is_a_view_with_rows_and_columns():
    refused([], ValueError, "views is empty")
    refused([frame(["s"]), frame([])], ValueError, "view 2 has shape (0, 2)", "at least one row")
    refused([frame(["s"], columns=())], ValueError, "view 1 has shape (1, 0)", "one column")


def test_two_views_share_a_name():
    refused([frame(["1", "2"]), frame([1, 2])], ValueError, "no row name occurs in two views", "is '1'", "view 2 1;")
    _, index = align_views([frame(["s"]), frame(["t"]), frame(["s"])])
    assert list(index) == ["s", "t"]


@pytest.mark.parametrize("values", [["p", "q"], pd.Categorical(["p", "q"]), pd.to_datetime(["2020", "2021"])])
def test_a_column_that_is_not_of_numbers_cannot_miss_rows(values):
    given = pd.DataFrame({"a": np.float32([1, 2]), "kind": values}, index=["s", "t"])
    refused([frame(["s", "u"]), given], ValueError, "column 'kind' of view 2", "leave it out")
    refused([frame(["s", "u"]), given[["kind"]]], ValueError, "column 'kind' of view 2")
