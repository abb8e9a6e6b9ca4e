import numpy as np
import pytest
from scipy import io

from kernelbraid.datasets import read_labels
from small_files import X, refuse, write


@pytest.mark.parametrize(
    ("content", "values", "ids"),
    [
        ("0\n1\n1\n", [0, 1, 1], None),
        ("group\n0\n1\n1\n", [0, 1, 1], None),
        ("group\n0\n1\n1\n\n\n", [0, 1, 1], None),
        ("a\nb\nb\n\n", ["a", "b", "b"], None),
        ("class\na\nb\nb\n", ["a", "b", "b"], None),
        ("y\nn\ny\n", ["y", "n", "y"], None),
        ("10\n1_0\n", ["10", "1_0"], None),
        ("id,label\nx,0\ny,1\n", [0, 1], ["x", "y"]),
        (",cluster\nx,0\ny,1\n", [0, 1], ["x", "y"]),
        ("id,species\nx,a\ny,b\n", ["a", "b"], ["x", "y"]),
        ("width,species\n1,a\n2,b\n", ["a", "b"], None),
        ("width,species\n1,a\n2,b\n,\n", ["a", "b"], None),
        ("plant,species\nx,0\ny,1\n", [0, 1], ["x", "y"]),
        ("id,label,confidence,outlier_score\nx,0,0.9,1.0\ny,0,0.9,1.1\n", [0, 0], ["x", "y"]),
        ("x,y,class\n1,2,a\n1,2,b\n", ["a", "b"], None),
        ("x,0\ny,1\n", [0, 1], ["x", "y"]),
        ("5,0\n6,1\n", [0, 1], None),
        ("\ufefflabel\n3\n", [3], None),
        (
            "1541815603606036480\n1541815603606036481\n1541815603606036482\n",
            [1541815603606036480 + i for i in range(3)],
            None,
        ),
        ("9223372036854775808\n9223372036854775809\n", ["9223372036854775808", "9223372036854775809"], None),
        ("abc,5\n4,1\n3,2\n", [5, 1, 2], None),
        ("5,abc\n4,1\n3,2\n", ["abc", "1", "2"], None),
    ],
)
def test_labels_are_found_in_a_table(tmp_path, content, values, ids):
    labels = read_labels(write(tmp_path, "a.csv", content))
    np.testing.assert_array_equal(labels.values, values)
    assert labels.values.dtype.kind == ("i" if isinstance(values[0], int) else "U")
    assert labels.ids == ids


def test_labels_are_read_from_the_column_that_is_asked_for(tmp_path):
    path = write(tmp_path, "a.csv", "id,species,label\nx,a,1\ny,b,1\n")
    labels = read_labels(path, column="species")
    np.testing.assert_array_equal(labels.values, ["a", "b"])
    assert labels.ids == ["x", "y"]
    refuse(read_labels, path, "there is no column 'genus'; use one of id, species, label", column="genus")
    for number in (2, "2"):
        np.testing.assert_array_equal(read_labels(path, column=number).values, ["a", "b"])
    bare = write(tmp_path, "b.csv", "5.1,a,3\n4.9,b,3\n")
    np.testing.assert_array_equal(read_labels(bare, column=2).values, ["a", "b"])


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("cultivar,alcohol,proline\n1,14.2,1065\n1,13.2,1050\n", "cultivar, alcohol, proline"),
        ("id,batch,kind\nx,1,a\ny,1,b\n", "batch, kind"),
        ("id,class,label\nx,1,a\ny,1,b\n", "class, label"),
        ("5.1,3.5,a\n4.9,3.5,b\n", "1, 2, 3"),
        ("x,0\nx,1\n", "1, 2"),
    ],
)
def test_no_column_is_guessed_where_several_could_hold_the_labels(tmp_path, content, columns):
    path = write(tmp_path, "a.csv", content)
    refuse(read_labels, path, f"in any of the columns {columns}; say in which (--column NAME", "or call it label")


def test_no_column_of_a_parquet_file_is_guessed(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"cultivar": [1, 1], "alcohol": [14.2, 13.2], "proline": [1065, 1050]}).write_parquet(path)
    refuse(read_labels, path, "in any of the columns cultivar, alcohol, proline; say in which (--column NAME")
    for column in ("cultivar", 1):
        assert read_labels(path, column=column).values.tolist() == [1, 1]
    polars.DataFrame({"cell": ["x", "y"], "kind": ["a", "a"]}).write_parquet(path)
    assert read_labels(path).values.tolist() == ["a", "a"]
    assert read_labels(path).ids == ["x", "y"]
    polars.DataFrame({"batch": ["x", "x"], "kind": ["a", "a"]}).write_parquet(path)
    refuse(read_labels, path, "batch, kind")
    assert read_labels(path, column="kind").ids is None


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ("", "is empty"),
        ("label\n", "a header but no rows below it"),
        ("id,label\nx,\ny,1\n", "column 'label' has no label in row 2"),
        ("label\n1\nnan\n", "no label in row 3 ('nan')"),
        ("label\na\n\nb\n", "no label in row 3"),
        ("id,label\nx,1\ny\n", "row 3 has 1 cells"),
        ("NA\n1\n2\n", "column 1 has no label in row 1"),
        ("label\n1\n?\n2\n", "column 'label' has no label in row 3"),
        ("label\n1\n-inf\n", "label 2 is -inf"),
        ("56e400\n57e400\n", "label 1 is inf"),
    ],
)
def test_bad_labels_get_one_clear_sentence(tmp_path, content, fragment):
    refuse(read_labels, write(tmp_path, "a.csv", content), fragment)


@pytest.mark.parametrize(
    "values", [np.array([2, 0, 1]), np.array([2.0, 0.0, 1.0]), np.array([[2], [0], [1]], dtype="u1")]
)
def test_labels_are_read_from_array_files(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "a.npz", X=X, labels=values, y=values)
    np.savez(tmp_path / "b.npz", X=X, anything=values)
    io.savemat(tmp_path / "a.mat", {"fea": X, "gnd": values, "order": values[::-1]})
    for name in ("a.npy", "a.npz", "b.npz", "a.mat"):
        labels = read_labels(tmp_path / name)
        np.testing.assert_array_equal(labels.values, [2, 0, 1])
        assert labels.values.dtype.kind in "iu"
        assert labels.ids is None
    np.testing.assert_array_equal(read_labels(tmp_path / "a.mat", key="order").values, [1, 0, 2])


def test_labels_are_read_from_parquet(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"id": ["x", "y"], "Label": ["a", "b"], "z": [1, 2]}).write_parquet(path)
    labels = read_labels(path)
    np.testing.assert_array_equal(labels.values, ["a", "b"])
    assert labels.ids == ["x", "y"]
    polars.DataFrame({"z": [1, 2]}).write_parquet(path)
    np.testing.assert_array_equal(read_labels(path).values, [1, 2])
    for values in ([1, None], ["a", None], [None, "a"]):
        polars.DataFrame({"z": values}).write_parquet(path)
        refuse(read_labels, path, f"no label in row {values.index(None) + 1}")


@pytest.mark.parametrize(
    ("array", "fragment"),
    [(X, "shape (3, 2)"), (np.array([]), "shape (0,)"), (np.array([0, np.nan]), "label 2 is nan")],
)
def test_arrays_that_are_no_labels_are_refused(tmp_path, array, fragment):
    np.save(tmp_path / "a.npy", array)
    refuse(read_labels, tmp_path / "a.npy", fragment)
    io.savemat(tmp_path / "a.mat", {"y": np.array([{"a": 1}, {"a": 2}], dtype=object)})
    refuse(read_labels, tmp_path / "a.mat", "neither numbers nor text")


def test_numbers_with_fractions_are_labels(tmp_path):
    np.testing.assert_array_equal(read_labels(write(tmp_path, "a.csv", "0.5\n1.5\n")).values, [0.5, 1.5])
    np.testing.assert_array_equal(read_labels(write(tmp_path, "a.csv", "1.0\n1\n2e0\n")).values, [1, 1, 2])


def test_the_header_of_labels_can_be_given(tmp_path):
    path = write(tmp_path, "a.csv", "species\na\nb\n")
    assert (read_labels(path).header, len(read_labels(path).values)) == (False, 3)
    assert read_labels(path, header=True).values.tolist() == ["a", "b"]
    path = write(tmp_path, "b.csv", "y\nn\nn\n")
    assert read_labels(path).header is True
    assert read_labels(path, header=False).values.tolist() == ["y", "n", "n"]


@pytest.mark.parametrize(
    ("content", "is_unclear"),
    [
        ("celltype\nT cell\nB cell\n", True),
        ("cell,celltype\nc1,T cell\nc2,B cell\n", True),
        ("T cell\nB cell\nT cell\n", False),  # a class that comes back
        ("NA\nT cell\nB cell\n", False),
        ("celltype\n0\n1\n", False),  # a header
        ("cell,celltype,age\nc1,T cell,5\nc2,B cell,6\n", False),
    ],
)
def test_texts_above_texts_may_be_a_header(tmp_path, content, is_unclear):
    path = write(tmp_path, "a.csv", content)
    column = None if "age" not in content else 2
    assert read_labels(path, column=column).is_unclear is is_unclear
    assert read_labels(path, column=column, header=False).is_unclear is False


def test_large_whole_numbers_of_a_parquet_file_stay_apart(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    large = [1, 2**63, 2**63 + 1]
    pq.write_table(pa.table({"label": pa.array(large, pa.uint64())}), tmp_path / "a.parquet")
    assert read_labels(tmp_path / "a.parquet").values.tolist() == list(map(str, large))
    pq.write_table(pa.table({"label": pa.array([10**20, 10**20 + 1], pa.decimal128(25))}), tmp_path / "b.parquet")
    assert read_labels(tmp_path / "b.parquet").values.tolist() == [str(10**20), str(10**20 + 1)]
