import operator

import numpy as np
import pytest

from kernelbraid.blocks.dask_parts import FAN_IN, DaskParts, is_dask

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def parts(count):
    return DaskParts([dask.delayed(np.array([i])) for i in range(count)], [1] * count)


def test_sums_are_in_order_and_rows_are_joined():
    for count in [1, FAN_IN, FAN_IN**2 + 1]:
        assert parts(count).map(operator.methodcaller("tolist")).total() == list(range(count))
        assert parts(count).map(len).keep().total() == count
        assert parts(count).array(None, np.int64).compute().tolist() == list(range(count))


def test_blocks_of_unknown_length_are_joined_too():
    unknown = DaskParts([dask.delayed(np.ones((n, 2))) for n in (3, 0, 5)], [np.nan] * 3)
    assert unknown.array(2, np.float64).compute().shape == (8, 2)


def test_parts_are_formed_when_they_are_needed_and_once_if_kept():
    formed = []
    lazy = parts(3).map(lambda part: formed.append(int(part[0])) or 1)
    assert formed == []
    kept = lazy.keep()
    assert (kept.total(), kept.total()) == (3, 3)
    assert sorted(formed) == [0, 1, 2]


def test_a_dask_collection_is_told_from_an_array():
    assert is_dask(da.ones(3))
    assert is_dask(dask.delayed(1))
    assert not is_dask(np.ones(3))
