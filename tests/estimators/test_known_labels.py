import numpy as np
import pytest

from kernelbraid import LKGClassifier
from kernelbraid.estimators.classifier import read_labels
from problems import blobs

X, y = blobs(n=60)
NAMES = np.array(["ape", "bee", "cat"])[y]
KNOWN = np.arange(60) % 6 == 0
MARKS = {
    "minus one": -1,
    "minus one, of NumPy": np.int64(-1),
    "none": None,
    "nan": np.nan,
    "nan, of NumPy": np.float64("nan"),
}


def text_beside(mark):
    """Return names where they are known, and a mark elsewhere."""
    labels = NAMES.astype(object)
    labels[~KNOWN] = mark
    return labels


def of_pandas(dtype):
    return pytest.importorskip("pandas", reason="pandas is not installed").Series(NAMES).where(KNOWN).astype(dtype)


@pytest.fixture(params=[*MARKS, "object", "string", "category", "polars"])
def with_gaps(request):
    if request.param in MARKS:
        return text_beside(MARKS[request.param])
    if request.param == "polars":
        polars = pytest.importorskip("polars", reason="polars is not installed")
        return polars.Series(text_beside(None).tolist())
    return of_pandas(request.param)


def test_text_may_have_marks_for_unknown_labels_beside_it(with_gaps):
    model = LKGClassifier().fit(X, with_gaps)
    assert model.classes_.tolist() == ["ape", "bee", "cat"]
    np.testing.assert_array_equal(model.transduction_, NAMES)
    np.testing.assert_array_equal(model.predict(X), NAMES)
    by_number = LKGClassifier().fit(X, np.where(KNOWN, y, -1))
    np.testing.assert_array_equal(model.predict(X + 0.01), model.classes_[by_number.predict(X + 0.01)])
    np.testing.assert_array_equal(model.predict_proba(X + 0.01), by_number.predict_proba(X + 0.01))


def test_numbers_that_came_as_objects_are_numbers():
    for mark in MARKS.values():
        labels = y.astype(object)
        labels[~KNOWN] = mark
        found, known = read_labels(labels)
        assert found.dtype == y.dtype
        np.testing.assert_array_equal(known, KNOWN)


def test_numbers_may_have_nan_among_them():
    np.testing.assert_array_equal(read_labels(np.where(KNOWN, y, np.nan))[1], KNOWN)
    with pytest.raises(ValueError, match="Input y contains infinity"):
        read_labels(np.where(KNOWN, y, np.inf))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["ape", -1, "bee"]), "y holds the text '-1', .* give y with dtype=object, and the number -1 or None"),
        (["ape", -1, "bee"], "y holds the text '-1'"),
        (np.array(["ape", "-1", None], dtype=object), "y holds the text '-1'"),
        (np.array(["ape", np.nan]), "y holds the text 'nan'"),
        (np.array(["ape", 3, None], dtype=object), "y mixes text with other labels, such as 'ape' and 3"),
        ([None, None], "y holds no known label, only -1 or None"),
    ],
)
def test_labels_that_are_not_what_they_seem_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        read_labels(labels)
