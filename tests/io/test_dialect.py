import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kernelbraid.datasets import read_samples
from kernelbraid.io.sources import open_source
from small_files import refuse, write

DATA = [[1.5, -2.0], [3.0, 0.25], [5.0, 6.125]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("header.csv", "a;b\n1,5;-2\n3;0,25\n5;6,125\n"),
        ("no_header.csv", "1,5;-2\n3;0,25\n5;6,125\n"),
        ("every_cell.csv", "1,5;-2,0\n3,0;0,25\n5,0;6,125\n"),
        ("ids.csv", "id;a;b\nx, y;1,5;-2\nz;3;0,25\nu;5;6,125\n"),
        ("commas_in_header.csv", "length, cm;width, cm\n1,5;-2\n3;0,25\n5;6,125\n"),
        ("exponents.csv", "a;b\n15e-1;-2\n3;2,5e-1\n0,5E1;6,125\n"),
        ("tabs.tsv", "a\tb\n1,5\t-2\n3\t0,25\n5\t6,125\n"),
        ("tabs.csv", "a\tb\n1.5\t-2\n3\t0.25\n5\t6.125\n"),
        ("points.csv", "a;b\n1.5;-2\n3;0.25\n5;6.125\n"),
        ("index.csv", "\ta\tb\nx\t1.5\t-2\ny\t3\t0.25\nz\t5\t6.125\n"),
        ("quoted.csv", 'a,b\n"1,5",-2\n3,"0,25"\n5,"6,125"\n'),
        ("pipes.csv", "a|b\n1,5|-2\n3|0,25\n5|6,125\n"),
        ("spaces.csv", " a  b\n1.5  -2\n 3  0.25 \n5  6.125\n"),
        ("no_header_but_spaces.csv", "1.5 -2\n3 0.25\n5 6.125\n"),
        ("bom.csv", "\ufeffa;b\n1,5;-2\n3;0,25\n5;6,125\n"),
    ],
)
def test_semicolons_and_decimal_commas_are_found(tmp_path, name, content):
    np.testing.assert_array_equal(read_samples(write(tmp_path, name, content)).X, DATA)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (
            "a;b\n1,234;5,678\n",
            "a number in another way in row 2 ('1,234'); write it as 1234.5, or say what stands before decimals",
        ),
        (
            "a;b\n1.234;5.678\n",
            "a number in another way in row 2 ('1.234'); write it as 1234.5, or say what stands before decimals",
        ),
        ("a;b\n1.234;0,5\n", "a number in another way in row 2 ('1.234')"),
        ("a;b\n1,234;0.5\n", "a number in another way in row 2 ('1,234')"),
        (
            "a;b\n1;2\n1.234,5;2\n",
            "column 'a' has a number in another way in row 3 ('1.234,5'); write it as 1234.5",
        ),
        ("a;b\n1;2\n1.234.567;2\n", "column 'a' has a number in another way in row 3 ('1.234.567')"),
        ("a;b\n1.000,5;2\n3,5;4\n", "a number in another way in row 2 ('1.000,5'); write it as 1234.5"),
        ("a,b\n1'000,2\n3,4\n", "a number in another way in row 2"),
        ('a,b\n"1,234.5",2\n3,4\n', "a number in another way in row 2"),
        ('a,b\n"1,234",1\n', "a number in another way in row 2 ('1,234')"),
        ("a;b\n" + "1,5;2\n" * 200 + "1.5;2\n", "a number in another way in row 202 ('1.5')"),
    ],
)
def test_thousands_are_never_taken_for_decimals_or_the_other_way_round(tmp_path, content, place):
    refuse(read_samples, write(tmp_path, "a.csv", content), "column 'a' has", place)


@pytest.mark.parametrize(
    ("form", "content", "X"),
    [
        ({"decimal": ","}, "a;b\n1,234;5,678\n", [[1.234, 5.678]]),
        ({"decimal": "."}, "a;b\n1.234;5.678\n", [[1.234, 5.678]]),
        ({"delimiter": "|"}, "a|b\n1|2\n", [[1, 2]]),
        ({"delimiter": " "}, "1 2.5\n3 4\n", [[1, 2.5], [3, 4]]),
        ({"delimiter": ";"}, "1,5;2,5\n", [[1.5, 2.5]]),
    ],
)
def test_what_the_user_says_holds(tmp_path, form, content, X):
    np.testing.assert_array_equal(read_samples(open_source(write(tmp_path, "a.csv", content), **form)).X, X)


@pytest.mark.parametrize("cut", [12, -4])
def test_a_damaged_packed_table_gets_one_sentence(tmp_path, cut):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1.5,-2\n" * 99)[:cut])
    refuse(read_samples, tmp_path / "a.csv.gz", "the file cannot be read")


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("a,b\nTrue,1.5\nFalse,2.5\n", True),
        ("TRUE,1.5\nfalse,2.5\n", False),
        ("a;b\n true ;1,5\nFALSE;2,5\n", True),  # no decimal point beside the commas
    ],
)
def test_true_and_false_are_1_and_0(tmp_path, content, header):
    path = write(tmp_path, "a.csv", content)
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, [[1, 1.5], [0, 2.5]])
    assert samples.header is header


@pytest.mark.parametrize(
    ("rows", "fragment"),
    [
        (["True", "0"], "column 'b' has text in row 2 ('True')"),
        (["0", "1", "True"], "column 'b' has text in row 4 ('True')"),
        (["True", "maybe"], "column 'b' has text in row 2 ('True')"),
    ],
)
def test_columns_of_truths_and_something_else_are_refused(tmp_path, rows, fragment):
    path = write(tmp_path, "a.csv", "\n".join(["a,b", *(f"1,{row}" for row in rows)]))
    refuse(read_samples, path, fragment, "--drop b")
    assert read_samples(path, drop=["b"]).X.shape == (len(rows), 1)


@pytest.mark.parametrize(("name", "form"), [("a.csv", {"delimiter": ";"}), ("a.tsv", {})])
def test_a_delimiter_that_leaves_one_column_is_refused(tmp_path, name, form):
    source = open_source(write(tmp_path, name, "a,b\n1,2\n"), **form)
    refuse(lambda _: read_samples(source), source.path, "row 1 is one cell with a comma in it", "--delimiter comma")
    source = open_source(write(tmp_path, "german.csv", "a;b\n1,5;2,5\n"), delimiter=",")
    refuse(lambda _: read_samples(source), source.path, "one cell with a semicolon in it", "--delimiter semicolon")


@pytest.mark.parametrize(("decimal", "late"), [(",", "1.234"), (".", "1,5")])
def test_decimals_in_another_way_than_the_user_says_are_refused(tmp_path, decimal, late):
    source = open_source(write(tmp_path, "a.csv", f"a;b\n1;2\n{late};3\n"), decimal=decimal)
    refuse(lambda _: read_samples(source), source.path, f"in row 3 ('{late}')", "--decimal")


@pytest.mark.parametrize("late", ["1,5", "2.5", "true", "x", "1e400", ""])
def test_what_comes_after_the_rows_that_tell_is_looked_at_too(tmp_path, late):
    path = write(tmp_path, "a.csv", "a;b\n" + "1;2\n" * 300 + f"{late};2\n4;4\n")
    if late in ("1,5", "2.5"):
        assert read_samples(path).X[300].tolist() == [float(late.replace(",", ".")), 2]
    else:
        refuse(read_samples, path, "column 'a'", "in row 302")


@pytest.mark.parametrize("sign", [",", ";", "\t", "|", " "])
def test_a_row_that_lacks_a_cell_is_named_though_its_column_is_left_out(tmp_path, sign):
    content = "a,b,note\n1,2,x\n3,4\n5,6,y\n".replace(",", sign)
    source = open_source(write(tmp_path, "a.csv", content), delimiter=sign)
    refuse(lambda _: read_samples(source, drop=["note"]), source.path, "row 3 has 2 cells, those before it 3")


def test_the_row_of_the_file_is_named_below_blank_lines_and_cells_of_several(tmp_path):
    content = 'id,b\n"one\nname",1\n\ntwo,2\n  \nthree,x\n'
    refuse(read_samples, write(tmp_path, "a.csv", content), "column 'b' has text in row 7 ('x')")


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("name", ["a.csv.gz", "A.CSV.GZ", "a.gz", "a.csv.bz2", "a.csv.xz"])
def test_packed_tables_are_read(tmp_path, name):
    packed = PACKERS[Path(name).suffix.lower()](b"a,b\n1.5,-2\n3,0.25\n5,6.125\n")
    np.testing.assert_array_equal(read_samples(write(tmp_path, name, packed)).X, DATA)


def test_a_zip_file_holds_one_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a,b\n1.5,-2\n3,0.25\n5,6.125\n")
    np.testing.assert_array_equal(read_samples(tmp_path / "a.csv.zip").X, DATA)
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "a") as archive:
        archive.writestr("b.csv", "1,2\n")
    refuse(read_samples, tmp_path / "a.csv.zip", "Multiple files found in ZIP file")
