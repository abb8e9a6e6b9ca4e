import numpy as np
import pytest
from scipy import io

from kernelbraid.datasets import column_names, read_labels, read_samples
from small_files import X, refuse, write


def test_column_names_are_listed(tmp_path):
    assert column_names(write(tmp_path, "a.csv", "id,a\n1,2\n")) == ["id", "a"]
    assert column_names(write(tmp_path, "b.csv", "1,2\n3,4\n")) == ["1", "2"]
    np.save(tmp_path / "c.npy", X)
    assert column_names(tmp_path / "c.npy") == []


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_path_that_is_no_readable_file_is_refused(tmp_path, read):
    refuse(read, tmp_path / "missing.csv", "No such file")
    (tmp_path / "folder.csv").mkdir()
    refuse(read, tmp_path / "folder.csv", "cannot be read")
    refuse(read, write(tmp_path, "data.xlsx", "x"), "'.xlsx'", ".csv", ".mat")
    for suffix in (".csv", ".tsv", ".parquet", ".npy", ".npz", ".mat"):
        refuse(read, write(tmp_path, f"empty{suffix}", b""), "is empty")


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_file_that_is_called_as_another_kind_is_named_for_what_it_is(tmp_path, read):
    pandas = pytest.importorskip("pandas")
    save = {
        ".parquet": pandas.DataFrame({"a": [1.0, 2.0]}).to_parquet,
        ".npy": lambda path: np.save(path, X),
        ".mat": lambda path: io.savemat(path, {"X": X}),
        ".npz": lambda path: np.savez(path, X=X),
    }
    for suffix, write_it in save.items():
        write_it(tmp_path / f"a{suffix}")
        (tmp_path / f"a{suffix}").rename(tmp_path / "a.csv")
        what = "a zip archive, as .npz and .xlsx are," if suffix == ".npz" else f"a {suffix} file"
        refuse(read, tmp_path / "a.csv", f"by its first bytes this is {what} and no .csv file; call it what it is")
    assert read_samples(write(tmp_path, "b.csv", "PAR1,PK\n1,2\n")).feature_names == ["PAR1", "PK"]


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".npz", ".mat"])
@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_damaged_file_gets_one_clear_sentence(tmp_path, read, suffix):
    for content in [b"garbage", b"PK\x03\x04 broken", b"\x93NUMPY\x01\x00v\x00", b"PAR1xxxx", bytes(400)]:
        refuse(read, write(tmp_path, f"a{suffix}", content))


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


def test_an_array_file_has_no_columns_to_name(tmp_path):
    np.save(tmp_path / "a.npy", X)
    refuse(read_samples, tmp_path / "a.npy", "--drop", drop=["a"])
    refuse(read_samples, tmp_path / "a.npy", "--id", id_column="a")


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
