import numpy as np
import pytest

from kernelbraid.datasets import read_samples
from small_files import X, refuse, write


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "1.5,-2\n3,4e-3\n5,6\n"),
        ("header.csv", "a,b\n1.5,-2\n3,4e-3\n5,6\n"),
        ("no_newline.csv", "a,b\n1.5,-2\n3,4e-3\n5,6"),
        ("windows.csv", "a,b\r\n1.5,-2\r\n3,4e-3\r\n5,6\r\n"),
        ("bom.csv", "\ufeffa,b\n1.5,-2\n3,4e-3\n5,6\n"),
        ("bom_numbers.csv", "\ufeff1.5,-2\n3,4e-3\n5,6\n"),
        ("quoted.csv", '"a","b, or c"\n"1.5","-2"\n3,"4e-3"\n5,6\n'),
        ("blank_lines.csv", "\na,b\n1.5,-2\n\n3,4e-3\n5,6\n\n  \n,\n"),
        ("spaces.csv", " a , b \n 1.5 , -2\n3, 4e-3\n5,6 \n"),
        ("tabs.tsv", "a\tb\n1.5\t-2\n3\t4e-3\n5\t6\n"),
        ("tabs.tab", "1.5\t-2\n3\t4e-3\n5\t6\n"),
        ("UPPER.CSV", "1.5,-2\n3,4e-3\n5,6\n"),
    ],
)
def test_text_tables_are_read(tmp_path, name, content):
    samples = read_samples(write(tmp_path, name, content))
    np.testing.assert_array_equal(samples.X, X)
    assert samples.X.dtype == np.float64
    assert samples.ids is None


def test_one_row_and_one_column_are_a_matrix(tmp_path):
    assert read_samples(write(tmp_path, "a.csv", "1,2\n")).X.shape == (1, 2)
    assert read_samples(write(tmp_path, "b.csv", "x\n1\n2\n")).X.shape == (2, 1)


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (
            "a,species\n1,2\n3,setosa\n",
            ["column 'species'", "text in row 3", "'setosa'", "--drop species", "--id species"],
        ),
        ("a,sepal width\n1,x\n", ["--drop 'sepal width'"]),
        ("a,b\n1,2\n3,\n", ["column 'b' has no value in row 3", "--drop b"]),
        ("a,b\n1,2\n3,nan\n", ["column 'b' has no value in row 3", "'nan'"]),
        ("a,b\n1,2\n3,?\n", ["column 'b' has no value in row 3"]),
        ("1,,3\n4,5,6\n", ["column 2 has no value in row 1"]),
        (",5,3\n4,5,6\n", ["column 1 has no value in row 1"]),
        ("a,b\n1,-inf\n", ["column 'b' has an infinite value in row 2 ('-inf')"]),
        ("a,b\n1,2\n3\n", ["row 3 has 1 cells", "before it 2"]),
        ("1,2\n3,4,5\n", ["row 2 has 3 cells, those before it 2; give each the same number"]),
        ("a,b\n1,2\n,\n3,4\n", ["column 'a' has no value in row 3"]),
        ("a\n1\n\n3\n", ["no value in row 3"]),
        ("", ["is empty"]),
        ("\n \n", ["is empty"]),
        ("a,b\n", ["a header but no rows below it"]),
        ("a;b\n1;2\n3\n4;5\n", ["one cell with a semicolon in it", "--delimiter semicolon"]),
        ("a\tb\n1\n3\t4\n", ["one cell with a tab in it", "--delimiter tab"]),
        ("a,b\n1_0,2\n", ["column 'a' has text in row 2 ('1_0')"]),
        ("id,a\n,2\n", ["column 'id' has no value in row 2"]),
        (b"a,b\n\xff\xfe,2\n", ["not UTF-8"]),
        (b"a,b\n\x00\x00,2\n", [".csv: "]),
        (b'"a"\n1\n\x00\x00\x002\n', ["zero bytes"]),  # a row that would be lost
        ('a,b\n"1,2\n', ["check its quotes"]),
        ("a,b\n1," + "9x" * 500 + "\n", ["column 'b'"]),
    ],
)
def test_a_bad_table_gets_one_clear_sentence(tmp_path, content, fragments):
    refuse(read_samples, write(tmp_path, "table.csv", content), *fragments)


def test_a_large_table_is_read_fast_and_to_twelve_digits(tmp_path, monkeypatch):
    data = np.random.default_rng(0).normal(size=(500, 4))
    rows = "\n".join(",".join(map(repr, row)) for row in data.tolist())
    monkeypatch.setattr("kernelbraid.io.tables.EXACT", 0)
    np.testing.assert_allclose(read_samples(write(tmp_path, "a.csv", f"a,b,c,d\n{rows}")).X, data, rtol=1e-11)


def test_columns_of_one_name_are_refused_unless_one_is_dropped(tmp_path):
    path = write(tmp_path, "a.csv", "a,b,a\n1,2,3\n")
    refuse(read_samples, path, "several columns are called 'a'", "--drop NUMBER")
    np.testing.assert_array_equal(read_samples(path, drop=[3]).X, [[1, 2]])
    refuse(read_samples, path, "several columns are called 'a'", keep=["a"])
