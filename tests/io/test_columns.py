import numpy as np
import pytest

from kernelbraid.datasets import read_samples
from small_files import refuse, write


@pytest.mark.parametrize("name", ["id", "ID", "Index", "name", "sample", ""])
def test_a_first_column_with_the_name_of_an_id_is_the_id(tmp_path, name):
    samples = read_samples(write(tmp_path, "a.csv", f"{name},a,b\n007,1,2\nx y,3,4\n"))
    assert samples.ids == ["007", "x y"]
    assert samples.feature_names == ["a", "b"]
    np.testing.assert_array_equal(samples.X, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "rows", [["0.5,1.25", "-1.0,2.0"], ["0.5,1.25", "-1.0,2e-05"], ["5.1,3.5,setosa", "4.9,3.0,x"]]
)
def test_numbers_from_0_above_decimals_are_the_header_of_pandas(tmp_path, rows):
    names = [str(i) for i in range(rows[0].count(",") + 1)]
    samples = read_samples(write(tmp_path, "a.csv", "\n".join([",".join(names), *rows])), drop=["2"] * ("s" in rows[0]))
    assert samples.header is True
    assert samples.feature_names == names[: samples.X.shape[1]]
    assert len(samples.X) == len(rows)


@pytest.mark.parametrize(
    "rows",
    [
        ["1,0", "1,1"],
        ["2,1,0", "0,2,1"],  # ranks
        ["1,0,2.5,9", "2,2.5,0,9", "3,9,9,0"],  # distances
        [f"{12 + i},{40 - i},{30 + i % 7}" for i in range(60)],
        [f"0,{i % 3},0,{i % 17},5,9,0" for i in range(60)],  # as pixels are
    ],
)
def test_whether_numbers_from_0_above_whole_numbers_are_a_header_is_asked(tmp_path, rows):
    first = ",".join(str(i) for i in range(rows[0].count(",") + 1))
    path = write(tmp_path, "a.csv", "\n".join([first, *rows]))
    refuse(read_samples, path, "row 1 counts the columns", "--header or --no-header")
    assert len(read_samples(path, header=True).X) == len(rows)
    assert len(read_samples(path, header=False).X) == len(rows) + 1


@pytest.mark.parametrize(("first", "at"), [("0,1,2,species", 3), ("1,2,3,species", 3), ("species,0,1,2", 0)])
def test_numbers_that_count_the_columns_beside_names_are_no_sample(tmp_path, first, at):
    rows = [["5", "3", "1"], ["4", "3", "2"]]
    lines = [",".join([*row[:at], "setosa", *row[at:]]) for row in rows]
    samples = read_samples(write(tmp_path, "a.csv", "\n".join([first, *lines])), drop=["species"])
    assert samples.X.tolist() == [[5, 3, 1], [4, 3, 2]]
    assert samples.header is True


def test_numbers_that_count_the_columns_beside_a_class_that_comes_back_are_a_sample(tmp_path):
    path = write(tmp_path, "a.csv", "1,2,3,setosa\n4,3,2,virginica\n5,3,1,setosa\n")
    samples = read_samples(path, drop=[4])
    assert samples.X.tolist() == [[1, 2, 3], [4, 3, 2], [5, 3, 1]]
    assert samples.header is False


def test_numbers_from_0_alone_are_a_sample(tmp_path):
    samples = read_samples(write(tmp_path, "a.csv", "0,1,2"))
    assert samples.header is False
    assert samples.X.tolist() == [[0, 1, 2]]
    beside_ids = read_samples(write(tmp_path, "b.csv", ",0,1\n0,5,6\n1,7,8\n"))  # of a data frame with its index
    assert beside_ids.ids == ["0", "1"]
    assert beside_ids.X.tolist() == [[5, 6], [7, 8]]


@pytest.mark.parametrize("id_column", ["code", "2", 2])
def test_an_id_column_may_be_given_by_name_or_number(tmp_path, id_column):
    samples = read_samples(write(tmp_path, "a.csv", "a,code,b\n1,x1,2\n3,x2,4\n"), id_column=id_column)
    assert samples.ids == ["x1", "x2"]
    np.testing.assert_array_equal(samples.X, [[1, 2], [3, 4]])


def test_all_columns_of_text_are_named_at_once(tmp_path):
    path = write(tmp_path, "a.csv", "age,city,visits,day\n31,Oslo,2,2020-01-01\n44,Rome,5,2020-01-02\n")
    refuse(read_samples, path, "column 'city' has text in row 2 ('Oslo')", "(--drop city); so have day.")
    assert read_samples(path, drop=["city", "day"]).X.shape == (2, 2)


def test_a_first_row_with_text_above_text_is_a_sample_with_an_id(tmp_path):
    path = write(tmp_path, "a.csv", "x,1,2\ny,3,4\n")
    refuse(read_samples, path, "column 1 has text in row 1 ('x')", "--drop 1", "--id 1")
    assert read_samples(path, id_column=1).ids == ["x", "y"]


def test_columns_are_dropped_by_name_or_number(tmp_path):
    path = write(tmp_path, "a.csv", "a,species,b,c\n1,setosa,2,9\n3,virginica,4,9\n")
    samples = read_samples(path, drop=["species", 4])
    assert samples.feature_names == ["a", "b"]
    np.testing.assert_array_equal(samples.X, [[1, 2], [3, 4]])
    assert read_samples(path, drop=["2"]).feature_names == ["a", "b", "c"]


def test_unknown_columns_are_refused_with_the_known_ones(tmp_path):
    path = write(tmp_path, "a.csv", "a,b,b\n1,2,3\n")
    refuse(read_samples, path, "no column 'z'", "a, b", drop=["z"])
    refuse(read_samples, path, "no column '4'", id_column=4)
    refuse(read_samples, path, "several columns are called 'b'", drop=["b"])
    refuse(read_samples, path, "no column is left", drop=[1, 2, 3])


@pytest.mark.parametrize(
    "first",
    ["5.1,NA,1.4", "5.1,?,1.4", "5.1,3..5,1.4", '5.1,"3,5",1.4', "5.1,abc,1.4", "NA,?,n/a", "NA,3..5,?", "5,abc,1"],
)
def test_a_slip_in_the_first_row_is_reported_and_no_sample_is_lost(tmp_path, first):
    path = write(tmp_path, "a.csv", f"{first}\n4.9,3.0,1.5\n4.7,3.2,1.3\n")
    refuse(read_samples, path, "in row 1", "(--header)")
    assert read_samples(path, header=True).X.shape == (2, 3)


@pytest.mark.parametrize(
    "first", ["a,b,c", "Na,K,Cl", "a,,c", "1st,2nd,3rd", "2020-01-01,x,y", "id,2001,2002", "x,y z,%"]
)
def test_a_first_row_of_names_is_a_header(tmp_path, first):
    samples = read_samples(write(tmp_path, "a.csv", f"{first}\n4.9,3.0,1.5\n4.7,3.2,1.3\n"))
    assert len(samples.X) == 2
    assert samples.header is True


def test_the_decision_can_be_overridden(tmp_path):
    path = write(tmp_path, "years.csv", "2001,2002\n1,2\n3,4\n")
    assert read_samples(path).X.shape == (3, 2)
    assert read_samples(path, header=True).feature_names == ["2001", "2002"]
    path = write(tmp_path, "names.csv", "a,b\n1,2\n")
    refuse(read_samples, path, "column 1 has text in row 1 ('a')", header=False)
