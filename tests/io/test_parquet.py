import sys

import numpy as np
import pytest

from kernelbraid.datasets import column_names, read_labels, read_samples
from small_files import refuse, write


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


def test_bad_parquet_columns_get_one_clear_sentence(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"a": [1.0, 2.0], "kind": ["7", None]}).write_parquet(path)
    refuse(read_samples, path, "column 'kind' has text in row 1 ('7')", "--drop kind")
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
