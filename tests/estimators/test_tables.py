import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from kernelbraid import LKG
from kernelbraid.estimators.reading import tell_of_scales
from kernelbraid.estimators.tables import refuse_infinite, refuse_words
from kernelbraid.kernels.banks import SEEN, outweighing_feature
from kernelbraid.methods import KernelKMeans

pandas = pytest.importorskip("pandas")


FRAME = pandas.DataFrame({"size": np.arange(30.0), "colour": ["red", "blue", "green"] * 10})


MODELS = [LKG(2), KernelKMeans(2)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_column_that_holds_no_numbers_is_named_with_what_encodes_it(model):
    for values in [FRAME["colour"], FRAME["colour"].astype("category"), pandas.Timestamp("2020-01-01")]:
        sentence = (
            r"X has a column 'colour' of .* values; encode it, .* OneHotEncoder in a ColumnTransformer .*, or drop it"
        )
        with pytest.raises(ValueError, match=f"^{sentence}"):
            model.fit(FRAME.assign(colour=values))


@pytest.mark.parametrize("model", MODELS[:1], ids=lambda model: type(model).__name__)
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
    refuse_words(FRAME[["size"]], "X")
    with pytest.raises(TypeError, match="string"):
        LKG(2).fit(np.array([[{"a": 1}, 1.0], [2.0, 3.0]], dtype=object))


def test_gaps_name_what_fills_them_and_infinity_does_not():
    for model in MODELS:
        X = np.arange(60.0).reshape(30, 2)
        X[4, 1] = np.nan
        with pytest.raises(ValueError, match=r"fill them in, for example with sklearn\.impute\.SimpleImputer"):
            model.fit(X)
        X[4, 1] = np.inf
        with pytest.raises(ValueError, match=r"infinity .* drop such samples or replace the value"):
            model.fit(X)


def test_the_remedy_follows_the_value():
    with pytest.raises(ValueError, match=r"contains NaN \(row 0, column 1\); .*SimpleImputer"):
        refuse_infinite(np.array([[0.0, np.nan]]), "X")
    with pytest.raises(ValueError, match=r"infinity \(row 1, column 0\); drop such samples or replace the value\.$"):
        refuse_infinite(np.array([[0.0], [-np.inf]]), "X")


WINE, CANCER = load_wine(), load_breast_cancer()


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def scores(X, centred=True):
    """Return principal components, or coordinates of singular vectors."""
    U, s, _ = np.linalg.svd(X - X.mean(axis=0) if centred else X, full_matrices=False)
    return U * s


def some_counts(rng):
    """Draw words of a text: few of them are very frequent, most are rare."""
    return rng.poisson(30 / np.arange(1, 3001) ** 1.1 * rng.gamma(2.0, size=(600, 1))).astype(float)


@pytest.mark.parametrize(("data", "name"), [(WINE, "proline"), (CANCER, "worst area")])
def test_the_feature_of_another_unit_is_found_in_raw_tables(data, name):
    found = outweighing_feature(data.data)
    assert found is not None
    assert list(data.feature_names)[found.feature] == name


def test_ratio_and_share_are_those_of_the_spreads():
    spreads = WINE.data.std(axis=0)
    found = outweighing_feature(WINE.data)
    others = np.delete(spreads, spreads.argmax())
    assert found.ratio == pytest.approx(spreads.max() / np.median(others))
    assert found.share == pytest.approx(spreads.max() ** 2 / (spreads**2).sum())


def test_the_share_is_that_of_the_mean_squared_distance():
    X = WINE.data
    distances = ((X[:, None] - X) ** 2).mean(axis=(0, 1))
    found = outweighing_feature(X)
    assert found.share == pytest.approx(distances[found.feature] / distances.sum())


def test_features_of_one_unit_are_no_reason():
    for X in [load_iris().data, load_digits().data, *map(standardised, (WINE.data, CANCER.data))]:
        assert outweighing_feature(X) is None


def test_spreads_of_rotated_features_are_meant():
    for centred in [True, False]:
        for data in [WINE, CANCER]:
            X = scores(data.data, centred)
            assert X.std(axis=0).max() > 100 * np.median(X.std(axis=0))
            assert outweighing_feature(X) is None
            assert outweighing_feature(X[::2]) is None  # a part of the samples, orthogonal up to chance


def test_words_and_one_hot_columns_are_no_reason():
    rng = np.random.default_rng(0)
    words = some_counts(rng)
    spreads = words.std(axis=0)
    assert spreads.max() > 100 * np.median(spreads[spreads > 0])
    assert outweighing_feature(words) is None
    assert outweighing_feature(sparse.csr_array(words)) is None
    assert outweighing_feature(np.eye(40)[rng.integers(40, size=500)]) is None


def test_genes_of_log_normal_intensities_are_no_reason():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=2000) * 1.5) * np.exp(rng.normal(size=(60, 2000)))
    assert X.std(axis=0).max() > 100 * np.median(X.std(axis=0))
    assert outweighing_feature(X) is None


def test_constant_features_do_not_count():
    X = np.hstack([load_digits().data, np.full((1797, 200), 0.1)])  # whose spread is a rounding error
    assert outweighing_feature(X) is None
    assert outweighing_feature(np.hstack([np.ones((9, 3)), np.arange(9.0)[:, None]])) is None


def test_one_hot_columns_beside_a_raw_one_are_outweighed():
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(4)[rng.integers(4, size=300)], rng.normal(5e4, 1e4, size=(300, 1))])
    for given in (X, sparse.csr_array(X)):
        assert outweighing_feature(given).feature == 4


def test_missing_rows_and_the_kind_of_the_numbers_change_nothing():
    X = WINE.data
    with_gaps = np.insert(X, [3, 90], np.nan, axis=0)
    found = outweighing_feature(X)
    assert outweighing_feature(with_gaps) == found
    assert outweighing_feature(X.astype(np.float32)).feature == found.feature
    assert outweighing_feature(sparse.csr_array(X)).ratio == pytest.approx(found.ratio)


def test_a_part_of_many_samples_is_enough():
    X = np.repeat(WINE.data, 60, axis=0)
    assert len(X) > 10 * SEEN
    assert outweighing_feature(X).ratio == pytest.approx(outweighing_feature(WINE.data).ratio, rel=0.1)


def test_there_may_be_nothing_to_compare():
    for X in [np.ones((1, 3)), np.ones((5, 1)), np.full((3, 2), np.nan), [[1e300, 0], [-1e300, 1]]]:
        assert outweighing_feature(np.asarray(X)) is None


def test_one_sentence_names_the_worst_view_and_feature():
    told = tell_of_scales([WINE.data, CANCER.data[:178]])
    assert told.startswith("feature 23 (counted from 0) of view 2 of X has ")
    assert tell_of_scales([WINE.data], WINE.feature_names).startswith("feature 'proline' of X has 414 times the spread")
    assert tell_of_scales([standardised(WINE.data)]) is None


def test_tiny_numbers_have_the_spreads_of_larger_ones():
    for size in [1e-90, 1e-120, 1e-150]:
        assert outweighing_feature(size * WINE.data).feature == outweighing_feature(WINE.data).feature
