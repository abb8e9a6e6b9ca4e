import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from files.small_files import refuse, write
from kernelbraid.datasets import open_stream, read_labels, read_samples
from kernelbraid.files.dialect import find_delimiter
from kernelbraid.files.errors import DataError
from kernelbraid.files.sources import Form, open_source

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
        ("quoted.csv", 'a,b\n"1,5",-2\n3,"0,25"\n5,"6,125"\n'),
        ("bom.csv", "\ufeffa;b\n1,5;-2\n3;0,25\n5;6,125\n"),
    ],
)
def test_semicolons_and_decimal_commas_are_found(tmp_path, name, content):
    np.testing.assert_array_equal(read_samples(write(tmp_path, name, content)).X, DATA)


def test_how_a_table_is_written_is_told(tmp_path):
    form = read_samples(write(tmp_path, "a.csv", "a;b\n1,5;2\n")).form
    assert (form.delimiter, form.decimal) == (";", ",")
    form = read_samples(write(tmp_path, "b.csv", "a,b\n1.5,2\n")).form
    assert (form.delimiter, form.decimal) == (",", ".")


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        ("a;b\n1,234;5,678\n", ["'1,234' in row 2 of column 'a'", "thousands", "--decimal ,"]),
        ("a;b\n1.234;5.678\n", ["'1.234' in row 2 of column 'a'", "thousands", "--decimal ."]),
        ("a;b\n1.234;0,5\n", ["'0,5' in row 2", "'1.234' in row 2", "in one way"]),
        ("a;b\n0.5;1,234\n", ["'1,234' in row 2 of column 'b' has a comma", "'0.5'"]),
        ("a;b\n1;2\n1.234,5;2\n", ["column 'a' has text in row 3 ('1.234,5')"]),
        ("a;b\n1;2\n1,234,567;2\n", ["column 'a' has text in row 3 ('1,234,567')"]),
        ("a;b\n1;2\n1.234.567;2\n", ["column 'a' has text in row 3 ('1.234.567')"]),
        ('a,b\n1,"1,234"\n', ["'1,234' in row 2 of column 'b'", "thousands"]),
    ],
)
def test_thousands_are_never_taken_for_decimals_or_the_other_way_round(tmp_path, content, fragments):
    refuse(read_samples, write(tmp_path, "a.csv", content), *fragments)


@pytest.mark.parametrize(
    ("form", "content", "X"),
    [
        (Form(decimal=","), "a;b\n1,234;5,678\n", [[1.234, 5.678]]),
        (Form(decimal="."), "a;b\n1.234;5.678\n", [[1.234, 5.678]]),
        (Form(delimiter="|"), "a|b\n1|2\n", [[1, 2]]),
        (Form(delimiter=" "), "1 2.5\n3 4\n", [[1, 2.5], [3, 4]]),
        (Form(delimiter=";"), "1,5;2,5\n", [[1.5, 2.5]]),
    ],
)
def test_what_the_user_says_holds(tmp_path, form, content, X):
    np.testing.assert_array_equal(read_samples(open_source(write(tmp_path, "a.csv", content), form)).X, X)


@pytest.mark.parametrize(
    ("form", "content", "fragment"),
    [
        (Form(decimal=","), "a;b\n1,5;1.234\n", "'1.234' in row 2 of column 'b' has a point"),
        (Form(decimal="."), "a;b\n1,5;2\n", "'1,5' in row 2 of column 'a' has a comma"),
        (Form(delimiter="|"), "a,b\n1,2\n", "separated by commas where vertical bars are expected"),
    ],
)
def test_a_table_that_is_not_as_the_user_says_is_refused(tmp_path, form, content, fragment):
    source = open_source(write(tmp_path, "a.csv", content), form)
    refuse(lambda _: read_samples(source), source.path, fragment)


@pytest.mark.parametrize(
    ("lines", "usual", "found"),
    [
        (["id,text", "1,a;b", "2,c;d"], ",", ","),
        (["1,a;b", "2,c;d"], ",", ","),
        (["a;b", "1;2"], ",", ";"),
        (["1,5;2,5", "3,5;4,5"], ",", ";"),
        (["1;2", "3"], ",", ","),
        (["1,5", "2,5"], "\t", "\t"),
        (["x", "1"], ",", ","),
        ([], ",", ","),
    ],
)
def test_the_usual_delimiter_is_left_only_where_another_one_fits_better(lines, usual, found):
    assert find_delimiter(lines, usual) == found


numbers = st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda value: f"{float(value)!r}")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5))
def test_a_table_of_another_country_is_read_exactly_or_refused(tmp_path, rows):
    table = "a;b\n" + "".join(f"{first};{second}\n".replace(".", ",") for first, second in rows)
    source = open_source(write(tmp_path, "a.csv", table), Form(decimal=","))
    X = [[float(cell) for cell in row] for row in rows]
    np.testing.assert_array_equal(read_samples(source).X, X)
    try:
        found = read_samples(write(tmp_path, "b.csv", table)).X
    except DataError as error:
        told = str(error)
    else:
        np.testing.assert_array_equal(found, X)
        return
    assert "thousands" in told  # 1,234 alone


@pytest.mark.parametrize("name", ["a.csv.gz", "A.CSV.GZ", "a.gz"])
def test_packed_tables_are_read(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"a,b\n1.5,-2\n3,0.25\n5,6.125\n"))
    np.testing.assert_array_equal(read_samples(open_source(tmp_path / name, Form(suffix=".csv"))).X, DATA)


def test_packed_labels_and_tabs_are_read(tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"id\tlabel\nx\t1\ny\t2\n"))
    assert read_labels(tmp_path / "a.tsv.gz").values.tolist() == [1, 2]


@pytest.mark.parametrize("cut", [12, -4])
def test_a_damaged_packed_table_gets_one_sentence(tmp_path, cut):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1.5,-2\n" * 99)[:cut])
    refuse(read_samples, tmp_path / "a.csv.gz", "the file is damaged")


def test_a_packed_table_that_grows_beyond_the_memory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 10**6))
    monkeypatch.setattr("kernelbraid.files.sources.available_bytes", lambda: 10**6)
    refuse(read_samples, tmp_path / "a.csv.gz", "were packed in it")


def test_a_packed_file_without_content_is_empty(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b""))
    refuse(read_samples, tmp_path / "a.csv.gz", "the file is empty")


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
    np.testing.assert_array_equal(np.vstack(list(open_stream(path))), samples.X)


def test_a_first_row_of_true_and_false_is_a_sample(tmp_path):
    np.testing.assert_array_equal(
        read_samples(write(tmp_path, "a.csv", "True,False\nFalse,True\n")).X, [[1, 0], [0, 1]]
    )
    path = write(tmp_path, "b.csv", "x,True\ny,False\n")
    refuse(read_samples, path, "column 1 has text in row 1 ('x')", "--id 1")
    np.testing.assert_array_equal(read_samples(path, id_column=1).X, [[1], [0]])


@pytest.mark.parametrize(
    ("rows", "fragment"),
    [
        (["True", "0"], "column 'b' has '0' in row 3 where the rows above have true or false"),
        (["0", "1", "True"], "column 'b' has 'True' in row 4 where the rows above have numbers"),
        (["True", "maybe"], "column 'b' has text in row 3 ('maybe')"),
        (["True", ""], "column 'b' has no value in row 3"),
        (["True", "yes"], "column 'b' has text in row 3 ('yes')"),
    ],
)
def test_columns_of_truths_and_something_else_are_refused(tmp_path, rows, fragment):
    path = write(tmp_path, "a.csv", "\n".join(["a,b", *(f"1,{row}" for row in rows)]))
    refuse(read_samples, path, fragment, "--drop b")
    assert read_samples(path, drop=["b"]).X.shape == (len(rows), 1)
