import numpy as np
import pytest

from kernelbraid.datasets import load
from kernelbraid.datasets.bundled import BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_data_need_no_folder(name, folder):
    data = load(name)
    one = BUNDLED[name]
    assert data.name == name
    assert data.X.shape == (one.n_samples, *one.n_features)
    assert data.X.dtype == np.float64
    assert data.views[0] is data.X
    assert (data.n_samples, data.n_clusters) == (one.n_samples, one.n_classes)
    np.testing.assert_array_equal(np.unique(data.y), np.arange(one.n_classes))
    assert data.checksum == load(name).checksum
    assert len(data.checksum) == 64
    assert not folder.exists()
    if one.standardise:
        np.testing.assert_allclose(data.X.std(axis=0), 1)
    else:
        assert data.X.max() == 16


def test_checksums_tell_data_sets_apart():
    assert len({load(name).checksum for name in BUNDLED}) == len(BUNDLED)
