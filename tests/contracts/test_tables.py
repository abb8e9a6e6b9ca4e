"""Tables of pandas, polars and PyArrow as samples of every estimator, with the names of their columns."""

import numpy as np
import pytest
from sklearn.base import clone

import kernelbraid
from kernelbraid import LKG, LKGClassifier, methods
from kernelbraid.methods import METHODS
from problems import blobs

X, y = blobs(n=45)
COLUMNS = [f"gene {i}" for i in range(X.shape[1])]
CLASSES = [*dict.fromkeys(type(model) for model in METHODS.values())]
ESTIMATORS = [
    *(cls(3, random_state=0) for cls in CLASSES),
    LKGClassifier(),
]


def of_pandas(**converted):
    frame = pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(X, columns=COLUMNS)
    frame.index = [f"cell {i}" for i in range(len(X))]
    return frame.convert_dtypes(**converted) if converted else frame


def of_polars():
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(X, schema=COLUMNS)


def of_pyarrow():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pyarrow.table(dict(zip(COLUMNS, X.T, strict=True)))


TABLES = {
    "pandas": of_pandas,
    "pandas, nullable": lambda: of_pandas(dtype_backend="numpy_nullable"),
    "pandas, arrow": lambda: of_pandas(dtype_backend="pyarrow"),
    "polars": of_polars,
    "pyarrow": of_pyarrow,
}


# Every estimator with one kind of table, and every kind of table with one estimator.
PAIRS = [("pandas", model) for model in ESTIMATORS] + [(kind, LKG(3, random_state=0)) for kind in [*TABLES][1:]]
both = pytest.mark.parametrize(
    ("kind", "estimator"), PAIRS, ids=[f"{kind}, {type(one).__name__}" for kind, one in PAIRS]
)


def columns(table, names):
    """Return some columns of a table, in this order."""
    return table[names] if hasattr(table, "iloc") else table.select(names)


def found(estimator):
    return estimator.transduction_ if isinstance(estimator, LKGClassifier) else estimator.labels_


def test_every_estimator_is_here():
    rooms = (kernelbraid, methods)
    named = {name for room in rooms for name in room.__all__ if hasattr(getattr(room, name), "fit")} - {"EachView"}
    assert named == {type(estimator).__name__ for estimator in ESTIMATORS}


@both
def test_a_table_is_clustered_as_its_numbers_are_and_its_columns_are_known(kind, estimator):
    table, estimator = TABLES[kind](), clone(estimator)
    expected = found(clone(estimator).fit(X, y))
    np.testing.assert_array_equal(found(estimator.fit(table, y)), expected)
    assert estimator.feature_names_in_.tolist() == COLUMNS
    assert estimator.n_features_in_ == len(COLUMNS)
    methods = [name for name in ("predict", "predict_proba", "transform") if hasattr(estimator, name)]
    for method in (getattr(estimator, name) for name in methods):
        assert len(method(table)) == len(X)
        with pytest.raises(ValueError, match=r"feature names should match(.|\n)*same order"):
            method(columns(table, COLUMNS[::-1]))
        with pytest.raises(ValueError, match=r"feature names should match(.|\n)*gene 5"):
            method(columns(table, COLUMNS[:-1]))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            method(X)
    assert not hasattr(estimator.fit(X, y), "feature_names_in_")  # those of an earlier fit are forgotten


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_views(name):
    table = TABLES[name]()
    views = [columns(table, COLUMNS[:3]), columns(table, COLUMNS[3:])]
    expected = LKG(3, random_state=0).fit([X[:, :3], X[:, 3:]])
    model = LKG(3, random_state=0).fit(views)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
