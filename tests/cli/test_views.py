import numpy as np
import pytest

from kernelbraid.cli.views import open_views, read_views
from kernelbraid.datasets import DataError

READING = {"key": None, "id_column": None, "drop": []}
READERS = {"at once": lambda paths, **reading: read_views(paths, precomputed=False, **reading), "blocks": open_views}


@pytest.fixture
def tables(tmp_path):
    """Two views of three samples."""
    (tmp_path / "a.csv").write_text("id,x,y\ns1,1,2\ns2,3,4\ns3,5,6\n")
    (tmp_path / "b.csv").write_text("id,z,note\ns1,7,p\ns2,8,q\ns3,9,r\n")
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_files_are_views_of_the_same_samples(tables, read):
    views = read(tables, **{**READING, "drop": ["note"]})
    assert (views.n_samples, views.n_features, views.ids, views.names) == (3, 3, ["s1", "s2", "s3"], None)
    single = read(tables[:1], **READING)
    assert (single.n_features, single.names) == (2, ["x", "y"])


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_views_that_do_not_agree_are_refused(tables, tmp_path, read):
    np.save(tmp_path / "c.npy", np.ones((2, 2)))
    with pytest.raises(DataError, match=r"c\.npy: 2 samples, but .*a.csv has 3; all files must hold the same"):
        read([tables[0], tmp_path / "c.npy"], **READING)
    tables[1].write_text("id,z\ns1,7\ns3,8\ns2,9\n")
    with pytest.raises(DataError, match="sample 2 has the id 's3', but 's2' in"):
        read(tables, **READING)
    with pytest.raises(DataError, match="no file has a column 'elsewhere'"):
        read(tables, **{**READING, "drop": ["elsewhere"]})
