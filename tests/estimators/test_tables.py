import numpy as np
import pytest

from kernelbraid import LKG, KernelKMeans, LandmarkLKG
from kernelbraid.estimators.tables import named_columns, remedy_for

pandas = pytest.importorskip("pandas")
FRAME = pandas.DataFrame({"size": np.arange(30.0), "colour": ["red", "blue", "green"] * 10})
MODELS = [LKG(2), LandmarkLKG(2, n_landmarks=9), KernelKMeans(2)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_column_that_holds_no_numbers_is_named_with_what_encodes_it(model):
    for values in [FRAME["colour"], FRAME["colour"].astype("category"), pandas.Timestamp("2020-01-01")]:
        sentence = (
            r"X has a column 'colour' of .* values; encode it, .* OneHotEncoder in a ColumnTransformer .*, or drop it"
        )
        with pytest.raises(ValueError, match=f"^{sentence}"):
            model.fit(FRAME.assign(colour=values))


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: type(model).__name__)
def test_the_view_of_such_a_column_is_named(model):
    with pytest.raises(ValueError, match=r"^view 2 of X has a column 'colour'"):
        model.fit([FRAME[["size"]], FRAME])


def test_a_column_of_an_array_has_its_number():
    with pytest.raises(ValueError, match=r"^X has a column 1 of object values; encode it"):
        LKG(2).fit(FRAME.to_numpy())


def test_numbers_in_columns_of_objects_are_read():
    frame = FRAME.assign(colour=np.arange(30) % 3).astype(object)
    assert len(LKG(2, random_state=0).fit(frame).labels_) == 30


def test_other_errors_stay_what_they_are():
    with pytest.raises(ValueError, match=r"^another$"), named_columns(FRAME[["size"]], "X"):
        raise ValueError("another")
    with pytest.raises(TypeError, match="string"):
        LKG(2).fit(np.array([[{"a": 1}, 1.0], [2.0, 3.0]], dtype=object))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_gaps_name_what_fills_them_and_infinity_does_not(model):
    X = np.arange(60.0).reshape(30, 2)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"fill them in, for example with sklearn\.impute\.SimpleImputer"):
        model.fit(X)
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity .* drop such samples or replace the value"):
        model.fit(X)


def test_the_remedy_follows_the_value():
    assert "SimpleImputer" in remedy_for(np.nan)
    assert "SimpleImputer" not in remedy_for(-np.inf)
