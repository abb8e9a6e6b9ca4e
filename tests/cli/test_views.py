from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.cli.reading import read_views

NAMES = ("key", "id", "drop", "header", "format", "delimiter", "decimal")
read = partial(read_views, model=LKG())


def asked(**given):
    """What the options say, nothing but what is given."""
    return SimpleNamespace(**{**dict.fromkeys(NAMES), **given})


@pytest.fixture
def tables(tmp_path):
    """Two views of three samples."""
    (tmp_path / "a.csv").write_text("id,x,y\ns1,1,2\ns2,3,4\ns3,5,6\n")
    (tmp_path / "b.csv").write_text("id,z,note\ns1,7,p\ns2,8,q\ns3,9,r\n")
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


def test_files_are_views_of_the_same_samples(tables):
    views = read(tables, asked(drop=["note"]))
    assert (views.n_samples, views.n_features, views.ids) == (3, 3, ["s1", "s2", "s3"])
    assert views.names == ["x", "y", "z"]
    single = read(tables[:1], asked())
    assert (single.n_features, single.names) == (2, ["x", "y"])


def test_views_that_do_not_agree_are_refused(tables, tmp_path):
    np.save(tmp_path / "c.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"c\.npy: 2 samples, but .*a\.csv has 3; .*give the same samples in the same"):
        read([tables[0], tmp_path / "c.npy"], asked())
    tables[1].write_text("id,z\ns1,7\ns3,8\ns2,9\n")
    with pytest.raises(ValueError, match="sample 2 has the id 's3', but 's2' in"):
        read(tables, asked())
    with pytest.raises(ValueError, match="no file has a column 'elsewhere'"):
        read(tables, asked(drop=["elsewhere"]))


def test_files_are_called_by_their_names_unless_these_are_the_same(tables, tmp_path):
    assert read(tables, asked(drop=["note"])).called == ["a.csv", "b.csv"]
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "a.csv"
    twin.write_text(tables[0].read_text())
    assert read([tables[0], twin], asked(id="id")).called == [str(tables[0]), str(twin)]


def test_files_with_the_id_column_are_matched_by_it(tables):
    tables[1].write_text("z,id,v\n7,s4,1\n8,s2,2\n9,s1,3\n")
    views = read(tables, asked(id="id"))
    assert (views.n_samples, views.n_features, views.ids) == (4, 4, ["s1", "s2", "s3", "s4"])
    assert views.names == ["x", "y", "z", "v"]
    nothing = [np.nan, np.nan]
    np.testing.assert_array_equal(views.data[0], [[1, 2], [3, 4], [5, 6], nothing])
    np.testing.assert_array_equal(views.data[1], [[9, 3], [8, 2], nothing, [7, 1]])


def test_ids_that_cannot_be_matched_are_told_with_their_file(tables):
    tables[1].write_text("z,id\n7,s4\n8,s2\n9,s4\n")
    with pytest.raises(ValueError, match=r"^b\.csv has more than one row 's4', the second at position 3"):
        read(tables, asked(id="id"))
    tables[1].write_text("z,id\n7,t1\n8,t2\n")
    with pytest.raises(ValueError, match=r"the first of a\.csv is 's1', that of b\.csv 't1'"):
        read(tables, asked(id="id"))


@pytest.mark.parametrize("text", ["id,z\ns1,7\ns3,8\ns2,9\n", "id,z\ns1,7\ns2,8\n"], ids=["order", "number"])
def test_kernels_are_not_matched_by_ids(tables, text):
    tables[1].write_text(text)
    with pytest.raises(ValueError, match=r"b.csv: .*; give the same samples in the same order.$"):
        read_views(tables, asked(id="id"), LKG(kernels="precomputed"))
