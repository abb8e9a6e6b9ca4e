from functools import partial

import numpy as np
import pandas as pd
import pytest

from kernelbraid.cli.views import open_views, read_views
from kernelbraid.datasets import DataError

READING = {"key": None, "id_column": None, "drop": []}
BY_ID = {**READING, "id_column": "id"}
READERS = {"at once": partial(read_views, precomputed=False), "blocks": open_views}


@pytest.fixture
def tables(tmp_path):
    """Two views of three samples."""
    (tmp_path / "a.csv").write_text("id,x,y\ns1,1,2\ns2,3,4\ns3,5,6\n")
    (tmp_path / "b.csv").write_text("id,z,note\ns1,7,p\ns2,8,q\ns3,9,r\n")
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_files_are_views_of_the_same_samples(tables, read):
    views = read(tables, **{**READING, "drop": ["note"]})
    assert (views.n_samples, views.n_features, views.ids) == (3, 3, ["s1", "s2", "s3"])
    assert views.names == ["x", "y", "z"]
    single = read(tables[:1], **READING)
    assert (single.n_features, single.names) == (2, ["x", "y"])


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_views_that_do_not_agree_are_refused(tables, tmp_path, read):
    np.save(tmp_path / "c.npy", np.ones((2, 2)))
    with pytest.raises(DataError, match=r"c\.npy: 2 samples, but .*a\.csv has 3; .*give the same samples in the same"):
        read([tables[0], tmp_path / "c.npy"], **READING)
    tables[1].write_text("id,z\ns1,7\ns3,8\ns2,9\n")
    with pytest.raises(DataError, match="sample 2 has the id 's3', but 's2' in"):
        read(tables, **READING)
    with pytest.raises(DataError, match="no file has a column 'elsewhere'"):
        read(tables, **{**READING, "drop": ["elsewhere"]})


def test_views_that_do_not_agree_may_be_matched_by_ids(tables, tmp_path):
    np.save(tmp_path / "c.npy", np.ones((2, 2)))
    files = [tables[0], tmp_path / "c.npy"]
    with pytest.raises(DataError, match=r"or tables with a column of ids to match them by \(--id COLUMN\)\.$"):
        read_views(files, precomputed=False, **READING)
    with pytest.raises(DataError, match=r"or all files with the column 'id', which is not in \S*c\.npy\.$"):
        read_views(files, precomputed=False, **BY_ID)


def test_files_are_called_by_their_names_unless_these_are_the_same(tables, tmp_path):
    assert read_views(tables, precomputed=False, **{**READING, "drop": ["note"]}).files == ("a.csv", "b.csv")
    assert open_views(tables[:1], **READING).files == ("a.csv",)
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "a.csv"
    twin.write_text(tables[0].read_text())
    assert read_views([tables[0], twin], precomputed=False, **BY_ID).files == (str(tables[0]), str(twin))


def test_files_with_the_id_column_are_matched_by_it(tables):
    tables[1].write_text("z,id,v\n7,s4,1\n8,s2,2\n9,s1,3\n")
    views = read_views(tables, precomputed=False, **BY_ID)
    assert (views.n_samples, views.n_features, views.ids) == (4, 4, ["s1", "s2", "s3", "s4"])
    assert views.names == ["x", "y", "z", "v"]
    nothing = [np.nan, np.nan]
    np.testing.assert_array_equal(views.data[0], [[1, 2], [3, 4], [5, 6], nothing])
    np.testing.assert_array_equal(views.data[1], [[9, 3], [8, 2], nothing, [7, 1]])


def test_files_of_different_formats_are_matched_by_ids(tables, tmp_path):
    single = pd.DataFrame({"id": ["s3", "s9"], "w": np.float32([0.5, 1.5])})
    single.to_parquet(tmp_path / "c.parquet", index=False)
    views = read_views([tables[0], tmp_path / "c.parquet"], precomputed=False, **BY_ID)
    assert views.ids == ["s1", "s2", "s3", "s9"]
    assert [X.dtype for X in views.data] == [np.float64, np.float32]
    np.testing.assert_array_equal(views.data[1][:, 0], [np.nan, np.nan, 0.5, 1.5])


def test_the_same_ids_in_another_order_are_put_in_that_of_the_first_file(tables):
    tables[1].write_text("id,z\ns3,9\ns1,7\ns2,8\n")
    views = read_views(tables, precomputed=False, **BY_ID)
    assert views.ids == ["s1", "s2", "s3"]
    np.testing.assert_array_equal(views.data[1], [[7], [8], [9]])


def test_an_id_stands_for_one_sample_of_a_file(tables):
    tables[1].write_text("id,z\ns1,7\ns2,8\ns1,9\n")
    with pytest.raises(DataError, match=r"b\.csv: samples 1 and 3 have the same id 's1'; keep one of them\.$"):
        read_views(tables, precomputed=False, **BY_ID)


def test_two_files_share_an_id(tables):
    tables[1].write_text("id,z\n1,7\n2,8\n3,9\n")
    with pytest.raises(
        DataError, match=r"b\.csv: no id occurs in two files, the first is '1' here and 's1' in .*a\.csv;"
    ):
        read_views(tables, precomputed=False, **BY_ID)


@pytest.mark.parametrize("text", ["id,z\ns1,7\ns3,8\ns2,9\n", "id,z\ns1,7\ns2,8\n"], ids=["order", "number"])
@pytest.mark.parametrize(
    ("read", "what"),
    [(partial(read_views, precomputed=True), "kernels"), (open_views, "files that are read in blocks")],
    ids=["kernels", "blocks"],
)
def test_neither_kernels_nor_blocks_are_matched_by_ids(tables, read, what, text):
    tables[1].write_text(text)
    with pytest.raises(DataError, match=f"b.csv: .*; {what} are not matched by ids; give the same samples in the same"):
        read(tables, **BY_ID)
