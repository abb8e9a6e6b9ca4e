import pickle
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import io, sparse

from kernelbraid.datasets import DataError, column_names, read_labels, read_samples

X = np.array([[1.5, -2.0], [3.0, 4e-3], [5.0, 6.0]])


class Trap:
    """Says so if it is ever unpickled."""

    def __reduce__(self):
        return pytest.fail, ("a pickled object was loaded",)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refuse(read, path, *fragments, **options):
    """Expect one clear sentence that names the file."""
    with pytest.raises(DataError) as error:
        read(path, **options)
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    for fragment in fragments:
        assert fragment in sentence, sentence


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


def test_the_header_names_the_features(tmp_path):
    assert read_samples(write(tmp_path, "a.csv", "a, b \n1,2\n")).feature_names == ["a", "b"]
    assert read_samples(write(tmp_path, "b.csv", "3,4\n1,2\n")).feature_names is None


def test_one_row_and_one_column_are_a_matrix(tmp_path):
    assert read_samples(write(tmp_path, "a.csv", "1,2\n")).X.shape == (1, 2)
    assert read_samples(write(tmp_path, "b.csv", "x\n1\n2\n")).X.shape == (2, 1)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_come_back_bit_for_bit(tmp_path, data):
    rows = "\n".join(",".join(repr(float(value)) for value in row) for row in data)
    np.testing.assert_array_equal(read_samples(write(tmp_path, "a.csv", rows)).X, data)


@pytest.mark.parametrize("name", ["id", "ID", "Index", "name", "sample", ""])
def test_a_first_column_with_the_name_of_an_id_is_the_id(tmp_path, name):
    samples = read_samples(write(tmp_path, "a.csv", f"{name},a,b\n007,1,2\nx y,3,4\n"))
    assert samples.ids == ["007", "x y"]
    assert samples.feature_names == ["a", "b"]
    np.testing.assert_array_equal(samples.X, [[1, 2], [3, 4]])


def test_the_numbered_header_that_pandas_writes_is_a_header(tmp_path):
    samples = read_samples(write(tmp_path, "a.csv", ",0,1\n0,5,6\n1,7,8\n"))
    assert samples.ids == ["0", "1"]
    assert samples.feature_names == ["0", "1"]


@pytest.mark.parametrize("id_column", ["code", "2", 2])
def test_an_id_column_may_be_given_by_name_or_number(tmp_path, id_column):
    samples = read_samples(write(tmp_path, "a.csv", "a,code,b\n1,x1,2\n3,x2,4\n"), id_column=id_column)
    assert samples.ids == ["x1", "x2"]
    np.testing.assert_array_equal(samples.X, [[1, 2], [3, 4]])


def test_a_given_id_column_replaces_the_guess(tmp_path):
    samples = read_samples(write(tmp_path, "a.csv", "id,code,b\n1,x1,2\n"), id_column="code")
    assert samples.feature_names == ["id", "b"]


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


def test_a_name_goes_before_a_number(tmp_path):
    path = write(tmp_path, "a.csv", "id,2,1\nx,5,6\n")
    assert read_samples(path, drop=["1"]).feature_names == ["2"]


def test_column_names_are_listed(tmp_path):
    assert column_names(write(tmp_path, "a.csv", "id,a\n1,2\n")) == ["id", "a"]
    assert column_names(write(tmp_path, "b.csv", "1,2\n3,4\n")) == ["1", "2"]
    np.save(tmp_path / "c.npy", X)
    assert column_names(tmp_path / "c.npy") == []


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
        ("a,b\n1,2\n3\n", ["row 3 has 1 cells", "have 2"]),
        ("1,2\n3,4,5\n", ["row 2 has 3 cells"]),
        ("a,b\n1,2\n,\n3,4\n", ["row 3 is empty"]),
        ("a\n1\n\n3\n", ["row 3 is empty"]),
        ("", ["is empty"]),
        ("\n \n", ["is empty"]),
        ("a,b\n", ["a header but no samples"]),
        ("a;b\n1;2\n", ["semicolons", "commas"]),
        ("a\tb\n1\t2\n", ["tabs", "commas"]),
        ("a,b\n1_0,2\n", ["column 'a' has text in row 2 ('1_0')"]),
        ("id,a\n,2\n", ["column 'id' has no value in row 2"]),
        (b"a,b\n\xff\xfe,2\n", ["not UTF-8"]),
        (b"a,b\n\x00\x00,2\n", [".csv: "]),
        ('a,b\n"1,2\n', ["check its quotes"]),
        ("a,b\n1," + "9x" * 500 + "\n", ["column 'b'"]),
    ],
)
def test_a_bad_table_gets_one_clear_sentence(tmp_path, content, fragments):
    refuse(read_samples, write(tmp_path, "table.csv", content), *fragments)


def test_a_long_offending_value_is_cut(tmp_path):
    with pytest.raises(DataError) as error:
        read_samples(write(tmp_path, "a.csv", "a,b\n1," + "9x" * 500 + "\n"))
    assert len(str(error.value)) < 300 + len(str(tmp_path))


def test_unknown_columns_are_refused_with_the_known_ones(tmp_path):
    path = write(tmp_path, "a.csv", "a,b,b\n1,2,3\n")
    refuse(read_samples, path, "no column 'z'", "a, b", drop=["z"])
    refuse(read_samples, path, "no column '4'", id_column=4)
    refuse(read_samples, path, "columns 2 and 3 are both called 'b'", drop=["b"])
    refuse(read_samples, path, "no column is left", drop=[1, 2, 3])


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_path_that_is_no_readable_file_is_refused(tmp_path, read):
    refuse(read, tmp_path / "missing.csv", "no such file")
    (tmp_path / "folder.csv").mkdir()
    refuse(read, tmp_path / "folder.csv", "directory")
    refuse(read, write(tmp_path, "data.xlsx", "x"), "'.xlsx'", ".csv", ".mat")
    refuse(read, write(tmp_path, "data", "x"), "suffix '' is unknown")
    for suffix in (".csv", ".tsv", ".parquet", ".npy", ".npz", ".mat"):
        refuse(read, write(tmp_path, f"empty{suffix}", b""), "is empty")


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".npz", ".mat"])
@pytest.mark.parametrize(
    "content", [b"garbage", b"PK\x03\x04 broken", b"\x93NUMPY\x01\x00v\x00", b"PAR1xxxx", bytes(400)]
)
@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_damaged_file_gets_one_clear_sentence(tmp_path, read, suffix, content):
    refuse(read, write(tmp_path, f"a{suffix}", content))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat", ".parquet"])
def test_a_truncated_file_gets_one_clear_sentence(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"a{suffix}"
    data = np.random.default_rng(0).normal(size=(50, 4))
    {
        ".npy": lambda: np.save(path, data),
        ".npz": lambda: np.savez_compressed(path, X=data),
        ".mat": lambda: io.savemat(path, {"X": data}, do_compression=True),
        ".parquet": lambda: pandas.DataFrame(data, columns=list("abcd")).to_parquet(path),
    }[suffix]()
    content = path.read_bytes()
    for length in range(1, len(content), len(content) // 15):
        refuse(read_samples, write(tmp_path, path.name, content[:length]))


# Array files


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "bool", ">f8", ">i4"])
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat"])
def test_array_files_become_floating_point(tmp_path, suffix, dtype):
    data, path = np.arange(6).reshape(3, 2).astype(dtype), tmp_path / f"a{suffix}"
    {".npy": lambda: np.save(path, data), ".npz": lambda: np.savez(path, X=data)}.get(
        suffix, lambda: io.savemat(path, {"X": data})
    )()
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, data.astype(float))
    assert samples.X.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert samples.X.dtype.isnative
    assert samples.X.flags.c_contiguous
    assert samples.ids is None
    assert samples.feature_names is None


def test_a_stack_of_kernels_may_have_three_axes(tmp_path):
    stack = np.arange(18.0).reshape(2, 3, 3)
    np.save(tmp_path / "a.npy", stack)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").X, stack)
    np.savez(tmp_path / "a.npz", kernels=stack, y=[0, 1, 2])
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz").X, stack)


def test_a_matlab_stack_is_turned_round(tmp_path):
    stack = np.arange(18.0).reshape(2, 3, 3)
    io.savemat(tmp_path / "a.mat", {"KH": np.moveaxis(stack, 0, 2), "Y": [[1], [2], [3]]})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.mat").X, stack)


def test_the_only_matrix_is_read_whatever_its_name(tmp_path):
    np.savez(tmp_path / "a.npz", features=X, y=[0, 1, 2], note=np.array("text"))
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz").X, X)
    io.savemat(tmp_path / "a.mat", {"features": X, "gnd": [[1], [2], [3]], "note": "text"})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.mat").X, X)


@pytest.mark.parametrize(("names", "chosen"), [(["fea", "X"], "X"), (["fea", "other"], "fea")])
@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_of_several_matrices_the_usual_name_is_read(tmp_path, suffix, names, chosen):
    content, path = {name: X * (name == chosen) for name in names}, tmp_path / f"a{suffix}"
    np.savez(path, **content) if suffix == ".npz" else io.savemat(path, content)
    np.testing.assert_array_equal(read_samples(path).X, X)
    np.testing.assert_array_equal(read_samples(path, key=names[0]).X, content[names[0]])


@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_several_arrays_need_a_key(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    np.savez(path, a=X, b=X) if suffix == ".npz" else io.savemat(path, {"a": X, "b": X})
    refuse(read_samples, path, "a, b", "--key")
    refuse(read_samples, path, "no array 'c'", "a", "b", key="c")
    np.testing.assert_array_equal(read_samples(path, key="b").X, X)


def test_a_single_feature_in_a_matlab_file_is_found_by_name(tmp_path):
    io.savemat(tmp_path / "a.mat", {"X": X[:, :1], "gnd": [[1], [2], [3]]})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.mat").X, X[:, :1])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_sparse_files_stay_sparse(tmp_path, kind, family):
    matrix = getattr(sparse, f"{kind}_{family}")(X * (X > 2))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    read = read_samples(tmp_path / "a.npz").X
    assert isinstance(read, sparse.csr_array)
    np.testing.assert_array_equal(read.toarray(), matrix.toarray())


def test_a_sparse_matlab_matrix_stays_sparse(tmp_path):
    matrix = sparse.csc_array(X * (X > 2))
    io.savemat(tmp_path / "a.mat", {"fea": matrix, "gnd": [[1], [2], [3]]})
    read = read_samples(tmp_path / "a.mat").X
    assert isinstance(read, sparse.csr_array)
    np.testing.assert_array_equal(read.toarray(), matrix.toarray())


def test_the_parts_of_a_sparse_matrix_are_put_together(tmp_path):
    matrix = sparse.csr_array(X * (X > 2))
    parts = {f"X_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "a.npz", **parts, y=[0, 1, 2])
    for key in (None, "X"):
        read = read_samples(tmp_path / "a.npz", key=key).X
        assert isinstance(read, sparse.csr_array)
        np.testing.assert_array_equal(read.toarray(), matrix.toarray())
    np.testing.assert_array_equal(read_labels(tmp_path / "a.npz").values, [0, 1, 2])


def test_sparse_parts_out_of_bounds_are_refused(tmp_path):
    parts = {"X_data": [1.0], "X_indices": [10**6], "X_indptr": [0, 1], "X_shape": [1, 2]}
    np.savez(tmp_path / "a.npz", **parts)
    refuse(read_samples, tmp_path / "a.npz", "damaged")
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices = np.array([0, 1, 99], dtype=matrix.indices.dtype)
    sparse.save_npz(tmp_path / "b.npz", matrix)
    refuse(read_samples, tmp_path / "b.npz", "damaged")


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_pickled_objects_are_refused_and_never_loaded(tmp_path, read):
    trap = np.array([[Trap(), Trap()]], dtype=object)
    np.save(tmp_path / "a.npy", trap)
    np.savez(tmp_path / "a.npz", X=trap)
    np.savez(tmp_path / "mixed.npz", X=X, y=trap)
    write(tmp_path, "b.npy", pickle.dumps(Trap()))
    write(tmp_path, "b.npz", pickle.dumps(Trap()))
    for name in ("a.npy", "a.npz", "mixed.npz", "b.npy", "b.npz"):
        refuse(read, tmp_path / name, "pickled objects", "never loaded", "numpy.save")


def test_a_key_reads_the_plain_array_beside_a_pickled_one(tmp_path):
    np.savez(tmp_path / "mixed.npz", X=X, y=np.array([Trap()], dtype=object))
    np.testing.assert_array_equal(read_samples(tmp_path / "mixed.npz", key="X").X, X)


@pytest.mark.parametrize(
    "content",
    [
        b"MATLAB 7.3 MAT-file, Platform: GLNXA64",
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n" + bytes(100),
        b"\x89HDF\r\n\x1a\n" + bytes(100),
        b"Anything".ljust(124) + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n" + bytes(100),
    ],
)
@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_matlab_file_of_version_7_3_is_refused_with_the_remedy(tmp_path, read, content):
    refuse(read, write(tmp_path, "a.mat", content), "7.3", "-v7")


@pytest.mark.parametrize(
    ("array", "fragment"),
    [
        (np.arange(3.0), "shape (3,)"),
        (np.float64(3), "shape ()"),
        (np.ones((1, 2, 2, 2)), "shape (1, 2, 2, 2)"),
        (np.ones((0, 3)), "shape (0, 3)"),
        (np.ones((3, 0)), "shape (3, 0)"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.ones((2, 2), dtype=complex), "real numbers"),
        (np.array([[1, 2], [3, np.nan]]), "position (2, 2)"),
        (np.array([[1, np.inf]]), "is inf"),
        (np.array([[1, np.inf]], dtype=np.float16), "is inf"),
    ],
)
def test_an_array_that_is_no_finite_matrix_is_refused(tmp_path, array, fragment):
    np.save(tmp_path / "a.npy", array)
    refuse(read_samples, tmp_path / "a.npy", fragment)


def test_an_array_that_claims_to_be_huge_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", X)
    content = (tmp_path / "a.npy").read_bytes().replace(b"(3, 2)", b"(9, 9)")
    refuse(read_samples, write(tmp_path, "a.npy", content), "damaged")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000, 100000), }\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)
    refuse(read_samples, write(tmp_path, "b.npy", content), "damaged")


def test_nan_in_a_sparse_matrix_is_refused(tmp_path):
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array([[1, np.nan]]))
    refuse(read_samples, tmp_path / "a.npz", "NaN")


def test_an_array_file_has_no_columns_to_name(tmp_path):
    np.save(tmp_path / "a.npy", X)
    refuse(read_samples, tmp_path / "a.npy", "--drop", drop=["a"])
    refuse(read_samples, tmp_path / "a.npy", "--id", id_column="a")


def test_a_wrong_suffix_between_npy_and_npz_is_pointed_out(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X)
    refuse(read_samples, write(tmp_path, "c.npz", (tmp_path / "a.npy").read_bytes()), "rename it to .npy")
    refuse(read_samples, write(tmp_path, "c.npy", (tmp_path / "b.npz").read_bytes()), "rename it to .npz")


# Parquet


def test_parquet_is_read_with_names_and_ids(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["x", "y"], "a": [1, 2], "b": [True, False], "c": [0.5, 1.5]})
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    samples = read_samples(tmp_path / "a.parquet")
    assert samples.ids == ["x", "y"]
    assert samples.feature_names == ["a", "b", "c"]
    np.testing.assert_array_equal(samples.X, [[1, 1, 0.5], [2, 0, 1.5]])
    assert column_names(tmp_path / "a.parquet") == ["id", "a", "b", "c"]


@pytest.mark.parametrize("name", [None, "code"])
def test_an_index_stored_by_pandas_holds_the_ids(tmp_path, name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]}, index=pandas.Index(["x", "y"], name=name))
    frame.to_parquet(tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    assert samples.ids == ["x", "y"]
    assert samples.feature_names == ["a"]


def test_parquet_written_by_polars_keeps_single_precision(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"a": [1.0, 2.0]}, schema={"a": polars.Float32}).write_parquet(tmp_path / "a.parquet")
    assert read_samples(tmp_path / "a.parquet").X.dtype == np.float32


def test_bad_parquet_columns_get_one_clear_sentence(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"a": [1.0, 2.0], "kind": [None, "7"]}).write_parquet(path)
    refuse(read_samples, path, "column 'kind' has text in row 2 ('7')", "--drop kind")
    assert read_samples(path, drop=["kind"]).feature_names == ["a"]
    polars.DataFrame({"a": [1, None]}).write_parquet(path)
    refuse(read_samples, path, "column 'a' has no value in row 2")
    polars.DataFrame({"a": [1.0, float("nan")]}).write_parquet(path)
    refuse(read_samples, path, "column 'a' has no value in row 2 ('nan')")
    polars.DataFrame({"a": []}, schema={"a": polars.Float64}).write_parquet(path)
    refuse(read_samples, path, "is empty")


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch, read):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refuse(read, write(tmp_path, "a.parquet", "x"), 'pip install "kernelbraid[io]"')


# Labels


@pytest.mark.parametrize(
    ("content", "values", "ids"),
    [
        ("0\n1\n1\n", [0, 1, 1], None),
        ("label\n0\n1\n1\n", [0, 1, 1], None),
        ("group\n0\n1\n1\n", [0, 1, 1], None),
        ("0.0\n1\n1\n", [0, 1, 1], None),
        ("a\nb\nb\n\n", ["a", "b", "b"], None),
        ("class\na\nb\nb\n", ["a", "b", "b"], None),
        ("y\nn\ny\n", ["y", "n", "y"], None),
        ("10\n1_0\n", ["10", "1_0"], None),
        ("id,label\nx,0\ny,1\n", [0, 1], ["x", "y"]),
        ("sample,label\n0,0\n1,1\n", [0, 1], ["0", "1"]),
        (",cluster\nx,0\ny,1\n", [0, 1], ["x", "y"]),
        ("id,Class,note\nx,a,1\ny,b,2\n", ["a", "b"], ["x", "y"]),
        ("id,species\nx,a\ny,b\n", ["a", "b"], ["x", "y"]),
        ("width,species\n1,a\n2,b\n", ["species", "a", "b"], None),
        ("label,width\na,1\nb,2\n", ["a", "b"], None),
        ("x,0\ny,1\n", [0, 1], ["x", "y"]),
        ("x,0\nx,1\n", [0, 1], None),
        ("5,0\n6,1\n", [0, 1], None),
        ("\ufefflabel\n3\n", [3], None),
    ],
)
def test_labels_are_found_in_a_table(tmp_path, content, values, ids):
    labels = read_labels(write(tmp_path, "a.csv", content))
    np.testing.assert_array_equal(labels.values, values)
    assert labels.values.dtype.kind == ("i" if isinstance(values[0], int) else "U")
    assert labels.ids == ids


def test_labels_are_read_from_tab_separated_files(tmp_path):
    labels = read_labels(write(tmp_path, "a.tsv", "id\tlabel\nx\tone, two\ny\tb\n"))
    np.testing.assert_array_equal(labels.values, ["one, two", "b"])


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ("", "is empty"),
        ("label\n", "a header but no labels"),
        ("id,label\nx,\ny,1\n", "column 'label' has no label in row 2"),
        ("label\n1\nnan\n", "label 2 is nan"),
        ("label\na\n\nb\n", "row 3 is empty"),
        ("id,label\nx,1\ny\n", "row 3 has 1 cells"),
        ("id;label\nx;1\n", "semicolons"),
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


def test_text_labels_are_read_from_array_files(tmp_path):
    np.save(tmp_path / "a.npy", np.array(["a", "b"]))
    np.testing.assert_array_equal(read_labels(tmp_path / "a.npy").values, ["a", "b"])
    io.savemat(tmp_path / "a.mat", {"labels": np.array(["one", "b"], dtype=object)})
    np.testing.assert_array_equal(read_labels(tmp_path / "a.mat").values, ["one", "b"])


def test_labels_are_read_from_parquet(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"id": ["x", "y"], "Label": ["a", "b"], "z": [1, 2]}).write_parquet(path)
    labels = read_labels(path)
    np.testing.assert_array_equal(labels.values, ["a", "b"])
    assert labels.ids == ["x", "y"]
    polars.DataFrame({"z": [1, 2]}).write_parquet(path)
    np.testing.assert_array_equal(read_labels(path).values, [1, 2])
    polars.DataFrame({"z": [1, None]}).write_parquet(path)
    refuse(read_labels, path, "no label in row 2")


@pytest.mark.parametrize(
    ("array", "fragment"),
    [(X, "shape (3, 2)"), (np.array([]), "no labels"), (np.array([0, np.nan]), "label 2 is nan")],
)
def test_arrays_that_are_no_labels_are_refused(tmp_path, array, fragment):
    np.save(tmp_path / "a.npy", array)
    refuse(read_labels, tmp_path / "a.npy", fragment)
    io.savemat(tmp_path / "a.mat", {"y": np.array([{"a": 1}, {"a": 2}], dtype=object)})
    refuse(read_labels, tmp_path / "a.mat", "neither numbers nor text")


def test_unclear_label_arrays_need_a_key(tmp_path):
    np.savez(tmp_path / "a.npz", a=[1, 2], b=[1, 2])
    refuse(read_labels, tmp_path / "a.npz", "a, b", "--key")
    np.savez(tmp_path / "b.npz", a=X)
    refuse(read_labels, tmp_path / "b.npz", "a (3, 2)")
