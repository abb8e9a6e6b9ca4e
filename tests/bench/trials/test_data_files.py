import numpy as np
import pytest
from scipy import sparse

from kernelbraid.bench.trials.data_files import DataFiles, is_data_file
from kernelbraid.datasets import DataError

FLOWERS = "plant,length,width,species\na,5.1,3.5,setosa\nb,4.9,3.0,virginica\nc,6.2,2.9,setosa\n"
COLOURS = "plant,red,blue\nc,9,8\na,7,6\nd,5,4\n"
X = np.array([[5.1, 3.5], [4.9, 3.0], [6.2, 2.9]])


@pytest.fixture
def files(tmp_path):
    """Return a data set of files that are written first."""

    def make(contents, **rest):
        for name, content in contents.items():
            (tmp_path / name).write_text(content)
        return DataFiles("flowers", tuple(tmp_path / name for name in contents), **rest)

    return make


def test_samples_and_classes_come_from_a_table(files):
    found = files({"a.csv": FLOWERS}, labels="species", id_column="plant").read()
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, [0, 1, 0])
    assert (found.name, found.n_clusters) == ("flowers", 2)


def test_a_column_that_is_called_class_needs_no_name(files):
    found = files({"a.csv": FLOWERS.replace("species", "Class").replace("plant", "id")}).read()
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, [0, 1, 0])


def test_columns_are_left_out_and_features_standardised(files):
    found = files({"a.csv": FLOWERS}, labels="species", drop=("plant", "width"), standardise=True).read()
    assert found.X.shape == (3, 1)
    np.testing.assert_allclose([found.X.mean(), found.X.std()], [0.0, 1.0], atol=1e-12)


def test_several_files_are_views_matched_by_ids_with_gaps(files):
    found = files({"a.csv": FLOWERS, "b.csv": COLOURS}, labels="species", id_column="plant").read()
    np.testing.assert_array_equal(found.views[0], X)
    np.testing.assert_array_equal(found.views[1], [[7, 6], [np.nan, np.nan], [9, 8]])


def test_files_without_ids_are_taken_in_their_order(files):
    found = files({"a.csv": "x,class\n1,0\n2,1\n", "b.csv": "u,v\n3,4\n5,6\n"}).read()
    np.testing.assert_array_equal(found.views[1], [[3, 4], [5, 6]])


@pytest.mark.parametrize("labels", [None, "gnd"])
def test_arrays_and_their_classes_come_from_one_file(tmp_path, labels):
    np.savez(tmp_path / "a.npz", X0=X, X1=X[:, :1], **{labels or "y": np.array([3, 5, 3])})
    found = DataFiles("a", (tmp_path / "a.npz",), labels).read()
    assert [view.shape for view in found.views] == [(3, 2), (3, 1)]
    np.testing.assert_array_equal(found.y, [0, 1, 0])


def test_classes_may_have_a_file_of_their_own(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "classes.csv").write_text("label\nx\ny\nx\n")
    found = DataFiles("a", (tmp_path / "a.npy",), tmp_path / "classes.csv").read()
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, [0, 1, 0])


@pytest.mark.parametrize("ids", [False, True])
def test_a_header_above_the_words_of_classes_is_found_by_the_samples(files, tmp_path, ids):
    rows = ["plant,species", "a,x", "b,y", "c,x", "d,y"] if ids else ["species", "x", "y", "x", "y"]
    (tmp_path / "classes.csv").write_text("\n".join(rows))
    table = "plant,length\na,5.1\nb,4.9\nc,6.2\nd,6.3\n"
    found = files({"a.csv": table}, labels=tmp_path / "classes.csv", id_column="plant").read()
    np.testing.assert_array_equal(found.y, [0, 1, 0, 1])


def test_parquet_is_read_like_csv(files, tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"length": X[:, 0], "width": X[:, 1], "species": ["s", "v", "s"]}).to_parquet(
        tmp_path / "a.parquet"
    )
    found = DataFiles("a", (tmp_path / "a.parquet",), "species").read()
    np.testing.assert_array_equal(found.X, X)
    same = files({"a.csv": FLOWERS}, labels="species", id_column="plant").read()
    assert found.checksum == same.checksum


@pytest.mark.parametrize("change", [("5.1", "5.2"), ("virginica", "setosa\nd,1,1,virginica")])
def test_a_changed_value_or_class_changes_the_checksum(files, change):
    first = files({"a.csv": FLOWERS}, labels="species", id_column="plant").read()
    second = files({"a.csv": FLOWERS.replace(*change)}, labels="species", id_column="plant").read()
    assert first.checksum != second.checksum


@pytest.mark.parametrize(
    ("contents", "rest", "says"),
    [
        (
            {"a.csv": FLOWERS},
            {"labels": "kind"},
            "no file has the classes 'kind' (there is plant, length",
        ),
        ({"a.csv": FLOWERS}, {}, "no file has a column of classes"),
        ({"a.csv": FLOWERS}, {"labels": "species", "drop": ("age",)}, "no file has a column 'age'"),
        ({"a.csv": "x,class\n1,0\n2,0\n"}, {}, "all samples are of the class 0"),
        ({"a.csv": "x,class\n1,0\n2,1\n", "b.csv": "u,v\n3,4\n"}, {}, "1 samples, but 2 classes"),
        (
            {"a.csv": FLOWERS, "b.csv": COLOURS.replace("c,9", "a,9")},
            {"labels": "species", "id_column": "plant"},
            "have the same id 'a'",
        ),
        (
            {"a.csv": FLOWERS, "b.csv": "plant,red,blue\nx,9,8\ny,7,6\n"},
            {"labels": "species", "id_column": "plant"},
            "no id is one of those with classes",
        ),
    ],
)
def test_what_is_wrong_with_files_is_one_sentence(files, contents, rest, says):
    with pytest.raises(DataError) as error:
        files(contents, **rest).read()
    assert says in str(error.value)
    assert str(error.value).endswith(".")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: there is no such file; check the path"):
        DataFiles("a", (tmp_path / "none.csv",)).read()


def test_an_array_of_samples_alone_needs_classes(tmp_path):
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(DataError, match=r"no file has a column of classes; .* labels = NAME"):
        DataFiles("a", (tmp_path / "a.npy",)).read()


def test_a_sparse_view_has_no_gaps_and_is_not_centred(tmp_path):
    csr = sparse.csr_array(X)
    parts = {"X_data": csr.data, "X_indices": csr.indices, "X_indptr": csr.indptr, "X_shape": np.array(csr.shape)}
    np.savez(tmp_path / "a.npz", **parts, y=np.array([0, 1, 0]))
    found = DataFiles("a", (tmp_path / "a.npz",), standardise=True).read()
    assert sparse.issparse(found.X)
    np.testing.assert_allclose(found.X.toarray(), X / X.std(axis=0))


def test_files_are_told_from_names_by_their_suffix():
    assert is_data_file("folder/mine.CSV")
    assert not is_data_file("wine")
