import sys

import numpy as np
import pytest

from files.small_files import refuse, write
from kernelbraid.datasets import column_names, open_stream, read_labels, read_samples
from kernelbraid.files import memory


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


@pytest.fixture
def save(tmp_path):
    """Write a table with pyarrow."""
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    def write(table, **options):
        pq.write_table(table, tmp_path / "a.parquet", **options)
        return tmp_path / "a.parquet"

    return write


def test_sizes_are_held_against_the_memory_before_anything_is_decoded(save, monkeypatch):
    import pyarrow as pa

    path = save(pa.table({"a": np.zeros(10_000), "b": np.zeros(10_000), "label": np.zeros(10_000, dtype="i4")}))
    monkeypatch.setattr(memory, "available_bytes", lambda: 150_000)
    refuse(read_samples, path, "a table of 10000 x 3 numbers takes 300 KB of memory, and 150 KB are free")
    assert read_samples(path, drop=["b", "label"]).X.shape == (10_000, 1)
    refuse(read_labels, path, "10000 names of samples or classes")
    assert open_stream(path).n_samples == 10_000


def test_columns_of_one_name_are_read_by_their_place(save):
    import pyarrow as pa

    path = save(pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([3.0, 4.0])], names=["a", "a"]))
    np.testing.assert_array_equal(read_samples(path).X, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(read_samples(path, keep=["a", "a"]).X, [[1, 3], [2, 4]])
    refuse(open_stream, path, "several columns are called 'a'")


def test_decimal_numbers_may_be_missing(save):
    import pyarrow as pa

    path = save(pa.table({"a": pa.array([1, None], pa.decimal128(5, 2))}))
    refuse(read_samples, path, "column 'a' has no value in row 2")


def test_lists_are_neither_samples_nor_labels_nor_ids(save):
    import pyarrow as pa

    path = save(pa.table({"id": [[1.0], [2.0]], "a": [1.0, 2.0]}))
    refuse(read_samples, path, "column 'id' holds values of the type list")
    refuse(read_samples, save(pa.table({"b": [[1.0], [2.0]]})), "column 'b' has text in row 1 ('list")
    refuse(read_labels, save(pa.table({"label": [[1.0], [2.0]]})), "column 'label' holds values of the type list")
